"""What has to be known of all rows before the first is added to the moments.

    scale, gamma="scale"        ranges and variances of all columns, by one more pass over all rows:
                                the same as `fit` takes from an array
    gamma="median" or "auto",   a sample of all rows, drawn in that pass
    landmarks, transformers,
    n_components="auto",
    the width of an RBF kernel
    over labels
    class_weight="balanced"     the number of rows in every class, by a pass over labels alone

The sample is the SAMPLE_ROWS rows whose numbers have the smallest hashes: uniform, without
replacement, and the same however the rows are stored. Of fewer rows it is all, and then the model
is that of `fit`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._validation import check_rows
from ..batch import Batch, read_batch
from ..labels import class_weights, read_labels
from ..labels.vocabulary import label_kind, number_labels, scrambled
from ..recipe import needs_spread, spread_of
from ..sources import Chunk, Source, some_rows
from ..sources.batches import join_labels

SAMPLE_ROWS, SAMPLE_BYTES = 16384, 64 << 20
CHUNK_BYTES = 8 << 20


@dataclass(frozen=True)
class Needs:
    counts: str = ""  # the parameter that asks for it; empty: none does
    spread: str = ""
    sample: str = ""

    @classmethod
    def of(cls, estimator: Any, y: Any) -> Needs:
        """For an estimator and some labels."""
        spread = sample = ""
        if needs_spread(estimator):
            spread = f"scale={estimator.scale!r}"
            if estimator.scale is None:
                spread = f"gamma={estimator.gamma!r}"
        if estimator.n_components == "auto":
            sample = "n_components='auto'"
        elif estimator._kernelised and not isinstance(estimator.approximation, str):
            sample = "a transformer as approximation"
        elif estimator._kernelised and estimator.approximation == "nystroem":
            sample = "approximation='nystroem'"
        elif estimator._kernelised and estimator.gamma in ("median", "auto"):
            sample = f"gamma={estimator.gamma!r}"
        elif y is not None and _looks_at_labels(estimator, y):
            sample = "the label kernel"
        balanced = isinstance(estimator.class_weight, str)
        return cls("class_weight='balanced'" if balanced else "", spread, sample)

    @property
    def first(self) -> str:
        return self.counts or self.spread or self.sample


def _looks_at_labels(estimator: Any, y: Any) -> bool:
    """Whether the label map is drawn from the values of labels, and not from their kind alone."""
    kernel = estimator.label_kernel
    if not isinstance(kernel, str):
        return hasattr(kernel, "fit") or hasattr(kernel, "kernels")
    if kernel != "auto":
        return kernel == "rbf"
    return bool(read_labels(y, y.shape[0], estimator.missing_label)[0].dtype.kind == "f")


def sample_rows(estimator: Any, source: Source) -> int:
    """How many rows a sample has: fewer of very wide ones, but enough to be landmarks."""
    rows = min(SAMPLE_ROWS, SAMPLE_BYTES // source.row_bytes)
    return max(rows, int(getattr(estimator, "n_random_features", 1)), 1024)


def balance(estimator: Any, source: Source, rows: int) -> dict[Any, float]:
    """The weight of every class that class_weight="balanced" means, by a pass over labels."""
    counts: dict[Any, float] = {}
    for chunk in source.chunks(rows, features=False):
        labels, labelled = read_labels(chunk.y, chunk.n_rows, estimator.missing_label)
        labels, numbers = labels[labelled], np.flatnonzero(labelled)
        class_weights("balanced", labels, None, numbers, False)  # refuses what is no class
        if len(labels):
            classes, codes = number_labels(labels, label_kind(labels[0]), numbers)
            for label, count in zip(classes, np.bincount(codes), strict=True):
                counts[label] = counts.get(label, 0.0) + float(count)
    total = sum(counts.values())
    return {label: total / (len(counts) * count) for label, count in counts.items()}


def sample_of(source: Source, size: int, features: bool = True) -> Chunk:
    """So many rows of a source; of labels alone if features are not wanted."""
    sample, seen = Sample(size), 0
    rows = max(1, CHUNK_BYTES // source.row_bytes)
    for chunk in source.chunks(rows, features=features):
        sample.take(chunk, seen)
        seen += chunk.n_rows
    if not seen:
        raise ValueError(f"There are no rows in {source.called}.")
    return sample.rows()


def look(estimator: Any, source: Source, needs: Needs, rows: int) -> Batch:
    """The batch to draw from: the first rows or a sample, with the spread of all."""
    sample = Sample(sample_rows(estimator, source))
    first, spread, seen = None, None, 0
    for chunk in source.chunks(rows):
        if first is None:
            first = Chunk(_copied(chunk.X), chunk.y)
        if needs.spread:
            whole = read_batch(estimator, chunk.X, chunk.y, None, seen == 0, False)
            spread = spread_of(whole, spread)
        if needs.sample:
            sample.take(chunk, seen)
        seen += chunk.n_rows
    assert first is not None
    drawn = sample.rows() if needs.sample else first
    batch = read_batch(estimator, drawn.X, drawn.y, None, True, False)
    return replace(batch, spread=spread)


class Sample:
    """The `size` rows with the smallest hashes of those seen so far, in the order of rows."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._bound = np.uint64(2**64 - 1)
        self._held: list[tuple[Any, Any, NDArray[np.uint64]]] = []

    def take(self, chunk: Chunk, start: int) -> None:
        hashes = scrambled(np.arange(start, start + chunk.n_rows, dtype=np.uint64))
        which = np.flatnonzero(hashes <= self._bound)
        if len(which):
            self._held.append((_rows_of(chunk.X, which), some_rows(chunk.y, which), hashes[which]))
        if sum(len(h) for _, _, h in self._held) > 2 * self._size:
            self._thin()

    def _thin(self) -> None:
        X, y, hashes = self._joined()
        if len(hashes) > self._size:
            self._bound = np.partition(hashes, self._size - 1)[self._size - 1]
            which = np.flatnonzero(hashes <= self._bound)
            X, y, hashes = some_rows(X, which), some_rows(y, which), hashes[which]
        self._held = [(X, y, hashes)]

    def _joined(self) -> tuple[Any, Any, Any]:
        rows, labels, hashes = zip(*self._held, strict=True)
        stack = sparse.vstack if sparse.issparse(rows[0]) else np.concatenate
        X = None if rows[0] is None else stack(rows)
        return X, join_labels(labels), np.concatenate(hashes)

    def rows(self) -> Chunk:
        self._thin()
        X, y, _ = self._held[0]
        return Chunk(X, y)


def _rows_of(X: Any, which: Any) -> Any:
    rows = some_rows(X, which)
    return check_rows(None, rows, reset=False, finite=False) if hasattr(rows, "columns") else rows


def _copied(X: Any) -> Any:
    return X.copy() if hasattr(X, "copy") else X
