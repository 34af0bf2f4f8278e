"""Files of columns as rows: which files, which of their columns, and of what kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ..._base.optional import require
from ..._base.threads import one_ahead
from ..._base.validation import some, unchanged_on_error
from ..._core.moments import BLOCK_ROWS
from ...tables import TableEncoder
from .base import Chunk, Source
from .npy import name_of, stamps
from .rows import ColumnLayout, EncodedLayout, Feature

# The name of a pandas index in a file: it numbers rows and is no feature.
INDEX = re.compile(r"__index_level_\d+__")
# What is decoded page by page at a time: so many chunks, but no more than so many bytes. The less,
# the more time goes into starting with each column.
BATCH_CHUNKS, BATCH_BYTES = 4, 32 << 20
FITTED_ROWS = 1 << 14  # in a batch that an encoder is fitted on
# Bytes that the allocator of pyarrow keeps for later, measured.
ALLOCATOR_BYTES = 64 << 20


class ColumnFiles(Source):
    """Files with the same columns, one after the other."""

    def __init__(
        self,
        paths: list[Path],
        kind: Any,
        label: Any,
        features: Sequence[str] | None,
        encoder: TableEncoder | None = None,
    ) -> None:
        self.paths, self.title = paths, name_of(paths)
        self._pa = require("pyarrow", extra="cli")
        self._files = []
        for path in paths:
            with in_words(path):
                self._files.append(kind(path))
        self.notes = [note for file in self._files for note in file.notes]
        first = self._files[0]
        self.labels = [] if label is None else [label] if isinstance(label, str) else list(label)
        if not all(isinstance(name, str) for name in self.labels):
            raise ValueError(
                f"label names a column of {self.title}, or several; labels from elsewhere have to "
                "go into the files first."
            )
        self.labelled = bool(self.labels)
        there, known = first.schema.names, set(first.schema.names)
        if encoder is not None and hasattr(encoder, "columns_"):
            features = [column.name for column in encoder.columns_]
        if features is None:
            features = [n for n in there if n not in self.labels and not INDEX.fullmatch(n)]
        features = list(dict.fromkeys(list_of(name, known) for name in features))
        wanted = [*self.labels, *features]
        if twice := [name for name in self.labels if wanted.count(name) > 1]:
            raise ValueError(
                f"The column {twice[0]!r} is to be a label and a feature, or a label twice."
            )
        if missing := [name for name in wanted if name not in known]:
            raise ValueError(f"{first.path} has no column {missing[0]!r}; it has {some(there)}.")
        for file in self._files:
            times = Counter(file.schema.names)
            if twice := [name for name in wanted if times[name] > 1]:
                raise ValueError(f"{file.path} has two columns called {twice[0]!r}; rename one.")
        if hasattr(kind, "agree"):
            with in_words(first.path):
                kind.agree(self._files, features, self.labels, encoder is not None)
        self._refuse_others(wanted if encoder is None else self.labels)
        if not features:
            raise ValueError(f"{first.path} has no column to use as a feature.")
        self.sparing = any(file.best_spared(wanted) for file in self._files)
        if encoder is None:
            self._columns = ColumnLayout(tuple(self.labels), tuple(map(self._feature, features)))
        else:
            self._columns = self._encoded(encoder, features)
        self.names, self.head = self._columns.names, self._columns.head
        counts = [file.n_rows for file in self._files]
        self.n_rows = None if None in counts else sum(counts)
        self.n_bytes = sum(path.stat().st_size for path in paths)
        if self.n_rows is not None:
            self.n_bytes = self.n_rows * self.row_bytes

    @property
    def reader_bytes(self) -> int:  # type: ignore[override]
        wanted = self._columns.wanted()
        return ALLOCATOR_BYTES + max(file.held(wanted, self.sparing) for file in self._files)

    @property
    def copies(self) -> int:  # type: ignore[override]
        # A batch in use, and one read ahead; an encoder makes a frame of it, and its features.
        encoded = 4 if isinstance(self._columns, EncodedLayout) else 0
        return 3 + encoded + (2 * BATCH_CHUNKS if self.sparing else 0)

    def spare_memory(self) -> bool:
        before, self.sparing = self.sparing, True
        return not before

    def _refuse_others(self, names: list[str]) -> None:
        """Files whose columns are not those of the first, before any is read."""
        first = self._files[0]
        for file in self._files[1:]:
            there = set(file.schema.names)
            for name in names:
                if name not in there:
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

    def _encoded(self, encoder: TableEncoder, features: list[str]) -> ColumnLayout:
        """The layout of an encoder, which is fitted on all rows if it is not fitted yet."""
        if not hasattr(encoder, "columns_"):
            with unchanged_on_error(encoder):
                for file in self._files:
                    with in_words(file.path):
                        for batch, _ in file.batches(features, FITTED_ROWS, 0, self.sparing):
                            encoder.partial_fit(batch.to_pandas())
            if not hasattr(encoder, "columns_"):
                raise ValueError(f"There are no rows in {self.title}.")
        return EncodedLayout.of(self.labels, encoder)

    def _length_of(self, name: str) -> int:
        for file in self._files:
            with in_words(file.path):
                for batch, _ in file.batches([name], 1, 0, sparing=True):
                    if batch.num_rows and batch.column(0)[0].is_valid:
                        return len(batch.column(0)[0])
        raise ValueError(f"The column {name!r} has no list; the length of lists is unknown.")

    def chunks(self, rows: int, start: int = 0, features: bool = True) -> Iterator[Chunk]:
        wanted = self._columns.wanted(features)
        batches = one_ahead(self._batches(wanted, rows, start))
        return one_ahead(self._columns.chunks(batches, rows, features))

    def _batches(
        self, wanted: list[str], rows: int, start: int
    ) -> Generator[tuple[Any, Path], None, None]:
        rows = max(rows, min(BATCH_CHUNKS * rows, BATCH_BYTES // self.row_bytes))
        for file in self._files:
            with in_words(file.path):
                start = yield from file.batches(wanted, rows, start, self.sparing)

    def cuts(self) -> Iterable[int]:
        """Where row groups begin, up to the next block."""
        groups = accumulate(count for file in self._files for count in file.groups)
        rows = dict.fromkeys(-(-start // BLOCK_ROWS) * BLOCK_ROWS for start in groups)
        return [row for row in rows if row < (self.n_rows or 0)]

    def files(self) -> list[Source]:
        def only(file: Any) -> Source:
            one = copy(self)
            one._files, one.paths, one.title = [file], [file.path], str(file.path)
            one.n_rows = file.n_rows
            return one

        return [only(file) for file in self._files]

    def identity(self) -> dict[str, Any] | None:
        return stamps(self.paths) | {
            "labels": self.labels,
            "features": self._columns.identity(),
        }


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """The errors of pyarrow and the readers, with the name of the file."""
    pyarrow = require("pyarrow", extra="cli")
    try:
        yield
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error


def list_of(name: str, there: Collection[str]) -> str:
    """The column that holds this one, if it is an item of its lists."""
    column, item, _ = name.rpartition("[")
    return column if item and name not in there and column in there else name
