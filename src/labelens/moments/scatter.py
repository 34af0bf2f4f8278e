"""The moment of rows with themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .. import _array
from .common import Array, Rows, about_mean, shifted, weights


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
            comoment = rows.T @ rows
        return cls(total, origin, offset, comoment, cubic, float(weight @ squares**2))

    @property
    def mean(self) -> tuple[Array, Array]:
        """As its two words."""
        return self.origin, self.offset

    @property
    def covariance(self) -> Any:
        """C_xx, (p, p), where the rows were."""
        return self.comoment / self.weight

    def merge(self, other: Scatter, reuse: bool = False) -> Scatter:
        total = self.weight + other.weight
        share = other.weight / total
        delta = (other.origin - self.origin) + (other.offset - self.offset)
        cubic_a, quartic_a = self._about(-share * delta)
        cubic_b, quartic_b = other._about((1 - share) * delta)
        there = _array.place_of(self.comoment)
        comoment = shifted(self.comoment, _array.moved_to(there, other.comoment), reuse)
        comoment += _array.like(np.outer(delta, delta * (self.weight * share)), comoment)
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
        pull = _array.host(self.comoment @ _array.like(shift, self.comoment))
        trace, length = _array.trace(self.comoment), shift @ shift
        cubic = self.cubic + 2 * pull + (trace + self.weight * length) * shift
        quartic = self.quartic + 4 * (self.cubic + pull) @ shift
        return cubic, float(quartic + 2 * length * trace + self.weight * length**2)

    def rescaled(self, factor: Array) -> Scatter:
        """The covariance of rows * factor; its Ledoit-Wolf moments cannot be had from ours."""
        return replace(
            self,
            origin=self.origin * factor,
            offset=self.offset * factor,
            comoment=self.comoment * _array.like(np.outer(factor, factor), self.comoment),
            cubic=np.full_like(self.cubic, np.nan),
            quartic=np.nan,
        )
