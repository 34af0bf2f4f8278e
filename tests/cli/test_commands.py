"""Every command as a new user would try it."""

import json
import os
import re
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

from labelens import KernelSupervisedPCA, load
from labelens.cli.app import app
from labelens.cli.output import show
from labelens.label_kernels import Tree

HOSTILE = (
    "<script>alert(1)</script>",
    "=1+1",
    "../x",
    "[bold]x[/]",
    "na\u00efve \u65e5\u672c",
    "$x_1$",
)


def test_embed_does_the_whole_job(run, iris, tmp_path):
    done = run("embed", "iris.csv", "--label", "species", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["rows"] == 150
    assert facts["features"] == 4
    (scores,) = facts["labels"]
    assert (scores["name"], scores["classes"], scores["metric"]) == ("species", 3, "1-NN accuracy")
    assert scores["heldout"] > 0.85
    assert scores["shuffled"] < 0.6
    assert scores["interval"][0] < scores["heldout"] < scores["interval"][1]
    assert f"accuracy {scores['heldout']:.3f}" in scores["verdict"]
    assert Path(facts["files"]["report"]).exists()
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "cli.md").read_text()
    keys = guide.partition("### Keys of `--json`")[2].partition("\n## ")[0]
    promised = {key for line in keys.split("\n") for key in re.findall(r"`(\w+)`", line[:60])}
    assert promised == facts.keys() | scores.keys()
    assert "the best held-out" in facts["why"]
    folder = tmp_path / "embedding"
    assert sorted(p.name for p in folder.iterdir()) == [
        "embedding.parquet",
        "embedding.png",
        "model.labelens",
        "report.html",
    ]
    frame = pd.read_parquet(folder / "embedding.parquet")
    assert list(frame.columns) == ["row", "part", "label_species", "z1", "z2"]
    assert len(frame) == 150
    model = load(folder / "model.labelens")
    rows = iris.drop(columns="species")
    np.testing.assert_allclose(model.transform(rows), frame[["z1", "z2"]])


def test_the_table_is_short_and_honest(run, iris):
    done = run("embed", "iris.csv", "--label", "species", "--method", "spca")
    assert done.exit_code == 0, done.output
    for words in ("held-out 1-NN accuracy", "raw columns", "largest class", "shuffled labels"):
        assert words in done.stdout
    assert "This embedding predicts held-out labels: accuracy" in " ".join(done.stdout.split())
    assert "embedding/report.html" in done.stdout


def test_long_parameters_are_shown_without_the_line_breaks_of_scikit_learn(capsys):
    base = KernelSupervisedPCA(5, kernel="laplacian", approximation="exact", gamma=0.25)
    assert "\n" in str(base)
    show({"parameters": {"estimator": base}}, False, False)
    assert "\\n" not in capsys.readouterr().out


def test_the_report_is_opened_if_asked(run, iris, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    fit = ("embed", "iris.csv", "--label", "species", "--method", "spca", "--force")
    assert run(*fit).exit_code == 0
    assert not opened
    assert run(*fit, "--open").exit_code == 0
    assert opened == [(tmp_path / "embedding" / "report.html").as_uri()]


def test_nothing_is_overwritten_without_force(run, iris, tmp_path):
    assert run("embed", "iris.csv", "--label", "species", "--method", "srp").exit_code == 0
    before = (tmp_path / "embedding" / "report.html").read_bytes()
    again = run("embed", "iris.csv", "--label", "species", "--method", "spca")
    assert again.exit_code == 1
    assert "--force" in again.output
    assert (tmp_path / "embedding" / "report.html").read_bytes() == before
    forced = run("embed", "iris.csv", "--label", "species", "--method", "spca", "--force")
    assert forced.exit_code == 0


def test_fit_transform_info(run, iris, tmp_path):
    fitted = run("fit", "iris.csv", "--label", "species", "--method", "kspca", "--gamma", "0.1")
    assert fitted.exit_code == 0, fitted.output
    shown = run("info", "model.labelens")
    assert "KernelSupervisedPCA" in shown.stdout
    assert json.loads(run("info", "model.labelens", "--json").stdout)
    iris.drop(columns="species").iloc[::-1].to_parquet(tmp_path / "new.parquet")
    done = run("transform", "model.labelens", "new.parquet", "--out", "z.csv")
    assert done.exit_code == 0, done.output
    assert list(pd.read_csv("z.csv").columns) == ["row", "z1", "z2"]
    again = run("transform", "model.labelens", "new.parquet", "--out", "z.csv")
    assert again.exit_code == 1
    assert "--force" in again.output


@pytest.mark.parametrize("command", ["embed", "fit"])
def test_labels_that_are_alike(run, iris, tmp_path, command):
    paths = iris.species.map(lambda name: f"iris/{'small' if name == 'setosa' else 'large'}/{name}")
    iris.assign(species=paths).to_csv("iris.csv", index=False)
    out = tmp_path / "out"
    options = ["--label-kernel", "tree", "--class-weight", "balanced", "--method", "spca"]
    done = run(command, "iris.csv", "--label", "species", "--out", out, *options)
    assert done.exit_code == 0, done.output
    model = load(out / "model.labelens" if command == "embed" else out)
    assert model.label_kernel_ == Tree()
    assert model.class_weight == "balanced"
    done = run(command, "iris.csv", "--label", "species", "--label-kernel", "forest")
    assert done.exit_code == 2
    sets = pd.get_dummies(iris.species).astype(int).join(iris.drop(columns="species"))
    sets.to_csv("sets.csv", index=False)
    names = [text for name in iris.species.unique() for text in ("--label", name)]
    options = ["--label-kernel", "jaccard", "--out", tmp_path / "sets", "--method", "spca"]
    done = run(command, "sets.csv", *names, *options)
    assert done.exit_code == 0, done.output


def test_help_names_kernels_and_widths_that_are_there(run, iris, tmp_path):
    told = {option.name: option.help for option in get_command(app).commands["fit"].params}
    kernels = told["kernel"].rstrip(".").split(", ")
    gammas = told["gamma"].removeprefix("Kernel coefficient: a number, ").rstrip(".")
    widths = re.split(", | or ", gammas)
    assert {"rbf", "linear", "auto"} < {*kernels, *widths}
    given = [*(("--kernel", kernel) for kernel in kernels), *(("--gamma", w) for w in widths)]
    for number, option in enumerate(given):
        columns = ("--label", "species", "--method", "kspca", "--out", f"{number}.labelens")
        done = run("fit", "iris.csv", *columns, *option)
        assert done.exit_code == 0, done.output


def test_options_that_go_together_are_shown_together(run):
    shown = run("embed", "--help").stdout
    columns, method = (shown.index(words) for words in ("Which columns are", "The method and its"))
    assert columns < shown.rindex("--impute") < method < shown.rindex("--shrinkage")


def test_demo(run, tmp_path):
    done = run("demo")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "labelens-demo" / "report.html").exists()


@pytest.mark.parametrize("kind", ["continuous", "several", "several classes"])
def test_labels_that_are_not_one_class(run, iris, tmp_path, kind):
    names = list(iris.columns)
    labels = dict(
        continuous=[names[0]], several=names[:2], **{"several classes": ["species", "species2"]}
    )[kind]
    iris.assign(species2=iris["species"].str[0]).to_csv(tmp_path / "iris.csv", index=False)
    options = [part for name in labels for part in ("--label", name)]
    done = run("embed", "iris.csv", *options, "--method", "spca", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    scores = {one["name"]: one for one in facts["labels"]}
    assert list(scores) == labels
    for one in scores.values():
        wanted = "1-NN accuracy" if kind == "several classes" else "k-NN R^2"
        assert one["metric"] == wanted
        assert one["heldout"] > one["shuffled"] + 0.1
        assert one["raw"] > 0.1
    if kind == "continuous":
        return
    if kind == "several classes":
        assert [one["classes"] for one in scores.values()] == [3, 2]
    table = run("embed", "iris.csv", *options, "--method", "spca", "--force").stdout
    assert all(f"label {name}" in table for name in labels)
    page = (tmp_path / "embedding" / "report.html").read_text()
    assert all(f"<h3><bdi>{name}</bdi></h3>" in page for name in labels)
    wide, high = image_size(tmp_path / "embedding" / "embedding.png")
    assert wide > 1.8 * high  # a picture for each


def image_size(path):
    return struct.unpack(">II", path.read_bytes()[16:24])


def test_many_labels_in_one_picture(run, rng, tmp_path):
    X = rng.normal(size=(60, 3))
    names = [f"y{i}" for i in range(11)]
    frame = pd.DataFrame(X, columns=list("abc"))
    frame[names] = (rng.normal(size=(60, 11)) + X[:, :1] > 0).astype(int)
    frame.to_csv(tmp_path / "data.csv", index=False)
    options = [part for name in names for part in ("--label", name)]
    done = run("embed", "data.csv", *options, "--method", "spca")
    assert done.exit_code == 0, done.output
    wide, high = image_size(tmp_path / "embedding" / "embedding.png")
    assert 0.8 < wide / high < 1.5  # three by three, as square as the data


def test_labels_of_two_kinds_are_refused(run, iris, tmp_path):
    done = run("embed", "iris.csv", "--label", "species", "--label", iris.columns[0])
    assert done.exit_code == 1
    assert "some are numbers" in " ".join(done.output.split())
    again = run("embed", "iris.csv", "--label", "species", "--label", "species")
    assert "named twice" in again.output
    assert os.listdir(tmp_path) == ["iris.csv"]


@pytest.mark.parametrize("method", ["srp", "ksrp", "spca", "kspca", "pca"])
def test_every_method(run, iris, method):
    done = run("embed", "iris.csv", "--label", "species", "--method", method, "--quiet")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label", "specis"], "Did you mean 'species'"),
        ([], "Which column is the label"),
        (["--label", "species", "--drop", "nothing"], "no column 'nothing'"),
        (["--label", "species", "--method", "spca", "--gamma", "1"], "--gamma is for the kernel"),
        (["--label", "species", "--gamma", "wide"], "--gamma must be a number"),
        (["--label", "species", "--shrinkage", "much"], "--shrinkage must be"),
        (["--label", "species", "--kernel", "magic"], "kernel must be one of"),
        (["--label", "species", "--components", "9", "--method", "spca"], ""),
    ],
)
def test_wrong_options_are_explained(run, iris, tmp_path, options, message):
    done = run("embed", "iris.csv", *options)
    if message:
        assert done.exit_code == 1
        assert message in " ".join(done.output.split())
        assert not list((tmp_path / "embedding").glob("*"))
    assert "Traceback" not in done.output


def test_hostile_names_do_nothing(run, rng, tmp_path):
    frame = pd.DataFrame({name: rng.normal(size=60) for name in HOSTILE})
    frame["../label"] = [HOSTILE[i % len(HOSTILE)] for i in range(60)]
    frame["<i>"] = [HOSTILE[i % 3] for i in range(60)]
    frame.to_csv(tmp_path / "data.csv", index=False)
    done = run("embed", "data.csv", "--label", "../label", "--format", "csv", "--method", "spca")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "embedding" / "embedding.csv").read_text()
    assert '"=1+1"' not in text
    assert "'=1+1" in text
    assert "<script>alert(1)</script>" not in (tmp_path / "embedding" / "report.html").read_text()
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "embedding"]


def test_many_classes(run, rng, tmp_path):
    y = np.repeat(np.arange(500), 4)
    X = rng.normal(size=(2000, 5)) + rng.normal(size=(500, 5))[y] * 5
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.assign(y=[f"class {i}" for i in y]).to_parquet(tmp_path / "data.parquet")
    done = run("embed", "data.parquet", "--label", "y", "--method", "spca", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["labels"][0]["classes"] == 500


def test_help_shows_examples(run):
    for command in ("embed", "fit", "transform", "info", "demo"):
        shown = run(command, "--help")
        assert shown.exit_code == 0
        assert "Usage" in shown.output
    assert "labelens embed iris.csv --label species" in run("embed", "--help").output


def test_whole_numbers_that_are_no_classes(run, rng, tmp_path):
    """House prices: the kernel on labels must know that 101 is close to 100."""
    X = rng.normal(size=(600, 3))
    price = (1000 * X[:, 0]).round().astype(int)
    pd.DataFrame(X, columns=list("abc")).assign(price=price).to_csv("data.csv", index=False)
    done = run("embed", "data.csv", "--label", "price", "--method", "kspca", "--components", "1")
    assert done.exit_code == 0, done.output
    model = load(tmp_path / "embedding" / "model.labelens")
    assert model.label_kernel_ == "rbf"


def test_a_file_sorted_by_its_label(run, tmp_path):
    frame = pd.DataFrame({"a": np.arange(100_050) % 7, "y": np.arange(100_050) >= 100_010})
    frame.to_parquet(tmp_path / "data.parquet")
    done = run("fit", "data.parquet", "--label", "y", "--method", "srp", "--components", "1")
    assert done.exit_code == 0, done.output


def test_version(run):
    assert run("--version").output.startswith("labelens ")
