"""The exact kernel: the only code that keeps training rows.

With beta_0 = W (Psi - mean) / N, C_xy = Phi^T beta_0 even where Phi has infinitely many columns.
Every component lies in the span of C_xy, so r <= q coordinates describe it: those in the basis of
its left singular vectors, Phi^T beta_0 V / sigma, where V and sigma^2 are the eigenvectors and
eigenvalues of G = C_xy^T C_xy = beta_0^T K beta_0. In that basis C_xy is sigma V^T, an r x q
matrix that any solver takes for an ordinary cross-moment. K is made a tile at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg, sparse

from ._threads import in_order
from .kernels import Kernel
from .moments import Array, CrossMoment, union_of_classes

TILE = 1024


@dataclass(frozen=True)
class KernelRows:
    """Training rows with their label features: what the exact kernel has in place of moments."""

    n_samples: int
    rows: Any  # (n, d) labelled rows, scaled
    weight: Array  # (n,)
    classes: tuple[Any, ...] | None
    codes: Any  # (n, m) class numbers, or None
    features: Any  # (n, q) label features, or None

    def merge(self, other: KernelRows) -> KernelRows:
        classes, theirs = self.classes, other.codes
        if self.classes is not None and other.classes is not None:
            classes, position = union_of_classes(self.classes, other.classes)
            theirs = None if theirs is None else position[theirs]
        return replace(
            self,
            n_samples=self.n_samples + other.n_samples,
            rows=_stacked(self.rows, other.rows),
            weight=np.concatenate([self.weight, other.weight]),
            classes=classes,
            codes=None if theirs is None else np.concatenate([self.codes, theirs]),
            features=None if self.features is None else _stacked(self.features, other.features),
        )


@dataclass(frozen=True)
class DualMoment:
    """The cross-moment in r coordinates of its own span, and the way back to the rows."""

    cross: CrossMoment  # (r, q)
    lift: Array  # (n, r)  beta_0 V / sigma
    centre: Array  # (r,)  the mean row in these coordinates

    @classmethod
    def of(
        cls, kernel: Kernel, kept: KernelRows, right: Array, rank_limit: int | None, tile: int
    ) -> DualMoment:
        """`right` is Psi, (n, q), whose rank is known to be at most `rank_limit`."""
        total = kept.weight.sum()
        share = (kept.weight / total)[:, None]
        beta = share * (right - share[:, 0] @ right)  # columns sum to zero
        # One more column, the weights, brings the mean of K beta along.
        products = quadratic_form(kernel, kept.rows, np.hstack([beta, share]), tile)
        values, vectors = linalg.eigh(products[:-1, :-1])
        values, vectors = values[::-1][:rank_limit], vectors[:, ::-1][:, :rank_limit]
        # G is known to about eps of its largest entry; what is below has no direction.
        keep = values > max(values[0], 0) * max(right.shape) * np.finfo(float).eps
        sigma, vectors = np.sqrt(values[keep]), _with_signs(vectors[:, keep])
        along, across = np.zeros(sigma.size), np.zeros(right.shape[1])
        cross = CrossMoment(total, along, along, across, across, sigma[:, None] * vectors.T * total)
        return cls(cross, beta @ (vectors / sigma), products[-1, :-1] @ (vectors / sigma))


def _with_signs(vectors: Array) -> Array:
    """Make the first of the largest entries of every column positive.

    As `svd_flip`, but two classes make entries that are equal up to rounding: the first counts.
    """
    sizes = np.abs(vectors)
    first = np.argmax(sizes > (1 - 1e-6) * sizes.max(axis=0), axis=0)
    return vectors * np.sign(vectors[first, np.arange(vectors.shape[1])])


def embed(kernel: Kernel, known: Any, coefficients: Array, rows: Any, tile: int) -> Array:
    """k(rows, known) @ coefficients, (n, k), in tiles."""
    origin = _origin(kernel, known)
    known = _moved(known, origin)

    def block(start: int) -> Array:
        here = _moved(rows[start : start + tile], origin)
        out = np.zeros((here.shape[0], coefficients.shape[1]))
        for left in range(0, known.shape[0], tile):
            part = slice(left, left + tile)
            out += kernel(here, known[part]) @ coefficients[part]
        return out

    return np.concatenate(list(in_order(block, range(0, rows.shape[0], tile))))


def quadratic_form(kernel: Kernel, rows: Any, columns: Array, tile: int) -> Array:
    """columns^T K columns, (q, q), from the tiles of K on and above its diagonal."""
    rows = _moved(rows, _origin(kernel, rows))

    def band(start: int) -> Array:
        here, mine = rows[start : start + tile], columns[start : start + tile]
        beside = np.zeros_like(mine)
        for left in range(start + tile, rows.shape[0], tile):
            part = slice(left, left + tile)
            beside += kernel(here, rows[part]) @ columns[part]
        upper = mine.T @ beside
        return mine.T @ (kernel(here, here) @ mine) + upper + upper.T

    total = np.zeros((columns.shape[1], columns.shape[1]))
    for part in in_order(band, range(0, rows.shape[0], tile)):
        total += part
    return total


def _stacked(above: Any, below: Any) -> Any:
    if sparse.issparse(above):
        return sparse.vstack([above, below], format="csr")
    return np.concatenate([above, below])


def _origin(kernel: Kernel, rows: Any) -> Array | None:
    """A row to measure from, where the kernel does not care: distances keep their digits."""
    if kernel.shift_invariant and not sparse.issparse(rows):
        return np.asarray(rows[0], dtype=np.float64)
    return None


def _moved(rows: Any, origin: Array | None) -> Any:
    if origin is None:
        return rows
    moved: Any = rows.astype(np.float64) - origin
    return moved.astype(np.float32) if rows.dtype == np.float32 else moved
