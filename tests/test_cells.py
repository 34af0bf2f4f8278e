"""`labelens.tl`: AnnData objects, and .h5ad files on the command line."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import labelens
from labelens import KernelSupervisedPCA, SupervisedPCA, tl


@pytest.fixture
def counts():
    draw = np.random.default_rng(0)
    y, batch = draw.integers(4, size=600), draw.integers(2, size=600)
    marked = (np.arange(60) % 4 == y[:, None]) & (np.arange(60) < 16)
    X = draw.poisson(0.3 + 2 * marked + 0.5 * batch[:, None]).astype(np.float32)
    names = np.array(["B", "NK", "T", "mono"], dtype=object)[y]
    names[7] = None
    obs = pd.DataFrame(
        {"cell_type": pd.Categorical(names), "batch": batch.astype(str)},
        index=[f"cell {i}" for i in range(600)],
    )
    return X, obs


def cells_of(X: Any, obs: pd.DataFrame) -> Any:
    """What `tl.embed` asks of an AnnData object, whose library need not be there."""
    return SimpleNamespace(
        X=X, obs=obs, layers={"twice": 2 * X}, obsm={"X_pca": X[:, :20]}, varm={}, uns={},
        isbacked=False, n_obs=X.shape[0],
    )  # fmt: skip


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_embedding_is_that_of_a_fit_on_cells_with_a_label(counts, kind):
    X, obs = counts
    cells = cells_of(kind(X), obs)
    assert tl.embed(cells, label="cell_type", estimator=SupervisedPCA(3)) is None
    known = obs["cell_type"].notna().to_numpy()
    model = SupervisedPCA(3).fit(X[known], obs["cell_type"][known].astype(str).to_numpy())
    np.testing.assert_allclose(cells.obsm["X_labelens"], model.transform(X), atol=1e-4)
    np.testing.assert_allclose(cells.varm["labelens"], model.components_.T, atol=1e-8)
    told = cells.uns["labelens"]
    assert (told["method"], told["n_cells_fitted"]) == ("SupervisedPCA", 599)
    assert told["scores"]["held_out"] > 0.9 > told["scores"]["majority"]


def test_other_matrices_and_methods(counts):
    X, obs = counts
    cells = cells_of(X, obs)
    labelens.tl.embed(cells, label="cell_type", layer="twice", key_added="two", n_components=2)
    assert cells.obsm["X_two"].shape == (600, 2)
    assert cells.uns["two"]["params"]["layer"] == "twice"
    exact = KernelSupervisedPCA(2, approximation="exact", shrinkage=0.1)
    labelens.tl.embed(cells, label="cell_type", use_rep="X_pca", estimator=exact)
    assert cells.obsm["X_labelens"].shape == (600, 2)
    assert "labelens" not in cells.varm


def test_batches_have_the_same_mean(counts):
    X, obs = counts
    cells = cells_of(sparse.csr_array(X), obs)
    tl.embed(cells, label="cell_type", nuisance="batch")
    known = obs["cell_type"].notna().to_numpy()
    Z, batch = cells.obsm["X_labelens"][known], obs["batch"][known].to_numpy()
    means = [Z[batch == one].mean(axis=0) for one in ("0", "1")]
    assert np.abs(means[0] - means[1]).max() < 1e-5 * Z.std()  # float32


def test_errors_name_what_there_is(counts):
    cells = cells_of(*counts)
    with pytest.raises(ValueError, match=r"no 'celltype' in obs; there are .*cell_type"):
        tl.embed(cells, label="celltype")
    with pytest.raises(ValueError, match=r"no 'raw' in layers; there are .*twice"):
        tl.embed(cells, label="cell_type", layer="raw")
    with pytest.raises(ValueError, match="name one of them"):
        tl.embed(cells, label="cell_type", layer="twice", use_rep="X_pca")
    cells.obs = cells.obs.assign(batch=None)
    with pytest.raises(ValueError, match=r"obs\['batch'\] is missing for some cells"):
        tl.embed(cells, label="cell_type", nuisance="batch")
    with pytest.raises(ValueError, match="No cell has a label"):
        tl.embed(cells, label="batch")


def test_backed_and_dask_objects_give_the_embedding_of_those_in_memory(counts, tmp_path):
    anndata, array = pytest.importorskip("anndata"), pytest.importorskip("dask.array")
    X, obs = counts
    cells = anndata.AnnData(sparse.csr_matrix(X), obs=obs)
    copied = tl.embed(cells, label="cell_type", copy=True)
    assert not cells.obsm
    tl.embed(cells, label="cell_type")
    np.testing.assert_array_equal(copied.obsm["X_labelens"], cells.obsm["X_labelens"])
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    tl.embed(backed, label="cell_type", key_added="again")
    np.testing.assert_array_equal(backed.obsm["X_again"], cells.obsm["X_labelens"])
    backed.file.close()
    lazy = anndata.AnnData(array.from_array(X, chunks=(250, -1)), obs=obs)
    tl.embed(lazy, label="cell_type", estimator=SupervisedPCA(3))
    tl.embed(cells, label="cell_type", estimator=SupervisedPCA(3))
    np.testing.assert_allclose(lazy.obsm["X_labelens"], cells.obsm["X_labelens"], atol=1e-4)


def test_command_line_reads_h5ad(counts, tmp_path, monkeypatch):
    anndata, testing = pytest.importorskip("anndata"), pytest.importorskip("typer.testing")
    from labelens.cli.app import app

    X, obs = counts
    names = [f"gene {j}" for j in range(60)]
    cells = anndata.AnnData(sparse.csr_matrix(X), obs=obs, var=pd.DataFrame(index=names))
    cells.write_h5ad(tmp_path / "cells.h5ad")
    monkeypatch.chdir(tmp_path)
    words = ["embed", "cells.h5ad", "--label", "cell_type", "--method", "spca", "--json"]
    ran = testing.CliRunner().invoke(app, words)
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["features"] == 60  # and not the batch
    parts = pd.read_parquet("embedding/embedding.parquet")
    assert "cell 0" in set(parts.iloc[:, 0])
    assert set(parts["part"]) == {"train", "test", "unlabelled"}
