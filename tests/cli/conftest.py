"""A command line in an empty folder, and a file to try it on."""

import sys

import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from labelens.cli.app import app


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
