"""Random features and landmarks in place of the exact kernel."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler

from labelens import KernelSupervisedPCA, KernelSupervisedRandomProjection, subspace_distance
from oracles import constraint, delta_kernel, gram, objective, top_eigenvectors

GAMMA = 0.05


@pytest.mark.parametrize(
    "approximation",
    [
        "fourier",
        "orthogonal",
        "fastfood",
        "nystroem",
        RBFSampler(gamma=GAMMA, n_components=2000),
        Nystroem(gamma=GAMMA, n_components=240),
        PolynomialCountSketch(gamma=GAMMA, n_components=4000),
    ],
)
@pytest.mark.parametrize("kind", [KernelSupervisedPCA, KernelSupervisedRandomProjection])
def test_approximations_approach_the_exact_kernel(blobs, kind, approximation):
    X, y = blobs
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    if hasattr(approximation, "random_state"):
        approximation.set_params(random_state=0)
    params = {"gamma": GAMMA, "random_state": 0}
    if isinstance(approximation, PolynomialCountSketch):
        params.update(kernel="polynomial", kernel_params={"degree": 2, "coef0": 0})
    near = kind(3, approximation=approximation, n_random_features=2000, **params).fit(X, y)
    true = kind(3, approximation="exact", **params).fit(X, y)
    found, truth = gram(near.transform(X)), gram(true.transform(X))
    tolerance = 1e-6 if "ystroem" in str(approximation) else 0.1
    assert np.linalg.norm(found - truth) < tolerance * np.linalg.norm(truth)


def test_kernel_with_shrinkage_is_kernel_lda_on_features(blobs):
    X, y = blobs
    model = KernelSupervisedPCA(
        3, gamma=GAMMA, n_random_features=40, shrinkage=0.1, random_state=0
    ).fit(X, y)
    F = model._recipe.features(X)
    truth, _ = top_eigenvectors(objective(F, delta_kernel(y), 1.0), 3, metric=constraint(F, 0.1))
    assert subspace_distance(model.components_, truth) < 1e-9
