"""What has to be known of all rows before the first is added to the moments, and how it merges.

    scale, gamma="scale"        ranges and variances of all columns, by one more pass over all rows:
                                the same as `fit` takes from an array
    gamma="median" or "auto",   a sample of all rows, drawn in that pass
    landmarks, transformers,
    n_components="auto",
    the width of an RBF kernel
    over labels, the classes of
    sums and products of kernels
    class_weight="balanced"     the number of rows in every class, by a pass over labels alone

The sample is the SAMPLE_ROWS rows whose numbers have the smallest hashes: uniform, without
replacement, and the same however the rows are stored. Of fewer rows it is all, and then the model
is that of `fit`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _array
from .._optional import require
from .._validation import check_rows
from ..batch import read_batch
from ..label_kernels.columns import Columns
from ..labels import Labels, as_labels, read_labels
from ..labels.vocabulary import label_kind, number_labels, scrambled
from ..labels.weighting import refuse_no_classes
from ..moments import Spread
from ..recipe import needs_spread, spread_of
from ..sources import Chunk, some_rows

SAMPLE_ROWS, SAMPLE_BYTES = 16384, 64 << 20

Counts = dict[Any, float]  # the weight of all rows of every class


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
        return hasattr(kernel, "fit") or isinstance(kernel, Columns)
    if kernel != "auto":
        return kernel == "rbf"
    labels = read_labels(y, y.shape[0], estimator.missing_label)[0]
    return labels.dtype.kind == "f" and not sparse.issparse(labels)


def sample_rows(estimator: Any, row_bytes: int) -> int:
    """How many rows a sample has: fewer of very wide ones, but enough to be landmarks."""
    rows = min(SAMPLE_ROWS, SAMPLE_BYTES // row_bytes)
    return max(rows, int(getattr(estimator, "n_random_features", 1)), 1024)


# Classes -----------------------------------------------------------------------------------------


def count_classes(estimator: Any, before: Counts | None, chunk: Chunk) -> Counts:
    counts = dict(before or {})
    labels, labelled = read_labels(chunk.y, chunk.n_rows, estimator.missing_label)
    numbers = np.flatnonzero(labelled)
    weight = None if chunk.weight is None else np.asarray(chunk.weight)[labelled]
    refuse_no_classes("balanced", labels)
    if len(labels):
        classes, codes = number_labels(labels, label_kind(labels[0]), numbers)
        for label, count in zip(classes, np.bincount(codes, weight), strict=True):
            counts[label] = counts.get(label, 0.0) + float(count)
    return counts


def merge_counts(left: Counts, right: Counts) -> Counts:
    return left | {label: left.get(label, 0.0) + count for label, count in right.items()}


def balanced(counts: Counts) -> dict[Any, float]:
    """The weight of every class that class_weight="balanced" means."""
    present = {label: count for label, count in counts.items() if count > 0}
    total = sum(present.values())
    return {label: total / (len(present) * count) for label, count in present.items()}


# Spreads and samples -----------------------------------------------------------------------------


@dataclass(frozen=True)
class View:
    """What a first pass has seen: the spread of columns and a sample of rows, if wanted."""

    n_rows: int
    spread: Spread | None
    sample: Sample | None

    @classmethod
    def of(cls, needs: Needs, size: int, start: int = 0) -> View:
        """Of no rows yet; the first will be row `start`, and the sample is to have `size`."""
        return cls(start, None, Sample(size) if needs.sample else None)

    def add(self, estimator: Any, needs: Needs, chunk: Chunk) -> View:
        spread = self.spread
        if needs.spread:
            batch = read_batch(estimator, chunk.X, chunk.y, chunk.weight, False, False)
            spread = spread_of(batch, spread)
        if self.sample is not None:
            self.sample.take(chunk, self.n_rows)
        return View(self.n_rows + chunk.n_rows, spread, self.sample)

    def merge(self, other: View) -> View:
        spread = self.spread
        if spread is not None and other.spread is not None:
            spread = spread.merge(other.spread)
        sample = self.sample
        if sample is not None and other.sample is not None:
            sample = sample.merge(other.sample)
        return View(other.n_rows, spread, sample)


class Sample:
    """The `size` rows with the smallest hashes of those seen so far, in the order of rows."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._bound = np.uint64(2**64 - 1)
        self._held: list[tuple[Any, Any, Any, NDArray[np.uint64]]] = []

    def take(self, chunk: Chunk, start: int) -> None:
        hashes = scrambled(np.arange(start, start + chunk.n_rows, dtype=np.uint64))
        which = np.flatnonzero(hashes <= self._bound)
        if len(which):
            rows, labels = _rows_of(chunk.X, which), chunk.y
            labels = None if labels is None else as_labels(labels)[which]
            self._held.append((rows, labels, some_rows(chunk.weight, which), hashes[which]))
        if sum(len(h) for *_, h in self._held) > 2 * self._size:
            self._thin()

    def merge(self, other: Sample) -> Sample:
        """Of the rows of both, those of `other` after mine."""
        both = Sample(self._size)
        both._held = [*self._held, *other._held]
        both._thin()
        return both

    def _thin(self) -> None:
        X, y, weight, hashes = self._joined()
        if len(hashes) > self._size:
            self._bound = np.partition(hashes, self._size - 1)[self._size - 1]
            which = np.flatnonzero(hashes <= self._bound)
            X, y, weight = (some_rows(part, which) for part in (X, y, weight))
            hashes = hashes[which]
        self._held = [(X, y, weight, hashes)]

    def _joined(self) -> tuple[Any, Any, Any, Any]:
        rows, labels, weights, hashes = zip(*self._held, strict=True)
        return join_rows(rows), join_rows(labels), join_rows(weights), np.concatenate(hashes)

    def rows(self) -> Chunk:
        self._thin()
        return Chunk(*self._held[0][:3])


def sample_of(chunks: Iterable[Chunk], size: int) -> Chunk | None:
    """So many rows; None where there are none."""
    sample, seen = Sample(size), 0
    for chunk in chunks:
        sample.take(chunk, seen)
        seen += chunk.n_rows
    return sample.rows() if seen else None


def join_rows(parts: Any) -> Any:
    """Rows, labels or weights, one after the other."""
    if parts[0] is None or len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], Labels):
        return Labels.joined(parts)
    if hasattr(parts[0], "iloc"):
        return require("pandas", extra="cli").concat(parts, ignore_index=True)
    return sparse.vstack(parts, "csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def _rows_of(X: Any, which: Any) -> Any:
    if _array.on_device(X):
        return _array.host(_array.rows_at(X, which))
    rows = some_rows(X, which)
    return check_rows(None, rows, reset=False, finite=False) if hasattr(rows, "columns") else rows
