"""Solvers: moments in, components out. They cannot know which maps made the moments.

    A(t) = t C_xy C_xy^T / |C_xy|_F^2 + (1 - t) C_xx / tr C_xx        t = target_weight
    B(s) = (1 - s) C_xx p / tr C_xx + s I                              s = shrinkage

    C_xy is of labels as they are, or of whitened ones (`label_whitening`).

    spectral:  A u = lambda B u, u^T B u = 1
    direct:    U = B^-1 C_xy R, and a sketch of C_xx beside it where t < 1

C_xx is divided by its mean variance in B, so that s = 1 is the identity and the length of a
component does not jump there. At t = 1 and t = 0 the single term of A goes unscaled, so that
`singular_values` are those of C_xy, and of the centred rows over sqrt(N).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, svds

from . import _array
from ._signs import with_signs
from .moments import Array, ClassSums, CrossMoment, Scatter
from .spectrum import Axes, largest

EPS = np.finfo(np.float64).eps


Cross = CrossMoment | ClassSums


@dataclass(frozen=True)
class Solution:
    """k components in the space of p features; those past `rank` are zero, or say nothing new."""

    components: Array  # (k, p)
    rank: int
    cross: Cross | None
    scatter: Scatter | None
    values: Array | None = None  # (rank,)  singular values, where solving has made them

    @cached_property
    def singular_values(self) -> Array:
        """(k,)"""
        values = self.values
        if values is None:
            values = _left_singular(self.components.T)[1]
        padded = np.zeros(len(self.components))
        padded[: self.rank] = values[: self.rank]
        return padded

    @property
    def dependence(self) -> Array:
        """(k,)  HSIC that each component adds to those before it.

        As in equation (1): |C_xy|^2 N^2 / (N - 1)^2, and for L = I tr(C_xx) N / (N - 1)^2.
        """
        captured, _ = self._captured
        if self.cross is not None:
            n = self.cross.weight
            return captured * ((n / (n - 1)) ** 2 if n >= 2 else 1.0)  # weights sum to anything
        n = np.nan if self.scatter is None else self.scatter.weight
        return captured * (n / (n - 1) ** 2 if n >= 2 else 1.0)

    @property
    def dependence_ratio(self) -> Array:
        """(k,)  the same over the HSIC of all features."""
        captured, total = self._captured
        return captured / _or_one(total)

    @cached_property
    def _captured(self) -> tuple[Array, float]:
        """What each component adds to |C_xy|^2, or to tr(C_xx), and all there is.

        Components need not be orthogonal, so each is credited with what its part orthogonal to
        those before it captures; the sum is then what their span captures, whatever the basis.
        """
        captured = np.zeros(len(self.components))
        basis = np.linalg.qr(self.components.T)[0].T[: self.rank]
        if self.cross is not None:
            covariance = self.cross.covariance
            captured[: len(basis)] = np.sum((basis @ covariance) ** 2, axis=1)
            return captured, float(np.sum(covariance**2))
        if self.scatter is not None:
            covariance = _array.host(self.scatter.covariance)
            captured[: len(basis)] = np.einsum("ij,ij->i", basis @ covariance, basis)
            return captured, float(np.trace(covariance))
        return captured + np.nan, np.nan  # randomized PCA keeps no C_xx to measure against


def spectral(
    cross: Cross | None,
    scatter: Scatter | None,
    k: int,
    target_weight: float,
    white: Whitening | Axes | None,
    rank_limit: int | None = None,
) -> Solution:
    """The k directions of largest A(t) within B(s); labels of rank `rank_limit` give no more."""
    if cross is not None and target_weight == 1:
        # A has rank q at most: an SVD of B^(-1/2) C_xy is all it takes.
        covariance = _beyond_rounding(cross)
        if white is not None:
            covariance = white.into(covariance)
        vectors, values = _top_singular(covariance, k)
        values = values[:rank_limit]
    else:
        if white is not None and white.spread is not None:
            values, vectors = largest(*_along(white, cross, scatter, target_weight), k)
        else:
            objective = _objective(cross, scatter, target_weight)
            if white is not None:
                objective = white.into(white.into(objective).T)
            values, vectors = _array.largest(objective, k)
            values, vectors = values[::-1], vectors[:, ::-1]
        values = np.sqrt(np.maximum(values, 0))
        # Squared singular values are known to about eps of the largest.
        values[values < values[:1] * np.sqrt(len(vectors) * EPS)] = 0
    rank = min(k, _rank(values, vectors.shape))
    vectors = vectors[:, :rank] if white is None else white.out(vectors[:, :rank])
    components = np.zeros((k, vectors.shape[0]))
    components[:rank] = with_signs(vectors).T
    return Solution(components, rank, cross, scatter, values[:rank])


def direct(
    cross: Cross | None,
    mixing: Array | None,
    unsupervised: Array | None,
    trace: float,
    scatter: Scatter | None,
    target_weight: float,
    white: Whitening | Axes | None,
    rank_limit: int | None = None,
) -> Solution:
    """U = B^-1 (sqrt(t) C_xy R / |C_xy|_F + sqrt(1 - t) C_xg / sqrt(tr C_xx)): no decomposition.

    `unsupervised` is C_xg, (p, k), the sketch of C_xx.
    """
    supervised = None
    if mixing is not None:
        assert cross is not None
        supervised = cross.times(mixing)
        size = _norm(supervised)
        if size <= _rounding(cross) * float(np.linalg.norm(mixing, 2)):
            supervised, size = np.zeros_like(supervised), 0.0
    if unsupervised is not None:
        rank_limit = None
    if supervised is not None and unsupervised is not None:
        assert cross is not None
        norm = _norm(cross.covariance)
        directions = np.sqrt(1 - target_weight) * unsupervised / np.sqrt(_or_one(trace))
        directions += np.sqrt(target_weight) * supervised / _or_one(norm)
    else:
        directions = supervised if unsupervised is None else unsupervised
    if white is not None:
        directions = white.out(white.into(directions))
    if directions is not supervised:
        size = _norm(directions)
    return Solution(directions.T, _rank_of(directions, size, rank_limit), cross, scatter)


@dataclass(frozen=True)
class Solver:
    """A function of moments, and which moments it wants.

    One that mixes is called as `direct` is. It gets R and, where variance counts, a sketch of C_xx,
    and its components depend on how many there are. Any other is called as `spectral` is, with the
    features of the labels as they are and, where variance counts, C_xx; of its components the first
    are the same for every k.
    """

    solve: Callable[..., Solution]
    mixes: bool = False


SPECTRAL = Solver(spectral)
DIRECT = Solver(direct, mixes=True)


def through(cross: Cross, factor: Array) -> CrossMoment:
    """C_xy F: (q, r) combinations of the label features in place of these."""
    covariance = cross.times(factor)
    # What columns add up to may be no more than the rounding of what cancels in each.
    size = _norm(cross.offset_left) * np.abs(cross.offset_right) + lengths(cross.covariance.T)
    if _norm(covariance) <= 16 * EPS * _norm(size @ np.abs(factor)):
        covariance = np.zeros_like(covariance)
    origin, mean = np.zeros(factor.shape[1]), cross.offset_right @ factor
    return CrossMoment(cross.weight, *cross.mean, origin, mean, covariance * cross.weight)


def label_whitening(covariance: Array, s: float, one_hot: bool) -> tuple[Array, Array]:
    """G, (q, q), with G G^T = S^-1 for S = (1 - s) C_yy q / tr C_yy + s I; and sqrt(diag S).

    Directions without variance are left out. Of one-hot labels G is S^(-1/2): the vector of ones,
    along which C_xy is zero, stays where `mixing` expects it. Other labels are brought to
    comparable units first: a column of small numbers is not a null column.
    """
    q = len(covariance)
    matrix = (1 - s) * q / _or_one(np.trace(covariance)) * covariance
    matrix[np.diag_indices(q)] += s
    size = np.sqrt(np.maximum(np.diagonal(matrix), 0))
    size[size == 0] = 1.0
    unit = np.ones(q) if one_hot else size
    values, vectors = linalg.eigh(matrix / np.outer(unit, unit))
    keep = values > values[-1] * q * EPS
    root = vectors[:, keep] / np.sqrt(values[keep]) @ vectors[:, keep].T
    return root / unit[:, None], size


def ledoit_wolf(scatter: Scatter) -> float:
    """The shrinkage towards a multiple of I that Ledoit and Wolf (2004) estimate to be best.

    Their beta is the mean over rows of |d d^T - S|^2, which is quartic / N - |S|^2.
    """
    covariance, n, p = scatter.covariance, scatter.weight, len(scatter.origin)
    with np.errstate(over="ignore", invalid="ignore"):
        norm = float(_array.namespace(covariance).sum(covariance**2))
        distance = norm - np.float64(_array.trace(covariance)) ** 2 / p
    if not np.isfinite(scatter.quartic + norm):
        raise ValueError(
            "shrinkage='auto' needs fourth powers of X, and they overflow float64: scale X first "
            "(scale='standard'), or give shrinkage a number."
        )
    if distance <= 0:
        return 1.0
    error = (scatter.quartic / n - norm) / n
    return float(np.clip(error / distance, 0.0, 1.0))


def _objective(cross: Cross | None, scatter: Scatter | None, t: float) -> Any:
    """A(t), (p, p), where C_xx is."""
    assert scatter is not None
    spread = scatter.covariance
    if cross is None or t == 0:
        return spread
    covariance = _array.like(cross.covariance, spread)
    dependence = covariance @ covariance.T
    spread *= (1 - t) / _or_one(_array.trace(spread))
    return spread + t * dependence / _or_one(_array.trace(dependence))


def _along(
    white: Whitening | Axes, cross: Cross | None, scatter: Scatter | None, t: float
) -> tuple[Array, Array]:
    """W^T A(t) W as a diagonal (r,) and columns (r, q), where W^T C_xx W is diagonal."""
    assert scatter is not None and white.spread is not None
    if cross is None or t == 0:
        return white.spread, np.zeros((len(white.spread), 0))
    covariance = cross.covariance
    columns = white.into(covariance) * np.sqrt(t / _or_one(float(np.sum(covariance**2))))
    trace = _array.trace(scatter.comoment) / scatter.weight
    return white.spread * ((1 - t) / _or_one(trace)), columns


class Whitening:
    """W with W^T B(s) W = I, by Cholesky where B is safely positive, else on its range.

    `spread` is the diagonal of W^T C_xx W where that is one: of a single number at s = 0. All is
    made where C_xx is, and so is what it makes of columns on a device; those on the host come back
    to it.
    """

    def __init__(self, scatter: Scatter, s: float) -> None:
        matrix = scatter.covariance
        p, trace = matrix.shape[0], _array.trace(matrix)
        matrix *= (1 - s) * p / _or_one(trace)
        _array.add_to_diagonal(matrix, s)
        # Columns in comparable units first: a column of small numbers is not a null column.
        size = np.sqrt(np.maximum(_array.diagonal(matrix), 0))
        self.unit = _array.like(1 / np.where(size > 0, size, 1.0)[:, None], matrix)
        matrix *= self.unit
        matrix *= self.unit.T
        self.inverse: Any = None
        self.root = _array.cholesky(matrix)
        if self.root is None or _array.diagonal(self.root).min() ** 2 <= p * EPS:
            values, vectors = _array.eigh(matrix)
            keep = values > values[-1] * p * EPS
            self.inverse = _array.like(vectors[:, keep] / np.sqrt(values[keep]), matrix)
        rank = p if self.inverse is None else self.inverse.shape[1]
        self.spread = np.full(rank, trace / p) if s == 0 else None

    def into(self, columns: Any) -> Any:
        """W^T columns."""
        there = self.unit * self._there(columns)
        if self.inverse is not None:
            return self._back(self.inverse.T @ there, columns)
        return self._back(_array.solve_triangular(self.root, there, transposed=False), columns)

    def out(self, columns: Any) -> Any:
        """W columns."""
        there = self._there(columns)
        if self.inverse is not None:
            return self._back(self.unit * (self.inverse @ there), columns)
        solved = _array.solve_triangular(self.root, there, transposed=True)
        return self._back(self.unit * solved, columns)

    def _there(self, columns: Any) -> Any:
        return _array.moved_to(_array.place_of(self.unit), columns)

    def _back(self, made: Any, columns: Any) -> Any:
        return _array.host(made) if isinstance(columns, np.ndarray) else made


def _beyond_rounding(cross: Cross | None) -> Array:
    """C_xy, or zero where it is no more than rounding."""
    assert cross is not None
    covariance = cross.covariance
    return covariance if _norm(covariance) > _rounding(cross) else np.zeros_like(covariance)


def _rounding(cross: Cross) -> float:
    """The norm that C_xy has from the rounding of the means that cancel in it."""
    return 16 * EPS * _norm(cross.offset_left) * _norm(cross.offset_right)


def _norm(matrix: Array) -> float:
    """Frobenius, also where squares overflow or vanish."""
    with np.errstate(over="ignore"):
        size = np.linalg.norm(matrix)
    if not 1e-100 < size < 1e100 and (unit := np.abs(matrix).max(initial=0)) > 0:
        size = unit * np.linalg.norm(matrix / unit)
    return float(size)


def lengths(rows: Array) -> Array:
    """(n, p) -> (n,), also where squares overflow."""
    largest = np.abs(rows).max(axis=1, initial=0)
    return largest * np.linalg.norm(rows / np.where(largest > 0, largest, 1)[:, None], axis=1)


def _left_singular(matrix: Array) -> tuple[Array, Array]:
    """Left singular vectors and singular values, also of a matrix without rows."""
    if not matrix.size:
        return np.zeros((len(matrix), 0)), np.zeros(0)
    return linalg.svd(matrix, full_matrices=False)[:2]


def _top_singular(matrix: Array, k: int) -> tuple[Array, Array]:
    """The same, at least the first k of them.

    For a few of many, Lanczos gets there in a fraction of the time. It is not trusted blindly:
    small singular values it cannot tell from zero, and of equal ones it might miss some.
    """
    size = min(matrix.shape)
    if size >= 256 and 16 * k <= size and (found := _lanczos(matrix, k)) is not None:
        return found
    return _left_singular(matrix)


def _lanczos(matrix: Array, k: int) -> tuple[Array, Array] | None:
    """The k largest singular values and left vectors to full accuracy, or None."""
    size = min(matrix.shape)
    start = np.random.default_rng(0).standard_normal(size)
    try:
        vectors, values, _ = svds(matrix, k, ncv=max(40, 4 * k), v0=start)
        vectors, values = vectors[:, ::-1], values[::-1]
        if not values[-1] > 1e-6 * values[0] > 0:
            return None
        # What is left must have no larger value, or some direction has been missed.
        rest = LinearOperator(
            matrix.shape,
            dtype=float,
            matvec=lambda x: (y := matrix @ x) - vectors @ (vectors.T @ y),
            rmatvec=lambda y: matrix.T @ (y - vectors @ (vectors.T @ y)),
        )
        missed = svds(rest, 1, tol=1e-6, v0=start, return_singular_vectors=False)[0]
    except ArpackError:
        return None
    return (vectors, values) if missed <= values[-1] * (1 + 1e-6) else None


def _rank(values: Array, shape: tuple[int, ...]) -> int:
    """How many singular values are above rounding (a zero matrix has none)."""
    return int((values > values[:1] * max(shape) * EPS).sum()) if values[:1].any() else 0


def _rank_of(columns: Array, size: float, limit: int | None) -> int:
    """The rank of (p, k) columns of norm `size`, known to be `limit` at most."""
    p, k = columns.shape
    limit = min(p, k if limit is None else limit, k)
    # Some of the rows tell of most columns that they are independent, at a fraction of the cost.
    some = columns[:: max(1, p // (64 * k))]
    if limit and 1e-100 < size < 1e100:  # squares neither overflow nor vanish
        squares = linalg.eigvalsh(some.T @ some)
        if squares[-limit] > 1e-8 * size**2:
            return limit
    return _rank(_left_singular(columns)[1][:limit], columns.shape)


def _or_one(value: float) -> float:
    """A divisor that is neither zero nor so small that dividing by it overflows."""
    return value if value > 1e-300 else 1.0
