"""What label kernels have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class LabelKernel:
    """The base of all."""


class ClassKernel(LabelKernel):
    """A similarity of classes, which are known only when all rows have been seen."""

    def check(self, classes: Iterable[Any]) -> None:
        """Refuse, in an error that names it, a class that has no place in this kernel."""

    def between(self, classes: Sequence[Any]) -> Array:
        """How alike c classes are, given in sorted order: (c, c), positive semidefinite."""
        raise NotImplementedError


def is_missing(label: Any) -> bool:
    """None, NaN, NaT or pandas' NA."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # NA refuses to be true or false
        return True
    except ValueError:  # an array: no scalar, but not missing either
        return False


def plain(label: Any) -> Any:
    """NumPy's numbers as Python's, as the labels of y are."""
    if isinstance(label, np.generic) and not isinstance(label, (np.datetime64, np.timedelta64)):
        return label.item()
    return label
