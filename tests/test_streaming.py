"""Batches, orders, merges and threads: what may change the last digits, and what no bit at all."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from conftest import read_only
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    subspace_distance,
)
from labelens._fit.recipe import BLOCK_ROWS

LINEAR = [SupervisedPCA(2), SupervisedRandomProjection(2, random_state=0)]
ALL = [
    *LINEAR,
    SupervisedPCA(2, target_weight=0.5, shrinkage=0.1, scale="minmax"),
    SupervisedRandomProjection(2, target_weight=0.5, label_map="gaussian", random_state=0),
    SupervisedRandomProjection(2, label_map="fourier", scale="standard", random_state=0),
    KernelSupervisedPCA(2, gamma=0.1, n_random_features=64, random_state=0),
    KernelSupervisedPCA(2, gamma=0.1, n_random_features=65, shrinkage="auto", random_state=0),
    KernelSupervisedRandomProjection(
        2, gamma=0.1, n_random_features=64, approximation="fastfood", random_state=0
    ),
]
EXACT = [
    KernelSupervisedPCA(2, gamma=0.1, approximation="exact"),
    KernelSupervisedRandomProjection(2, gamma=0.1, approximation="exact", random_state=0),
]


def stream(rng, n=5 * BLOCK_ROWS + 100, d=6):
    y = rng.integers(0, 4, n)
    X = rng.normal(size=(n, d)) + np.eye(4, d)[y] * [3, 2, 1.5, 1, 1, 1]
    return read_only(X, y)


def batches(X, y, sizes):
    start = 0
    for size in sizes:
        yield X[start : start + size], y[start : start + size]
        start += size


def relative_error(found, true):
    return np.abs(found - true).max() / np.abs(true).max()


@pytest.mark.parametrize("schedules", [9, pytest.param(63, marks=pytest.mark.long)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
# float32 steps by 64 at 1e9: half-way between two of its numbers, so that rows still differ.
@pytest.mark.parametrize("offset", [1, 1e3, 1e6, 1e9 + 32])
@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_any_split_order_and_merge_tree(rng, model, offset, dtype, schedules):
    """63 random schedules for each of 16 combinations: 1008 in all."""
    y = rng.integers(0, 4, 600)
    X = (rng.normal(size=(600, 5)) + np.eye(4, 5)[y] * [4, 3, 2, 1, 0] + offset).astype(dtype)
    read_only(X, y)
    whole = clone(model).fit(X.astype(np.float64), y).components_
    worst = 0.0
    for _ in range(schedules):
        order = rng.permutation(600)
        cuts = np.sort(rng.choice(np.arange(1, 600), rng.integers(1, 12), replace=False))
        parts = []
        for rows in np.split(order, cuts):
            part = clone(model)
            for some in np.array_split(rows, rng.integers(1, 4)):
                if len(some):
                    part.partial_fit(X[some], y[some])
            parts.append(part)
        while len(parts) > 1:
            i, j = rng.choice(len(parts), 2, replace=False)
            parts[i].merge(parts[j])
            del parts[j]
        worst = max(worst, relative_error(parts[0].components_, whole))
    assert worst <= 1e-13


@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_a_constant_of_1e8_changes_nothing(rng, model):
    # On a grid that 1e8 + X can be written down on, so that the data itself is the same.
    y = rng.integers(0, 4, 500)
    X = np.round((rng.normal(size=(500, 6)) + np.eye(4, 6)[y] * 2) * 2**20) / 2**20
    near = clone(model).fit(X, y)
    far = clone(model).fit(X + 1e8, y)
    assert subspace_distance(near.components_, far.components_) <= 1e-12
    np.testing.assert_allclose(far.transform(X + 1e8), near.transform(X), atol=1e-11)
    # For the record: what the usual one-pass covariance does there.
    pca = [PCA(2, svd_solver="covariance_eigh").fit(A).components_ for A in (X, X + 1e8)]
    assert subspace_distance(*pca) > 1e-3


@pytest.mark.parametrize("model", ALL + EXACT, ids=repr)
def test_partial_fits_on_the_grid_are_fit_bit_for_bit(rng, model):
    X, y = stream(rng)
    whole = clone(model).fit(X, y)
    parts = clone(model)
    for batch in batches(X, y, [2 * BLOCK_ROWS, BLOCK_ROWS, 2 * BLOCK_ROWS, 100]):
        parts.partial_fit(*batch)
    np.testing.assert_array_equal(parts.transform(X), whole.transform(X))
    np.testing.assert_array_equal(parts.singular_values_, whole.singular_values_)


@pytest.mark.parametrize("model", ALL + EXACT, ids=repr)
def test_batch_size_on_the_grid_changes_no_bit(rng, model):
    X, y = stream(rng)
    whole = clone(model).fit(X, y).transform(X)
    for blocks in (1, 3):
        found = clone(model).set_params(batch_size=blocks * BLOCK_ROWS).fit(X, y).transform(X)
        np.testing.assert_array_equal(found, whole)
    small = clone(model).set_params(batch_size=100).fit(X, y).transform(X)
    np.testing.assert_allclose(small, whole, atol=1e-9)


@pytest.mark.parametrize("model", ALL + EXACT, ids=repr)
def test_threads_change_no_bit(rng, model):
    X, y = stream(rng)
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads, user_api="blas"):
            found.append(clone(model).fit(X, y).transform(X))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_layout_changes_no_bit(rng, model, tmp_path):
    X, y = stream(rng)
    truth = clone(model).fit(X, y)
    mapped = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    wide = np.zeros((2 * len(X), 12))
    wide[::2, ::2] = X
    for same in (np.asfortranarray(X), mapped, wide[::2, ::2]):
        np.testing.assert_array_equal(clone(model).fit(same, y).components_, truth.components_)


@pytest.mark.parametrize("model", [m for m in ALL if m.target_weight == 1] + EXACT, ids=repr)
def test_merge_is_a_fit_on_all_rows(rng, model):
    X, y = stream(rng, n=500)
    if model.scale is not None or model.shrinkage == "auto":
        model = clone(model).set_params(scale=None)
    first, second = clone(model).fit(X[:200], y[:200]), clone(model).fit(X[200:], y[200:])
    whole = clone(model).fit(X, y)
    merged = first.merge(second)
    assert merged is first
    np.testing.assert_allclose(merged.transform(X), whole.transform(X), atol=1e-9)
    assert merged.n_samples_seen_ == 500
    np.testing.assert_array_equal(merged.classes_, whole.classes_)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (dict(n_components=3), "n_components is 2 and 3"),
        (dict(random_state=1), "feature maps differ"),
        (dict(gamma=0.2), "feature maps differ"),
        (dict(shrinkage=0.5), "shrinkage is 1.0 and 0.5"),
    ],
)
def test_merge_refuses_what_does_not_fit(rng, change, reason):
    X, y = stream(rng, n=100)
    model = KernelSupervisedPCA(2, gamma=0.1, n_random_features=16, random_state=0).fit(X, y)
    other = clone(model).set_params(**change).fit(X, y)
    before = model.transform(X)
    with pytest.raises(ValueError, match=reason):
        model.merge(other)
    np.testing.assert_array_equal(model.transform(X), before)


def test_merge_refuses_other_labels_and_methods(rng):
    X, y = stream(rng, n=100)
    model = SupervisedPCA(2).fit(X, y)
    with pytest.raises(ValueError, match="one is a SupervisedPCA, the other a Supervised"):
        model.merge(SupervisedRandomProjection(2).fit(X, y))
    with pytest.raises(ValueError, match="n_features_in_ is 6 and 5"):
        model.merge(SupervisedPCA(2).fit(X[:, :5], y))
    with pytest.raises(ValueError, match="label maps differ"):
        model.merge(SupervisedPCA(2).fit(X, y.astype(str)))


def test_new_classes_in_any_batch(rng):
    X, y = stream(rng, n=400)
    names = np.array(["delta", "alpha", "charlie", "bravo"])[y]
    for model in ALL[:5] + EXACT:
        model = clone(model)
        order = np.argsort(y, kind="stable")
        for rows in np.array_split(order, 7):
            model.partial_fit(X[rows], names[rows])
        if getattr(model, "label_map", None) != "gaussian":
            assert list(model.classes_) == ["alpha", "bravo", "charlie", "delta"]
        whole = clone(model).fit(X[order], names[order])
        np.testing.assert_allclose(model.transform(X), whole.transform(X), atol=1e-9)


def test_one_row_at_a_time_costs_one_solve(rng, monkeypatch):
    import labelens._fit.fitted

    X, y = stream(rng, n=300)
    solves = []
    solve = labelens._fit.fitted.solve
    monkeypatch.setattr(labelens._fit.fitted, "solve", lambda *a: solves.append(1) or solve(*a))
    model = SupervisedPCA(2)
    for row in range(300):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    assert not solves
    assert relative_error(model.components_, SupervisedPCA(2).fit(X, y).components_) < 1e-12
    model.transform(X), model.dependence_, model.mean_
    assert len(solves) == 2  # one of them the fit above


def test_one_class_is_enough_for_partial_fit_but_not_for_transform(rng):
    X, _ = stream(rng, n=50)
    model = SupervisedPCA(1).partial_fit(X, np.zeros(50, dtype=int))
    with pytest.raises(ValueError, match="a single class, 0"):
        model.transform(X)
    model.partial_fit(X + 1, np.ones(50, dtype=int)).transform(X)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize(
    "model", [*ALL[:5], KernelSupervisedPCA(2, gamma=0.1, random_state=0), *EXACT], ids=repr
)
def test_sparse_is_dense(rng, model, kind):
    X = sparse.random(400, 30, density=0.1, format="csr", random_state=0)
    y = np.asarray(X[:, :4].argmax(axis=1)).ravel()
    y[:2] = 0, 1
    S = kind(X)
    dense = clone(model).fit(X.toarray(), y)
    found = clone(model).fit(S, y)
    np.testing.assert_allclose(found.transform(S), dense.transform(X.toarray()), atol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parts = clone(model).partial_fit(X[:128], y[:128]).partial_fit(X[128:], y[128:])
        parts.transform(S)


def test_sparse_is_never_densified():
    """A dense X would take 64 GB, a dense block of it 16."""
    places = (np.arange(40_000) // 10, np.random.default_rng(0).integers(0, 2_000_000, 40_000))
    X = sparse.csr_matrix((np.ones(40_000), places), shape=(4000, 2_000_000))
    y = np.arange(4000) % 3
    model = SupervisedRandomProjection(2, random_state=0, target_weight=0.9)
    assert model.partial_fit(X[:2000], y[:2000]).fit(X, y).transform(X).shape == (4000, 2)
