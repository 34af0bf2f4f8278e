"""Looking at rows on the page: pictures, search, neighbours, hiding, three axes, figures."""

import time

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from explorer.page import on_screen, pointer


def selected(page):
    return np.array(page.run("return explorer.selected ? Array.from(explorer.selected) : []"))


def search(page, typed):
    page.run("document.querySelector('#find-rows input').value = arguments[0]", typed)
    page.run("document.getElementById('found').textContent = ''")
    page.run("document.getElementById('find-rows').requestSubmit()")
    page.wait("document.getElementById('found').textContent")
    return page.text("found")


def saved(page, name):
    path, end = page.folder / name, time.monotonic() + 20
    while not path.exists() or list(page.folder.glob("*.crdownload")):
        assert time.monotonic() < end, f"{name} was not saved"
        time.sleep(0.05)
    return path


def test_a_row_shows_its_picture(opened):
    x, y = on_screen(opened, 20)
    for away in (40, 0):
        pointer(opened, "mouseMoved", x + away, y, button="none")
    opened.wait("document.querySelector('#tip img')?.naturalWidth === 8")
    opened.run("explorer.pick(20)")
    opened.wait("document.querySelector('#picked img')?.naturalWidth === 8")
    assert "pixel 63" in opened.text("facts")


def test_rows_are_found_and_the_others_hidden(opened):
    assert search(opened, "digit = 3") == "173 rows. Untouched rows that match: 10."
    assert selected(opened).sum() == 173
    opened.wait("!document.getElementById('group-tools').hidden")
    opened.run("document.getElementById('only').click()")
    shown = "return explorer.panes[0].look.filter((a, j) => j % 4 === 3 && a > 0).length"
    assert opened.run(shown) == 173  # untouched rows are not shown
    opened.run("document.getElementById('only').click()")
    assert opened.run(shown) == 1797 - 150
    assert search(opened, "pixel 20 >= 16") != "No row of the plot matches."
    assert search(opened, "odd").startswith("8")
    assert search(opened, "no such text") == "No row of the plot matches."
    assert search(opened, "17") == "1 row."
    opened.wait("document.getElementById('facts').textContent.includes('Row17')")
    opened.run("document.getElementById('save-rows').click()")
    assert pd.read_csv(saved(opened, "rows.csv"))["row"].tolist() == [17]


def test_neighbours_are_a_list_and_a_group(opened):
    opened.run("explorer.pick(20)")
    opened.wait("document.getElementById('neighbours')")
    opened.press("#neighbours")
    opened.wait("document.querySelectorAll('.near li').length === 10")
    assert selected(opened).sum() == 11
    opened.press(".near li:nth-child(2) button")
    opened.wait("explorer.picked !== 20")


def test_three_axes_turn_and_come_back(opened):
    opened.choose("components", 4)
    opened.run("const l = explorer.panes[0].depth; l.value = '2';"
               "l.dispatchEvent(new Event('change'))")  # fmt: skip
    opened.still()
    opened.wait("explorer.panes[0].deep")
    before = on_screen(opened, 9)
    opened.run("explorer.panes[0].dragBy(90, 30); explorer.panes[0].moved()")
    opened.settle()
    after = on_screen(opened, 9)
    assert np.hypot(*np.subtract(after, before)) > 5
    assert opened.drawn() > 1000
    opened.driver.refresh()
    opened.wait("document.documentElement.dataset.ready === 'yes'", 60)
    opened.still()
    assert on_screen(opened, 9) == pytest.approx(after, abs=0.5)
    # The same component twice changes places with the one before.
    opened.run("const l = explorer.panes[0].depth; l.value = '0';"
               "l.dispatchEvent(new Event('change'))")  # fmt: skip
    opened.still()
    assert opened.run("return explorer.panes[0].axes") == [2, 1, 0]
    opened.choose("components", 2)
    assert not opened.run("return explorer.panes[0].deep")


def test_the_map_is_saved_as_a_figure(opened):
    opened.run("document.getElementById('save-png').click()")
    image = imread(saved(opened, "map.png"))
    assert (image[:, :, 3] == 1).all()
    assert len(np.unique(image.reshape(-1, 4), axis=0)) > 100
    opened.run("document.getElementById('save-svg').click()")
    assert saved(opened, "map.svg").read_text().count("<circle") == 1797 - 150


def test_size_and_opacity_of_points(opened):
    before = opened.drawn()
    opened.choose("point-size", 1)
    assert opened.drawn() > 1.5 * before
    opened.choose("point-size", 0)


def test_linked_views_show_the_same_part(opened):
    zoom = "return explorer.panes.map(({ scatter }) => [scatter.zoom, ...scatter.pan])"
    opened.run("document.getElementById('compare').click()")
    opened.still()
    opened.run("explorer.panes[0].zoomBy(2)")
    assert opened.run(zoom)[1] == [1, 0, 0]
    opened.run("document.getElementById('link').click()")
    opened.run("explorer.panes[0].dragBy(30, 20); explorer.panes[0].moved()")
    first, second = opened.run(zoom)
    assert first == second != [1, 0, 0]
    opened.run("document.getElementById('link').click()")
