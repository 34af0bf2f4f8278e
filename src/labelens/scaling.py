"""The [0, 1] and unit-variance scalings, x -> (x - shift) * factor, from the spread of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .moments import Array, Spread

SCALES = (None, "minmax", "standard")


@dataclass(frozen=True)
class Scaling:
    shift: Array  # (d,)
    factor: Array  # (d,)

    @classmethod
    def of(cls, spread: Spread, kind: str) -> Scaling:
        if kind == "minmax":
            shift, width = spread.minimum, spread.maximum - spread.minimum
        else:
            shift, width = np.add(*spread.mean), np.sqrt(spread.variance)
            # A constant column has a variance of rounding errors, not of zero.
            width[width <= 8 * np.finfo(float).eps * np.abs(shift)] = 0
        return cls(shift, 1 / np.where(width > 0, width, 1.0))

    def __call__(self, rows: Any) -> Any:
        """Sparse rows are not shifted: no method that takes them here can tell."""
        dtype = np.float32 if rows.dtype == np.float32 else np.float64
        if sparse.issparse(rows):
            return (rows.astype(np.float64) @ sparse.diags(self.factor)).tocsr().astype(dtype)
        return ((rows - self.shift) * self.factor).astype(dtype, copy=False)

    def applied_to(self, spread: Spread) -> Spread:
        moved = Spread(
            spread.weight,
            spread.origin - self.shift,
            spread.offset,
            spread.squares,
            spread.minimum - self.shift,
            spread.maximum - self.shift,
        )
        return moved.rescaled(self.factor)

    def same_as(self, other: Any) -> bool:
        return (
            isinstance(other, Scaling)
            and np.array_equal(self.shift, other.shift)
            and np.array_equal(self.factor, other.factor)
        )
