"""Forks while other threads are at work: the child waits for none of them."""

import os
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from labelens._base import jit, threads
from labelens._base.threads import one_blas_thread
from labelens._fit.solution import Solved
from test_package import blas_threads
from torture.concurrency import fit_once, forked_while_fitting, in_child

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
SECONDS = 10  # after which a child has hung


@pytest.fixture
def elsewhere():
    """Call a function in another thread, and go on when it has called `inside`."""
    threads = []

    def start(function):
        inside = threading.Event()
        threads.append(threading.Thread(target=function, args=(inside.set,)))
        threads[-1].start()
        inside.wait()

    yield start
    for thread in threads:
        thread.join()


def fits():
    return np.isfinite(fit_once("SPCA")).all()


def test_a_fork_waits_while_another_thread_limits_blas(elsewhere, monkeypatch):
    fits()
    limit = threads._blas._controller.limit

    def limit_slowly(inside):
        def slowly(**limits):
            inside()
            time.sleep(0.5)
            return limit(**limits)

        monkeypatch.setattr(threads._blas._controller, "limit", slowly)
        with one_blas_thread():
            monkeypatch.undo()

    elsewhere(limit_slowly)
    assert in_child(fits, SECONDS) == 0


def test_a_fork_waits_while_another_thread_compiles(elsewhere, monkeypatch):
    jit.get_ready(jit.WORTH_COMPILING)
    from llvmlite.binding import get_default_triple
    from numba.core.compiler_lock import global_compiler_lock

    def compile_slowly(inside):
        with global_compiler_lock:
            inside()
            time.sleep(0.5)
            get_default_triple()

    def compiles():
        with global_compiler_lock:
            return get_default_triple()

    elsewhere(compile_slowly)
    assert in_child(compiles, SECONDS) == 0


def test_a_fork_waits_while_another_thread_is_in_llvm(elsewhere):
    jit.get_ready(jit.WORTH_COMPILING)
    from llvmlite.binding import ffi, get_default_triple

    def dispose_slowly(inside):
        with ffi.lib._lock:
            inside()
            time.sleep(0.5)

    elsewhere(dispose_slowly)
    assert in_child(get_default_triple, SECONDS) == 0


def test_a_child_waits_for_no_property_that_another_thread_computes(elsewhere):
    """The lock of functools.cached_property is one for all objects of a class."""

    class Slow:
        def __init__(self, inside):
            self.inside = inside

        @property
        def components(self):
            self.inside()
            time.sleep(0.5)
            return np.eye(2)

    def projector(solution):
        return Solved(solution, (np.zeros(2), np.zeros(2)), None, 1.0, 1.0).projector

    elsewhere(lambda inside: projector(Slow(inside)))
    assert in_child(lambda: projector(SimpleNamespace(components=np.eye(2))).any(), SECONDS) == 0


def test_limits_of_threads_that_a_fork_has_lost_are_lifted(elsewhere):
    """BLAS has its threads again after the next block; the thread that forked stays inside."""
    leave = threading.Event()

    def stay(inside):
        with one_blas_thread():
            inside()
            leave.wait()

    def lifted():
        with one_blas_thread() as threads:
            alone = blas_threads() == {1}
        return threads == 2 and alone and blas_threads() == {2}

    def still_inside():
        with one_blas_thread():
            return blas_threads() == {1}

    with threadpool_limits(2, user_api="blas"):
        elsewhere(stay)
        assert in_child(lifted, SECONDS) == 0
        with one_blas_thread():
            assert in_child(still_inside, SECONDS) == 0
            assert in_child(lambda: blas_threads() == {1}, SECONDS) == 0
        leave.set()


@pytest.mark.parametrize("name", ["SPCA", "KSPCA orthogonal"])
def test_children_of_a_process_that_fits_can_fit(name):
    assert forked_while_fitting(name, fit_once(name), children=5) is None
