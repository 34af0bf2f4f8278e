"""The moment of rows with themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..._base import devices
from ..._base.threads import go_on, in_order, one_blas_thread
from .common import Array, Rows, about_mean, added, weights

AT_A_TIME = 2048  # rows that are added up in place
STRIP = 256  # columns of a product


@dataclass(frozen=True)
class Scatter:
    """sum_i w_i d_i d_i^T of the centred rows d_i, and what Ledoit-Wolf asks for beyond."""

    weight: float
    origin: Array  # (p,)
    offset: Array  # (p,)
    comoment: Any  # (p, p), on the device of rows that were on one
    cubic: Array  # (p,)  sum_i w_i |d_i|^2 d_i
    quartic: float  # sum_i w_i |d_i|^4

    @classmethod
    def of(cls, rows: Rows, weight: Array | None = None) -> Scatter:
        weight, total = weights(weight, rows.shape[0])
        rows, origin, sums = about_mean(rows, weight)
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
            comoment = _squared(rows)
        return cls(total, origin, offset, comoment, cubic, float(weight @ squares**2))

    @classmethod
    def around(cls, rows: NDArray[Any], origin: Array, dtype: Any = np.float64) -> Scatter:
        """Of dense rows whose mean is known to be near the origin.

        They are added up in place, without the p x p matrix that every block of `of` leaves to be
        merged: two thirds of the time, and last digits that depend on the number of threads. In
        float32, sums over AT_A_TIME rows are right to 1e-7 of the variance; it takes a third.
        """
        n, origin = len(rows), origin.astype(dtype)
        with one_blas_thread() as threads:
            edges = np.linspace(0, n, threads + 1).astype(int)
            parts = list(in_order(lambda ends: _sums(rows[slice(*ends)], origin), pairwise(edges)))
        first, second, third, fourth = (sum(part) for part in zip(*parts, strict=True))
        m = first / n
        cubic, quartic = centred(n, m, second @ m, np.trace(second), third, fourth)
        return cls(
            float(n),
            origin.astype(np.float64),
            m,
            second - np.outer(first, m),
            cubic,
            float(quartic),
        )

    @property
    def mean(self) -> tuple[Array, Array]:
        """As its two words."""
        return self.origin, self.offset

    @property
    def covariance(self) -> Any:
        """C_xx, (p, p), where the rows were."""
        return self.comoment / self.weight

    @property
    def variances(self) -> Array:
        """The diagonal of C_xx, on the host."""
        return devices.diagonal(self.comoment) / self.weight

    def merge(self, other: Scatter, reuse: bool = False) -> Scatter:
        total = self.weight + other.weight
        share = other.weight / total
        delta = (other.origin - self.origin) + (other.offset - self.offset)
        cubic_a, quartic_a = self._about(-share * delta)
        cubic_b, quartic_b = other._about((1 - share) * delta)
        there = devices.place_of(self.comoment)
        comoment = added(self.comoment, devices.moved_to(there, other.comoment), reuse)
        comoment += devices.like(np.outer(delta, delta * (self.weight * share)), comoment)
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
        pull = devices.host(self.comoment @ devices.like(shift, self.comoment))
        trace, length = devices.trace(self.comoment), shift @ shift
        cubic = self.cubic + 2 * pull + (trace + self.weight * length) * shift
        quartic = self.quartic + 4 * (self.cubic + pull) @ shift
        return cubic, float(quartic + 2 * length * trace + self.weight * length**2)

    def numbered(self, position: NDArray[np.intp], n_columns: int) -> Scatter:
        """Where column i has become column position[i] of n_columns; new ones have been zero."""

        def placed(values: Array) -> Array:
            larger = np.zeros((n_columns,) * values.ndim)
            larger[np.ix_(*[position] * values.ndim)] = values
            return larger

        return replace(
            self,
            origin=placed(self.origin),
            offset=placed(self.offset),
            comoment=placed(self.comoment),
            cubic=placed(self.cubic),
        )

    def only(self, which: NDArray[np.intp]) -> Scatter:
        """The covariance of some columns; their Ledoit-Wolf moments cannot be had from ours."""
        rows = devices.rows_at(self.comoment, which)
        return replace(
            self,
            origin=self.origin[which],
            offset=self.offset[which],
            comoment=devices.rows_at(rows.T, which),
            cubic=np.full(len(which), np.nan),
            quartic=np.nan,
        )

    def without(self, Q: Array) -> Scatter:
        """The covariance of rows without their part in the span of Q, (p, r), orthonormal."""
        basis = devices.like(Q, self.comoment)
        image = self.comoment @ basis
        image = image - basis @ (basis.T @ image) / 2
        comoment = self.comoment - image @ basis.T - basis @ image.T
        return replace(self, comoment=comoment, cubic=np.full_like(self.cubic, np.nan))

    def rescaled(self, factor: Array) -> Scatter:
        """The covariance of rows * factor; its Ledoit-Wolf moments cannot be had from ours."""
        return replace(
            self,
            origin=self.origin * factor,
            offset=self.offset * factor,
            comoment=self.comoment * devices.like(np.outer(factor, factor), self.comoment),
            cubic=np.full_like(self.cubic, np.nan),
            quartic=np.nan,
        )


def centred(
    weight: float, m: Array, pull: Array, trace: float, third: Array, fourth: float
) -> tuple[Array, float]:
    """Third and fourth moments about the mean m, from sums of d, d d^T, |d|^2 d and |d|^4.

    With e = d - m: expand |e|^2 e and |e|^4, and sum. `pull` is (sum d d^T) m, `trace` its trace.
    """
    length = m @ m
    cubic = third - trace * m - 2 * pull + 2 * weight * length * m
    quartic = fourth - 4 * third @ m + 4 * pull @ m + 2 * length * trace
    return cubic, float(quartic - 3 * weight * length**2)


def _squared(rows: Array) -> Array:
    """rows^T rows, (p, p), a strip of one half at a time, mirrored while it is in the cache."""
    p = rows.shape[1]
    if p <= 2 * STRIP:
        return rows.T @ rows
    product = np.empty((p, p))
    for start in range(0, p, STRIP):
        here, on, beyond = slice(start, start + STRIP), slice(start, p), slice(start + STRIP, p)
        np.matmul(rows[:, here].T, rows[:, on], out=product[here, on])
        product[beyond, here] = product[here, beyond].T
    return product


def _sums(rows: NDArray[Any], origin: NDArray[Any]) -> tuple[Array, Array, Array, float]:
    """Of d, d d^T, |d|^2 d and |d|^4, where d is the distance of a row to the origin."""
    p, dtype = len(origin), origin.dtype
    first, second, third, fourth = np.zeros(p), np.zeros((p, p)), np.zeros(p), 0.0
    apart, product = np.empty((min(AT_A_TIME, len(rows)), p), dtype), np.empty((p, p), dtype)
    for start in range(0, len(rows), AT_A_TIME):
        go_on()
        some = rows[start : start + AT_A_TIME]
        d = np.subtract(some, origin, out=apart[: len(some)], dtype=dtype)
        squares = np.einsum("ij,ij->i", d, d)
        first += np.ones(len(d), dtype) @ d
        second += np.matmul(d.T, d, out=product)
        third += squares @ d
        fourth += float(squares @ squares)
    return first, second, third, fourth
