"""Ranks: components made of rounding are none, and small components are real."""

import warnings

import numpy as np
import pytest

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens._base.rounding import lengths, norm
from labelens.label_kernels import Precomputed

SETS = 25


def ranks(model, draw):
    """The ranks that the model finds in SETS data sets."""
    found = set()
    for seed in range(SETS):
        X, y = draw(np.random.default_rng(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fitted = model.fit(X, y)
            values = fitted.singular_values_
        found.add(int((values > 0).sum()))
    return found


def duplicated_classes(rng, offset=3.0, dtype=np.float64):
    """Two columns of y that are the same: 3 classes, rank 2, and a rank limit of 4."""
    n = int(rng.integers(20, 400))
    y = np.append(np.arange(3), rng.integers(0, 3, n - 3))
    X = rng.normal(size=(n, int(rng.integers(4, 9)))) + offset
    return X.astype(dtype), np.column_stack([y, y])


def collinear(rng, offset=3.0):
    """Rows in a plane, and six classes."""
    n = int(rng.integers(20, 400))
    y = np.append(np.arange(6), rng.integers(0, 6, n - 6))
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, int(rng.integers(4, 9)))) + offset, y


def on_a_line(rng, p=None, offset=0.0):
    """Rows of rank one, without labels."""
    n, p = int(rng.integers(5, 200)), p or int(rng.integers(2, 8))
    return np.outer(rng.normal(size=n), rng.normal(size=p)) + offset, None


SPECTRAL = [
    {},
    {"shrinkage": 0.5},
    {"shrinkage": 1e-6},
    {"shrinkage": 0},
    {"scale": "standard"},
]
METHODS = [(SupervisedPCA, p) for p in SPECTRAL] + [
    (SupervisedRandomProjection, {"random_state": 0, **p}) for p in SPECTRAL
]


@pytest.mark.parametrize("offset", [0.0, 3.0, 1e5])
@pytest.mark.parametrize(("method", "parameters"), METHODS)
def test_duplicated_columns_of_classes_add_no_component(method, parameters, offset):
    model = method(4, label_kernel="delta", **parameters)
    assert ranks(model, lambda rng: duplicated_classes(rng, offset)) == {2}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "method", [KernelSupervisedPCA, KernelSupervisedRandomProjection], ids=["spectral", "random"]
)
def test_tiles_of_the_exact_kernel_err_in_the_dtype_of_the_rows(method, dtype):
    model = method(4, label_kernel="delta", gamma=0.1, approximation="exact", random_state=0)
    assert ranks(model, lambda rng: duplicated_classes(rng, dtype=dtype)) == {2}


@pytest.mark.parametrize("target_weight", [1.0, 0.5])
@pytest.mark.parametrize(("method", "parameters"), METHODS)
def test_rows_in_a_plane_have_two_components(method, parameters, target_weight):
    model = method(4, target_weight=target_weight, **parameters)
    assert ranks(model, collinear) == {2}


@pytest.mark.parametrize("p", [2, None, 300])
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("shrinkage", [1, 0.5, 1e-6])
def test_pca_of_rows_on_a_line_has_one_component(shrinkage, offset, p):
    model = SupervisedPCA(2, shrinkage=shrinkage)
    assert ranks(model, lambda rng: on_a_line(rng, p, offset)) == {1}


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_randomized_pca_of_rows_on_a_line_has_one_component(offset):
    model = SupervisedRandomProjection(2, random_state=0)
    assert ranks(model, lambda rng: on_a_line(rng, 2, offset)) == {1}


def test_labels_that_only_rounding_relates_to_rows_have_no_weight(rng):
    """Every row is in both classes, so C_xy is rounding; A(t) must not scale that up."""
    rows = rng.normal(size=(61, 4)) * [5, 3, 2, 1] + 7
    X, y = np.vstack([rows, rows[rng.permutation(61)]]), np.repeat([0, 1], 61)
    found = SupervisedPCA(4, target_weight=0.9).fit(X, y)
    alone = SupervisedPCA(4).fit(X)
    np.testing.assert_allclose(found.components_, alone.components_, atol=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_similar_classes_have_no_more_dimensions_than_classes_less_one(seed):
    """U U^T is C_xy S C_xy^T for every seed: H S H has rank 2, and R is orthogonal."""
    rng = np.random.default_rng(seed)
    similarity = np.array([[1, 0, 0], [0, 1, 0.4], [0, 0.4, 1]])
    y = np.append(np.arange(3), rng.integers(0, 3, 60))
    X = rng.normal(size=(63, 4)) + rng.normal(size=(3, 4))[y]
    model = SupervisedRandomProjection(
        2, label_kernel=Precomputed(similarity, [0, 1, 2]), random_state=seed
    )
    U = model.fit(X, y).components_.T
    cross = (X - X.mean(axis=0)).T @ np.eye(3)[y] / 63
    np.testing.assert_allclose(U @ U.T, cross @ similarity @ cross.T, atol=1e-12)


# Small components are real ----------------------------------------------------------------------


@pytest.mark.parametrize("method", [SupervisedPCA, SupervisedRandomProjection])
def test_a_small_component_of_the_class_means_survives(rng, method):
    y = np.arange(3000) % 3
    X = rng.normal(size=(3000, 6)) * [1, 1e-9, 1, 1, 1, 1]
    for j in range(6):  # means of classes are what is set below, and nothing else
        X[:, j] -= np.array([X[y == c, j].mean() for c in range(3)])[y]
    X[:, 0] += np.array([1.0, -1.0, 0.0])[y]
    X[:, 1] += 1e-9 * np.array([1.0, 1.0, -2.0])[y]
    values = method(2).fit(X, y).singular_values_
    assert values[1] / values[0] == pytest.approx(np.sqrt(3) * 1e-9, rel=2)
    assert values[1] > 0


@pytest.mark.parametrize("shrinkage", [1.0, 0.1])
def test_a_small_component_of_the_variance_survives(rng, shrinkage):
    """C_xx has the squares: 1e-6 of the standard deviation is 1e-12 of it."""
    X = (
        rng.normal(size=(5000, 20))
        * np.r_[np.ones(19), 1e-6]
        @ np.linalg.qr(rng.normal(size=(20, 20)))[0]
    )
    assert SupervisedPCA(20, shrinkage=shrinkage).fit(X).singular_values_[-1] > 0


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1.0, 1e170, 1e300])
def test_norms_of_the_very_large_and_small(rng, scale):
    matrix = rng.normal(size=(30, 4))
    matrix[3] = 0
    assert norm(matrix * scale) == pytest.approx(np.linalg.norm(matrix) * scale, rel=1e-12)
    found = lengths(matrix * scale)
    np.testing.assert_allclose(found, np.linalg.norm(matrix, axis=1) * scale, rtol=1e-12)
    assert norm(matrix * 0) == 0
