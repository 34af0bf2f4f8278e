"""Commands that are interrupted, asked to end, or no longer read."""

import os
import signal
import subprocess
import sys

import pytest

from labelens.cli import embed as embedding


def test_interrupted_nothing_is_left(run, iris, tmp_path, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(embedding, "write_report", stop)
    done = run("embed", "iris.csv", "--label", "species", "--method", "spca")
    assert done.exit_code == 130
    assert os.listdir(tmp_path) == ["iris.csv"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_reader_that_leaves_is_no_crash(iris, tmp_path):
    command = f"{sys.executable} -m labelens --help | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(
    ("moment", "number"),
    [
        *((moment, signal.SIGINT) for moment in ("loading", "working", "hidden", "tidying")),
        *(("working", number) for number in (signal.SIGTERM, signal.SIGHUP)),
        *(
            pytest.param(moment, number, marks=pytest.mark.long)
            for moment in ("loading", "hidden", "tidying")
            for number in (signal.SIGTERM, signal.SIGHUP)
        ),
    ],
)
def test_asked_to_end(iris, tmp_path, number, moment):
    """At a known moment: code that sends the signal to itself stands in for a user."""
    code = {
        "loading": "import builtins; load = builtins.__import__;"
        "builtins.__import__ = lambda n, *a: ask() if n == 'app' else load(n, *a)",
        "working": "import labelens.persist.model as m; m.packed = lambda *a: ask()",
        "hidden": "import labelens.persist.model as m\ndef hide(*a):\n"
        "    try: ask()\n    except KeyboardInterrupt: raise ImportError('initialization failed')\n"
        "m.packed = hide",
        "tidying": "import labelens.cli.output as o; rm = o.shutil.rmtree;"
        "o.shutil.rmtree = lambda *a, **k: (ask(), ask(), rm(*a, **k));"
        "import labelens.persist.model as m; m.packed = lambda *a: ask()",
    }[moment]
    start = (  # a job in the background hears no Ctrl-C, one of nohup no hangup
        "import os, signal, sys, time; from labelens.cli import main;"
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL);"
        f"ask = lambda: (os.kill(os.getpid(), {int(number)}), time.sleep(0.05));"
    )
    sys_argv = "sys.argv = 'labelens fit iris.csv --label species --method spca'.split();"
    run = [sys.executable, "-c", start + sys_argv + code + "\nmain()"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 128 + number
    assert done.stderr == "Stopped; nothing was written.\n"
    assert os.listdir(tmp_path) == ["iris.csv"]
