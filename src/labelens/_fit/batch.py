"""A batch as it arrives: rows, labels and weights, checked and put side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base import devices
from .._base.validation import check_rows, check_weight, refuse_non_finite
from .._core.labels import NumberedLabels, as_labels, class_weights, read_labels
from .._core.moments import Array, Spread
from . import settings


@dataclass(frozen=True)
class LabelSample:
    """Facts about all labels before the first row is summed, from a random sample of `l`."""

    labels: Any  # (l,) or (l, m)
    label_weight: Array | None  # (l,)
    orders: tuple[Any, ...]
    kernel: str  # what label_kernel="auto" means


@dataclass(frozen=True)
class Batch:
    rows: Any  # (n, d), those of weight zero left out
    weight: Array | None  # (n,) sample_weight, times the weights of classes
    sample_weight: Array | None  # (n,)
    labelled: NDArray[np.bool_]  # (n,)
    labels: Any  # (l,) or (l, m), of the l labelled rows; None without y
    numbers: NDArray[np.intp]  # (l,)  by which the user knows these rows
    orders: tuple[Any, ...]  # of the labels in every column of y; None where there is none
    spread: Spread | None = None  # of rows that these were drawn from, where they are a sample
    known: LabelSample | None = None  # of all rows, where others have been looked at
    nuisance: Any = None  # (n,) or (n, m)
    place: devices.Place | None = None  # the device that the rows were taken from

    @property
    def label_weight(self) -> Array | None:
        """(l,)"""
        return None if self.weight is None else self.weight[self.labelled]

    def take(self, which: NDArray[np.intp]) -> Batch:
        """Some of the rows, in order, on the host."""
        here = np.cumsum(self.labelled)[which][self.labelled[which]] - 1
        numbers = self.numbers if len(self.numbers) else np.arange(len(self.labelled))
        return replace(
            self,
            rows=devices.host(devices.rows_at(self.rows, which)),
            weight=None if self.weight is None else self.weight[which],
            sample_weight=None if self.sample_weight is None else self.sample_weight[which],
            labelled=self.labelled[which],
            labels=None if self.labels is None else self.labels[here],
            numbers=numbers[here],
            known=None,
            nuisance=None if self.nuisance is None else self.nuisance[which],
            place=self.place or devices.device_of(devices.place_of(self.rows)),
        )

    def of_nuisance(self) -> Batch:
        """The same rows with the nuisance in the place of labels."""
        n = len(self.nuisance)
        labelled = np.broadcast_to(np.bool_(True), n)
        return replace(
            self, labelled=labelled, labels=self.nuisance, numbers=np.arange(n), nuisance=None
        )

    def shuffled(
        self, order: NDArray[np.intp], class_weight: Any, weights_too: bool = False
    ) -> Batch:
        """The labels of labelled rows in another order, and with them what classes weigh.

        `weights_too` moves the sample weights along with the labels; else they stay with the rows.
        """
        labels, weight = self.labels[order], self.sample_weight
        if weight is not None and weights_too:
            weight = weight[order]
        moved = replace(self, labels=labels, weight=weight, sample_weight=weight)
        if class_weight is None:
            return moved
        ones = np.ones(len(order)) if weight is None else weight
        factors = class_weights(class_weight, labels, ones, self.numbers, False)
        return replace(moved, weight=ones * factors)


def read_batch(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    first: bool,
    last: bool,
    nuisance: Any = None,
) -> Batch:
    """Check a batch for an estimator; the first batch defines the columns."""
    # NaN and infinity show in the sums of the linear methods, so their rows are read once.
    rows = check_rows(estimator, X, reset=first, finite=estimator._kernelised)
    n = rows.shape[0]
    weight = own = check_weight(sample_weight, rows)
    labels: Any = None
    orders: tuple[Any, ...] = ()
    if y is not None and numbers_classes(estimator) and devices.on_device(rows):
        labels = NumberedLabels.of(y, rows)
    there = isinstance(labels, NumberedLabels)
    if y is None or there:
        labelled = np.broadcast_to(np.bool_(there), n)  # which takes no memory
    else:
        y = as_labels(y)
        orders = y.orders
        labels, labelled = read_labels(y, n, estimator.missing_label)
    if nuisance is not None:
        nuisance = _read_nuisance(nuisance, n)
    # Labels numbered on a device cannot be wrong, so no message names a row.
    numbers = np.arange(0 if there and weight is None else n)
    if estimator.class_weight is not None:
        settings.check_has_classes(estimator, labels)
        weight = np.ones(n) if weight is None else weight.copy()
        weight[labelled] *= class_weights(
            estimator.class_weight, labels, weight[labelled], numbers[labelled], last
        )
        if not weight.any():
            raise ValueError(f"class_weight={estimator.class_weight!r} leaves no row any weight.")
    all_labelled = there or bool(labelled.all())
    everywhere = y is None or all_labelled  # the sums include all rows
    if not estimator._kernelised and not (everywhere and (weight is None or weight.all())):
        refuse_non_finite(rows, getattr(estimator, "feature_names_in_", None))
    if weight is not None and not weight.all():
        kept = weight > 0
        labels = None if labels is None else labels[kept[labelled]]
        rows, weight, labelled = devices.rows_at(rows, kept), weight[kept], labelled[kept]
        own, numbers = None if own is None else own[kept], numbers[kept]
        nuisance = None if nuisance is None else nuisance[kept]
    if labels is not None and not all_labelled:
        numbers = numbers[labelled]
    return Batch(rows, weight, own, labelled, labels, numbers, orders, nuisance=nuisance)


def _read_nuisance(nuisance: Any, n: int) -> NDArray[Any]:
    try:
        values, _ = read_labels(nuisance, n, None)
    except ValueError as error:
        raise ValueError(f"nuisance takes a value for every row, as y does: {error}") from None
    if sparse.issparse(values):
        raise TypeError("nuisance must be a dense array of classes or numbers, got a sparse one.")
    return np.asarray(values)


def numbers_classes(estimator: Any) -> bool:
    """Whether integer labels are classes, and no more is asked of them than their number."""
    kernel = estimator.label_kernel
    return (
        isinstance(kernel, str)
        and kernel in ("auto", "delta")
        and estimator.class_weight is None
        and estimator.missing_label is None
        and getattr(estimator, "label_map", None) != "gaussian"
    )
