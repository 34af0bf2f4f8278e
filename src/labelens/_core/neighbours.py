"""Nearest rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from .._base import devices
from .moments import Array

# Dimensions above which a tree of the rows is slower than looking at all of them.
FLAT = 6
GROUP = 8  # columns of which the minimum is taken first
AT_A_TIME = 128  # rows of a product, so that distances stay in the cache


def nearest(
    known: Array, asked: Array, k: int, place: devices.Place | None = None
) -> NDArray[np.intp]:
    """(n, d), (m, d) -> (m, k): the known rows closest to each that is asked for, in order.

    A place is a device that looks for them.
    """
    if place is None and known.shape[1] <= FLAT:
        return KDTree(known).query(asked, [*range(1, k + 1)])[1]
    centre = known.mean(axis=0)
    known, asked = known - centre, asked - centre
    if place is not None:
        xp, there = place.xp, place.put(known)
        distances = xp.sum(there * there, axis=1) / 2 - place.put(asked) @ xp.matrix_transpose(
            there
        )
        return devices.host(xp.argsort(distances, axis=1, stable=True)[:, :k])
    # |a - b|^2 / 2 without |a|^2, which is the same for every b: one product, with one column more.
    halves = np.einsum("ij,ij->i", known, known) / 2
    columns = np.vstack([-known.T, halves])
    asked = np.column_stack([asked, np.ones(len(asked), asked.dtype)])
    places = np.empty((len(asked), k), dtype=np.intp)
    for start in range(0, len(asked), AT_A_TIME):
        here = slice(start, start + AT_A_TIME)
        distances = asked[here] @ columns
        if k == 1:
            places[here, 0] = distances.argmin(axis=1)
            continue
        some = _smallest(distances, k)
        order = np.argsort(np.take_along_axis(distances, some, 1), axis=1, kind="stable")
        places[here] = np.take_along_axis(some, order, 1)
    return places


def _smallest(values: Array, k: int) -> NDArray[np.intp]:
    """(m, n) -> (m, k): where the k smallest numbers of every row are.

    The columns are cut into groups. At most k groups have one of them, those with the k smallest
    minima; taking minima is several times faster than a partition.
    """
    groups = values.shape[1] // GROUP
    if groups < 4 * k:
        return np.argpartition(values, k - 1, axis=1)[:, :k]
    end = groups * GROUP
    least = values[:, :end].reshape(len(values), GROUP, groups).min(axis=1)
    best = np.argpartition(least, k - 1, axis=1)[:, :k]
    some = (best[:, None] + groups * np.arange(GROUP)[:, None]).reshape(len(values), -1)
    rest = np.tile(np.arange(end, values.shape[1]), (len(values), 1))
    some = np.hstack([some, rest])
    found = np.argpartition(np.take_along_axis(values, some, 1), k - 1, axis=1)[:, :k]
    return np.take_along_axis(some, found, 1)
