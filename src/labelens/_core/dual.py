"""Moments of the exact kernel: coordinates in which every solver works as on ordinary features.

With beta_0 = W (Psi - mean) / N, C_xy = Phi^T beta_0 even where Phi has infinitely many columns.
Three bases of orthonormal directions describe all components, each with few enough coordinates:

    s = 1, t = 1   left singular vectors of C_xy: Phi^T beta_0 V / sigma, where V and sigma^2 are
                   eigenvectors and eigenvalues of C_xy^T C_xy = beta_0^T K beta_0; r <= q
    0 < s < 1      the same, and what B^-1 adds to them; r <= 2 q, by one Cholesky factor of G
    else           eigenvectors of C_xx, by those of G; r <= n

With landmarks (`landmarks.py`) the first two are of their features.

In each of them C_xy is an r x q matrix that any solver takes for an ordinary cross-moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from .._base import devices
from .._base.rounding import rounding, with_signs
from .device_systems import DeviceLandmarks, GramInBands
from .exact_kernel import KernelRows, quadratic_form
from .gram import Gram, gram_bytes, gram_dtype
from .kernels import Kernel
from .landmarks import Landmarks
from .moments import Array, CrossMoment
from .spectrum import or_one
from .tiles import tile_dtype


@dataclass(frozen=True)
class DualMoment:
    """The moments in r coordinates, and the way back to the rows."""

    cross: CrossMoment  # (r, q)
    lift: Any  # (n, r)  coefficients of the rows in every direction, where the rows are
    centre: Array  # (r,)  the mean row in these coordinates
    white: Any = None  # W with W W^T = B^-1 on the span of C_xy; None: s = 1
    scatter: DiagonalScatter | None = None  # C_xx, where the coordinates are its eigenvectors
    noise: Array | None = None  # (r, g)  C_xg
    a: float = 0.0  # B = a C_xx + s I

    @classmethod
    def of(
        cls, kernel: Kernel, kept: KernelRows, encoded: Array, rank_limit: int | None, tile: int
    ) -> DualMoment:
        """C_xy alone. `encoded` is Psi, (n, q), whose rank is known to be at most `rank_limit`."""
        total = kept.weight.sum()
        place = devices.place_of(kept.rows) or kept.place
        weights = (kept.weight / total)[:, None]
        there, share = (devices.moved_to(place, a) for a in (encoded, weights))
        mean = share[:, 0] @ there
        beta = share * (there - mean)  # columns sum to zero
        xp, mean = devices.namespace(beta), devices.host(mean)
        # One more column, the weights, brings the mean of K beta along.
        columns = xp.concat([beta, share], axis=1)
        products = quadratic_form(kernel, kept.rows, columns, tile, kept.place)
        sizes = devices.host(xp.sum(xp.abs(beta), axis=0))
        level = products[-1, -1] * kernel.lost_digits(kept.rows)
        error = _mean_error(tile_dtype(kernel, kept.rows), level, sizes)
        sigma, vectors = _singular(products[:-1, :-1], error, rank_limit)
        lift = beta @ devices.like(vectors / sigma, beta)
        cross = _moment(total, mean, sigma[:, None] * vectors.T)
        return cls(cross, lift, products[-1, :-1] @ (vectors / sigma))


def _mean_error(dtype: Any, mean: float, sizes: Array) -> float:
    """The error of beta^T K beta: the mean row cancels in it, and tiles err in their own dtype."""
    return float(4 * np.finfo(dtype).eps * mean * sizes.max(initial=0) ** 2)


def _singular(products: Array, error: float, rank_limit: int | None) -> tuple[Array, Array]:
    """sigma, (r,), and V, (q, r), of C_xy from C_xy^T C_xy; what is below the error is left out."""
    values, vectors = linalg.eigh(products)
    values, vectors = values[::-1][:rank_limit], vectors[:, ::-1][:, :rank_limit]
    keep = values > error + rounding(values.max(initial=0), len(values))
    return np.sqrt(values[keep]), with_signs(vectors[:, keep])


def _singular_of_rows(
    target: Array, image: Array, error: float, rank_limit: int | None
) -> tuple[Array, Array]:
    """The same from (n, q) factors of C_xy^T C_xy, which acts within the span of n label rows."""
    if target.shape[1] <= len(target):
        return _singular(target.T @ image, error, rank_limit)
    basis, _ = linalg.qr(target.T, mode="economic")
    sigma, vectors = _singular((target @ basis).T @ (image @ basis), error, rank_limit)
    return sigma, with_signs(basis @ vectors)


def _moment(total: float, mean: Array, covariance: Array) -> CrossMoment:
    along, across = np.zeros(len(covariance)), np.zeros(covariance.shape[1])
    return CrossMoment(total, along, along, across, mean, covariance * total)


def label_covariance(encoded: Any, weight: Array) -> Array:
    """C_yy, (q, q), of (n, q) label features."""
    share = devices.like(weight / weight.sum(), encoded)
    apart = encoded - share @ encoded
    return devices.host((share[:, None] * apart).T @ apart)


# With C_xx ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DiagonalScatter:
    """C_xx in the basis of its eigenvectors."""

    weight: float
    variances: Array  # (r,)

    @property
    def covariance(self) -> Array:
        return np.diag(self.variances)


@dataclass(frozen=True)
class Stretched:
    """W = diag(lengths), and the diagonal of W^T C_xx W."""

    lengths: Array
    spread: Array

    def into(self, columns: Array) -> Array:
        return self.lengths[:, None] * columns

    out = into


@dataclass(frozen=True)
class OnSpan:
    """W, (r, m), with W W^T = B^-1 on the span of C_xy."""

    matrix: Array
    spread: None = None

    def into(self, columns: Array) -> Array:
        return self.matrix.T @ columns

    def out(self, columns: Array) -> Array:
        return self.matrix @ columns


def _label_coefficients(kept: KernelRows, encoded: Any) -> tuple[float, Array, Array]:
    """The weight and the mean label of the labelled rows, and beta_0 of all rows, (n, q)."""
    encoded = devices.host(encoded)
    has = np.ones(len(kept.weight), bool) if kept.labelled is None else kept.labelled
    total = kept.weight[has].sum()
    share = kept.weight[has] / total
    mean = share @ encoded
    beta = np.zeros((len(has), encoded.shape[1]))
    beta[has] = share[:, None] * (encoded - mean)
    return total, mean, beta


def _beyond_span(within: Array, squares: Array, level: float) -> tuple[Array, OnSpan]:
    """B^-1 takes a direction of the span of C_xy partly out of it.

    `within` are the coordinates of B^-1 in the span, and `squares` the inner products of what it
    adds. Returns combinations of these that are orthonormal, (r, e), and W.
    """
    if not squares.size:  # SciPy 1.13 rejects empty matrices
        return squares, OnSpan(within)
    values, outside = linalg.eigh(squares)
    keep = values > level
    outside = outside[:, keep] / np.sqrt(values[keep])
    lengths, axes = linalg.eigh(within)
    axes = axes[:, lengths > 0] / np.sqrt(lengths[lengths > 0])
    return outside, OnSpan(np.vstack([within, outside.T @ squares]) @ axes)


def _padded(covariance: Array, more: int) -> Array:
    """With so many rows of zeros: directions that have nothing to do with the labels."""
    return np.vstack([covariance, np.zeros((more, covariance.shape[1]))])


def _device_of(kept: KernelRows) -> devices.Place | None:
    """Where K is made, if that is a device."""
    return devices.device_of(devices.place_of(kept.rows) or kept.place)


def by_landmarks(
    kernel: Kernel,
    kept: KernelRows,
    encoded: Any,
    s: float,
    rank_limit: int | None,
    landmarks: tuple[int, int],  # their number and a seed
    tile: int,
) -> tuple[DualMoment, Any]:
    """The moments for 0 < s <= 1, and the landmarks that their coefficients belong to, (m, d)."""
    total, mean, beta = _label_coefficients(kept, encoded)
    place = _device_of(kept)
    there: Any
    if place is None:
        there = Landmarks(kernel, kept.to(None), beta, *landmarks, tile)
    else:
        there = DeviceLandmarks(kernel, kept, beta, *landmarks, place)
    level = there.level * kernel.lost_digits(kept.rows)
    error = _mean_error(there.dtype, level, np.abs(beta).sum(axis=0))
    sigma, vectors = _singular(there.cross.T @ there.cross, error, rank_limit)
    inside, covariance, white = there.cross @ (vectors / sigma), sigma[:, None] * vectors.T, None
    if s < 1:
        solved = there.solve(inside, s)
        within = inside.T @ solved
        within = (within + within.T) / 2
        rest = solved - inside @ within
        level = rounding(within.diagonal().max(initial=0), len(sigma))
        outside, white = _beyond_span(within, rest.T @ rest, level**2)
        covariance = _padded(covariance, outside.shape[1])
        inside = np.hstack([inside, rest @ outside])
    lift = there.lift(inside)
    a = (1 - s) * len(kept.weight) / or_one(there.trace)
    moment = DualMoment(_moment(total, mean, covariance), lift, there.mean @ lift, white, a=a)
    return moment, there.rows


class Labelled:
    """G of all rows, with b for the labels: C_xy = A^T b."""

    def __init__(
        self, kernel: Kernel, kept: KernelRows, encoded: Any, tile: int, gram: Gram | None = None
    ) -> None:
        """`gram` is that of these rows, where it has been made."""
        place, n = _device_of(kept), len(kept.weight)
        if gram is None:
            size = gram_bytes(n, gram_dtype(kernel, n), place)
            if place is not None and size > devices.free_bytes(place):
                gram = GramInBands(kernel, kept.rows, kept.weight, place)
            else:
                gram = Gram(kernel, kept.rows, kept.weight, tile, place)
        self.gram = gram
        self.total, self.mean = kept.weight.sum(), np.zeros(0)
        self.target = np.zeros((len(kept.weight), 0))
        if encoded is not None:
            self.total, self.mean, beta = _label_coefficients(kept, encoded)
            self.target = beta / self.gram.root[:, None]
        self.noise = None
        if kept.noise is not None:  # of g_i / sqrt(w_i) the random numbers themselves
            self.noise = devices.host(kept.noise) * np.sqrt(kept.weight)[:, None]
        self._rows, self._lost = kept.rows, kernel.lost_digits(kept.rows)

    def lifted(self, columns: Array) -> tuple[Any, Array]:
        """Coefficients of the rows for A^T columns, and the mean row along these directions."""
        root = self.gram.root
        lift = root[:, None] * columns
        lift -= np.outer(root**2, lift.sum(axis=0))  # of the features as they are, not centred
        return devices.moved_to(devices.place_of(self._rows), lift), self.gram.mean @ lift

    def a(self, s: float) -> float:
        """The factor of C_xx in B."""
        return (1 - s) * len(self.gram) / or_one(self.gram.trace)

    def by_factor(self, s: float, rank_limit: int | None) -> DualMoment | None:
        """One Cholesky factor, for 0 < s <= 1; None where B is singular to rounding."""
        gram, target = self.gram, self.target
        image = gram.times(target)
        sizes = np.abs(target * gram.root[:, None]).sum(axis=0)
        level = float(gram.root**2 @ gram.mean) * self._lost
        error = _mean_error(gram.dtype, level, sizes)
        sigma, vectors = _singular_of_rows(target, image, error, rank_limit)
        inside, image = target @ (vectors / sigma), image @ (vectors / sigma)
        if s == 1:  # B = I
            lift, centre = self.lifted(inside)
            moment = _moment(self.total, self.mean, sigma[:, None] * vectors.T)
            return DualMoment(moment, lift, centre)
        a = self.a(s)
        solved = gram.solve(inside, s / a)
        if solved is None:
            return None
        solved = solved / a
        within = image.T @ solved
        within = (within + within.T) / 2
        rest = solved - inside @ within
        past = (inside - s * solved) / a - image @ within  # G rest
        level = rounding(np.einsum("ij,ij->j", solved, inside).max(initial=0) / a, len(sigma))
        level += float(np.finfo(gram.dtype).eps) ** 2
        outside, white = _beyond_span(within, rest.T @ past, level)
        covariance = _padded(sigma[:, None] * vectors.T, outside.shape[1])
        lift, centre = self.lifted(np.hstack([inside, rest @ outside]))
        moment = _moment(self.total, self.mean, covariance)
        return DualMoment(moment, lift, centre, white, a=a)

    def by_eigenvectors(self, s: float) -> DualMoment:
        """All directions of C_xx."""
        values, vectors = self.gram.eigh()
        root = np.sqrt(values)
        a = self.a(s)
        units = a * values + s
        lift, centre = self.lifted(vectors / root)
        return DualMoment(
            _moment(self.total, self.mean, root[:, None] * (vectors.T @ self.target)),
            lift,
            centre,
            Stretched(1 / np.sqrt(units), values / units),
            DiagonalScatter(float(self.total), values),
            None if self.noise is None else root[:, None] * (vectors.T @ self.noise),
            a,
        )

    def ledoit_wolf_sums(self) -> tuple[float, float, float]:
        """|C_xx|_F^2, its trace, and the mean of |phi_c|^4 over the rows."""
        quartic = float(np.sum((self.gram.diagonal / self.gram.root) ** 2))
        return self.gram.squared_norm(), self.gram.trace, quartic
