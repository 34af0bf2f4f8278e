"""Class vectors that are well apart: known optima, random codes, and what they do for SRP."""

import itertools
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedRandomProjection,
    knn_score,
    subspace_distance,
)
from labelens._base.threads import one_blas_thread
from labelens._core.labels import sphere
from labelens._core.labels.sphere import class_code, repelled


def smallest_angle(code):
    cosines = code @ code.T
    np.fill_diagonal(cosines, -1)
    return np.degrees(np.arccos(np.clip(cosines.max(), -1, 1)))


# The largest smallest angle of c points on the sphere in k dimensions (the Tammes problem:
# N. J. A. Sloane's tables of spherical codes). Local optima lie a few percent below.
OPTIMA = [
    (6, 3, 90.0, 0.99),  # octahedron
    (12, 3, 63.435, 0.99),  # icosahedron
    (10, 3, 66.147, 0.97),
    (24, 3, 43.691, 0.9),
    (8, 4, 90.0, 0.99),
    (16, 5, 78.463, 0.93),
]


@pytest.mark.parametrize(("c", "k", "optimum", "share"), OPTIMA)
def test_repulsion_comes_close_to_the_best_codes(rng, c, k, optimum, share):
    for _ in range(5):
        code = repelled(rng.normal(size=(c, k)))
        np.testing.assert_allclose(np.linalg.norm(code, axis=1), 1)
        assert share * optimum <= smallest_angle(code) <= optimum + 1e-3


@pytest.mark.parametrize("k", [2, 3, 5])
def test_codes_are_further_apart_than_random_ones(rng, k):
    for c in (8, 40, 150):
        found = smallest_angle(class_code(rng.normal(size=(c, 20)), k))
        drawn = [rng.normal(size=(c, k)) for _ in range(50)]
        random = [smallest_angle(v / np.linalg.norm(v, axis=1, keepdims=True)) for v in drawn]
        assert found > 1.5 * max(random)


def test_a_polygon_in_the_order_of_the_means(rng):
    place = rng.permutation(12)
    around = 2 * np.pi * place / 12
    means = np.column_stack([np.cos(around), np.sin(around)]) @ rng.normal(size=(2, 5))
    code = class_code(means, 2)
    turn = np.angle(code @ [1, 1j]) * 12 / (2 * np.pi)
    steps = np.diff(np.round(turn[np.argsort(place)]))
    assert set(np.mod(steps, 12)) in ({1.0}, {11.0})


def test_one_dimension_is_a_line_in_the_order_of_the_means(rng):
    place = rng.permutation(9)
    code = class_code(np.outer(place, rng.normal(size=4)), 1)[:, 0]
    np.testing.assert_allclose(np.sort(code), np.linspace(-1, 1, 9), atol=1e-15)
    assert abs(np.corrcoef(code, place)[0, 1]) == pytest.approx(1)


def test_near_means_are_near_on_the_sphere(rng):
    """Five groups of four classes: those of one group stay in one region."""
    group = rng.permutation(np.repeat(np.arange(5), 4))
    means = rng.normal(size=(5, 30))[group] * 4 + rng.normal(size=(20, 30)) * 0.5
    code = class_code(means, 3)
    cosines, same = code @ code.T, group == group[:, None]
    np.fill_diagonal(same, False)
    assert cosines[same].mean() > 0.4
    assert cosines[group != group[:, None]].mean() < 0


@pytest.mark.parametrize("k", [2, 3])
def test_classes_with_the_same_mean_part_all_the_same(k):
    code = class_code(np.zeros((7, 4)), k)
    np.testing.assert_allclose(np.linalg.norm(code, axis=1), 1)
    assert smallest_angle(code) > (51 if k == 2 else 70)  # optimum for 7: 51.4 and 77.9


@pytest.mark.parametrize("half", [0, 64], ids=["the same", "opposite"])
def test_means_whose_sums_cancel_to_the_last_bit(rng, half):
    """So they do where rows are counts; an iteration must not begin with their sum."""
    means = rng.integers(-8, 9, size=(half, 500)).astype(float)
    means = np.vstack([means, -means]) if half else np.ones((100, 500))
    found = sphere._leading(means, 3)
    left, values, _ = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
    wanted = left[:, :3] * values[:3]
    np.testing.assert_allclose(np.abs(found), np.abs(wanted), atol=1e-9 * (1 + values[0]))
    assert smallest_angle(class_code(means, 3)) > 5


def corners(*sizes):
    return np.array(list(itertools.product(*map(range, sizes))), dtype=float)


TIES = {
    "none": np.random.default_rng(3).normal(size=(12, 20)),
    "corners of a simplex": 3.3 * np.eye(9),
    "corners of a wide simplex": np.eye(80),
    "corners of a cube": corners(2, 2, 2),
    "a lattice": 0.1 * corners(3, 3, 3),
    "a polygon": np.exp(2j * np.pi * np.arange(8) / 8).view(float).reshape(8, 2),
    "a line, one class in the centre": np.outer(np.arange(7.0) - 3, [1, 2, 3]),
    "opposite": np.vstack([np.eye(4), -np.eye(4)]),
    "the same two by two": np.repeat(np.random.default_rng(4).normal(size=(4, 5)), 2, axis=0),
    "far from one": np.vstack([np.random.default_rng(5).normal(size=(8, 5)), np.full(5, 1e7)]),
}


@pytest.mark.parametrize("times", [10, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("name", TIES)
def test_rounding_does_not_decide(rng, name, k, times):
    """The last bit of the means, and the basis they are in, change no bit of the code."""
    means = TIES[name]
    code = class_code(means, k)
    for _ in range(times if len(means) < 50 else 3):
        noise = 1e-15 * np.abs(means).max() * rng.normal(size=means.shape)
        turn = np.linalg.qr(rng.normal(size=(means.shape[1],) * 2))[0]
        np.testing.assert_array_equal(class_code(means + noise, k), code)
        np.testing.assert_array_equal(class_code((means + noise) @ turn, k), code)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_order_of_rows_does_not_decide(rng, k):
    """The class means are the corners of a simplex, up to the rounding of their sums."""
    y = np.arange(240) % 8
    X = 0.7 * np.eye(8)[y] + np.repeat(rng.normal(size=(30, 8)), 8, axis=0)
    model = SupervisedRandomProjection(k, label_map="spread").fit(X, y)
    for _ in range(20):
        order = rng.permutation(240)
        found = clone(model).fit(X[order], y[order]).components_
        np.testing.assert_allclose(found, model.components_, atol=1e-13)


@pytest.mark.long
def test_thousands_of_classes_take_seconds(rng):
    means = rng.normal(size=(3000, 50))
    start = time.process_time()  # of all threads, whatever else the machine does
    with one_blas_thread():  # as solving does
        code = class_code(means, 3)
    assert time.process_time() - start < 30
    assert smallest_angle(code) > 1.5  # evenly spread they would be 3.6 degrees apart at most


def test_too_many_classes(monkeypatch, rng):
    monkeypatch.setattr(sphere, "MOST_CLASSES", 20)
    X, y = rng.normal(size=(90, 4)), np.arange(90) % 30
    model = SupervisedRandomProjection(2, label_map="spread")
    with pytest.raises(ValueError, match=r"20 classes at most .* there are 30; .*'orthogonal'"):
        model.fit(X, y)


@pytest.mark.parametrize("shift", [0, 2], ids=["few components", "as many as classes need"])
def test_nothing_about_it_is_random(rng, shift):
    y = rng.integers(0, 6, 300)
    X = rng.normal(size=(300, 8)) + rng.normal(size=(6, 8))[y] * 2
    model = SupervisedRandomProjection(3 + shift, label_map="spread")
    first, second = (clone(model).set_params(random_state=s).fit(X, y) for s in (0, 1))
    np.testing.assert_array_equal(first.components_, second.components_)
    assert first.dependence_.sum() > 0


def test_with_components_enough_it_loses_nothing(blobs):
    X, y = blobs
    spread = SupervisedRandomProjection(3, label_map="spread").fit(X, y).components_
    orthogonal = SupervisedRandomProjection(3, random_state=0).fit(X, y).components_
    assert subspace_distance(spread, orthogonal) < 1e-10
    np.testing.assert_allclose(spread.T @ spread, orthogonal.T @ orthogonal, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_components_are_the_cross_moment_times_the_code(rng, k):
    """Also where classes are of very different sizes: their means count, not their sums."""
    y = rng.choice(list("abcdef"), 600, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
    X = rng.normal(size=(600, 5)) + rng.normal(size=(6, 5))[np.unique(y, return_inverse=True)[1]]
    one_hot = (y[:, None] == np.unique(y)) * 1.0
    means = np.array([X[y == label].mean(axis=0) for label in np.unique(y)])
    cross = (X - X.mean(axis=0)).T @ one_hot / len(y)
    model = SupervisedRandomProjection(k, label_map="spread").fit(X, y)
    truth = cross @ class_code(means - X.mean(axis=0), k)
    np.testing.assert_allclose(model.components_.T, truth, atol=1e-9)


@pytest.mark.parametrize("kernel", [True, False])
def test_streams_and_merges(rng, kernel):
    y = rng.integers(0, 8, 600)
    X = rng.normal(size=(600, 6)) + rng.normal(size=(8, 6))[y] * 2
    model = SupervisedRandomProjection(3, label_map="spread")
    if kernel:
        model = KernelSupervisedRandomProjection(
            3, label_map="spread", gamma=0.1, n_random_features=64, shrinkage=0.01, random_state=0
        )
    whole = clone(model).fit(X, y).transform(X)
    order = np.argsort(y, kind="stable")  # a class at a time
    parts = clone(model)
    for some in np.array_split(order, 7):
        parts.partial_fit(X[some], y[some])
    np.testing.assert_allclose(parts.transform(X), whole, atol=1e-7 * np.abs(whole).max())
    merged = clone(model).fit(X[:250], y[:250]).merge(clone(model).fit(X[250:], y[250:]))
    np.testing.assert_allclose(merged.transform(X), whole, atol=1e-7 * np.abs(whole).max())


def test_exact_kernel_has_the_same_geometry(rng):
    y = rng.integers(0, 7, 200)
    X = rng.normal(size=(200, 6)) + rng.normal(size=(7, 6))[y] * 2
    linear = SupervisedRandomProjection(2, label_map="spread").fit(X, y).transform(X)
    exact = KernelSupervisedRandomProjection(
        2, label_map="spread", kernel="linear", approximation="exact"
    )
    np.testing.assert_allclose(exact.fit(X, y).transform(X), linear, atol=1e-10)


@pytest.mark.parametrize(
    ("labels", "kernel", "words"),
    [
        (lambda y: y + 0.5, "auto", "label_kernel is 'rbf'; use label_map='orthogonal'"),
        (lambda y: np.eye(6)[y], "auto", "label_kernel is 'linear'"),
        (lambda y: np.c_[y, y], "delta", "takes one column of classes, and y has 2"),
    ],
)
def test_only_classes_are_spread(rng, labels, kernel, words):
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 6
    with pytest.raises(ValueError, match=words):
        SupervisedRandomProjection(2, label_map="spread", label_kernel=kernel).fit(X, labels(y))


def test_digits_are_told_apart_better_than_by_random_vectors():
    """Held-out 1-NN in two dimensions: 0.84, four random seeds 0.73 to 0.80, KSPCA 0.71."""
    X, y = load_digits(return_X_y=True)

    def held_out(method, **parameters):
        model = method(2, gamma=2e-4, shrinkage=0.01, **parameters)
        Z = model.fit(X[:1200], y[:1200]).transform(X)
        return knn_score(Z[:1200], y[:1200], Z[1200:], y[1200:])

    method = KernelSupervisedRandomProjection
    spread = [held_out(method, label_map="spread", random_state=seed) for seed in range(3)]
    random = [held_out(method, random_state=seed) for seed in range(4)]
    spectral = held_out(KernelSupervisedPCA, random_state=0)
    assert min(spread) > max(*random, spectral) + 0.02
    assert min(spread) > np.mean(random) + 0.05
