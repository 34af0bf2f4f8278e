"""The link of the page: a browser on this machine gets it, other users do not."""

import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from explorer.asking import small
from labelens.explorer.opening import link_file
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import session_of

pytest.importorskip("uvicorn", reason="needs the explore extra")
NOBODY = 65534

# Run by another user: every command line of the machine, and whether the file can be read.
SPY = r"""
import glob, sys
token, file = sys.stdin.read().split("\n")[:2]
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        if token.encode() in open(path, "rb").read():
            print("token in", path)
    except OSError:
        pass
try:
    print(open(file).read())
except OSError:
    pass
"""


@pytest.fixture
def shown(tmp_path):
    """The command, the link it prints, and the words its browser is started with."""
    browser = tmp_path / "browser"
    words = tmp_path / "words"
    browser.write_text(f'#!/bin/sh\necho "$@" > {words}.new; mv {words}.new {words}; sleep 9\n')
    browser.chmod(0o755)
    command = [sys.executable, "-m", "labelens", "explore"]
    with subprocess.Popen(
        command,
        env=os.environ | {"BROWSER": f"{browser} %s &"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        url = process.stdout.readline().split()[-1]
        end = time.monotonic() + 30
        while not words.exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        yield process, url, words.read_text().split()
        process.send_signal(signal.SIGINT)  # of one that has ended nobody hears
        process.communicate(timeout=30)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
@pytest.mark.slow
def test_no_command_line_has_the_token(shown):
    process, url, words = shown
    token = url.rstrip("/").rpartition("/")[2]
    assert len(token) >= 32
    (link,) = words
    file = Path(link.removeprefix("file://"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert re.search(r'content="0; url=([^"]+)"', file.read_text())[1] == url
    other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    system = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    found = subprocess.run(
        [system, "-c", SPY],
        input=f"{token}\n{file if other else ''}\n",
        capture_output=True,
        text=True,
        cwd="/",
        env={},
        **other,
    )
    assert (found.stdout, found.stderr, found.returncode) == ("", "", 0)
    process.send_signal(signal.SIGINT)
    process.wait(30)
    assert not file.parent.exists()


def test_a_browser_follows_the_file(page):
    explorer = Explorer(session_of(small())).start()
    try:
        with link_file(explorer.url) as link:
            page.driver.get(link)
            page.wait("document.documentElement.dataset.ready === 'yes'", 60)
            assert page.driver.current_url.startswith(explorer.url)
    finally:
        explorer.stop()
