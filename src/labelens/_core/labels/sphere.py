"""Class vectors well apart from each other: a code on the circle or the sphere.

The direct solver draws every class towards its vector. Random vectors in few dimensions come close
to each other by chance, and then rows of two classes cannot be told apart. Here they are as far
apart as repulsion gets them, and classes whose means are close are neighbours: what is confused is
confused within one region, not all over the sphere.

    k = 1    evenly along a line                    as the class means lie in their main direction
    k = 2    the corners of a regular polygon       in the order of a short tour of the class means
    k >= 3   points on the sphere that repel        from where the k main directions of the class
             each other                             means have them
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import svds
from scipy.spatial.distance import cdist

from ..._base.rounding import with_signs
from ..seriation import circular_order
from .encoded import random_generator

Array = NDArray[np.float64]

# Distances between all classes are held at a time, and compared a hundred times: seconds for 5000.
MOST_CLASSES = 5000
# A point is pushed by every other with a force of distance^(1 - 2 m), m = 2, 4, ..., 32. A large m
# sees the nearest only, which is what counts in the end; a small one brings far crowds into order.
DOUBLINGS = 5
# A tenth of the distance to the nearest point: with longer steps the result depends on rounding.
STEP = 0.1
STEPS = 60  # for each m; fewer where that would be more than MOST_PAIRS in all
MOST_PAIRS = 1 << 31
# What is a tie: places along a line, relative to the largest; singular values, relative to each
# other; what has no direction, relative to the largest. Rounding is far below, and data that tie by
# accident are not at the edge.
TIE, ALMOST, NOTHING = 1e-9, 1e-6, 1e-10
GRID = 2.0**-10
BLOCK_PAIRS = 1 << 18  # at a time, which stay in the cache


def class_code(means: Array, k: int) -> Array:
    """(c, p) -> (c, k): unit vectors well apart, near for near means; the same for every seed.

    Means that differ by rounding have the same code: ties are settled by the number of the class.
    """
    c = len(means)
    if c > MOST_CLASSES:
        raise ValueError(
            f"label_map='spread' puts {MOST_CLASSES} classes at most well apart from each other, "
            f"and there are {c}; use label_map='orthogonal'."
        )
    if k > 2:
        return repelled(_leading(means, k))
    code = np.empty((c, k))
    if k == 1:
        code[_order(_leading(means, 1)[:, 0]), 0] = np.linspace(-1, 1, c)
        return code
    angles = 2 * np.pi * np.arange(c) / c
    code[circular_order(cdist(means, means))] = np.column_stack([np.cos(angles), np.sin(angles)])
    return code


def _order(values: Array) -> NDArray[np.intp]:
    """Ascending; values that are equal up to rounding stay in the order in which they are."""
    order = np.argsort(values, kind="stable")
    apart = np.diff(values[order], prepend=values[order[0]]) > TIE * np.abs(values).max()
    rank = np.empty(len(values), dtype=np.intp)
    rank[order] = np.cumsum(apart)
    return np.argsort(rank, kind="stable")


def repelled(points: Array) -> Array:
    """(c, k) -> unit vectors that have pushed each other apart, from those directions."""
    c, k = points.shape
    points = _unit(points)
    # Hundreds of steps make a difference of one bit visible, so they start on a coarse grid. Points
    # in the same place would never part.
    jitter = random_generator(0, "class code").standard_normal((c, k))
    points = _unit(np.round(points / GRID) * GRID + 1e-3 * jitter)
    steps = int(np.clip(MOST_PAIRS // (DOUBLINGS * c**2), 5, STEPS))
    for doublings in range(1, DOUBLINGS + 1):
        for step in range(steps):
            points = _unit(points + (1 - step / steps) * _push(points, doublings))
    return points


def _push(points: Array, doublings: int) -> Array:
    """(c, k): the step of each point, in the plane that touches the sphere there."""
    c, push = len(points), np.empty_like(points)
    block = max(1, BLOCK_PAIRS // c)
    for start in range(0, c, block):
        here = points[start : start + block]
        force = here @ points.T
        np.subtract(1 + 1e-12, force, out=force)  # |u - v|^2 / 2 of unit vectors
        force[np.arange(len(here)), np.arange(start, start + len(here))] = np.inf
        # In units of the distance to the nearest, so that crowds and loners move as far.
        np.divide(force.min(axis=1, keepdims=True), force, out=force)
        for _ in range(doublings):
            np.square(force, out=force)
        total = force.sum(axis=1, keepdims=True)
        away = here - force @ points / total
        push[start : start + block] = away - np.sum(away * here, axis=1, keepdims=True) * here
    return STEP * push


def _leading(means: Array, k: int) -> Array:
    """(c, p) -> (c, k): the means in the k directions in which they vary most."""
    centred = means - means.mean(axis=0)
    small = min(centred.shape)
    if not centred.any():
        return np.zeros((len(means), k))
    values = np.zeros(k + 1)
    if small > 16 * k:
        # Not from ones, which centred means take to zero.
        start = random_generator(0, "leading directions").standard_normal(small)
        left, values, _ = svds(centred, k + 1, v0=start)
        left, values = left[:, ::-1], values[::-1]
    # All of them, where there are few, or where the last one is as large as the next.
    if _equal(values)[k - 1]:
        left, values, _ = np.linalg.svd(centred, full_matrices=False)
    found = with_signs(_settled(left, values, k)) * values[:k]
    found[np.linalg.norm(found, axis=1) <= NOTHING * values[0]] = 0
    return np.pad(found, ((0, 0), (0, k - found.shape[1])))


def _equal(values: Array) -> NDArray[np.bool_]:
    """Which of descending values, but the last, are as large as the next, up to rounding."""
    return values[:-1] - values[1:] <= ALMOST * values[:-1]


def _settled(left: Array, values: Array, k: int) -> Array:
    """The first k of orthonormal columns; any turn of those with equal values is undone.

    They become the projections of fixed vectors onto their span, made orthonormal. Where a value
    is zero there is no direction.
    """
    fixed = random_generator(0, "equal directions").standard_normal((len(left), k))
    edges = np.flatnonzero(np.r_[True, ~_equal(values), True])
    found = left[:, :k] * (values[:k] > NOTHING * values[0])
    for start, stop in pairwise(edges):
        if start < k and stop - start > 1 and values[start] > NOTHING * values[0]:
            group = left[:, start:stop]
            along = group.T @ fixed[:, start : min(stop, k)]
            basis, triangle = np.linalg.qr(along)
            found[:, start : min(stop, k)] = group @ (basis * np.sign(np.diagonal(triangle)))
    return found


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)
