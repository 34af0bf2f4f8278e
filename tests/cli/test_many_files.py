"""Files larger than memory."""

import json

import numpy as np
import pandas as pd
import pytest

from labelens import SupervisedPCA, SupervisedRandomProjection, load


@pytest.fixture
def parts(tmp_path, rng):
    """Three parquet files; all of their rows."""
    y = rng.integers(0, 3, 3000)
    frame = pd.DataFrame(rng.normal(size=(3000, 4)) + 3 * np.eye(3, 4)[y], columns=list("abcd"))
    frame = frame.assign(kind=np.array(["one", "two", "three"])[y])
    for i in range(3):
        frame[i * 1000 : (i + 1) * 1000].to_parquet(tmp_path / f"part{i}.parquet")
    return frame


def test_fit_many_files(run, parts, tmp_path):
    options = ("--label", "kind", "--memory", "512MB", "--checkpoint", "state", "--method", "spca")
    done = run("fit", "part*.parquet", *options, "--model", "m.labelens", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"] == 3000
    assert not (tmp_path / "state").exists()
    whole = SupervisedPCA(2, scale="standard").fit(parts[list("abcd")], parts["kind"])
    model = load(tmp_path / "m.labelens")
    assert np.array_equal(model.components_, whole.components_)
    done = run("transform", "m.labelens", "part*.parquet", "--out", "z.npy")
    assert done.exit_code == 0, done.output
    assert np.array_equal(np.load(tmp_path / "z.npy"), whole.transform(parts[list("abcd")]))


def test_fit_many_files_by_the_best_method(run, parts, tmp_path):
    done = run("fit", "part*.parquet", "--label", "kind", "--json")
    assert done.exit_code == 0, done.output
    assert "Compared on 3000 rows" in json.loads(done.stdout)["why"]


def test_fit_leaves_columns_out(run, parts, tmp_path):
    parts.assign(name="x").to_parquet(tmp_path / "part9.parquet")
    asked = ("fit", "part9.parquet", "--label", "kind", "--method", "srp", "--memory", "1GB")
    done = run(*asked)
    assert "One-hot encoded: 'name' (1 values)" in " ".join(done.output.split())
    done = run(*asked, "--drop", "name", "--drop", "a", "--force")
    assert done.exit_code == 0, done.output
    assert list(load(tmp_path / "model.labelens").feature_names_in_) == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("none*.parquet", "--label", "kind"), "No file is called none*.parquet"),
        (("part*.parquet",), "Which column is the label?"),
        (("part*.parquet", "--label", "kin"), "has no column 'kin'"),
        (("part*.parquet", "--label", "kind", "--impute", "drop"), "cannot be left out"),
        (("part*.parquet", "--label", "kind", "--memory", "9MB"), "memory='9MB' is not enough"),
    ],
)
def test_fit_many_files_refuses_in_words(run, parts, tmp_path, asked, words):
    failed = run("fit", *asked, "--method", "srp")
    assert failed.exit_code == 1
    assert words in failed.output
    assert not list(tmp_path.glob("*.labelens"))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["rows.npy", "--labels", "y.npy", "--features", "x1"], "rows.npy have no names"),
        (["rows.npy", "--labels", "y.npy", "--drop", "x1"], "rows.npy have no names"),
        (["part*.parquet", "--label", "kind", "--drop", "e"], "no column 'e' to drop"),
        (["part*.parquet", "--label", "kind", "--labels", "y.npy"], "--labels is for rows without"),
    ],
)
def test_columns_that_cannot_be_chosen(run, parts, tmp_path, asked, words):
    np.save(tmp_path / "rows.npy", parts[list("abcd")].to_numpy())
    np.save(tmp_path / "y.npy", np.arange(3000) % 3)
    done = run("fit", *asked, "--method", "spca", "--memory", "512MB")
    assert done.exit_code == 1
    assert words in " ".join(done.output.split())


@pytest.mark.filterwarnings("ignore:.*rows of the training data:UserWarning")
def test_merge_models(run, parts, tmp_path):
    for i in range(3):
        options = ("--label", "kind", "--method", "srp", "--moments", "--out", f"{i}.labelens")
        assert run("fit", f"part{i}.parquet", "--memory", "1GB", *options).exit_code == 0
    done = run(
        "merge", "0.labelens", "1.labelens", "2.labelens", "--model", "all.labelens", "--json"
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"] == 3000
    model = SupervisedRandomProjection(2, scale="standard", random_state=0)
    whole = model.fit(parts[list("abcd")], parts["kind"])
    merged = load(tmp_path / "all.labelens")
    assert np.allclose(merged.components_, whole.components_, rtol=1e-12, atol=1e-14)
    assert run("fit", "part0.parquet", *options[:4], "--out", "s.labelens").exit_code == 0
    failed = run("merge", "0.labelens", "s.labelens", "--out", "x.labelens")
    assert failed.exit_code == 1
    assert "without its moments" in failed.output
