"""The order of things around a circle, near ones side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

SWEEPS = 20  # over the tour; a hundred places need fewer


def circular_order(distances: NDArray[Any]) -> NDArray[np.intp]:
    """(c, c) symmetric distances -> (c,) a short closed tour of all, from 0, the smaller way round.

    The tour is the leaves of a clustering tree, mended by reversing stretches while that makes it
    shorter. Distances that differ by rounding are the same, so that ties are settled by the numbers
    of the places. Seconds for 5000 places, and memory for a few copies of the distances.

    Examples
    --------
    >>> place = np.array([0.0, 3.0, 1.0, 4.0, 2.0])  # on a circle of length 5
    >>> apart = np.abs(place[:, None] - place)
    >>> circular_order(np.minimum(apart, 5 - apart)).tolist()
    [0, 2, 4, 1, 3]
    """
    c = len(distances)
    order = np.arange(c)
    if c > 3:  # else all are side by side
        distances = _rounded(distances)
        tree = linkage(squareform(distances, checks=False), "average")
        order = _shorter_tour(distances, leaves_list(tree).astype(np.intp))
    order = np.roll(order, -int(np.argmin(order)))
    if c > 2 and order[-1] < order[1]:
        order[1:] = order[:0:-1].copy()
    return order


def _rounded(distances: NDArray[Any]) -> NDArray[Any]:
    """To 20 bits each, and to zero where they are rounding of the largest."""
    digits, place = np.frexp(distances)
    rounded = np.ldexp(np.round(digits * 2.0**20), place - 20)
    return np.where(distances > 1e-12 * distances.max(), rounded, 0.0)


def _shorter_tour(distances: NDArray[Any], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Reverse stretches of a closed tour while that makes it shorter (2-opt)."""
    c, rounding = len(order), 1e-12 * float(distances.max())
    tour = np.append(order, order[0])
    steps = distances[tour[:-1], tour[1:]]  # kept along with the tour: gathering them is the cost
    for _ in range(SWEEPS):
        better = False
        for i in range(c - 2):
            # Reversing tour[i + 1 .. j] trades the steps (i, i + 1) and (j, j + 1) for (i, j) and
            # (i + 1, j + 1).
            here, following = distances[tour[i]], distances[tour[i + 1]]
            change = here[tour[i + 2 : -1]]
            change += following[tour[i + 3 :]]
            change -= steps[i + 2 :]
            best = int(np.argmin(change))
            if change[best] - steps[i] < -rounding:
                j = i + 2 + best
                steps[i], steps[j] = here[tour[j]], following[tour[j + 1]]
                steps[i + 1 : j] = steps[i + 1 : j][::-1].copy()
                tour[i + 1 : j + 1] = tour[i + 1 : j + 1][::-1].copy()
                better = True
        if not better:
            break
    return tour[:-1]
