"""Mergeable statistics: what the data leaves behind once its rows are gone.

Every class here is `of(rows)` for one block of rows and `merge(other)` for two; nothing else ever
touches the data. All are float64 whatever the rows are. `merge` is associative and commutative up
to rounding, and exact to the last digits even when |mean| >> std, because every mean is kept as
two words: an `origin` close to the data and a small `offset` from it.

`merge(other, reuse=True)` may overwrite the arrays of `self`: a fold over many blocks then
allocates nothing.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Rows = Any  # (n, p): an ndarray of any real dtype, or a CSR matrix


def _weights(weight: Array | None, rows: int) -> tuple[Array, float]:
    if weight is None:
        return np.ones(rows), float(rows)
    return weight, float(weight.sum())


def _about_mean(rows: Rows, weight: Array) -> tuple[Any, Array, Array]:
    """(n, p) -> rows minus their mean, that mean, and the weighted sum of what is left.

    The subtraction is exact wherever |mean| >> std (Sterbenz), which is the only place where it
    matters; what the mean itself was rounded by shows in the sum. Sparse rows stay about zero, so
    that they stay sparse.
    """
    if sparse.issparse(rows):
        rows = rows.astype(np.float64)
        return rows, np.zeros(rows.shape[1]), rows.T @ weight
    # C order whatever the caller's layout, so that the same values give the same bits.
    rows = np.array(rows, dtype=np.float64, order="C")
    # By way of the first row, so that a constant column is about itself to the last bit.
    origin = rows[0] + weight @ (rows - rows[0]) / weight.sum()
    rows -= origin
    return rows, origin, weight @ rows


def _weighted_product(left: Rows, right: Rows, weight: Array) -> Array:
    """sum_i w_i left_i right_i^T, dense (p, q), for any mix of dense and sparse."""
    if sparse.issparse(right):
        product = (right.multiply(weight[:, None]).tocsr().T @ left).T
    else:
        product = left.T @ (right * weight[:, None])
    return product.toarray() if sparse.issparse(product) else np.ascontiguousarray(product)


def _shifted(mine: Array, other: Array, reuse: bool) -> Array:
    return np.add(mine, other, out=mine if reuse else None)


@dataclass(frozen=True)
class CrossMoment:
    """sum_i w_i (left_i - mean_left)(right_i - mean_right)^T, with what merging it needs."""

    weight: float
    origin_left: Array  # (p,)
    offset_left: Array  # (p,)  the mean is origin_left + offset_left
    origin_right: Array  # (q,)
    offset_right: Array  # (q,)
    comoment: Array  # (p, q)

    @classmethod
    def of(cls, left: Rows, right: Rows, weight: Array | None = None) -> CrossMoment:
        """(n, p), (n, q) -> the moment of one block of rows."""
        weight, total = _weights(weight, left.shape[0])
        left, origin_left, sum_left = _about_mean(left, weight)
        right, origin_right, sum_right = _about_mean(right, weight)
        product = _weighted_product(left, right, weight)
        # Centring one side suffices; about its own origin both sums are nearly zero.
        product -= np.outer(sum_left, sum_right / total)
        return cls(total, origin_left, sum_left / total, origin_right, sum_right / total, product)

    @property
    def mean(self) -> tuple[Array, Array]:
        """Of the left side, as its two words."""
        return self.origin_left, self.offset_left

    @property
    def covariance(self) -> Array:
        """C_xy, (p, q)."""
        return self.comoment / self.weight

    def merge(self, other: CrossMoment, reuse: bool = False) -> CrossMoment:
        """Chan's update: the moment of all rows of both."""
        total = self.weight + other.weight
        share = other.weight / total
        left = (other.origin_left - self.origin_left) + (other.offset_left - self.offset_left)
        right = (other.origin_right - self.origin_right) + (other.offset_right - self.offset_right)
        comoment = _shifted(self.comoment, other.comoment, reuse)
        comoment += np.outer(left, right * (self.weight * share))
        return replace(
            self,
            weight=total,
            offset_left=self.offset_left + left * share,
            offset_right=self.offset_right + right * share,
            comoment=comoment,
        )

    def rescaled(self, factor: Array) -> CrossMoment:
        """The moment of left * factor."""
        return replace(
            self,
            origin_left=self.origin_left * factor,
            offset_left=self.offset_left * factor,
            comoment=self.comoment * factor[:, None],
        )


@dataclass(frozen=True)
class ClassSums:
    """The cross-moment with one-hot labels, kept as sums over classes about one origin.

    Adding a block then touches only the classes of that block, and a class never seen before is a
    new row. Several columns of classes share one numbering, so their weights add up to more than
    `weight`.
    """

    weight: float
    origin: Array  # (p,)
    total: Array  # (p,)  sum_i w_i (x_i - origin)
    class_weight: Array  # (c,)
    sums: Array  # (c, p)  the same sum over the rows of each class

    @classmethod
    def of(
        cls,
        left: Rows,
        codes: NDArray[np.intp],
        n_classes: int,
        weight: Array | None = None,
    ) -> ClassSums:
        """(n, p) rows and the (n, m) class numbers of their m label columns."""
        rows, columns = codes.shape
        weight, total = _weights(weight, rows)
        left, origin, sum_left = _about_mean(left, weight)
        # Compressed to the classes at hand: a block of 1024 rows may be part of 100,000 classes.
        present, local = np.unique(codes, return_inverse=True)
        one_hot = sparse.csr_array(
            (np.repeat(weight, columns), local.ravel(), np.arange(rows + 1) * columns),
            shape=(rows, present.size),
        )
        local_sums = one_hot.T.tocsr() @ left
        if sparse.issparse(local_sums):
            local_sums = local_sums.toarray()
        class_weight = np.zeros(n_classes)
        class_weight[present] = np.bincount(
            local.ravel(), weights=np.repeat(weight, columns), minlength=present.size
        )
        sums = np.zeros((n_classes, local_sums.shape[1]))
        sums[present] = local_sums
        return cls(total, origin, sum_left, class_weight, sums)

    def merge(self, other: ClassSums, reuse: bool = False) -> ClassSums:
        """Add class by class; both number their classes alike (see `numbered`)."""
        shift = other.origin - self.origin
        present = np.flatnonzero(other.class_weight)
        sums = self.sums if reuse else self.sums.copy()
        moved = other.sums[present]
        if shift.any():
            moved = moved + np.outer(other.class_weight[present], shift)
        sums[present] += moved
        return replace(
            self,
            weight=self.weight + other.weight,
            total=self.total + (other.total + other.weight * shift),
            class_weight=self.class_weight + other.class_weight,
            sums=sums,
        )

    def numbered(self, position: NDArray[np.intp], n_classes: int) -> ClassSums:
        """The same sums where class i has become class position[i] of n_classes."""
        if n_classes == len(position) and np.array_equal(position, np.arange(n_classes)):
            return self
        class_weight = np.zeros(n_classes)
        sums = np.zeros((n_classes, self.sums.shape[1]))
        class_weight[position], sums[position] = self.class_weight, self.sums
        return replace(self, class_weight=class_weight, sums=sums)

    def cross(self) -> CrossMoment:
        """As the cross-moment with the one-hot matrix, (p, c)."""
        frequency = self.class_weight / self.weight
        return CrossMoment(
            self.weight,
            self.origin,
            self.total / self.weight,
            np.zeros_like(frequency),
            frequency,
            np.ascontiguousarray((self.sums - np.outer(frequency, self.total)).T),
        )


@dataclass(frozen=True)
class Scatter:
    """sum_i w_i d_i d_i^T of the centred rows d_i, and what Ledoit-Wolf asks for beyond."""

    weight: float
    origin: Array  # (p,)
    offset: Array  # (p,)
    comoment: Array  # (p, p)
    cubic: Array  # (p,)  sum_i w_i |d_i|^2 d_i
    quartic: float  # sum_i w_i |d_i|^4

    @classmethod
    def of(cls, rows: Rows, weight: Array | None = None) -> Scatter:
        weight, total = _weights(weight, rows.shape[0])
        rows, origin, sums = _about_mean(rows, weight)
        offset = sums / total
        if sparse.issparse(rows):
            comoment = (rows.T @ rows.multiply(weight[:, None]).tocsr()).toarray()
            comoment -= np.outer(sums, offset)
            # |d|^2 = |x|^2 - 2 x.m + |m|^2 and sum w |d|^2 d = sum w |d|^2 x - m sum w |d|^2
            squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
            squares += -2 * (rows @ offset) + offset @ offset
            cubic = rows.T @ (weight * squares) - offset * (weight @ squares)
        else:
            rows -= offset
            squares = np.einsum("ij,ij->i", rows, rows)
            cubic = (weight * squares) @ rows
            rows *= np.sqrt(weight)[:, None]
            comoment = rows.T @ rows
        return cls(total, origin, offset, comoment, cubic, float(weight @ squares**2))

    @property
    def mean(self) -> tuple[Array, Array]:
        """As its two words."""
        return self.origin, self.offset

    @property
    def covariance(self) -> Array:
        """C_xx, (p, p)."""
        return self.comoment / self.weight

    def merge(self, other: Scatter, reuse: bool = False) -> Scatter:
        total = self.weight + other.weight
        share = other.weight / total
        delta = (other.origin - self.origin) + (other.offset - self.offset)
        cubic_a, quartic_a = self._about(-share * delta)
        cubic_b, quartic_b = other._about((1 - share) * delta)
        comoment = _shifted(self.comoment, other.comoment, reuse)
        comoment += np.outer(delta, delta * (self.weight * share))
        return replace(
            self,
            weight=total,
            offset=self.offset + share * delta,
            comoment=comoment,
            cubic=cubic_a + cubic_b,
            quartic=quartic_a + quartic_b,
        )

    def _about(self, shift: Array) -> tuple[Array, float]:
        """Third and fourth moments when every d_i becomes d_i + shift (expand, sum d_i = 0)."""
        pull = self.comoment @ shift
        trace, length = np.trace(self.comoment), shift @ shift
        cubic = self.cubic + 2 * pull + (trace + self.weight * length) * shift
        quartic = self.quartic + 4 * (self.cubic + pull) @ shift
        return cubic, float(quartic + 2 * length * trace + self.weight * length**2)

    def rescaled(self, factor: Array) -> Scatter:
        """The covariance of rows * factor; its Ledoit-Wolf moments cannot be had from ours."""
        return replace(
            self,
            origin=self.origin * factor,
            offset=self.offset * factor,
            comoment=self.comoment * np.outer(factor, factor),
            cubic=np.full_like(self.cubic, np.nan),
            quartic=np.nan,
        )


@dataclass(frozen=True)
class Spread:
    """Mean, variance, minimum and maximum of every column."""

    weight: float
    origin: Array  # all (p,)
    offset: Array
    squares: Array  # sum_i w_i d_i^2 of the centred rows
    minimum: Array
    maximum: Array

    @classmethod
    def of(cls, rows: Rows, weight: Array | None = None) -> Spread:
        weight, total = _weights(weight, rows.shape[0])
        if sparse.issparse(rows):
            minimum, maximum = (
                bound.toarray().ravel().astype(np.float64)
                for bound in (rows.min(axis=0), rows.max(axis=0))
            )
            rows, origin, sums = _about_mean(rows, weight)
            offset = sums / total
            squares = np.maximum(rows.multiply(rows).T @ weight - offset * sums, 0)
        else:
            minimum, maximum = (
                bound.astype(np.float64) for bound in (rows.min(axis=0), rows.max(axis=0))
            )
            rows, origin, sums = _about_mean(rows, weight)
            offset = sums / total
            rows -= offset
            squares = weight @ np.square(rows, out=rows)
        return cls(total, origin, offset, squares, minimum, maximum)

    @property
    def mean(self) -> tuple[Array, Array]:
        """As its two words."""
        return self.origin, self.offset

    @property
    def variance(self) -> Array:
        return self.squares / self.weight

    def merge(self, other: Spread, reuse: bool = False) -> Spread:
        total = self.weight + other.weight
        share = other.weight / total
        delta = (other.origin - self.origin) + (other.offset - self.offset)
        return replace(
            self,
            weight=total,
            offset=self.offset + share * delta,
            squares=self.squares + other.squares + self.weight * share * delta**2,
            minimum=np.minimum(self.minimum, other.minimum),
            maximum=np.maximum(self.maximum, other.maximum),
        )

    def rescaled(self, factor: Array) -> Spread:
        """The spread of rows * factor, for factors >= 0."""
        return Spread(
            self.weight,
            self.origin * factor,
            self.offset * factor,
            self.squares * factor**2,
            self.minimum * factor,
            self.maximum * factor,
        )


@dataclass(frozen=True)
class Moments:
    """Everything a solver may ask for; a part that no solver of the method asks for is None.

    `classes` lists the class labels in the order in which they were first seen; it numbers the
    rows of `cross` where that is `ClassSums`.
    """

    n_samples: int
    classes: tuple[Any, ...] | None = None
    cross: CrossMoment | ClassSums | None = None  # rows and labels, labelled rows only
    scatter: Scatter | None = None  # rows and rows
    sketch: CrossMoment | None = None  # rows and one random vector a row
    spread: Spread | None = None  # columns

    def finite(self) -> bool:
        """Whether no sum has overflowed; the diagonal of C_xx bounds the rest of it."""
        cross = self.cross.sums if isinstance(self.cross, ClassSums) else self.cross
        parts = [cross.comoment if isinstance(cross, CrossMoment) else cross]
        if self.scatter is not None:
            parts.append(np.diag(self.scatter.comoment))
        if self.sketch is not None:
            parts.append(self.sketch.comoment)
        if self.spread is not None:
            parts.append(self.spread.squares)
        return all(part is None or np.isfinite(part).all() for part in parts)

    def merge(self, other: Moments, reuse: bool = False) -> Moments:
        mine, theirs, classes = self.cross, other.cross, self.classes
        if self.classes is not None and other.classes is not None:
            classes, position = union_of_classes(self.classes, other.classes)
            if isinstance(mine, ClassSums):
                mine = mine.numbered(np.arange(len(self.classes)), len(classes))
            if isinstance(theirs, ClassSums):
                theirs = theirs.numbered(position, len(classes))
        elif classes is None:
            classes = other.classes
        return Moments(
            self.n_samples + other.n_samples,
            classes,
            *(
                _merged(a, b, reuse)
                for a, b in (
                    (mine, theirs),
                    (self.scatter, other.scatter),
                    (self.sketch, other.sketch),
                    (self.spread, other.spread),
                )
            ),
        )


def _merged(mine: Any, other: Any, reuse: bool) -> Any:
    if mine is None:
        return other
    if other is None:
        # A copy, lest a later merge that may reuse our arrays takes those of `self`.
        return mine if reuse else deepcopy(mine)
    return mine.merge(other, reuse)


def union_of_classes(mine: tuple, other: tuple) -> tuple[tuple, NDArray[np.intp]]:
    """All classes, mine first, and where each of the other's stands among them."""
    if mine == other:
        return mine, np.arange(len(mine))
    number = {label: i for i, label in enumerate(mine)}
    position = np.array([number.setdefault(label, len(number)) for label in other], dtype=np.intp)
    return tuple(number), position
