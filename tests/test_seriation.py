"""Orders around a circle."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from conftest import read_only
from labelens._core.seriation import circular_order


def corners(*sizes):
    return np.array(list(itertools.product(*map(range, sizes))), dtype=float)


def length(distances, order):
    return distances[order, np.roll(order, -1)].sum()


@pytest.mark.parametrize("c", [1, 2, 3])
def test_few_are_in_order(c):
    assert circular_order(1.0 - np.eye(c)).tolist() == list(range(c))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("c", [4, 5, 50, 400])
def test_a_hidden_circle_is_found(c, seed):
    place = np.random.default_rng(seed).permutation(c)
    hops = np.abs(place[:, None] - place)
    distances = read_only(np.minimum(hops, c - hops).astype(float))
    order = circular_order(distances)
    assert length(distances, order) == c
    assert sorted(order) == list(range(c))
    assert order[0] == 0
    assert order[1] < order[-1]


@pytest.mark.parametrize("seed", range(10))
def test_near_the_shortest_of_all_tours(seed):
    points = np.random.default_rng(seed).normal(size=(8, 3))
    distances = cdist(points, points)
    shortest = min(
        length(distances, np.array([0, *rest])) for rest in itertools.permutations(range(1, 8))
    )
    assert length(distances, circular_order(distances)) <= 1.1 * shortest


def test_no_reversal_makes_it_shorter(rng):
    points = rng.normal(size=(40, 5))
    distances = cdist(points, points)
    order = circular_order(distances)
    best = length(distances, order)
    for i, j in itertools.combinations(range(40), 2):
        other = order.copy()
        other[i : j + 1] = order[i : j + 1][::-1]
        assert length(distances, other) >= best - 1e-9


@pytest.mark.parametrize("points", [corners(2, 2, 2), corners(3, 4), np.eye(9), corners(12)])
def test_rounding_does_not_decide(rng, points):
    """All distances of neighbours are the same."""
    distances = cdist(points, points)
    order = circular_order(distances)
    for _ in range(200):
        noise = 1e-15 * rng.normal(size=distances.shape)
        assert circular_order(distances + noise + noise.T).tolist() == order.tolist()
