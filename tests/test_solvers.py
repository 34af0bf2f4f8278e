"""Shortcuts of the solvers, against the full decompositions that they stand for."""

import numpy as np
import pytest
from scipy import linalg

from labelens import SupervisedPCA, subspace_distance
from labelens._base.rounding import norm
from labelens._core.solvers import _lanczos, _rank_of, _top_singular


def with_values(rng, p, q, values):
    left, right = (linalg.qr(rng.normal(size=(n, len(values))), mode="economic")[0] for n in (p, q))
    return (left * values) @ right.T


@pytest.mark.parametrize("shape", [(300, 400), (700, 260)])
@pytest.mark.parametrize(
    "values",
    [
        np.arange(256, 0, -1.0),
        np.r_[np.ones(4), np.full(3, 0.9), np.linspace(0.5, 0.1, 200)],  # equal ones
        np.r_[np.ones(3), np.full(250, 1e-3)],
    ],
)
def test_lanczos_is_the_svd(rng, shape, values):
    matrix, k = with_values(rng, *shape, values), 7
    found = _lanczos(matrix, k)
    assert found is not None
    np.testing.assert_allclose(found[1], values[:k], rtol=1e-12)
    # Whatever the choice among equal ones: orthonormal, and the matrix is as large along them.
    np.testing.assert_allclose(found[0].T @ found[0], np.eye(k), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found[0].T @ matrix, axis=1), values[:k], rtol=1e-12)


@pytest.mark.parametrize("values", [[0.0], [3.0, 2.0, 1.0], 10.0 ** -np.arange(12)])
def test_where_lanczos_cannot_tell_the_svd_does(rng, values):
    matrix = with_values(rng, 300, 400, np.array(values))
    assert _lanczos(matrix, 9) is None
    full = linalg.svd(matrix, full_matrices=False)[1]
    np.testing.assert_array_equal(_top_singular(matrix, 9)[1], full)


def test_lanczos_that_misses_a_direction_is_not_believed(rng, monkeypatch):
    matrix = with_values(rng, 300, 400, np.arange(260, 0, -1.0))
    left, values, right = linalg.svd(matrix, full_matrices=False)
    real, missed = _lanczos.__globals__["svds"], [0, 1, 3, 4]  # not the third

    def forgetful(operator, k, **options):
        if k == 4:
            return left[:, missed][:, ::-1], values[missed][::-1], right[missed][::-1]
        return real(operator, k, **options)

    monkeypatch.setitem(_lanczos.__globals__, "svds", forgetful)
    assert _lanczos(matrix, 4) is None
    np.testing.assert_allclose(_top_singular(matrix, 4)[1][:4], values[:4])


def test_many_classes_and_columns_against_the_full_svd(rng):
    codes = rng.integers(0, 300, 4000)
    X = rng.normal(size=(300, 280))[codes] + rng.normal(size=(4000, 280)) * np.linspace(1, 3, 280)
    model = SupervisedPCA(6).fit(X, codes)
    one_hot = np.eye(300)[codes]
    covariance = (X - X.mean(axis=0)).T @ (one_hot - one_hot.mean(axis=0)) / 4000
    left, values, _ = linalg.svd(covariance, full_matrices=False)
    np.testing.assert_allclose(model.singular_values_, values[:6], rtol=1e-12)
    assert subspace_distance(model.components_, left[:, :6].T) < 1e-10


@pytest.mark.parametrize("scale", [1e-170, 1.0, 1e170])
@pytest.mark.parametrize("rank", [0, 1, 4, 5])
@pytest.mark.parametrize("p", [8, 5000])
def test_rank_without_an_svd(rng, p, rank, scale):
    columns = rng.normal(size=(p, rank)) @ rng.normal(size=(rank, 5)) * scale
    assert _rank_of(columns, norm(columns), None, 0.0) == rank
    assert _rank_of(columns, norm(columns), 3, 0.0) == min(rank, 3)


def test_rank_of_columns_that_differ_in_a_few_rows_only(rng):
    """Few of the rows are looked at first, and these are not among them."""
    columns = np.outer(rng.normal(size=9000), np.ones(3))
    columns[5::2000, 1] += 1e-3
    columns[7::2000, 2] += 1e-9
    assert _rank_of(columns, norm(columns), None, 0.0) == 3
