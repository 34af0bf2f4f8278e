"""Which columns depend most on the labels, and how much of their cross-moment to keep.

    r_j^2 = sum_q corr(x_j, psi_q)^2         (F-statistics of one column of classes rank alike)
    f_j = 1 - r_(m+1) / r_j                  r_(m+1): the largest of the columns that are left out

Multiplying row j of C_xy by f_j is soft-thresholding of whole rows, as in sparse PLS and nearest
shrunken centroids: a column that is barely chosen has a weight near zero. Of columns that are equal
up to rounding, such as copies, the first are chosen, and r_(m+1) is the next smaller value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .moments import Array, ClassSums, CrossMoment, Spread

TIED = 1e-6  # relative; more than rounding


def chosen_columns(
    cross: CrossMoment | ClassSums, spread: Spread, m: int
) -> tuple[NDArray[np.intp], Array]:
    """The m columns of largest r_j, in order, and the (m,) factors f_j of their rows of C_xy."""
    covariance = cross.covariance
    if isinstance(cross, ClassSums):
        share = cross.offset_right
        covariance = covariance / np.sqrt(np.maximum(share * (1 - share), 1e-300))
    size = np.linalg.norm(covariance, axis=1)
    variance = spread.variance
    r = np.where(variance > 0, size / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0)
    if m >= len(r):
        return np.arange(len(r)), np.ones(len(r))
    last = np.partition(r, -m)[-m]
    smaller = r < last * (1 - TIED)
    larger = r > last * (1 + TIED)
    tied = np.flatnonzero(~(smaller | larger))[: m - int(larger.sum())]
    which = np.union1d(np.flatnonzero(larger), tied)
    left_out = r[smaller].max(initial=0)
    return which, 1 - left_out / np.maximum(r[which], 1e-300)
