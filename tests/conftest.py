"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

# Processes share the cores: threads of BLAS that wait for each other take most of the time.
# Workers inherit the environment of the process that starts them, so they cannot divide the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# scikit-learn runs its array-API check only where SciPy's dispatch is on. Both are
# set before NumPy and SciPy load.
os.environ["SCIPY_ARRAY_API"] = "1"

import numba  # noqa: F401  once it is loaded, compiled loops serve small inputs too
import numpy as np
import pytest

from labelens.datasets import load_mnist

# A shell lets jobs in the background, and their children, ignore Ctrl-C; tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = ["light"]  # hides libraries from whoever imports it

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"

# Files that take longest. They start first, lest one process works on them while others wait.
LONGEST = ("test_torture.py", "test_spark_elsewhere.py", "test_docs.py", "test_out_of_memory.py")
LONGEST += ("test_package.py", "test_spark.py", "test_browser.py", "test_contributing.py")
LONGEST += ("test_routes.py", "test_kinds_of_data.py", "test_choice.py", "test_label_judges.py")

# Fixtures that start a browser or a cluster.
SLOW = {"page", "browser", "client", "spark"}


def pytest_configure(config):
    config.option.loadscopereorder = False  # by pytest-xdist, which would start them last


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by markers
def pytest_collection_modifyitems(items):
    for item in items:
        if SLOW.intersection(item.fixturenames):
            item.add_marker("slow")
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else 99)


def read_only(*arrays):
    """The arrays, write-protected: whoever changes the caller's data is found out."""
    for array in arrays:
        array.flags.writeable = False
    return arrays if len(arrays) > 1 else arrays[0]


@pytest.fixture
def rng():
    return np.random.default_rng(20240611)


@pytest.fixture
def blobs(rng):
    """Four classes in seven columns of very different scales: X, y."""
    centres = rng.normal(size=(4, 7)) * 2
    y = np.arange(240) % 4
    X = (centres[y] + rng.normal(size=(240, 7))) * np.logspace(-1, 1, 7) + 3
    return read_only(X, y)


@pytest.fixture
def data(rng):
    """Three classes in four columns: X, y."""
    y = np.arange(90) % 3
    return rng.normal(size=(90, 4)) + np.eye(3, 4)[y] * [3, 2, 1, 0], y


@pytest.fixture(scope="session")
def mnist():
    """X_train, y_train, X_test, y_test; pixels in [0, 1], float32."""
    folder = SHARED_DATA / "mnist"
    if not folder.is_dir():
        pytest.skip(f"needs the MNIST files in {folder.relative_to(folder.parents[3])}")
    digits = load_mnist(folder)
    X, y, n = digits.data, digits.target, digits.n_train
    return X[:n], y[:n], X[n:], y[n:]
