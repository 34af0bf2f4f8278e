"""The bar on the terminal: when it is shown, and that it goes through its stages."""

import io
import time

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from labelens.cli import output
from labelens.cli.app import app
from labelens.cli.output import Bar


@pytest.fixture
def screen(monkeypatch):
    """A terminal that remembers what was written to it."""
    console = Console(file=io.StringIO(), force_terminal=True, width=100, legacy_windows=False)
    monkeypatch.setattr(output, "messages", console)
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    return console


def shown(screen, stages, quiet=False, seconds=0.4):
    with Bar(stages, quiet) as bar:
        bar.at(stages[-1], 0.5)
        time.sleep(seconds)
    return screen.file.getvalue()


def test_stages_are_named_and_counted(screen):
    text = shown(screen, ["reading", "[bold]fitting"])
    assert "[bold]fitting (2 of 2)" in text
    assert "0:00:0" in text
    assert screen.file.getvalue().endswith("\x1b[2K")  # the line is gone at the end


def test_of_one_stage_nothing_is_known(screen):
    bar = Bar(["reading"])
    bar.at("reading", 0.5)
    assert bar._line.tasks[0].total is None
    assert "reading" in shown(screen, ["reading"])
    assert " of 1" not in screen.file.getvalue()


def test_quiet_means_quiet(screen):
    assert shown(screen, ["a", "b"], quiet=True) == ""


def test_nobody_looks_at_a_file(screen, monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=False)
    monkeypatch.setattr(output, "messages", screen)
    assert shown(screen, ["a", "b"]) == ""


def test_short_work_shows_none(screen, monkeypatch):
    monkeypatch.setattr(output, "PATIENCE", 30.0)
    assert shown(screen, ["a", "b"]) == ""


@pytest.fixture
def data(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    y = np.arange(80) % 3
    frame = pd.DataFrame(rng.normal(size=(80, 3)) + 3 * np.eye(3)[y], columns=list("abc"))
    frame.assign(y=y).to_csv("data.csv", index=False)


@pytest.mark.parametrize(
    ("command", "stages"),
    [
        (
            "embed data.csv --label y",
            "reading, comparing methods, fitting, judging, writing, drawing, writing the report",
        ),
        (
            "embed data.csv --label y --method spca",
            "reading, fitting, judging, writing, drawing, writing the report",
        ),
        ("fit data.csv --label y --method spca --out model", "reading, fitting"),
        ("fit data.csv --label y --out model", "reading, comparing methods, fitting"),
        ("transform model data.csv --out z.csv", "reading, embedding, writing"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*rows of the training data:UserWarning")
def test_every_stage_in_its_turn(data, monkeypatch, command, stages):
    run = CliRunner()
    run.invoke(app, ["fit", "data.csv", "--label", "y", "--method", "spca", "--out", "model"])
    told, at = [], Bar.at

    def listen(bar, stage, share=0.0):
        told.append((stage, share))
        assert 0 <= share <= 1
        at(bar, stage, share)
        assert ", ".join(bar.stages) == stages

    monkeypatch.setattr(Bar, "at", listen)
    done = run.invoke(app, [*command.split(), "--force"])
    assert done.exit_code == 0, done.output
    assert ", ".join(dict.fromkeys(stage for stage, _ in told)) == stages
    assert ("reading", 1.0) in told
