"""The report in a real browser: it draws, it can be used, and nothing gets in or out."""

import io
import itertools
import json
import re
import time
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import report_contents as make
from browser import Browser, Keys, start_chromium, webdriver
from labelens import Atlas, SupervisedPCA
from labelens.cli.app import app
from labelens.report import Contents, write_report


class Report(Browser):
    """The report, and what a reader does to it."""

    def open(self, path):
        self.logs("browser")
        self.logs("performance")
        self.driver.get(path.as_uri())
        self.wait("document.documentElement.dataset.ready === 'yes'")

    def said(self, words):
        self.wait(f"document.getElementById('said').textContent.includes({json.dumps(words)})")

    def at(self, i):
        """Where the point of a row of the page is on the screen."""
        return self.run(
            """
            const { scatter, canvas } = report.map;
            canvas.scrollIntoView({ block: "center" });
            const box = canvas.getBoundingClientRect();
            const [x, y] = scatter.toScreen(scatter.now(arguments[0]));
            return [box.left + x, box.top + y];
            """,
            i,
        )

    def pointer(self, kind, x, y, **more):
        event = dict(type=kind, x=x, y=y, button="left", clickCount=1, **more)
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    def hover(self, i):
        x, y = self.at(i)
        for away in (60, 3, 0):
            self.pointer("mouseMoved", x + away, y)
        self.wait("!document.getElementById('tip').hidden")
        return self.text("tip")

    def shown(self):
        """How many points the legend and the parts leave."""
        return self.run(
            "const { look } = report.map;"
            "return look.filter((alpha, j) => j % 4 === 3 && alpha > 0).length"
        )

    def pixels(self, colour, near=24):
        """How many pixels of the map, as a reader sees it, have about this colour."""
        self.driver.execute_script(
            "document.getElementById('plot').scrollIntoView({ block: 'center' });"
        )
        self.settle()
        picture = self.driver.find_element("css selector", "#plot canvas").screenshot_as_png
        seen = 255 * matplotlib.image.imread(io.BytesIO(picture))[:, :, :3]
        wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        return int((np.abs(seen - wanted).max(axis=2) <= near).sum())

    def choose(self, name, value):
        self.run(
            "const list = document.getElementById(arguments[0]); list.value = arguments[1];"
            "list.dispatchEvent(new Event('change'));", name, str(value)
        )  # fmt: skip

    def search(self, typed):
        self.run("document.querySelector('#find-rows input').value = arguments[0]", typed)
        self.run("document.getElementById('found').textContent = ''")
        self.run("document.getElementById('find-rows').requestSubmit()")
        self.wait("document.getElementById('found').textContent")
        return self.text("found")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = start_chromium(tmp_path_factory.mktemp("profile"))
    yield Report(driver)
    driver.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """Write a page and open it; at the end, it must have kept quiet."""

    def open_page(contents, scheme="light"):
        browser.emulate(scheme)
        path = contents
        if isinstance(contents, Contents):
            path = tmp_path / "report.html"
            write_report(path, contents)
        browser.open(path)
        return browser

    yield open_page
    errors = [entry for entry in browser.logs("browser") if entry["level"] == "SEVERE"]
    assert errors == []
    sent = [json.loads(entry["message"])["message"] for entry in browser.logs("performance")]
    urls = [
        event["params"]["request"]["url"]
        for event in sent
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert urls
    assert all(url.startswith(("file:", "data:", "blob:")) for url in urls), urls
    assert not [event for event in sent if event["method"].startswith("Network.webSocket")]


def test_a_reader_uses_the_page(opened):
    browser = opened(make.make_contents())
    browser.said("1,797 of 1,797 points")
    assert browser.pixels(browser.colour("c0")) > 200

    # Hover: the last row of the page is the last held-out one.
    shown = browser.hover(1796)
    for text in ("Row1795", "digit9", "Partheld-out", "nameimage 1795"):
        assert text in shown or text.replace("9", "8") in shown

    # The legend hides a class and shows it again, with the keyboard too.
    browser.press("#legend li:nth-child(1) input")
    browser.said("1,619 of 1,797 points")
    assert browser.shown() == 1619
    browser.press("#legend .row button:nth-child(2)")
    browser.said("0 of 1,797 points")
    browser.press("#legend .row button:nth-child(1)")
    browser.said("1,797 of")
    for part, n in (("heldout", "525"), ("train", "1,272"), ("all", "1,797")):
        browser.press(f"input[value={part}]")
        browser.said(f"{n} of 1,797 points")

    # Axes, zoom by key, and a row by its number.
    browser.choose("up", 3)
    assert browser.run("return report.map.picture.axes") == [0, 3]
    browser.run("report.map.canvas.focus()")
    webdriver.ActionChains(browser.driver).send_keys("+").perform()
    browser.wait("report.map.scatter.zoom > 1.3")
    assert browser.search("17") == "1 row."
    browser.wait("document.getElementById('picked').textContent.includes('image 17')")

    # Dark: the figure follows the page.
    browser.emulate("dark")
    browser.wait("report.map.overlay && getComputedStyle(document.body).color === "
                 "'rgb(230, 233, 237)'")  # fmt: skip
    browser.press("#legend .row button:nth-child(1)")
    browser.run("report.select(null)")
    browser.until(lambda: browser.pixels(browser.colour("c1"), 40) > 100)


def test_a_click_in_the_legend_hides_a_class(opened):
    browser = opened(make.make_contents())
    hidden, other = browser.colour("c4"), browser.colour("c6")
    browser.press("input[value=heldout]")
    before = browser.pixels(hidden), browser.pixels(other)
    assert min(before) > 200
    entry = browser.driver.find_element("css selector", "#legend li:nth-child(5) label")
    entry.click()
    assert browser.pixels(hidden) < 0.05 * before[0]
    assert browser.pixels(other) > 0.9 * before[1]
    entry.click()
    assert browser.pixels(hidden) > 0.9 * before[0]


def test_three_components_are_drawn_in_space(opened, tmp_path, monkeypatch):
    """The page that `labelens embed --components 3` writes."""
    X, y = load_iris(return_X_y=True)
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(species=y)
    frame.to_csv("iris.csv", index=False)
    command = "embed iris.csv --label species --method spca --components 3 --quiet"
    assert CliRunner().invoke(app, command.split()).exit_code == 0
    browser = opened(tmp_path / "embedding" / "report.html")
    browser.choose("deep", 2)
    assert browser.run("return report.map.deep")
    before = np.array([browser.at(i) for i in range(150)])
    assert min(browser.pixels(browser.colour(f"c{i}"), 60) for i in range(3)) > 50
    # Dragging turns it: other places, the same distances in space.
    x, y = before.mean(axis=0)
    browser.pointer("mouseMoved", x, y)
    browser.pointer("mousePressed", x, y)
    browser.pointer("mouseMoved", x + 80, y)
    browser.pointer("mouseReleased", x + 80, y)
    browser.settle()
    after = np.array([browser.at(i) for i in range(150)])
    assert np.abs(after - before).max() > 10
    turns = "return report.map.scatter.directions()"
    np.testing.assert_allclose(np.array(browser.run(turns)) @ np.array(browser.run(turns)).T,
                               np.eye(3), atol=1e-9)  # fmt: skip
    row = int(np.argmax(after[:, 0]))
    assert f"Row{browser.run('return report.rowNumbers[arguments[0]]', row)}" in browser.hover(row)
    browser.choose("deep", "")
    assert not browser.run("return report.map.deep")


def test_colours_of_any_column(opened):
    browser = opened(make.make_several())
    browser.said("coloured by digit")
    names = "return [...document.querySelectorAll('#legend bdi')].map((e) => e.textContent)"
    assert browser.run(names) == [str(i) for i in range(10)]

    # From the keyboard: the second option of the list.
    browser.run("document.getElementById('by').focus()")
    webdriver.ActionChains(browser.driver).send_keys(Keys.ARROW_DOWN).perform()
    browser.said(f"1,797 of 1,797 points shown, coloured by {make.HOSTILE[3]}")
    assert browser.run(names) == ["<b>large</b>", "small"]
    browser.press("#legend li:nth-child(2) input")
    browser.said("896 of")  # the digits 0 to 4 are hidden
    assert f"{make.HOSTILE[3]}<b>large</b>" in browser.hover(browser.run(
        "return report.colours.own.indexOf(0)"))  # fmt: skip
    # Beside the labels there are the columns of the data.
    browser.choose("by", 2)
    browser.said("coloured by pixel 20")
    assert browser.run("return document.querySelectorAll('.colourbar').length") == 1
    assert browser.run("return window.pwned") is None


def test_a_lasso_tells_of_its_rows_and_saves_them(opened):
    browser = opened(make.make_contents())
    browser.press("input[value=lasso]")
    box = browser.run("const b = report.map.canvas.getBoundingClientRect(); return [b.left, b.top,"
                      "b.right, b.bottom]")  # fmt: skip
    left, top, right, bottom = box
    corners = [(left + 5, top + 5), (right - 5, top + 5), (right - 5, (top + bottom) / 2),
               (left + 5, (top + bottom) / 2)]  # fmt: skip
    browser.pointer("mousePressed", *corners[0])
    for corner in corners[1:]:
        browser.pointer("mouseMoved", *corner, buttons=1)
    browser.pointer("mouseReleased", *corners[-1])
    browser.wait("report.selected")
    inside = np.array(browser.run("return Array.from(report.selected)")).astype(bool)
    up = np.array([browser.run("return Array.from(report.map.scatter.flat)")]).reshape(-1, 2)[:, 1]
    assert 200 < inside.sum() < 1797
    assert up[inside].min() > up[~inside].max() - 0.02
    group = browser.text("group")
    assert group.startswith(f"{inside.sum():,} rows")
    assert "pixel 20" in group
    rows = browser.driver.execute_async_script(
        """
        const done = arguments[0];
        const { createObjectURL } = URL;
        URL.createObjectURL = (blob) => { blob.text().then(done); return createObjectURL(blob); };
        document.getElementById("save-rows").click();
        """
    )
    frame = pd.read_csv(io.StringIO(rows))
    assert list(frame) == ["Row", "Part", "digit", "pixel 20", "name"]
    numbers = np.array(browser.run("return Array.from(report.rowNumbers)"))[inside]
    assert sorted(frame["Row"]) == sorted(numbers)
    contents = make.make_contents()
    np.testing.assert_array_equal(frame["digit"], contents.labels["digit"].values[frame["Row"]])


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("image 179", lambda y, p: [i for i in range(1797) if "image 179" in f"image {i}"]),
        ("digit = 3", lambda y, p: np.flatnonzero(y == 3)),
        ("pixel 20 > 14", lambda y, p: np.flatnonzero(p > 14)),
        ("DIGIT: 3", lambda y, p: np.flatnonzero(y == 3)),
    ],
)
def test_rows_are_found_by_text_and_value(opened, typed, wanted):
    contents = make.make_contents()
    browser = opened(contents)
    rows = wanted(contents.labels["digit"].values, contents.hover["pixel 20"])
    assert browser.search(typed) == f"{len(rows):,} rows."
    found = browser.run(
        "return [...report.rowNumbers].filter((_, i) => report.selected[i])"
    )  # fmt: skip
    assert sorted(found) == sorted(rows)


def test_neighbours_of_a_row(opened):
    contents = make.make_contents()
    browser = opened(contents)
    browser.search("17")
    browser.press("#neighbours")
    Z = contents.Z.astype(np.float32)
    nearest = np.argsort(np.square(Z - Z[17]).sum(axis=1), kind="stable")[:11]
    found = browser.run("return [...report.rowNumbers].filter((_, i) => report.selected[i])")
    assert set(found) == set(nearest.tolist())


def test_the_map_is_saved_as_a_figure(opened):
    browser = opened(make.make_hostile())
    svg = browser.driver.execute_async_script(
        """
        const done = arguments[0];
        const { createObjectURL } = URL;
        URL.createObjectURL = (blob) => { blob.text().then(done); return createObjectURL(blob); };
        document.getElementById("save-svg").click();
        """
    )
    root = ElementTree.fromstring(svg)
    kinds = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert kinds.count("circle") == 150
    assert set(kinds) <= {"svg", "rect", "circle", "path", "text"}
    size = browser.driver.execute_async_script(
        """
        const done = arguments[0];
        const { createObjectURL } = URL;
        URL.createObjectURL = (blob) => {
          createImageBitmap(blob).then((image) => done([image.width, image.height]));
          return createObjectURL(blob);
        };
        document.getElementById("save").click();
        """
    )
    assert size == browser.run("const c = report.map.canvas; return [c.width, c.height]")


def test_lines_of_density(opened):
    browser = opened(make.make_contents())
    before = browser.pixels(browser.colour("ink"), 8)
    browser.press(".menu summary")
    browser.run("document.getElementById('contours').click()")
    browser.press(".menu summary")
    assert browser.pixels(browser.colour("ink"), 8) > before + 300


def test_an_atlas_shows_its_discs(opened):
    X, y = load_iris(return_X_y=True)
    model = Atlas(SupervisedPCA(shrinkage=0.1), random_state=0).fit(X, y)
    changes = dict(model=model, Z=model.transform(X), test=np.arange(150) % 2 == 0, labels=y)
    browser = opened(make.make_contents(**changes, hover={}, confusion=None))
    browser.settle()
    ends = browser.run(
        """
        const { picture, scatter, canvas, frames } = report.map;
        return picture.anchors.flatMap(([x, y], c) => [-1, 1].map((side) => scatter.toScreen(
          [x + side * picture.radii[c], y].map((v, j) => (v - frames[j][0]) / frames[j][1]))
          .concat(canvas.clientWidth, canvas.clientHeight)));
        """
    )
    assert len(ends) == 6
    # A disc has the name of its class, also if its rows are elsewhere.
    browser.run(
        "report.map.scatter.to.fill(0.5); report.map.centred = null; report.map.scatter.draw()"
    )
    browser.settle()
    places = browser.run("return report.map.centred.found")
    assert [name for name, *_ in places] == ["0", "1", "2"]
    middles = browser.run("return report.map.picture.anchors")
    across = [x for _, x, _ in places]
    assert np.argsort(across).tolist() == np.argsort(np.array(middles)[:, 0]).tolist()
    assert all(0 <= x <= width and 0 <= y <= height for x, y, width, height in ends)
    x, y = map(round, ends[0][:2])  # the rim of a disc is drawn
    painted = browser.run(
        "return report.map.overlay.getContext('2d').getImageData("
        "arguments[0] - 3, arguments[1] - 3, 6, 6).data.some((v) => v > 0)",
        x,
        y,
    )
    assert painted


def test_hostile_text_stays_text(opened):
    browser = opened(make.make_hostile())
    # The driver cannot carry a lone surrogate; HTML cannot hold a NUL.
    texts = "return [...document.querySelectorAll('{}')].map((e) => e.textContent.toWellFormed())"
    hostile = [text.replace("\ud800", "\ufffd") for text in make.HOSTILE]
    assert sorted(browser.run(texts.format("#legend .list bdi"))) == sorted(hostile)
    for i, text in enumerate(hostile):
        browser.search(str(i))
        assert browser.run(texts.format("#picked dd"))[2] == text
    browser.hover(0)
    assert browser.run("return window.pwned") is None
    assert browser.run("return document.querySelectorAll('img, iframe, main script').length") == 0
    title = re.sub("[\0\ud800]", "\ufffd", make.HOSTILE[1])
    assert browser.run("return document.title") == title


def test_one_component_is_a_strip_a_class(opened):
    browser = opened(make.make_line())
    strips = browser.run("return report.colours.strips()")
    assert [name for name, _ in strips] == ["%{x}", "setosa <b>", "versicolor & co", "virginica"]
    heights = np.array(browser.run("return Array.from(report.map.scatter.flat)"))[1::2]
    codes = np.array(browser.run("return Array.from(report.colours.own)"))
    ends = [(heights[codes == c].max(), heights[codes == c].min()) for c in range(4)]
    assert all(low > high for (_, low), (high, _) in itertools.pairwise(ends))
    assert browser.run("return document.getElementById('deep')") is None


def test_numbers_as_labels(opened):
    browser = opened(make.make_continuous(), "dark")
    assert "digit" in browser.hover(3)
    assert browser.run("return document.querySelectorAll('.colourbar').length") == 1


def test_thousands_of_classes(opened):
    browser = opened(make.make_many_classes())
    assert browser.run("return document.querySelectorAll('#legend .list input').length") == 16
    box = browser.driver.find_element("id", "class")
    box.send_keys("species 4321")
    assert browser.run("return document.querySelectorAll('#class-names option').length") == 1
    box.send_keys("\n")
    browser.wait("report.selected")
    assert browser.text("group").startswith("1 row,")


def test_more_rows_than_are_drawn(opened):
    start = time.monotonic()
    browser = opened(make.make_large())
    assert time.monotonic() - start < 30
    browser.said("200,000 of 200,000 points")
    assert "a sample of 200,000 of 200,001 rows" in browser.run(
        "return document.querySelector('.notice').textContent"
    )
    # Nothing is wider than a phone.
    size = dict(width=390, height=844, deviceScaleFactor=1, mobile=False)
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.wait("document.documentElement.scrollWidth <= 390")
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# The first screen --------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_the_first_screen_has_the_verdict_and_the_map(opened, browser, width, height):
    size = dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page = opened(make.make_contents())
        places = page.run(
            "return ['.verdict', '#plot'].map((s) => {"
            "  const b = document.querySelector(s).getBoundingClientRect();"
            "  return [b.top, b.bottom, b.left, b.right]; })"
        )
        for top, bottom, left, right in places:
            assert 0 <= top < bottom <= height
            assert 0 <= left < right <= width
        assert page.run("return document.documentElement.scrollWidth") <= width
        (_, _, _, _), (top, bottom, _, _) = places
        assert bottom - top > 0.4 * height
        assert page.run("return document.querySelector('.grade').textContent") == "Strong."
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_ten_classes_have_ten_colours(opened):
    page = opened(make.make_contents())
    colours = page.run(
        "return [...document.querySelectorAll('#legend .swatch')].map((e) =>"
        "getComputedStyle(e).fill)"
    )
    assert len(set(colours)) == len(colours) == 10
    assert "shape" not in page.run("return document.querySelector('main').textContent")


def test_distances_and_names_on_the_map(opened):
    page = opened(make.make_contents())
    (x0, y0), (x1, y1) = page.run(
        "const { scatter } = report.map;return [scatter.toScreen([0, 0]), scatter.toScreen([1, 1])]"
    )
    assert x1 - x0 == pytest.approx(y0 - y1, rel=1e-6)
    page.settle()
    names = "return report.map.namesShown"
    assert len(page.run(names)) >= 6
    assert set(page.run(names)) <= set("0123456789")
    page.run("document.querySelectorAll('#legend .list input')[4].click()")
    page.settle()
    assert "4" not in page.run(names)


def test_a_class_is_found_whatever_its_capitals(opened):
    contents = make.make_contents(
        labels=np.array([f"Kind {i % 40}" for i in range(1797)], dtype=object), confusion=None
    )
    page = opened(contents)
    page.driver.find_element("id", "class").send_keys("kind 39\n")
    page.wait("report.selected")
    assert page.text("group").startswith("44 rows")
