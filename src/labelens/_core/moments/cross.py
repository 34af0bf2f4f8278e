"""The cross-moment of rows and labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .common import Array, Rows, about_mean, added, weighted_product, weights


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
        weight, total = weights(weight, left.shape[0])
        left, origin_left, sum_left = about_mean(left, weight)
        right, origin_right, sum_right = about_mean(right, weight)
        product = weighted_product(left, right, weight)
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

    def times(self, mixing: Array) -> Array:
        """C_xy @ mixing, (p, k)."""
        return self.comoment @ (mixing / self.weight)

    def merge(self, other: CrossMoment, reuse: bool = False) -> CrossMoment:
        """Chan's update: the moment of all rows of both."""
        total = self.weight + other.weight
        share = other.weight / total
        left = (other.origin_left - self.origin_left) + (other.offset_left - self.offset_left)
        right = (other.origin_right - self.origin_right) + (other.offset_right - self.offset_right)
        comoment = added(self.comoment, other.comoment, reuse)
        comoment += np.outer(left, right * (self.weight * share))
        return replace(
            self,
            weight=total,
            offset_left=self.offset_left + left * share,
            offset_right=self.offset_right + right * share,
            comoment=comoment,
        )

    def rotated(self, rotation: Array) -> CrossMoment:
        """The moment of right @ rotation."""
        return replace(
            self,
            origin_right=self.origin_right @ rotation,
            offset_right=self.offset_right @ rotation,
            comoment=self.comoment @ rotation,
        )

    def rescaled(self, factor: Array) -> CrossMoment:
        """The moment of left * factor."""
        return replace(
            self,
            origin_left=self.origin_left * factor,
            offset_left=self.offset_left * factor,
            comoment=self.comoment * factor[:, None],
        )

    def only(self, which: NDArray[np.intp]) -> CrossMoment:
        """The moment of some columns of left."""
        return replace(
            self,
            origin_left=self.origin_left[which],
            offset_left=self.offset_left[which],
            comoment=self.comoment[which],
        )

    def without(self, Q: Array) -> CrossMoment:
        """The moment of left without its part in the span of Q, (p, r) with orthonormal columns."""
        return replace(self, comoment=self.comoment - Q @ (Q.T @ self.comoment))
