"""What a new user gets wrong is explained."""

import json
import os

import pandas as pd
import pytest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("a,y\n", "no rows"),
        ("a,y\n1,x\n2,x\n3,x\n4,x\n5,x\n6,x\n7,x\n8,x\n9,x\n", "the same label, 'x'"),
        ("a,y\n1,x\n2,z\n", "2 rows"),
        ("y\nx\nz\n", "No column is left"),
    ],
)
def test_unlucky_files_are_explained(run, tmp_path, content, message):
    (tmp_path / "data.csv").write_text(content)
    done = run("embed", "data.csv", "--label", "y")
    assert done.exit_code == 1
    assert message in " ".join(done.output.split())
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"species": [f"row {i}" for i in range(150)]}, "Every row has a label of its own"),
        ({"species": ["2020-01-02", "2020-01-03"] * 75}, "is a date"),
        ({"species": pd.date_range("2020-01-01", periods=150)}, "is a date"),
        ({"species": [None] * 150}, "No row has a label"),
    ],
)
def test_labels_that_are_none_are_explained(run, iris, tmp_path, change, message):
    iris.assign(**change).to_parquet(tmp_path / "data.parquet")
    done = run("embed", "data.parquet", "--label", "species")
    assert done.exit_code == 1
    assert message in " ".join(done.output.split())
    assert sorted(os.listdir(tmp_path)) == ["data.parquet", "iris.csv"]


def test_a_number_that_was_mistyped_is_pointed_out(run, iris, tmp_path):
    names = list(iris.columns)
    iris = iris.astype({names[0]: object})
    iris.loc[5, names[0]] = "5.1O"
    iris.to_csv(tmp_path / "iris.csv", index=False)
    done = run("embed", "iris.csv", "--label", "species", "--method", "spca", "--json")
    assert done.exit_code == 0, done.output
    notes = json.loads(done.stdout)["notes"]
    assert any(f"{names[0]!r} (gaps: '5.1O')" in note for note in notes)


def test_where_nothing_can_be_written(run, iris, tmp_path):
    done = run("embed", "iris.csv", "--label", "species", "--out", "iris.csv")
    assert done.exit_code == 1
    assert "iris.csv is a file, and a folder is wanted" in " ".join(done.output.split())
    done = run("fit", "iris.csv", "--label", "species", "--out", tmp_path)
    assert done.exit_code == 1
    assert "is a folder, and a file is wanted" in " ".join(done.output.split())
    assert os.listdir(tmp_path) == ["iris.csv"]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("how", [[], ["--quiet"], ["--json"]])
def test_warnings_are_sentences_said_once(run, iris, how):
    many = ("--components", "9", "--method", "spca", *how)
    done = run("embed", "iris.csv", "--label", "species", *many)
    assert done.exit_code == 0, done.output
    assert "UserWarning" not in done.output
    assert done.stderr.count("Only 4 of the 9 components") == (0 if how else 1)


def test_pca_is_blind_to_labels_and_says_nothing_else(run, iris):
    """Of two classes the supervised methods say that they add variance; PCA is nothing else."""
    iris.assign(species=iris.species == "setosa").to_csv("iris.csv", index=False)
    blind = ("embed", "iris.csv", "--label", "species", "--method", "pca")
    done = run(*blind, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["parameters"]["target_weight"] == 0
    assert "notes" not in told
    done = run(*blind, "--target-weight", "0.5", "--force")
    assert done.exit_code == 1
    assert "--method pca is blind to labels" in " ".join(done.output.split())


def test_methods_are_compared_on_ten_rows(run, iris):
    iris.groupby("species").head(4).to_csv("iris.csv", index=False)
    done = run("embed", "iris.csv", "--label", "species", "--json")
    assert done.exit_code == 0, done.output
    assert "folds of all 9 rows" in json.loads(done.stdout)["why"]
