"""The tour: it runs from top to bottom, and what is kept with it is what it shows."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
TOUR = Path(__file__).parents[1] / "notebooks" / "tour.ipynb"


def shown(notebook):
    """For each cell of code: the kinds of output, in order, such as stdout or pictures."""
    return [
        [sorted(output.get("data", [output.get("name", "error")])) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.long
# Of Jupyter's own machinery: its sockets, and how it asks for the event loop.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_tour_runs_and_shows_what_it_showed(tmp_path):
    kept = nbformat.read(TOUR, as_version=4)
    again = nbformat.read(TOUR, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(again, timeout=120, resources=resources).execute()
    assert shown(again) == shown(kept)
    assert "stderr" not in str(shown(again))  # no warnings


def test_the_tour_takes_three_minutes_to_read():
    cells = nbformat.read(TOUR, as_version=4).cells
    words = sum(len(cell.source.split()) for cell in cells)
    assert words < 3 * 230  # words a minute


def test_pictures_of_the_tour_are_described():
    """The site shows them, also to those who cannot see them."""
    for cell in nbformat.read(TOUR, as_version=4).cells:
        if any("image/png" in output.get("data", ()) for output in cell.get("outputs", ())):
            assert len(cell.metadata.get("alt", "").split()) > 5, cell.source
