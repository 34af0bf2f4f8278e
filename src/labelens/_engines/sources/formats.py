"""Files of columns: what each kind does to give record batches from any row on."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..._base.optional import require
from ...tables import text
from ...tables.text import TextFile, common_kind, narrowed, pointed, typed

# Bytes that are read ahead for each column: the defaults of pyarrow hold whole files instead.
READ_AHEAD = 1 << 16
# Of each column a page and a dictionary are held, each of at most this many bytes unless the writer
# was told otherwise.
PAGE = 1 << 20
# Row groups of at most so many bytes are decoded as a whole, which is faster than page by page; so
# many are held at a time: one in use, one read ahead, and what allocators keep.
GROUP, GROUPS = 80 << 20, 3


# Record batches, and the file that each is from; returns how many rows are still to be skipped.
Batches = Generator[tuple[Any, Path], None, int]


class ColumnFile:
    path: Path
    n_rows: int | None = None  # None: unknown
    notes: Sequence[str] = ()  # what was guessed about it

    def best_spared(self, columns: Sequence[str]) -> bool:
        """Whether these columns had better be read in small steps."""
        return True

    def _from_row(self, batches: Iterable[Any], skip: int) -> Batches:
        for batch in batches:
            if skip < batch.num_rows:
                yield (batch.slice(skip) if skip else batch), self.path
            skip = max(0, skip - batch.num_rows)
        return skip


class Parquet(ColumnFile):
    def __init__(self, path: Path) -> None:
        self.path, self._metadata = path, None
        with self._open() as file:
            self.schema, self._metadata = file.schema_arrow, file.metadata
        self.groups = [group.num_rows for group in self._groups_of_file()]
        self.n_rows = sum(self.groups)

    def _open(self) -> Any:
        return require("pyarrow.parquet", extra="cli").ParquetFile(
            self.path, metadata=self._metadata, pre_buffer=False, buffer_size=READ_AHEAD
        )

    def _groups_of_file(self) -> list[Any]:
        assert self._metadata is not None
        return [self._metadata.row_group(i) for i in range(self._metadata.num_row_groups)]

    def held(self, columns: Sequence[str], sparing: bool) -> int:
        """Bytes that are held while these columns are read."""
        if not sparing:
            return GROUPS * self._largest_group(columns)
        most = dict.fromkeys(columns, 0)
        for group in self._groups_of_file():
            for name, size in _column_sizes(group):
                if name in most:
                    most[name] = max(READ_AHEAD + 2 * min(PAGE, size), most[name])
        return sum(most.values())

    def best_spared(self, columns: Sequence[str]) -> bool:
        return self._largest_group(columns) > GROUP

    def _largest_group(self, columns: Sequence[str]) -> int:
        """Bytes, decoded."""
        widths = {name: _width(self.schema.field(name).type) for name in columns}
        sizes = [
            sum(
                group.num_rows * widths[name] or size
                for name, size in _column_sizes(group)
                if name in widths
            )
            for group in self._groups_of_file()
        ]
        return max(sizes, default=0)

    def batches(self, columns: Sequence[str], rows: int, skip: int, sparing: bool) -> Batches:
        first = 0
        while first < len(self.groups) and skip >= self.groups[first]:
            skip -= self.groups[first]
            first += 1
        left = list(range(first, len(self.groups)))
        read = self._pages if sparing else self._groups
        return (yield from self._from_row(read(list(columns), rows, left) if left else (), skip))

    def _pages(self, columns: list[str], rows: int, groups: list[int]) -> Iterator[Any]:
        with self._open() as file:
            yield from file.iter_batches(rows, row_groups=groups, columns=columns)

    def _groups(self, columns: list[str], rows: int, groups: list[int]) -> Iterator[Any]:
        """One after the other: pyarrow's scanner would hold all that the caller is late to take."""
        with self._open() as file:
            for number in groups:
                yield from file.read_row_group(number, columns=columns).to_batches()


def _column_sizes(group: Any) -> Iterator[tuple[str, int]]:
    """The columns of a row group, and the bytes of each in the file once decompressed."""
    for j in range(group.num_columns):
        column = group.column(j)
        yield column.path_in_schema.partition(".")[0], column.total_uncompressed_size


def _width(kind: Any) -> int:
    """Bytes of a number of this type; zero of what is no number."""
    try:
        return int(kind.bit_width) // 8
    except ValueError:
        return 0


class Arrow(ColumnFile):
    """An Arrow file (feather is one), or a stream of record batches."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as (schema, _):
            self.schema = schema

    def held(self, columns: Sequence[str], sparing: bool) -> int:
        """A record batch, as large as it was written: nothing less can be read."""
        with self._open() as (_, batches):
            first = next(batches, None)
            return 0 if first is None else 2 * first.nbytes

    @contextmanager
    def _open(self) -> Iterator[tuple[Any, Iterator[Any]]]:
        pa, ipc = require("pyarrow", extra="cli"), require("pyarrow.ipc", extra="cli")
        with pa.OSFile(str(self.path)) as file:
            if file.read(6) == b"ARROW1":
                reader = ipc.open_file(file)
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                file.seek(0)
                reader = ipc.open_stream(file)
                batches = iter(reader)
            yield reader.schema, batches

    def batches(self, columns: Sequence[str], rows: int, skip: int, sparing: bool) -> Batches:
        with self._open() as (_, batches):
            return (yield from self._from_row((b.select(list(columns)) for b in batches), skip))


class Text(ColumnFile):
    """CSV or TSV: the first megabytes give the columns, and features are real numbers."""

    def __init__(self, path: Path) -> None:
        self.path, self._file = path, TextFile(path)
        self.notes = self._file.notes
        self.schema = self._schema_of(next(self._file.batches(), None))

    def _schema_of(self, batch: Any) -> Any:
        pa, comma = require("pyarrow", extra="cli"), self._file.decimal_comma
        if batch is None:
            return pa.schema([(name, pa.null()) for name in self._file.names])
        kinds = [narrowed(column, comma).type for column in batch.columns]
        return pa.schema(list(zip(batch.schema.names, kinds, strict=True)))

    @staticmethod
    def agree(
        files: Sequence[Text], features: Sequence[str], labels: Sequence[str], encoded: bool
    ) -> None:
        """Give a column the same type in all files, as if they were one.

        A feature is real, whatever it looks like at first, or text for an encoder; a label without
        a cell in the first megabytes is what its first cells are.
        """
        pa = require("pyarrow", extra="cli")
        for file in files:
            for name in set(features).intersection(file.schema.names):
                kind = file.schema.field(name).type
                if encoded:
                    file._take(name, pa.string())
                elif pa.types.is_integer(kind) or pa.types.is_null(kind):
                    file._take(name, pa.float64())
        for name in labels:
            there = [file for file in files if name in file.schema.names]
            kind = common_kind([file._kind_of_label(name) for file in there])
            for file in there:
                file._take(name, kind)

    def _take(self, name: str, kind: Any) -> None:
        place = self.schema.get_field_index(name)
        self.schema = self.schema.set(place, self.schema.field(place).with_type(kind))

    def _kind_of_label(self, name: str) -> Any:
        kind, pa = self.schema.field(name).type, require("pyarrow", extra="cli")
        if not pa.types.is_null(kind):
            return kind
        full = (b for b in self._file.batches([name]) if b.column(0).null_count < b.num_rows)
        first = next(full, None)
        return kind if first is None else self._schema_of(first).field(0).type

    def held(self, columns: Sequence[str], sparing: bool) -> int:
        """Blocks of text, read ahead, and what is made of them."""
        return 16 * text.BLOCK

    def batches(self, columns: Sequence[str], rows: int, skip: int, sparing: bool) -> Batches:
        schema = require("pyarrow", extra="cli").schema([self.schema.field(n) for n in columns])
        comma = self._file.decimal_comma

        def read() -> Iterator[Any]:
            for batch in self._file.batches(columns):
                named = zip(batch.columns, schema, strict=True)
                arrays = [typed(column, field.type, comma, field.name) for column, field in named]
                if comma:
                    arrays = [pointed(array) for array in arrays]
                yield type(batch).from_arrays(arrays, schema=schema)

        return (yield from self._from_row(read(), skip))


FORMATS: dict[str, Any] = {
    ".parquet": Parquet,
    ".arrow": Arrow,
    ".feather": Arrow,
    ".csv": Text,
    ".tsv": Text,
    ".txt": Text,
    ".dat": Text,
}
