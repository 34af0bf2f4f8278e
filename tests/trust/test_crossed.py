"""Held-out pictures: rows embedded by fits that have not seen their labels."""

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    cross_embed,
)
from trust.noise import Means, noise


class Turned(Means):
    """The same, turned, mirrored and moved at random, differently at every fit."""

    def transform(self, X):
        draw = np.random.default_rng(int(abs(self.means_.sum()) * 1e6))
        k = len(self.means_)
        return super().transform(X) @ linalg.qr(draw.normal(size=(k, k)))[0] + draw.normal(size=k)


def nearest_is_alike(Z, y):
    distances = cdist(Z, Z)
    np.fill_diagonal(distances, np.inf)
    return np.mean(y[distances.argmin(axis=1)] == y)


def chance(y):
    """How often another row is of the same class."""
    counts = np.unique(y, return_counts=True)[1]
    return np.sum(counts * (counts - 1)) / (len(y) * (len(y) - 1))


def test_rows_of_a_fold_do_not_know_their_labels(rng):
    """Other labels for the rows of one fold leave these rows where they are, but for a turn."""
    X, y = noise(1)
    folds = list(KFold(4).split(X))
    other = y.copy()
    test = folds[2][1]
    other[test] = rng.permutation(5)[y[test]]
    one, two = (cross_embed(SupervisedPCA(3), X, labels, cv=folds) for labels in (y, other))
    np.testing.assert_allclose(pdist(one.Z[test]), pdist(two.Z[test]))
    assert not np.allclose(pdist(one.fitted[test]), pdist(two.fitted[test]), rtol=0.01)
    np.testing.assert_array_equal(np.flatnonzero(one.fold == 2), test)


@pytest.mark.parametrize("estimator", [SupervisedPCA(2), SupervisedPCA(4, shrinkage=0.1)])
def test_noise_is_separated_as_fitted_and_not_when_held_out(estimator):
    """Over seeds: rows of a fold are alike as often as chance has it, neither more nor less."""
    beyond_chance, whole, fitted = [], [], []
    for seed in range(80):
        X, y = noise(seed)
        crossed = cross_embed(estimator, X, y, random_state=seed)
        for fold in range(5):
            mine = crossed.fold == fold
            alike = nearest_is_alike(crossed.Z[mine], y[mine])
            beyond_chance.append(alike - chance(y[mine]))
        whole.append(nearest_is_alike(crossed.Z, y))
        fitted.append(nearest_is_alike(crossed.fitted, y))
    error = np.std(beyond_chance) / np.sqrt(len(beyond_chance))
    assert abs(np.mean(beyond_chance)) < 4 * error < 0.06
    assert np.mean(fitted) > 0.7
    # Across folds traces of the labels remain (docs/decisions/0011): small ones.
    assert abs(np.mean(whole) - chance(np.arange(60) % 5)) < 0.04


def test_folds_are_moved_onto_one_picture(iris):
    X, y = iris
    plain, turned = (cross_embed(model, X, y, random_state=0) for model in (Means(), Turned()))
    np.testing.assert_allclose(pdist(turned.Z), pdist(plain.Z), rtol=1e-6)
    np.testing.assert_allclose(pdist(turned.fitted), pdist(plain.fitted), rtol=1e-6)


def test_moved_by_the_best_rotation_of_the_training_rows(iris):
    X, y = iris
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    crossed = cross_embed(SupervisedPCA(2), X, y, cv=[(train, test), (test, train)])
    own = SupervisedPCA(2).fit(X[train], y[train])
    frame = SupervisedPCA(2).fit_transform(X, y)
    mine, there = own.transform(X[train]), frame[train]
    # Procrustes by the formula: with A^T B = U S V^T the rotation is U V^T.
    u, _, vt = np.linalg.svd((mine - mine.mean(0)).T @ (there - there.mean(0)))
    wanted = (own.transform(X[test]) - mine.mean(0)) @ u @ vt + there.mean(0)
    np.testing.assert_allclose(crossed.Z[test], wanted, atol=1e-12)
    np.testing.assert_allclose(crossed.fitted, frame, atol=1e-12)


ESTIMATORS = [
    SupervisedPCA(2),
    SupervisedRandomProjection(2),
    KernelSupervisedPCA(2, n_random_features=64),
    KernelSupervisedPCA(2, approximation="exact"),
    KernelSupervisedRandomProjection(2, n_random_features=64),
    LinearDiscriminantAnalysis(n_components=2),
    PCA(2),
    make_pipeline(StandardScaler(), SupervisedPCA(2)).set_output(transform="pandas"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_real_structure_stays_where_it_was(estimator, iris):
    X, y = iris
    crossed = cross_embed(estimator, X, y, random_state=0)
    assert crossed.Z.shape == crossed.fitted.shape == (150, 2)
    assert sorted(np.unique(crossed.fold)) == [0, 1, 2, 3, 4]
    scale = crossed.fitted.std()
    assert np.abs(crossed.Z - crossed.fitted).mean() < 0.1 * scale
    again = cross_embed(estimator, X, y, random_state=0)
    np.testing.assert_array_equal(crossed.Z, again.Z)


def test_tables_and_labels_of_all_kinds(iris, rng):
    X, y = iris
    wanted = cross_embed(SupervisedPCA(2), X, y, random_state=0).Z
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(150)[::-1])
    for table, labels in [
        (frame, pd.Series(y, index=frame.index)),
        (X.tolist(), y.tolist()),
        (sparse.coo_array(X), y),
        (frame, names),
    ]:
        Z = cross_embed(SupervisedPCA(2), table, labels, random_state=0).Z
        np.testing.assert_allclose(Z, wanted, atol=1e-9)
    numbers, both = X[:, 0] + 0.1 * rng.normal(size=150), X[:, :2] + 0.01
    for labels in (numbers, both, np.eye(3, dtype=int)[y], np.column_stack([y, y // 2 + 1])):
        crossed = cross_embed(SupervisedPCA(1), X, labels, random_state=0)
        assert crossed.Z.shape == (150, 1)
        assert abs(np.corrcoef(crossed.Z[:, 0], crossed.fitted[:, 0])[0, 1]) > 0.99
    assert cross_embed(PLSRegression(2), X, numbers, random_state=0).Z.shape == (150, 2)


def test_rows_in_the_order_of_their_labels_are_mixed(rng):
    X = np.sort(rng.normal(size=(60, 1)), axis=0)
    fold = cross_embed(PCA(1), X, X[:, 0], cv=3, random_state=0).fold
    for number in range(3):
        assert 20 < np.flatnonzero(fold == number).mean() < 40
    y = np.repeat([0, 1], [50, 10])
    fold = cross_embed(PCA(1), X, y, random_state=0).fold
    np.testing.assert_array_equal(np.bincount(fold[y == 1]), 2)


def test_what_cross_embed_refuses(iris):
    X, y = iris
    with pytest.raises(ValueError, match="y is None"):
        cross_embed(SupervisedPCA(), X, None)
    with pytest.raises(ValueError, match="every row needs one place"):
        cross_embed(SupervisedPCA(), X, y, cv=ShuffleSplit(3, random_state=0))
    with pytest.raises(ValueError, match=r"Row 50 of y has no label \(missing_label=1\)"):
        cross_embed(SupervisedPCA(missing_label=1), X, y)
    with pytest.raises(ValueError, match="2 components were fitted on all rows and 1 on those of"):
        cross_embed(LinearDiscriminantAnalysis(), X, y, cv=KFold(3))
    with pytest.raises(ValueError, match="cv must be an integer >= 2"):
        cross_embed(SupervisedPCA(), X, y, cv=1)
