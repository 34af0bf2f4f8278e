"""Moments of all rows through m landmarks, by conjugate gradients instead of C_xx.

With K_mm + j I = L L^T, where j is rounding, the features are phi(x) = L^-1 k(landmarks, x):

    C_xy = L^-1 K_mn beta_0,    C_xx = L^-1 K_mn (D - D 1 1^T D) K_nm L^-T,    B = a C_xx + s I

C_xx is multiplied by columns, and never made. As with the exact kernel a = (1 - s) n / tr, with
the trace of the exact kernel: landmarks at every row give its model. The preconditioner is B with
the landmarks in place of all rows (Falkon; Rudi, Carratino and Rosasco, 2017), by a second factor:

    (a L^T D L + s I)^-1 = L^-1 D^-1 (a K_mm + s D^-1)^-1 L,    D = weights of the landmarks

One (m, m) array holds both: L below its diagonal, the other factor above it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from .._base.threads import in_order
from .exact_kernel import KernelRows
from .gram import conjugate_gradients, factorize
from .kernels import Kernel, KnownKernel
from .maps.base import feature_generator
from .moments import Array
from .spectrum import or_one
from .tiles import HostTiles

# Bytes of K_nm in memory; other blocks of rows are computed for each product.
LARGEST_BLOCKS = 3 << 30
# Numbers of K_nm up to which it is float64.
DOUBLE_NUMBERS = 1 << 24
# The residual, relative to the right-hand side, at which conjugate gradients stop.
TOLERANCE = {np.float32: 3e-3, np.float64: 1e-12}
STEPS = {np.float32: 100, np.float64: 1000}  # at most
FEW = 32  # rows of which k(x, x) is taken at a time


class LandmarkSystem(ABC):
    """Systems with B; a subclass has K_nm and the factors, on the host or on a device."""

    rows: Any  # (m, d)
    mean: Array  # (m,) of K_nm
    cross: Array  # (m, q) C_xy
    level: float  # |mean of phi|^2
    trace: float

    def __init__(self, kernel: Kernel, kept: KernelRows, count: int, seed: int) -> None:
        n = len(kept.weight)
        self._which = np.sort(feature_generator(seed).permutation(n)[:count])
        self._kernel = kernel
        self.share = kept.weight / kept.weight.sum()
        theirs = kept.weight[self._which]
        self._theirs = theirs / theirs.sum()  # of the landmarks
        self.dtype = landmark_dtype(kernel, n, len(theirs))

    def _summed(self, sums: Array, diagonal: float) -> None:
        """Take in K_mn of the weights and of beta_0, and the mean of k(x, x)."""
        self.mean, self.cross = sums[:, 0], self._lower(sums[:, 1:])
        self.level = float(np.sum(self._lower(sums[:, :1]) ** 2))
        self.trace = max(diagonal - self.level, 0.0)

    @abstractmethod
    def _lower(self, columns: Array) -> Array:
        """L^-1 columns."""

    @abstractmethod
    def lift(self, columns: Array) -> Array:
        """L^-T columns: coefficients of the landmarks."""

    @abstractmethod
    def _scattered(self, lifted: Array, level: Array) -> Array:
        """K_mn (D - D 1 1^T D) K_nm columns, whose means over the rows are the level."""

    @abstractmethod
    def _ridged(self, shift: Array) -> Callable[[Array], Array]:
        """Columns -> (K_mm + diag(shift))^-1 L columns."""

    def solve(self, columns: Array, s: float) -> Array:
        """B^-1 columns, for 0 < s < 1."""
        a = (1 - s) * len(self.share) / or_one(self.trace)
        inside = self._ridged(s / a / self._theirs)

        def times(columns: Array) -> Array:
            lifted = self.lift(columns)
            return a * self._lower(self._scattered(lifted, self.mean @ lifted)) + s * columns

        def precondition(rest: Array) -> Array:
            return self._lower(inside(rest) / self._theirs[:, None]) / a

        steps = STEPS[self.dtype]
        return conjugate_gradients(
            times, precondition, columns, TOLERANCE[self.dtype], steps, steps
        )


class Landmarks(LandmarkSystem):
    """K_nm of all rows and their landmarks, which are drawn at random; on the host."""

    def __init__(
        self, kernel: Kernel, kept: KernelRows, beta: Array, count: int, seed: int, tile: int
    ) -> None:
        super().__init__(kernel, kept, count, seed)
        which = self._which
        self.rows = kept.rows[which]
        self._all, self._tile = kept.rows, tile
        self._view = HostTiles(kernel, self.rows, tile, self.dtype)
        self._blocks: dict[int, Any] = {}
        self._matrix = np.empty((len(which), len(which)), dtype=self.dtype)
        room = LARGEST_BLOCKS // (self._matrix[0].nbytes * tile) * tile
        columns = np.column_stack([self.share, beta]).astype(self.dtype)

        def first(start: int) -> Array:
            block, here = self._block(start), slice(start, start + tile)
            if start < room:
                self._blocks[start] = block
            mine = slice(*np.searchsorted(which, (start, start + tile)))
            self._matrix[mine] = block[which[mine] - start]
            return block.T @ columns[here]

        sums = self._sum(first, columns.shape[1])
        self._factorize()
        self._summed(sums, self._mean_diagonal())

    def __len__(self) -> int:
        return len(self._matrix)

    # K_nm -----------------------------------------------------------------------------------------

    def _block(self, start: int) -> Any:
        """K_nm of some rows, (tile, m)."""
        if start in self._blocks:
            return self._blocks[start]
        view = self._view
        mine = view.moved(self._all[start : start + self._tile])
        block = np.empty((mine.shape[0], len(self)), dtype=self.dtype)
        for part in view.parts(0):
            block[:, part] = self._kernel(mine, view.rows[part])
        return block

    def _mean_diagonal(self) -> float:
        """The mean of k(x, x)."""
        if self._kernel.shift_invariant:
            return 1.0
        parts = (self._view.moved(self._all[a : a + FEW]) for a in range(0, len(self.share), FEW))
        values = [self._kernel(part, part).diagonal() for part in parts]
        return float(self.share @ np.concatenate(values))

    def _sum(self, function: Callable[[int], Array], width: int) -> Array:
        """Sums of (m, width) over the blocks, in float64."""
        total = np.zeros((len(self), width))
        for part in in_order(function, range(0, len(self.share), self._tile)):
            total += part
        return total

    def _scattered(self, lifted: Array, level: Array) -> Array:
        single = lifted.astype(self.dtype)

        def band(start: int) -> Array:
            block, share = self._block(start), self.share[start : start + self._tile, None]
            return block.T @ (share * (block @ single - level)).astype(self.dtype)

        return self._sum(band, lifted.shape[1])

    # Factors --------------------------------------------------------------------------------------

    def _factorize(self) -> None:
        """L, with the least j for which there is one."""
        diagonal = self._matrix.diagonal().astype(np.float64)
        least = 4 * float(np.finfo(self.dtype).eps) * or_one(float(diagonal.sum()))
        while not factorize(self._matrix, self._matrix.T, diagonal + least):
            least *= 8
        self._diagonal = diagonal + least
        self._pivots = [self._matrix.diagonal().copy()]
        self._multiply, self._solve = linalg.get_blas_funcs(("trmm", "trsm"), (self._matrix,))

    def _by(self, function: Any, factor: int, transposed: bool, columns: Array) -> Array:
        """A product or a solution with one of the factors: 0 is L."""
        np.einsum("ii->i", self._matrix)[:] = self._pivots[factor]
        single = columns.astype(self.dtype)
        # Fortran's view of the array is its transpose.
        made = function(
            1.0, self._matrix.T, single, lower=factor, trans_a=transposed == bool(factor)
        )
        return made.astype(np.float64)

    def _lower(self, columns: Array) -> Array:
        return self._by(self._solve, 0, False, columns)

    def lift(self, columns: Array) -> Array:
        return self._by(self._solve, 0, True, columns)

    def _ridged(self, shift: Array) -> Callable[[Array], Array]:
        upper = self._matrix.T
        factorize(upper, upper, self._diagonal + shift)
        self._pivots.append(self._matrix.diagonal().copy())

        def inside(columns: Array) -> Array:
            columns = self._by(self._multiply, 0, False, columns)
            for transposed in (False, True):
                columns = self._by(self._solve, 1, transposed, columns)
            return columns

        return inside


def landmark_bytes(kernel: Kernel, n: int, m: int) -> int:
    """Estimated memory of a fit of n rows with m landmarks, without the rows."""
    m = min(m, n)
    size = np.dtype(landmark_dtype(kernel, n, m)).itemsize
    return min(size * n * m, LARGEST_BLOCKS) + size * m * m


def landmark_dtype(kernel: Kernel, n: int, m: int) -> Any:
    """As of the exact kernel: float32 only of values that are bounded, and of many."""
    if isinstance(kernel, KnownKernel):
        return kernel.matrix.dtype.type
    few = n * m <= DOUBLE_NUMBERS or not kernel.shift_invariant
    return np.float64 if few else np.float32
