"""What must hold for any data: merging, moving, turning, relabelling, weighing, batches.

Embeddings are compared by Z Z^T, which no sign and no rotation changes. At k = classes - 1 the
random methods have one answer for every seed, and it is a polynomial of the data. The spectral
ones are as well posed as the smallest of their singular values is large, and tolerances say so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)

LONG, SHORT = 10_000, 120
GAMMA = 0.3
MODELS = [
    SupervisedPCA(),
    SupervisedRandomProjection(random_state=0),
    KernelSupervisedPCA(approximation="exact", gamma=GAMMA),
    KernelSupervisedRandomProjection(approximation="exact", gamma=GAMMA, random_state=0),
    KernelSupervisedRandomProjection(n_random_features=32, gamma=GAMMA, random_state=0),
]
ROTATES = MODELS[:4]  # random frequencies are where they were


@dataclass
class World:
    """Some data, and an estimator for it."""

    X: np.ndarray
    y: np.ndarray
    model: object
    rng: np.random.Generator

    def fitted(self, X=None, y=None, weight=None):
        X, y = self.X if X is None else X, self.y if y is None else y
        return clone(self.model).fit(X, y, sample_weight=weight)


@st.composite
def worlds(draw, models=MODELS):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    classes = draw(st.integers(2, 4))
    n = classes * draw(st.integers(3, 12)) + draw(st.integers(0, 3))
    d = draw(st.integers(classes, 8))
    y = rng.permutation(np.arange(n) % classes)
    X = rng.normal(size=(n, d)) + 2 * rng.normal(size=(classes, d))[y]
    kind = draw(st.sampled_from(["normal", "rounded", "skewed", "far", "tied"]))
    if kind == "rounded":
        X = np.round(X)
    elif kind == "skewed":
        X = np.exp(X / 2)
    elif kind == "far":
        X = X + 100 * rng.normal(size=d)
    elif kind == "tied":
        X[: n // 3] = X[n // 3 : 2 * (n // 3)]
    model = draw(st.sampled_from(models))
    world = World(X, y, clone(model).set_params(n_components=classes - 1), rng)
    values = world.fitted().singular_values_ if model in (MODELS[0], MODELS[2]) else np.ones(1)
    assume(values[-1] > 1e-4 * values[0])
    return world


def conditioned(model):
    """How many times rounding errors may grow."""
    values = model.singular_values_
    spectral = isinstance(model, (SupervisedPCA, KernelSupervisedPCA))
    return float(values[0] / values[-1]) ** 2 if spectral else 1.0


def same(Z, other, tolerance, what):
    size = max(np.abs(Z).max(), np.abs(other).max(), 1e-300)
    Z, other = Z / size, other / size
    apart = np.abs(Z @ Z.T - other @ other.T).max()
    assert apart <= tolerance, f"{what}: apart by {apart:.1e}, not {tolerance:.1e}"


def merge_is_associative_and_commutative(world):
    cuts = np.sort(world.rng.choice(np.arange(1, len(world.X)), 2, replace=False))
    parts = [
        clone(world.model).partial_fit(X, y)
        for X, y in zip(np.split(world.X, cuts), np.split(world.y, cuts), strict=True)
    ]
    a, b, c = parts
    whole = world.fitted()
    Z, loose = whole.transform(world.X), 1e-11 * conditioned(whole)
    orders = {
        "(a b) c": lambda a, b, c: a.merge(b).merge(c),
        "a (b c)": lambda a, b, c: a.merge(b.merge(c)),
        "(c a) b": lambda a, b, c: c.merge(a).merge(b),
        "b (c a)": lambda a, b, c: b.merge(c.merge(a)),
    }
    for name, merge in orders.items():
        merged = merge(*(_copy(part) for part in (a, b, c)))
        same(merged.transform(world.X), Z, loose, name)
    assert merged.n_samples_seen_ == len(world.X)


def _copy(model):
    made = clone(model)
    made.__dict__.update(model.__dict__)  # moments are never changed in place
    return made


def moving_all_rows_moves_no_embedding(world):
    fitted = world.fitted()
    shift = world.rng.normal(size=world.X.shape[1]) * 10.0 ** world.rng.integers(-2, 4)
    moved = world.X + shift
    same(
        world.fitted(moved).transform(moved),
        fitted.transform(world.X),
        1e-8 * conditioned(fitted),
        "translation",
    )


def turning_all_rows_turns_nothing(world):
    fitted = world.fitted()
    turn = stats.ortho_group.rvs(world.X.shape[1], random_state=world.rng)
    turned = world.X @ turn
    same(
        world.fitted(turned).transform(turned),
        fitted.transform(world.X),
        1e-9 * conditioned(fitted),
        "rotation",
    )


def other_names_for_classes_change_nothing(world):
    fitted = world.fitted()
    names = world.rng.permutation(np.array(["z", "ä", "", "42", "-1"]))
    renamed = names[world.y] if world.rng.random() < 0.5 else -7 * world.rng.permutation(9)[world.y]
    same(
        world.fitted(y=renamed).transform(world.X),
        fitted.transform(world.X),
        1e-11 * conditioned(fitted),
        "relabelling",
    )


def a_row_twice_is_a_weight_of_two(world):
    twice = world.rng.random(len(world.X)) < 0.4
    weight = 1.0 + twice
    X, y = np.concatenate([world.X, world.X[twice]]), np.concatenate([world.y, world.y[twice]])
    weighed, repeated = world.fitted(weight=weight), world.fitted(X, y)
    same(
        weighed.transform(world.X),
        repeated.transform(world.X),
        1e-11 * conditioned(weighed),
        "weight",
    )


def a_row_does_not_depend_on_its_batch(world):
    model = world.fitted()
    together = model.transform(world.X)
    size = np.abs(together).max()
    order = world.rng.permutation(len(world.X))
    shuffled = np.empty_like(together)
    shuffled[order] = model.transform(world.X[order])
    some = world.rng.choice(len(world.X), 3)
    for found, wanted, what in (
        (shuffled, together, "shuffled"),
        (np.vstack([model.transform(world.X[i : i + 1]) for i in some]), together[some], "alone"),
        (model.transform(np.tile(world.X, (40, 1)))[-len(order) :], together, "among many"),
        (model.transform(np.asfortranarray(world.X)), together, "in columns"),
    ):
        apart = np.abs(found - wanted).max() / size
        assert apart <= 1e-12, f"{what}: apart by {apart:.1e}"


PROPERTIES = {
    merge_is_associative_and_commutative: MODELS,
    moving_all_rows_moves_no_embedding: ROTATES,
    turning_all_rows_turns_nothing: ROTATES,
    other_names_for_classes_change_nothing: MODELS,
    a_row_twice_is_a_weight_of_two: MODELS,
    a_row_does_not_depend_on_its_batch: MODELS,
}


def tried(holds, models, examples):
    """How many examples were tried, and what is wrong with one, if anything is."""
    seen = 0

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(worlds(models))
    def check(world):
        nonlocal seen
        seen += 1
        holds(world)

    try:
        check()
    except Exception as error:
        return seen, f"{type(error).__name__}: {error}"
    return seen, None


def run(tally):
    examples = math.ceil((LONG if tally.long else SHORT) / len(PROPERTIES))
    for holds, models in PROPERTIES.items():
        seen, fault = tried(holds, models, examples)
        for _ in range(seen - 1):
            tally.check(holds.__name__)
        tally.check(holds.__name__, fault)
