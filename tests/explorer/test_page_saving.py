"""Files that the page saves, and the Python of a view."""

import time

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

import labelens
from browser import Keys
from explorer.page import framed
from labelens.explorer.explored import bundled
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import Sessions


def downloaded(page, name):
    end = time.monotonic() + 20
    path = page.folder / name
    while not path.exists() or list(page.folder.glob("*.crdownload")):
        assert time.monotonic() < end, f"{name} was not saved"
        time.sleep(0.05)
    return path


def test_saved_files_load(opened):
    page = opened
    page.choose("method", "kspca")
    page.choose("features", 64)
    page.run("document.getElementById('save-embedding').click()")
    frame = pd.read_csv(downloaded(page, "embedding.csv"))
    page.choose("format", "parquet")
    page.run("document.getElementById('save-embedding').click()")
    same = pd.read_parquet(downloaded(page, "embedding.parquet"))
    np.testing.assert_allclose(frame[["z1", "z2"]], same[["z1", "z2"]], rtol=1e-6)
    page.run("document.getElementById('save-model').click()")
    model = labelens.load(downloaded(page, "model.labelens"))
    X, y = load_digits(return_X_y=True)
    Z = model.transform(pd.DataFrame(X, columns=model.feature_names_in_))
    np.testing.assert_allclose(Z, frame[["z1", "z2"]], atol=1e-5 * np.abs(Z).max())
    rows = page.run("return Array.from(explorer.rowNumbers)")
    np.testing.assert_allclose(framed(Z[rows]), page.places(), atol=2e-3)
    assert (frame["label_digit"] == y).all()


def test_the_python_of_a_view_gives_its_points(page):
    explorer = Explorer(Sessions(bundled())).start()
    try:
        page.look(explorer.url)
        page.choose("map", "components")
        page.choose("method", "ksrp")
        page.choose("gamma", 0.03)
        page.choose("components", 3)
        page.run("document.getElementById('python').click()")
        page.wait("document.getElementById('code-dialog').open")
        names = {}
        exec(page.text("code"), names)
        Z = names["Z"][page.run("return Array.from(explorer.rowNumbers)")]
        np.testing.assert_allclose(framed(Z[:, :2]), page.places(), atol=2e-3)
        page.wait("/Copied|Ctrl/.test(document.getElementById('copied').textContent)")
        page.key(Keys.ESCAPE)
        page.wait("!document.getElementById('code-dialog').open")
        # Another of the data sets.
        page.choose("data", 1)
        page.wait("explorer.overview.rows === 208 && explorer.panes[0].picture")
        page.still()
        assert "208 rows" in page.text("about")
        assert page.errors() == []
    finally:
        explorer.stop()
