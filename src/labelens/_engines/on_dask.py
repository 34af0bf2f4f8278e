"""Dask: arrays and frames whose chunks are on workers, and files that workers read themselves.

Everything runs on whatever client is active, or on the threads of this process where there is none.
Every answer is a task that can be run again, and nothing is scattered: what a dead worker held is
computed anew by another, from the same rows in the same order, so to the same bits.
"""

from __future__ import annotations

import pickle
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any
from uuid import uuid4
from warnings import catch_warnings, filterwarnings

import numpy as np
from sklearn.base import clone

from .._base.optional import require
from .._base.threads import working
from .._base.validation import some, unchanged_on_error
from .._core.labels import as_labels
from ..tables import TableEncoder
from .parts import Merge, Part, Parts, Step, attempt, merge_by_tasks, merge_in_tree, unless_refused
from .ranges import Range
from .sources import Chunk, Source, some_rows

# Bytes of a step that go along with every task. A larger one is a task of its own, and goes to each
# worker once; but where it was computed Dask takes for a place to send tasks to, as much as where
# their rows are, and that worker gets more than its share.
LITTLE = 1 << 16
# Blocks of an embedding that are computed at a time when it goes into a file.
AHEAD = 64


class DaskParts(Parts):
    """Parts whose steps are tasks."""

    def each(self, step: Step) -> Iterator[Any]:
        for task in self._tasks(step, features=True):
            yield unless_refused(_computed(task))

    def reduce(self, step: Step, merge: Merge, features: bool = True) -> Any:
        join = require("dask", extra="dask").delayed(_merged, pure=False, traverse=False)
        tasks = list(self._tasks(step, features))
        root = merge_by_tasks(tasks, lambda *partials: join(merge, *partials))
        return unless_refused(_computed(root))

    def _tasks(self, step: Step, features: bool) -> Iterator[Any]:
        delayed = require("dask", extra="dask").delayed
        name = f"{getattr(step, '__name__', type(step).__name__)}-{uuid4().hex}".lower()
        shared: Any = _packed(step)
        if len(shared) > LITTLE:
            shared = delayed(shared, name=f"step-{name}", traverse=False)
        answer = delayed(_answer, pure=False, traverse=False)
        for number in range(self.n_parts):
            arguments = self._chunks(number, features)
            part = self.part(number, ())
            yield answer(shared, part, *arguments, dask_key_name=f"{name}-{number}")

    @abstractmethod
    def _chunks(self, number: int, features: bool) -> tuple[Any, ...]:
        """A function and its arguments: called where the part is, it gives the chunks."""


def _answer(packed: bytes, part: Part, read: Any, *arguments: Any) -> bytes:
    def answer(part: Part) -> Any:
        return pickle.loads(packed)(replace(part, chunks=read(*arguments)))

    return _packed(attempt(answer, part))


def _merged(merge: Merge, *partials: bytes) -> bytes:
    return _packed(merge_in_tree(map(pickle.loads, partials), merge))


def _computed(task: Any) -> Any:
    with _quietly():
        return pickle.loads(task.compute())


def _packed(thing: Any) -> bytes:
    """What goes from task to task is bytes, which Dask moves as they are.

    It would hand arrays over at addresses that are no multiple of their items', and products of
    such arrays have other last digits.
    """
    return require("cloudpickle", extra="dask").dumps(thing)


@contextmanager
def _quietly() -> Iterator[None]:
    """What has been drawn goes with the tasks on purpose: it can be computed again by nobody."""
    with catch_warnings():
        filterwarnings("ignore", message="Sending large graph")
        yield


def encoded(source: Any, label: Any, features: Any, encoder: TableEncoder) -> tuple[Any, list[str]]:
    """A dask frame of numbers with its labels, and the names of the numbers.

    An encoder that is not fitted is fitted on the workers: statistics of partitions are merged.
    """
    if not hasattr(source, "map_partitions") or not hasattr(source, "columns"):
        raise TypeError("An encoder is for dask frames, whose columns have names.")
    named = [label] if isinstance(label, str) else list(label) if isinstance(label, list) else []
    if not hasattr(encoder, "columns_"):
        columns = list(features or [name for name in source.columns if name not in named])
        summed = require("dask", extra="dask").delayed(_summed, pure=False)
        parts = [summed(part, columns, encoder) for part in source.to_delayed()]
        with unchanged_on_error(encoder):
            for one in require("dask", extra="dask").compute(*parts):
                if one is not None:
                    encoder.merge(one)
    alone = TableEncoder.of(encoder.columns_, encoder.impute, encoder.na)
    meta = _encoded_part(source._meta, alone, named)
    frame = source.map_partitions(_encoded_part, alone, named, meta=meta)
    return frame, alone.get_feature_names_out().tolist()


def _summed(part: Any, columns: list[str], encoder: TableEncoder) -> Any:
    return clone(encoder).fit(part[columns]) if len(part) else None


def _encoded_part(part: Any, encoder: TableEncoder, labels: list[str]) -> Any:
    frame = encoder.frame(part).set_axis(part.index)
    for name in labels:
        frame[name] = part[name]
    return frame


class FileParts(DaskParts):
    """Ranges of rows in files that all workers can read."""

    def __init__(self, ranges: Sequence[Range]) -> None:
        source = ranges[0].source
        self._ranges, self.n_parts = ranges, len(ranges)
        self.title, self.names, self.labelled = source.title, source.names, source.labelled
        delayed = require("dask", extra="dask").delayed
        self._sources = {
            id(part.source): delayed(part.source, traverse=False, pure=False) for part in ranges
        }

    def _chunks(self, number: int, features: bool) -> tuple[Any, ...]:
        here = self._ranges[number]
        source = self._sources[id(here.source)]  # once, not in every task
        return _read, source, here.start, here.stop, here.rows, features


def _read(source: Source, start: int, stop: int | None, rows: int, features: bool) -> Any:
    return Range(source, start, stop, rows).chunks(features)


# Collections -------------------------------------------------------------------------------------


class Collection(DaskParts):
    """A dask array or frame of rows; labels and weights may be in memory too."""

    def __init__(self, X: Any, y: Any = None, weight: Any = None, nuisance: Any = None) -> None:
        self.title = "the dask frame" if hasattr(X, "columns") else "the dask array"
        X = rows_of(X)
        self.labelled, self.weighted = y is not None, weight is not None
        self._known = _known_lengths(X)
        self._X = _blocks(X)
        self._y: list[Any] | None = None
        self._weight: list[Any] | None = None
        self._nuisance: list[Any] | None = None
        self.n_parts = len(self._X)
        self._y = self._beside(X, y, "y")
        self._weight = self._beside(X, weight, "sample_weight")
        self._nuisance = self._beside(X, nuisance, "nuisance")

    def lengths(self) -> Sequence[int]:
        if self._known is None:
            self._known = list(super().lengths())
        return self._known

    def _beside(self, X: Any, values: Any, name: str) -> list[Any] | None:
        """The labels, or weights, of every part."""
        if values is None:
            return None
        if not is_dask(values):
            values = np.asarray(values) if name == "sample_weight" else as_labels(values)
            lengths = self._lengths_of_rows()
            if sum(lengths) != values.shape[0]:
                raise ValueError(
                    f"X and {name} have inconsistent numbers of samples: {sum(lengths)} rows in "
                    f"{self.title}, {values.shape[0]} in {name}."
                )
            ends = list(accumulate(lengths, initial=0))
            return [some_rows(values, slice(i, j)) for i, j in pairwise(ends)]
        theirs = _known_lengths(values)
        if self._known is not None and theirs is not None and theirs != self._known:
            if sum(theirs) != sum(self._known):
                raise ValueError(
                    f"X and {name} have inconsistent numbers of samples: {sum(self._known)} rows "
                    f"in {self.title}, {sum(theirs)} in {name}."
                )
            values = values.rechunk({0: X.chunks[0]})
        if values.ndim == 2 and not hasattr(values, "columns"):
            values = values.rechunk({1: -1})
        blocks = _blocks(values)
        if len(blocks) != self.n_parts:
            raise ValueError(
                f"{self.title} has {self.n_parts} partitions and {name} {len(blocks)}: nobody "
                "knows which rows belong together. Repartition one of them, or make the sizes of "
                "chunks known (compute_chunk_sizes)."
            )
        return blocks

    def _lengths_of_rows(self) -> Sequence[int]:
        labelled, self.labelled = self.labelled, False  # labels are not there yet to be counted
        try:
            return self.lengths()
        finally:
            self.labelled = labelled

    def _chunks(self, number: int, features: bool) -> tuple[Any, ...]:
        X = self._X[number] if features else None
        beside = (self._y, self._weight, self._nuisance)
        sides = (None if side is None else side[number] for side in beside)
        return _one_chunk, self.part(number, ()).title, X, *sides


def _one_chunk(title: str, X: Any, y: Any, weight: Any, nuisance: Any) -> list[Chunk]:
    chunk = Chunk(X, y, None if weight is None else np.asarray(weight), nuisance)
    sides = (chunk.y, "labels"), (weight, "weights"), (chunk.nuisance, "values of nuisance")
    for values, name in sides:
        if values is not None and values.shape[0] != chunk.n_rows:
            raise ValueError(
                f"There are {chunk.n_rows} rows and {values.shape[0]} {name} in {title}."
            )
    return [chunk]


def is_dask(X: Any) -> bool:
    dask = sys.modules.get("dask")
    return dask is not None and dask.is_dask_collection(X)


def rows_of(X: Any) -> Any:
    """X as a collection of blocks of whole rows."""
    dimensions = getattr(X, "ndim", None)
    if not isinstance(dimensions, int) or dimensions != 2:
        raise ValueError(
            f"X must be a dask array or frame with rows and columns, got a dask {type(X).__name__}"
            + (f" with {dimensions} dimension(s)." if isinstance(dimensions, int) else ".")
        )
    return X if hasattr(X, "columns") else X.rechunk({1: -1})


def columns_of(source: Any, label: Any, features: Any) -> tuple[Any, Any]:
    """Rows and labels of a collection, where the label may be a column of it, or several."""
    if not hasattr(source, "columns"):
        if features is not None:
            raise ValueError("features names columns, and those of an array have no names.")
        return source, label
    named = [label] if isinstance(label, str) else label if isinstance(label, list) else []
    if features is None:
        features = [name for name in source.columns if name not in named]
    for name in (*named, *features):
        if name not in source.columns:
            there = some(list(source.columns))
            raise ValueError(f"The dask frame has no column {name!r}; it has {there}.")
    return source[list(features)], source[label] if named else label


def _blocks(values: Any) -> list[Any]:
    if hasattr(values, "simplify"):
        # A frame. Dask's optimizer joins small partitions of parquet files, and how many depends on
        # the columns that are read: those of X and of y would hold different rows.
        return values.simplify().to_delayed(optimize_graph=False)
    return list(np.ravel(np.array(values.to_delayed(), dtype=object)))


def _known_lengths(values: Any) -> list[int] | None:
    chunks = getattr(values, "chunks", None)
    if chunks is None or any(np.isnan(size) for size in chunks[0]):
        return None
    return [int(size) for size in chunks[0]]


# Transforming ------------------------------------------------------------------------------------


def mapped(function: Callable[[Any], Any], X: Any) -> Any:
    """A dask array of a function of rows, (n, d) -> (n, k), that is computed when asked for."""
    X = rows_of(X)
    frame = hasattr(X, "columns")
    some = X._meta_nonempty if frame else np.ones((1, X.shape[1]), X.dtype)
    like = function(some)[:0]  # which says now what is wrong with columns
    packed = require("dask", extra="dask").delayed(_packed(function), traverse=False)
    how = dict(packed=packed, like=like)
    if frame:
        return X.map_partitions(_applied, meta=like, **how)
    chunks = (X.chunks[0], (like.shape[1],))
    return X.map_blocks(_applied, dtype=like.dtype, chunks=chunks, meta=like, **how)


def computed_in_order(embedding: Any) -> Iterator[Any]:
    """The blocks of an embedding in order, AHEAD of them computed at a time."""
    compute, blocks = require("dask", extra="dask").compute, _blocks(embedding)
    for start in range(0, len(blocks), AHEAD):
        yield from compute(*blocks[start : start + AHEAD])


def _applied(rows: Any, packed: bytes, like: Any) -> Any:
    if rows.shape[0] == 0:
        return like
    function = pickle.loads(packed)
    with working():
        return function(rows)
