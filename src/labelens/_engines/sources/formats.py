"""Files of columns: what each kind does to give record batches from any row on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..._base.optional import require
from ...tables.files import separator_of

# Bytes that are read ahead for each column: the defaults of pyarrow hold whole files instead.
READ_AHEAD = 1 << 16
# Of each column a page and a dictionary are held, each of at most this many bytes unless the writer
# was told otherwise.
PAGE = 1 << 20
# Bytes of text that are parsed at a time.
CSV_BLOCK = 1 << 22
# What an empty cell of text is called: as in pandas, where a column of strings has them too.
NULLS = [
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
]
# Row groups of at most so many bytes are decoded as a whole, which is faster than page by page; so
# many are held at a time: one in use, one read ahead, and what allocators keep.
GROUP, GROUPS = 80 << 20, 3


class Parquet:
    def __init__(self, path: Path) -> None:
        self.path, self._metadata = path, None
        with self._open() as file:
            self.schema, self._metadata = file.schema_arrow, file.metadata
        self.groups = [group.num_rows for group in self._groups_of_file()]
        self.n_rows: int | None = sum(self.groups)

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

    def batches(self, columns: Sequence[str], rows: int, skip: int, sparing: bool) -> Iterator[Any]:
        first = 0
        while first < len(self.groups) and skip >= self.groups[first]:
            skip -= self.groups[first]
            first += 1
        left = list(range(first, len(self.groups)))
        read = self._pages if sparing else self._groups
        yield from _from_row(read(list(columns), rows, left) if left else (), skip)

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


class Arrow:
    """An Arrow file (feather is one), or a stream of record batches."""

    n_rows: int | None = None

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

    def best_spared(self, columns: Sequence[str]) -> bool:
        return True

    def batches(self, columns: Sequence[str], rows: int, skip: int, sparing: bool) -> Iterator[Any]:
        with self._open() as (_, batches):
            yield from _from_row((b.select(list(columns)) for b in batches), skip)


class Text:
    """CSV or TSV; the first megabytes say what the columns are, and whole numbers may be real."""

    n_rows: int | None = None

    def __init__(self, path: Path) -> None:
        self.path = path
        pa = require("pyarrow", extra="cli")
        with pa.input_stream(str(path)) as file:
            head = file.read(1 << 16).decode("utf-8-sig", "replace").partition("\n")[0]
        if not head.strip():
            raise ValueError("it is empty: there is not even a line of column names")
        self._separator = separator_of(head, "\t" if ".tsv" in path.name.lower() else ",;\t|")
        with self._open(None) as reader:
            self.schema = reader.schema

    def real(self, names: Sequence[str]) -> None:
        """Take these columns for real numbers, whatever they look like at first."""
        pa = require("pyarrow", extra="cli")
        for name in names:
            place = self.schema.get_field_index(name)
            if place < 0:  # of a file that lacks it, which is refused next
                continue
            kind = self.schema.field(place).type
            if pa.types.is_integer(kind) or pa.types.is_null(kind):
                self.schema = self.schema.set(place, pa.field(name, pa.float64()))

    def look_further(self, names: Sequence[str]) -> None:
        """Give these columns the type of their first cells where the first megabytes have none."""
        pa, csv = (require(name, extra="cli") for name in ("pyarrow", "pyarrow.csv"))
        for name in names:
            place = self.schema.get_field_index(name)
            if place < 0 or not pa.types.is_null(self.schema.field(place).type):
                continue
            with self._open(pa.schema([(name, pa.string())]), [name]) as reader:
                found = next((b for b in reader if b.column(0).null_count < b.num_rows), None)
            if found is not None:
                text = pa.BufferOutputStream()
                csv.write_csv(found.filter(found.column(0).is_valid()), text)
                kind = csv.read_csv(pa.BufferReader(text.getvalue())).schema.field(0)
                self.schema = self.schema.set(place, kind)

    def held(self, columns: Sequence[str], sparing: bool) -> int:
        """Blocks of text, read ahead, and what is made of them."""
        return 16 * CSV_BLOCK

    def _open(self, schema: Any, columns: Sequence[str] | None = None) -> Any:
        csv = require("pyarrow.csv", extra="cli")
        return csv.open_csv(
            str(self.path),
            read_options=csv.ReadOptions(block_size=CSV_BLOCK),
            parse_options=csv.ParseOptions(delimiter=self._separator),
            convert_options=csv.ConvertOptions(
                column_types=schema,
                include_columns=columns,
                null_values=NULLS,
                strings_can_be_null=True,
            ),
        )

    def best_spared(self, columns: Sequence[str]) -> bool:
        return True

    def batches(self, columns: Sequence[str], rows: int, skip: int, sparing: bool) -> Iterator[Any]:
        with self._open(self.schema, list(columns)) as reader:
            yield from _from_row(reader, skip)


def _from_row(batches: Any, skip: int) -> Iterator[Any]:
    for batch in batches:
        if skip < batch.num_rows:
            yield batch.slice(skip) if skip else batch
        skip = max(0, skip - batch.num_rows)


FORMATS: dict[str, Any] = {
    ".parquet": Parquet,
    ".arrow": Arrow,
    ".feather": Arrow,
    ".csv": Text,
    ".tsv": Text,
}
