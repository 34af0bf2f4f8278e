"""Tiles of the kernel matrix, on the host and on a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .._base import devices
from .kernels import Kernel
from .moments import Array

# Numbers of K that are on a device at a time.
BAND = 1 << 27


def tile_dtype(kernel: Kernel, rows: Any) -> Any:
    """Only kernels that are bounded are computed in float32, and only of such rows."""
    return np.float32 if kernel.shift_invariant and devices.is_single(rows) else np.float64


class HostTiles:
    """Rows measured from one of them where the method is invariant.

    Distances and centred inner products then keep their digits where |mean| >> std.
    """

    def __init__(self, kernel: Kernel, rows: Any, tile: int, dtype: Any = None) -> None:
        self.tile, self.dtype = tile, dtype or tile_dtype(kernel, rows)
        self.origin: Array | None = None
        if sparse.issparse(rows) or not kernel.blind_to_shift:
            self.rows = rows.astype(self.dtype, copy=False)
            return
        self.origin = np.asarray(rows[0], dtype=np.float64)
        self.rows = np.empty(rows.shape, dtype=self.dtype)
        for part in self.parts(0):
            self.rows[part] = self.moved(rows[part])

    def parts(self, start: int) -> Iterator[slice]:
        return (slice(a, a + self.tile) for a in range(start, self.rows.shape[0], self.tile))

    def moved(self, rows: Any) -> Any:
        if self.origin is not None:
            rows = rows.astype(np.float64) - self.origin
        return rows.astype(self.dtype, copy=False)


class DeviceTiles:
    """Tiles of K on a device; values that all tiles share are computed once."""

    def __init__(self, kernel: Kernel, first: Any) -> None:
        self._kernel = kernel
        self._origin = first if kernel.blind_to_shift else None

    def sides(self, rows: Any) -> tuple[Any, Any]:
        """Rows in the form in which they are multiplied, from the left and from the right."""
        xp = devices.namespace(rows)
        if self._origin is not None:
            rows = rows - self._origin  # float32 too: close numbers are subtracted exactly
        if not self._kernel.shift_invariant:
            rows = xp.astype(rows, xp.float64)
        return self._kernel.factors(rows, rows) if self._kernel.name == "rbf" else (rows, rows)

    def between(self, left: Any, right: Any) -> Any:
        """(n, m)"""
        if self._kernel.name != "rbf":
            return self._kernel(left, right)
        return devices.exp(left @ devices.namespace(left).matrix_transpose(right))


def bands(n: int, width: int) -> Iterator[slice]:
    step = max(1, BAND // width)
    return (slice(a, min(a + step, n)) for a in range(0, n, step))
