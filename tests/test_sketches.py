"""The sketch of C_xx: one Gaussian vector a row, and models merged that used the same vectors."""

from functools import reduce

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import labelens
from labelens import KernelSupervisedRandomProjection, SupervisedRandomProjection
from labelens._core.labels import Unlabelled

SEEDS = 200
X = np.random.default_rng(0).normal(size=(40, 3)) * [3, 2, 1]
ONE_HOT = np.eye(3)[np.arange(40) % 3]
SHARDS = {
    "random halves": [X[:20], X[20:]],
    "identical": [X[:20], X[:20]],
    "three identical": [X[:20]] * 3,
    "scaled and moved": [X[:20], 2 * X[:20] + 5],
    "sorted": [np.sort(X[:20], axis=0), np.sort(X[20:], axis=0)],
    "one-hot": [ONE_HOT[:21], ONE_HOT[21:]],
    "rows alone": list(X[:5, None]),
    "one-hot rows alone": list(ONE_HOT[:5, None]),
}
LONGER = "three identical", "rows alone"


def in_turn(models):
    return reduce(lambda one, other: one.merge(other), models)


def in_a_tree(models):
    while len(models) > 1:
        pairs = zip(models[::2], models[1::2], strict=False)
        models = [one.merge(other) for one, other in pairs] + models[len(models) // 2 * 2 :]
    return models[0]


def last_first(models):
    return reduce(lambda other, one: one.merge(other), reversed(models))


@pytest.mark.parametrize(
    ("name", "k", "merge"),
    [
        ("identical", 1, in_turn),
        *((name, 2, in_turn) for name in SHARDS),
        *(
            pytest.param(name, 1, in_turn, marks=pytest.mark.long)
            for name in SHARDS
            if name != "identical"
        ),
        *((name, k, merge) for name in LONGER for k in [2] for merge in (in_a_tree, last_first)),
    ],
)
def test_a_merged_sketch_has_the_second_moment_of_all_rows(name, k, merge):
    shards = SHARDS[name]
    draws, traces = [], []
    for seed in range(SEEDS):
        model = SupervisedRandomProjection(k, random_state=seed)
        sketch = merge([clone(model).partial_fit(rows) for rows in shards]).moments_.sketch
        U = sketch.comoment[:, :k] / np.sqrt(sketch.weight)
        draws.append(U @ U.T)
        traces.append(np.trace(draws[-1]))
    truth = np.cov(np.vstack(shards), rowvar=False, bias=True)
    error = np.abs(np.mean(draws, axis=0) - truth)
    assert (error < 5 * np.std(draws, axis=0) / np.sqrt(SEEDS) + 1e-12).all()
    assert np.mean(traces) == pytest.approx(np.trace(truth), abs=5 * np.std(traces) / SEEDS**0.5)
    # Shards that are alike neither cancel nor add up in all columns.
    assert np.min(traces) > 1e-6 * np.trace(truth)
    assert np.std(traces) < 2.5 * np.trace(truth)


@pytest.mark.parametrize("k", [1, 2])
def test_merged_rows_of_the_exact_kernel_have_vectors_of_their_own(k):
    half, draws = X[:20], []
    for seed in range(SEEDS):
        model = KernelSupervisedRandomProjection(
            k, kernel="linear", approximation="exact", random_state=seed
        )
        merged = clone(model).partial_fit(half).merge(clone(model).partial_fit(half))
        Z = merged.transform(half)
        draws.append(Z @ Z.T)
    centred = half - half.mean(axis=0)
    truth = centred @ np.cov(half, rowvar=False, bias=True) @ centred.T
    error = np.abs(np.mean(draws, axis=0) - truth)
    assert (error < 5 * np.std(draws, axis=0) / np.sqrt(SEEDS)).all()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_merging_identical_shards_loses_no_component(k):
    for seed in range(50):
        model = SupervisedRandomProjection(k, random_state=seed)
        merged = clone(model).fit(X).merge(clone(model).fit(X))
        assert np.linalg.matrix_rank(merged.components_) == k


def in_batches(model, X, y, size):
    for i in range(0, len(X), size):
        model.partial_fit(X[i : i + size], y[i : i + size])


ROUTES = {
    "rows one by one": lambda m, X, y: in_batches(m, X, y, 1),
    "batches of 7": lambda m, X, y: in_batches(m, X, y, 7),
    "a stream": lambda m, X, y: labelens.fit(
        m, [(X[i : i + 100], y[i : i + 100]) for i in range(0, len(X), 100)]
    ),
    "CSR": lambda m, X, y: m.fit(sparse.csr_matrix(X), y),
    "float32": lambda m, X, y: m.fit(X.astype(np.float32), y),
    "again": lambda m, X, y: m.fit(X, y),
}


@pytest.mark.parametrize("method", [SupervisedRandomProjection, KernelSupervisedRandomProjection])
@pytest.mark.parametrize("route", ROUTES)
def test_the_same_rows_give_the_same_model_by_every_route(route, method):
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(150, 4)).astype(np.float32).astype(np.float64)
    y = np.arange(150) % 3
    model = method(2, target_weight=0.5, random_state=0)
    if method is KernelSupervisedRandomProjection:
        model.set_params(gamma=0.1, n_random_features=16)
    other = clone(model)
    ROUTES[route](other, rows, y)
    whole = clone(model).fit(rows, y).components_
    size = 1e-5 if route == "float32" and other._kernelised else 1e-12
    np.testing.assert_allclose(other.components_, whole, rtol=0, atol=size * np.abs(whole).max())


def test_vectors_are_numbered_by_seed_and_row():
    noise = Unlabelled.of(4, seed=0)
    whole = noise.vectors(0, 50, None)
    np.testing.assert_array_equal(
        whole, np.vstack([noise.vectors(0, 20, None), noise.vectors(20, 50, None)])
    )
    np.testing.assert_array_equal(noise.after(20).vectors(0, 30, None), whole[20:])
    other = Unlabelled.of(4, seed=1).vectors(0, 50, None)
    assert abs(np.corrcoef(whole.ravel(), other.ravel())[0, 1]) < 0.3
    weight = np.random.default_rng(0).uniform(1, 2, 50)
    np.testing.assert_allclose(noise.vectors(0, 50, weight) * np.sqrt(weight)[:, None], whole)


def test_rotations_are_proper_and_named_by_both_counts():
    noise = Unlabelled.of(3, seed=0)
    Q = noise.rotation(5, 7)
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(Q) == pytest.approx(1)
    np.testing.assert_array_equal(noise.rotation(5, 7), Q)
    assert not np.allclose(noise.rotation(7, 5), Q)
    mean = np.mean([Unlabelled.of(3, seed=s).rotation(5, 7) for s in range(2000)], axis=0)
    assert np.abs(mean).max() < 5 / np.sqrt(3 * 2000)
