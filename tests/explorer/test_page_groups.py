"""Groups of points, two views of them, hidden classes, rows by number."""

import numpy as np
from sklearn.datasets import load_digits

from browser import Keys, webdriver
from explorer.page import on_screen, pointer


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
    clear &= ~np.array(page.run("return Array.from(explorer.away)"), dtype=bool)
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
    rows, away = (np.array(page.run(f"return Array.from(explorer.{name})"))
                  for name in ("rowNumbers", "away"))  # fmt: skip
    assert f"{(y[rows[away == 0]] == 3).sum()} rows" in page.text("group")
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
    page.driver.find_element("css selector", "#find-rows input").send_keys("17\n")
    page.wait("document.getElementById('facts').textContent.includes('pixel')")
    assert page.run("return explorer.rowNumbers[explorer.picked]") == 17
    page.run("document.querySelector('canvas').focus()")
    webdriver.ActionChains(page.driver).send_keys("n").perform()
    page.wait("explorer.rowNumbers[explorer.picked] !== 17")
