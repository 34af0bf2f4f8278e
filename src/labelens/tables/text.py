"""CSV and TSV: one reader for a file that is read at once, and for files that are read in chunks.

Cells are read as text, and a column has the narrowest type that all of its cells fit:

    null     every cell is empty, in one of the spellings of NULLS
    int64, uint64, double    numbers; with a decimal comma where the comma does not part cells
    bool     true and false, all letters small or large, or the first one
    date, timestamp          as ISO 8601 writes them
    string   the rest, and whole numbers that are too long for a type: they name something
"""

from __future__ import annotations

import csv
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from .._base.optional import require
from .._base.validation import some
from .cells import NUMBER

START = 1 << 16  # bytes from which the separator is guessed
LOOKED_AT = 1 << 24  # bytes from which the encoding is guessed
# Bytes of text that are parsed at a time.
BLOCK = 1 << 22
# Markers of empty cells, also in columns of text.
NULLS = [
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
]
BOOLS = ["true", "True", "TRUE", "false", "False", "FALSE"]
NOT_UTF8 = (
    "its first 16 MB are UTF-8, later bytes are not; save it as UTF-8 text (a spreadsheet calls it "
    "CSV UTF-8)."
)
NO_TEXT = "it is text in neither UTF-8 nor cp1252; save it as UTF-8 text."
NOT_GZIPPED = "its name ends in .gz, but it is not gzipped; rename it."


class TextFile:
    """The cells of a file, by column."""

    def __init__(self, path: Path) -> None:
        self.path, self._wrong = path, None
        with self._in_words():
            with self._unpacked() as file:
                start = file.read(START)
                self.encoding = _encoding(start, file)
            lines = start.decode(self.encoding, "replace").lstrip("\r\n\ufeff").split("\n")
            self._comments = bool(lines) and lines[0].startswith("#")
            # A commented line of names, as NumPy and R write it, is a line of names.
            rows = [line for line in lines[:1000] if not line.startswith("#")]
            head = rows[0] if rows else ""
            if not head.strip():
                raise ValueError("it is empty. The first line must have the column names.")
            bare = re.sub(r"\.(gz|bz2|zst|zip)$", "", path.name.lower())
            self.separator = _separator(head, "\t" if bare.endswith(".tsv") else ",;\t|")
            self._spaced = False
            if bare.endswith((".txt", ".dat")) and self.separator not in head:
                self.separator, self._spaced = "\t", len(head.split()) > 1
            cells = self._cells(head)
            self.headless = _is_data(cells)
            # R names rows without a name for the column of names.
            wider = len(rows) > 1 and len(self._cells(rows[1])) == len(cells) + 1
            self._unnamed = wider and not self.headless
            self._names = ["", *cells] if self._unnamed else None
            if self.headless:
                self._names = [f"x{i}" for i in range(len(cells))]
            with self._open(self._source()) as reader:
                self._written = reader.schema.names
        # As pandas calls them: the first one is often an index.
        self.names = [name or f"Unnamed: {i}" for i, name in enumerate(self._written)]

    def _cells(self, line: str) -> list[str]:
        cells = line.rstrip("\r")
        if self._spaced:
            return cells.split()
        try:
            return next(csv.reader([cells], delimiter=self.separator))
        except csv.Error as error:
            raise ValueError(f"its first lines cannot be read as a table: {error}.") from error

    def _unpacked(self) -> Any:
        """The bytes of the file."""
        if self.path.name.lower().endswith(".zip"):
            return only_member(self.path)
        return require("pyarrow", extra="cli").input_stream(str(self.path))

    def _source(self, stream: Any = None) -> Any:
        """The input of pyarrow: a path if possible, or decoded bytes."""
        if self._comments or self._spaced:
            return _Plain(stream or self._unpacked(), self._spaced)
        zipped = self.path.name.lower().endswith(".zip")
        return stream or (self._unpacked() if zipped else str(self.path))

    @property
    def notes(self) -> list[str]:
        """Notes on the guessed format of the file."""
        notes = []
        if self.encoding not in ("utf-8-sig", "utf-8"):
            notes.append(f"{self.path.name} is not UTF-8 and was read as {self.encoding}.")
        if self.headless:
            notes.append(
                f"{self.path.name} has no line of column names: they are {some(self.names)}."
            )
        return notes

    @property
    def decimal_comma(self) -> bool:
        """Whether numbers may have one: where the comma is free, many countries write it."""
        return self.separator != ","

    def batches(self, columns: Sequence[str] | None = None, stream: Any = None) -> Iterator[Any]:
        """Record batches of all or some columns, all text; `stream`: the file, where it is open."""
        text = dict.fromkeys(self._written, require("pyarrow", extra="cli").string())
        alone = len(text) == len(self._written) and "" not in text  # every name is a column's
        some = list(columns) if alone and columns is not None else None
        with self._in_words(), self._open(self._source(stream), text, some) as reader:
            for batch in reader:
                if some is None:
                    batch = batch.rename_columns(self.names)
                    batch = batch if columns is None else batch.select(list(columns))
                yield batch

    def _open(self, source: Any, types: Any = None, columns: Sequence[str] | None = None) -> Any:
        reading = require("pyarrow.csv", extra="cli")
        return reading.open_csv(
            source,
            # With one thread pyarrow reports the number of a faulty line, and is as fast.
            read_options=reading.ReadOptions(
                block_size=BLOCK,
                use_threads=False,
                column_names=self._names,
                skip_rows=int(self._unnamed),
                encoding="utf8" if self.encoding == "utf-8-sig" else self.encoding,
            ),
            parse_options=reading.ParseOptions(
                delimiter=self.separator,
                newlines_in_values=True,
                invalid_row_handler=self._note,
            ),
            convert_options=reading.ConvertOptions(
                column_types=types,
                include_columns=columns,
                null_values=NULLS,
                strings_can_be_null=True,
            ),
        )

    def _note(self, row: Any) -> str:
        self._wrong = row
        return "error"

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """The error of pyarrow, as a sentence."""
        invalid = require("pyarrow", extra="cli").ArrowInvalid
        try:
            yield
        except UnicodeDecodeError:
            raise ValueError(NO_TEXT) from None
        except (invalid, OSError) as error:
            if (row := self._wrong) is not None:
                raise ValueError(
                    f"line {row.number} has {row.actual_columns} values where "
                    f"{row.expected_columns} are expected."
                ) from None
            if "invalid UTF8" in str(error):
                raise ValueError(NOT_UTF8) from None
            if "incorrect header check" in str(error):
                raise ValueError(NOT_GZIPPED) from None
            raise


def only_member(file: Any) -> Any:
    """The one file in a zip archive."""
    archive = ZipFile(file)
    members = [m for m in archive.namelist() if not m.endswith("/") and "__MACOSX" not in m]
    if len(members) != 1:
        raise ValueError(f"it holds {len(members)} files; unpack it and name one of them.")
    return archive.open(members[0])


class _Plain(RawIOBase):
    """Lines without comments, and with a tab for each run of spaces."""

    def __init__(self, file: Any, spaced: bool) -> None:
        self._lines, self._spaced, self._left = _lines(file), spaced, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            line = next(self._lines, None)
            if line is None:
                return 0
            if not line.startswith(b"#"):
                self._left = b"\t".join(line.split()) + b"\n" if self._spaced else line
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def _lines(file: Any) -> Iterator[bytes]:
    left = b""
    while block := file.read(START):
        *lines, left = (left + block).split(b"\n")
        yield from (line + b"\n" for line in lines)
    yield left


def _encoding(block: bytes, file: Any) -> str:
    """Of the first bytes and the rest: UTF-16 by its mark, or UTF-8, or else Windows'."""
    if block.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    decoder, left = getincrementaldecoder("utf-8-sig")(), LOOKED_AT
    try:
        while block and left > 0:
            decoder.decode(block)
            left -= len(block)
            block = file.read(1 << 20)
        decoder.decode(b"", final=not block)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _is_data(cells: Sequence[str]) -> bool:
    """Whether the first line holds values, not names: a number with a fraction, or all numbers."""
    numbers = [NUMBER.fullmatch(cell.strip()) for cell in cells]
    if any(found and re.search(r"\d\.\d", found[0]) for found in numbers):
        return len(cells) > 1
    if not all(numbers) or len(cells) < 2:
        return False
    count = [float(cell) for cell in cells]
    return count not in ([*range(len(count))], [*range(1, len(count) + 1)])


def narrowed(column: Any, decimal_comma: bool) -> Any:
    """A column of text in the type that it has."""
    pa, compute = (require(name, extra="cli") for name in ("pyarrow", "pyarrow.compute"))
    if column.null_count == len(column):
        return pa.nulls(len(column))
    for cells in _spellings(column, decimal_comma):
        if (numbers := _cast(cells, pa.float64())) is None:
            continue
        for kind in (pa.int64(), pa.uint64()):
            if (whole := _cast(cells, kind)) is not None:
                return whole
        large = compute.max(compute.abs(numbers)).as_py() >= 2.0**63
        if large and compute.all(compute.match_substring_regex(cells, r"^[+-]?\d+$")).as_py():
            return column
        return numbers
    if compute.all(compute.is_in(column.drop_null(), pa.array(BOOLS))).as_py():
        return compute.cast(column, pa.bool_())
    moments = (_cast(column, kind) for kind in (pa.date32(), pa.timestamp("us")))
    return next((found for found in moments if found is not None), column)


def common_kind(kinds: Iterable[Any]) -> Any:
    """The type of columns that are one in several files, as if these were one file."""
    pa = require("pyarrow", extra="cli")
    found = {kind for kind in kinds if kind != pa.null()}
    if len(found) < 2:
        return found.pop() if found else pa.null()
    for numbers in ({pa.int64(), pa.uint64()}, {pa.int64(), pa.uint64(), pa.float64()}):
        if found <= numbers:
            return pa.uint64() if pa.float64() not in numbers else pa.float64()
    return pa.timestamp("us") if found == {pa.date32(), pa.timestamp("us")} else pa.string()


def typed(column: Any, kind: Any, decimal_comma: bool, name: str) -> Any:
    """A column of text as this type, which all of it has to fit."""
    pa = require("pyarrow", extra="cli")
    if pa.types.is_null(kind):
        return pa.nulls(len(column))

    def fitted(cells: Any) -> Any:
        tries = (_cast(spelled, kind) for spelled in _spellings(cells, decimal_comma))
        return next((found for found in tries if found is not None), None)

    if (found := fitted(column)) is None:
        strange = next(c for c in column.drop_null() if fitted(pa.array([c])) is None)
        raise ValueError(f"the column {name!r} is {kind} in the first rows, and later {strange}.")
    return found


def pointed(column: Any) -> Any:
    """Cells of text that are numbers with a decimal comma, with a point."""
    pa, compute = (require(name, extra="cli") for name in ("pyarrow", "pyarrow.compute"))
    if not pa.types.is_string(column.type):
        return column
    number = compute.match_substring_regex(column, r"^\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*$")
    return compute.if_else(number, compute.replace_substring(column, ",", "."), column)


def _spellings(column: Any, decimal_comma: bool) -> Iterator[Any]:
    """Cells as they are, then as other programs write numbers."""
    yield column
    compute = require("pyarrow.compute", extra="cli")
    column = compute.ascii_trim_whitespace(column)
    yield compute.replace_substring(column, ",", ".") if decimal_comma else column


def _cast(column: Any, kind: Any) -> Any:
    """The column as this type; None where some cell does not fit."""
    try:
        return require("pyarrow.compute", extra="cli").cast(column, kind)
    except require("pyarrow", extra="cli").ArrowInvalid:
        return None


def _separator(head: str, separators: str) -> str:
    """The one that parts the line of column names into most."""

    def columns(separator: str) -> int:
        return len(next(csv.reader([head.rstrip("\r")], delimiter=separator)))

    try:
        return max(separators, key=columns)
    except csv.Error as error:
        raise ValueError(f"its line of column names cannot be read ({error}).") from None
