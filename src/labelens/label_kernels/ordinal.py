"""Grades."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.validation import some
from .base import Array, ClassKernel, plain


@dataclass(frozen=True, init=False)
class Ordinal(ClassKernel):
    """Classes that have an order: grades, stages, ratings.

    L(a, b) is the number of thresholds that both have passed, so that classes are the less alike
    the more of them lie between (the thermometer code).

    Parameters
    ----------
    order : sequence of labels, default=None
        From the lowest to the highest. None takes that of an ordered pandas categorical, a polars
        Enum or an ordered Arrow dictionary, if y (of the first batch) is one, and else the sorted
        order of the labels that were seen.

    Examples
    --------
    >>> from labelens.label_kernels import Ordinal
    >>> Ordinal(["low", "middle", "high"]).between(["high", "low", "middle"])
    array([[2., 0., 1.],
           [0., 0., 0.],
           [1., 0., 1.]])
    """

    order: tuple[Any, ...] | None

    def __init__(self, order: Iterable[Any] | None = None) -> None:
        if order is not None:
            if isinstance(order, (str, bytes)) or not isinstance(order, Iterable):
                raise TypeError(f"order must be a sequence of labels or None, got {order!r}.")
            order = tuple(plain(label) for label in order)
            if len(set(order)) < len(order):
                twice = next(label for label in order if order.count(label) > 1)
                raise ValueError(f"order has {twice!r} twice.")
        object.__setattr__(self, "order", order)

    def check(self, classes: Iterable[Any]) -> None:
        if self.order is None:
            return
        known = set(self.order)
        for label in classes:
            if label not in known:
                raise ValueError(
                    f"The class {label!r} is not in the order of label_kernel=Ordinal, "
                    f"{some(self.order)}."
                )

    def between(self, classes: Sequence[Any]) -> Array:
        ranks = range(len(classes))
        if self.order is not None:
            place = {label: i for i, label in enumerate(self.order)}
            ranks = [place[label] for label in classes]  # type: ignore[assignment]
        passed = np.array(ranks, dtype=np.float64)
        return np.minimum(passed[:, None], passed)
