"""Row blocks on every core, with answers that do not depend on how many cores there are.

A block is the unit of parallelism. BLAS runs on one thread inside a block, because a threaded
GEMM changes bits with the thread count; results come back in the order of the blocks.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from itertools import chain, islice
from queue import SimpleQueue
from threading import Event, RLock, Thread, get_ident, local
from typing import Any, Generic, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


class cached_property(Generic[Result]):  # noqa: N801
    """As `functools.cached_property`, which has a lock in Python 3.11 that no fork waits for."""

    def __init__(self, function: Callable[[Any], Result]) -> None:
        self._function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: Any = None) -> Result:
        if instance is None:
            return self  # type: ignore[return-value]
        value = instance.__dict__[self._name] = self._function(instance)
        return value


# A fork takes these locks, in this order, and both processes release them. If another thread held
# one during the fork, the child would wait for it for ever: it does not have that thread.
_held_in_forks: list[Any] = []


def held_in_forks(lock: Any) -> Any:
    """Add a re-entrant lock; its holder may wait for locks that are added later."""
    if lock not in _held_in_forks:
        _held_in_forks.append(lock)
    return lock


def _before_fork() -> None:
    for lock in _held_in_forks:  # and what is added while it waits
        lock.__enter__()


def _after_fork() -> None:
    for lock in reversed(_held_in_forks):
        lock.__exit__(None, None, None)


class _BlasOnOneThread:
    """Re-entrant across threads: the first one in sets the limit, the last one out restores it.

    threadpoolctl alone would not do: two callers that overlap would each restore what they found,
    and the second one found a single thread; newer versions instead let only one thread of the
    process set limits for as long as it lives, and ignore all others.
    """

    def __init__(self) -> None:
        self._lock = held_in_forks(RLock())
        self._inside: list[int] = []  # threads, once for every time that they are inside
        self._controller: Any = None
        self._limiter: Any = None
        self._threads = 1

    def enter(self) -> int:
        """Limit BLAS to one thread; return how many it was allowed before."""
        with self._lock:
            if not self._inside:
                if self._controller is None:
                    self._controller = ThreadpoolController().select(user_api="blas")
                self._restore()  # if all threads inside were lost in a fork
                self._threads = min(
                    (library["num_threads"] for library in self._controller.info()), default=1
                )
                self._release_control()
                self._limiter = self._controller.limit(limits=1)
            self._inside.append(get_ident())
            return self._threads

    def leave(self, thread: int) -> None:
        """Undo an `enter` of that thread; another one may close its generators."""
        with self._lock:
            self._inside.remove(thread)
            if not self._inside:
                self._restore()

    def forget_others(self) -> None:
        """Keep only this thread: a forked process does not have the others."""
        self._inside = [thread for thread in self._inside if thread == get_ident()]

    def _restore(self) -> None:
        if self._limiter is not None:
            self._release_control()
            self._limiter.restore_original_limits()
            self._release_control()
            self._limiter = None

    def _release_control(self) -> None:
        """Let the next thread set limits: ours are balanced, whichever thread sets them."""
        for library in self._controller.lib_controllers:
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread(force=True)


_blas = _BlasOnOneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork)
    os.register_at_fork(after_in_child=_blas.forget_others)
    os.register_at_fork(after_in_child=_after_fork)
_this_thread = local()  # .works: whether it is one of ours, and has a core to itself at best


def _work() -> None:
    _this_thread.works = True


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Run the body with single-threaded BLAS; yields the thread count that BLAS had before.

    That count honours OMP_NUM_THREADS, `threadpoolctl.threadpool_limits` and joblib's workers, so
    it is also how many blocks may run at once; it is one within a block.
    """
    threads, thread = _blas.enter(), get_ident()
    try:
        yield 1 if hasattr(_this_thread, "works") else threads
    finally:
        _blas.leave(thread)


@contextmanager
def working() -> Iterator[None]:
    """Let this thread be one of ours for a while: others like it have the other cores."""
    before = hasattr(_this_thread, "works")
    _this_thread.works = True
    try:
        yield
    finally:
        if not before:
            del _this_thread.works


class StoppedError(Exception):
    """The caller no longer needs the result."""


_stop: ContextVar[Event | None] = ContextVar("stop", default=None)


@contextmanager
def stopping(event: Event) -> Iterator[None]:
    """Let loops over blocks in the body end with StoppedError once the event is set."""
    before = _stop.set(event)
    try:
        go_on()
        yield
    finally:
        _stop.reset(before)


def go_on() -> None:
    """Raise StoppedError if the event of `stopping` is set."""
    event = _stop.get()
    if event is not None and event.is_set():
        raise StoppedError


def in_order(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`map(function, items)` on all allowed threads; at most that many results wait at a time."""
    items = iter(items)
    few = list(islice(items, 2))
    items = chain(few, items)
    with one_blas_thread() as threads:
        if threads == 1 or len(few) < 2:  # a single one is not worth a thread
            for item in items:
                go_on()
                yield function(item)
            return
        with ThreadPoolExecutor(threads, initializer=_work) as pool:
            waiting: deque[Future[Result]] = deque()
            for item in items:
                go_on()
                # A worker may ask whether to go on, too.
                waiting.append(pool.submit(copy_context().run, function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()


def side_by_side(function: Callable[[Item], Any], items: Sequence[Item], threads: int) -> None:
    """Call the function for every item, the first one on this thread."""
    if threads == 1 or len(items) == 1:
        for item in items:
            function(item)
        return
    with ThreadPoolExecutor(threads - 1, initializer=_work) as pool:
        others = [pool.submit(function, item) for item in items[1:]]
        function(items[0])
        for other in others:
            other.result()


def one_ahead(items: Generator[Item, None, None]) -> Iterator[Item]:
    """The same items, the next one made on another thread while this one is in use.

    That thread owns the generator, and closes it. A caller that leaves early does not wait for it:
    garbage collection may close this iterator at any point, while the collecting thread holds a
    lock that the other thread waits for.
    """
    wanted: SimpleQueue[bool] = SimpleQueue()
    made: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    end = object()

    def make() -> None:
        try:
            while wanted.get():
                made.put((next(items, end), None))
        except BaseException as error:
            made.put((end, error))
        finally:
            items.close()

    thread = Thread(target=make, daemon=True)
    thread.start()
    try:
        wanted.put(True)
        while (found := made.get())[0] is not end:
            wanted.put(True)
            yield found[0]
    finally:
        wanted.put(False)
    thread.join()
    if found[1] is not None:
        raise found[1]
