"""Files of columns as rows: which columns, of what kind, and how they come to lie side by side."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import require
from .._threads import one_ahead
from ..moments import BLOCK_ROWS
from .base import Chunk, Source, dense_head
from .npy import name_of, stamps

# What pandas calls an index in a file: it numbers rows, and says nothing about them.
INDEX = re.compile(r"__index_level_\d+__")
# What is decoded page by page at a time: so many chunks, but no more than so many bytes. The less,
# the more time goes into starting with each column.
BATCH_CHUNKS, BATCH_BYTES = 4, 32 << 20
# Bytes that the allocator of pyarrow keeps for later, measured.
ALLOCATOR_BYTES = 64 << 20


Batches = Generator[tuple[Any, Path], None, None]  # record batches, and the file each is from


@dataclass(frozen=True)
class Feature:
    """A column of numbers, or of lists of as many numbers each."""

    name: str
    dtype: np.dtype[Any]
    width: int | None  # None: one number a row, not a list

    @property
    def columns(self) -> int:
        return 1 if self.width is None else self.width

    @property
    def names(self) -> list[str]:
        if self.width is None:
            return [self.name]
        return [f"{self.name}[{i}]" for i in range(self.width)]


class ColumnFiles(Source):
    """Files with the same columns, one after the other."""

    def __init__(
        self, paths: list[Path], kind: Any, label: Any, features: Sequence[str] | None
    ) -> None:
        self.paths, self.called = paths, name_of(paths)
        self._pa = require("pyarrow", extra="cli")
        self._files = []
        for path in paths:
            with in_words(path):
                self._files.append(kind(path))
        first = self._files[0]
        self.labels = [] if label is None else [label] if isinstance(label, str) else list(label)
        self.labelled = bool(self.labels)
        there = first.schema.names
        if features is None:
            features = [n for n in there if n not in self.labels and not INDEX.fullmatch(n)]
        features = list(dict.fromkeys(_list_of(name, there) for name in features))
        for name in (*self.labels, *features):
            if name not in there:
                raise ValueError(f"{first.path} has no column {name!r}; it has {_some(there)}.")
        if hasattr(first, "real"):
            for file in self._files:
                file.real([name for name in features if name in file.schema.names])
        self._refuse_others([*self.labels, *features])
        self._features = [self._feature(name) for name in features]
        if not self._features:
            raise ValueError(f"{first.path} has no column to use as a feature.")
        self.names = [name for feature in self._features for name in feature.names]
        dtype = np.result_type(*(feature.dtype for feature in self._features))
        dtype = np.dtype(np.float32) if dtype == np.float16 else dtype
        self.head = dense_head(len(self.names), dtype)
        counts = [file.n_rows for file in self._files]
        self.n_rows = None if None in counts else sum(counts)
        self.n_bytes = sum(path.stat().st_size for path in paths)
        if self.n_rows is not None:
            self.n_bytes = self.n_rows * self.row_bytes
        self._wanted = [*self.labels, *features]
        self.sparing = any(file.best_spared(self._wanted) for file in self._files)

    @property
    def reader_bytes(self) -> int:  # type: ignore[override]
        return ALLOCATOR_BYTES + max(file.held(self._wanted, self.sparing) for file in self._files)

    @property
    def copies(self) -> int:  # type: ignore[override]
        return 2 + (2 * BATCH_CHUNKS if self.sparing else 0)  # a batch in use, and one read ahead

    def spare_memory(self) -> bool:
        before, self.sparing = self.sparing, True
        return not before

    def _refuse_others(self, names: list[str]) -> None:
        """Files whose columns are not those of the first, before any is read."""
        first = self._files[0]
        for file in self._files[1:]:
            for name in names:
                if name not in file.schema.names:
                    raise ValueError(f"{file.path} has no column {name!r}, and {first.path} has.")
                mine, other = (f.schema.field(name).type for f in (first, file))
                if mine != other:
                    raise ValueError(
                        f"The column {name!r} is {mine} in {first.path} and {other} in {file.path}."
                    )

    def _feature(self, name: str) -> Feature:
        types, kind = self._pa.types, self._files[0].schema.field(name).type
        width = None
        if types.is_fixed_size_list(kind):
            width, kind = kind.list_size, kind.value_type
        elif types.is_list(kind) or types.is_large_list(kind):
            width, kind = self._length_of(name), kind.value_type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)):
            raise ValueError(
                f"The column {name!r} of {self._files[0].path} holds {kind}, not numbers; encode "
                "it, or name the columns to use as features."
            )
        return Feature(name, np.dtype(kind.to_pandas_dtype()), width)

    def _length_of(self, name: str) -> int:
        for file in self._files:
            with in_words(file.path):
                for batch in file.batches([name], 1, 0, sparing=True):
                    if batch.num_rows and batch.column(0)[0].is_valid:
                        return len(batch.column(0)[0])
        raise ValueError(f"The column {name!r} has no list in it to tell how long its lists are.")

    def chunks(self, rows: int, start: int = 0, features: bool = True) -> Iterator[Chunk]:
        wanted = self._wanted if features else self.labels
        buffer = self._buffer(rows) if features else None
        labels: list[Any] = []
        filled = 0
        for batch, path in one_ahead(self._batches(wanted, rows, start)):
            columns = self._columns(batch, path) if features else []
            at = 0
            while at < batch.num_rows:
                here = slice(at, min(at + rows - filled, batch.num_rows))
                at, begins, filled = here.stop, filled, filled + here.stop - here.start
                if buffer is not None:
                    for place, column in columns:
                        buffer[begins:filled, place] = column[here]
                piece = batch.slice(here.start, here.stop - here.start)
                labels.append([piece.column(j) for j in range(len(self.labels))])
                if filled == rows:
                    yield Chunk(buffer, self._label_array(labels))
                    labels, filled = [], 0
        if filled:
            yield Chunk(None if buffer is None else buffer[:filled], self._label_array(labels))

    def _batches(self, wanted: list[str], rows: int, start: int) -> Batches:
        rows = max(rows, min(BATCH_CHUNKS * rows, BATCH_BYTES // self.row_bytes))
        for file in self._files:
            if file.n_rows is not None and start >= file.n_rows:
                start -= file.n_rows
                continue
            with in_words(file.path):
                skip = 0 if file.n_rows is None else start
                for batch in file.batches(wanted, rows, skip, self.sparing):
                    if file.n_rows is not None or start == 0:
                        yield batch, file.path
                    else:  # a file that does not know how many rows it has is read up to the row
                        passed = min(start, batch.num_rows)
                        start -= passed
                        if passed < batch.num_rows:
                            yield batch.slice(passed), file.path
            start = 0 if file.n_rows is not None else start

    def _buffer(self, rows: int) -> NDArray[Any]:
        """Columns in one piece each, as they are in the file; rows, if there are lists of numbers.

        Columns lie a line further apart than a multiple of 4096 bytes, where all would fall into
        the same lines of a cache: then it takes five times as long to read some rows of all.
        """
        width, dtype = self.head.shape[1], self.head.dtype
        if any(feature.width is not None for feature in self._features):
            return np.empty((rows, width), dtype)
        return np.empty((rows + 64 // dtype.itemsize, width), dtype, order="F")[:rows]

    def _columns(self, batch: Any, path: Path) -> list[tuple[Any, NDArray[Any]]]:
        """Where each feature goes, and its numbers: (n,), or (n, w) of lists."""
        found: list[tuple[Any, NDArray[Any]]] = []
        at = 0
        for j, feature in enumerate(self._features, len(self.labels)):
            numbers = self._numbers(batch.column(j), feature, path)
            if feature.width is None:
                found.append((at, numbers))
            else:
                shape = batch.num_rows, feature.width
                found.append((slice(at, at + feature.width), numbers.reshape(shape)))
            at += feature.columns
        return found

    def _numbers(self, column: Any, feature: Feature, path: Path) -> NDArray[Any]:
        if column.null_count:
            raise ValueError(
                f"The column {feature.name!r} of {path} has empty cells (nulls); fill them first, "
                "or leave such rows out."
            )
        if feature.width is not None:
            values = column.flatten()
            lengths = column.value_lengths() if hasattr(column, "value_lengths") else None
            if len(values) != feature.width * len(column) or (
                lengths is not None and lengths.unique().to_pylist() not in ([], [feature.width])
            ):
                raise ValueError(
                    f"The lists in column {feature.name!r} of {path} are not all "
                    f"{feature.width} long."
                )
            return self._numbers(values, Feature(feature.name, feature.dtype, None), path)
        if self._pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        return column.to_numpy(zero_copy_only=False)

    def _label_array(self, pieces: list[list[Any]]) -> Any:
        columns = [self._one_label(list(column)) for column in zip(*pieces, strict=True)]
        if not columns:
            return None
        if len(columns) == 1:
            return columns[0]
        kinds = {column.dtype.kind for column in columns}
        mixed = len(kinds) > 1 or "O" in kinds
        return np.column_stack([c.astype(object) for c in columns] if mixed else columns)

    def _one_label(self, pieces: list[Any]) -> Any:
        types, kind = self._pa.types, pieces[0].type
        whole = self._pa.chunked_array(pieces)
        if types.is_dictionary(kind):
            if kind.ordered and len(self.labels) == 1:  # the order is part of the labels
                return whole.unify_dictionaries().to_pandas()
            whole = whole.cast(kind.value_type)
        if whole.null_count:  # as they are: whole numbers with gaps are no floats
            found = np.empty(len(whole), dtype=object)
            found[:] = whole.to_pylist()
            return found
        return whole.to_numpy()

    def cuts(self) -> Iterable[int]:
        """Where row groups begin, up to the next block."""
        groups = accumulate(count for file in self._files for count in file.groups)
        rows = dict.fromkeys(-(-start // BLOCK_ROWS) * BLOCK_ROWS for start in groups)
        return [row for row in rows if row < (self.n_rows or 0)]

    def files(self) -> list[Source]:
        def only(file: Any) -> Source:
            one = copy(self)
            one._files, one.paths, one.called = [file], [file.path], str(file.path)
            one.n_rows = file.n_rows
            return one

        return [only(file) for file in self._files]

    def identity(self) -> dict[str, Any] | None:
        return stamps(self.paths) | {
            "labels": self.labels,
            "features": [[f.name, str(f.dtype), f.width] for f in self._features],
        }


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """What pyarrow says about a file, with the name of the file."""
    pyarrow = require("pyarrow", extra="cli")
    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error


def _list_of(name: str, there: Sequence[str]) -> str:
    """The column that holds this one, if it is an item of its lists."""
    column, item, _ = name.rpartition("[")
    return column if item and name not in there and column in there else name


def _some(names: Sequence[str]) -> str:
    more = "" if len(names) <= 8 else f" and {len(names) - 8} more"
    return ", ".join(map(repr, names[:8])) + more
