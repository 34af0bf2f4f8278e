"""Data that is drawn, and how it is split."""

from hashlib import sha256

import numpy as np
import pytest

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    datasets,
    knn_score,
)
from labelens.datasets import make_spirals, make_xor, train_test_rows

DRAWN = pytest.mark.parametrize("make", [make_xor, make_spirals])


def test_public_names():
    assert datasets.__all__ == sorted(datasets.__all__)
    functions = {n for n in vars(datasets) if n.startswith(("load_", "make_", "train_"))}
    assert functions == set(datasets.__all__)


# Drawn ---------------------------------------------------------------------------------------


@DRAWN
@pytest.mark.parametrize(("n", "p"), [(500, 10), (5, 2), (6, 3), (7, 2)])
def test_shape_and_balance(make, n, p):
    X, y = make(n, p, random_state=0)
    assert X.shape == (n, p)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert sorted(np.bincount(y)) == [n // 2, n - n // 2]


@DRAWN
def test_defaults_are_the_paper(make):
    assert make()[0].shape == (500, 10)


@DRAWN
def test_seed_decides(make):
    X, y = make(random_state=3)
    again, labels = make(random_state=np.random.RandomState(3))
    assert (again == X).all()
    assert (y == labels).all()
    other, labels = make(random_state=4)
    assert not (other == X).any()
    assert not (y == labels).all()


@DRAWN
def test_classes_are_shuffled(make):
    _, y = make(random_state=0)
    assert 200 < (y[1:] != y[:-1]).sum() < 300


@DRAWN
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        (dict(n_samples=1), ValueError, "n_samples must be an integer >= "),
        (dict(n_samples=10.0), TypeError, "n_samples must be an integer"),
        (dict(n_features=1), ValueError, "n_features must be an integer >= 2"),
        (dict(noise=-0.1), ValueError, "noise must be a number >= 0"),
        (dict(noise=None), TypeError, "noise must be a number >= 0"),
    ],
)
def test_parameters_out_of_range(make, parameters, error, message):
    with pytest.raises(error, match=message):
        make(**parameters)


@DRAWN
@pytest.mark.parametrize("seed", range(5))
def test_other_columns_are_independent_of_the_class(make, seed):
    X, y = make(random_state=seed)
    # Means and mean absolute values of the classes: t statistics of 16 independent comparisons.
    for values in (X[:, 2:], np.abs(X[:, 2:])):
        first, second = values[y == 0], values[y == 1]
        t = (first.mean(0) - second.mean(0)) / np.sqrt(first.var(0) / 250 + second.var(0) / 250)
        assert (np.abs(t) < 4.5).all()
    products = np.corrcoef(np.column_stack([X, y]).T) - np.eye(11)
    assert np.abs(products[2:10]).max() < 0.22


def test_xor_is_the_exclusive_or_of_signs():
    X, y = make_xor(random_state=0)
    assert ((X[:, 0] > 0) != (X[:, 1] > 0)).tolist() == y.astype(bool).tolist()
    centre = np.sign(X[:, :2])
    assert np.unique(centre, axis=0, return_counts=True)[1].tolist() == [125] * 4
    assert np.std(X[:, :2] - centre) == pytest.approx(0.1, rel=0.1)
    assert np.abs(X[:, :2] - centre).mean(axis=0) == pytest.approx([0.08, 0.08], rel=0.15)
    # Neither column alone says anything.
    for column in X[:, :2].T:
        assert np.bincount(2 * y + (column > 0)).tolist() == [125] * 4


def test_noise_of_xor_is_as_wide_as_the_clusters():
    X, _ = make_xor(5000, 5, noise=0, random_state=0)
    assert (np.abs(X[:, :2]) == 1).all()
    assert np.abs(X[:, 2:]).max(axis=0) == pytest.approx(np.ones(3), abs=0.01)
    assert X[:, 2:].std(axis=0) == pytest.approx(np.full(3, 3**-0.5), rel=0.05)


def test_spirals_are_turned_by_half_a_turn():
    X, y = make_spirals(2000, 4, noise=0, random_state=0)
    assert not X[:, 2:].any()
    radius = np.hypot(X[:, 0], X[:, 1])
    assert 0.2 <= radius.min() < 0.25
    assert 0.98 < radius.max() <= 1
    # Each arm taken back by the angle that belongs to its radius is a ray: right, and left.
    angle = 2.5 * np.pi * (radius - 0.2) / 0.8
    along = X[:, 0] * np.cos(angle) + X[:, 1] * np.sin(angle)
    assert along == pytest.approx(radius * (1 - 2 * y))


def test_spirals_can_be_told_apart_in_their_plane_only():
    X, y = make_spirals(random_state=0)
    train, test = train_test_rows(500, 0)
    plane, noise = X[:, :2], X[:, 2:]
    assert knn_score(plane[train], y[train], plane[test], y[test]) > 0.98
    assert 0.35 < knn_score(noise[train], y[train], noise[test], y[test]) < 0.65
    assert noise.std() == pytest.approx(0.05, rel=0.05)


@pytest.mark.filterwarnings("ignore:.*component:UserWarning")
@pytest.mark.parametrize("seed", range(3))
def test_kernels_see_xor_and_lines_do_not(seed):
    X, y = make_xor(random_state=seed)
    train, test = train_test_rows(500, seed)

    def score(model):
        Z = model.fit(X[train], y[train]).transform(X)
        return knn_score(Z[train], y[train], Z[test], y[test])

    kernel = dict(n_components=2, gamma=1.4, scale="minmax", random_state=seed)
    assert 0.4 < score(SupervisedPCA(2, scale="minmax")) < 0.65
    assert score(KernelSupervisedPCA(approximation="exact", **kernel)) > 0.98
    assert score(KernelSupervisedRandomProjection(n_random_features=1000, **kernel)) > 0.95


# The split -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "n_train"), [(500, 350), (351, 245), (208, 145), (2, 1), (3, 2)])
def test_split_is_seventy_thirty(n, n_train):
    train, test = train_test_rows(n, 0)
    assert len(train) == n_train
    assert sorted([*train, *test]) == list(range(n))
    for rows in (train, test):
        assert rows.dtype == np.intp
        assert (np.diff(rows) > 0).all()


def test_split_is_frozen():
    assert train_test_rows(12, 7)[1].tolist() == [3, 4, 6, 9]
    train = train_test_rows(70000, np.int64(2**32 - 1))[0].astype("<i8")
    assert sha256(train.tobytes()).hexdigest()[:16] == "10c9d9f10c049daa"


def test_split_follows_the_seed():
    tests = {tuple(train_test_rows(100, seed)[1]) for seed in range(30)}
    assert len(tests) == 30


@pytest.mark.parametrize(
    ("n", "seed", "error", "name"),
    [(1, 0, ValueError, "n_rows"), (10, -1, ValueError, "seed"), (10, None, TypeError, "seed")],
)
def test_split_refuses(n, seed, error, name):
    with pytest.raises(error, match=f"{name} must be an integer >= "):
        train_test_rows(n, seed)
