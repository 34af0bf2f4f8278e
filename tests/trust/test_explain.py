"""`importances`: equal to explicit gradients, to differences, and to the columns that matter."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

import labelens
from labelens import (
    Atlas,
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    importances,
)
from labelens._core import gradients
from labelens._fit import recipe
from labelens._fit.fitted import recipe_of, solution_of
from routes.ways import everywhere_a_device

X, Y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=list("abcd"))

MODELS = [
    SupervisedPCA(2),
    SupervisedPCA(2, shrinkage=0.1, scale="standard"),
    KernelSupervisedPCA(2, shrinkage=0.1, n_random_features=64),
    KernelSupervisedPCA(2, n_random_features=64, approximation="fastfood"),
    KernelSupervisedRandomProjection(2, n_random_features=64, scale="minmax"),
    KernelSupervisedPCA(2, n_random_features=64, kernel="matern"),
    KernelSupervisedPCA(2, shrinkage=0.1, approximation="exact", scale="standard"),
    KernelSupervisedPCA(2, shrinkage=0.1, approximation="nystroem", n_random_features=40),
    KernelSupervisedPCA(2, approximation="exact", kernel="polynomial"),
    KernelSupervisedPCA(2, approximation="exact", kernel="linear"),
    KernelSupervisedPCA(2, approximation="exact", kernel="matern"),
    KernelSupervisedPCA(2, approximation="exact", kernel="matern", kernel_params={"nu": 2.5}),
    KernelSupervisedPCA(2, approximation="exact", kernel="laplacian"),
    KernelSupervisedPCA(2, shrinkage=0.1, approximation="falkon", n_random_features=50),
]


LINEAR = [
    SupervisedPCA(2),
    SupervisedPCA(2, shrinkage=0.1),
    SupervisedPCA(2, scale="standard"),
    SupervisedPCA(2, shrinkage="auto", scale="standard"),
    SupervisedPCA(2, shrinkage="auto", scale="minmax"),
    SupervisedPCA(2, n_nonzero=3, shrinkage=0.1),
    SupervisedRandomProjection(2, target_weight=0.5),
]


def from_file(model, tmp_path):
    FRAME.assign(y=Y).to_parquet(tmp_path / "rows.parquet")
    return labelens.fit(model, tmp_path / "rows.parquet", label="y")


def from_dask(model, tmp_path):
    frame = pytest.importorskip("dask.dataframe").from_pandas(FRAME.assign(y=Y), npartitions=3)
    return model.fit(frame[list(FRAME)], frame["y"])


def from_saved(model, tmp_path):
    labelens.save(model.fit(FRAME, Y), tmp_path / "model")
    return labelens.load(tmp_path / "model")


def from_saved_moments(model, tmp_path):
    labelens.save(model.fit(FRAME, Y), tmp_path / "model", moments=True)
    return labelens.load(tmp_path / "model")


def from_device(model, tmp_path):
    torch = pytest.importorskip("torch")
    with everywhere_a_device():
        model.fit(torch.asarray(X), torch.asarray(Y))._solve()
    model.feature_names_in_ = np.array(list(FRAME), dtype=object)
    return model


def same(found, wanted):
    assert found.names == wanted.names
    np.testing.assert_allclose(found.overall, wanted.overall, atol=1e-10)
    np.testing.assert_allclose(found.components, wanted.components, atol=1e-10)
    for name, shares in wanted.classes.items():
        np.testing.assert_allclose(found.classes[name], shares, atol=1e-10)


@pytest.mark.parametrize(
    "route", [from_file, from_dask, from_saved, from_saved_moments, from_device]
)
@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_every_route_gives_the_importances_of_fit(model, route, tmp_path, monkeypatch):
    monkeypatch.setattr(recipe, "WIDEST_SCREENED", 2)  # so that n_nonzero has C_xx of some columns
    model = model.set_params(random_state=0)
    whole, other = clone(model).fit(FRAME, Y), route(clone(model), tmp_path)
    same(importances(other, FRAME, Y), importances(whole, FRAME, Y))
    if importances(whole).standardized:
        same(importances(whole), importances(whole, FRAME))
    if route is not from_saved:
        same(importances(other), importances(whole))
    elif importances(other).standardized:
        same(importances(other), importances(whole, FRAME))
    else:  # variances are not in the file
        np.testing.assert_allclose(importances(other).overall, of_units(whole), atol=1e-10)


def of_units(model):
    ends = [model.transform(pd.DataFrame(rows, columns=list(FRAME))) for rows in (np.eye(4), 0 * X)]
    squares = np.square(ends[0] - ends[1][:1]).sum(axis=1)
    return squares / squares.sum()


def test_rows_may_be_a_frame_of_dask():
    dask = pytest.importorskip("dask.dataframe")
    model = SupervisedPCA(2).fit(FRAME, Y)
    rows = dask.from_pandas(FRAME.assign(y=Y), npartitions=3)
    same(importances(model, rows[list(FRAME)], Y), importances(model, FRAME, Y))


@pytest.mark.parametrize("approximation", ["nystroem", "orthogonal", "exact"])
def test_kernels_fitted_on_a_device(approximation, tmp_path):
    model = KernelSupervisedPCA(
        2, shrinkage=0.1, approximation=approximation, n_random_features=40, random_state=0
    )
    other = from_device(clone(model), tmp_path)
    same(importances(other, FRAME, Y), importances(model.fit(FRAME, Y), FRAME, Y))


def by_differences(model, rows):
    """(d, k, k), written out, by columns' own units."""
    found = []
    for i in range(rows.shape[1]):
        step = np.zeros(rows.shape[1])
        step[i] = 1e-5
        slope = (model.transform(rows + step) - model.transform(rows - step)) / 2e-5
        found.append(slope.T @ slope / len(rows))
    return np.array(found)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_equal_to_finite_differences(model):
    model = clone(model).set_params(random_state=0).fit(X, Y)
    rows = X[::3] + 0.003 * np.arange(4)  # no row is its own neighbour, where |x| has no slope
    found, truth = importances(model, rows), by_differences(model, rows)
    truth *= rows.var(axis=0)[:, None, None]
    overall = np.einsum("ijj->i", truth)
    assert found.overall == pytest.approx(overall / overall.sum(), rel=1e-5, abs=1e-8)
    for j in range(2):
        share = truth[:, j, j] / truth[:, j, j].sum()
        assert found.components[j] == pytest.approx(share, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("approximation", ["orthogonal", "fastfood"])
def test_moments_give_the_explicit_gradients_of_all_rows(approximation):
    model = KernelSupervisedPCA(
        2, approximation=approximation, n_random_features=80, shrinkage=0.1, random_state=0
    )
    model.fit(X, Y)
    W, B = recipe_of(model).phi.frequencies, solution_of(model).projector
    slopes = np.empty((len(X), 4, 2))
    for n, angles in enumerate(X @ W):
        slope = np.concatenate([-np.sin(angles), np.cos(angles)]) * np.sqrt(2 / 80)
        slopes[n] = np.tile(W, 2) * slope @ B
    truth = np.einsum("nij,nil->ijl", slopes, slopes) / len(X)
    overall = np.einsum("ijj->i", truth)
    found = importances(model)
    assert not found.standardized
    assert found.overall == pytest.approx(overall / overall.sum(), rel=1e-10)
    whole = overall * X.var(axis=0)
    assert importances(model, X).overall == pytest.approx(whole / whole.sum(), rel=1e-10)


def test_other_transformers_and_maps_of_classes():
    pca = PCA(2).fit(X)
    truth = np.square(pca.components_).sum(axis=0) * X.var(axis=0)
    assert importances(pca, X).overall == pytest.approx(truth / truth.sum(), rel=1e-6)
    atlas = Atlas(SupervisedPCA(shrinkage=0.1), random_state=0).fit(X, Y)
    assert importances(atlas, X).overall.sum() == pytest.approx(1)


def test_classes_are_pulled_by_their_own_columns(rng):
    rows = rng.normal(size=(600, 5))
    labels = np.array(["none", "first", "second"])[
        np.where(rows[:, 0] > 0.8, 1, np.where(rows[:, 1] > 0.8, 2, 0))
    ]
    model = KernelSupervisedPCA(2, shrinkage=0.01, random_state=0).fit(rows, labels)
    found = importances(model, rows, labels)
    assert found.classes["first"].argmax() == 0
    assert found.classes["second"].argmax() == 1
    assert found.overall[:2].min() > 3 * found.overall[2:].max()


def test_ranks_of_planted_columns_and_of_noise(rng):
    rows = rng.normal(size=(800, 8))
    score = rows @ np.array([3.0, 2.0, 1.3, 0.8, 0, 0, 0, 0])
    labels = (score + 0.3 * rng.normal(size=800) > 0).astype(int)
    model = KernelSupervisedPCA(1, gamma=0.02, shrinkage=0.01, random_state=0).fit(rows, labels)
    found = importances(model, rows, labels, n_resamples=5, random_state=0)
    assert np.argsort(-found.overall)[:4].tolist() == [0, 1, 2, 3]
    assert spearmanr(found.overall[:4], [3, 2, 1.3, 0.8])[0] == 1
    assert (found.overall[:2] > found.shuffled[:2] + 3 * found.error[:2]).all()
    assert "shuffled labels" in repr(found)


def test_rows_are_asked_for_where_they_are_needed():
    model = KernelSupervisedPCA(2, approximation="nystroem", random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="pass X"):
        importances(model)
    with pytest.raises(ValueError, match="n_resamples=3 needs X and y"):
        importances(model, n_resamples=3)


def test_a_kernel_that_is_a_function_has_no_known_gradient():
    from labelens._core.kernels import make_kernel

    assert gradients.of_kernel(make_kernel(min, None, None), X, X[:, :1], X) is None
