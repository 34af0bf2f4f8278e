"""Sources whose last columns of labels are a nuisance: a batch, a donor, a site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..._core.labels import Labels, as_labels
from .base import Chunk, Source
from .opening import has_named_columns, open_source


class Beside(Source):
    """The same source with the last labels as the nuisance of its chunks."""

    def __init__(self, source: Source, columns: int, labelled: bool) -> None:
        self._source, self._columns = source, columns
        for name in ("title", "head", "names", "n_rows", "n_bytes", "copies", "reader_bytes"):
            setattr(self, name, getattr(source, name))
        self.labelled, self.once = labelled, source.once

    def chunks(self, rows: int, start: int = 0, features: bool = True) -> Iterator[Chunk]:
        for chunk in self._source.chunks(rows, start, features):
            y = chunk.y
            cut = 0 if y.values.ndim == 1 else y.shape[1] - self._columns
            columns = y.values.reshape(len(y.values), -1)
            labels = _columns(columns[:, :cut], y.orders[:cut]) if self.labelled else None
            nuisance = _columns(columns[:, cut:], y.orders[cut:])
            yield replace(chunk, y=labels, nuisance=nuisance)

    def spare_memory(self) -> bool:
        return self._source.spare_memory()

    def cuts(self) -> Iterable[int]:
        return self._source.cuts()

    def files(self) -> list[Source]:
        return [Beside(file, self._columns, self.labelled) for file in self._source.files()]

    def identity(self) -> dict[str, Any] | None:
        known = self._source.identity()
        return None if known is None else known | {"nuisance": self._columns}


def open_beside(
    source: Any, label: Any, nuisance: Any, features: Sequence[str] | None, encoder: Any
) -> Source:
    """Rows, labels and nuisance: names of columns, or arrays of all three."""
    if names := names_of(nuisance):
        if not has_named_columns(source) and not hasattr(source, "columns"):
            raise ValueError(
                "nuisance names columns, and these rows have no named columns. Pass an array, or "
                "call partial_fit(X, y, nuisance=...) for every batch."
            )
        labels = [] if label is None else names_of(label)
        if label is not None and not labels:
            raise ValueError("nuisance names columns, so label must name columns too.")
        opened = open_source(source, [*labels, *names], features, encoder)
        return Beside(opened, len(names), bool(labels))
    if not hasattr(source, "shape") or names_of(label):
        raise ValueError(
            "nuisance as an array needs rows and labels as arrays too. For files and frames name "
            "its column; for batches call partial_fit(X, y, nuisance=...)."
        )
    columns = [as_labels(part) for part in (label, nuisance) if part is not None]
    width = 1 if columns[-1].values.ndim == 1 else columns[-1].shape[1]
    opened = open_source(source, Labels.side_by_side(columns), features, encoder)
    return Beside(opened, width, label is not None)


def names_of(columns: Any) -> list[str]:
    """The names of columns; none where these are values."""
    columns = [columns] if isinstance(columns, str) else columns
    named = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
    return list(columns) if named else []


def _columns(values: Any, orders: Any) -> Labels:
    return Labels(values[:, 0] if values.shape[1] == 1 else values, orders)
