"""The short form of `make torture`: the same code, a small part of each."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torture.__main__ import PARTS

ROOT = Path(__file__).parents[1]
# `make test` runs these; `make test-all`, which CI calls, runs every part.
QUICK = ("properties",)


@pytest.mark.skipif(sys.platform != "linux", reason="signals, mounts and /proc of Linux")
@pytest.mark.parametrize(
    "part",
    [pytest.param(p, marks=() if p in QUICK else pytest.mark.slow) for p in PARTS],
)
def test_torture(part, tmp_path):
    paths = [str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    threads = {"OMP_NUM_THREADS": "2"} if part == "concurrency" else {}
    done = subprocess.run(
        [sys.executable, "-m", "torture", "--short", "--part", part],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | threads,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert " of " in done.stdout
