"""Any iterable of (X, y), with batches of any size, as chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from ..._base.validation import as_frame, unchanged_on_error
from ..._core.labels import Labels, as_labels
from ...tables import TableEncoder
from .base import Chunk, Source, some_rows


class Batches(Source):
    title = "the batches"

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches = batches
        stream = iter(batches)
        self.once = stream is batches
        first = next(stream, None)
        if first is None:
            raise ValueError("There are no rows: the batches have come to an end at once.")
        X, y = _pair(first)
        # The first batch of what can be read only once must not be lost.
        self._again = chain([first], stream) if self.once else batches
        self.names = _names(X)
        X = _matrix(X)
        self.head = X[:0] if sparse.issparse(X) else np.empty((0, X.shape[1]), X.dtype)
        self.labelled = y is not None

    def chunks(self, rows: int, start: int = 0, features: bool = True) -> Iterator[Chunk]:
        held: list[tuple[Any, Any]] = []
        count, skip = 0, start
        for number, batch in enumerate(self._again):
            X, y = self._checked(batch, number)
            at = min(skip, X.shape[0])
            skip -= at
            while at < X.shape[0]:
                here = slice(at, at + rows - count)
                held.append((X[here], some_rows(y, here)))
                count, at = count + held[-1][0].shape[0], here.stop
                if count == rows:
                    yield _joined(held, features)
                    held, count = [], 0
        if held:
            yield _joined(held, features)

    def _checked(self, batch: Any, number: int) -> tuple[Any, Any]:
        given, y = _pair(batch)
        X, y = _matrix(given), None if y is None else as_labels(y)
        if self.names is not None and _names(given) != self.names:
            raise ValueError(f"The columns of batch {number} are not those of the first.")
        if X.shape[1] != self.head.shape[1]:
            raise ValueError(
                f"Batch {number} has {X.shape[1]} columns, and the first {self.head.shape[1]}."
            )
        if sparse.issparse(X) and not sparse.issparse(self.head):
            raise ValueError(f"Batch {number} is sparse, and the first is not.")
        if (y is not None) != self.labelled:
            raise ValueError(f"Batch {number} and the first differ in whether there is a y.")
        if y is not None and y.shape[0] != X.shape[0]:
            raise ValueError(f"Batch {number} has {X.shape[0]} rows and {y.shape[0]} labels.")
        return X, y


def encoded(source: Any, encoder: TableEncoder) -> Any:
    """A frame, or batches of frames, as an encoder has them; it is fitted if it is not yet."""
    if hasattr(source, "columns"):
        if not hasattr(encoder, "columns_"):
            encoder.fit(source)
        return encoder.frame(source)
    if iter(source) is source and not hasattr(encoder, "columns_"):
        raise ValueError(
            "The encoder has to see all rows first, and these batches can be read only once: fit "
            "it before, or pass a list."
        )
    if not hasattr(encoder, "columns_"):
        with unchanged_on_error(encoder):
            for batch in source:
                encoder.partial_fit(_pair(batch)[0])
    if iter(source) is source:
        return ((encoder.frame(X), y) for X, y in map(_pair, source))
    return EncodedBatches(source, encoder)


class EncodedBatches:
    """Batches that can be read again."""

    def __init__(self, batches: Iterable[Any], encoder: TableEncoder) -> None:
        self._batches, self._encoder = batches, encoder

    def __iter__(self) -> Iterator[Any]:
        return ((self._encoder.frame(X), y) for X, y in map(_pair, self._batches))


def _pair(batch: Any) -> tuple[Any, Any]:
    if not isinstance(batch, (tuple, list)) or len(batch) != 2:
        raise TypeError(
            "A source is an array, a frame, paths of files or an iterable of (X, y) pairs; "
            f"this one gave a {type(batch).__name__}."
        )
    return as_frame(batch[0]), batch[1]


def _names(X: Any) -> list[str] | None:
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def _matrix(X: Any) -> Any:
    matrix = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if matrix.ndim != 2:
        raise ValueError(f"X of a batch must have two dimensions, got shape {matrix.shape}.")
    return matrix


def _joined(held: list[tuple[Any, Any]], features: bool) -> Chunk:
    rows, labels = zip(*held, strict=True)
    X = None
    if features:
        stack = sparse.vstack if sparse.issparse(rows[0]) else np.concatenate
        X = rows[0] if len(rows) == 1 else stack(rows)
    return Chunk(X, None if labels[0] is None else Labels.joined(labels))
