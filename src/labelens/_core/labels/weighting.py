"""Weights of rows by their classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...label_kernels.base import plain
from .reading import choose_kernel
from .vocabulary import label_kind, number_labels


def class_weights(
    class_weight: str | Mapping[Any, float],
    labels: Any,
    weight: NDArray[np.float64] | None,
    rows: NDArray[np.intp],
    complete: bool,
) -> NDArray[np.float64]:
    """(n,) the factor of every row's weight, as scikit-learn has it.

    "balanced" is sum of weights / (number of classes * sum of weights in the class): all classes
    weigh the same then, and all rows as much as before. A dict names the factors, and those it
    does not name are 1. `complete` says that there are no other classes than those of `labels`.
    """
    refuse_no_classes(class_weight, labels)
    if not len(labels):
        return np.ones(0)
    kind = label_kind(labels[0])
    classes, codes = number_labels(labels, kind, rows)
    if isinstance(class_weight, str):
        counts = np.bincount(codes, weight, len(classes))
        present = counts > 0  # a class of rows without weight is not there
        counts[~present] = 1.0
        return (counts[present].sum() / (present.sum() * counts))[codes]
    class_weight = {plain(label): factor for label, factor in class_weight.items()}
    for label in class_weight:
        if label_kind(label) != kind:
            raise TypeError(
                f"class_weight has {label!r} ({label_kind(label)}), and the classes of y are of "
                f"type {kind}, such as {classes[0]!r}."
            )
    factors = np.array([class_weight.get(label, 1.0) for label in classes], dtype=np.float64)
    there = set(classes)
    unknown = [label for label in class_weight if label not in there]
    forgotten = [label for label in classes if label not in class_weight]
    # A class without rows is no mistake (a fold may have none), unless it is another misspelled.
    if complete and unknown and forgotten:
        raise ValueError(
            f"class_weight has {unknown[0]!r}, which is not a class of y, and does not have "
            f"{forgotten[0]!r}, which is one."
        )
    return factors[codes]


def refuse_no_classes(class_weight: Any, labels: Any) -> None:
    if labels.ndim != 1 or choose_kernel(labels) != "delta":
        raise ValueError(
            f"class_weight={class_weight!r} needs one column of classes, and y "
            + ("has several columns" if labels.ndim != 1 else "is continuous")
            + "; weigh its rows with sample_weight."
        )
