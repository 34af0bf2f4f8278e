"""Files of the page: tables and sessions that are opened, sessions and reports that are saved."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from explorer.asking import ask, small
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import session_of


def saved(page, name):
    path, end = page.folder / name, time.monotonic() + 30
    while not path.exists() or list(page.folder.glob("*.crdownload")):
        assert time.monotonic() < end, f"{name} was not saved"
        time.sleep(0.05)
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(species=[f"kind {c}" for c in y])
    path = tmp_path_factory.mktemp("table") / "<b>flowers.csv"
    frame.to_csv(path, index=False)
    return frame, path


def test_another_table_is_opened_on_the_page(page, table):
    _, path = table
    explorer = Explorer(session_of(small())).start()
    try:
        page.look(explorer.url)
        page.driver.find_element("id", "open-data").send_keys(str(path))
        page.wait("document.querySelectorAll('#open-labels option').length === 5")
        chosen = "return [...document.getElementById('open-labels').selectedOptions].map("
        assert page.run(chosen + "(o) => o.value)") == ["species"]
        page.run("document.querySelector('#open-dialog form').requestSubmit()")
        page.wait("explorer.data === 1 && !document.getElementById('open-dialog').open")
        page.still()
        assert page.run("return explorer.overview.labels[0].name") == "species"
        assert page.run("return explorer.n") == 150
        titles = page.run("return [...document.getElementById('data').options].map((o) => o.text)")
        assert titles == ["X", "_b_flowers.csv"]
        # And the first one is there still.
        page.choose("data", 0)
        assert page.run("return explorer.n") == 20
        assert page.errors() == []
    finally:
        explorer.stop()


def test_a_table_that_cannot_be_read_says_why(page, tmp_path):
    explorer = Explorer(session_of(small())).start()
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and no more")
    try:
        page.look(explorer.url)
        page.driver.find_element("id", "open-data").send_keys(str(tmp_path / "x.parquet"))
        page.wait("document.getElementById('open-said').textContent.includes('cannot be read')")
        page.run("document.getElementById('open-cancel').click()")
        assert page.run("return explorer.data") == 0
        page.errors()
    finally:
        explorer.stop()


def upload(explorer, name="t.csv", body=b"a,b,y\n" + b"1,2,u\n3,1,v\n" * 10, **headers):
    status, _, answer = ask(explorer, f"open/{name}", "POST", body, **headers)
    return status, json.loads(answer or b"{}") if status != 403 else {}


def test_uploads_are_checked():
    explorer = Explorer(session_of(small())).start()
    try:
        assert upload(explorer, host="evil.test")[0] == 403
        assert upload(explorer, Origin="http://evil.test")[0] == 403
        # A name leads nowhere; the ending says how to read it.
        status, told = upload(explorer, "..%5c..%5cpasswd.csv")
        assert (status, told["columns"], told["likely"]) == (200, ["a", "b", "y"], "y")
        assert ask(explorer, "open/..%2f..%2fx.csv", "POST", b"a\n1\n")[0] in (400, 404)
        assert upload(explorer, "t.exe")[0] == 422
        for wrong in ({"upload": 9, "labels": ["y"]}, {"upload": 0, "labels": ["z"]},
                      {"upload": 0, "labels": []}, {"upload": "0", "labels": ["y"]},
                      {"upload": 0, "labels": "y"}, {"upload": 0}):  # fmt: skip
            assert ask(explorer, "add", "POST", wrong)[0] == 400
        assert ask(explorer, "add", "POST", {"upload": 0, "labels": ["y"]})[0] == 200
        assert ask(explorer, "data/1")[0] == 200
        while upload(explorer)[0] == 200:
            pass
        assert "at most 8" in upload(explorer)[1]["error"]
    finally:
        explorer.stop()
    assert explorer._sessions._folder is not None
    assert not explorer._sessions._received[0][0].parent.parent.exists()


def test_a_session_is_saved_and_opened(opened):
    opened.choose("method", "pca")
    opened.choose("shrinkage", 0.25)
    opened.run("explorer.selectClass((i, values) => values[i] === 4)")
    opened.run("explorer.panes[0].zoomBy(2)")
    opened.run("document.getElementById('save-session').click()")
    path = saved(opened, "session.json")
    marks = np.array(opened.run("return Array.from(explorer.selected)"))
    opened.run("document.getElementById('reset').click()")
    opened.still()
    assert opened.run("return explorer.panes[0].view.method") == "spca"
    assert opened.run("return [explorer.selected, explorer.panes[0].scatter.zoom]") == [None, 1]
    opened.driver.find_element("id", "open-session").send_keys(str(path))
    opened.wait("explorer.selected && explorer.panes[0].view.method === 'pca'")
    opened.still()
    assert opened.run("return explorer.panes[0].view.shrinkage") == 0.25
    assert opened.run("return explorer.panes[0].scatter.zoom") == 2
    assert (np.array(opened.run("return Array.from(explorer.selected)")) == marks).all()


@pytest.mark.parametrize(
    "text", ["no json", "[]", json.dumps({"kind": "labelens explorer session", "version": 2})]
)
def test_what_is_no_session_says_so(opened, tmp_path, text):
    (tmp_path / "other.json").write_text(text)
    opened.driver.find_element("id", "open-session").send_keys(str(tmp_path / "other.json"))
    opened.wait("explorer.active.error.textContent.includes('is not a session')")


def test_undo_goes_one_change_back(opened):
    opened.choose("method", "pca")
    time.sleep(1)
    opened.choose("scale", "none")
    opened.run("document.getElementById('undo').click()")
    opened.wait("explorer.panes[0].view.scale === 'standard'")
    opened.still()
    assert opened.run("return explorer.panes[0].picture.view.method") == "pca"


def test_the_view_is_saved_as_a_page_of_its_own(opened):
    opened.choose("components", 3)
    opened.run("document.getElementById('save-report').click()")
    path = saved(opened, "report.html")
    places = opened.run("return Array.from(explorer.panes[0].picture.arrays[0])")
    rows = opened.run("return Array.from(explorer.rowNumbers)")
    opened.driver.get(path.as_uri())
    opened.wait("document.documentElement.dataset.ready === 'yes'")
    own = opened.run("return Array.from(report.rowNumbers)")
    found = opened.run("return report.components.map((values) => Array.from(values))")
    expected = np.array(places).reshape(-1, 2)[np.argsort(rows)]
    np.testing.assert_allclose(np.array(found)[:2].T[np.argsort(own)], expected, rtol=1e-6)
    assert "Saved by the explorer" in opened.text("notes")
