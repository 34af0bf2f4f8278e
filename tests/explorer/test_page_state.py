"""What the page says is what the page shows: settings, data, parts, views, and the way back."""

import json
import threading
import time

import numpy as np
import pytest

import labelens
from browser import Keys, webdriver
from explorer.page import framed, pointer
from labelens.explorer import server as server_module
from labelens.explorer.explored import from_arrays
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import session_of

VALUE = "return document.getElementById(arguments[0]).value"


def type_into(page, name, text):
    """Select all of a box, type, and leave it."""
    page.run("document.getElementById(arguments[0]).focus()", name)
    page.run("document.getElementById(arguments[0]).select()", name)
    webdriver.ActionChains(page.driver).send_keys(text, Keys.TAB).perform()
    page.still()


@pytest.fixture(scope="module")
def bundled():
    explorer = labelens.explore()
    yield explorer
    explorer.stop()


@pytest.mark.parametrize("wrong", ["0", "-3", "1e9", "2.6"])
def test_a_number_outside_its_limits_is_put_within(opened, wrong):
    page = opened
    for name in ("components", "target", "shrinkage", "label-shrinkage"):
        type_into(page, name, wrong)
        low, high, value = page.run(
            "const e = document.getElementById(arguments[0]);"
            "return [Number(e.min), Number(e.max), Number(e.value)]",
            name,
        )
        assert low <= value <= high
        assert page.run("return explorer.panes[0].error.hidden")
        type_into(page, name, "1")  # target weight 0 and shrinkage 0 together are an error
    type_into(page, "components", "2")
    page.choose("method", "pca")
    assert page.run("return explorer.panes[0].error.hidden")
    assert page.run("return explorer.panes[0].picture.view.method") == "pca"


def test_the_data_are_those_of_the_menu(page, bundled, monkeypatch):
    """Arrow keys through the menu; answers about every other data set are late."""
    plain = server_module.Sessions.open

    def late(self, number):
        time.sleep(0.5 if number in (1, 3) else 0)
        return plain(self, number)

    page.look(bundled.url)
    monkeypatch.setattr(server_module.Sessions, "open", late)
    for keys in (Keys.ARROW_DOWN * 2, Keys.ARROW_DOWN * 2, Keys.ARROW_UP * 2):
        page.run("document.getElementById('data').focus()")
        for key in keys:
            webdriver.ActionChains(page.driver).send_keys(key).perform()
            time.sleep(0.1)
        time.sleep(1.5)
        page.wait("explorer.data === Number(document.getElementById('data').value)")
        page.still()
        title, name, rows = page.run(
            "const menu = document.getElementById('data');"
            "return [menu.selectedOptions[0].textContent, explorer.overview.name,"
            "  explorer.panes[0].scatter.n === explorer.n]"
        )
        assert title == name
        assert rows
    assert page.errors() == []


def test_xor_is_not_given_up(page, bundled):
    page.look(bundled.url + "#data=4")
    assert page.run("return explorer.overview.name") == "XOR"
    verdict = page.run("return explorer.panes[0].verdict.textContent")
    assert verdict.startswith("Chance. This embedding predicts held-out labels no better")
    assert "95 % interval" in verdict
    assert "columns" not in verdict
    assert page.run("return explorer.panes[0].next.textContent") == "Try kernel SPCA"
    page.run("explorer.panes[0].next.click()")
    page.wait("explorer.panes[0].picture.view.method === 'kspca'")
    page.still()
    assert page.run(VALUE, "method") == "kspca"
    assert page.run("return explorer.panes[0].grade.textContent") == "Strong."
    assert page.run("return explorer.panes[0].next.hidden")


def test_the_shuffled_view_has_the_shuffled_score(opened):
    page = opened
    own, control = page.accuracy(), page.control()
    page.key("s")
    page.wait("explorer.panes[0].picture.shuffled")
    page.still()
    assert float(page.accuracy()) == control
    assert page.run("return explorer.panes[0].whose.textContent") == "shuffled labels,"
    verdict = page.run("return explorer.panes[0].verdict.textContent")
    assert verdict.startswith("Control. The labels of this view are shuffled")
    assert "predicts" not in verdict
    page.key("a")
    page.wait("!explorer.panes[0].picture.shuffled")
    page.still()
    assert page.accuracy() == own


def test_back_from_another_page(page, explorer):
    page.look(explorer.url)
    page.key("s")
    page.key("l")
    page.wait("explorer.panes[0].picture.shuffled")
    page.still()
    page.driver.get("about:blank")
    page.driver.back()
    page.wait("document.documentElement.dataset.ready === 'yes'", 60)
    page.still()
    for name, field in (("part", "part"), ("drag", "drag")):
        shown = f"return document.querySelector('input[name={name}]:checked').value"
        assert page.run(shown) == page.run(f"return explorer.{field}")
    assert page.run("return explorer.panes[0].picture.shuffled")
    assert page.run("return explorer.drag") == "lasso"


def test_every_setting_and_selection_is_in_the_address(page, explorer):
    page.look(explorer.url)
    page.choose("method", "kspca")
    page.choose("features", 128)
    page.choose("components", 4)
    page.run("explorer.panes[0].across.value = 2")
    page.run("explorer.panes[0].across.dispatchEvent(new Event('change'))")
    page.still()
    page.choose("colour", 1)
    page.key("h")
    page.run("explorer.select(Uint8Array.from({length: explorer.n}, (_, i) => i % 7 === 3))")
    page.run("explorer.pick(20)")
    page.run("explorer.panes[0].zoomBy(2)")
    page.key("c")
    page.wait("explorer.panes.length === 2 && explorer.panes[1].picture")
    page.still()
    page.wait("document.querySelector('#group table') && document.querySelector('#facts dd')")
    told = "return JSON.stringify(explorer.state(), (k, v) => k === 'group' ? Array.from(v) : v)"
    before, places = json.loads(page.run(told)), page.places()
    link = page.driver.current_url
    page.driver.refresh()
    page.wait("document.documentElement.dataset.ready === 'yes'", 60)
    page.wait("explorer.panes.length === 2 && explorer.panes[1].picture")
    page.still()
    assert json.loads(page.run(told)) == before
    np.testing.assert_allclose(page.places(), places, atol=1e-6)
    page.wait("document.querySelector('#group table') && document.querySelector('#facts dd')")
    assert page.driver.current_url == link
    assert page.errors() == []


def test_back_and_forward(page, explorer):
    page.look(explorer.url)
    first = page.places()
    time.sleep(1)
    page.choose("method", "pca")
    second = page.places()
    time.sleep(1)
    page.key("h")
    page.driver.back()
    page.wait("explorer.part === 'all'")
    page.still()
    np.testing.assert_allclose(page.places(), second)
    page.driver.back()
    page.wait("explorer.panes[0].picture.view.method === 'spca'")
    page.still()
    assert page.run(VALUE, "method") == "spca"
    np.testing.assert_allclose(page.places(), first)
    page.driver.forward()
    page.wait("explorer.panes[0].picture.view.method === 'pca'")
    page.still()
    assert page.run(VALUE, "method") == "pca"


@pytest.mark.parametrize(
    "text",
    ["data=99", "data=-1", "1.components=0&1.axes=9-9", "1.method=<b>&1.kernel=x", "part=none",
     "row=1e9&group=%%%", "1.gamma=NaN&1.seed=-4&colour=500", "group=AAAA", "two=1", "1.label=7",
     "1.map=maybe&1.at=0_0_0", "2.method=pca&two=1&active=9", "%E0%A4%A"],
)  # fmt: skip
def test_an_address_that_makes_no_sense(page, explorer, text):
    page.look(f"{explorer.url}#{text}")
    assert page.run("return explorer.panes[0].error.hidden")
    assert page.drawn() > 1000
    assert page.errors() == []


def test_components_change_places(opened):
    page = opened
    page.choose("components", 3)
    axes = "return [explorer.panes[0].across.value, explorer.panes[0].up.value]"
    places = page.places()
    page.run(
        "const { across } = explorer.panes[0]; across.value = 1;"
        "across.dispatchEvent(new Event('change'))"
    )
    page.still()
    assert page.run(axes) == ["1", "0"]
    assert page.run("return explorer.panes[0].picture.axes") == [1, 0]
    np.testing.assert_allclose(page.places(), places[:, ::-1], atol=1e-6)


def test_what_does_nothing_cannot_be_moved(opened):
    page = opened
    disabled = "return document.getElementById(arguments[0]).disabled"
    for method, kernel, seeded in (
        ("pca", None, False), ("spca", None, False), ("srp", None, True),
        ("kspca", "linear", False), ("kspca", "rbf", True), ("ksrp", "linear", True),
    ):  # fmt: skip
        page.choose("method", method)
        if kernel:
            page.choose("kernel", kernel)
        assert page.run(disabled, "seed") is not seeded
        assert page.run(disabled, "reseed") is not seeded
    page.choose("method", "spca")
    page.choose("map", "wheel")
    page.still()
    page.choose("label", 2)  # numbers
    offered = "return [...document.getElementById('map').options].map((o) => !o.disabled)"
    assert page.run(offered) == [True, False, False]
    assert page.run("return explorer.panes[0].view.map") == "components"
    assert "continuous" in page.text("map-says")
    assert page.run("return explorer.panes[0].error.hidden")
    page.choose("label", 0)
    assert page.run(offered) == [True] * 3


def test_view_2_is_kept(opened):
    page = opened
    page.key("c")
    page.still()
    page.choose("method", "srp")
    page.choose("seed", 5)
    places = page.places(1)
    page.key("c")
    assert page.run("return explorer.panes.length") == 1
    page.choose("shrinkage", 0.5)
    page.key("c")
    page.still()
    view = page.run("return explorer.panes[1].view")
    assert (view["method"], view["seed"], view["shrinkage"]) == ("srp", 5, 1)
    np.testing.assert_allclose(page.places(1), places, atol=1e-6)


def test_a_class_is_found_whatever_its_capitals(page):
    draw = np.random.default_rng(0)
    names = np.array(["A", "Ångström", "b", "B", *(f"Kind {i}" for i in range(28))], dtype=object)
    y = np.arange(400) % len(names)
    X = draw.normal(size=(len(names), 4))[y] + draw.normal(size=(400, 4))
    explorer = Explorer(session_of(from_arrays(X, names[y]))).start()
    try:
        page.look(explorer.url)
        for typed, found in (
            ("a", "A"), ("b", "b"), ("B", "B"), ("ÅNGSTRÖM", "Ångström"), ("kind 27", "Kind 27"),
            ("27", "Kind 27"), ("kind", None), ("nothing", None),
        ):  # fmt: skip
            box = page.driver.find_element("id", "class")
            box.clear()
            box.send_keys(typed + "\n")
            code = page.run("return explorer.colours.found")
            name = f"return explorer.colours.column.names[{code}]"
            assert (None if code < 0 else page.run(name)) == found
        assert "There is no class “nothing”" in page.text("legend")
    finally:
        explorer.stop()


# Long fits ---------------------------------------------------------------------------------------


@pytest.fixture
def slow(explorer, monkeypatch):
    """Fits of SRP with seed 77 take half a minute, in steps that can be stopped."""
    from labelens._base.threads import in_order

    plain, stopped = server_module.Session.fit, threading.Event()

    def fit(self, view, exact=True):
        if view.seed == 77 and view.method == "srp":
            try:
                for _ in in_order(lambda _: time.sleep(0.05), range(600)):
                    pass
            except BaseException:
                stopped.set()
                raise
        return plain(self, view, exact)

    monkeypatch.setattr(server_module.Session, "fit", fit)
    return stopped


def test_a_long_fit_can_be_cancelled(page, explorer, slow):
    page.look(explorer.url)
    page.choose("method", "srp")
    score, places = page.accuracy(), page.places()
    page.run("explorer.panes[0].change({ seed: 77 })")
    page.wait("!explorer.panes[0].cancel.hidden")
    assert "previous settings" in page.run("return explorer.panes[0].took.textContent")
    assert page.run("return explorer.panes[0].root.classList.contains('stale')")
    page.run("explorer.panes[0].cancel.click()")
    page.still()
    assert slow.wait(5)
    assert page.run("return explorer.panes[0].cancel.hidden")
    assert page.run(VALUE, "seed") == "0"
    assert page.accuracy() == score
    np.testing.assert_array_equal(page.places(), places)
    page.choose("seed", 3)
    assert np.abs(page.places() - places).max() > 0.01
    assert page.errors() == []


def test_a_newer_wish_does_not_wait_for_a_long_fit(page, explorer, slow):
    page.look(explorer.url)
    page.choose("method", "srp")
    page.run("explorer.panes[0].change({ seed: 77 })")
    time.sleep(1.5)
    began = time.monotonic()
    page.choose("method", "spca")
    assert page.run("return explorer.panes[0].picture.view.method") == "spca"
    assert time.monotonic() - began < 5
    assert slow.wait(5)


# Fingers -----------------------------------------------------------------------------------------


def touch(page, kind, *points):
    listed = [dict(x=x, y=y, id=i) for i, (x, y) in enumerate(points)]
    page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", dict(type=kind, touchPoints=listed))


@pytest.fixture
def phone(page, explorer):
    page.look(explorer.url, width=390, height=844)
    page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    yield page
    page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_fingers(phone):
    page = phone
    left, top, width, height = page.run(
        "const b = explorer.panes[0].canvas.getBoundingClientRect();"
        "return [b.left, b.top, b.width, b.height]"
    )
    x, y = left + width / 2, top + height / 2
    at = "const s = explorer.panes[0].scatter; return [s.zoom, ...s.pan]"
    # One finger scrolls the page, whichever way it moves, and never moves the plot.
    for dx, dy in ((0, -6), (6, 0)):
        touch(page, "touchStart", (x, y))
        for step in range(12):
            touch(page, "touchMove", (x + dx * step, y + dy * step))
        touch(page, "touchEnd")
        page.settle()
        assert page.run(at) == [1, 0, 0]
    page.wait("window.scrollY > 20")
    page.run("window.scrollTo(0, 0)")
    page.settle()
    # Two fingers zoom.
    touch(page, "touchStart", (x - 20, y), (x + 20, y))
    for step in range(10):
        touch(page, "touchMove", (x - 20 - 5 * step, y), (x + 20 + 5 * step, y))
    touch(page, "touchEnd")
    zoom, across, up = page.run(at)
    assert 2.5 < zoom < 4
    assert abs(across) < 0.3 > abs(up)
    assert page.run("return window.scrollY") == 0


# The picture -------------------------------------------------------------------------------------


def test_distances_are_those_of_the_embedding(opened):
    page = opened
    page.choose("method", "srp")
    flat = page.run("return Array.from(explorer.panes[0].picture.arrays[0])")
    Z = np.array(flat).reshape(-1, 2)
    np.testing.assert_allclose(page.places(), framed(Z), atol=1e-4)
    pixels = np.array(
        page.run(
            "const s = explorer.panes[0].scatter;"
            "return Array.from({length: 60}, (_, i) => s.toScreen(s.now(i)))"
        )
    )
    ratio = np.linalg.norm(pixels[1:] - pixels[0], axis=1) / np.linalg.norm(Z[1:60] - Z[0], axis=1)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-3)


def test_classes_are_named_on_the_map(opened):
    page = opened
    assert set(page.run("return explorer.panes[0].namesShown")) <= set("0123456789")
    assert len(page.run("return explorer.panes[0].namesShown")) >= 5
    page.choose("shrinkage", 0.01)
    page.choose("colour", 1)
    assert set(page.run("return explorer.panes[0].namesShown")) <= {"odd", "even"}
    page.choose("colour", 2)  # numbers
    page.run("explorer.panes[0].namesShown = []; explorer.redraw()")
    page.settle()
    assert page.run("return explorer.panes[0].namesShown") == []


def test_columns_beside_the_pointer(opened):
    page = opened
    page.run("explorer.pick(5)")
    page.wait("document.querySelectorAll('#facts input').length > 5")
    page.run(
        "[...document.querySelectorAll('#facts dt')].find((e) => e.title === 'pixel 2')"
        ".querySelector('input').click()"
    )
    x, y = page.run(
        "const { scatter, canvas } = explorer.panes[0];"
        "const b = canvas.getBoundingClientRect(); const [x, y] = scatter.toScreen(scatter.now(9));"
        "return [b.left + x, b.top + y]"
    )
    pointer(page, "mouseMoved", x, y, "none")
    page.wait("document.querySelector('#tip .told')")
    told = page.run("return document.querySelector('#tip .told').textContent")
    assert told.startswith("pixel 2: ")


def test_every_control_has_a_sentence(opened):
    page = opened
    buttons = page.run("return document.querySelectorAll('button.help').length")
    assert buttons >= 14
    controls = page.run(
        "return [...document.querySelectorAll('#controls label[for]')]"
        ".filter((e) => !e.parentElement.querySelector('.help')).map((e) => e.textContent)"
    )
    assert controls == []
    assert page.run("return document.getElementById('shrinkage').labels[0].textContent") == (
        "Shrinkage"
    )
    page.run("document.querySelector('label[for=shrinkage] + .help').focus()")
    assert "LDA" in page.text("help-tip")
    assert not page.run("return document.getElementById('help-tip').hidden")
    page.key(Keys.ESCAPE)
    assert page.run("return document.getElementById('help-tip').hidden")
    page.run("document.querySelector('label[for=shrinkage] + .help').click()")  # a tap
    assert not page.run("return document.getElementById('help-tip').hidden")
