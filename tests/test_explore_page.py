"""The explorer in a real browser: every control and button, hostile names, a server that goes."""

import http.server
import json
import math
import re
import threading
import time
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits

import labelens
from hostile_names import HOSTILE_NAMES, MARK
from labelens.explorer.material import from_arrays
from labelens.explorer.server import Sessions
from labelens.explorer.serving import Explorer, bundled_sessions, session_of
from test_browser import CHROMEDRIVER, CHROMIUM, FLAGS, Browser, webdriver

pytest.importorskip("uvicorn", reason="needs the explore extra")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER), reason="needs chromium and chromedriver on the path"
)
Keys = webdriver.Keys


class Page(Browser):
    """The page, and what a reader does to it."""

    def look(self, url, scheme="light", width=1400, height=900):
        size = dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.emulate(scheme)
        self.logs("browser")
        self.driver.get("about:blank")
        self.driver.get(url)
        self.wait("document.documentElement.dataset.ready === 'yes'", 60)
        self.still()
        return self

    def still(self):
        """Wait until nothing is asked of the server and no point glides."""
        self.wait("explorer.panes.every((p) => !p.asking && p.scatter.done >= 1)", 60)
        self.settle()

    def places(self, pane=0):
        """(n, 2) where the points lie, from -1 to 1."""
        flat = self.run(f"return Array.from(explorer.panes[{pane}].scatter.to)")
        return np.array(flat).reshape(-1, 2)

    def accuracy(self, pane=0):
        return self.run(f"return explorer.panes[{pane}].heldout.textContent")

    def control(self, pane=0):
        return float(self.run(f"return explorer.panes[{pane}].shuffled.textContent"))

    def drawn(self, pane=0):
        """What the card has drawn: all pixels of the canvas, painted and read in one go."""
        return self.run(
            """
            const { scatter } = explorer.panes[arguments[0]];
            scatter.render();
            const copy = document.createElement("canvas");
            [copy.width, copy.height] = [scatter.canvas.width, scatter.canvas.height];
            const pen = copy.getContext("2d");
            pen.drawImage(scatter.canvas, 0, 0);
            const { data } = pen.getImageData(0, 0, copy.width, copy.height);
            let count = 0;
            for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
            return count;
            """,
            pane,
        )

    def choose(self, name, value):
        """A value of a select or a box, as the keyboard would leave it."""
        self.run(
            """
            const element = document.getElementById(arguments[0]);
            element.value = arguments[1];
            element.dispatchEvent(new Event("input", { bubbles: true }));
            element.dispatchEvent(new Event("change", { bubbles: true }));
            """,
            name,
            str(value),
        )
        self.still()

    def slide(self, name, key, times=1):
        self.run("document.getElementById(arguments[0]).focus()", name)
        webdriver.ActionChains(self.driver).send_keys(key * times).perform()
        self.still()

    def key(self, key):
        self.run("document.activeElement.blur()")
        webdriver.ActionChains(self.driver).send_keys(key).perform()

    def errors(self):
        return [entry for entry in self.logs("browser") if entry["level"] == "SEVERE"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    folder = tmp_path_factory.mktemp("downloads")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(CHROMEDRIVER))
    driver.set_page_load_timeout(60)
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    one = Page(driver)
    one.folder = folder
    yield one
    driver.quit()


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"pixel {j}" for j in range(64)])
    frame = frame.assign(digit=y, even=np.where(y % 2, "odd", "even"), ink=X.sum(axis=1) / 3)
    explorer = Explorer(session_of(from_arrays(frame, ["digit", "even", "ink"], "digits"))).start()
    yield explorer
    explorer.stop()


@pytest.fixture
def opened(page, digits):
    yield page.look(digits.url)
    assert page.errors() == []


def served(page):
    return page.driver.execute_async_script(
        "fetch('alive').then((a) => a.json()).then((a) => arguments[0](a.served))"
    )


# Controls ----------------------------------------------------------------------------------------


def test_each_control_changes_points_and_accuracy(opened):
    page = opened
    assert page.drawn() > 5000
    assert 0.05 < page.control() < 0.2 < float(page.accuracy())

    def changes(act):
        before, score = page.places(), page.accuracy()
        act()
        after = page.places()
        assert before.shape == after.shape == (1797, 2)
        assert np.abs(before - after).max() > 0.01
        assert page.accuracy() != score

    changes(lambda: page.slide("shrinkage-slide", Keys.ARROW_LEFT, 30))
    assert 0.001 < float(page.run("return document.getElementById('shrinkage').value")) < 0.2
    changes(lambda: page.slide("target-slide", Keys.ARROW_LEFT, 60))
    changes(lambda: page.choose("scale", "none"))
    changes(lambda: page.choose("method", "srp"))
    changes(lambda: page.slide("components-slide", Keys.ARROW_RIGHT, 5))
    changes(lambda: page.choose("seed", 5))
    changes(lambda: page.run("document.getElementById('reseed').click()") or page.still())
    changes(lambda: page.choose("method", "kspca"))
    assert page.run("return !document.getElementById('kernel-fields').hidden")
    changes(lambda: page.choose("kernel", "laplacian"))
    changes(lambda: page.slide("gamma-slide", Keys.ARROW_RIGHT, 20))
    changes(lambda: page.slide("features-slide", Keys.ARROW_LEFT, 4))
    changes(lambda: page.choose("gamma", 0.5))
    assert page.run("return document.getElementById('gamma').value") == "0.5"
    changes(lambda: page.choose("label", 1))
    changes(lambda: page.choose("method", "pca"))
    assert page.run("return document.getElementById('target-slide').disabled")
    page.choose("label", 0)
    changes(lambda: page.run("document.getElementById('wheel').click()") or page.still())
    colours = page.run("return Array.from(explorer.panes[0].scatter.look)")
    page.choose("colour", 2)
    assert page.run("return Array.from(explorer.panes[0].scatter.look)") != colours
    assert page.text("legend-title") == "ink"
    assert page.run("return document.querySelectorAll('.colourbar').length") == 1


def test_fifty_fast_moves_end_on_the_last(opened):
    page = opened
    before = served(page)
    page.run(
        """
        const slide = document.getElementById("target-slide");
        let moves = 0;
        window.finished = false;
        const timer = setInterval(() => {
          moves += 1;
          slide.value = 1 - moves / 100;
          slide.dispatchEvent(new Event("input", { bubbles: true }));
          if (moves === 50) { clearInterval(timer); window.finished = true; }
        }, 4);
        """
    )
    page.wait("window.finished")
    page.still()
    fits = served(page) - before
    assert 1 <= fits < 50
    assert page.run("return explorer.panes[0].picture.view.target_weight") == 0.5
    assert page.run("return Number(document.getElementById('target').value)") == 0.5
    X, y = load_digits(return_X_y=True)
    train = page_train(page)
    model = labelens.SupervisedPCA(target_weight=0.5, scale="standard").fit(X[train], y[train])
    Z = model.transform(X)[page.run("return Array.from(explorer.rowNumbers)")]
    np.testing.assert_allclose(framed(Z), page.places(), atol=2e-3)


def page_train(page):
    rows = np.array(page.run("return Array.from(explorer.rowNumbers)"))
    return np.sort(rows[: page.run("return explorer.overview.drawnTrained")])


def framed(Z):
    """As the page puts them between -1 and 1."""
    low, high = Z.min(axis=0), Z.max(axis=0)
    return (Z - (low + high) / 2) / ((high - low) / 2) * 0.93


def test_a_slow_card_glides_with_part_of_the_points(opened):
    """Frames of a glide leave points out, those at rest none, and the pace is slower."""
    counts = opened.driver.execute_async_script(
        """
        const done = arguments[0];
        const pane = explorer.panes[0];
        const { scatter } = pane;
        const { gl, drawn } = scatter;
        const counts = [];
        const drawArrays = gl.drawArrays.bind(gl);
        gl.drawArrays = (kind, first, n) => { counts.push(n); drawArrays(kind, first, n); };
        scatter.coarse = () => 7;
        scatter.cost = 20;
        scatter.drawn = (share) => {
          drawn(share);
          if (share < 1 || pane.asking || pane.picture === before) return;
          scatter.drawn = drawn;
          gl.drawArrays = drawArrays;
          delete scatter.coarse;
          setTimeout(() => done(counts), 50);
        };
        const before = pane.picture;
        pane.change({ method: "pca" });
        """
    )
    assert set(counts[:-1]) <= {257, 1797}  # a seventh of 1,797; a frame at rest may come before
    assert 257 in counts
    assert counts[-1] == 1797
    assert len(counts) < 15  # of 25 at sixty a second
    assert opened.drawn() > 1000


def test_how_long_a_card_takes_is_measured(page, many_rows):
    page.look(many_rows.url)
    page.run("explorer.panes[0].change({ method: 'pca' })")
    page.still()
    cost, n, coarse = page.run(
        "const s = explorer.panes[0].scatter; return [s.cost, s.n, s.coarse()]"
    )
    assert n == 8000
    assert 0 < cost < 5000
    assert coarse == min(31, math.ceil(cost / 8))


@pytest.fixture
def many_rows():
    draw = np.random.default_rng(0)
    y = draw.integers(0, 3, 8000)
    X = draw.normal(size=(3, 6))[y] + draw.normal(size=(8000, 6))
    explorer = Explorer(session_of(from_arrays(X, y))).start()
    yield explorer
    explorer.stop()


def test_points_glide(opened):
    page = opened
    middle = page.driver.execute_async_script(
        """
        const done = arguments[0];
        const pane = explorer.panes[0];
        const { scatter } = pane;
        const { drawn } = scatter;
        let start = scatter.now(7);
        scatter.drawn = (share) => {
          drawn(share);
          if (share > 0.05 && share < 0.95) {
            scatter.drawn = drawn;
            done([start, scatter.now(7), [scatter.to[14], scatter.to[15]]]);
          } else if (share === 1 && !pane.asking) {  // a busy machine may miss a whole glide
            start = scatter.now(7);
            pane.change({ method: pane.view.method === "pca" ? "spca" : "pca" });
          }
        };
        scatter.draw();
        """
    )
    start, now, end = map(np.array, middle)
    assert 0 < np.linalg.norm(now - start) < np.linalg.norm(end - start)


def test_no_glide_where_motion_is_unwelcome(page, digits):
    page.look(digits.url)
    features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    page.run("explorer.panes[0].change({ method: 'pca' })")
    page.wait("explorer.panes[0].picture.view.method === 'pca'")
    assert page.run("return explorer.panes[0].scatter.done") == 1


def test_parts_are_one_key_apart(opened):
    page = opened
    shown = "return explorer.panes[0].look.filter((v, i) => i % 4 === 3 && v > 0).length"
    assert page.run(shown) == 1797
    page.key("t")
    assert page.run(shown) == 1347
    page.key("h")
    assert page.run(shown) == 450
    own = page.places()
    page.key("s")
    page.wait("explorer.panes[0].picture.shuffled")
    page.still()
    assert page.run(shown) == 1347
    assert np.abs(page.places() - own).max() > 0.05
    assert "shuffled" in page.run("return explorer.panes[0].title.textContent")
    page.key("a")
    page.wait("!explorer.panes[0].picture.shuffled")
    page.still()
    np.testing.assert_allclose(page.places(), own, atol=1e-6)


# Groups and two views ----------------------------------------------------------------------------


def pointer(page, kind, x, y, button="left", **more):
    event = dict(type=kind, x=x, y=y, button=button, clickCount=1, **more)
    page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def on_screen(page, i, pane=0):
    return page.run(
        """
        const { scatter, canvas } = explorer.panes[arguments[1]];
        const box = canvas.getBoundingClientRect();
        const [x, y] = scatter.toScreen(scatter.now(arguments[0]));
        return [box.left + x, box.top + y];
        """,
        i,
        pane,
    )


def test_two_views_with_linked_hover_and_selection(opened):
    page = opened
    page.key("c")
    page.wait("explorer.panes.length === 2 && explorer.panes[1].picture")
    page.still()
    assert page.run("return explorer.panes[1].view.method") == "pca"
    page.choose("method", "ksrp")
    assert page.run("return explorer.panes.map((p) => p.view.method)") == ["spca", "ksrp"]
    assert np.abs(page.places(0) - page.places(1)).max() > 0.1
    x, y = on_screen(page, 1500, 0)
    pointer(page, "mouseMoved", x + 40, y, "none")
    pointer(page, "mouseMoved", x, y, "none")
    page.wait("explorer.hovered >= 0 && !document.getElementById('tip').hidden")
    hovered = page.run("return explorer.hovered")
    assert np.linalg.norm(np.array(on_screen(page, hovered, 0)) - [x, y]) < 3
    ring = page.run(
        """
        const pane = explorer.panes[1];
        const [x, y] = pane.scatter.toScreen(pane.scatter.now(explorer.hovered));
        const ratio = pane.overlay.width / pane.canvas.clientWidth;
        const pen = pane.overlay.getContext("2d");
        return Array.from(pen.getImageData((x + 8) * ratio, y * ratio, 1, 1).data);
        """
    )
    assert ring[3] > 100  # the same row is ringed in the other view
    page.key("l")
    page.still()
    # A box around the right half of the first view.
    box = page.run(
        "const b = explorer.panes[0].canvas.getBoundingClientRect();"
        "return [b.left, b.top, b.width, b.height]"
    )
    left, top, width, height = box
    corners = [(0.5, 0.02), (0.98, 0.02), (0.98, 0.98), (0.5, 0.98), (0.5, 0.05)]
    path = [(left + a * width, top + b * height) for a, b in corners]
    pointer(page, "mousePressed", *path[0])
    for place in path[1:]:
        pointer(page, "mouseMoved", *place)
    pointer(page, "mouseReleased", *path[-1])
    page.wait("document.querySelector('#group table')")
    marks = np.array(page.run("return Array.from(explorer.selected)"), dtype=bool)
    across = page.places()[:, 0]
    clear = np.abs(across) > 0.02  # of the edge, which is drawn to a pixel
    np.testing.assert_array_equal(marks[clear], across[clear] > 0)
    told = page.text("group")
    assert f"{marks.sum():,} rows" in told
    assert "pixel" in told
    # Both views dim the others.
    for pane in (0, 1):
        alpha = np.array(page.run(f"return Array.from(explorer.panes[{pane}].look)"))[3::4]
        assert alpha[marks].min() > 3 * alpha[~marks].max()
    page.key(Keys.ESCAPE)
    page.wait("explorer.selected === null")
    # The second view may go and come.
    page.key("c")
    page.wait("explorer.panes.length === 1")
    page.key("c")
    page.wait("explorer.panes.length === 2 && explorer.panes[1].picture")


def test_a_group_by_the_keyboard(opened):
    page = opened
    page.press("#legend li:nth-child(4) button")
    page.wait("document.querySelector('#group table')")
    _, y = load_digits(return_X_y=True)
    assert f"{(y == 3).sum()} rows" in page.text("group")
    assert page.run("return document.querySelector('#group tbody bdi').textContent") == "3"


def test_a_class_is_hidden_and_shown(opened):
    page = opened
    before = page.drawn()
    page.press("#legend li:nth-child(1) input")
    assert page.drawn() < before
    page.press("#legend li:nth-child(1) input")
    assert abs(page.drawn() - before) < 0.01 * before


def test_a_row_is_found_by_its_number(opened):
    page = opened
    page.driver.find_element("id", "row").send_keys("17\n")
    page.wait("document.getElementById('facts').textContent.includes('pixel')")
    assert page.run("return explorer.rowNumbers[explorer.picked]") == 17
    page.run("document.querySelector('canvas').focus()")
    webdriver.ActionChains(page.driver).send_keys("n").perform()
    page.wait("explorer.rowNumbers[explorer.picked] !== 17")


# Buttons -----------------------------------------------------------------------------------------


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
    explorer = Explorer(bundled_sessions()).start()
    try:
        page.look(explorer.url)
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


# What may go wrong -------------------------------------------------------------------------------


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
    assert "last good one" in said
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
        assert len(shown) == 31
        assert set(shown[:30]) <= set(cut)
        assert page.run("return explorer.colours.column.names.length") == len(set(cut))
        page.run("document.getElementById('wheel').click()")
        page.still()
        page.run("explorer.select(new Uint8Array(explorer.n).fill(1, 0, 40))")
        page.wait("document.querySelector('#group table')")
        for i in range(0, 60, 7):
            page.run("explorer.pick(arguments[0])", i)
            page.wait(f"explorer.picked === {i} && document.querySelector('#facts dd')")
            x, y = on_screen(page, i)
            pointer(page, "mouseMoved", x, y, "none")
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


# Every kind of data and window -------------------------------------------------------------------


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
            assert page.run("return document.querySelectorAll('#legend li').length") == 31
            page.driver.find_element("id", "class").send_keys("kind 4321\n")
            page.wait("document.querySelector('#group table')")
            assert "4 rows" in page.text("group")
        if name == "large":
            assert "a sample of 200,000 is drawn" in page.text("notes")
            assert page.run("return explorer.n") == 200_000
    assert page.errors() == []


def test_a_browser_without_webgl(page, digits):
    code = (
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...more) {"
        "  return kind.startsWith('webgl') ? null : get.call(this, kind, ...more); };"
    )
    command = "Page.addScriptToEvaluateOnNewDocument"
    added = page.driver.execute_cdp_cmd(command, {"source": code})
    try:
        page.look(digits.url)
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
    with http.server.HTTPServer(("127.0.0.1", 0), Notebook) as other:
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
def test_a_phone(page, digits, scheme):
    page.look(digits.url, scheme, 390, 844)
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
    for _ in range(12):
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
def test_text_can_be_read(page, digits, scheme):
    page.look(digits.url, scheme)
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
