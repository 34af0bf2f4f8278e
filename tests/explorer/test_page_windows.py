"""Every kind of data and window: phones, notebooks, screen readers, no WebGL."""

import http.server
import json
import re
import threading

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits

import labelens
from browser import Keys, webdriver
from labelens.explorer.explored import from_arrays
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import Sessions


def many_classes():
    rng = np.random.default_rng(0)
    y = np.arange(20_000) % 5000
    X = rng.normal(size=(5000, 10))[y] + 0.1 * rng.normal(size=(20_000, 10))
    return from_arrays(X, np.array([f"kind {c}" for c in y]), "many")


def large():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 250_000)
    return from_arrays((rng.normal(size=(250_000, 4)) + y[:, None]).astype(np.float32), y, "large")


def hundred():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    return from_arrays(rng.normal(size=(100, 3)) + y[:, None], y == 1, "hundred")


def line():
    """One column, and a class with a single row."""
    y = np.array(["a"] * 30 + ["b"] * 29 + ["c"], dtype=object)
    return from_arrays(np.arange(60.0)[:, None], y, "line")


KINDS = {
    "numbers": lambda: from_arrays(*load_diabetes(return_X_y=True), "numbers"),
    "many": many_classes,
    "large": large,
    "hundred": hundred,
    "line": line,
}


@pytest.fixture(scope="module")
def kinds():
    explorer = Explorer(Sessions(KINDS)).start()
    yield explorer
    explorer.stop()


def test_every_kind_of_data(page, kinds):
    page.look(kinds.url)
    for number, name in enumerate(KINDS):
        page.choose("data", number)
        page.wait(f"explorer.overview.name === {json.dumps(name)} && explorer.panes[0].picture", 60)
        page.still()
        assert page.drawn() > 200
        assert re.fullmatch(r"-?\d\.\d{3}", page.accuracy())
        if name == "numbers":
            assert page.run("return explorer.panes[0].metric.textContent") == "R²"
            page.choose("components", 1)
            assert page.drawn() > 300
        if name == "many":
            assert page.run("return document.querySelectorAll('#legend li').length") == 16
            page.driver.find_element("id", "class").send_keys("kind 4321\n")
            page.wait("document.querySelector('#group table')")
            assert "4 rows" in page.text("group")
        if name == "large":
            assert "a sample of 200,000 of" in page.text("notes")
            assert page.run("return explorer.n") == 200_000
    assert page.errors() == []


def test_pixels_of_the_plot_are_those_of_the_screen(page, explorer):
    """Also after a change of its size, while points glide and afterwards."""
    size = "const c = explorer.panes[0].canvas; return [c.width, c.height]"
    there = "const c = explorer.panes[0].canvas; return [c.clientWidth, c.clientHeight]"
    page.look(explorer.url)
    before = page.run(size)
    assert before == page.run(there)
    page.run("explorer.panes[0].told.style.display = 'block'")
    page.run("explorer.panes[0].told.style.minHeight = '12rem'")
    page.choose("components-slide", 3)
    assert before != page.run(size) == page.run(there)


def test_a_browser_without_webgl(page, explorer):
    code = (
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...more) {"
        "  return kind.startsWith('webgl') ? null : get.call(this, kind, ...more); };"
    )
    command = "Page.addScriptToEvaluateOnNewDocument"
    added = page.driver.execute_cdp_cmd(command, {"source": code})
    try:
        page.look(explorer.url)
        assert page.run("return explorer.panes[0].scatter.gl === null")
        before = page.drawn()
        assert before > 5000
        page.key("h")
        assert page.drawn() < before
        assert page.errors() == []
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


class Notebook(http.server.BaseHTTPRequestHandler):
    """A page of another server on this machine, with the explorer in a cell."""

    cell = ""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        # As Jupyter's server has it.
        self.send_header("Content-Security-Policy", "frame-ancestors 'self'; report-uri /report")
        self.end_headers()
        self.wfile.write(f"<!DOCTYPE html><title>cell</title>{self.cell}".encode())

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_the_cell_of_a_notebook(page, host):
    explorer = labelens.explore(*load_digits(return_X_y=True))
    Notebook.cell = explorer._repr_html_()
    # A thread a connection: Chromium opens one ahead of need, and waits for the second.
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Notebook) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        try:
            page.driver.get(f"http://{host}:{other.server_port}/")
            page.driver.switch_to.frame(0)
            page.wait("document.documentElement.dataset.ready === 'yes'", 60)
            page.choose("method", "pca")
            assert page.drawn() > 1000
            page.choose("method", "spca")
            before = page.places()
            page.slide("shrinkage-slide", Keys.ARROW_LEFT, 30)  # by the keyboard, within the cell
            assert np.abs(page.places() - before).max() > 0.01
        finally:
            page.driver.switch_to.default_content()
            other.shutdown()
            thread.join()
            explorer.stop()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(page, explorer, scheme):
    page.look(explorer.url, scheme, 390, 844)
    assert page.run("return document.documentElement.scrollWidth") <= 390
    page.key("c")
    page.wait("explorer.panes.length === 2 && explorer.panes[1].picture")
    page.still()
    assert page.run("return document.documentElement.scrollWidth") <= 390
    assert page.drawn(0) > 1000
    assert page.drawn(1) > 1000
    wide = page.run(
        "return [...document.querySelectorAll('button, select, input, h2, p')].filter((e) =>"
        "e.offsetParent && e.getBoundingClientRect().right > 391).map((e) => e.id || e.textContent)"
    )
    assert wide == []


def test_a_screen_reader_finds_names_and_news(opened):
    page = opened
    nameless = page.run(
        """
        const named = (e) => (e.labels && e.labels.length && e.labels[0].textContent.trim())
          || e.getAttribute("aria-label") || e.title || e.textContent.trim();
        return [...document.querySelectorAll("button, select, input, canvas[role=img]")]
          .filter((e) => !named(e)).map((e) => e.outerHTML);
        """
    )
    assert nameless == []
    described = page.run("return document.querySelector('canvas[role=img]').ariaLabel")
    assert page.accuracy() in described
    page.choose("method", "pca")
    page.wait("document.getElementById('said').textContent.startsWith('PCA: held-out accuracy')")
    order = []
    page.run("document.activeElement.blur()")
    for _ in range(24):
        webdriver.ActionChains(page.driver).send_keys(Keys.TAB).perform()
        order.append(
            page.run("return document.activeElement.id || document.activeElement.className")
        )
    assert order[:2] == ["skip", "compare"]
    assert "method" in order
    visible = page.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert visible == "solid"


def contrast(first, second):
    def light(colour):
        parts = np.array([int(v) for v in re.findall(r"\d+", colour)[:3]]) / 255
        parts = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return parts @ [0.2126, 0.7152, 0.0722]

    high, low = sorted((light(first), light(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(page, explorer, scheme):
    page.look(explorer.url, scheme)
    pairs = page.run(
        """
        const ground = (e) => { for (; e; e = e.parentElement) {
          const c = getComputedStyle(e).backgroundColor;
          if (c !== "rgba(0, 0, 0, 0)") return c; } return "rgb(255, 255, 255)"; };
        return [...document.querySelectorAll("main *, header *")]
          .filter((e) => e.offsetParent && !e.closest(":disabled, .slider:has(:disabled)"))
          .filter((e) => [...e.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()))
          .map((e) => [e.outerHTML.slice(0, 80), getComputedStyle(e).color, ground(e)]);
        """
    )
    assert len(pairs) > 50
    faint = [
        (name, contrast(ink, paper)) for name, ink, paper in pairs if contrast(ink, paper) < 4.5
    ]
    assert faint == []
