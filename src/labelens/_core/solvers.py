"""Solvers: moments in, components out. They cannot know which maps made the moments.

    A(t) = t C_xy C_xy^T / |C_xy|_F^2 + (1 - t) C_xx / tr C_xx        t = target_weight
    B(s) = (1 - s) C_xx p / tr C_xx + s I                              s = shrinkage

    C_xy is of labels as they are, or of whitened ones (`label_whitening`).

    spectral:  A u = lambda B u, u^T B u = 1
    direct:    U = B^-1 C_xy R, and a sketch of C_xx as well where t < 1

C_xx is divided by its mean variance in B, so that s = 1 is the identity and the length of a
component does not jump there. At t = 1 and t = 0 the single term of A goes unscaled, so that
`singular_values` are those of C_xy, and of the centred rows over sqrt(N).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, svds

from .._base import device_algebra, devices
from .._base.rounding import EPS, SUM, lengths, norm, rounding, with_signs
from .._base.threads import cached_property
from .moments import Array, ClassSums, CrossMoment, Scatter
from .spectrum import Axes, Whitening, largest, or_one

Cross = CrossMoment | ClassSums
PROBES = 8  # random columns by which the norm of a product is estimated


@dataclass(frozen=True)
class Solution:
    """k components in the space of p features; those past `rank` are zero or redundant."""

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
        return captured / or_one(total)

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
            covariance = devices.host(self.scatter.covariance)
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
    error: Array | None = None,
) -> Solution:
    """The k directions of largest A(t) within B(s); labels of rank `rank_limit` give no more.

    `error` is that of the rows of C_xy, where it is not what `cancelled` says.
    """
    covariance, blur = None, 0.0  # C_xy, and the error of the singular values of W^T C_xy
    if cross is not None and target_weight > 0:
        covariance = cross.covariance
        error = _with_sums(cancelled(cross) if error is None else error, covariance)
        if norm(covariance) <= norm(error):
            covariance = np.zeros_like(covariance)
        inside, blur = covariance, norm(error)
        if white is not None:  # of both together: a triangular factor takes as long for one
            both = white.into(np.hstack([covariance, _probe(error)]))
            inside, blur = both[:, :-PROBES], norm(both[:, -PROBES:])
    if covariance is not None and target_weight == 1:
        # A has rank q at most: an SVD of B^(-1/2) C_xy is all it takes.
        vectors, values = _top_singular(inside, k)
        values = values[:rank_limit]
    else:
        assert scatter is not None
        if white is not None and white.spread is not None:
            values, vectors = largest(*_along(white, covariance, scatter, target_weight), k)
        else:
            objective = _objective(covariance, scatter, target_weight)
            if white is not None:
                objective = white.into(white.into(objective).T)
            values, vectors = device_algebra.eigh(objective, k)
            values, vectors = values[::-1], vectors[:, ::-1]
        blur = np.sqrt(
            _objective_error(covariance, blur, scatter, target_weight, white)
            + rounding(values.max(initial=0), len(vectors))
        )
        values = np.sqrt(np.maximum(values, 0))
    rank = min(k, _rank(values, vectors.shape, blur))
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
    error: Array | None = None,
    blur: Array | None = None,
) -> Solution:
    """U = B^-1 (sqrt(t) C_xy R / |C_xy|_F + sqrt(1 - t) C_xg / sqrt(tr C_xx)): no decomposition.

    `unsupervised` is C_xg, (p, k), the sketch of C_xx; `error` is as in `spectral`, and `blur` that
    of the rows of C_xg.
    """
    supervised = None
    if mixing is not None:
        assert cross is not None
        supervised = cross.times(mixing)
        error = cancelled(cross) if error is None else error
        error = _with_sums(error * np.linalg.norm(mixing, 2), supervised)
        if (size := norm(supervised)) <= norm(error):
            supervised, size = np.zeros_like(supervised), 0.0
    if unsupervised is not None:
        rank_limit = None
        blur = _with_sums(np.zeros(len(unsupervised)) if blur is None else blur, unsupervised)
    if supervised is not None and unsupervised is not None:
        assert cross is not None and error is not None and blur is not None
        share = np.sqrt(target_weight) / or_one(norm(cross.covariance))
        rest = np.sqrt(1 - target_weight) / np.sqrt(or_one(trace))
        directions = rest * unsupervised
        directions += share * supervised
        error = rest * blur + share * error
    elif unsupervised is not None:
        directions, error = unsupervised, blur
    else:
        directions = supervised
    assert error is not None
    if white is not None:
        directions, error = (white.out(white.into(a)) for a in (directions, _probe(error)))
    if directions is not supervised:
        size = norm(directions)
    rank = _rank_of(directions, size, rank_limit, norm(error))
    return Solution(directions.T if rank else 0.0 * directions.T, rank, cross, scatter)


@dataclass(frozen=True)
class Solver:
    """A function of moments, and the moments that it needs.

    One that mixes is called as `direct` is. It gets R and, where variance counts, a sketch of C_xx,
    and its components depend on how many there are. Any other is called as `spectral` is, with the
    features of the labels as they are and, where variance counts, C_xx; of its components the first
    are the same for every k.
    """

    solve: Callable[..., Solution]
    random_labels: bool = False


SPECTRAL = Solver(spectral)
DIRECT = Solver(direct, random_labels=True)


def through(cross: Cross, factor: Array) -> tuple[CrossMoment, Array]:
    """C_xy F: (q, r) combinations of the label features in place of these.

    Also the error of its rows: what columns add up to may cancel.
    """
    size = np.abs(factor)
    error = cancelled(cross, size) + SUM * lengths(np.abs(cross.covariance) @ size)
    origin, mean = np.zeros(factor.shape[1]), cross.offset_right @ factor
    comoment = cross.times(factor) * cross.weight
    return CrossMoment(cross.weight, *cross.mean, origin, mean, comoment), error


def blurred(cross: Cross) -> Array:
    """The error of the rows of C_xy before some directions are left out of it."""
    return _with_sums(cancelled(cross), cross.covariance)


def span(cross: Cross) -> Array:
    """An orthonormal basis of the columns of C_xy, (p, r), those that are rounding errors apart."""
    covariance, error = cross.covariance, norm(cancelled(cross))
    size = np.linalg.norm(covariance, axis=0)
    units = covariance[:, size > error] / size[size > error]
    vectors, values = _left_singular(units)
    return vectors[:, values > rounding(values.max(initial=0), len(vectors))]


def sketched(sketch: CrossMoment, k: int) -> tuple[Array, Array]:
    """C_xg, (p, k), of the first k random numbers of each row, and the error of its rows."""
    # comoment = sum_i w_i^1/2 (phi_i - mean) g_i^T
    root = np.sqrt(sketch.weight)
    # Entries of rows were rounded themselves, and g_i has a variance of one.
    rows = EPS * np.abs(sum(sketch.mean)) * np.sqrt(k)
    return sketch.comoment[:, :k] / root, rows + cancelled(sketch) * root


def label_whitening(covariance: Array, s: float, one_hot: bool) -> tuple[Array, Array]:
    """G, (q, q), with G G^T = S^-1 for S = (1 - s) C_yy q / tr C_yy + s I; and sqrt(diag S).

    Directions without variance are left out. Of one-hot labels G is S^(-1/2): the vector of ones,
    along which C_xy is zero, stays where `mixing` expects it. Other labels are brought to
    comparable units first: a column of small numbers is not a null column.
    """
    q = len(covariance)
    matrix = (1 - s) * q / or_one(np.trace(covariance)) * covariance
    matrix[np.diag_indices(q)] += s
    size = np.sqrt(np.maximum(np.diagonal(matrix), 0))
    size[size == 0] = 1.0
    unit = np.ones(q) if one_hot else size
    values, vectors = linalg.eigh(matrix / np.outer(unit, unit))
    keep = values > rounding(values[-1], q)
    root = vectors[:, keep] / np.sqrt(values[keep]) @ vectors[:, keep].T
    return root / unit[:, None], size


def _objective(covariance: Array | None, scatter: Scatter, t: float) -> Any:
    """A(t), (p, p), where C_xx is."""
    spread = scatter.covariance
    if covariance is None:
        return spread
    covariance = devices.like(covariance, spread)
    dependence = covariance @ covariance.T
    spread *= (1 - t) / or_one(devices.trace(spread))
    return spread + t * dependence / or_one(devices.trace(dependence))


def _along(
    white: Whitening | Axes, covariance: Array | None, scatter: Scatter, t: float
) -> tuple[Array, Array]:
    """W^T A(t) W as a diagonal (r,) and columns (r, q), where W^T C_xx W is diagonal."""
    assert white.spread is not None
    if covariance is None:
        return white.spread, np.zeros((len(white.spread), 0))
    columns = white.into(covariance) * np.sqrt(t / or_one(float(np.sum(covariance**2))))
    trace = float(scatter.variances.sum())
    return white.spread * ((1 - t) / or_one(trace)), columns


def _objective_error(
    covariance: Array | None, blur: float, scatter: Scatter, t: float, white: Any
) -> float:
    """The error of the eigenvalues of W^T A(t) W, `blur` that of W^T C_xy.

    Entries of C_xx err by SUM d_i d_j each, d_i^2 = C_xx[i, i]; the norm of a matrix of independent
    errors is about that of its largest row, here SUM |M|_2 |M|_F with M = W^T diag(d).
    """
    variances = np.maximum(scatter.variances, 0)
    found = SUM * float(np.prod(_norms(np.sqrt(variances), white)))
    if covariance is None:
        return found
    size = norm(covariance if white is None else white.into(covariance))
    found *= (1 - t) / or_one(float(variances.sum()))
    return found + t * blur * (2 * size + blur) / or_one(norm(covariance)) ** 2


def cancelled(cross: Cross, factor: Array | None = None) -> Array:
    """(p,) how far every row of C_xy is off because of the means that cancel; or of C_xy F."""
    right = np.abs(cross.offset_right)
    return SUM * np.abs(cross.offset_left) * norm(right if factor is None else right @ factor)


def _with_sums(error: Array, matrix: Array) -> Array:
    """The same, and what the sums left in each row are off by themselves."""
    return error + SUM * lengths(matrix)


def _probe(sizes: Array) -> Array:
    """(p,) -> (p, PROBES), the same numbers each time: |M probe|_F is about |M diag(sizes)|_F."""
    drawn = np.random.default_rng(0).standard_normal((len(sizes), PROBES))
    return sizes[:, None] * drawn / np.sqrt(PROBES)


def _norms(sizes: Array, white: Whitening | Axes | None) -> tuple[float, float]:
    """|M|_2 and |M|_F of M = W^T diag(sizes), estimated: a factor of two does not matter."""
    if white is None:
        return float(sizes.max(initial=0)), norm(sizes)
    image = white.into(_probe(sizes))
    whole, largest = norm(image), 0.0
    for _ in range(2):  # steps of the power method
        vectors = sizes[:, None] * white.out(image)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=0), 1e-300)
        image = white.into(sizes[:, None] * vectors)
        largest = float(np.linalg.norm(image, axis=0).max(initial=0))
    return largest, max(largest, whole)


def _left_singular(matrix: Array) -> tuple[Array, Array]:
    """Left singular vectors and singular values, also of a matrix without rows."""
    if not matrix.size:
        return np.zeros((len(matrix), 0)), np.zeros(0)
    return linalg.svd(matrix, full_matrices=False)[:2]


def _top_singular(matrix: Array, k: int) -> tuple[Array, Array]:
    """The same, at least the first k of them.

    For a few of many, Lanczos gets there in a fraction of the time. It is not trusted blindly:
    small singular values it may take for zero, and of equal ones it may miss some.
    """
    size = min(matrix.shape)
    if size >= 256 and 16 * k <= size and (found := _lanczos(matrix, k)) is not None:
        return found
    return _left_singular(matrix)


def _lanczos(matrix: Array, k: int) -> tuple[Array, Array] | None:
    """The k largest singular values and left vectors to full accuracy, or None."""

    def apart(x: Array) -> Array:
        return x - vectors @ (vectors.T @ x)

    start = np.random.default_rng(0).standard_normal(min(matrix.shape))
    try:
        vectors, values, _ = svds(matrix, k, ncv=max(40, 4 * k), v0=start)
        vectors, values = vectors[:, ::-1], values[::-1]
        if not values[-1] > 1e-6 * values[0] > 0:
            return None
        # The rest must have no larger value; otherwise a direction was missed.
        p = len(matrix)
        rest = LinearOperator(
            (p, p), dtype=float, matvec=lambda x: apart(matrix @ (matrix.T @ apart(x)))
        )
        start = np.random.default_rng(0).standard_normal(p)
        missed = eigsh(rest, 1, tol=1e-6, v0=start, return_eigenvectors=False)[0]
    except ArpackError:
        return None
    return (vectors, values) if missed <= values[-1] ** 2 * (1 + 1e-6) else None


def _rank(values: Array, shape: tuple[int, ...], error: float) -> int:
    """How many singular values are above rounding (a zero matrix has none)."""
    return int((values > values[:1] * max(shape) * EPS + error).sum())


def _rank_of(columns: Array, size: float, limit: int | None, error: float) -> int:
    """The rank of (p, k) columns of norm `size`, known up to `error`; it is `limit` at most."""
    p, k = columns.shape
    limit = min(p, k if limit is None else limit, k)
    # Some of the rows show that most columns are independent, at a fraction of the cost.
    some = columns[:: max(1, p // (64 * k))]
    if limit and 1e-100 < size < 1e100:  # squares neither overflow nor vanish
        squares = linalg.eigvalsh(some.T @ some)
        if squares[-limit] > 1e-8 * size**2 + error**2:
            return limit
    return _rank(_left_singular(columns)[1][:limit], columns.shape, error)
