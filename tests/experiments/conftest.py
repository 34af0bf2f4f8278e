"""Frames, figures and the page of a small reproduction."""

import pytest

from experiments.reading import written
from experiments.small import make_claims, make_frames
from paper import figures as drawing


@pytest.fixture(scope="module")
def frames():
    return make_frames()


@pytest.fixture(scope="module")
def figures(frames):
    return drawing.draw_all(frames)


@pytest.fixture(scope="module")
def full(tmp_path_factory, frames, figures):
    """The text of a page that has everything."""
    about = dict(seed=3, quick=True, versions=dict(numpy="2.1"), runs_of_mnist=[1, 2])
    notes = ["MNIST was not found."]
    return written(tmp_path_factory.mktemp("page"), frames, figures, make_claims(), about, notes)
