"""Rows in memory: arrays, sparse matrices, frames of pandas and polars, .npz files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..._base import devices
from ..._base.validation import as_frame, some
from ..._core.labels import as_labels
from ...tables.files import BROKEN, load_arrays, name_of_rows
from .base import Chunk, Source, some_rows


class InMemory(Source):
    def __init__(self, X: Any, label: Any, title: str = "the array") -> None:
        self.title = title
        X = X.tocsr() if sparse.issparse(X) else as_frame(devices.host(X))
        self.X, self.y = _parted(X, label)
        if getattr(self.X, "ndim", 2) != 2:
            raise ValueError(f"X must have two dimensions, got shape {self.X.shape}.")
        n, d = self.X.shape
        if self.y is not None:
            self.y = as_labels(self.y)
        if self.y is not None and self.y.shape[0] != n:
            raise ValueError(f"There are {n} rows and {self.y.shape[0]} labels.")
        frame = hasattr(self.X, "columns")
        self.head = np.empty((0, d)) if frame else self.X[:0]
        self.n_rows, self.labelled = n, self.y is not None
        self.n_bytes = n * self.row_bytes

    def chunks(self, rows: int, start: int = 0, features: bool = True) -> Iterator[Chunk]:
        assert self.n_rows is not None
        for first in range(start, self.n_rows, rows):
            here = slice(first, min(first + rows, self.n_rows))
            yield Chunk(some_rows(self.X, here) if features else None, some_rows(self.y, here))


def open_npz(path: Path, label: Any) -> InMemory:
    """X, or the only array of two dimensions; the label is the name of another."""
    named = isinstance(label, str)
    try:
        arrays = load_arrays(path)
        rows = arrays[name_of_rows(arrays, label if named else None)]
    except BROKEN as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if named and label not in arrays:
        raise ValueError(f"There is no array {label!r} in {path}; there are {', '.join(arrays)}.")
    return InMemory(rows, arrays[label] if named else label, str(path))


def _parted(X: Any, label: Any) -> tuple[Any, Any]:
    """Rows and labels, where the label may be a column of a frame, or several."""
    if not isinstance(label, (str, list)):
        return X, label
    there = list(getattr(X, "columns", ()))
    names = [label] if isinstance(label, str) else label
    if names and all(isinstance(name, str) and name in there for name in names):
        return X[[name for name in there if name not in names]], X[label]
    if isinstance(label, str):
        raise ValueError(
            f"The frame has no column {label!r}; it has {some(there)}."
            if there
            else f"label={label!r} names a column, and those of an array have no names; pass the "
            "labels themselves."
        )
    return X, label
