"""The inside of classes: the main directions of each, scaled to the unit disc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, svds

from .class_scores import Codes, class_means
from .moments import Array

MOST_DIRECTIONS = 64
LOOKED_AT = 5000  # rows from which the directions of wide rows are found
PRIOR = 5.0  # rows that the pooled covariance counts for in every class
# A Gaussian class has 98 % of its rows within twice the root of its mean squared radius.
TYPICAL = 2.0
WIDEST = 2048  # columns whose covariance is still cheap


@dataclass(frozen=True)
class LocalMaps:
    """L_c(x) = bounded(axes_c^T (directions^T (x - shift) * factor - means_c))"""

    shift: Array  # (d,)
    factor: Array  # (d,)
    directions: Array  # (d, q)
    means: Array  # (c, q)
    axes: Array  # (c, q, m)

    @classmethod
    def of(cls, rows: Any, codes: Codes, weight: Array, c: int, m: int) -> LocalMaps:
        """The m main directions of every class, of standardized columns or sparse rows.

        Directions of similar classes point the same way as far as possible.
        """
        shift, factor = _standard(rows, weight)
        directions = _within_directions(rows, codes, weight, c, shift, factor)
        points = _projected(rows, shift, factor, directions)
        means, total = class_means(points, codes, weight, c), weight.sum()
        around = points - means[codes]
        pooled = (around.T * weight) @ around / total
        q = directions.shape[1]
        axes = np.zeros((c, q, m))
        prior, goal = PRIOR * total / len(codes), np.eye(q, m)  # directions are in order
        for number in range(c):
            own = codes == number
            some, share = around[own], weight[own]
            covariance = (some.T * share) @ some + prior * pooled
            covariance /= share.sum() + prior
            variances, vectors = linalg.eigh(covariance)
            leading = np.zeros((q, m))
            leading[:, : min(q, m)] = vectors[:, ::-1][:, :m]
            left, _, right = linalg.svd(leading.T @ goal)
            spread = variances[::-1][:m].sum()
            axes[number] = leading @ (left @ right) / (TYPICAL * np.sqrt(max(spread, 1e-300)))
            if spread <= 1e-24 * max(float(np.trace(pooled)), 1e-300):
                axes[number] = 0  # all rows are the same
        return cls(shift, factor, directions, means, axes)

    def project(self, rows: Any) -> Array:
        """(n, d) -> (n, q)"""
        return _projected(rows, self.shift, self.factor, self.directions)

    def mixed(self, points: Array, p: Array, size: Array) -> Array:
        """(n, q) projected rows, (n, c) probabilities, (c,) sizes -> (n, m) sum_c p_c r_c L_c."""
        c, q, m = self.axes.shape
        places = points @ self.axes.transpose(1, 0, 2).reshape(q, c * m)
        places = places.reshape(len(points), c, m) - np.einsum("cq,cqm->cm", self.means, self.axes)
        mixed: Array = np.einsum("nc,ncm->nm", p * size, bounded(places))
        return mixed


def bounded(places: Array) -> Array:
    """Shorten vectors: those of length up to one half hardly, none to more than one."""
    fourth = np.square(np.square(places).sum(axis=-1, keepdims=True))
    return places / np.sqrt(np.sqrt(1 + fourth))


def _standard(rows: Any, weight: Array) -> tuple[Array, Array]:
    """(d,) means and inverse standard deviations; sparse rows stay as they are."""
    d = rows.shape[1]
    if sparse.issparse(rows):
        return np.zeros(d), np.ones(d)
    total = weight.sum()
    shift = weight @ rows / total
    variance = np.zeros(d)
    for start in range(0, len(rows), LOOKED_AT):
        here = slice(start, start + LOOKED_AT)
        variance += weight[here] @ np.square(rows[here] - shift) / total
    live = variance > 1e-24 * np.square(shift)
    return shift, np.where(live, 1 / np.sqrt(np.where(live, variance, 1)), 0.0)


def _projected(rows: Any, shift: Array, factor: Array, directions: Array) -> Array:
    if sparse.issparse(rows):
        return np.asarray(rows @ directions, dtype=np.float64)
    points = np.empty((len(rows), directions.shape[1]))
    for start in range(0, len(rows), LOOKED_AT):
        here = slice(start, start + LOOKED_AT)
        points[here] = ((rows[here] - shift) * factor) @ directions
    return points


def _within_directions(
    rows: Any, codes: Codes, weight: Array, c: int, shift: Array, factor: Array
) -> Array:
    """(d, q): the leading directions of the scatter within classes, the largest first."""
    n, d = rows.shape
    q = min(d, MOST_DIRECTIONS, max(n - 1, 1))
    if n > LOOKED_AT and d > MOST_DIRECTIONS:
        order = np.argsort(codes, kind="stable")
        some = np.sort(order[np.arange(LOOKED_AT) * n // LOOKED_AT])
        rows, codes, weight = rows[some], codes[some], weight[some]
    root = np.sqrt(weight)[:, None]
    if d <= WIDEST:
        dense = rows.toarray() if sparse.issparse(rows) else rows
        standard = (dense - shift) * factor
        around = (standard - class_means(standard, codes, weight, c)[codes]) * root
        return _signed(linalg.eigh(around.T @ around)[1][:, ::-1][:, :q])
    if not sparse.issparse(rows):
        rows = (rows - shift) * factor
    means = class_means(rows, codes, weight, c)
    members = sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)))
    members = sparse.csr_array(members, shape=(len(codes), c))

    def times(vector: NDArray[Any]) -> Array:
        vector = vector.reshape(d, -1)
        return root * (rows @ vector - members @ (means @ vector))

    def transposed(vector: NDArray[Any]) -> Array:
        vector = root * vector.reshape(len(codes), -1)
        return rows.T @ vector - means.T @ (members.T @ vector)

    around = LinearOperator(
        (len(codes), d), times, transposed, times, rmatmat=transposed, dtype=np.float64
    )
    q = max(1, min(q, min(around.shape) - 1))
    start = np.random.default_rng(0).normal(size=min(around.shape))
    right = svds(around, q, v0=start, return_singular_vectors="vh")[2]
    return _signed(right[::-1].T)


def _signed(directions: Array) -> Array:
    """The entry of the largest size in every direction is positive."""
    largest = np.abs(directions).argmax(axis=0)
    signs = np.where(directions[largest, np.arange(directions.shape[1])] < 0, -1.0, 1.0)
    return directions * signs
