"""Fits that fail, a server that goes, names that mean harm."""

from urllib.parse import urlsplit

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from explorer.page import on_screen, pointer
from hostile_names import HOSTILE_NAMES, MARK
from labelens.explorer.explored import from_arrays
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import session_of


def test_a_fit_that_fails_keeps_the_last_good_picture(opened):
    page = opened
    page.choose("method", "kspca")
    before, score = page.places(), page.accuracy()
    page.choose("kernel", "polynomial")
    good = page.places()
    assert np.abs(good - before).max() > 0.01
    page.choose("gamma", 1e250)
    page.wait("!explorer.panes[0].error.hidden")
    said = page.run("return explorer.panes[0].error.textContent")
    assert "finite" in said
    assert "last valid fit" in said
    np.testing.assert_array_equal(page.places(), good)
    assert page.accuracy() != "" != score
    page.choose("gamma", 0.1)
    page.wait("explorer.panes[0].error.hidden")
    page.logs("browser")  # the answer 422 itself is logged


def test_a_lost_server_is_said_and_found_again(page):
    X, y = load_digits(return_X_y=True)
    sessions = session_of(from_arrays(X, y))
    explorer = Explorer(sessions).start()
    page.look(explorer.url)
    port, places = urlsplit(explorer.url).port, page.places()
    explorer.stop()
    page.run("explorer.panes[0].change({ method: 'pca' })")
    page.wait("!document.getElementById('lost').hidden")
    assert "does not answer" in page.text("lost")
    np.testing.assert_array_equal(page.places(), places)
    again = Explorer(sessions, port=port, token=explorer.token).start()
    try:
        page.wait("document.getElementById('lost').hidden")
        page.wait("explorer.panes[0].picture.view.method === 'pca'")
        assert np.abs(page.places() - places).max() > 0.01
    finally:
        again.stop()
    # Noticed without a move too; and a new token is another link.
    page.wait("!document.getElementById('lost').hidden")
    other = Explorer(sessions, port=port).start()
    try:
        page.wait("document.getElementById('lost').textContent.includes('another link')")
    finally:
        other.stop()
    page.logs("browser")


NAMES = [name for name in HOSTILE_NAMES if "\ud800" not in name]  # pandas takes no such text


def test_hostile_names_are_text(page):
    rng = np.random.default_rng(0)
    n = 6 * len(NAMES)
    frame = pd.DataFrame(rng.normal(size=(n, len(NAMES))), columns=NAMES)
    labels = {
        name + " label": np.array(NAMES, dtype=object)[(np.arange(n) + j) % len(NAMES)]
        for j, name in enumerate(NAMES[:3])
    }
    material = from_arrays(frame, labels, NAMES[0])
    explorer = Explorer(session_of(material)).start()
    try:
        page.look(explorer.url)
        cut = [name if len(name) <= 300 else name[:300] + "…" for name in NAMES]
        listed = "return [...document.querySelectorAll('#colour option')].map((o) => o.textContent)"
        own = [name + " label" for name in NAMES[:3]]
        assert page.run(listed) == [*own, *cut]
        assert page.run("return document.title").startswith(cut[0])
        names = "return [...document.querySelectorAll('#legend li bdi')].map((e) => e.textContent)"
        shown = page.run(names)
        assert len(shown) == 16  # families of classes
        assert all(text.startswith(tuple(cut)) for text in shown)
        assert page.run("return explorer.colours.column.names.length") == len(set(cut))
        page.choose("map", "wheel")
        page.run("explorer.select(new Uint8Array(explorer.n).fill(1, 0, 40))")
        page.wait("document.querySelector('#group table')")
        for i in range(0, 60, 7):
            page.run("explorer.pick(arguments[0])", i)
            page.wait(f"explorer.picked === {i} && document.querySelector('#facts dd')")
            x, y = on_screen(page, i)
            pointer(page, "mouseMoved", x, y, "none")
        for what in ("arrows", "importances"):
            page.run(f"document.querySelector('[data-panel={what}]').click()")
            page.wait(
                f"document.querySelector('#panel h3')?.textContent.startsWith('{what[:3].title()}')"
            )
            named = (
                "return [...document.querySelectorAll('#panel tbody th')].map((e) => e.textContent)"
            )
            assert set(page.run(named)) <= set(cut)
            assert len(page.run(named)) > 5
        page.run("document.getElementById('python').click()")
        page.wait("document.getElementById('code-dialog').open")
        compile(page.text("code"), "view.py", "exec")
        assert page.run(f"return window.{MARK}") is None
        strange = (
            "return document.querySelectorAll('img, iframe, base, svg[onload], body script').length"
        )
        assert page.run(strange) == 0
        assert urlsplit(page.driver.current_url).hostname == "127.0.0.1"
        assert page.errors() == []
    finally:
        explorer.stop()
