"""Components of unit variance within classes, as in linear discriminant analysis."""

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import labelens
from labelens import KernelSupervisedPCA, SupervisedPCA
from labelens.label_kernels import Precomputed
from oracles import gram

WHITE = {"shrinkage": 0.0, "label_shrinkage": 0.0}


@pytest.fixture
def unbalanced(rng):
    """Five classes of very different sizes in six columns: X, y."""
    y = rng.choice(5, size=300, p=[0.5, 0.25, 0.13, 0.07, 0.05])
    return rng.normal(size=(5, 6))[y] * [3, 2, 1, 1, 1, 1] + rng.normal(size=(300, 6)), y


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("solver", ["eigen", "svd"])
@pytest.mark.parametrize("scale", [None, "standard"])
def test_distances_are_those_of_discriminant_analysis(unbalanced, k, solver, scale):
    X, y = unbalanced
    Z = SupervisedPCA(k, component_scale="within", scale=scale, **WHITE).fit_transform(X, y)
    wanted = LinearDiscriminantAnalysis(solver=solver).fit(X, y).transform(X)[:, :k]
    ratio = np.linalg.norm(Z[0] - Z[1]) / np.linalg.norm(wanted[0] - wanted[1])
    np.testing.assert_allclose(gram(Z), ratio**2 * gram(wanted), atol=1e-10 * ratio**2 * 100)
    if solver == "eigen":  # "svd" of some versions of scikit-learn divides by n - c
        assert (abs(ratio - 1) < 1e-10) == (scale == "standard")  # of columns of unit variance


def within(X, y, weight, labelled, s):
    """(d, d): B with the scatter within classes of the labelled rows in place of C_xx."""
    C = np.cov(X.T, aweights=weight, bias=True)
    own = weight[labelled] / weight[labelled].sum()
    mean = own @ X[labelled]
    between = np.zeros_like(C)
    for c in np.unique(y[labelled]):
        here = own * (y[labelled] == c)
        apart = here @ X[labelled] / here.sum() - mean
        between += here.sum() * np.outer(apart, apart)
    return (1 - s) * len(C) / np.trace(C) * (C - between) + s * np.eye(len(C))


@pytest.mark.parametrize("s", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("t", [0.6, 1.0])
@pytest.mark.parametrize("label_shrinkage", [0.0, 0.3, 1.0])
def test_it_is_the_formula(unbalanced, rng, s, t, label_shrinkage):
    X, y = unbalanced
    weight = rng.uniform(0.5, 2, len(y))
    y = np.where(rng.random(len(y)) < 0.2, -1, y)
    same = dict(target_weight=t, shrinkage=s, label_shrinkage=label_shrinkage, missing_label=-1)
    model = SupervisedPCA(3, component_scale="within", **same).fit(X, y, weight)
    U, V = model.components_, SupervisedPCA(3, **same).fit(X, y, weight).components_
    B = within(X, y, weight, y >= 0, s)
    np.testing.assert_allclose(U @ B @ U.T, np.eye(3), atol=1e-10)
    turned = linalg.lstsq(V.T, U.T)[0]
    np.testing.assert_allclose(V.T @ turned, U.T, atol=1e-10)  # the same span
    np.testing.assert_allclose(np.tril(turned, -1), 0, atol=1e-9)  # of the first components too
    one = SupervisedPCA(1, component_scale="within", **same).fit(X, y, weight)
    np.testing.assert_allclose(one.components_, U[:1], atol=1e-10)


@pytest.mark.parametrize("label_shrinkage", [0.0, 1.0])
@pytest.mark.parametrize("t", [0.6, 1.0])
def test_kernels_with_and_without_features_agree(unbalanced, t, label_shrinkage):
    X, y = unbalanced
    same = dict(gamma=0.1, shrinkage=0.1, component_scale="within", label_shrinkage=label_shrinkage)
    n = dict(n_random_features=len(X))
    exact = KernelSupervisedPCA(3, approximation="exact", target_weight=t, **same)
    Z = exact.fit(X, y).transform(X)
    other = KernelSupervisedPCA(3, approximation="nystroem", target_weight=t, **same, **n)
    np.testing.assert_allclose(gram(Z), gram(other.fit(X, y).transform(X)), atol=1e-7 * Z.var())
    if t == 1:
        other = KernelSupervisedPCA(3, approximation="falkon", **same, **n).fit(X, y)
        np.testing.assert_allclose(gram(Z), gram(other.transform(X)), atol=1e-7 * Z.var())


def test_sparse_rows_pieces_and_files(unbalanced, tmp_path):
    X, y = unbalanced
    X = np.where(np.abs(X) > 0.5, X, 0)
    model = SupervisedPCA(2, component_scale="within", shrinkage=0.1)
    whole = labelens.SupervisedPCA(**model.get_params()).fit(X, y)
    model.partial_fit(sparse.csr_array(X[:100]), y[:100])
    model = model.merge(
        SupervisedPCA(2, component_scale="within", shrinkage=0.1).partial_fit(X[100:], y[100:])
    )
    np.testing.assert_allclose(model.components_, whole.components_, atol=1e-12)
    labelens.save(model, tmp_path / "model.labelens", moments=True)
    again = labelens.load(tmp_path / "model.labelens").partial_fit(X[:9], y[:9])
    assert again.component_scale == "within"
    other = SupervisedPCA(2, shrinkage=0.1).fit(X, y)
    with pytest.raises(ValueError, match="component_scale is 'within' and 'total'"):
        model.merge(other)


def test_classes_that_are_points_have_finite_components():
    X, y = np.eye(3)[[0, 0, 1, 1, 2, 2]], [0, 0, 1, 1, 2, 2]
    model = SupervisedPCA(2, component_scale="within", **WHITE).fit(X, y)
    assert np.isfinite(model.components_).all()
    assert np.abs(model.components_).max() > 1e3


@pytest.mark.parametrize("y", [None, np.linspace(0, 1, 6), np.eye(2, dtype=int)[[0, 1] * 3]])
def test_other_labels_are_rejected(y):
    X = np.arange(12.0).reshape(6, 2) ** 2
    with pytest.raises(ValueError, match="component_scale='within' needs one column of classes"):
        SupervisedPCA(1, component_scale="within", shrinkage=0.5).fit(X, y)
    kernel = Precomputed([[1, 0.5], [0.5, 1]], classes=[0, 1])
    with pytest.raises(ValueError, match="needs one column of classes"):
        SupervisedPCA(1, component_scale="within", label_kernel=kernel).fit(X, [0, 1] * 3)
    with pytest.raises(ValueError, match="component_scale must be one of 'total', 'within'"):
        SupervisedPCA(1, component_scale="between").fit(X, [0, 1] * 3)
