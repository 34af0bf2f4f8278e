"""The figures that the methods must reach on MNIST: held-out 1-NN."""

import pytest

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    knn_score,
)


def accuracy(model, mnist):
    X, y, X_test, y_test = mnist
    embedded = model.fit(X, y).transform(X)
    return knn_score(embedded, y, model.transform(X_test), y_test)


def test_supervised_pca(mnist):
    assert accuracy(SupervisedPCA(9), mnist) >= 0.895


@pytest.mark.parametrize("seed", range(5))
def test_supervised_random_projection(mnist, seed):
    assert accuracy(SupervisedRandomProjection(9, random_state=seed), mnist) >= 0.88


@pytest.mark.long
def test_kernel_supervised_pca(mnist):
    model = KernelSupervisedPCA(
        9, n_random_features=4096, shrinkage=1e-3, gamma=0.02, random_state=0
    )
    assert accuracy(model, mnist) >= 0.955


@pytest.mark.long
@pytest.mark.parametrize(("k", "goal"), [(2, 0.76), (3, 0.886)])
def test_class_vectors_well_apart(mnist, k, goal):
    model = KernelSupervisedRandomProjection(
        k,
        label_map="spread",
        n_random_features=4096,
        shrinkage=1e-3,
        gamma=0.02,
        random_state=0,
    )
    assert accuracy(model, mnist) >= goal
