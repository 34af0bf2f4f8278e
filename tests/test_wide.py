"""Many more columns than rows: columns chosen by moments, weights soft-thresholded."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest, f_classif

import labelens
from labelens import SupervisedPCA, SupervisedRandomProjection, load, save, select
from labelens._fit import folds, recipe

INFORMATIVE, WIDE = 12, 2300  # more columns than a C_xx of all is kept for


@pytest.fixture(scope="module")
def wide() -> tuple[np.ndarray, np.ndarray]:
    return drawn(WIDE, seed=0)


def drawn(p: int, seed: int, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = draw.normal(size=(n, p)) * draw.uniform(0.5, 3, size=p) + 5
    X[:, :INFORMATIVE] += 3.5 * (y[:, None] == np.arange(INFORMATIVE) % 3) * X.std(axis=0)[:12]
    X.flags.writeable = False
    return X, y


def columns_of(model: SupervisedPCA) -> np.ndarray:
    return np.flatnonzero(np.abs(model.components_).sum(axis=0))


@pytest.mark.parametrize("scale", [None, "standard"])
@pytest.mark.parametrize("shrinkage", [1.0, 0.3])
@pytest.mark.parametrize("method", [SupervisedPCA, SupervisedRandomProjection])
def test_columns_are_those_of_the_largest_f_statistics(wide, method, shrinkage, scale):
    X, y = wide
    model = method(2, n_nonzero=INFORMATIVE, shrinkage=shrinkage, scale=scale, random_state=0)
    model.fit(X, y)
    best = np.flatnonzero(SelectKBest(f_classif, k=INFORMATIVE).fit(X, y).get_support())
    np.testing.assert_array_equal(columns_of(model), best)
    assert model.components_.shape == (2, WIDE)


def test_soft_thresholding_written_out(wide):
    X, y = wide
    model = SupervisedPCA(2, n_nonzero=20, scale="standard").fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    means = np.array([Z[y == c].mean(axis=0) for c in range(3)]) / 3  # C_xy, transposed
    r = np.linalg.norm(means, axis=0)
    kept = np.maximum(0, 1 - np.sort(r)[-21] / r)
    vectors, values, _ = np.linalg.svd((means * kept).T, full_matrices=False)
    np.testing.assert_allclose(model.singular_values_, values[:2], rtol=1e-10)
    overlap = np.abs(model.components_ @ vectors[:, :2])
    np.testing.assert_allclose(overlap, np.eye(2), atol=1e-10)


@pytest.mark.parametrize("more", [{"shrinkage": 0.2}, {"shrinkage": 0.2, "scale": "standard"}])
def test_below_a_shrinkage_of_one_it_is_a_fit_of_the_chosen_columns(wide, more, monkeypatch):
    X, y = wide
    model = SupervisedPCA(2, n_nonzero=15, **more).fit(X, y)
    assert model.moments_.scatter.comoment.shape == (15, 15)
    alone = SupervisedPCA(2, **more).fit(X[:, columns_of(model)], y)
    np.testing.assert_allclose(model.transform(X), alone.transform(X[:, columns_of(model)]))
    # One pass where the covariance of all columns is small enough: the same model.
    monkeypatch.setattr(recipe, "WIDEST_SCREENED", WIDE)
    whole = SupervisedPCA(2, n_nonzero=15, **more).fit(X, y)
    assert whole.moments_.scatter.comoment.shape == (WIDE, WIDE)
    np.testing.assert_allclose(whole.components_, model.components_, atol=1e-12)


@pytest.mark.parametrize("shrinkage", [1.0, 0.3])
def test_routes_give_the_model_of_fit(wide, shrinkage, tmp_path):
    X, y = wide
    model = SupervisedPCA(2, n_nonzero=20, shrinkage=shrinkage, scale="standard")
    whole = model.fit(X, y).components_
    parts = [(X[a : a + 40], y[a : a + 40]) for a in (0, 40, 80)]
    streamed = labelens.fit(SupervisedPCA(**model.get_params()), parts)
    np.testing.assert_allclose(streamed.components_, whole, atol=1e-12)
    entries = SupervisedPCA(**model.get_params()).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(entries.components_, whole, atol=1e-10)
    save(model, tmp_path / "model", moments=True)
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    more = again.partial_fit(X[:40], y[:40]).components_  # goes on, with columns that it has
    np.testing.assert_allclose(more, model.partial_fit(X[:40], y[:40]).components_, atol=1e-12)


def test_merged_models_choose_columns_anew(wide):
    X, y = wide
    whole = SupervisedPCA(2, n_nonzero=20).fit(X, y)
    parts = [SupervisedPCA(2, n_nonzero=20).fit(X[a::2], y[a::2]) for a in (0, 1)]
    merged = reduce(SupervisedPCA.merge, parts)
    np.testing.assert_allclose(merged.components_, whole.components_, atol=1e-12)
    parts = [SupervisedPCA(2, n_nonzero=20, shrinkage=0.3).fit(X[a::2], y[a::2]) for a in (0, 1)]
    with pytest.raises(ValueError, match="different columns for each; use shrinkage=1"):
        reduce(SupervisedPCA.merge, parts)


def test_errors_name_the_way_out(wide):
    X, y = wide
    with pytest.raises(ValueError, match=r"n_nonzero=5 .* y is None\. Use n_nonzero=None"):
        SupervisedPCA(2, n_nonzero=5).fit(X)
    with pytest.raises(ValueError, match="shrinkage='auto' is estimated from all columns"):
        SupervisedPCA(2, n_nonzero=5, shrinkage="auto").fit(X, y)
    with pytest.raises((TypeError, ValueError), match="n_nonzero"):
        SupervisedPCA(2, n_nonzero=0).fit(X, y)
    once = iter([(X, y)])
    with pytest.raises(ValueError, match=r"can be read only once\. Use shrinkage=1"):
        labelens.fit(SupervisedPCA(2, n_nonzero=5, shrinkage=0.5), once)


def test_constant_columns_are_not_chosen():
    X, y = np.zeros((20, 4)), np.arange(20) % 2
    X[:, 1], X[:, 2], X[:, 3] = 1e12, y, np.arange(20) % 3
    assert columns_of(SupervisedPCA(1, n_nonzero=1).fit(X, y)).tolist() == [2]


def test_select_chooses_columns_within_folds(wide, monkeypatch):
    X, y = wide
    chosen = select(X, y, random_state=0)
    assert chosen.params["n_nonzero"] is not None
    assert chosen.score > 0.95
    fresh, labels = drawn(WIDE, seed=1)
    fresh = (fresh - fresh.mean(axis=0)) / fresh.std(axis=0) * X.std(axis=0) + X.mean(axis=0)
    Z, known = chosen.estimator.transform(fresh), chosen.estimator.transform(X)
    centres = np.array([known[y == c].mean(axis=0) for c in range(3)])
    said = ((Z[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert np.mean(said == labels) > 0.95
    # Labels that say nothing: columns chosen outside of the folds would predict them.
    draw = np.random.default_rng(0)
    nothing = draw.permutation(y)
    noise = draw.normal(size=X.shape)
    grid = {"n_nonzero": [10, 30], "shrinkage": [1.0, 0.3]}
    blind = select(noise, nothing, SupervisedPCA(2), grid=grid, random_state=0)
    assert max(line["score"] for line in blind.table) < 0.5
    assert X.shape[1] > folds.WIDEST_SCREENED


def test_select_keeps_all_columns_of_narrow_tables():
    chosen = select(*load_iris(return_X_y=True), random_state=0)
    assert "n_nonzero" not in chosen.table[0]
