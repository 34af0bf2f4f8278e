"""Fits that nobody waits for any more end early, and leave the session as it was."""

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pytest

from explorer.asking import ask, wish
from labelens._base.threads import StoppedError, go_on, in_order, stopping
from labelens.explorer.explored import from_arrays
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import session_of

pytest.importorskip("uvicorn", reason="needs the explore extra")
LONG = dict(method="kspca", features=4096, shrinkage=0.5)  # half a minute


def test_a_loop_over_blocks_stops():
    event, done = threading.Event(), []

    def work(i):
        done.append(i)
        if i == 5:
            event.set()
        return i

    with pytest.raises(StoppedError), stopping(event):
        list(in_order(work, range(10_000)))
    assert 5 in done
    assert len(done) < 100
    assert list(in_order(work, range(20))) == list(range(20))  # the event is set, and over
    with pytest.raises(StoppedError), stopping(event):
        go_on()


@pytest.fixture(scope="module")
def large():
    draw = np.random.default_rng(0)
    y = draw.integers(0, 10, 60_000)
    X = (draw.normal(size=(10, 50))[y] + draw.normal(size=(60_000, 50))).astype(np.float32)
    explorer = Explorer(session_of(from_arrays(X, y))).start()
    ask(explorer, "fit", "POST", wish())
    yield explorer
    explorer.stop()


def start(explorer, body):
    """A request whose answer is not waited for."""
    parts = urlsplit(explorer.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
    connection.request("POST", parts.path + "fit", json.dumps(body))
    return connection


def test_a_fit_ends_when_its_page_goes(large):
    gone = start(large, wish(2, **LONG) | {"pane": "gone"})
    time.sleep(1.5)
    gone.close()
    began = time.monotonic()
    status, _, _ = ask(large, "fit", "POST", wish(3, seed=1) | {"pane": "other"})
    assert status == 200
    assert time.monotonic() - began < 10
    # What was begun has left nothing behind: the same view, smaller, is what a new one makes.
    view = dict(method="kspca", features=64, shrinkage=0.5)
    assert ask(large, "fit", "POST", wish(4, **view))[0] == 200


@pytest.mark.slow
def test_ctrl_c_during_a_fit(tmp_path):
    code = (
        "import numpy as np; from labelens.explorer.explored import from_arrays\n"
        "import labelens.cli.explore as e\n"
        "from labelens.explorer.sessions import session_of\n"
        "draw = np.random.default_rng(0)\n"
        "X = draw.normal(size=(60_000, 50)).astype(np.float32)\n"
        "material = from_arrays(X, draw.integers(0, 10, 60_000))\n"
        "e._opened = lambda *_: session_of(material)\n"
        "import sys; sys.argv = ['labelens', 'explore', 'x.csv', '--no-browser']\n"
        "from labelens.cli import main; main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        served = SimpleNamespace(url=process.stdout.readline().split()[-1])
        waiting = start(served, wish(1, **LONG))
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, errors = process.communicate(timeout=60)
        waiting.close()
    assert errors.splitlines() == [
        "Press Ctrl-C to stop.",
        "Stopped; the page is served no more.",
    ]
    assert process.returncode == 130
    assert time.monotonic() - began < 10
