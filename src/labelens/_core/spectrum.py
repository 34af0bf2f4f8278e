"""B(s) and C_xx taken apart: W with W^T B W = I, and once for all s by the eigenvalues of C_xx.

With C_xx = V diag(m) V^T all of B(s) = (1 - s) C_xx p / tr C_xx + s I are diagonal in V too,

    B = V diag(b) V^T,    b = (1 - s) m p / sum(m) + s,    W = V diag(b)^(-1/2),

so W^T B W = I and W^T C_xx W = diag(m / b). There A(t) is a diagonal and the rank of C_xy:

    W^T A W = t (W^T C_xy)(W^T C_xy)^T / |C_xy|_F^2 + (1 - t) diag(m / b) / tr C_xx

whose largest eigenvectors take some hundred products of that cost, and no p x p matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .._base import devices
from .._base.device_algebra import add_to_diagonal, cholesky, eigh, solve_triangular
from .._base.rounding import rounding
from .moments import Array, Scatter

# How much smaller than the largest the smallest b may be for its digits to be known.
SAFE_TO_DIVIDE = 1e-7
LEAST_WITHIN = 1e-8  # of u^T B u


class Spectrum:
    """The eigenvectors of C_xx, (p, p), and its eigenvalues."""

    def __init__(self, scatter: Scatter) -> None:
        # NumPy lets other threads run meanwhile.
        variances, self.vectors = np.linalg.eigh(scatter.covariance)
        self.variances = np.maximum(variances, 0)

    def whitening(self, s: float) -> Axes | None:
        """W for a shrinkage; None if B is nearly singular and its range must be found."""
        mean = float(self.variances.mean())
        units = (1 - s) * self.variances / or_one(mean) + s
        if units.min() < SAFE_TO_DIVIDE * units.max():
            return None
        return Axes(self.vectors, 1 / np.sqrt(units), self.variances / units)


@dataclass(frozen=True, eq=False)
class Axes:
    """W = V diag(lengths), and the diagonal of W^T C_xx W."""

    vectors: Array  # (p, p)
    lengths: Array  # (p,)
    spread: Array  # (p,)

    def into(self, columns: Array) -> Array:
        """W^T columns."""
        return self.lengths[:, None] * (self.vectors.T @ columns)

    def out(self, columns: Array) -> Array:
        """W columns."""
        return self.vectors @ (self.lengths[:, None] * columns)


class Whitening:
    """W with W^T B(s) W = I, by Cholesky where B is safely positive, else on its range.

    `spread` is the diagonal of W^T C_xx W where that is one: of a single number at s = 0. All is
    made where C_xx is, and so is what it makes of columns on a device; those on the host come back
    to it. Where it is known that C_xx has `null` dimensions without variance, they are left out at
    s = 0, whatever rounding has made of them.
    """

    def __init__(self, scatter: Scatter, s: float, null: int = 0) -> None:
        matrix = scatter.covariance
        p, trace = matrix.shape[0], devices.trace(matrix)
        matrix *= (1 - s) * p / or_one(trace)
        add_to_diagonal(matrix, s)
        # Columns in comparable units first: a column of small numbers is not a null column.
        size = np.sqrt(np.maximum(devices.diagonal(matrix), 0))
        self.unit = devices.like(1 / np.where(size > 0, size, 1.0)[:, None], matrix)
        matrix *= self.unit
        matrix *= self.unit.T
        self.inverse: Any = None
        null = null if s == 0 else 0
        self.root = None if null else cholesky(matrix)
        if self.root is None or devices.diagonal(self.root).min() ** 2 <= rounding(1.0, p):
            values, vectors = eigh(matrix)
            keep = values > rounding(values[-1], p)
            keep[:null] = False
            self.inverse = devices.like(vectors[:, keep] / np.sqrt(values[keep]), matrix)
        rank = p if self.inverse is None else self.inverse.shape[1]
        self.spread = np.full(rank, trace / p) if s == 0 else None

    def into(self, columns: Any) -> Any:
        """W^T columns."""
        there = self.unit * self._there(columns)
        if self.inverse is not None:
            return self._back(self.inverse.T @ there, columns)
        return self._back(solve_triangular(self.root, there, transposed=False), columns)

    def out(self, columns: Any) -> Any:
        """W columns."""
        there = self._there(columns)
        if self.inverse is not None:
            return self._back(self.unit * (self.inverse @ there), columns)
        solved = solve_triangular(self.root, there, transposed=True)
        return self._back(self.unit * solved, columns)

    def _there(self, columns: Any) -> Any:
        return devices.moved_to(devices.place_of(self.unit), columns)

    def _back(self, made: Any, columns: Any) -> Any:
        return devices.host(made) if isinstance(columns, np.ndarray) else made


def scaled_within(components: Array, cross: Any, a: float, size: Array | float = 1.0) -> Array:
    """Components with U^T B U = I where C_xx in B = a C_xx + s I is the scatter within classes.

    `cross` is that of one-hot labels, divided by `size`. Its column c is p_c (m_c - m), so the
    means of the classes take a sum_c U^T C_c C_c^T U / p_c of U^T B U = I. Each component is made
    of those before it: the first of many are those of few.
    """
    shares, along = cross.offset_right, components @ cross.covariance
    within = np.eye(len(along)) - a * (along * (size / np.where(shares > 0, shares, 1))) @ along.T
    values, vectors = linalg.eigh(within)
    if values[0] < LEAST_WITHIN:  # classes are points there
        within = vectors * np.maximum(values, LEAST_WITHIN) @ vectors.T
    return linalg.solve_triangular(linalg.cholesky(within, lower=True), components, lower=True)


def ledoit_wolf(scatter: Scatter) -> float:
    """The shrinkage towards a multiple of I that Ledoit and Wolf (2004) estimate to be best.

    Their beta is the mean over rows of |d d^T - S|^2, which is quartic / N - |S|^2.
    """
    covariance, n, p = scatter.covariance, scatter.weight, len(scatter.origin)
    with np.errstate(over="ignore", invalid="ignore"):
        norm = float(devices.namespace(covariance).sum(covariance**2))
        trace = np.float64(devices.trace(covariance))
    return best_shrinkage(norm, trace, scatter.quartic / n, n, p)


@np.errstate(over="ignore", invalid="ignore")
def best_shrinkage(norm: float, trace: float, quartic: float, n: float, p: int) -> float:
    """The same from |C_xx|_F^2, its trace and the mean of |d|^4 over n rows of p features."""
    distance = norm - np.float64(trace) ** 2 / p
    if not np.isfinite(quartic + norm):
        raise ValueError(
            "shrinkage='auto' needs fourth powers of X, and they overflow float64: scale X first "
            "(scale='standard'), or give shrinkage a number."
        )
    if distance <= 0:
        return 1.0
    error = (quartic - norm) / n
    return float(np.clip(error / distance, 0.0, 1.0))


# Of Lanczos: eigenvalues that are close together take thousands, and all of them are faster then.
RESTARTS = 20
MANY = 512  # eigenvalues up to which LAPACK's routine for the largest is faster in any case


def largest(diagonal: Array, columns: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of diag(diagonal) + columns columns^T, (k,), and vectors (p, k).

    By Lanczos for a few of many, where it can be shown that none was missed.
    """
    p, q = columns.shape
    k = min(k, p)
    if not p or not q:
        order = np.argsort(-diagonal, kind="stable")[:k]
        return diagonal[order], np.eye(p)[:, order]
    if p >= MANY and 8 * k <= p and 2 * q <= p:
        found = _lanczos(diagonal, columns, k)
        if found is not None:
            return found
    matrix = columns @ columns.T
    matrix[np.diag_indices(p)] += diagonal
    values, vectors = eigh(matrix, k)
    return values[::-1], vectors[:, ::-1]


def _lanczos(diagonal: Array, columns: Array, k: int) -> tuple[Array, Array] | None:
    p, width = len(diagonal), max(40, 3 * k)
    # A few distinct eigenvalues span too small a Krylov space: ARPACK then adds vectors of a
    # generator whose state outlives the call.
    scale = np.abs(diagonal).max() or 1.0
    if len(np.unique(np.round(diagonal / scale, 10))) + columns.shape[1] <= width:
        return None
    matrix = LinearOperator(
        (p, p), dtype=float, matvec=lambda x: diagonal * x + columns @ (columns.T @ x)
    )
    start = np.random.default_rng(0).standard_normal(p)
    try:
        values, vectors = eigsh(matrix, k, which="LA", ncv=width, v0=start, maxiter=RESTARTS)
    except ArpackError:
        return None
    order = np.argsort(-values)
    values, vectors = values[order], vectors[:, order]
    above = values[-1] * (1 + 1e-9)
    if not values[-1] > 1e-9 * values[0] or _count(diagonal, columns, above) != sum(values > above):
        return None
    return values, vectors


def _count(diagonal: Array, columns: Array, bound: float) -> int:
    """How many eigenvalues exceed the bound, by Sylvester's law of inertia.

    [[D - bound, C], [C^T, -I]] has the inertia of -I and D - bound + C C^T, and that of D - bound
    and -I - C^T (D - bound)^-1 C: the number of positive ones is the same in both.
    """
    apart = diagonal - bound
    if not np.abs(apart).min() > 0:
        return -1
    rest = -np.eye(columns.shape[1]) - (columns.T / apart) @ columns
    return int((apart > 0).sum() + (np.linalg.eigvalsh(rest) > 0).sum())


def or_one(value: float) -> float:
    """A divisor that is neither zero nor so small that dividing by it overflows."""
    return value if value > 1e-300 else 1.0
