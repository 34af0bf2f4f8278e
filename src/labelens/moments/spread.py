"""What scaling needs of every column."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from .common import Array, Rows, about_mean, weights


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
            minimum, maximum = (
                bound.astype(np.float64) for bound in (rows.min(axis=0), rows.max(axis=0))
            )
            rows, origin, sums = about_mean(rows, weight)
            offset = sums / total
            rows -= offset
            squares = weight @ np.square(rows, out=rows)
        return cls(total, origin, offset, squares, minimum, maximum)

    @property
    def mean(self) -> tuple[Array, Array]:
        """As its two words."""
        return self.origin, self.offset

    @property
    def variance(self) -> Array:
        return self.squares / self.weight

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
