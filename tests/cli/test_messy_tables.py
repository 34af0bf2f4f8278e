"""Messy tables: each test is a wrong result that a table of real data once gave."""

import json
import sqlite3

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
    assert facts["labels"][0]["heldout"] > 0.9


@pytest.mark.parametrize("alone", [False, True])
def test_labels_are_joined_by_position_only_if_asked(run, samples, tmp_path, alone):
    meta = samples.drop(columns="sample")
    if alone:
        meta = meta[["group"]]
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
    assert facts["labels"][0]["heldout"] > 0.9
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
    assert (facts["task"], facts["labels"][0]["metric"]) == (task, metric)


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
    ax = figures[0]  # the report draws its control later
    assert len(ax.figure.axes) == 2  # the colour bar
    assert len(ax.get_legend().get_texts()) == 2  # training and test rows
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("component 1", "component 2")


# Columns -----------------------------------------------------------------------------------------


def told(run, *options):
    done = run(
        "embed", "data.csv", "--label", "y", "--method", "spca", "--json", "--force", *options
    )
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    return facts, " ".join(facts.get("notes", []))


def test_row_numbers_and_identifiers_are_left_out(run, rng):
    y = np.sort(rng.choice(["a", "b"], 200))
    frame = pd.DataFrame({"x": rng.normal(size=200), "code": [f"k{i}" for i in range(200)], "y": y})
    frame["customer_id"] = rng.permutation(10 * np.arange(200) + 7)
    frame.to_csv("data.csv")  # with an index, in the order of the label
    facts, notes = told(run)
    assert facts["features"] == 1
    assert facts["labels"][0]["heldout"] < 0.7
    assert "row numbers: 'Unnamed: 0'" in notes
    assert "'code', 'customer_id'" in notes
    assert told(run, "--features", "customer_id")[0]["features"] == 1  # if asked for


@pytest.mark.parametrize("copy", [lambda y: y.map({"a": 1, "b": 2}), lambda y: y.str.upper()])
def test_a_copy_of_the_label_is_pointed_out(run, rng, copy):
    frame = pd.DataFrame({"x": rng.normal(size=90), "y": rng.choice(["a", "b"], 90)})
    frame.assign(again=copy(frame["y"])).to_csv("data.csv", index=False)
    assert "WARNING: the column 'again' determines the label 'y'" in told(run)[1]
    frame.to_csv("data.csv", index=False)
    assert "WARNING" not in told(run)[1]


@pytest.mark.parametrize("kind", ["number", "text", "date"])
def test_a_column_of_groups_with_one_class_each_is_pointed_out(run, rng, kind):
    who = np.repeat(np.arange(20), 8)
    y = np.array(["a", "b"])[rng.permutation(20) % 2]
    names = {"number": who, "text": [f"p{i}" for i in who]}
    names["date"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(who, "D")
    frame = pd.DataFrame({"x": rng.normal(size=160).round(1), "who": names[kind], "y": y[who]})
    frame.to_csv("data.csv", index=False)
    assert "Each of its 20 values has one class" in (notes := told(run)[1])
    assert "--groups who" in notes
    assert notes.count("WARNING") == 1
    frame.assign(y=rng.permutation(frame["y"])).to_csv("data.csv", index=False)
    assert "WARNING" not in told(run)[1]


def test_only_values_that_are_no_gaps_are_unknown_to_a_model(run, rng):
    frame = pd.DataFrame(rng.normal(size=(60, 2)).round(2), columns=["x", "z"]).astype(object)
    frame["sex"], frame["y"] = rng.choice(["f", "m"], 60), rng.choice(["a", "b"], 60)
    frame.loc[5, "x"] = "?"
    frame.to_csv("data.csv", index=False)
    told(run, "--out", "out")
    done = run("transform", "out/model.labelens", "data.csv", "--out", "same.csv")
    assert "does not know" not in done.output
    frame.loc[6, "x"], frame.loc[7, "sex"] = "about 3", "other"
    frame.to_csv("data.csv", index=False)
    done = run("transform", "out/model.labelens", "data.csv", "--out", "new.csv")
    assert "not in the training rows: x: 'about 3', sex=other." in " ".join(done.output.split())


@pytest.mark.parametrize("method", ["spca", "auto"])
def test_rows_of_one_patient_are_held_out_together(run, rng, method):
    patient = np.repeat(np.arange(20), 20)
    X = 9 * rng.normal(size=(20, 5))[patient] + rng.normal(size=(400, 5))
    frame = pd.DataFrame(X, columns=list("abcde")).assign(
        patient=patient, y=rng.choice(["ill", "well"], 20)[patient]
    )
    frame.to_csv("data.csv", index=False)
    alone = told(run, "--drop", "patient", "--method", method)[0]
    grouped = told(run, "--groups", "patient", "--method", method)[0]
    assert alone["labels"][0]["heldout"] > 0.9
    assert grouped["labels"][0]["heldout"] < 0.8
    assert grouped["features"] == 5


@pytest.mark.parametrize("marker", ["?", "-", ".", "missing", "5.1O", "none such"])
def test_one_odd_cell_leaves_a_column_of_numbers(run, rng, marker):
    frame = pd.DataFrame({"x": rng.normal(size=60).round(2), "y": ["a", "b"] * 30})
    frame["x"] = frame["x"].astype(str)
    frame.loc[[7, 20, 40], "x"] = marker
    frame["z"] = rng.normal(size=60)
    frame.to_csv("data.csv", index=False)
    facts, notes = told(run, *(["--na", "none such"] if marker == "none such" else []))
    assert facts["features"] == 3  # the numbers, and whether the first is there
    assert "Gaps filled with the mean, and marked by a feature: 'x'" in notes
    assert marker == "none such" or f"'x' (gaps: {marker!r})" in notes


def test_an_empty_column_is_left_out(run, rng):
    frame = pd.DataFrame({"x": rng.normal(size=60), "none": None, "y": ["a", "b"] * 30})
    frame.to_csv("data.csv", index=False)
    facts, notes = told(run)
    assert (facts["features"], "without any value: 'none'" in notes) == (1, True)


# Models ------------------------------------------------------------------------------------------


@pytest.fixture
def mixed(rng, tmp_path):
    n = 80
    frame = pd.DataFrame(
        {
            "Age": np.where(rng.random(n) < 0.2, np.nan, rng.normal(40, 9, n).round(1)),
            "Sex": rng.choice(["female", "male's", None], n),
            "Paid": [f"${v:,.2f}" for v in rng.gamma(2, 900, n)],
            "Odd": np.where(rng.random(n) < 0.2, "?", rng.integers(0, 9, n).astype(str)),
            "Child": rng.random(n) > 0.5,
            "y": rng.choice(["a", "b", "c"], n),
        }
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    return frame


def embedded_in(run, tmp_path, *options):
    assert run("fit", "data.csv", "--label", "y", "--method", "spca", *options).exit_code == 0
    assert run("transform", "model.labelens", "data.csv", "--out", "z.csv").exit_code == 0
    return pd.read_csv(tmp_path / "z.csv")[["z1", "z2"]].to_numpy()


@pytest.mark.parametrize("database", ["duckdb", "sqlite"])
def test_sql_of_a_mixed_table_runs(run, mixed, tmp_path, database):
    Z = embedded_in(run, tmp_path)
    done = run("export", "model.labelens", "--sql", "m.sql", "--table", "t")
    assert done.exit_code == 0, done.output
    query = (tmp_path / "m.sql").read_text()
    if database == "duckdb":
        base = pytest.importorskip("duckdb").connect()
        base.register("frame", mixed)
        base.execute("create table t as select * from frame")
        found = base.execute(query).df()
    else:
        base = sqlite3.connect(":memory:")
        mixed.to_sql("t", base, index=False)
        found = pd.read_sql(query, base)
    np.testing.assert_allclose(found[["z1", "z2"]].to_numpy(), Z, rtol=1e-9, atol=1e-9)


def test_onnx_of_a_mixed_table_runs(run, mixed, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    mixed["when"] = pd.date_range("2020-01-01", periods=len(mixed)).strftime("%Y-%m-%d")
    mixed.drop(columns=["Paid", "Odd"]).to_csv("data.csv", index=False)
    Z = embedded_in(run, tmp_path)
    done = run("export", "model.labelens", "--onnx", "m.onnx", "--double")
    assert done.exit_code == 0, done.output
    session = runtime.InferenceSession("m.onnx")
    days = (pd.to_datetime(mixed["when"]) - pd.Timestamp(0)).dt.days.to_numpy(float)
    columns = {"Age": mixed["Age"], "Child": mixed["Child"].astype(float), "when": days}
    given = {name: np.asarray(column)[:, None] for name, column in columns.items()}
    given["Sex"] = mixed["Sex"].fillna("").to_numpy(object)[:, None]
    (found,) = session.run(None, given)
    np.testing.assert_allclose(found, Z, rtol=1e-9, atol=1e-9)


def test_what_sql_cannot_encode_is_named(run, mixed):
    mixed.assign(when="2020-02-03").to_csv("data.csv", index=False)
    assert run("fit", "data.csv", "--label", "y", "--method", "spca").exit_code == 0
    done = run("export", "model.labelens", "--sql", "m.sql")
    assert done.exit_code == 1
    assert "'when' is a date" in " ".join(done.output.split())


def test_merging_names_the_files_and_the_remedy(run, mixed, tmp_path):
    mixed[:40].to_csv("data.csv", index=False)
    mixed[40:].to_csv("rest.csv", index=False)
    fit = ("fit", "--label", "y", "--method", "spca", "--moments")
    assert run(*fit, "data.csv", "--out", "a.labelens").exit_code == 0
    assert run(*fit, "rest.csv", "--out", "b.labelens", "--shrinkage", "0.5").exit_code == 0
    done = run("merge", "a.labelens", "b.labelens")
    said = " ".join(done.output.split())
    assert done.exit_code == 1
    assert "b.labelens cannot be merged with a.labelens" in said
    assert "--like a.labelens" in said
    again = ("fit", "rest.csv", "--label", "y", "--like", "a.labelens", "--out", "b.labelens")
    assert run(*again, "--force").exit_code == 0
    done = run("merge", "a.labelens", "b.labelens")
    assert done.exit_code == 0, done.output
    assert load("model.labelens").n_samples_seen_ == 80


def test_a_model_is_not_merged_with_itself(run, mixed):
    assert run("fit", "data.csv", "--label", "y", "--method", "spca", "--moments").exit_code == 0
    done = run("merge", "model.labelens", "model.labelens", "--out", "m.labelens")
    assert done.exit_code == 1
    assert "would count twice" in " ".join(done.output.split())


def saw(run):
    done = run("info", "embedding/model.labelens")
    assert done.exit_code == 0
    return done.output


# Rows --------------------------------------------------------------------------------------------


def test_a_given_split_is_kept(run, rng, tmp_path):
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    frame["y"] = np.where(frame["a"] > 0, "p", "q")
    frame[:60].to_csv("data.csv", index=False)
    frame[60:].assign(a=lambda f: -f["a"]).to_csv("test.csv", index=False)  # all wrong
    facts, _ = told(run, "--test", "test.csv", "--format", "csv")
    assert facts["labels"][0]["heldout"] < 0.4
    assert (facts["model_rows"], facts["rows"]) == (60, 90)
    found = pd.read_csv(tmp_path / "embedding" / "embedding.csv")
    assert found["part"].tolist() == ["train"] * 60 + ["test"] * 30
    told(run)
    assert "45 of 60 rows (75%)" in " ".join(saw(run).split())
    assert told(run, "--refit")[0]["model_rows"] == 60
    assert "rows (" not in saw(run)
    assert load(tmp_path / "embedding" / "model.labelens").n_samples_seen_ == 60


def test_rows_without_a_label_are_placed(run, rng, tmp_path):
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    frame["name"] = [f"row {i}" for i in range(90)]
    frame["y"] = np.where(frame["a"] > 0, "p", "q")
    frame.loc[::9, "y"] = None
    frame.to_csv("data.csv", index=False)
    facts, notes = told(run, "--id", "name", "--format", "csv")
    assert (facts["rows"], facts["features"]) == (80, 3)
    assert "10 rows without a label" in notes
    found = pd.read_csv(tmp_path / "embedding" / "embedding.csv").set_index("name")
    assert sorted(found.index) == sorted(frame["name"])
    lost = found.loc[frame.loc[::9, "name"]]
    assert set(lost["part"]) == {"unlabelled"}
    assert lost["label_y"].isna().all()
    done = run("transform", "embedding/model.labelens", "data.csv", "--out", "z.csv")
    assert done.exit_code == 0, done.output
    again = pd.read_csv(tmp_path / "z.csv").set_index("row").loc[::9, ["z1", "z2"]]
    np.testing.assert_allclose(lost[["z1", "z2"]], again, atol=1e-12)


def test_features_by_pattern(run, rng):
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=["GENE1", "GENE2", "age", "x"])
    frame.assign(y=["a", "b"] * 30).to_csv("data.csv", index=False)
    assert told(run, "--features", "GENE*")[0]["features"] == 2
    assert told(run, "--features", "GENE*", "--features", "age")[0]["features"] == 3
    done = run("embed", "data.csv", "--label", "y", "--features", "PROT*", "--force")
    assert "matches no column" in done.output
