"""Figures of the experiments."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from experiments.reading import Page, words_of, written
from experiments.small import METHODS, make_frames, table
from paper import figures as drawing
from paper import frames as tidy
from paper import looks


def test_every_figure_shows_its_parts(figures):
    assert list(figures) == [
        "figure1-visualisation", "figure2-classification", "times", "complexity", "claim1",
        "kernel-error", "unlabelled",
    ]  # fmt: skip
    expected = {
        "figure1-visualisation": ("XOR", "Sonar", "KSRP, 1-NN 87.5%", "class a", "test row"),
        "figure2-classification": ("MNIST", "fit time", "KSPCA", "label noise", "target_weight"),
        "times": ("KSRP", "authors' clock", "labelens", "1,600"),
        "complexity": ("d, columns", "formulas as written", "SRP"),
        "claim1": ("digits", "orthogonal", "k = classes - 1"),
        "kernel-error": ("Sonar", "fastfood", "random features"),
        "unlabelled": ("PCA", "SRP without labels", "share of variance"),
    }
    for name, parts in expected.items():
        words = words_of(figures[name])
        assert [part for part in parts if part not in words] == [], name


def test_no_text_leaves_its_figure(figures):
    for name, figure in figures.items():
        figure.draw_without_rendering()
        inside = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        assert min(inside.x0, inside.y0, width - inside.x1, height - inside.y1) >= 0, name


def test_a_method_looks_the_same_everywhere(figures):
    looks = set()
    for name in ("figure2-classification", "complexity"):
        for legend in figures[name].legends:
            for line in legend.get_lines():
                if line.get_label() in METHODS:
                    looks.add((line.get_label(), line.get_color(), line.get_marker()))
    panels = figures["times"].axes
    looks |= {(ax.get_title(), ax.lines[0].get_color(), ax.lines[0].get_marker()) for ax in panels}
    assert len(looks) == len(METHODS) == len({look[1:] for look in looks})


def test_classes_differ_in_shape_and_test_rows_are_filled(figures):
    ax = figures["figure1-visualisation"].axes[0]
    train_a, train_b, test_a, test_b = ax.collections
    assert len(train_a.get_paths()[0]) != len(train_b.get_paths()[0])
    assert [len(part.get_facecolor()) for part in (train_a, train_b, test_a, test_b)] == [
        0,
        0,
        1,
        1,
    ]


def test_the_spread_of_a_single_run_is_zero(frames):
    one = frames["classification"].query("dataset == 'Ionosphere' and method == 'SRP'")
    spread = tidy.spread(one[one["device"] == "plain"], "k", "accuracy")
    assert spread["std"].tolist() == [0, 0, 0]
    assert spread["mean"].tolist() == pytest.approx([0.54, 0.58, 0.86])


def test_bands_on_logarithmic_axes_stay_positive():
    """A standard deviation above the mean would reach below zero."""
    ax = looks.new_figure(3, 3).subplots()
    runs = table("k run value", [(1, 0, 1.0), (1, 1, 1.0), (1, 2, 16.0), (2, 0, 1.0)])
    spread = tidy.spread(runs, "k", "value")
    looks.line(ax, spread, ("#000000", "o"), band="std", logs=True)
    heights = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == 1
    assert heights.max() == pytest.approx(6 + np.sqrt(75))


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(2e-6, "2 µs"), (9.996e-4, "1 ms"), (0.9996, "1 s"), (0.25, "250 ms"), (4321.0, "4,321 s")],
)
def test_durations(seconds, shown):
    assert tidy.duration(seconds) == shown


def test_missing_frames_are_told(tmp_path, frames):
    hollow = {
        "visualisation": frames["visualisation"].iloc[:0],
        "classification": pd.DataFrame(),
        "times": frames["times"].assign(seconds=np.nan),
        "unlabelled": None,
    }
    figures = drawing.draw_all(hollow)
    assert len(figures) == 7
    assert all("no numbers for this figure" in words_of(figure) for figure in figures.values())
    page = Page(written(tmp_path, hollow, figures))
    assert page.words.count("This run has no numbers for this part") == 7
    assert page.images == []
    assert "No claims were checked" in page.words


def test_a_run_without_mnist_shows_the_rest(tmp_path, frames):
    fewer = {"classification": frames["classification"].query("dataset != 'MNIST'")}
    figures = drawing.draw_all(fewer)
    assert "MNIST" not in words_of(figures["figure2-classification"])
    page = Page(written(tmp_path, fewer, figures))
    assert "no numbers for it: MNIST." in page.words


def test_a_panel_that_was_not_measured_says_so(frames):
    two = frames["visualisation"].query("method in ('SRP', 'KSRP')")
    cut = two.query("dataset != 'Sonar' or method != 'KSRP'")
    figure = drawing.draw_all({"visualisation": cut})["figure1-visualisation"]
    assert words_of(figure).count("not measured") == 1


def test_the_same_numbers_give_the_same_files(figures):
    names = {"figure1-visualisation": "visualisation", "times": "times", "claim1": "claim1"}
    first = {name: drawing.render(figures[name], "svg") for name in names}
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": None, "axes.facecolor": "red"}):
        frames = make_frames()
        again = drawing.draw_all({source: frames[source] for source in names.values()})
        assert first == {name: drawing.render(again[name], "svg") for name in names}
        assert mpl.rcParams["font.size"] == 20
    assert drawing.render(figures["claim1"], "png") == drawing.render(again["claim1"], "png")
    # A second rendering does not move anything.
    assert drawing.render(again["claim1"], "svg") == first["claim1"]
    assert b"<dc:date>" not in first["claim1"]
    assert b"<text" in first["claim1"]


def test_save_writes_whole_files_or_none(tmp_path, figures, monkeypatch):
    one = {"unlabelled": figures["unlabelled"]}
    paths = drawing.save(one, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["unlabelled.png", "unlabelled.svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    before = paths[0].read_bytes()

    def full_disk(*_):
        raise OSError("disk full")

    monkeypatch.setattr(drawing.os, "replace", full_disk)
    with pytest.raises(OSError, match="disk full"):
        drawing.save({"unlabelled": figures["times"]}, tmp_path / "new" / "folder")
    assert sorted(paths[0].parent.iterdir()) == paths
    assert paths[0].read_bytes() == before
