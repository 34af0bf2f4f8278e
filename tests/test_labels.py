"""Label maps: exact factors of L, and random vectors that depend on label and seed alone."""

import datetime
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import kstest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import OneHotEncoder

from labelens._core.labels import choose_kernel, make_label_map
from labelens._core.labels.vocabulary import as_class_array, hashed_normals
from oracles import delta_kernel


def encoded(psi, y):
    return psi.encode(y, np.arange(y.shape[0]))


def label_map(y, kernel="auto", mixing=None, gamma=None, k=3, seed=0):
    return make_label_map(y, None, kernel, gamma, k, mixing, seed)


@pytest.mark.parametrize(
    ("y", "kernel"),
    [
        (np.array([1, 2, 2]), "delta"),
        (np.array(["a", "b"]), "delta"),
        (np.array([True, False]), "delta"),
        (np.array([1.0, 2.0]), "delta"),
        (np.array([2**70, 1], dtype=object), "delta"),
        (np.array([1.5, 2.0]), "rbf"),
        (np.array([[1.5, 2.0], [0.0, 1.0]]), "rbf"),
        (np.array([[0, 1], [1, 1]]), "linear"),
        (sparse.csr_matrix([[0, 1], [1, 1]]), "linear"),
        (np.array([[0, 2], [1, 1]]), "delta"),
    ],
)
def test_auto_rule(y, kernel):
    assert choose_kernel(y) == kernel
    assert label_map(y).kernel == kernel


@pytest.mark.parametrize("columns", [1, 3])
def test_one_hot_factors_the_delta_kernel(rng, columns):
    y = rng.integers(0, 4, size=(40, columns)).squeeze()
    psi = encoded(label_map(y, "delta"), y).dense()
    np.testing.assert_array_equal(psi @ psi.T, delta_kernel(y))


def test_fourier_labels_are_exact_for_one_column(rng):
    y = rng.standard_cauchy(200).clip(-40, 40)
    psi = encoded(label_map(y, "rbf", gamma=0.5), y).features
    assert np.abs(psi @ psi.T - rbf_kernel(y[:, None], gamma=0.5)).max() < 1e-12


def test_fourier_labels_are_unbiased_for_several_columns(rng):
    y = rng.normal(size=(5, 2))
    psis = [encoded(label_map(y, "rbf", gamma=0.5, seed=s), y).features for s in range(200)]
    draws = np.array([psi @ psi.T for psi in psis])
    error = np.abs(draws.mean(axis=0) - rbf_kernel(y, gamma=0.5))
    assert (error < 5 * draws.std(axis=0) / np.sqrt(200) + 1e-9).all()


def test_orthogonal_mixing_lives_in_the_complement_of_the_ones():
    y = np.arange(6)
    psi = label_map(y, mixing="orthogonal")
    classes = tuple(range(6))
    few, many = psi.mixing(classes, 6, 3), psi.mixing(classes, 6, 9)
    np.testing.assert_allclose(few.sum(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(few.T @ few, np.eye(3) * 5 / 3, atol=1e-14)
    np.testing.assert_allclose(many @ many.T, np.eye(6) - 1 / 6, atol=1e-14)


@pytest.mark.parametrize("kind", ["orthogonal", "gaussian"])
@pytest.mark.parametrize("kernel", ["delta", "linear"])
def test_mixing_is_an_unbiased_factor(kind, kernel):
    y = np.arange(4) if kernel == "delta" else np.eye(4)
    draws = []
    for seed in range(2000):
        psi = label_map(y, kernel, mixing=kind, k=2, seed=seed)
        right = encoded(psi, y)
        R = right.dense() @ psi.mixing(right.classes, right.dense().shape[1], 2)
        draws.append(R @ R.T)
    centred = np.eye(4) - 1 / 4
    draws = np.array([centred @ draw @ centred for draw in draws])
    error = np.abs(draws.mean(axis=0) - centred)
    assert (error < 5 * draws.std(axis=0) / np.sqrt(len(draws))).all()


def test_hashed_vectors_are_normal_and_depend_on_label_and_seed_alone():
    numbers = hashed_normals(list(range(2000)), 5, seed=1)
    assert kstest(numbers.ravel(), "norm").pvalue > 1e-3
    assert np.abs(np.corrcoef(numbers.T) - np.eye(5)).max() < 0.1
    np.testing.assert_array_equal(hashed_normals([7, 3], 5, 1), numbers[[7, 3]])
    assert not np.array_equal(hashed_normals([7], 5, 2), numbers[[7]])
    spellings = [1, "1", True, b"1", 1.5, Decimal(1), "a\ud800"]
    assert len({tuple(v) for v in hashed_normals(spellings, 2, 0)}) == 6  # Decimal(1) == 1
    np.testing.assert_array_equal(hashed_normals([1.0], 2, 0), hashed_normals([1], 2, 0))


def test_hashed_vectors_are_the_same_in_another_process():
    code = (
        "from labelens._core.labels.vocabulary import hashed_normals as h;"
        "print(h(['a', 'b', 3], 2, 5).tobytes().hex())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": s},
            text=True,
            stdout=-1,
            check=True,
        ).stdout.strip()
        for s in ("1", "2")
    }
    assert outputs == {hashed_normals(["a", "b", 3], 2, 5).tobytes().hex()}


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "ü"],
        [3, 1, 2**70],
        [True, False],
        [b"x", b"a"],
        [Fraction(1, 3), Fraction(1, 2)],
        [datetime.time(12, 0), datetime.time(8, 30)],
        [(1, 2), (0, 1)],
        [frozenset({2}), frozenset({1})],
    ],
)
def test_any_hashable_scalar_is_a_class(labels):
    y = np.empty(len(labels), dtype=object)
    y[:] = labels
    right = encoded(label_map(y, "delta"), y)
    assert set(right.classes) == set(labels)
    assert [right.classes[c] for c in right.codes[:, 0]] == labels


def test_class_array_keeps_every_value():
    assert as_class_array([1, 2]).dtype == np.int64
    assert as_class_array(["a", "b"]).dtype.kind == "U"
    huge = as_class_array([1, 2**70])
    assert huge.dtype == object
    assert huge[1] == 2**70
    near = as_class_array([2**53, 2**53 + 1, 0.5])
    assert list(near) == [2**53, 2**53 + 1, 0.5]


def test_transformer_of_y(rng):
    y = rng.choice(["x", "y", "z"], 30)
    features = encoded(label_map(y, OneHotEncoder()), y).dense()
    np.testing.assert_array_equal(features @ features.T, delta_kernel(y))
