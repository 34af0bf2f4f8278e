"""HSIC against equation (1), its test against the uniform distribution, and the small scores."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import kstest
from sklearn.datasets import load_iris
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import oracles
from labelens import hsic, hsic_test, knn_score, subspace_distance
from labelens._judge import metrics
from labelens.label_kernels import Cyclic, Precomputed, Ranked, Sliced

GAMMA = 0.2
KERNELS = {
    "rbf": lambda X: rbf_kernel(X, gamma=GAMMA),
    "laplacian": lambda X: laplacian_kernel(X, gamma=GAMMA),
    "matern": lambda X: Matern(length_scale=1 / np.sqrt(2 * GAMMA), nu=1.5)(X),
    "polynomial": lambda X: polynomial_kernel(X, gamma=GAMMA),
    "linear": linear_kernel,
}
LABELS = {
    "classes": (lambda X: (X[:, 0] > 0).astype(int), oracles.delta_kernel),
    "strings": (lambda X: np.where(X[:, 0] > 0, "a", "b"), oracles.delta_kernel),
    "continuous": (lambda X: X[:, 0] ** 2, lambda y: rbf_kernel(y[:, None], gamma=1 / y.var())),
    "two continuous": (lambda X: X[:, :2] ** 2, lambda y: rbf_kernel(y, gamma=1 / (2 * y.var()))),
    "multilabel": (lambda X: (X[:, :2] > 0).astype(int), lambda y: y @ y.T),
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_hsic_is_equation_1(rng, monkeypatch, kernel, labels):
    monkeypatch.setattr(metrics, "TILE", 64)  # several tiles, the last one not full
    X = rng.normal(size=(150, 3))
    make, label_kernel = LABELS[labels]
    y = make(X)
    truth = oracles.hsic(KERNELS[kernel](X), label_kernel(y))
    assert hsic(X, y, kernel=kernel, gamma=GAMMA) == pytest.approx(truth, rel=1e-10)
    found = hsic(sparse.csr_matrix(X), y, kernel=kernel, gamma=GAMMA)
    assert found == pytest.approx(truth, rel=1e-9)


def test_hsic_does_not_see_an_offset(rng):
    X = np.round(rng.normal(size=(100, 3)) * 2**20) / 2**20
    y = np.arange(100) % 2
    for kernel in ("rbf", "linear"):
        near, far = (hsic(A, y, kernel=kernel, gamma=GAMMA) for A in (X, X + 1e8))
        assert far == pytest.approx(near, rel=1e-7)


def test_random_features_estimate_hsic(rng):
    X = rng.normal(size=(200, 3))
    y = X[:, 0] > 0
    truth = hsic(X, y, gamma=GAMMA)
    for approximation in ("orthogonal", "fourier", "fastfood", "nystroem"):
        found = [
            hsic(X, y, gamma=GAMMA, approximation=approximation, random_state=s) for s in range(5)
        ]
        assert np.mean(found) == pytest.approx(truth, rel=0.1)


@pytest.mark.parametrize(
    ("approximation", "labels"),
    [
        ("exact", "classes"),
        ("orthogonal", "continuous"),
        pytest.param("exact", "continuous", marks=pytest.mark.long),
        pytest.param("orthogonal", "classes", marks=pytest.mark.long),
    ],
)
def test_p_values_are_uniform_on_independent_data(approximation, labels):
    values = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(25, 2))
        y = rng.normal(size=25) if labels == "continuous" else rng.integers(0, 3, 25)
        outcome = hsic_test(
            X, y, n_permutations=99, approximation=approximation, n_random_features=64,
            random_state=seed,
        )  # fmt: skip
        values.append(outcome.pvalue)
    values = np.array(values)
    jittered = values - np.random.default_rng(0).uniform(size=300) / 100  # p lives on a grid
    assert kstest(jittered, "uniform").pvalue > 1e-3


def test_the_test_has_power(rng):
    X = rng.normal(size=(80, 2))
    outcome = hsic_test(X, np.abs(X[:, 0]) > 0.7, n_permutations=199, random_state=0)
    assert outcome.pvalue == 1 / 200
    assert outcome.statistic > outcome.null.max()
    again = hsic_test(X, np.abs(X[:, 0]) > 0.7, n_permutations=199, random_state=0)
    np.testing.assert_array_equal(again.null, outcome.null)


def test_knn_score_is_scikit_learns(rng):
    X = rng.normal(size=(90, 3))
    y, v = np.where(X[:, 0] > 0, "yes", "no"), X[:, 0] + 0.1 * rng.normal(size=90)
    classes = KNeighborsClassifier(1).fit(X[:60], y[:60]).score(X[60:], y[60:])
    assert knn_score(X[:60], y[:60], X[60:], y[60:]) == classes
    numbers = KNeighborsRegressor(3).fit(X[:60], v[:60]).score(X[60:], v[60:])
    assert knn_score(X[:60], v[:60], X[60:], v[60:], n_neighbors=3) == numbers


def test_subspace_distance(rng):
    basis = rng.normal(size=(2, 6))
    mixed = rng.normal(size=(2, 2)) @ basis
    assert subspace_distance(basis, mixed) < 1e-14
    tilted = np.eye(2, 6)
    tilted[1, 2] = np.tan(0.3)
    assert subspace_distance(np.eye(2, 6), tilted) == pytest.approx(np.sin(0.3))
    assert subspace_distance(np.eye(2, 6), np.eye(1, 6)) == 1.0
    assert subspace_distance(np.eye(2, 6), np.vstack([np.eye(2, 6), np.zeros((1, 6))])) < 1e-15
    with pytest.raises(ValueError, match="6 and 5 columns"):
        subspace_distance(np.eye(2, 6), np.eye(2, 5))


@pytest.mark.parametrize(
    ("kernel", "similarity"),
    [
        ("ordinal", lambda a, b: min(a, b)),
        (Cyclic(period=6), lambda a, b: np.cos(np.pi * (a - b) / 6) ** 4),
        (Sliced(edges=[0, 2]), lambda a, b: "011222"[a] == "011222"[b]),
        (Ranked(quantiles=range(6)), lambda a, b: np.exp(-12 * (a / 5 - b / 5) ** 2)),
        (Precomputed(np.eye(6) + 0.5), lambda a, b: (a == b) + 0.5),
    ],
)
def test_hsic_of_labels_that_are_alike_is_the_formula(rng, kernel, similarity):
    y = rng.integers(0, 6, 60)
    X = y[:, None] + rng.normal(size=(60, 2))
    K = rbf_kernel(X, gamma=0.3)
    L = np.array([[similarity(a, b) for b in y] for a in y])
    H = np.eye(60) - 1 / 60
    expected = np.trace(K @ H @ L @ H) / 59**2
    assert hsic(X, y, gamma=0.3, label_kernel=kernel) == pytest.approx(expected, rel=1e-10)


def test_knn_score_reads_both_sides_alike():
    """Whole numbers in a column of objects, as pandas has them, are whole numbers on both sides."""
    X, y = load_iris(return_X_y=True)
    objects = y.astype(object)
    for known, asked in ((objects, objects), (y, objects), (objects, y)):
        assert knn_score(X, known, X, asked) == 1


def test_subspace_distance_wants_matrices():
    with pytest.raises(ValueError, match=r"shape \(n_components, n_features\).*got shape \(2,\)"):
        subspace_distance([1.0, 0.0], [[0.0, 1.0]])
