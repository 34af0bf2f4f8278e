"""Record batches as rows: which columns are features and labels, and how they come side by side.

A batch has the labels first, then the features, each in the order of `Columns`. How batches are cut
does not show in the chunks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..._base.optional import require
from ..._base.threads import cached_property
from ..._core.labels import Labels, as_labels
from ...tables import TableEncoder
from .base import Chunk
from .vectors import dense_rows, sparse_rows


@dataclass(frozen=True)
class Feature:
    """A column of numbers, or of lists of as many numbers each, or of Spark's vectors."""

    name: str
    dtype: np.dtype[Any]
    width: int | None  # None: one number a row, not a list
    vector: bool = False

    @property
    def columns(self) -> int:
        return 1 if self.width is None else self.width

    @property
    def names(self) -> list[str]:
        if self.width is None:
            return [self.name]
        return [f"{self.name}[{i}]" for i in range(self.width)]


@dataclass(frozen=True)
class ColumnLayout:
    labels: tuple[str, ...]
    features: tuple[Feature, ...]
    sparse: bool = False  # whether rows stay sparse: of one column of vectors

    @cached_property
    def names(self) -> list[str]:
        return [name for feature in self.features for name in feature.names]

    @cached_property
    def head(self) -> Any:
        """(0, d): no rows, in the dtype and the kind of all."""
        dtype = np.result_type(*(feature.dtype for feature in self.features))
        dtype = np.dtype(np.float32) if dtype == np.float16 else dtype
        shape = 0, sum(feature.columns for feature in self.features)
        return sparse.csr_matrix(shape, dtype=dtype) if self.sparse else np.empty(shape, dtype)

    def wanted(self, features: bool = True) -> list[str]:
        """The columns that a batch has to have, in order."""
        return [*self.labels, *(feature.name for feature in self.features if features)]

    def chunks(
        self, batches: Iterable[tuple[Any, Any]], rows: int, features: bool = True
    ) -> Generator[Chunk, None, None]:
        """Chunks of `rows` rows, of batches that come with the name of where each is from.

        A chunk stays as it is until the one after the next is asked for.
        """
        buffer, other = (
            self._buffer(rows) if features and not self.sparse else None for _ in range(2)
        )
        pieces: list[Any] = []
        labels: list[Any] = []
        filled = 0

        def chunk() -> Chunk:
            X = None if buffer is None else buffer[:filled]
            return Chunk(sparse.vstack(pieces, "csr") if pieces else X, self._label_array(labels))

        for batch, place in batches:
            numbers: Any = self._numbers(batch, place) if features else ()
            at = 0
            while at < batch.num_rows:
                here = slice(at, min(at + rows - filled, batch.num_rows))
                at, begins, filled = here.stop, filled, filled + here.stop - here.start
                if buffer is not None:
                    _put(numbers, here, buffer[begins:filled])
                elif features:
                    pieces.append(numbers[here])
                piece = batch.slice(here.start, here.stop - here.start)
                labels.append([_label_column(piece, j) for j in range(len(self.labels))])
                if filled == rows:
                    yield chunk()
                    pieces, labels, filled = [], [], 0
                    buffer, other = other, buffer
        if filled:
            yield chunk()

    def matrix(self, batch: Any, place: Any) -> Any:
        """The features of one batch, (n, d)."""
        numbers = self._numbers(batch, place)
        if self.sparse:
            return numbers
        out = self._buffer(batch.num_rows)
        _put(numbers, slice(None), out)
        return out

    def _buffer(self, rows: int) -> NDArray[Any]:
        """Columns in one piece each, as they come; rows, if there are lists of numbers.

        Columns lie a line further apart than a multiple of 4096 bytes, where all would fall into
        the same lines of a cache, and some rows of all would take far longer to read.
        """
        width, dtype = self.head.shape[1], self.head.dtype
        if any(feature.width is not None for feature in self.features):
            return np.empty((rows, width), dtype)
        return np.empty((rows + 64 // dtype.itemsize, width), dtype, order="F")[:rows]

    def _numbers(self, batch: Any, place: Any) -> Any:
        """Where each feature goes, and its numbers, (n,) or (n, w); or a sparse matrix of all."""
        found: list[tuple[Any, NDArray[Any]]] = []
        at = 0
        for j, feature in enumerate(self.features, len(self.labels)):
            if self.sparse:
                column = _filled(batch.column(j), feature, place)
                return sparse_rows(column, feature.columns, f"column {feature.name!r} of {place}")
            numbers = _numbers(batch.column(j), feature, place)
            if feature.width is None:
                found.append((at, numbers))
            else:
                columns = slice(at, at + feature.width)
                found.append((columns, numbers.reshape(batch.num_rows, feature.width)))
            at += feature.columns
        return found

    def identity(self) -> list[Any]:
        """A fingerprint of these features."""
        return [[f.name, str(f.dtype), f.width] for f in self.features]

    def _label_array(self, pieces: list[list[Any]]) -> Labels | None:
        chunked = require("pyarrow", extra="cli").chunked_array
        columns = [as_labels(chunked(column)) for column in zip(*pieces, strict=True)]
        return Labels.side_by_side(columns) if columns else None


@dataclass(frozen=True)
class EncodedLayout(ColumnLayout):
    """Columns of any type, which an encoder turns into numbers."""

    encoder: TableEncoder | None = None

    @classmethod
    def of(cls, labels: Iterable[str], encoder: TableEncoder) -> EncodedLayout:
        if encoder.impute == "drop":
            raise ValueError(
                "Rows with gaps cannot be left out where rows are read in chunks: use "
                "impute='mean' or 'median'."
            )
        alone = TableEncoder.of(encoder.columns_, encoder.impute, encoder.na)  # without statistics
        columns = tuple(Feature(c.name, np.dtype(np.float64), None) for c in encoder.columns_)
        return cls(tuple(labels), columns, encoder=alone)

    @cached_property
    def names(self) -> list[str]:
        assert self.encoder is not None
        return self.encoder.get_feature_names_out().tolist()

    @cached_property
    def head(self) -> Any:
        return np.empty((0, len(self.names)))

    def identity(self) -> list[Any]:
        assert self.encoder is not None
        return [repr(column) for column in self.encoder.columns_]

    def _numbers(self, batch: Any, place: Any) -> Any:
        assert self.encoder is not None
        cells = batch.select(range(len(self.labels), batch.num_columns))
        # Spark calls them otherwise.
        frame = cells.rename_columns([feature.name for feature in self.features]).to_pandas()
        return [(slice(0, len(self.names)), self.encoder.transform(frame))]


def _numbers(column: Any, feature: Feature, place: Any) -> NDArray[Any]:
    column = _filled(column, feature, place)
    if feature.vector:
        return dense_rows(column, feature.columns, f"column {feature.name!r} of {place}")
    if feature.width is not None:
        values = column.flatten()
        lengths = column.value_lengths() if hasattr(column, "value_lengths") else None
        if len(values) != feature.width * len(column) or (
            lengths is not None and lengths.unique().to_pylist() not in ([], [feature.width])
        ):
            raise ValueError(
                f"The lists in column {feature.name!r} of {place} are not all {feature.width} long."
            )
        return _numbers(values, Feature(feature.name, feature.dtype, None), place)
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    return column.to_numpy(zero_copy_only=False)


def _filled(column: Any, feature: Feature, place: Any) -> Any:
    if column.null_count:
        raise ValueError(
            f"The column {feature.name!r} of {place} has empty cells (nulls); fill them first, "
            "or leave such rows out."
        )
    return column


def _label_column(batch: Any, j: int) -> Any:
    """A column, ordered where polars marks an Enum in the metadata alone (older versions do)."""
    column, marks = batch.column(j), batch.schema.field(j).metadata or {}
    enum = b"ENUM" in marks.values() or any(key.startswith(b"_PL_ENUM_VALUES") for key in marks)
    if not enum or getattr(column.type, "ordered", True):
        return column
    return type(column).from_arrays(column.indices, column.dictionary, ordered=True)


def _put(numbers: list[tuple[Any, NDArray[Any]]], which: slice, out: NDArray[Any]) -> None:
    for place, values in numbers:
        out[:, place] = values[which]
