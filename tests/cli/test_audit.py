"""labelens audit and labelens explain."""

import json

import pandas as pd
import pytest


@pytest.fixture
def wrong(iris, tmp_path):
    iris["id"] = [f"flower {i}" for i in range(150)]
    iris.loc[3, "species"] = "virginica"
    iris.loc[120, "species"] = "setosa"
    iris.to_csv(tmp_path / "wrong.csv", index=False)
    return iris


def test_the_list_and_the_page_name_rows_as_the_file_does(run, wrong, tmp_path):
    before = (tmp_path / "wrong.csv").read_bytes()
    done = run("audit", "wrong.csv", "--label", "species", "--id", "id", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["flagged"] >= 1
    listed = pd.read_csv(tmp_path / "audit" / "issues.csv")
    assert set(listed.row[:2]) == {"flower 3", "flower 120"}
    assert listed.label_quality.is_monotonic_increasing
    page = (tmp_path / "audit" / "issues.html").read_text()
    assert "flower 3: virginica given, setosa predicted" in page
    assert "near, predicted label" in page
    assert (tmp_path / "wrong.csv").read_bytes() == before
    again = run("audit", "wrong.csv", "--label", "species")
    assert again.exit_code == 1


def test_hostile_text_stays_text(run, wrong, tmp_path):
    wrong["species"] = wrong.species.replace({"setosa": "<script>alert(1)</script>"})
    wrong.to_csv(tmp_path / "wrong.csv", index=False)
    done = run("audit", "wrong.csv", "--label", "species", "--drop", "id")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "audit" / "issues.html").read_text()
    assert "&lt;script&gt;" in page
    assert "<script" not in page


def test_numbers_and_several_columns(run, wrong, tmp_path):
    more = ("--label", "petal length (cm)", "--label", "petal width (cm)", "--drop", "id")
    done = run("audit", "wrong.csv", *more, "--format", "parquet", "--json")
    assert done.exit_code == 0, done.output
    listed = pd.read_parquet(tmp_path / "audit" / "issues.parquet")
    assert set(listed.label) == {"petal length (cm)", "petal width (cm)"}


def test_explain_names_the_columns(run, iris, tmp_path):
    fit = ("fit", "iris.csv", "--label", "species", "--method", "kspca", "--shrinkage", "0.1")
    assert run(*fit, "--out", "m.labelens").exit_code == 0
    done = run("explain", "m.labelens", "iris.csv", "--label", "species", "--out", "all.csv")
    assert done.exit_code == 0, done.output
    assert "setosa" in done.output
    table = pd.read_csv(tmp_path / "all.csv")
    assert table.overall.sum() == pytest.approx(1)
    assert table.column[table.overall.argmax()].startswith("petal")
    told = json.loads(run("explain", "m.labelens", "iris.csv", "--top", "2", "--json").stdout)
    assert len(told["importances"]) == 2
    noise = ("--label", "species", "--resamples", "4", "--out", "noise.csv")
    assert run("explain", "m.labelens", "iris.csv", *noise).exit_code == 0
    table = pd.read_csv(tmp_path / "noise.csv")
    assert (table.error > 0).all()
    assert table.shuffled.sum() == pytest.approx(1)
    alone = run("explain", "m.labelens", "iris.csv", "--resamples", "4")
    assert "--resamples fits models again" in alone.output
    missing = run("explain", "m.labelens", "iris.csv", "--label", "kind")
    assert missing.exit_code == 1
    assert "no such column" in missing.output
