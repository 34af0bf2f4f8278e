"""Statistics of the columns for scaling."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..._base import jit
from ..._base.rounding import EPS
from .common import Array, Rows, about_mean, round_origin, weights


@dataclass(frozen=True)
class Spread:
    """Mean, variance, minimum and maximum of every column."""

    weight: float
    origin: Array  # all (p,)
    offset: Array
    squares: Array  # sum_i w_i d_i^2 of the centred rows
    minimum: Array
    maximum: Array

    @classmethod
    def of(cls, rows: Rows, weight: Array | None = None) -> Spread:
        weight, total = weights(weight, rows.shape[0])
        if sparse.issparse(rows):
            minimum, maximum = (
                bound.toarray().ravel().astype(np.float64)
                for bound in (rows.min(axis=0), rows.max(axis=0))
            )
            rows, origin, sums = about_mean(rows, weight)
            offset = sums / total
            squares = np.maximum(rows.multiply(rows).T @ weight - offset * sums, 0)
        else:
            rows = np.ascontiguousarray(rows)
            # By way of the first row, so that a constant column is about itself to the last bit.
            first = rows[0].astype(np.float64)
            origin = first + _column_sums(rows, weight, first) / total
            if len(rows) == 1:
                origin = round_origin(rows[0])
            sums, squares, *bounds = jit.column_spread(rows, weight, origin)
            offset = sums / total
            squares = np.maximum(squares - offset * sums, 0)
            minimum, maximum = (bound.astype(np.float64) for bound in bounds)
        return cls(total, origin, offset, squares, minimum, maximum)

    @property
    def mean(self) -> tuple[Array, Array]:
        """As its two words."""
        return self.origin, self.offset

    @property
    def variance(self) -> Array:
        """(p,), exactly zero for columns that are constant, also over the rows with a weight.

        Merging means of constant columns leaves squares of the rounding of an offset, which is
        itself rounding; sparse sums leave more.
        """
        size = np.maximum(np.abs(self.minimum), np.abs(self.maximum))
        found = self.squares / self.weight
        return np.where((self.minimum == self.maximum) | (found <= (EPS * size) ** 2), 0.0, found)

    def merge(self, other: Spread, reuse: bool = False) -> Spread:
        total = self.weight + other.weight
        share = other.weight / total
        delta = (other.origin - self.origin) + (other.offset - self.offset)
        return replace(
            self,
            weight=total,
            offset=self.offset + share * delta,
            squares=self.squares + other.squares + self.weight * share * delta**2,
            minimum=np.minimum(self.minimum, other.minimum),
            maximum=np.maximum(self.maximum, other.maximum),
        )

    def only(self, which: NDArray[np.intp]) -> Spread:
        """The spread of some columns."""
        parts = self.origin, self.offset, self.squares, self.minimum, self.maximum
        return Spread(self.weight, *(part[which] for part in parts))

    def rescaled(self, factor: Array) -> Spread:
        """The spread of rows * factor, for factors >= 0."""
        return Spread(
            self.weight,
            self.origin * factor,
            self.offset * factor,
            self.squares * factor**2,
            self.minimum * factor,
            self.maximum * factor,
        )


def _column_sums(rows: Rows, weight: Array, origin: Array) -> Array:
    """sum_i w_i (rows_i - origin): the class sums of a single class."""
    n, p = rows.shape
    sums, order, classes = np.zeros((1, p)), np.arange(n), np.zeros(n, dtype=np.intp)
    one_run = np.array([0, n]), np.array([True])
    jit.class_sums(rows, order, *one_run, classes, weight, origin, sums, 0, p)
    return sums[0]
