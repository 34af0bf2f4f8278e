"""The report in a real browser: it draws, it can be used, and nothing gets in or out."""

import io
import json
import re
import time

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import report_contents as make
from browser import Browser, Keys, start_chromium, webdriver
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

    def hover(self, i):
        """Put the pointer on the i-th point of the last trace with points, as often as it takes.

        Plotly looks at the pointer only so often, and not while it draws.
        """
        end = time.monotonic() + 20
        shown = "return !document.getElementById('tip').hidden"
        while not self.run(shown):
            assert time.monotonic() < end, "the pointer is on a point, and no tip is shown"
            x, y = self.run(
                """
                const plot = document.getElementById("plot");
                plot.scrollIntoView({ block: "center" });
                const { xaxis, yaxis } = plot._fullLayout;
                const trace = plot.data.filter((t) => t.visible !== false).at(-1);
                const box = plot.getBoundingClientRect();
                return [box.left + xaxis._offset + xaxis.d2p(trace.x[arguments[0]]),
                        box.top + yaxis._offset + yaxis.d2p(trace.y[arguments[0]])];
                """,
                i,
            )
            for away in (60, 3, 0):
                event = dict(type="mouseMoved", x=x + away, y=y)
                self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)
                time.sleep(0.15)
        return self.text("tip")

    def painted(self):
        """How many pixels of the WebGL canvases are not empty: plotly fails without an error."""
        return self.driver.execute_async_script(
            """
            const done = arguments[0];
            Plotly.redraw("plot").then(() => {
              let count = 0;
              for (const canvas of document.querySelectorAll("#plot canvas")) {
                const copy = document.createElement("canvas");
                [copy.width, copy.height] = [canvas.width, canvas.height];
                const pen = copy.getContext("2d");
                pen.drawImage(canvas, 0, 0);
                const { data } = pen.getImageData(0, 0, copy.width || 1, copy.height || 1);
                for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
              }
              done(count);
            });
            """
        )

    def pixels(self, colour, near=24):
        """How many pixels of the plot, as a reader sees it, have about this colour."""
        self.driver.execute_script(
            "document.getElementById('plot').scrollIntoView({ block: 'center' });"
        )
        self.settle()
        picture = self.driver.find_element("id", "plot").screenshot_as_png
        seen = 255 * matplotlib.image.imread(io.BytesIO(picture))[:, :, :3]
        wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        return int((np.abs(seen - wanted).max(axis=2) <= near).sum())


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
    assert browser.painted() > 5000

    # Hover: the last trace is the held-out rows of the last class.
    shown = browser.hover(0)
    assert "Row" in shown
    assert "Label9" in shown
    assert "Partheld-out" in shown
    assert "nameimage " in shown

    # The legend hides a class and shows it again, with the keyboard too.
    browser.press("#legend li:nth-child(1) input")
    browser.said("1,619 of 1,797 points")
    hidden = "document.getElementById('plot').data.filter((t) => t.visible === false).length"
    assert browser.run(f"return {hidden}") == 2
    browser.press("#none")
    browser.said("0 of 1,797 points")
    browser.press("#all")
    browser.said("1,797 of")

    browser.press("input[value=heldout]")
    browser.said("525 of 1,797 points")
    browser.press("input[value=train]")
    browser.said("1,272 of 1,797 points")
    browser.press("input[value=both]")

    # Axes, zoom by key, and a row by its number.
    browser.run(
        "const up = document.getElementById('up'); up.value = '3';"
        "up.dispatchEvent(new Event('change'));"
    )
    browser.wait("document.getElementById('plot').layout.yaxis.title.text === 'component 4'")
    span = "(() => { const r = document.getElementById('plot').layout.xaxis.range;"
    span += " return r[1] - r[0]; })()"
    before = browser.run(f"return {span}")
    browser.run("document.getElementById('plot').focus()")
    webdriver.ActionChains(browser.driver).send_keys("+").perform()
    browser.wait(f"{span} < {0.8 * before}")
    browser.driver.find_element("id", "row").send_keys("17\n")
    browser.wait("document.getElementById('picked').textContent.includes('image 17')")

    # Dark: the figure follows the page.
    ground = "document.getElementById('plot')._fullLayout.paper_bgcolor"
    light = browser.run(f"return [{ground}, getComputedStyle(document.body).color]")
    browser.emulate("dark")
    browser.wait(f"{ground} !== {json.dumps(light[0])}")
    dark = browser.run(f"return [{ground}, getComputedStyle(document.body).color]")
    assert dark == ["#1d2126", "rgb(230, 233, 237)"]

    # The third dimension, and back.
    browser.press("input[value='3d']")
    browser.wait("document.querySelector('#plot .gl-container canvas, #plot canvas')")
    browser.wait("document.getElementById('plot').data.every((t) => t.type === 'scatter3d')")
    assert not browser.run("return document.getElementById('deep').disabled")
    browser.press("input[value='2d']")
    browser.wait("document.getElementById('plot').data.every((t) => t.type === 'scattergl')")
    browser.said("1,797 of")


def test_a_click_in_the_legend_hides_a_class(opened):
    browser = opened(make.make_contents())
    visible = "return document.getElementById('plot').data.filter((t) => t.visible).length"
    entry = browser.driver.find_element("css selector", "#legend li:nth-child(3)")
    hidden, other = browser.colour("c2"), browser.colour("c3")
    before = browser.pixels(hidden), browser.pixels(other)
    assert min(before) > 200
    assert browser.run(visible) == 20  # ten classes, two parts
    entry.click()
    browser.said("1,620 of 1,797 points")
    assert browser.run(visible) == 18
    assert browser.pixels(hidden) < 0.02 * before[0]
    assert browser.pixels(other) > 0.9 * before[1]
    entry.click()
    browser.said("1,797 of 1,797 points")
    assert browser.run(visible) == 20
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
    colours = [browser.colour(f"c{i}") for i in range(3)]
    browser.press("input[value='3d']")
    browser.wait("document.getElementById('plot').data.every((t) => t.type === 'scatter3d')")
    browser.said("150 of 150 points")
    counts = [browser.pixels(colour) for colour in colours]
    assert min(counts) > 50, counts
    browser.driver.find_element("css selector", "#legend li:nth-child(1)").click()
    browser.said("100 of 150 points")
    assert browser.pixels(colours[0]) < 0.2 * counts[0]
    # It turns by the keyboard: the same points elsewhere.
    eye = "document.getElementById('plot')._fullLayout.scene.camera.eye.x"
    before = browser.run(f"return {eye}")
    browser.run("document.getElementById('plot').focus()")
    webdriver.ActionChains(browser.driver).send_keys(Keys.ARROW_RIGHT).perform()
    browser.wait(f"{eye} !== {before}")
    assert browser.pixels(colours[1]) > 50


def test_colours_of_another_label(opened):
    browser = opened(make.make_several())
    browser.said("coloured by digit")
    names = "return [...document.querySelectorAll('#legend bdi')].map((e) => e.textContent)"
    assert browser.run(names) == [str(i) for i in range(10)]
    third = browser.colour("c2")
    assert browser.pixels(third) > 200
    browser.press("#legend li:nth-child(3) input")
    browser.said("1,620 of 1,797 points")

    # From the keyboard: the second option of the list.
    browser.run("document.getElementById('by').focus()")
    webdriver.ActionChains(browser.driver).send_keys(Keys.ARROW_DOWN).perform()
    browser.said(f"1,797 of 1,797 points shown, coloured by {make.HOSTILE[3]}")
    assert browser.run(names) == ["<b>large</b>", "small"]
    assert browser.run("return document.getElementById('plot').data.length") == 4
    assert browser.pixels(third) < 20
    browser.press("#legend li:nth-child(2) input")
    browser.said("896 of")  # the digits 0 to 4 are hidden
    shown = browser.hover(0)
    assert "Label digit" in shown
    assert f"Label {make.HOSTILE[3]}<b>large</b>" in shown

    browser.run("document.getElementById('by').focus()")
    webdriver.ActionChains(browser.driver).send_keys(Keys.ARROW_UP).perform()
    browser.said("1,797 of 1,797 points shown, coloured by digit")
    assert browser.run("return window.pwned") is None


def test_hostile_text_stays_text(opened):
    browser = opened(make.make_hostile())
    # The driver cannot carry a lone surrogate; HTML cannot hold a NUL.
    texts = "return [...document.querySelectorAll('{}')].map((e) => e.textContent.toWellFormed())"
    hostile = [re.sub("[\0\ud800]", "\ufffd", text) for text in make.HOSTILE]
    listed = browser.run(texts.format("#legend bdi"))
    assert sorted(listed) == sorted(text.replace("lone \ufffd", "lone ?") for text in hostile)
    for i, text in enumerate(hostile):
        browser.run("document.getElementById('row').value = arguments[0]", i)
        browser.run("document.getElementById('find-row').requestSubmit()")
        shown = browser.run(texts.format("#picked dd"))[1]
        assert shown.replace("\0", "\ufffd") == text
    browser.hover(0)
    assert browser.run("return window.pwned") is None
    assert browser.run("return document.querySelectorAll('img, iframe, main script').length") == 0
    assert browser.run("return document.title") == make.HOSTILE[1]


def test_one_component_is_a_strip_a_class(opened):
    browser = opened(make.make_line())
    ticks = browser.run(
        "return [...document.querySelectorAll('#plot .ytick text')].map((e) => e.textContent)"
    )
    assert ticks == ["%{x}", "setosa <b>", "versicolor & …", "virginica"]
    assert browser.run("return document.querySelectorAll('input[name=view]').length") == 0


def test_numbers_as_labels(opened):
    browser = opened(make.make_continuous(), "dark")
    assert "Label" in browser.hover(3)
    assert browser.run("return document.querySelectorAll('.colourbar').length") == 1


def test_thousands_of_classes(opened):
    browser = opened(make.make_many_classes())
    assert browser.run("return document.querySelectorAll('#legend input').length") == 31
    box = browser.driver.find_element("id", "class")
    box.send_keys("species 4321")
    assert browser.run("return document.querySelectorAll('#class-names option').length") == 1
    box.send_keys("\n")
    browser.said("“species 4321”: ")


def test_more_rows_than_are_drawn(opened):
    start = time.monotonic()
    browser = opened(make.make_large())
    assert time.monotonic() - start < 30
    browser.said("200,000 of 200,000 points")
    assert "Of 200,001 rows a sample of 200,000 is drawn" in browser.run(
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
    assert page.run("return document.querySelectorAll('#legend circle').length") == 10
    assert "shape" not in page.run("return document.querySelector('main').textContent")


def test_distances_and_names_on_the_map(opened):
    page = opened(make.make_contents())
    per_unit = page.run(
        "const { xaxis, yaxis } = document.getElementById('plot')._fullLayout;"
        "return [xaxis.d2p(1) - xaxis.d2p(0), yaxis.d2p(0) - yaxis.d2p(1)]"
    )
    assert per_unit[0] == pytest.approx(per_unit[1], rel=1e-6)
    page.wait("document.querySelectorAll('#plot .annotation').length >= 6")
    names = "return [...document.querySelectorAll('#plot .annotation')].map((e) => e.textContent)"
    assert set(page.run(names)) <= set("0123456789")
    overlaps = page.run(
        "const b = [...document.querySelectorAll('#plot .annotation text')].map((e) =>"
        "e.getBoundingClientRect());"
        "return b.filter((p, i) => b.slice(0, i).some((q) => p.left < q.right && q.left < p.right"
        "&& p.top < q.bottom && q.top < p.bottom)).length"
    )
    assert overlaps == 0
    page.run("document.querySelectorAll('#legend input')[4].click()")
    page.said("points shown")
    page.wait("![...document.querySelectorAll('#plot .annotation')].some((e) =>"
              "e.textContent === '4')")  # fmt: skip


def test_a_class_is_found_whatever_its_capitals(opened):
    contents = make.make_contents(
        labels=np.array([f"Kind {i % 40}" for i in range(1797)], dtype=object), confusion=None
    )
    page = opened(contents)
    page.driver.find_element("id", "class").send_keys("kind 39\n")
    page.said("“Kind 39”: ")
