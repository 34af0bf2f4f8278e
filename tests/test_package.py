"""The public surface, what an import costs, and that the README does what it says."""

import copy
import inspect
import os
import re
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import labelens
from labelens._base.optional import require
from labelens._base.threads import in_order, one_ahead, one_blas_thread, side_by_side

ROOT = Path(__file__).parents[1]


def test_public_names():
    assert labelens.__all__ == sorted(labelens.__all__)
    public = {n for n in dir(labelens) if not n.startswith("_")}
    modules = {n for n in public if type(getattr(labelens, n)).__name__ == "module"}
    assert public - modules == set(labelens.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        labelens.nothing  # noqa: B018


def test_public_modules_say_what_is_public():
    page = (ROOT / "docs" / "design.md").read_text()
    sentence = re.search(r"public API is .* `__all__` of `labelens`(.*?)\.", page, re.DOTALL)[1]
    rooms = re.findall(r"`(\w+)`", sentence)
    assert "plot" in rooms
    for room in rooms:
        names = getattr(labelens, room).__all__
        assert names == sorted(names)
        if room != "spark":  # half of which needs pyspark
            assert all(getattr(getattr(labelens, room), name).__doc__ for name in names)


def test_design_lists_every_room_from_high_to_low():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [layer.split(" | ") for layer in contract["contracts"][0]["layers"]]
    height = {room: -depth for depth, layer in enumerate(layers) for room in layer}
    page = (ROOT / "docs" / "design.md").read_text()
    cells = re.findall(r"^\| ((?:`\w+(?:/|\.py)`(?:, )?)+) \|", page, re.MULTILINE)
    listed = [name for cell in cells for name in re.findall(r"`(\w+)(?:/|\.py)`", cell)]
    assert sorted(listed) == sorted(height.keys() - {"__main__"})
    heights = [height[name] for name in listed if name in height]
    assert heights == sorted(heights, reverse=True)


def test_every_room_can_be_the_first():
    """While one loads, nothing above it is asked for."""
    places = (ROOT / "src" / "labelens").iterdir()
    rooms = {p.stem for p in places if p.suffix == ".py" or (p / "__init__.py").exists()}
    code = (
        "import sys; from importlib import import_module\n"
        f"for room in {sorted(rooms)!r}:\n"
        "    ours = [name for name in sys.modules if name.startswith('labelens')]\n"
        "    for name in ours: del sys.modules[name]\n"
        "    import_module(f'labelens.{room}')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rooms_and_names_are_loaded_by_their_first_use():
    code = (
        "import sys, labelens; assert 'numpy' not in sys.modules;"
        "assert labelens.label_kernels.Tree; assert labelens.persist.info;"
        "namespace = {}; exec('from labelens import *', namespace);"
        "assert namespace['load'] is labelens.load and 'Wheel' in dir(labelens)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_does_not_import_large_libraries():
    large = {"numba", "polars", "matplotlib", "torch", "dask", "pyspark"}
    code = f"import sys; from labelens import *; print(*{large} & set(sys.modules))"
    imported = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert imported.stdout.split() == []


def test_small_inputs_do_without_numba():
    code = (
        "import sys, numpy as np, labelens; from scipy import sparse;"
        "X, y = np.random.default_rng(0).normal(size=(100, 130)), np.arange(100) % 3;"
        "labelens.SupervisedPCA().fit(X, y).transform(X);"
        "labelens.SupervisedPCA().fit(sparse.csr_array(X), y);"
        "labelens.KernelSupervisedRandomProjection().fit(X, y).transform(X);"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_compiled_without_a_folder_to_cache_in():
    code = (
        "import numba, numpy as np; from labelens import SupervisedPCA;"
        "njit = numba.njit;"
        "def refuse(*a, cache=False, **k):\n"
        "    if cache: raise RuntimeError('cannot cache function: no locator available')\n"
        "    return njit(*a, **k)\n"
        "numba.njit = refuse\n"
        "X = np.random.default_rng(0).normal(size=(50, 4)); y = np.arange(50) % 3\n"
        "SupervisedPCA().fit(X, y).transform(X)"
    ).replace(";def", "\ndef")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_library_names_the_pip_command():
    with pytest.raises(ModuleNotFoundError, match=r'pip install "labelens\[cli\]"'):
        require("no_such_library.inside", extra="cli")


@pytest.mark.parametrize(
    "name",
    [
        "SupervisedPCA",
        "SupervisedRandomProjection",
        "KernelSupervisedPCA",
        "KernelSupervisedRandomProjection",
    ],
)
def test_help_explains_every_parameter_once(name):
    method = getattr(labelens, name)
    text = inspect.getdoc(method)
    section = re.search(r"Parameters\n-+\n(.*?)\n\n", text, re.DOTALL)[1]
    explained = re.findall(r"^(\w+) : \S.*\n    \S", section, re.MULTILINE)
    assert explained == list(inspect.signature(method).parameters)
    assert " : ..." not in text  # an entry that was left to others, and not filled in


def test_nothing_is_explained_where_docstrings_are_off():
    code = "import labelens; assert labelens.SupervisedPCA.__doc__ is None"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True)


def pasted(page, folder, together=False):
    """What a console prints for the code of a page, block by block or in one go."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    printed = []
    for code in ["".join(blocks)] if together else blocks:
        console = [sys.executable, "-W", "error", "-i", "-q"]
        run = subprocess.run(console, input=code, capture_output=True, text=True, cwd=folder)
        assert "Error" not in run.stderr, run.stderr
        printed.append(run.stdout)
    return printed


def test_readme_can_be_pasted_into_a_console(tmp_path):
    (printed,) = pasted("README.md", tmp_path, together=True)
    assert "(450, 2) accuracy 0.9" in printed
    assert "mean of 1-NN and 15-NN accuracy" in printed


def test_readme_is_short_and_its_file_exists():
    text = (ROOT / "README.md").read_text()
    assert len(text.split()) <= 600
    for name in re.findall(r"examples/\w+\.\w+", text):
        assert (ROOT / name).exists()


@pytest.mark.slow
def test_trust_page_can_be_pasted_into_a_console(tmp_path):
    (printed,) = pasted("docs/trust.md", tmp_path, together=True)
    said = ("predicts held-out rows", "The random embedding keeps", "component 1 found again")
    for sentence in said:
        assert sentence in printed
    assert (tmp_path / "held_out.png").exists()


@pytest.mark.slow
def test_demo_leaves_a_picture(tmp_path):
    demo = [sys.executable, str(ROOT / "examples" / "demo.py"), str(tmp_path)]
    run = subprocess.run(
        demo, check=True, text=True, stdout=subprocess.PIPE, env=os.environ | {"MPLBACKEND": "agg"}
    )
    lines = [line.split() for line in run.stdout.splitlines() if " labels " in line]
    accuracy = {(line[0], line[-1] == "chance"): [] for line in lines}
    for line in lines:
        accuracy[line[0], line[-1] == "chance"].append(line)
    assert {key: len(found) for key, found in accuracy.items()} == {
        ("true", False): 3, ("shuffled", True): 3
    }  # fmt: skip
    assert "labelens embed FILE" in run.stdout
    assert (tmp_path / "embedding.png").stat().st_size > 20_000
    measured = re.findall(r"^true labels .*?(\d\.\d+) +(\d\.\d+)", run.stdout, re.MULTILINE)
    caption = r"(0\.\d+) \(PCA\), (0\.\d+) \(supervised.* (0\.\d+) \(`labelens\.Atlas`\).*"
    caption += r"within classes (0\.\d+), (0\.\d+) and (0\.\d+)\."
    for page in ("README.md", "docs/index.md"):
        quoted = re.search(caption, " ".join((ROOT / page).read_text("utf-8").split())).groups()
        figures = [float(column[i]) for i in (0, 1) for column in measured]
        assert [float(one) for one in quoted] == pytest.approx(figures, abs=2e-3)


@pytest.mark.long
def test_trust_example_leaves_a_picture(tmp_path):
    example = [sys.executable, str(ROOT / "examples" / "trust.py"), str(tmp_path)]
    run = subprocess.run(example, check=True, text=True, stdout=subprocess.PIPE)
    assert "no evidence" in run.stdout
    assert "predicts held-out rows" in run.stdout
    assert (tmp_path / "trust.png").stat().st_size > 20_000


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_blas_limit_is_given_back_by_the_last_one_out():
    with threadpool_limits(2, user_api="blas"):
        inside, leave = threading.Event(), threading.Event()

        def first():
            with one_blas_thread():
                inside.set()
                leave.wait()

        other = threading.Thread(target=first)
        other.start()
        inside.wait()
        with one_blas_thread() as threads:
            assert threads == 2
            leave.set()
            other.join()
            assert blas_threads() == {1}
        assert blas_threads() == {2}


@pytest.mark.parametrize("approximation", ["fourier", "nystroem"])
def test_partial_fit_and_merge_have_the_same_bits_on_any_number_of_threads(rng, approximation):
    X, y = rng.normal(size=(1500, 60)), rng.integers(0, 3, 1500)
    found = []
    for threads in (1, 2, 3):
        model = labelens.KernelSupervisedPCA(
            2, gamma=0.01, n_random_features=300, approximation=approximation, shrinkage=0.1
        ).set_params(random_state=0)
        with threadpool_limits(threads, user_api="blas"):
            model.partial_fit(X[:1024], y[:1024]).merge(copy.deepcopy(model))
            found.append(model.partial_fit(X[1024:], y[1024:]).transform(X))
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


def test_a_block_starts_no_threads_of_its_own():
    def threads_within(_):
        with one_blas_thread() as threads:
            return threads

    with threadpool_limits(3, user_api="blas"):
        assert list(in_order(threads_within, range(5))) == [1] * 5
        assert threads_within(None) == 3


@pytest.mark.parametrize("threads", [1, 3])
def test_all_are_done_side_by_side_and_errors_come_through(threads):
    done = []
    side_by_side(done.append, range(7), threads)
    assert sorted(done) == list(range(7))
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda i: 1 / (i - 3), range(7), threads)


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_order_and_errors_come_through(threads):
    with threadpool_limits(threads, user_api="blas"):
        assert list(in_order(lambda i: i * i, range(50))) == [i * i for i in range(50)]
        with pytest.raises(ZeroDivisionError):
            list(in_order(lambda i: 1 // (i - 5), range(50)))
        assert blas_threads() == {threads}


def test_bundled_data():
    from labelens.datasets import load_ionosphere, load_sonar

    sonar, ionosphere = load_sonar(), load_ionosphere()
    assert sonar.data.shape == (208, 60)
    assert np.unique(sonar.target, return_counts=True)[1].tolist() == [111, 97]
    assert ionosphere.data.shape == (351, 34)
    assert np.unique(ionosphere.target, return_counts=True)[1].tolist() == [126, 225]
    assert len(sonar.feature_names) == 60
    assert "CC BY 4.0" in sonar.DESCR


def test_one_ahead():
    made, closed = [], []

    def count(until):
        try:
            for i in range(100):
                if i == until:
                    raise KeyError(i)
                made.append(i)
                yield i
        finally:
            closed.append(True)

    assert list(one_ahead(count(None))) == list(range(100))
    made.clear()
    some = one_ahead(count(None))
    assert next(some) == 0
    some.close()
    for _ in range(1000):  # its own thread does it
        if len(closed) == 2:
            break
        time.sleep(0.01)
    assert len(closed) == 2
    assert made in ([0], [0, 1])  # one ahead, and no further
    broken = one_ahead(count(2))
    assert [next(broken), next(broken)] == [0, 1]
    with pytest.raises(KeyError):
        next(broken)
    assert len(closed) == 3


ABANDONED = """
import concurrent.futures.thread as pools, gc, time
from labelens._base.threads import one_ahead

def slowly():
    for i in range(100):
        time.sleep(0.3)
        yield i

def through(items):
    yield from items

stream = one_ahead(through(one_ahead(slowly())))
next(stream)
cycle = [stream]
cycle.append(cycle)
del stream, cycle
with pools._global_shutdown_lock:  # as within `submit`, where garbage may be collected too
    gc.collect()
"""


def test_streams_that_are_abandoned_hold_nobody_up():
    subprocess.run([sys.executable, "-c", ABANDONED], check=True, timeout=60)
