"""The paper's formulas as written, against the estimators that stand for them."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from labelens import (
    KernelSupervisedPCA,
    SupervisedPCA,
    SupervisedRandomProjection,
    subspace_distance,
)
from oracles import gram
from paper import literal


def test_spca_as_written(blobs):
    X, y = blobs
    written = literal.spca(X, literal.delta_kernel(y), 3)
    np.testing.assert_allclose(written.T @ written, np.eye(3), atol=1e-12)
    assert subspace_distance(SupervisedPCA(3).fit(X, y).components_, written.T) < 1e-10


def test_kspca_as_written(blobs):
    X, y = blobs
    K = rbf_kernel(X, gamma=0.1)
    beta = literal.kspca(K, literal.delta_kernel(y), 3)
    ours = KernelSupervisedPCA(3, approximation="exact", gamma=0.1).fit(X, y)
    np.testing.assert_allclose(gram(K @ beta), gram(ours.transform(X)), atol=1e-8)


def test_srp_as_written_spans_what_ours_spans(blobs):
    """With k >= c - 1 features neither loses a direction of C_xy."""
    X, y = blobs
    psi = literal.label_features(y, 3, np.random.default_rng(0))
    ours = SupervisedRandomProjection(3, random_state=0).fit(X, y)
    assert subspace_distance(literal.srp(X, psi).T, ours.components_) < 1e-8
    np.testing.assert_allclose(literal.ksrp(X, psi), literal.srp(X, psi))


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_fourier_features_estimate_the_kernel(rng, sigma):
    X = rng.normal(size=(20, 3))
    F = literal.fourier_features(X, sigma, 40000, rng)
    np.testing.assert_allclose(F @ F.T, rbf_kernel(X, gamma=1 / (2 * sigma**2)), atol=0.03)


def test_label_features_stand_for_the_delta_kernel(rng):
    y = np.array([0, 1, 2, 0, 1])
    psi = literal.label_features(y, 40000, rng)
    np.testing.assert_allclose(psi @ psi.T, literal.delta_kernel(y), atol=0.03)
