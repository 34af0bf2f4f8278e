"""What loading does beside loading: nothing."""

import subprocess
import sys

import numpy as np
import pytest

import labelens
from labelens import SupervisedPCA
from persist.compositions import KINDS, fitted

# Which models hold rows is the matter of one test.
pytestmark = pytest.mark.filterwarnings("ignore:.* rows of the training data")


WATCH = """
import sys
import numpy, labelens
from labelens.persist import info
paths, seen = sys.argv[1:], []
def hook(event, arguments):
    if event == "open":
        name, mode, flags = arguments
        if name not in paths or (mode or "r").strip("rb") or flags & 0o3:
            seen.append((event, str(arguments)))
    elif event == "import":
        if arguments[0] not in sys.modules:
            seen.append((event, arguments[0]))
    elif event.partition(".")[0] not in ("object", "sys", "array", "builtins", "cpython"):
        seen.append((event, str(arguments)[:80]))
use = lambda: [(labelens.load(path), info(path)) for path in paths]
use()  # what Python itself loads for later, such as codecs
sys.addaudithook(hook)
use()
done = list(seen)
assert not done, done
"""


def test_loading_opens_one_file_and_runs_nothing(rng, tmp_path):
    watched = [sys.executable, "-c", WATCH]
    for number, kind in enumerate(KINDS):
        path = tmp_path / f"{number}"
        labelens.save(fitted(kind, rng)[0], path, moments=number % 2 > 0)
        watched.append(str(path))
    run = subprocess.run(watched, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


MEASURE = """
import sys, re, pathlib
from labelens import load
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
before = peak()
model = load(sys.argv[1])
print((peak() - before) * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_loading_takes_little_more_memory_than_the_file(rng, tmp_path):
    X = rng.normal(size=(8, 3000))
    model = SupervisedPCA(1, shrinkage=0.5).partial_fit(X, np.arange(8) % 2)
    labelens.save(model, tmp_path / "m", moments=True)
    size = (tmp_path / "m").stat().st_size
    assert size > 70e6
    run = [sys.executable, "-c", MEASURE, str(tmp_path / "m")]
    taken = int(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    assert taken < 1.3 * size + 20e6
