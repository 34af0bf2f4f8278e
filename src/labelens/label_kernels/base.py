"""The base class of label kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._base.types import Transformer

Array = NDArray[np.float64]


class LabelKernel:
    """The base of all."""

    @property
    def takes_labels(self) -> bool:
        """Whether the values of the first labels settle what it is."""
        return False


LabelKernelName = Literal[
    "auto", "delta", "linear", "rbf", "ranked", "sliced", "ordinal", "tree", "jaccard"
]
LabelKernelLike = LabelKernelName | LabelKernel | Transformer


class ClassKernel(LabelKernel):
    """A similarity of classes, which are known only when all rows have been seen."""

    def check(self, classes: Iterable[Any]) -> None:
        """Reject, in an error that names it, a class that has no place in this kernel."""

    def between(self, classes: Sequence[Any]) -> Array:
        """How similar c classes are, given in sorted order: (c, c), positive semidefinite."""
        raise NotImplementedError


def is_missing(label: Any) -> bool:
    """None, NaN, NaT or pandas' NA."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # NA is neither true nor false
        return True
    except ValueError:  # an array: no scalar, but not missing either
        return False


def plain(label: Any) -> Any:
    """The one form in which a class is kept: equal labels have the same type and spelling.

    NumPy's scalars are Python's. A date or time of any library is the coarsest `datetime64` that
    holds it (days, seconds, ...), in UTC if it has a time zone; so a date is its midnight.
    Durations are `timedelta64` likewise.
    """
    if isinstance(label, (date, timedelta)):
        label = moment(label)
    if isinstance(label, (np.datetime64, np.timedelta64)):
        return _coarsest(label)
    return label.item() if isinstance(label, np.generic) else label


def moment(label: Any) -> Any:
    """A date, time or duration of Python or pandas as NumPy's, in some unit."""
    if isinstance(label, np.generic):
        return label
    for convert in ("to_datetime64", "to_timedelta64"):  # pandas'
        if hasattr(label, convert):
            return getattr(label, convert)()
    if isinstance(label, timedelta):
        return np.timedelta64(label, "us")
    if not isinstance(label, datetime):
        return np.datetime64(label, "D")
    if label.tzinfo is not None:
        label = label.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(label, "us")


def _coarsest(label: Any) -> Any:
    kind, unit = label.dtype.kind, np.datetime_data(label.dtype)[0]
    if kind == "m" and unit in ("generic", "Y", "M"):  # which have no length in days
        return label.astype("m8[M]") if unit == "Y" else label
    for unit in ("D", "s", "ms", "us", "ns"):
        rounded = label.astype(f"{kind}8[{unit}]")
        if rounded == label:
            return rounded
    return label
