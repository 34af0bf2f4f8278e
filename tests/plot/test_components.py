"""Scree, loadings and biplot."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from labelens import KernelSupervisedPCA, SupervisedPCA, SupervisedRandomProjection, Wheel, plot


def test_scree_shows_dependence(fitted):
    ax = plot.scree(fitted)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], fitted.dependence_ratio_)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.cumsum(fitted.dependence_ratio_))
    (right,) = ax.child_axes
    ax.figure.draw_without_rendering()
    total = fitted.dependence_[0] / fitted.dependence_ratio_[0]
    np.testing.assert_allclose(right.get_ylim()[1], 1.05 * total)


def test_scree_of_pca_shows_variance(iris):
    assert plot.scree(SupervisedPCA(2).fit(iris[0])).get_ylabel() == "share of the variance"


@pytest.mark.filterwarnings("ignore:Only 0 of the 1 components:UserWarning")
def test_what_scree_refuses(iris):
    X, _ = iris
    with pytest.raises(ValueError, match="fitted without labels and keeps no variances"):
        plot.scree(SupervisedRandomProjection(2, random_state=0).fit(X))
    with pytest.raises(TypeError, match="PCA has no dependence_"):
        plot.scree(PCA().fit(X))
    with pytest.raises(ValueError, match="No component of this SupervisedPCA depends"):
        plot.scree(SupervisedPCA(1).fit(np.ones((4, 2)), [0, 0, 1, 1]))


def test_loadings_are_the_strongest_weights(fitted, iris):
    ax = plot.loadings(fitted, 1, n_features=3)
    weights = fitted.components_[1]
    strongest = np.argsort(-np.abs(weights))[:3]
    np.testing.assert_array_equal([bar.get_width() for bar in ax.patches], weights[strongest])
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == list(iris[0].columns[strongest])
    assert ax.get_xlabel() == "weight in component 2, columns scaled to [0, 1]"
    plain = plot.loadings(PCA(2).fit(iris[0].to_numpy()), n_features=99)
    assert plain.get_yticklabels()[0].get_text() == "column 2"
    assert len(plain.patches) == 4


def test_arrows_point_where_features_move_rows(fitted, iris):
    ax = plot.biplot(fitted, *iris, components=(1, 0), n_features=4)
    arrows = [text for text in ax.texts if not text.get_text()]
    tips = np.array([arrow.xy for arrow in arrows])
    found = np.arctan2(*tips.T)
    truth = np.arctan2(*fitted.components_[[1, 0]])
    np.testing.assert_allclose(np.sort(found), np.sort(truth))
    assert (tips[:, 0] > ax.get_xlim()[0]).all()
    assert (tips[:, 0] < ax.get_xlim()[1]).all()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("component 2", "component 1")


def test_arrows_of_a_kernel_method_are_slopes(rng):
    X = rng.normal(size=(300, 3)) * [1.0, 10.0, 1.0]
    y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
    model = KernelSupervisedPCA(2, shrinkage=0.1, scale="standard", random_state=0).fit(X, y)
    ax = plot.biplot(model, X, y, n_features=2)
    assert {text.get_text() for text in ax.texts} >= {"column 0", "column 1"}
    assert "column 2" not in {text.get_text() for text in ax.texts}


def test_what_loadings_and_biplot_refuse(fitted, iris):
    kernel = KernelSupervisedPCA(2, n_random_features=16, random_state=0).fit(*iris)
    with pytest.raises(TypeError, match="no weights for input features"):
        plot.loadings(kernel)
    wheel = Wheel(random_state=0).fit(*iris)
    for draw in (plot.loadings, lambda model: plot.biplot(model, *iris)):
        with pytest.raises(TypeError, match="Wheel has no components_"):
            draw(wheel)
    with pytest.raises(ValueError, match="no component 2: the estimator has 2"):
        plot.loadings(fitted, 2)
    with pytest.raises(ValueError, match="no component 1: the estimator has 1"):
        plot.biplot(SupervisedPCA(1).fit(*iris), *iris)
    with pytest.raises(ValueError, match="components must be 2 numbers"):
        plot.biplot(fitted, *iris, components=(0, 1, 1))
