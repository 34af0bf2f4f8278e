"""Positions of classes: similar classes are close, and discs around them do not overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform

from .moments import Array
from .seriation import circular_order

GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
FILLED = 0.6  # share of the disc, or of the sphere, that discs around the anchors fill
STRESS_STEPS, SPREAD_STEPS, STEP = 300, 300, 0.4
MOST_AT_ONCE = 128  # more classes are grouped into continents


def anchors(apart: Array, layout: str) -> tuple[Array, Array]:
    """(c, c) dissimilarities -> (c, 2) or (c, 3) anchors, and (c,) radii of discs without overlap.

    All discs are within the unit disc or ball. The result depends on the order of the
    dissimilarities, not on their size.
    """
    c = len(apart)
    if layout == "circle":
        places = circle(apart)
    elif c == 2:
        places = np.array([[-1.0, 0.0], [1.0, 0.0]])
        places = np.pad(places, ((0, 0), (0, layout == "sphere")))
    elif c > MOST_AT_ONCE:
        return _continents(apart, layout)
    else:
        places = _spread(_least_stress(apart, _even(c, layout)), layout)
        places = places @ _rotation(places, _numbered(c, places.shape[1]))
    distances = squareform(pdist(places))
    np.fill_diagonal(distances, np.inf)
    radii = distances.min(axis=1) / 2
    size = (np.linalg.norm(places, axis=1) + radii).max()
    return places / size, radii / size


def circle(apart: Array) -> Array:
    """(c, c) -> (c, 2): on the unit circle from the left, clockwise, similar ones side by side."""
    c = len(apart)
    angles = np.pi - 2 * np.pi * np.arange(c) / c
    places = np.empty((c, 2))
    places[circular_order(apart)] = np.column_stack([np.cos(angles), np.sin(angles)])
    return places


def _even(c: int, layout: str) -> Array:
    """(c, 2) or (c, 3): points spread evenly over the unit disc or the unit sphere."""
    at = np.arange(c) + 0.5
    if layout == "sphere":
        height = 1 - 2 * at / c
        return _around(np.sqrt(1 - height**2), at, height)
    return _around(np.sqrt(at / c), at)


def _numbered(c: int, dimensions: int) -> Array:
    """(c, 2) or (c, 3): a place for every number that does not depend on how many there are."""
    at = np.arange(c) + 0.5
    heights = [np.cos(GOLDEN_ANGLE**2 * at)] if dimensions == 3 else []
    return _around(np.ones(c), at, *heights)


def _around(radius: Array, at: Any, *heights: Any) -> Array:
    angle = GOLDEN_ANGLE * at
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), *heights])


def _least_stress(apart: Array, even: Array) -> Array:
    """Multidimensional scaling by majorization (SMACOF).

    The distances to reach are those of the even points, in the order of the dissimilarities: so
    the places fill the disc, whatever the dissimilarities are.
    """
    given = squareform(apart, checks=False)
    goal = np.empty_like(given)
    # Dissimilarities that differ by rounding are the same; ties go by the numbers of the classes.
    step = max(given.max(initial=0), 1e-300) * 1e-9
    goal[np.argsort(np.round(given / step), kind="stable")] = np.sort(pdist(even))
    goal, c = squareform(goal), len(apart)
    squares = goal**2
    rows = squares.mean(axis=0)
    centred = rows + rows[:, None] - squares - squares.mean()
    variances, axes = np.linalg.eigh(centred / 2)
    k = even.shape[1]
    places = axes[:, -k:] * np.sqrt(np.maximum(variances[-k:], 1e-12))
    for _ in range(STRESS_STEPS):  # the Guttman transform
        distances = squareform(pdist(places))
        ratios = goal / np.maximum(distances, 1e-9)
        np.fill_diagonal(ratios, 0)
        places = (ratios.sum(axis=1)[:, None] * places - ratios @ places) / c
    return places


def _spread(places: Array, layout: str) -> Array:
    """Move places apart until equal discs around them do not overlap."""
    c, sphere = len(places), layout == "sphere"
    radius = np.sqrt(FILLED / c) * (2 if sphere else 1)  # a unit sphere has 4 times the area
    for _ in range(SPREAD_STEPS):
        apart = places[:, None] - places
        distances = np.sqrt(np.square(apart).sum(axis=2))
        overlap = np.maximum(2 * radius - distances, 0) / np.maximum(distances, 1e-9)
        np.fill_diagonal(overlap, 0)
        places = places + STEP * np.einsum("ij,ijk->ik", overlap, apart)
        length = np.maximum(np.linalg.norm(places, axis=1, keepdims=True), 1e-9)
        places = places / (length if sphere else np.maximum(length / (1 - 0.9 * radius), 1))
    return places


def _rotation(places: Array, goal: Array) -> Array:
    """(k, k) the rotation or reflection that brings places nearest to their goals."""
    left, _, right = np.linalg.svd(places.T @ goal)
    return left @ right


def _continents(apart: Array, layout: str) -> tuple[Array, Array]:
    """Lay out groups of similar classes, and the classes of each group within its disc."""
    c = len(apart)
    tree = linkage(squareform(apart, checks=False), "complete")
    number = _in_order(fcluster(tree, int(np.ceil(np.sqrt(c))), "maxclust"))
    groups = [np.flatnonzero(number == g) for g in range(number.max() + 1)]
    if len(groups) == 1:  # all the same
        groups = np.array_split(np.arange(c), int(np.ceil(np.sqrt(c))))
    between = np.array([[apart[np.ix_(a, b)].mean() for b in groups] for a in groups])
    np.fill_diagonal(between, 0)
    middles, room = anchors(between, layout)
    places, radii = np.empty((c, middles.shape[1])), np.empty(c)
    for group, middle, around in zip(groups, middles, room, strict=True):
        if len(group) == 1:
            places[group], radii[group] = middle, around
            continue
        within, sizes = anchors(apart[np.ix_(group, group)], "plane")
        within = np.pad(within, ((0, 0), (0, middles.shape[1] - 2)))
        places[group], radii[group] = middle + around * within, around * sizes
    return places, radii


def _in_order(number: NDArray[np.intp]) -> NDArray[np.intp]:
    """Groups numbered from 0 by their first members."""
    _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]
