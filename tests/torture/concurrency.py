"""One estimator in many threads, fits in threads and processes, forks after import."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import joblib
import numpy as np
from sklearn.base import clone

import labelens
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)

THREADS = 8
CALLS_LONG, CALLS_SHORT = 1000, 40
MODELS = {
    "SPCA": SupervisedPCA(2, scale="standard"),
    "SRP": SupervisedRandomProjection(2, random_state=0),
    "KSPCA orthogonal": KernelSupervisedPCA(2, random_state=0, n_random_features=64),
    "KSPCA fastfood": KernelSupervisedPCA(
        2, approximation="fastfood", random_state=0, n_random_features=64
    ),
    "KSPCA nystroem": KernelSupervisedPCA(
        2, approximation="nystroem", random_state=0, n_random_features=32
    ),
    "KSRP exact": KernelSupervisedRandomProjection(2, approximation="exact", random_state=0),
}


def data():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    return rng.normal(size=(300, 9)) + np.eye(3, 9)[y] * 2, y


def transforms(model, calls):
    """Every call of every thread gives the bits of the serial one, from the very first."""
    X, _ = data()
    sizes = [1, 7, 64, 300]
    serial = [model.transform(X[:n]) for n in sizes]
    fresh = clone(model).partial_fit(*data())  # not solved yet: the threads race to do it

    def work(thread):
        wrong = 0
        for call in range(calls):
            i = (thread + call) % len(sizes)
            wrong += not np.array_equal(fresh.transform(X[: sizes[i]]), serial[i])
        return wrong

    with ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(work, range(THREADS)))


def fit_once(name):
    X, y = data()
    return clone(MODELS[name]).fit(X, y).transform(X)


def in_threads(name, wanted):
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(fit_once, [name] * 3 * THREADS))
    return "other bits" if any(not np.array_equal(wanted, Z) for Z in found) else None


def in_processes(name, wanted):
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(fit_once)(name) for _ in range(4))
    return "other bits" if any(not np.array_equal(wanted, Z) for Z in found) else None


def after_fork(name, wanted):
    """A process forked from one that has loaded everything, and fitted with threads before."""
    fork = multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork and threads, of newer Pythons
        with ProcessPoolExecutor(2, mp_context=fork) as pool:
            found = [pool.submit(fit_once, name).result(timeout=120) for _ in range(2)]
    return "other bits" if any(not np.array_equal(wanted, Z) for Z in found) else None


def forked_while_fitting(name, wanted, children=15):
    """Processes forked while other threads fit: all of them fit, and none waits for ever."""
    fitted = threading.Event()

    def work():
        while not fitted.is_set():
            fit_once(name)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        codes = [in_child(lambda: np.array_equal(fit_once(name), wanted)) for _ in range(children)]
    finally:
        fitted.set()
        for thread in threads:
            thread.join()
    return f"children ended with {codes}" if any(codes) else None


def in_child(function, seconds=60):
    """The exit code of a fork: 0 if the function is true, -SIGALRM if it took too long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        code = 1
        try:
            code = 0 if function() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def saved_by_many(name, wanted):
    """Threads that save under one name: it is always a whole model."""
    X, y = data()
    model = clone(MODELS[name]).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.labelens")

        def work(_):
            with warnings.catch_warnings():
                labelens.save(model, path)
            return np.array_equal(labelens.load(path).transform(X), wanted)

        with ThreadPoolExecutor(THREADS) as pool:
            right = all(pool.map(work, range(3 * THREADS)))
        return (
            None if right and os.listdir(folder) == ["model.labelens"] else "broken, or left over"
        )


def run(tally):
    warnings.filterwarnings("ignore", ".* rows of the training data")
    os.fsync = lambda _: None
    calls = CALLS_LONG if tally.long else CALLS_SHORT
    for name, model in MODELS.items():
        wanted = fit_once(name)
        wrong = transforms(clone(model).fit(*data()), calls)
        for _ in range(THREADS * calls - 1):
            tally.check(name)
        tally.check(name, f"{wrong} calls in threads gave other bits" if wrong else None)
        tally.attempt(f"{name}, fits in threads", in_threads, name, wanted)
        tally.attempt(f"{name}, fits in processes", in_processes, name, wanted)
        if sys.platform == "linux":
            tally.attempt(f"{name}, fits after a fork", after_fork, name, wanted)
            forks = 100 if tally.long else 15
            tally.attempt(f"{name}, forks while it fits", forked_while_fitting, name, wanted, forks)
        tally.attempt(f"{name}, saved by threads", saved_by_many, name, wanted)
