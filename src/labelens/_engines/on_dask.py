"""Dask: arrays and frames whose chunks are on workers, and files that workers read themselves.

Everything runs on whatever client is active, or on the threads of this process where there is none.
Every answer is a task that can be run again, and nothing is scattered: what a dead worker held is
computed anew by another, from the same rows in the same order, so to the same bits.
"""

from __future__ import annotations

import pickle
import sys
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any
from uuid import uuid4
from warnings import catch_warnings, filterwarnings

import numpy as np
from sklearn.base import clone

from .._base import devices
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

    def __init__(self) -> None:
        # The tasks that make the chunks, by their keys; None: a worker has the chunk in memory.
        self._below: dict[Any, Any] = {}

    def each(self, step: Step) -> Iterator[Any]:
        start = 0
        while start < self.n_parts:  # 1, 2, 4, ... at a time: if many are needed, they are small
            numbers = range(start, min(2 * start + 1, self.n_parts))
            yield from _computed(*self._answers(step, numbers, features=True))
            start = numbers.stop

    def reduce(self, step: Step, merge: Merge, features: bool = True) -> Any:
        answers, graph = self._answers(step, range(self.n_parts), features)
        name, spec = f"merged-{uuid4().hex}", _spec()

        def join(*partials: str) -> str:
            key = f"{name}-{len(graph)}"
            graph[key] = spec.Task(key, _merged, merge, *map(spec.TaskRef, partials))
            return key

        return next(_computed([merge_by_tasks(answers, join)], graph))

    def _answers(
        self, step: Step, numbers: range, features: bool
    ) -> tuple[list[str], dict[Any, Any]]:
        """Keys of the answers of some parts, and a graph of these and what they are made of."""
        name = f"{getattr(step, '__name__', type(step).__name__)}-{uuid4().hex}".lower()
        answers, steps, shared, spec = {}, {}, _packed(step), _spec()
        if len(shared) > LITTLE:
            steps[f"step-{name}"] = spec.DataNode(f"step-{name}", shared)
            shared = spec.TaskRef(f"step-{name}")
        for number in numbers:
            arguments = map(self._argument, self._chunks(number, features))
            key = f"{name}-{number}"
            answers[key] = spec.Task(key, _answer, shared, self.part(number, ()), *arguments)
        return list(answers), _with_sources(answers, self._below) | steps

    @abstractmethod
    def _chunks(self, number: int, features: bool) -> tuple[Any, ...]:
        """A function and its arguments: called where the part is, it gives the chunks."""

    def _argument(self, value: Any) -> Any:
        """A delayed value by its key, so that one graph holds the tasks of all parts."""
        if not is_dask(value):
            return value
        if value.key not in self._below:
            graph = require("dask.utils", extra="dask").ensure_dict(value.dask)
            self._below |= dict.fromkeys(graph) | _spec().convert_legacy_graph(graph)
        return _spec().TaskRef(value.key)


def _with_sources(answers: dict[str, Any], below: dict[Any, Any]) -> dict[Any, Any]:
    """The answers, and the tasks that they need; one that a single answer needs becomes part of it.

    The scheduler takes about a millisecond for a task, however little that does.
    """
    graph, wanted = dict[Any, Any](answers), list(answers.values())
    for task in wanted:
        for key in task.dependencies:
            if key not in graph and below.get(key) is not None:
                graph[key] = below[key]
                wanted.append(below[key])
    users = Counter(key for task in wanted for key in task.dependencies)
    for name, answer in answers.items():
        own, mine = [answer], Counter[Any]()
        for task in own:
            for key in task.dependencies:
                mine[key] += 1
                if mine[key] == users[key] and key in graph:
                    own.append(graph.pop(key))
        graph[name] = _spec().Task.fuse(*own, key=name)
    return graph


def _answer(packed: bytes, part: Part, read: Any, *arguments: Any) -> bytes:
    def answer(part: Part) -> Any:
        return pickle.loads(packed)(replace(part, chunks=read(*arguments)))

    return _packed(attempt(answer, part))


def _merged(merge: Merge, *partials: bytes) -> bytes:
    return _packed(merge_in_tree(map(pickle.loads, partials), merge))


def _computed(keys: list[str], graph: dict[Any, Any]) -> Iterator[Any]:
    layers = require("dask.highlevelgraph", extra="dask").HighLevelGraph
    whole = layers.from_collections(keys[0], graph, dependencies=())
    delayed = require("dask.delayed", extra="dask").Delayed
    with _quietly():
        found = require("dask", extra="dask").compute(
            *(delayed(key, whole, layer=keys[0]) for key in keys)
        )
    return (unless_refused(pickle.loads(one)) for one in found)


def _spec() -> Any:
    return require("dask._task_spec", extra="dask")


def _packed(thing: Any) -> bytes:
    """What goes from task to task is bytes, which Dask moves as they are.

    It would hand arrays over at addresses that are no multiple of their items', and products of
    such arrays have other last digits.
    """
    return require("cloudpickle", extra="dask").dumps(thing)


@contextmanager
def _quietly() -> Iterator[None]:
    """Ignore the warning of large graphs: tasks contain random numbers, which cannot be redrawn."""
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
        super().__init__()
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
        super().__init__()
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
        blocks = _blocks(rows_of(values) if values.ndim == 2 else values)
        if len(blocks) != self.n_parts:
            raise ValueError(
                f"Cannot align {self.title} ({self.n_parts} partitions) with {name} "
                f"({len(blocks)} partitions): chunk sizes are unknown. Call "
                "`compute_chunk_sizes()` first, or repartition one of them."
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
    # Dask does not cut chunks of torch.
    return X if hasattr(X, "columns") or X.numblocks[1] == 1 else X.rechunk({1: -1})


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
    meta = require("dask.array.utils", extra="dask").meta_from_array
    some = X._meta_nonempty if frame else devices.zeros((1, X.shape[1]), meta(X))
    like = function(some)[:0]  # raises errors of columns now
    packed = require("dask", extra="dask").delayed(_packed(function), traverse=False)
    how = dict(packed=packed, like=like)
    if frame:
        return X.map_partitions(_applied, meta=like, **how)
    chunks = (X.chunks[0], (like.shape[1],))
    return X.map_blocks(_applied, chunks=chunks, meta=like, **how)


def computed_in_order(embedding: Any) -> Iterator[Any]:
    """The blocks of an embedding in order, AHEAD of them computed at a time."""
    compute, blocks = require("dask", extra="dask").compute, _blocks(embedding)
    for start in range(0, len(blocks), AHEAD):
        yield from map(devices.host, compute(*blocks[start : start + AHEAD]))


def _applied(rows: Any, packed: bytes, like: Any) -> Any:
    if rows.shape[0] == 0:
        return like
    function = pickle.loads(packed)
    with working():
        return function(rows)
