"""Every command as a new user would try it."""

import json
import os
import re
import signal
import struct
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from typer.main import get_command
from typer.testing import CliRunner

from labelens import SupervisedPCA, SupervisedRandomProjection, load
from labelens.cli import embed as embedding
from labelens.cli.app import app
from labelens.label_kernels import Tree

HOSTILE = (
    "<script>alert(1)</script>",
    "=1+1",
    "../x",
    "[bold]x[/]",
    "na\u00efve \u65e5\u672c",
    "$x_1$",
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["labelens", "embed", "iris.csv"])
    return lambda *args: CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture
def iris(tmp_path):
    data = load_iris(as_frame=True)
    frame = data.data.assign(species=data.target_names[data.target])
    frame.to_csv(tmp_path / "iris.csv", index=False)
    return frame


def test_embed_does_the_whole_job(run, iris, tmp_path):
    done = run("embed", "iris.csv", "--label", "species", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["rows"] == 150
    assert facts["features"] == 4
    assert facts["classes"] == 3
    assert facts["held-out 1-NN accuracy"] > 0.85
    assert facts["... with shuffled labels"] < 0.6
    assert "has the best held-out" in facts["why"]
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
    for words in ("held-out 1-NN accuracy", "raw columns", "commonest class", "shuffled labels"):
        assert words in done.stdout


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
    widths = re.split(", | or ", told["gamma"].removeprefix("Kernel width: a number, ").rstrip("."))
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
    wanted = "held-out 1-NN accuracy" if kind == "several classes" else "held-out k-NN R^2"
    if kind == "continuous":
        assert facts[wanted] > 0.5
        return
    for name in labels:
        scores = facts[f"label {name}"]
        assert scores[wanted] > scores["with shuffled labels"] + 0.1
        assert scores["of the raw columns"] > 0.1
    if kind == "several classes":
        assert [facts[f"label {name}"]["classes"] for name in labels] == [3, 2]
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
    assert wide / high == pytest.approx(7 / 6, abs=0.05)  # three by three


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("a,y\n", "no rows"),
        ("a,y\n1,x\n2,x\n3,x\n4,x\n5,x\n6,x\n7,x\n8,x\n9,x\n", "the same label, 'x'"),
        ("a,y\n1,x\n2,z\n", "2 rows"),
        ("y\nx\nz\n", "No column is left"),
        (
            "a,y\n" + "\n".join(f"{i},{'x' if i % 2 else 'z'}" for i in range(9)) + "\n,x\n",
            "--impute",
        ),
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
    assert any(f"{names[0]!r} (row 5 holds '5.1O')" in note for note in notes)


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
    assert json.loads(done.stdout)["classes"] == 500


def test_interrupted_nothing_is_left(run, iris, tmp_path, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(embedding, "write_report", stop)
    done = run("embed", "iris.csv", "--label", "species", "--method", "spca")
    assert done.exit_code == 130
    assert os.listdir(tmp_path) == ["iris.csv"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_reader_that_leaves_is_no_crash(iris, tmp_path):
    command = f"{sys.executable} -m labelens --help | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("moment", ["loading", "working", "hidden", "tidying"])
def test_asked_to_end(iris, tmp_path, number, moment):
    """At a known moment: code that sends the signal to itself stands in for a user."""
    code = {
        "loading": "import builtins; load = builtins.__import__;"
        "builtins.__import__ = lambda n, *a: ask() if n == 'app' else load(n, *a)",
        "working": "import labelens.persist.model as m; m.packed = lambda *a: ask()",
        "hidden": "import labelens.persist.model as m\ndef hide(*a):\n"
        "    try: ask()\n    except KeyboardInterrupt: raise ImportError('initialization failed')\n"
        "m.packed = hide",
        "tidying": "import labelens.cli.output as o; rm = o.shutil.rmtree;"
        "o.shutil.rmtree = lambda *a, **k: (ask(), ask(), rm(*a, **k));"
        "import labelens.persist.model as m; m.packed = lambda *a: ask()",
    }[moment]
    start = (  # a job in the background, such as this may be, hears no Ctrl-C
        "import os, signal, sys, time; from labelens.cli import main;"
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        f"ask = lambda: (os.kill(os.getpid(), {int(number)}), time.sleep(0.05));"
    )
    sys_argv = "sys.argv = 'labelens fit iris.csv --label species --method spca'.split();"
    run = [sys.executable, "-c", start + sys_argv + code + "\nmain()"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 128 + number
    assert done.stderr == "Stopped; nothing was written.\n"
    assert os.listdir(tmp_path) == ["iris.csv"]


def test_help_shows_examples(run):
    for command in ("embed", "fit", "transform", "info", "demo", "reproduce"):
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


# Files larger than memory ------------------------------------------------------------------------


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
    failed = run(*asked)
    assert failed.exit_code == 1
    assert "'name' of part9.parquet holds" in failed.output
    done = run(*asked, "--drop", "name", "--drop", "a")
    assert done.exit_code == 0, done.output
    assert list(load(tmp_path / "model.labelens").feature_names_in_) == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("none*.parquet", "--label", "kind"), "No file is called none*.parquet"),
        (("part*.parquet",), "Which column is the label?"),
        (("part*.parquet", "--label", "kin"), "has no column 'kin'"),
        (("part*.parquet", "--label", "kind", "--impute", "mean"), "--impute needs all rows"),
        (("part*.parquet", "--label", "kind", "--memory", "9MB"), "memory='9MB' is not enough"),
    ],
)
def test_fit_many_files_refuses_in_words(run, parts, tmp_path, asked, words):
    failed = run("fit", *asked, "--method", "srp")
    assert failed.exit_code == 1
    assert words in failed.output
    assert not list(tmp_path.glob("*.labelens"))


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
    assert run("fit", "part0.parquet", "--label", "kind", "--out", "s.labelens").exit_code == 0
    failed = run("merge", "0.labelens", "s.labelens", "--out", "x.labelens")
    assert failed.exit_code == 1
    assert "without its moments" in failed.output
