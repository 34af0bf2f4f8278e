"""A batch, donor or site that components must be uncorrelated with."""

from __future__ import annotations

import json
from functools import reduce

import numpy as np
import pandas as pd
import pytest
from scipy import linalg
from sklearn.linear_model import LogisticRegression

import labelens
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    load,
    save,
    select,
)
from labelens._fit.task import Task
from labelens._judge.trial import try_out
from labelens.plot.reports import gamma_scores

MODELS = [
    SupervisedPCA(2),
    SupervisedPCA(2, shrinkage=0.1, scale="standard"),
    SupervisedPCA(5, shrinkage=0.0, label_shrinkage=0.0, target_weight=0.5),
    SupervisedPCA(2, shrinkage="auto", scale="minmax"),
    SupervisedPCA(2, n_nonzero=12, shrinkage=0.3),
    SupervisedPCA(2, target_weight=0.0),
    SupervisedRandomProjection(2, random_state=0),
    SupervisedRandomProjection(3, random_state=0, target_weight=0.5, shrinkage=0.2),
    KernelSupervisedPCA(2, n_random_features=64, random_state=0, shrinkage=0.01),
    KernelSupervisedRandomProjection(2, approximation="nystroem", n_random_features=64,
                                     random_state=0),
]  # fmt: skip


@pytest.fixture(scope="module")
def batches():
    return drawn(1200, seed=0)


def drawn(n: int, seed: int, p: int = 20):
    fixed, draw = np.random.default_rng(0), np.random.default_rng(seed)
    y, site = draw.integers(3, size=n), draw.integers(3, size=n)
    means, shifts = fixed.normal(size=(3, p)) * (np.arange(p) < 6) * 2, fixed.normal(size=(3, p))
    X = draw.normal(size=(n, p)) + means[y] + shifts[site]
    X.flags.writeable = False
    return X, y, np.array(["Basel", "Genf", "Zürich"])[site]


def apart(Z: np.ndarray, site: np.ndarray) -> float:
    """How far the means of sites are from each other, in standard deviations."""
    means = np.array([Z[site == one].mean(axis=0) for one in np.unique(site)])
    return float((np.ptp(means, axis=0) / Z.std(axis=0)).max())


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_sites_have_the_same_mean(model, batches):
    X, y, site = batches
    Z = model.fit(X, y, nuisance=site).transform(X)
    assert np.linalg.matrix_rank(Z - Z.mean(axis=0)) == Z.shape[1]
    assert apart(Z, site) < 1e-10
    assert apart(model.fit(X, y).transform(X), site) > 0.05


@pytest.mark.parametrize("shrinkage", [1.0, 0.0])
def test_it_is_a_fit_in_the_space_that_is_left(shrinkage, batches):
    X, y, site = batches
    means = np.array([X[site == one].mean(axis=0) for one in np.unique(site)])
    rest = linalg.null_space(means - means[0])
    model = SupervisedPCA(2, shrinkage=shrinkage)
    whole, alone = (m.T for m in (model.fit(X, y, nuisance=site).transform(X),
                                  model.fit(X @ rest, y).transform(X @ rest)))  # fmt: skip
    ratio = whole / alone
    if shrinkage:
        np.testing.assert_allclose(np.abs(ratio), 1, rtol=1e-8)
    else:  # B is divided by the mean variance of columns, of which there are more
        np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones_like(ratio), rtol=1e-7)


def test_numbers_are_uncorrelated_with_components(batches):
    X, y, _ = batches
    age = X[:, 7] * 0.7 + np.random.default_rng(0).normal(size=len(X))
    both = np.column_stack([age, X[:, 0] * 1e-6])
    Z = SupervisedPCA(2, shrinkage=0.1).fit(X, y, nuisance=both).transform(X)
    assert np.abs(np.corrcoef(np.hstack([Z, both]).T)[:2, 2:]).max() < 1e-9


@pytest.mark.parametrize("model", [MODELS[1], MODELS[7], MODELS[8]], ids=repr)
def test_routes_give_the_model_of_fit(model, batches, tmp_path):
    X, y, site = batches
    if model.target_weight < 1:
        model = SupervisedRandomProjection(2, random_state=0)
    if hasattr(model, "gamma"):
        model.set_params(gamma=0.02)
    whole = model.fit(X, y, nuisance=site).components_
    cuts = [slice(a, a + 400) for a in (0, 400, 800)]

    def new():
        return type(model)(**model.get_params())

    batched = new()
    for here in cuts:
        batched.partial_fit(X[here], y[here], nuisance=site[here])
    np.testing.assert_allclose(batched.components_, whole, atol=1e-10)
    parts = [new().fit(X[here], y[here], nuisance=site[here]) for here in cuts]
    np.testing.assert_allclose(reduce(type(model).merge, parts).components_, whole, atol=1e-10)
    streamed = labelens.fit(new(), X, label=y, nuisance=site)
    np.testing.assert_allclose(streamed.components_, whole, atol=1e-10)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.assign(label=y, site=site).to_csv(tmp_path / "rows.csv", index=False)
    filed = labelens.fit(new(), tmp_path / "rows.csv", label="label", nuisance="site")
    np.testing.assert_allclose(filed.components_, whole, atol=1e-10)
    first = new().fit(X[:800], y[:800], nuisance=site[:800])
    save(first, tmp_path / "model", moments=True)
    more = load(tmp_path / "model").partial_fit(X[800:], y[800:], nuisance=site[800:])
    np.testing.assert_allclose(more.components_, whole, atol=1e-10)
    save(first, tmp_path / "small")
    np.testing.assert_array_equal(load(tmp_path / "small").transform(X), first.transform(X))


def test_dask_gives_the_model_of_fit(batches):
    array, frames = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    X, y, site = batches
    whole = SupervisedPCA(2, shrinkage=0.1).fit(X, y, nuisance=site).components_
    rows = array.from_array(X, chunks=(500, -1))
    ours = SupervisedPCA(2, shrinkage=0.1).fit(rows, y, nuisance=site)
    np.testing.assert_allclose(ours.components_, whole, atol=1e-10)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame = frames.from_pandas(frame.assign(label=y, site=site), npartitions=3)
    ours = labelens.fit(SupervisedPCA(2, shrinkage=0.1), frame, label="label", nuisance="site")
    np.testing.assert_allclose(ours.components_, whole, atol=1e-10)


def test_held_out_rows_do_not_show_the_site_and_keep_their_labels(batches):
    X, y, site = batches
    fresh, labels, sites = drawn(3000, seed=1)
    plain, ours = (SupervisedPCA(2).fit(X, y, nuisance=one) for one in (None, site))

    def accuracy(model, known, asked):
        said = LogisticRegression().fit(model.transform(X), known)
        return said.score(model.transform(fresh), asked)

    majority = np.unique(sites, return_counts=True)[1].max() / len(sites)
    assert accuracy(plain, site, sites) > majority + 0.1
    assert accuracy(ours, site, sites) <= majority + 0.02
    assert accuracy(ours, y, labels) >= accuracy(plain, y, labels) - 0.01


def test_select_tries_what_can_leave_a_nuisance_out(batches):
    X, y, site = (part[:300] for part in batches)
    chosen = select(X, y, nuisance=site, random_state=0)
    assert apart(chosen.estimator.transform(X), site) < 1e-10
    assert not {"exact", "falkon"} & {line.get("approximation") for line in chosen.table}


@pytest.mark.filterwarnings("ignore:Only 0 of the 2 components")
@pytest.mark.parametrize("model", [*MODELS[:2], MODELS[6], SupervisedPCA(2, label_shrinkage=0.5)])
def test_labels_that_follow_the_site_leave_nothing(model, batches):
    X, _, site = batches
    assert model.fit(X, site, nuisance=site).dependence_ratio_.max() < 1e-12
    assert not model.components_.any()


def test_errors_name_the_way_out(batches):
    X, y, site = batches
    with pytest.raises(ValueError, match=r"approximation='exact' is not supported: .*Use"):
        KernelSupervisedPCA(approximation="exact").fit(X, y, nuisance=site)
    with pytest.raises(ValueError, match="nuisance takes a value for every row, as y does: Input"):
        SupervisedPCA().fit(X, y, nuisance=[None, *site[1:]])
    with pytest.raises(ValueError, match="nuisance takes a value for every row, as y does: X and"):
        SupervisedPCA().fit(X, y, nuisance=site[1:])
    with pytest.raises(ValueError, match="all 3 directions of the features, so none is left"):
        SupervisedPCA().fit(X[:, :3], y, nuisance=np.arange(len(y)) % 9)
    model = SupervisedPCA().partial_fit(X, y, nuisance=site)
    with pytest.raises(ValueError, match="no nuisance and earlier ones had one; pass"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="one was fitted with a nuisance, the other without"):
        model.merge(SupervisedPCA().fit(X, y))
    with pytest.raises(ValueError, match=r"call partial_fit\(X, y, nuisance=...\)"):
        labelens.fit(SupervisedPCA(), [(X, y)], nuisance="site")


def test_models_of_some_rows_have_the_nuisance(batches, monkeypatch):
    X, y, site = (part[:300] for part in batches)
    model, fits = KernelSupervisedPCA(2, n_random_features=16, random_state=0), []
    fit = type(model).fit
    monkeypatch.setattr(
        type(model),
        "fit",
        lambda self, X, y=None, sample_weight=None, nuisance=None: (
            fits.append((X, nuisance)) or fit(self, X, y, sample_weight, nuisance)
        ),
    )
    labelens.permutation_report(model, X, y, n_permutations=19, nuisance=site, random_state=0)
    labelens.stability_report(model, X, y, n_resamples=2, nuisance=list(site), random_state=0)
    try_out(model, X, y, 0, nuisance=site)
    task = Task(X, y, "classes", nuisance=site)
    gamma_scores(task, model, [0.1], 2, 0)
    assert len(fits) > 100
    of_row = {row.tobytes(): one for row, one in zip(X, site, strict=True)}
    for rows, given in fits:
        assert [of_row[row.tobytes()] for row in rows] == list(given)
    with pytest.raises(ValueError, match="nuisance has 299 values, and X has 300 rows"):
        labelens.stability_report(model, X, y, nuisance=site[1:])


@pytest.mark.parametrize("n", [240, 4800])  # of many rows some are held out
def test_command_line_leaves_a_nuisance_out(n, tmp_path, monkeypatch):
    testing = pytest.importorskip("typer.testing")
    from labelens.cli.app import app

    X, y, site = drawn(n, seed=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.assign(label=y, site=site).to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)
    words = ["embed", "rows.csv", "--label", "label", "--nuisance", "site", "--json"]
    ran = testing.CliRunner().invoke(app, words)
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert found["features"] == X.shape[1]
    assert found["nuisance"]["accuracy"] < 0.5
    parts = pd.read_parquet("embedding/embedding.parquet")
    model = load("embedding/model.labelens")
    train = (parts["part"] == "train").to_numpy()
    assert apart(model.transform(frame)[train], site[train]) < 1e-8
    ran = testing.CliRunner().invoke(app, [*words, "--method", "atlas", "--out", "other"])
    assert "no --nuisance" in ran.output
