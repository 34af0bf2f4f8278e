"""Classes as the scatter shows them: each its colour and shape, the small ones of many together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import words_of

MOST_GROUPS = 30
OTHER = "other classes"
COLOURS = 8
SHAPES = ("circle", "square", "diamond", "cross")  # those that plotly has in 2-D and in 3-D


@dataclass(frozen=True, eq=False)
class Classes:
    names: list[str]  # of every class, in the order of their labels
    codes: NDArray[Any]  # (n,): the class of a row
    shown: NDArray[np.int64]  # classes with a group of their own, in the order of the legend
    group: NDArray[np.uint8]  # (n,): index into `shown`, or len(shown) for the others

    @property
    def groups(self) -> list[str]:
        named = [self.names[c] for c in self.shown]
        return named if len(named) == len(self.names) else [*named, OTHER]


def read_classes(labels: Any) -> Classes:
    """Up to 30 classes in order; of more, the 30 largest, largest first."""
    array = np.asarray(labels) if hasattr(labels, "__array__") else None
    if array is not None and array.dtype.kind in "biuf":
        values, codes = np.unique(array, return_inverse=True)
        names, again = words_of(values.tolist())
        codes = again[codes]
    else:
        found, first = words_of(labels)
        order = sorted(range(len(found)), key=lambda i: _natural(found[i]))
        names = [found[i] for i in order]
        place = np.empty(len(found), dtype=np.int64)
        place[order] = np.arange(len(found))
        codes = place[first]
    sizes = np.bincount(codes, minlength=len(names))
    shown = np.arange(len(names))
    if len(names) > MOST_GROUPS:
        shown = np.argsort(-sizes, kind="stable")[:MOST_GROUPS]
    where = np.full(len(names), len(shown), dtype=np.uint8)
    where[shown] = np.arange(len(shown))
    return Classes(names, codes, shown, where[codes])


def _natural(name: str) -> tuple[bool, float, str]:
    """Numbers by their value and before words."""
    try:
        value = float(name)
    except ValueError:
        return True, 0.0, name
    return False, value if value == value else np.inf, name
