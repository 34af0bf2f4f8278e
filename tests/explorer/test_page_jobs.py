"""Requests that take longer than a second show how long they have taken, and can be ended."""

import threading
import time

import pytest

import labelens
from labelens._base.threads import in_order
from labelens.explorer import server as server_module

LINE = "document.querySelector('#jobs .job')"


@pytest.fixture
def slow(monkeypatch):
    """Saving an embedding takes half a minute; the event is set when it has been stopped."""
    stopped = threading.Event()

    def embedding_file(*_):
        try:
            for _ in in_order(lambda _: time.sleep(0.05), range(600)):
                pass
        except BaseException:
            stopped.set()
            raise

    monkeypatch.setattr(server_module, "embedding_file", embedding_file)
    return stopped


def test_a_long_save_says_how_long_and_can_be_cancelled(opened, slow):
    page = opened
    page.run("document.getElementById('save-embedding').click()")
    assert page.run(f"return {LINE}") is None
    page.wait(LINE)
    page.wait(f"/^Saving, [2-5] s/.test({LINE}.textContent)")
    page.run(f"{LINE}.querySelector('button').click()")
    page.wait(f"!{LINE}")
    assert slow.wait(5)
    assert page.run("return explorer.panes[0].error.hidden")
    assert not list(page.folder.glob("embedding*"))
    page.run("document.getElementById('save-model').click()")
    end = time.monotonic() + 20
    while not (page.folder / "model.labelens").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert page.run(f"return {LINE}") is None  # what is fast shows nothing


def test_data_that_take_long_to_open_leave_those_before(page, monkeypatch):
    explorer = labelens.explore()
    try:
        page.look(explorer.url)
        plain = server_module.Sessions.open

        def late(self, number):
            time.sleep(4 if number == 1 else 0)
            return plain(self, number)

        monkeypatch.setattr(server_module.Sessions, "open", late)
        page.run(
            "const menu = document.getElementById('data'); menu.value = 1;"
            "menu.dispatchEvent(new Event('change'))"
        )
        page.wait(LINE)
        assert page.run(f"return {LINE}.textContent").startswith("Opening the data, 1 s")
        page.run(f"{LINE}.querySelector('button').click()")
        page.wait(f"!{LINE} && document.getElementById('data').value === '0'")
        assert page.run("return explorer.overview.name") == "Digits"
        assert not page.run("return document.getElementById('save-model').disabled")
        page.choose("method", "pca")
        assert page.run("return explorer.panes[0].picture.view.method") == "pca"
        assert page.errors() == []
    finally:
        explorer.stop()
