"""Label kernels, labels, and the n x n matrices that they mean, written out in loops."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jaccard
from scipy.stats import rankdata
from sklearn.metrics.pairwise import rbf_kernel

from labelens.label_kernels import Cyclic, Ordinal, Precomputed, Product, Sliced, Sum, Tree
from oracles import delta_kernel

N = 120
SIZES = ["XL", "S", "M", "L"]
RIGHT_ORDER = ["S", "M", "L", "XL"]
PATHS = ["animal/dog/poodle", "animal/dog/collie", "animal/cat", "plant/cat", "plant"]
PARENTS = {"poodle": "dog", "collie": "dog", "dog": "animal", "cat": "animal", "oak": "plant"}
NODES = ["poodle", "collie", "cat", "oak", "plant"]
SIMILAR = pd.DataFrame(
    [[2, 1, 0.5], [1, 2, 0], [0.5, 0, 1]], index=list("abc"), columns=list("abc")
)


def written_out(y, alike):
    """(n, n), one pair of labels at a time."""
    return np.array([[float(alike(a, b)) for b in y] for a in y])


def common_steps(a, b):
    a, b = a.split("/"), b.split("/")
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return count


def ancestors(node):
    while node is not None:
        yield node
        node = PARENTS.get(node)


def of_sets(a, b):
    return 1 - jaccard(a, b)  # SciPy's distance of two empty sets is 0


def of_hours(a, b):
    return np.cos(np.pi * (a - b) / 24) ** 4


def draw(labels, n=N, seed=1):
    return np.array(list(labels))[np.random.default_rng(seed).integers(0, len(labels), n)]


RATINGS, SETS = draw(range(1, 6)), np.random.default_rng(2).integers(0, 2, (N, 3))
HOURS = np.random.default_rng(3).uniform(-30, 90, N)
LETTERS = draw(list("abc"), seed=4)
SKEWED = np.round(np.exp(HOURS / 20), 1)  # with ties
# Name -> kernel, labels, L.
KERNELS = {
    "ordinal": ("ordinal", RATINGS, written_out(RATINGS, min)),
    "ordinal strings": (
        Ordinal(RIGHT_ORDER),
        draw(SIZES),
        written_out(draw(SIZES), lambda a, b: min(map(RIGHT_ORDER.index, (a, b)))),
    ),
    "tree": ("tree", draw(PATHS), written_out(draw(PATHS), common_steps)),
    "parents": (
        Tree(parents=PARENTS),
        draw(NODES),
        written_out(draw(NODES), lambda a, b: len({*ancestors(a)} & {*ancestors(b)})),
    ),
    "jaccard": ("jaccard", SETS, written_out(SETS, of_sets)),
    "precomputed": (
        Precomputed(SIMILAR),
        LETTERS,
        written_out(LETTERS, lambda a, b: SIMILAR.loc[a, b]),
    ),
    "cyclic": (Cyclic(24), HOURS, written_out(HOURS, of_hours)),
    "sliced": (Sliced(6), HOURS, delta_kernel((rankdata(HOURS) - 1) * 6 // N)),
    "ranked": ("ranked", SKEWED, rbf_kernel((rankdata(SKEWED)[:, None] - 0.5) / N, gamma=12)),
    "sum of slices and ranks": (
        Sum(Sliced(6), "ranked"),
        np.c_[HOURS, SKEWED],
        delta_kernel((rankdata(HOURS) - 1) * 6 // N)
        + rbf_kernel((rankdata(SKEWED)[:, None] - 0.5) / N, gamma=12),
    ),
    "sum": (
        Sum("delta", Cyclic(24), "ordinal"),
        pd.DataFrame({"a": LETTERS, "b": HOURS, "c": RATINGS}),
        delta_kernel(LETTERS) + written_out(HOURS, of_hours) + written_out(RATINGS, min),
    ),
    "product": (
        Product("delta", Cyclic(24), Tree()),
        pd.DataFrame({"a": LETTERS, "b": HOURS, "c": draw(PATHS)}),
        delta_kernel(LETTERS)
        * written_out(HOURS, of_hours)
        * written_out(draw(PATHS), common_steps),
    ),
    "product with numbers": (
        Product("rbf", "linear"),
        np.c_[HOURS / 30, RATINGS],
        rbf_kernel(HOURS[:, None] / 30, gamma=1 / (HOURS / 30).var()) * np.outer(RATINGS, RATINGS),
    ),
}
GRID = pytest.mark.parametrize("name", KERNELS)


def rows_of_all(rng):
    """(N, 8), which depend on all the labels above."""
    signal = np.c_[RATINGS, np.cos(HOURS * np.pi / 12), SETS, LETTERS == "a", draw(SIZES) == "L"]
    return rng.normal(size=(N, 8)) + signal @ rng.normal(size=(signal.shape[1], 8))
