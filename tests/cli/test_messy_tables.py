"""Messy tables: each test is a wrong result that a table of real data once gave."""

import json

import numpy as np
import pandas as pd
import pytest

from labelens import load, plot


@pytest.fixture
def samples(rng, tmp_path):
    """Expression by sample, and labels of the samples in another order."""
    names = [f"s{i:03}" for i in range(60)]
    group = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 5 * group[:, None]
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.insert(0, "sample", names)
    frame.to_csv(tmp_path / "data.csv", index=False)
    meta = pd.DataFrame({"sample": names, "group": [f"g{i}" for i in group], "age": 30})
    meta.sample(frac=1, random_state=0).to_csv(tmp_path / "meta.csv", index=False)
    return meta


@pytest.mark.parametrize("on", [[], ["--on", "sample"]])
def test_labels_are_joined_by_key(run, samples, tmp_path, on):
    told = ("--labels", "meta.csv", "--label", "group", "--format", "csv", *on)
    done = run("embed", "data.csv", *told, "--method", "spca", "--json")
    assert done.exit_code == 0, done.output
    found = pd.read_csv(tmp_path / "embedding" / "embedding.csv")
    assert found["label_group"].tolist() == samples["group"].tolist()
    assert found["sample"].tolist() == samples["sample"].tolist()
    facts = json.loads(done.stdout)
    assert facts["features"] == 4
    assert facts["held-out 1-NN accuracy"] > 0.9


def test_labels_are_joined_by_position_only_if_asked(run, samples, tmp_path):
    meta = samples.drop(columns="sample")
    meta.to_csv(tmp_path / "meta.csv", index=False)
    wanted = ("embed", "data.csv", "--labels", "meta.csv", "--label", "group", "--method", "spca")
    done = run(*wanted)
    assert done.exit_code == 1
    assert "--by-position" in done.output
    assert run(*wanted, "--by-position").exit_code == 0
    meta[:-1].to_csv(tmp_path / "meta.csv", index=False)
    done = run(*wanted, "--by-position", "--force")
    assert done.exit_code == 1
    assert "59 rows, the data 60" in " ".join(done.output.split())


def test_a_key_that_is_no_key(run, samples, tmp_path):
    pd.concat([samples, samples[:1]]).to_csv(tmp_path / "meta.csv", index=False)
    wanted = ("embed", "data.csv", "--labels", "meta.csv", "--label", "group")
    assert "No unique key" in run(*wanted).output
    done = run(*wanted, "--on", "sample")
    assert "'s000' is twice" in " ".join(done.output.split())
    samples.assign(sample="x").head(1).to_csv(tmp_path / "meta.csv", index=False)
    assert "is in both files" in run(*wanted, "--on", "sample").output


# What labels are --------------------------------------------------------------------------------


@pytest.fixture
def houses(rng, tmp_path):
    """A count as the label: 20 rows for each of its values, with holes between them."""
    X = rng.normal(size=(4000, 3))
    count = 7 * (40 * X[:, 0] + 100).round().astype(int)
    frame = pd.DataFrame(X, columns=list("abc")).assign(households=count)
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert 100 < len(set(count)) < 400
    return frame


def test_a_count_is_a_number(run, houses):
    done = run("embed", "data.csv", "--label", "households", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["task"] == "numbers"
    assert facts["held-out k-NN R^2"] > 0.9
    assert "R²" in facts["why"]
    assert facts["parameters"].get("random_state", 0) == 0
    assert any("taken as numbers" in note for note in facts["notes"])


@pytest.mark.parametrize(
    ("task", "metric"), [("classes", "1-NN accuracy"), ("numbers", "k-NN R^2")]
)
def test_the_task_can_be_given(run, houses, task, metric):
    houses.assign(households=houses.households // 100).to_csv("data.csv", index=False)
    options = ("--label", "households", "--task", task, "--method", "spca", "--json")
    done = run("embed", "data.csv", *options)
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert (facts["task"], f"held-out {metric}" in facts) == (task, True)


def test_chunks_decide_the_task_as_all_rows_do(run, houses, tmp_path):
    for route in ([], ["--memory", "2GB"]):
        options = ("--label", "households", "--method", "spca", "--out", "m.labelens", "--force")
        assert run("fit", "data.csv", *options, *route).exit_code == 0
        assert load(tmp_path / "m.labelens").label_kernel_ == "rbf"


def test_a_regression_has_a_colour_bar(run, houses, monkeypatch):
    figures = []
    scatter = plot.scatter
    monkeypatch.setattr(plot, "scatter", lambda *a, **k: figures.append(scatter(*a, **k)))
    assert run("embed", "data.csv", "--label", "households", "--method", "spca").exit_code == 0
    (ax,) = figures
    assert len(ax.figure.axes) == 2  # the colour bar
    assert len(ax.get_legend().get_texts()) == 2  # training and test rows
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("component 1", "component 2")
