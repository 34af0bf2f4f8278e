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
        ("a,y\n1,x\n2,x\n3,x\n4,x\n5,x\n6,x\n7,x\n8,x\n9,x\n", "a single value, 'x'"),
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
        ({"species": [f"row {i}" for i in range(150)]}, "Every row has a different label"),
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


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["embed", "--check", "--groups", "species"], "--check needs independent rows"),
        (["audit", "--groups", "species"], "audit does not use --groups"),
        (["audit", "--nuisance", "species"], "audit does not use --nuisance"),
    ],
)
def test_options_are_used_or_rejected(run, iris, command, message):
    done = run(command[0], "iris.csv", "--label", "species", *command[1:])
    assert done.exit_code == 1
    assert message in " ".join(done.output.split())


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
    assert not told["notes"]
    done = run(*blind, "--target-weight", "0.5", "--force")
    assert done.exit_code == 1
    assert "--method pca ignores the labels" in " ".join(done.output.split())


def test_methods_are_compared_on_ten_rows(run, iris):
    iris.groupby("species").head(4).to_csv("iris.csv", index=False)
    done = run("embed", "iris.csv", "--label", "species", "--json")
    assert done.exit_code == 0, done.output
    assert "folds of all 9 rows" in json.loads(done.stdout)["why"]


@pytest.mark.parametrize("command", ["embed", "explore"])
@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["label", *(f"pixel{j}" for j in range(784))], "Perhaps --label label. The file has 785"),
        (["id", "diagnosis", *(f"m{j}" for j in range(30))], "--label diagnosis."),
        ([*(f"x{j}" for j in range(9)), "cell type"], "Perhaps --label 'cell type'."),
        (["petalLength", "irisSpecies", "a"], "--label irisSpecies."),
        ([f"x{j}" for j in range(9)], "Name it with --label. The file has 9 columns: 'x0', 'x1', "
         "'x2', ..., 'x6', 'x7', 'x8'."),
    ],
)  # fmt: skip
def test_a_label_that_is_not_named_is_guessed(run, tmp_path, command, names, words):
    pd.DataFrame([[0] * len(names)] * 9, columns=names).to_csv(tmp_path / "d.csv", index=False)
    done = run(command, "d.csv")
    assert done.exit_code == 1
    assert words in " ".join(done.output.split())


def test_the_title_of_a_figure_is_whole(iris, monkeypatch, tmp_path, run):
    """Of every label: within the figure, and on nothing else."""
    import matplotlib.figure
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    seen = []
    plain = matplotlib.figure.Figure.savefig

    def savefig(figure, *args, **kwargs):
        plain(figure, *args, **kwargs)
        seen.append(figure)

    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", savefig)
    frame = pd.concat([iris] * 3, ignore_index=True)
    long = "a column with a name that is far too long to be the title of a figure, " * 3
    frame[long] = [f"class {i % 30}" for i in range(len(frame))]
    frame.to_csv(tmp_path / "long.csv", index=False)
    for labels in (["--label", "species"], ["--label", "species", "--label", long]):
        done = run("embed", "long.csv", *labels, "--method", "kspca", "--force", "--quiet")
        assert done.exit_code == 0, done.output
        figure = seen.pop()
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        width, height = figure.bbox.size
        for ax in figure.axes:
            boxes = [
                text.get_window_extent(renderer)
                for text in (ax.title, ax._left_title, ax._right_title)
                if text.get_text()
            ]
            for box in boxes:
                assert box.x0 >= 0
                assert box.x1 <= width
                assert box.y1 <= height
            assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
