"""New rows become features as the training rows did, whatever else is in their file."""

import json

import numpy as np
import pandas as pd
import pytest

from labelens import load, persist, save
from labelens.tables import EncodedColumn, TableEncoder


@pytest.fixture
def passengers(tmp_path, rng):
    """Numbers with gaps, a column of text with gaps, and names with a "="."""
    n = 120
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.normal(40, 12, n).round(1)),
            "fare": rng.gamma(2, 20, n).round(2),
            "port=of": rng.choice(["S", "C=x", "Q", None], n, p=[0.6, 0.2, 0.1, 0.1]),
            "survived": rng.choice(["no", "yes"], n),
        }
    )
    frame.to_csv(tmp_path / "train.csv", index=False)
    return frame


def embedded(run, tmp_path, frame, *options):
    """The embedding of some rows, by their number."""
    frame.to_csv(tmp_path / "new.csv", index=False)
    done = run("transform", "model.labelens", "new.csv", "--out", "z.csv", "--force", *options)
    assert done.exit_code == 0, done.output
    return pd.read_csv(tmp_path / "z.csv").set_index("row").to_numpy()


def fitted(run, *options):
    names = "--label", "survived", "--method", "spca", "--components", "2", *options
    done = run("fit", "train.csv", *names, "--force")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("how", ["mean", "median"])
@pytest.mark.parametrize("again", [True, False])
def test_a_row_is_where_it_is_in_any_file(run, tmp_path, passengers, how, again):
    fitted(run, "--impute", how)
    options = ["--impute", how] if again else []
    whole = embedded(run, tmp_path, passengers, *options)
    gap = int(np.flatnonzero(passengers["age"].isna())[0])
    for rows in (slice(gap, gap + 1), slice(gap, gap + 6), slice(None, None, -1)):
        some = embedded(run, tmp_path, passengers.iloc[rows], *options)
        np.testing.assert_allclose(some, whole[rows], rtol=1e-12)
    lone = passengers.iloc[[gap]].assign(**{"port=of": None}).drop(columns="survived")
    assert embedded(run, tmp_path, lone, *options).shape == (1, 2)


def test_the_embedding_of_embed_is_that_of_transform(run, tmp_path, passengers):
    options = "--label", "survived", "--method", "spca", "--impute", "median", "--format", "csv"
    done = run("embed", "train.csv", *options)
    assert done.exit_code == 0, done.output
    first = pd.read_csv(tmp_path / "embedding" / "embedding.csv")[["z1", "z2"]].to_numpy()
    (tmp_path / "embedding" / "model.labelens").rename(tmp_path / "model.labelens")
    np.testing.assert_allclose(embedded(run, tmp_path, passengers.iloc[:5]), first[:5], rtol=1e-9)


def test_rows_with_gaps_are_left_out_where_they_were_in_training(run, tmp_path, passengers):
    fitted(run, "--impute", "drop")
    whole = passengers.drop(columns="survived").notna().all(axis=1).sum()
    assert len(embedded(run, tmp_path, passengers)) == whole < len(passengers)
    done = run("transform", "model.labelens", "new.csv", "--out", "no.csv", "--impute", "mean")
    assert done.exit_code == 1
    told = " ".join(done.output.split())
    assert "no mean of its training rows" in told
    assert "fitted with --impute drop" in told


def test_values_come_from_training_or_not_at_all(run, tmp_path, passengers):
    whole = passengers.dropna()
    whole.to_csv(tmp_path / "train.csv", index=False)
    fitted(run)
    passengers.to_csv(tmp_path / "new.csv", index=False)
    done = run("transform", "model.labelens", "new.csv", "--out", "z.csv", "--impute", "median")
    assert done.exit_code == 1
    assert "--impute drop" in " ".join(done.output.split())
    assert len(embedded(run, tmp_path, passengers)) == len(passengers)
    assert len(embedded(run, tmp_path, passengers, "--impute", "drop")) == len(whole)
    fitted(run, "--impute", "median")  # without any gap, for those to come
    assert len(embedded(run, tmp_path, passengers)) == len(passengers)


def test_the_file_says_how_and_merged_models_keep_it(run, tmp_path, passengers):
    fitted(run, "--impute", "median", "--moments", "--scale", "none")
    assert json.loads(run("info", "model.labelens", "--json").stdout)["impute"] == "median"
    _, table = persist.load_with_table("model.labelens")
    age, fare, port = table.columns_
    assert (age.name, fare.name, port.name) == ("age", "fare", "port=of")
    assert port.levels[0] == "C=x"
    assert age.fill == (passengers["age"].median(),)
    (tmp_path / "model.labelens").rename(tmp_path / "half.labelens")
    passengers[::-1].to_csv(tmp_path / "train.csv", index=False)
    done = run("fit", "train.csv", "--label", "survived", "--like", "half.labelens")
    assert done.exit_code == 0, done.output
    before = embedded(run, tmp_path, passengers)
    (tmp_path / "model.labelens").rename(tmp_path / "other.labelens")
    done = run("merge", "half.labelens", "other.labelens", "--out", "model.labelens")
    assert done.exit_code == 0, done.output
    np.testing.assert_allclose(embedded(run, tmp_path, passengers), before, rtol=1e-9)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kind": "colour"}, "no known kind"),
        ({"reading": "roman"}, "no known kind"),
        ({"reading": "iso"}, "is not read as iso"),
        ({"fill": ()}, "do not fit"),
        ({"levels": ("a",)}, "without being a category"),
        ({"kind": "list", "fill": ()}, "do not fit"),
    ],
)
def test_a_column_that_is_none(changes, told):
    good = {"name": "a", "kind": "number", "fill": (1.0,)}
    assert EncodedColumn(**good).features == ["a"]
    with pytest.raises(ValueError, match=told):
        EncodedColumn(**good | changes)


def test_a_table_of_other_columns_is_not_saved(run, tmp_path, passengers):
    fitted(run, "--impute", "mean")
    model = load("model.labelens")
    with pytest.raises(ValueError, match="not those that the model was fitted on"):
        save(model, tmp_path / "other", table=TableEncoder.of([EncodedColumn("a", "text")], "mean"))


def test_maps_through_files_in_chunks(run, tmp_path, iris):
    """An atlas is what fit makes of classes; it embeds files in chunks as files read at once."""
    assert run("fit", "iris.csv", "--label", "species").exit_code == 0
    for out, more in (("Z.npy", ()), ("Z.csv", ("--memory", "500MB")), ("whole.csv", ())):
        done = run("transform", "model.labelens", "iris.csv", "--out", out, *more)
        assert done.exit_code == 0, done.output
    whole = pd.read_csv("whole.csv").to_numpy()[:, -2:]
    np.testing.assert_allclose(np.load("Z.npy"), whole, atol=1e-9)
    np.testing.assert_allclose(pd.read_csv("Z.csv"), whole, atol=1e-9)
    done = run("fit", "iris.csv", "--label", "species", "--like", "model.labelens", "--force")
    assert done.exit_code == 1
    assert "holds a map, an Atlas, which has no moments" in done.output
