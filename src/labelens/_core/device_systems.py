"""Systems with kernel matrices that are larger than a device, and landmarks on a device.

`GramInBands` has the interface of `Gram`, and `DeviceLandmarks` that of `Landmarks`. What is
as long as the rows squared, or as the rows times the landmarks, stays on the device. Bands of it
that do not fit are made anew for every product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._base import device_algebra, devices
from .exact_kernel import KernelRows
from .gram import Gram, conjugate_gradients, gram_dtype, too_many_rows
from .kernels import Kernel
from .landmarks import LandmarkSystem
from .moments import Array
from .spectrum import or_one
from .tiles import DeviceTiles, bands

# Bytes that the work on a band takes.
SCRATCH = 6 << 30
# Landmarks of the preconditioner, at most, and one for so many rows.
PRECONDITIONER, ROWS_A_LANDMARK = 15_000, 8
# Residuals relative to the right-hand side: in all, and in each of so many rounds, of so many steps
# at most, and of so many in which they no longer halve.
RESIDUAL, ROUND_RESIDUAL, ROUNDS, MOST_STEPS, PATIENCE = 1e-5, 3e-3, 6, 300, 60
FEW = 1024  # rows of which k(x, x) is taken at a time


class _Bands:
    """Bands of the kernel of some rows with others, kept as far as they fit."""

    def __init__(self, make: Callable[[slice], Any], parts: list[slice], room: float) -> None:
        self._make, self._parts, self._room = make, parts, room
        self._kept: dict[int, Any] = {}

    def __iter__(self) -> Iterator[tuple[slice, Any]]:
        for here in self._parts:
            band = self._kept.get(here.start)
            if band is None:
                band = self._make(here)
                size = band.shape[0] * band.shape[1] * (4 if devices.is_single(band) else 8)
                if size <= self._room:
                    self._room -= size
                    self._kept[here.start] = band
            yield here, band


def _rows_there(rows: Any, place: Any, dtype: Any) -> Any:
    """(n, d) dense rows on the device."""
    rows = devices.moved_to(place, rows.toarray() if hasattr(rows, "toarray") else rows)
    return place.xp.astype(rows, getattr(place.xp, np.dtype(dtype).name), copy=False)


class GramInBands(Gram):
    """G, (n, n), of so many rows that it does not fit into a device with its factor.

    The bands of K from the diagonal on take half of the memory, and their mirror images none. The
    preconditioner of G + r I is that with G = Z Z^T of landmarks,

        (Z Z^T + r I)^-1 = (I - Z (Z^T Z + r I)^-1 Z^T) / r

    in float64: r is smaller than the largest eigenvalue of G by more than float32 can tell.
    Conjugate gradients multiply by bands in float32, which takes a quarter of the time. They start
    anew with the residual by float64 products until that is small.
    """

    def __init__(self, kernel: Kernel, rows: Any, weight: Array, place: Any) -> None:
        self._place = place
        self._device: Any = place
        self._kernel = kernel
        share = weight / weight.sum()
        self.root = np.sqrt(share)
        n = rows.shape[0]
        self.dtype = gram_dtype(kernel, n)
        self._all = _rows_there(rows, place, self.dtype)
        self._tiles = DeviceTiles(kernel, self._all[0, :])
        left, right = self._tiles.sides(self._all)
        self._count = max(1, min(PRECONDITIONER, n // ROWS_A_LANDMARK))
        room = devices.free_bytes(place) - 8 * self._count * (n + 4 * self._count) - SCRATCH
        self._bands = _Bands(
            lambda here: self._tiles.between(left[here, :], right[here.start :, :]),
            list(bands(n, n)),
            room,
        )
        self.mean = devices.host(self._kernel_times(place.put(share)[:, None]))[:, 0]
        own = (slice(a, min(a + FEW, n)) for a in range(0, n, FEW))
        squares = [
            devices.diagonal(self._tiles.between(left[here, :], right[here, :])) for here in own
        ]
        diagonal = np.concatenate(squares) - 2 * self.mean + share @ self.mean
        self.diagonal = np.maximum(diagonal, 0) * share
        self.trace = float(self.diagonal.sum())

    def _kernel_times(self, there: Any, precise: bool = True) -> Any:
        """K columns, float64 on the device."""
        xp, total = self._device.xp, devices.zeros(there.shape, there)
        if not precise:
            there = xp.astype(there, self._all.dtype, copy=False)
        for here, band in self._bands:
            values = xp.astype(band, there.dtype, copy=False)
            total[here, :] += xp.astype(values @ there[here.start :, :], xp.float64)
            if here.stop < total.shape[0]:
                beyond = xp.matrix_transpose(values[:, here.stop - here.start :])
                total[here.stop :, :] += xp.astype(beyond @ there[here, :], xp.float64)
        return total

    def _times(self, there: Any, precise: bool = True) -> Any:
        root, mean = self._device.put(self.root)[:, None], self._device.put(self.mean)
        inside, level = root * there, float(self.root**2 @ self.mean)
        sums = self._device.xp.sum(inside, axis=0)
        image = self._kernel_times(inside, precise) - mean @ inside
        return root * (image - (mean - level)[:, None] * sums)

    def times(self, columns: Array) -> Array:
        return np.asarray(devices.host(self._times(self._device.put(columns))))

    def solve(self, columns: Array, ridge: float) -> Array | None:
        precondition = self._preconditioner(ridge)
        there = rest = self._device.put(columns)
        found, wanted = (
            devices.zeros(there.shape, there),
            RESIDUAL * np.linalg.norm(columns, axis=0),
        )
        for _ in range(ROUNDS):
            found = found + conjugate_gradients(
                lambda X: self._times(X, precise=False) + ridge * X,
                precondition,
                rest,
                ROUND_RESIDUAL,
                MOST_STEPS,
                PATIENCE,
            )
            rest = there - self._times(found) - ridge * found
            if (np.linalg.norm(devices.host(rest), axis=0) <= wanted).all():
                break
        return np.asarray(devices.host(found))

    def _preconditioner(self, ridge: float) -> Callable[[Any], Any]:
        xp, n = self._device.xp, len(self)
        which = np.sort(np.random.default_rng(0).permutation(n)[: self._count])
        mine, right = self._tiles.sides(devices.rows_at(self._all, which))
        m, eps = self._count, float(np.finfo(self.dtype).eps)
        lower, _ = _root(
            lambda: xp.astype(self._tiles.between(mine, right), xp.float64), 4 * eps * m
        )
        Z = xp.empty((n, m), dtype=xp.float64, device=self._device.device)
        for here in bands(n, max(m, self._all.shape[1])):
            left = self._tiles.sides(self._all[here, :])[0]
            values = xp.astype(self._tiles.between(left, right), xp.float64)
            values = values * self._device.put(self.root[here])[:, None]
            half = device_algebra.solve_triangular(lower, xp.matrix_transpose(values), False)
            Z[here, :] = xp.matrix_transpose(half)
        root = self._device.put(self.root)[:, None]
        level = xp.matrix_transpose(root) @ Z
        for here in bands(n, m):
            Z[here, :] -= root[here, :] * level
        factor, _ = _root(lambda: xp.matrix_transpose(Z) @ Z, ridge)

        def precondition(rest: Any) -> Any:
            inside = xp.matrix_transpose(Z) @ rest
            for transposed in (False, True):
                inside = device_algebra.solve_triangular(factor, inside, transposed)
            return (rest - Z @ inside) / ridge

        return precondition

    def factorize(self, ridge: float) -> bool:
        return False

    def eigh(self) -> tuple[Array, Array]:
        raise too_many_rows(len(self), self.dtype, self._device)

    def squared_norm(self) -> float:
        raise too_many_rows(len(self), self.dtype, self._device)


class DeviceLandmarks(LandmarkSystem):
    """As `Landmarks`, where the rows are."""

    def __init__(
        self, kernel: Kernel, kept: KernelRows, beta: Array, count: int, seed: int, place: Any
    ) -> None:
        super().__init__(kernel, kept, count, seed)
        self._place, xp = place, place.xp
        every = _rows_there(kept.rows, place, self.dtype)
        self.rows = devices.rows_at(every, self._which)
        self._tiles = DeviceTiles(kernel, every[0, :])
        mine, right = self._tiles.sides(self.rows)
        self._make_own = lambda: self._tiles.between(mine, right)
        # K_mm + j I with the least j for which it has a factor.
        n, m, eps = len(self.share), len(self._which), float(np.finfo(self.dtype).eps)
        least = 4 * eps * or_one(m * self._mean_diagonal(self.rows, np.full(m, 1 / m)))
        self._factor, times = _root(self._make_own, least)
        self._least = times * least
        room = devices.free_bytes(place) - 4 * m * m * np.dtype(self.dtype).itemsize - SCRATCH
        self._bands = _Bands(
            lambda here: self._tiles.between(self._tiles.sides(every[here, :])[0], right),
            list(bands(n, max(m, every.shape[1]))),
            room,
        )
        self._share_there = devices.like(self.share[:, None], self._factor)
        columns = devices.like(np.column_stack([self.share, beta]), self._factor)
        sums = self._sum(lambda here, band: xp.matrix_transpose(band) @ columns[here, :])
        self._summed(sums, self._mean_diagonal(every, self.share))

    def _sum(self, function: Callable[[slice, Any], Any]) -> Array:
        """The sum over the bands of K_nm, (m, q), in float64."""
        total: Any = 0.0
        for here, band in self._bands:
            total = total + self._place.xp.astype(function(here, band), self._place.xp.float64)
        return np.asarray(devices.host(total))

    def _mean_diagonal(self, rows: Any, share: Array) -> float:
        """The mean of k(x, x)."""
        if self._kernel.shift_invariant:
            return 1.0
        parts = (slice(a, min(a + FEW, len(share))) for a in range(0, len(share), FEW))
        return float(
            sum(
                share[part]
                @ devices.diagonal(self._tiles.between(*self._tiles.sides(rows[part, :])))
                for part in parts
            )
        )

    def _solved(self, columns: Array, transposed: bool) -> Array:
        """L^-1 columns, or L^-T columns."""
        there = devices.like(columns, self._factor)
        made = device_algebra.solve_triangular(self._factor, there, transposed)
        return np.asarray(devices.host(made), dtype=np.float64)

    def _lower(self, columns: Array) -> Array:
        return self._solved(columns, False)

    def lift(self, columns: Array) -> Array:
        return self._solved(columns, True)

    def _scattered(self, lifted: Array, level: Array) -> Array:
        there, shift = (devices.like(values, self._factor) for values in (lifted, level))

        def part(here: slice, band: Any) -> Any:
            inside = self._share_there[here, :] * (band @ there - shift)
            return self._place.xp.matrix_transpose(band) @ inside

        return self._sum(part)

    def _ridged(self, shift: Array) -> Callable[[Array], Array]:
        there = devices.like(self._least + shift, self._factor)
        ridged, _ = _root(self._make_own, there)

        def inside(columns: Array) -> Array:
            made = self._factor @ devices.like(columns, self._factor)
            for transposed in (False, True):
                made = device_algebra.solve_triangular(ridged, made, transposed)
            return np.asarray(devices.host(made), dtype=np.float64)

        return inside


def _root(make: Callable[[], Any], shift: Any) -> tuple[Any, float]:
    """The factor of M + t diag(shift), and t: 1, or more where there is none."""
    times = 1.0
    while True:
        matrix = make()
        device_algebra.add_to_diagonal(matrix, times * shift)
        if (root := device_algebra.cholesky(matrix)) is not None:
            return root, times
        times *= 8
