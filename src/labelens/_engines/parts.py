"""Rows that are elsewhere, cut into numbered parts: what an engine has to offer, and no more.

An engine is a subclass of `Parts` that knows two ways to run a step where the rows are:

    each(step)            the results, part by part, none computed before it is asked for
    reduce(step, merge)   all of them at once, merged

A step is a callable that can be pickled. It gets a `Part`, goes through its chunks in order (there
may be one, or they are read as they are asked for; if several, all but the last should have a
multiple of BLOCK_ROWS rows, which `sources.Batches` sees to) and returns something to be merged, or
None where there are no rows. Engines call it through `attempt`, which gives it a core to itself and
turns what is wrong with the rows into a `Refused`: an error that is raised in a worker would be
written all over its log.

Partials are merged as neighbours in a tree whose shape depends on the number of parts alone. There
are two ways to write it down: one by one as they come (`merge_in_tree`, which holds only log2 of
them), or by tasks that each merge some neighbours so (`merge_by_tasks`, for engines that merge
where the partials are). Both make the same merges, so all engines give the same bits. What comes
out of either goes through `unless_refused`, which raises the error here in the words that it had
there.

    class Here(Parts):
        title, n_parts, labelled = "the list", len(chunks), True

        def each(self, step):
            for number, chunk in enumerate(chunks):
                yield unless_refused(attempt(step, self.part(number, [chunk])))

        def reduce(self, step, merge, features=True):
            return merge_in_tree(self.each(step), merge)

    fit_rows(estimator, Here())
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from .._base import devices
from .._base.threads import working
from .._core.moments import BLOCK_ROWS
from .errors import placed, plain_kind
from .sources import Chunk

Merge = Callable[[Any, Any], Any]
# Partials that a task merges: a power of two. The more, the fewer tasks, and the longer each waits.
GROUP = 8


@dataclass(frozen=True)
class Part:
    """Rows that are here, of those that are elsewhere."""

    number: int
    title: str  # in messages
    names: list[str] | None  # of the columns, where X of a chunk does not know them
    chunks: Iterable[Chunk]
    start: int = 0  # the number of the first row, in messages

    def fold(
        self,
        take: Callable[[Any, Chunk], Any],
        total: Any = None,
        until: Callable[[Any], bool] = lambda total: False,
    ) -> Any:
        """take(take(total, first chunk), second chunk) and so on, of chunks that have rows."""
        start = self.start
        for chunk in self.chunks:
            if chunk.n_rows and (chunk.weight is None or chunk.weight.any()):
                with placed(self, chunk, start):
                    total = take(total, chunk)
                if until(total):
                    break
            start += chunk.n_rows
            del chunk  # a device need not hold it while the next but one is sent
        return total


Step = Callable[[Part], Any]


class Parts(ABC):
    """Rows in numbered parts, somewhere; the order of rows is that of the parts."""

    title: str  # in messages
    n_parts: int
    labelled: bool
    weighted: bool = False  # whether rows have weights
    names: list[str] | None = None  # of the columns, where X of a chunk does not know them
    complete: bool = False  # whether the first rows are all there are
    once: bool = False  # whether rows can be read only once
    elsewhere: bool = True  # whether rows are on other machines, or in other processes
    place: devices.Place | None = None  # the kind of array that rows are, None: NumPy's

    @abstractmethod
    def each(self, step: Step) -> Iterator[Any]:
        """The results of the step for each part, in order, one at a time."""

    @abstractmethod
    def reduce(self, step: Step, merge: Merge, features: bool = True) -> Any:
        """What it makes of all of them, merged in the tree; without features, X is None.

        None where no part has rows.
        """

    def first(self, some: Callable[[Chunk], Chunk]) -> Chunk | None:
        """What `some` leaves of the first rows, BLOCK_ROWS if there are as many; None: no rows."""
        found: list[Chunk] = []
        for chunks in self.each(_FirstRows(some)):
            found += chunks or []
            if sum(chunk.n_rows for chunk in found) >= BLOCK_ROWS:
                break
        return Chunk.joined(found) if found else None

    def release(self, first: Chunk) -> Chunk:
        """Let go of all rows but some of these, before every row is read."""
        return first

    def located(self, chunk: Chunk) -> AbstractContextManager[None]:
        """Add the place to errors in the first rows; workers add it themselves."""
        return nullcontext()

    def lengths(self) -> Sequence[int]:
        """How many rows every part has: counted, unless it is known."""
        return self.reduce(_length, one_after_the_other, features=not self.labelled)

    def part(self, number: int, chunks: Iterable[Chunk]) -> Part:
        return Part(number, f"part {number} of {self.title}", self.names, chunks)


@dataclass(frozen=True)
class _FirstRows:
    some: Callable[[Chunk], Chunk]

    def __call__(self, part: Part) -> list[Chunk]:
        found: list[Chunk] = []

        def take(count: int, chunk: Chunk) -> int:
            found.append(self.some(chunk).take(slice(BLOCK_ROWS)))
            return count + found[-1].n_rows

        part.fold(take, 0, until=lambda count: count >= BLOCK_ROWS)
        return found


def _length(part: Part) -> tuple[int, ...]:
    return (sum(chunk.n_rows for chunk in part.chunks),)


def one_after_the_other(left: Any, right: Any) -> Any:
    return left + right


# Errors ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refused:
    """Rows that cannot be taken, in the words that the user is to read."""

    kind: type[Exception]
    words: str


def attempt(step: Step, part: Part) -> Any:
    """step(part), on one core; or `Refused` if it raises an error of the data."""
    try:
        with working():
            return step(part)
    except (ValueError, TypeError, OSError) as error:
        return Refused(plain_kind(error), str(error))


def unless_refused(partial: Any) -> Any:
    """Return the partial result, or raise the error of the worker."""
    if isinstance(partial, Refused):
        raise partial.kind(partial.words)
    return partial


# The tree ----------------------------------------------------------------------------------------


def merged(merge: Merge, left: Any, right: Any) -> Any:
    """merge(left, right), where either may be None (no rows) or `Refused`."""
    if right is None or isinstance(left, Refused):
        return left
    if left is None or isinstance(right, Refused):
        return right
    return merge(left, right)


def merge_by_tasks(partials: Sequence[Any], join: Callable[..., Any]) -> Any:
    """The merges of `merge_in_tree` by calls of join(partial, ...), each with up to GROUP of them.

    Eight neighbours, merged in a tree, are a subtree of the whole; so are eight of those.
    """
    level = list(partials)
    while len(level) > 1:
        level = [join(*level[i : i + GROUP]) for i in range(0, len(level), GROUP)]
    return level[0]


def merge_in_tree(partials: Iterable[Any], merge: Merge) -> Any:
    """Merge neighbouring partial results as they arrive; some may be None or `Refused`.

    A binary counter: after n of them, there is one subtree for every bit of n.
    """
    subtrees: list[Any] = []
    for count, partial in enumerate(partials, start=1):
        subtrees.append(partial)
        while count % 2 == 0:
            right = subtrees.pop()
            subtrees.append(merged(merge, subtrees.pop(), right))
            count //= 2
    while len(subtrees) > 1:
        right = subtrees.pop()
        subtrees.append(merged(merge, subtrees.pop(), right))
    return subtrees[0] if subtrees else None
