"""Statistics of all rows that a fit needs before it adds the first to the moments.

By a pass over labels alone:

    label_kernel="auto"         the kind of all labels, unless the first rows settle it
    the RBF kernel over labels, a sample of all labels
    ranks and slices, sums and
    products of kernels,
    transformers of y
    class_weight="balanced"     the number of rows in every class
    first rows without a label  where the first labels are

By one more pass over all rows:

    scale, gamma="scale"        ranges and variances of all columns: as `fit` takes from an array
    gamma="median" or "auto",   a sample of all rows
    landmarks, transformers,
    n_components="auto"

A sample is the SAMPLE_ROWS rows whose numbers have the smallest hashes: uniform, without
replacement, and the same however the rows are stored. Of fewer rows it is all, and then the model
is that of `fit`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import devices
from .._base.validation import check_rows
from .._core.labels import Traits, as_labels, read_labels
from .._core.labels.reading import may_change
from .._core.labels.vocabulary import label_kind, number_labels, scrambled
from .._core.labels.weighting import class_weights, refuse_no_classes
from .._core.moments import Spread
from .._engines.sources import Chunk, join_rows, some_rows
from ..label_kernels import NAMED
from .batch import LabelSample, read_batch
from .recipe import needs_spread, spread_of

SAMPLE_ROWS, SAMPLE_BYTES = 16384, 64 << 20

Counts = dict[Any, float]  # the weight of all rows of every class


@dataclass(frozen=True)
class Needs:
    """The reason for each kind of first pass, in words; empty if it is not needed."""

    labels: str = ""
    spread: str = ""
    sample: str = ""
    values: bool = False  # whether labels are sampled, and not only looked at

    @classmethod
    def of(cls, estimator: Any, first: Chunk, once: bool = False) -> Needs:
        """For an estimator and its first rows, of a source that may be readable only once."""
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
        labels, values = _of_labels(estimator, first, once)
        return cls(labels, spread, sample, values)

    @property
    def first(self) -> str:
        return self.labels or self.spread or self.sample


def _of_labels(estimator: Any, first: Chunk, once: bool) -> tuple[str, bool]:
    """The reason for a pass over labels, if any, and whether it needs their values."""
    kernel, balanced = estimator.label_kernel, isinstance(estimator.class_weight, str)
    if first.y is None or devices.on_device(first.y):  # none, or integers of one column
        return "class_weight='balanced'" if balanced else "", False
    given = as_labels(first.y)
    labels, labelled = read_labels(given, first.n_rows, estimator.missing_label)
    traits = Traits.of(labels)
    automatic = isinstance(kernel, str) and kernel == "auto"
    if isinstance(kernel, str):
        kernel = NAMED.get(kernel, kernel)
    if not isinstance(kernel, str):
        values = hasattr(kernel, "fit") or getattr(kernel, "takes_labels", False)
    else:
        values = (traits.kernel if automatic else kernel) == "rbf"
    undecided = automatic and may_change(given, traits)
    if balanced:
        return "class_weight='balanced'", values
    if values:
        return "the label kernel", True
    if not labelled.any():
        return "a first chunk without labels", automatic
    # For data that can be read only once, the first rows decide, and later rows that contradict
    # raise an error.
    undecided = undecided and not once
    return "label_kernel='auto'" if undecided else "", given.values.dtype.kind in "fO"


def sample_rows(estimator: Any, row_bytes: int) -> int:
    """How many rows a sample has: fewer of very wide ones, but enough to be landmarks."""
    rows = min(SAMPLE_ROWS, SAMPLE_BYTES // row_bytes)
    return max(rows, int(getattr(estimator, "n_random_features", 1)), 1024)


# Labels ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelSurvey:
    """Results of a pass over labels: their kind, a sample of them, the weights of classes."""

    n_rows: int
    traits: Traits | None
    sample: Sample
    counts: Counts

    @classmethod
    def of(cls, size: int, start: int = 0) -> LabelSurvey:
        """Of no rows yet; the first will be row `start`, and the sample is to have `size`."""
        return cls(start, None, Sample(size), {})

    def add(self, estimator: Any, chunk: Chunk) -> LabelSurvey:
        labels, labelled = read_labels(chunk.y, chunk.n_rows, estimator.missing_label)
        numbers, weight = np.flatnonzero(labelled), None
        if chunk.weight is not None:
            weight = np.asarray(chunk.weight)[labelled]
            labels, numbers, weight = (a[weight > 0] for a in (labels, numbers, weight))
        counts = self.counts
        if isinstance(estimator.class_weight, str):
            refuse_no_classes(estimator.class_weight, labels)
            counts = merge_counts(counts, _count(labels, numbers, weight))
        self.sample.take(Chunk(None, chunk.y, chunk.weight), self.n_rows, numbers)
        traits = self.traits
        if len(numbers):
            traits = _merged(traits, Traits.of(labels))
        return LabelSurvey(self.n_rows + chunk.n_rows, traits, self.sample, counts)

    def merge(self, other: LabelSurvey) -> LabelSurvey:
        return LabelSurvey(
            other.n_rows,
            _merged(self.traits, other.traits),
            self.sample.merge(other.sample),
            merge_counts(self.counts, other.counts),
        )

    def known(self, estimator: Any) -> LabelSample | None:
        """The labels from which label maps are made; None if no row has a label."""
        if self.traits is None:
            return None
        drawn = self.sample.rows()
        labels, _ = read_labels(drawn.y, drawn.n_rows, estimator.missing_label)
        weight, weights = drawn.weight, estimator.class_weight
        if weights is not None:
            weight = np.ones(drawn.n_rows) if weight is None else np.asarray(weight)
            weight = weight * class_weights(weights, labels, weight, np.arange(drawn.n_rows), False)
            labels, weight = labels[weight > 0], weight[weight > 0]
        return LabelSample(labels, weight, drawn.y.orders, self.traits.kernel)


def _merged(mine: Traits | None, other: Traits | None) -> Traits | None:
    if mine is None or other is None:
        return other if mine is None else mine
    return mine.merge(other)


def _count(labels: Any, numbers: NDArray[np.intp], weight: Any) -> Counts:
    if not len(labels):
        return {}
    classes, codes = number_labels(labels, label_kind(labels[0]), numbers)
    return dict(zip(classes, np.bincount(codes, weight).astype(float).tolist(), strict=True))


def merge_counts(left: Counts, right: Counts) -> Counts:
    return left | {label: left.get(label, 0.0) + count for label, count in right.items()}


def balanced(counts: Counts) -> dict[Any, float]:
    """The weight of every class that class_weight="balanced" means."""
    present = {label: count for label, count in counts.items() if count > 0}
    total = sum(present.values())
    return {label: total / (len(present) * count) for label, count in present.items()}


# Spreads and samples -----------------------------------------------------------------------------


@dataclass(frozen=True)
class RowSurvey:
    """Results of a first pass: the spread of columns and a sample of rows, if needed."""

    n_rows: int
    spread: Spread | None
    sample: Sample | None

    @classmethod
    def of(cls, needs: Needs, size: int, start: int = 0) -> RowSurvey:
        """Of no rows yet; the first will be row `start`, and the sample is to have `size`."""
        return cls(start, None, Sample(size) if needs.sample else None)

    def add(self, estimator: Any, needs: Needs, chunk: Chunk) -> RowSurvey:
        spread = self.spread
        if needs.spread:
            batch = read_batch(estimator, chunk.X, chunk.y, chunk.weight, False, False)
            spread = spread_of(batch, spread)
        if self.sample is not None:
            self.sample.take(chunk, self.n_rows)
        return RowSurvey(self.n_rows + chunk.n_rows, spread, self.sample)

    def merge(self, other: RowSurvey) -> RowSurvey:
        spread = self.spread
        if spread is not None and other.spread is not None:
            spread = spread.merge(other.spread)
        sample = self.sample
        if sample is not None and other.sample is not None:
            sample = sample.merge(other.sample)
        return RowSurvey(other.n_rows, spread, sample)


class Sample:
    """The `size` rows with the smallest hashes of those seen so far, in the order of rows."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._bound = np.uint64(2**64 - 1)
        self._held: list[tuple[Any, Any, Any, NDArray[np.uint64]]] = []

    def take(self, chunk: Chunk, start: int, rows: NDArray[np.intp] | None = None) -> None:
        """The first row is row `start`; only `rows` of the chunk are considered, None: all."""
        hashes = scrambled(np.arange(start, start + chunk.n_rows, dtype=np.uint64))
        near = hashes <= self._bound
        which = np.flatnonzero(near) if rows is None else rows[near[rows]]
        if len(which):
            rows, labels = _rows_of(chunk.X, which), chunk.y
            labels = None if labels is None else as_labels(labels)[which]
            self._held.append((rows, labels, some_rows(chunk.weight, which), hashes[which]))
        if sum(len(h) for *_, h in self._held) > 2 * self._size:
            self._thin()

    def merge(self, other: Sample) -> Sample:
        """The results for the rows of both, with the rows of `other` last."""
        both = Sample(self._size)
        both._held = [*self._held, *other._held]
        both._thin()
        return both

    def _thin(self) -> None:
        if not self._held:
            return
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


def _rows_of(X: Any, which: Any) -> Any:
    if devices.on_device(X):
        return devices.host(devices.rows_at(X, which))
    rows = some_rows(X, which)
    return check_rows(None, rows, reset=False, finite=False) if hasattr(rows, "columns") else rows
