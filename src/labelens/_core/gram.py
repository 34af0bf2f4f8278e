"""The kernel matrix of the training rows in place of C_xx, and systems with it.

With w the weights, D = diag(w) / sum(w) and A = D^(1/2) Phi_c, where Phi_c are the centred
features, C_xx is A^T A. Everything that solvers ask of it follows from the (n, n) matrix

    G = A A^T = D^(1/2) K_c D^(1/2)

and C_xy = A^T b for b = D^(-1/2) beta_0. In B(s) the number of rows n takes the place of p:

    B = a C_xx + s I,    a = (1 - s) n / tr G,    B^-1 A^T b = A^T (a G + s I)^-1 b

The host keeps G above the diagonal and the Cholesky factor below it: one matrix serves both. Few
rows have a whole G, and a factor next to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from .._base import device_algebra, devices
from .._base.rounding import rounding
from .._base.threads import in_order
from .kernels import Kernel, KnownKernel
from .moments import Array
from .tiles import DeviceTiles, HostTiles, bands

# Rows up to which G is float64 whatever the rows are; a larger one takes half of the memory.
DOUBLE_ROWS = 8192
COLUMNS = 256  # of the factor that are made at a time
FEW = 4096  # rows for which one call of LAPACK is as fast
EIGEN = 4  # float64 matrices next to G while its eigenvectors are made or used
STEPS = 40  # of conjugate gradients, at most
TOLERANCE = {np.float32: 1e-10, np.float64: 1e-14}
COMPARED = 1e-4  # the same where candidates are compared by a kernel that is known


def gram_dtype(kernel: Kernel, n: int) -> Any:
    """The dtype of G. In float32 its entries err by 6e-8; systems with it are solved in float64."""
    if isinstance(kernel, KnownKernel):
        return np.float32 if devices.is_single(kernel.matrix) else np.float64
    small = n <= DOUBLE_ROWS or not kernel.shift_invariant
    return np.float64 if small else np.float32


def gram_bytes(n: int, dtype: Any, place: devices.Place | None, eigen: bool = False) -> int:
    """Of G and its factor, or its eigenvectors.

    A device has the factor next to G, and a copy while that is made.
    """
    size = n * n * np.dtype(dtype).itemsize
    if place is not None:
        return 3 * size
    return size * (2 if n <= FEW else 1) + (EIGEN * 8 * n * n if eigen else 0)


def too_many_rows(
    n: int, dtype: Any, place: devices.Place | None, eigen: bool = False
) -> ValueError:
    return devices.no_room(
        gram_bytes(n, dtype, place, eigen),
        place,
        f"approximation='exact' with shrinkage or target_weight below 1 needs the {n} x {n} "
        f"kernel matrix{' and its eigenvectors' if eigen else ''}",
        "Use approximation='falkon' or 'nystroem', or fit fewer rows.",
    )


class Gram:
    """G, (n, n), on the host or on a device; columns and products are float64."""

    def __init__(
        self, kernel: Kernel, rows: Any, weight: Array, tile: int, place: devices.Place | None
    ) -> None:
        n, self._tile, self._place = rows.shape[0], tile, place
        self.dtype = gram_dtype(kernel, n)
        if gram_bytes(n, self.dtype, place) > devices.free_bytes(place):
            raise too_many_rows(n, self.dtype, place)
        share = weight / weight.sum()
        self.root = np.sqrt(share)  # (n,) of D^(1/2)
        if place is None:
            self.mean, self.diagonal = self._fill(kernel, rows, share)
        else:
            self.mean, self.diagonal = self._fill_device(kernel, rows, share)
        self.trace = float(self.diagonal.sum())
        self._known = isinstance(kernel, KnownKernel)
        self._factor: Any = None
        self._ridge: float | None = None  # that the factor is of
        self._eigen: tuple[Array, Array] | None = None

    def __len__(self) -> int:
        return len(self.root)

    # Making it ------------------------------------------------------------------------------------

    def _fill(self, kernel: Kernel, rows: Any, share: Array) -> tuple[Array, Array]:
        """K D 1 and the diagonal of G."""
        n = rows.shape[0]
        if isinstance(kernel, KnownKernel) and n <= FEW:
            self.matrix = matrix = kernel(rows, rows)
            mean = (matrix @ share.astype(self.dtype)).astype(np.float64)
            return mean, self._centre(mean, share)
        tiles = HostTiles(kernel, rows, self._tile, self.dtype)
        self.matrix = matrix = np.zeros((n, n), dtype=self.dtype)

        def band(start: int) -> Array:
            here, sums = slice(start, start + self._tile), np.zeros(n)
            mine = tiles.rows[here]
            for part in tiles.parts(start):
                values = kernel(mine, mine if part == here else tiles.rows[part])
                matrix[here, part] = values
                sums[here] += values @ share[part].astype(values.dtype)
                if part != here:
                    sums[part] += share[here].astype(values.dtype) @ values
                    if n <= FEW:
                        matrix[part, here] = values.T
            return sums

        mean = np.zeros(n)
        for sums in in_order(band, range(0, n, self._tile)):
            mean += sums
        return mean, self._centre(mean, share)

    def _centre(self, mean: Array, share: Array) -> Array:
        """Make G of K, whose mean row is known; returns its diagonal."""
        n, matrix = len(share), self.matrix
        whole = share @ mean
        diagonal = matrix.diagonal().astype(np.float64) - 2 * mean + whole
        level, root = mean.astype(self.dtype), self.root.astype(self.dtype)

        def centre(start: int) -> None:
            here = slice(start, start + self._tile)
            there = slice(0 if n <= FEW else start, n)
            band = matrix[here, there]
            band -= (mean[here] - whole).astype(self.dtype)[:, None]
            band -= level[there]
            band *= root[there]
            band *= root[here, None]

        for _ in in_order(centre, range(0, n, self._tile)):
            pass
        diagonal = np.maximum(diagonal, 0) * share
        np.einsum("ii->i", matrix)[:] = diagonal
        return diagonal

    def _fill_device(self, kernel: Kernel, rows: Any, share: Array) -> tuple[Array, Array]:
        place: Any = self._place
        xp, n = place.xp, rows.shape[0]
        rows = devices.moved_to(place, rows.toarray() if hasattr(rows, "toarray") else rows)
        rows = xp.astype(rows, getattr(xp, np.dtype(self.dtype).name), copy=False)
        tiles = DeviceTiles(kernel, rows[0, :])
        left, right = tiles.sides(rows)
        self.matrix = matrix = devices.empty((n, n), left)
        weights = place.put(share)
        mean = devices.zeros((n,), weights)
        for here in bands(n, n):
            matrix[here, :] = tiles.between(left[here, :], right)
            mean[here] = xp.astype(matrix[here, :], xp.float64) @ weights
        whole = float(weights @ mean)
        mean_there, mean = mean, devices.host(mean)
        diagonal = devices.diagonal(matrix).astype(np.float64) - 2 * mean + whole
        level = devices.like(mean, matrix)
        root = devices.like(self.root, matrix)
        shifted = xp.astype(mean_there - whole, matrix.dtype)
        for here in bands(n, n):
            band = matrix[here, :] - shifted[here][:, None] - level[None, :]
            matrix[here, :] = band * root[None, :] * root[here][:, None]
        return mean, np.maximum(diagonal, 0) * share

    # Products -------------------------------------------------------------------------------------

    def times(self, columns: Array) -> Array:
        """G columns, (n, q), in float64 whatever G is stored in."""
        n, step = len(self), self._tile
        if self._place is not None:
            xp, there = self._place.xp, self._place.put(columns)
            parts = [xp.astype(self.matrix[here, :], xp.float64) @ there for here in bands(n, n)]
            return devices.host(xp.concat(parts))
        if n <= FEW and (self._known or self.dtype == np.float64):  # the factor is elsewhere
            return self._times_whole(columns)

        def band(start: int) -> Array:
            """The sum over the entries from the diagonal on, and over their mirror images."""
            here, out = slice(start, min(start + step, n)), np.zeros(columns.shape)
            room = np.empty((step, step))  # new memory for every tile would take half of the time
            block = np.triu(self.matrix[here, here].astype(np.float64), 1)
            out[here] = block @ columns[here] + block.T @ columns[here]
            out[here] += self.diagonal[here, None] * columns[here]
            for a in range(here.stop, n, step):
                part = slice(a, a + step)
                tile = self.matrix[here, part]
                block = room[: len(tile), : tile.shape[1]]
                block[:] = tile
                out[here] += block @ columns[part]
                out[part] += block.T @ columns[here]
            return out

        total = np.zeros(columns.shape)
        for part in in_order(band, range(0, n, step)):
            total += part
        return total

    def _times_whole(self, columns: Array) -> Array:
        columns = columns.astype(self.dtype if self._known else np.float64)

        def band(start: int) -> Array:
            here = self.matrix[start : start + self._tile]
            return here.astype(columns.dtype, copy=False) @ columns

        parts = list(in_order(band, range(0, len(self), self._tile)))
        error = self.diagonal - self.matrix.diagonal()
        return np.concatenate(parts) + error[:, None] * columns

    def squared_norm(self) -> float:
        """|G|_F^2."""
        total, n = 0.0, len(self)
        if self._place is None:  # above the diagonal twice, below it may be the factor
            for start in range(0, n, self._tile):
                band = np.triu(self.matrix[start : start + self._tile, start:], 1)
                total += float(np.square(band, dtype=np.float64).sum())
            return 2 * total + float(self.diagonal @ self.diagonal)
        for here in bands(n, n):
            xp = self._place.xp
            total += float(xp.sum(xp.astype(self.matrix[here, :], xp.float64) ** 2))
        return total

    # Systems --------------------------------------------------------------------------------------

    def solve(self, columns: Array, ridge: float) -> Array | None:
        """(G + ridge I)^-1 columns, by Cholesky; None where that is singular to rounding.

        A float32 factor is a preconditioner: conjugate gradients bring the residual down to what
        float64 products can tell.
        """
        extra = 0.0
        while not self.factorize(ridge + extra):
            if self.dtype == np.float64:
                return None
            extra = 8 * extra or 4 * float(np.finfo(self.dtype).eps) * max(self.trace, ridge)
        tol = COMPARED if self._known else TOLERANCE[self.dtype]
        return conjugate_gradients(
            lambda X: self.times(X) + ridge * X, self.substitute, columns, tol
        )

    def factorize(self, ridge: float) -> bool:
        """Whether G + ridge I has a Cholesky factor."""
        if self._ridge != ridge:
            self._ridge = None
            if self._make_factor(ridge):
                self._ridge = ridge
        return self._ridge is not None

    @property
    def has_factor(self) -> bool:
        return self._ridge is not None

    def _make_factor(self, ridge: float) -> bool:
        n, matrix = len(self), self.matrix
        smallest = rounding(self.trace / n + ridge, n) if self.dtype == np.float64 else 0.0
        if self._place is not None:
            shifted = matrix + 0.0  # a copy
            device_algebra.add_to_diagonal(shifted, ridge)
            self._factor = device_algebra.cholesky(shifted)
            if self._factor is None:
                return False
            return bool(devices.diagonal(self._factor).min() ** 2 > smallest)
        if n <= FEW:
            if self._factor is None:
                self._factor = np.empty((n, n), matrix.dtype, order="F")
            shifted, self._factor = self._factor, None
            shifted[:] = matrix.T  # which is the same, and in its order
            shifted[np.diag_indices(n)] = self.diagonal + ridge
            try:  # several times as fast as NumPy's for float32
                self._factor = linalg.cholesky(
                    shifted, lower=True, overwrite_a=True, check_finite=False
                )
            except linalg.LinAlgError:
                return False
            return bool(self._factor.diagonal().min() ** 2 > smallest)
        self._factor = matrix
        return factorize(matrix, matrix.T, self.diagonal + ridge, smallest)

    def substitute(self, columns: Array) -> Array:
        if self._place is not None:
            there = devices.like(columns, self.matrix)
            half = device_algebra.solve_triangular(self._factor, there, transposed=False)
            solved = device_algebra.solve_triangular(self._factor, half, transposed=True)
            return devices.host(solved).astype(np.float64)
        half = columns.astype(self.dtype)
        for trans in ("N", "T"):
            half = linalg.solve_triangular(
                self._factor, half, lower=True, trans=trans, check_finite=False
            )
        return half.astype(np.float64)

    def eigh(self) -> tuple[Array, Array]:
        """Eigenvalues of G above rounding, largest first, and their vectors, (n, r)."""
        if self._eigen is None:
            self._eigen = self._make_eigen()
        return self._eigen

    def _make_eigen(self) -> tuple[Array, Array]:
        matrix = self.matrix
        if self._place is not None:
            values, vectors = device_algebra.eigh(matrix)
        else:
            size = gram_bytes(len(self), self.dtype, None, eigen=True) - matrix.nbytes
            if size > devices.free_bytes(None):
                raise too_many_rows(len(self), self.dtype, None, eigen=True)
            values, vectors = np.linalg.eigh(matrix.astype(np.float64, copy=False), UPLO="U")
        error = rounding(values[-1], len(self))
        error += len(self) ** 0.5 * float(np.finfo(self.dtype).eps) * self.diagonal.max()
        keep = np.flatnonzero(values > error)[::-1]
        return values[keep].astype(np.float64), vectors[:, keep].astype(np.float64)


def factorize(matrix: Any, source: Any, diagonal: Array, smallest: float = 0.0) -> bool:
    """Put the Cholesky factor of `source` below the diagonal of `matrix`, in blocks of columns.

    Of the source what is below its diagonal counts, with `diagonal` on it; it may be the matrix
    itself, or its transpose. False where the square of a pivot is not above `smallest`.
    """
    n = len(matrix)
    for start in range(0, n, COLUMNS):
        here = slice(start, min(start + COLUMNS, n))
        before = matrix[here, :start]
        block = np.tril(source[here, here], -1)
        block = block + block.T
        block[np.diag_indices_from(block)] = diagonal[here]
        block -= before @ before.T
        try:
            lower = np.linalg.cholesky(block)
        except np.linalg.LinAlgError:
            return False
        if lower.diagonal().min() ** 2 <= smallest:
            return False
        inverse = np.linalg.inv(lower).T
        matrix[here, here] = lower + np.triu(matrix[here, here], 1)

        def panel(a: int, here: slice = here, before: Any = before, inverse: Any = inverse) -> None:
            rows = slice(a, a + 2 * COLUMNS)
            part = source[rows, here] - matrix[rows, : here.start] @ before.T
            matrix[rows, here] = part @ inverse

        for _ in in_order(panel, range(here.stop, n, 2 * COLUMNS)):
            pass
    return True


Linear = Callable[[Any], Any]


def conjugate_gradients(
    times: Linear,
    precondition: Linear,
    columns: Any,
    tol: float,
    steps: int = STEPS,
    patience: int = 4,
) -> Any:
    """Solve M X = columns, (n, q), where they are, each column by itself, for a positive M.

    It stops when every residual is below `tol` of its column, or no longer halves in `patience`
    steps.
    """
    X, rest = devices.zeros(columns.shape, columns), columns
    wanted = tol * np.sqrt(_inner(columns, columns))
    ahead, before, sizes = None, None, [np.inf] * patience
    for _ in range(steps):
        size = np.sqrt(_inner(rest, rest))
        if (size <= wanted).all() or size.max() > sizes[-patience] / 2:
            break
        sizes.append(float(size.max()))
        towards = precondition(rest)
        product = _inner(rest, towards)
        if ahead is None:
            ahead = towards
        else:
            ahead = towards + ahead * devices.like(product / _or_one(before), towards)
        image = times(ahead)
        step = devices.like(product / _or_one(_inner(ahead, image)), image)
        X, rest, before = X + ahead * step, rest - image * step, product
    return X


def _inner(left: Any, right: Any) -> Array:
    """(q,) inner products of columns, on the host."""
    if isinstance(left, np.ndarray):
        return np.einsum("ij,ij->j", left, right)
    return np.asarray(devices.host(devices.namespace(left).sum(left * right, axis=0)))


def _or_one(values: Any) -> Array:
    return np.where(np.abs(values) > 1e-300, values, 1.0)
