"""Scalings of columns, x -> (x - shift) * factor: to [0, 1], to unit variance, or as given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .._base import devices
from .moments import Array, Spread

SCALES = (None, "minmax", "standard")


@dataclass(frozen=True)
class Scaling:
    shift: Array  # (d,)
    factor: Array  # (d,)

    @classmethod
    def of(cls, spread: Spread, kind: Any) -> Scaling:
        if not isinstance(kind, str):
            if len(kind) != len(spread.minimum):
                raise ValueError(
                    f"scale has {len(kind)} factors, and X has {len(spread.minimum)} columns. Pass "
                    "a factor for each column."
                )
            return cls(np.zeros(len(kind)), np.array(kind, dtype=np.float64))
        if kind == "minmax":
            shift, width = spread.minimum, spread.maximum - spread.minimum
        else:
            shift, width = np.add(*spread.mean), np.sqrt(spread.variance)
        return cls(shift, 1 / np.where(width > 0, width, 1.0))

    def __call__(self, rows: Any, rounded: bool = True) -> Any:
        """Scaled in float64, and `rounded` to float32 where the rows are."""
        if devices.on_device(rows):
            xp = devices.namespace(rows)
            exact = xp.astype(rows, xp.float64)
            shift, factor = (devices.constant_at(a, exact) for a in (self.shift, self.factor))
            exact = (exact - shift) * factor
            return xp.astype(exact, rows.dtype) if rounded else exact
        dtype = np.float32 if rounded and rows.dtype == np.float32 else np.float64
        if not sparse.issparse(rows):
            return ((rows - self.shift) * self.factor).astype(dtype, copy=False)
        if self.shift.any():
            raise ValueError(
                "This model was fitted on dense rows and shifts them to scale them, which would "
                "make a sparse X dense: pass X.toarray(), or fit on sparse rows."
            )
        return (rows.astype(np.float64) @ sparse.diags_array(self.factor)).tocsr().astype(dtype)

    def view(self, rows: Any) -> ScaledRows:
        return ScaledRows(rows, self)

    def without_shift(self) -> Scaling:
        """For sparse rows, which a shift would make dense."""
        return Scaling(np.zeros_like(self.shift), self.factor)

    def applied_to(self, spread: Spread) -> Spread:
        moved = replace(
            spread,
            origin=spread.origin - self.shift,
            minimum=spread.minimum - self.shift,
            maximum=spread.maximum - self.shift,
        )
        return moved.rescaled(self.factor)

    def same_as(self, other: Any) -> bool:
        return (
            isinstance(other, Scaling)
            and np.array_equal(self.shift, other.shift)
            and np.array_equal(self.factor, other.factor)
        )


@dataclass(frozen=True)
class ScaledRows:
    """Rows that are scaled when they are taken: a map that draws a few does not scale them all."""

    rows: Any
    scaling: Scaling

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows.shape

    def __getitem__(self, which: Any) -> Any:
        return self.scaling(devices.rows_at(self.rows, which))
