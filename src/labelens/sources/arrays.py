"""Rows in memory: arrays, sparse matrices, frames of pandas and polars, .npz files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .. import _array
from ..tables.files import BROKEN, load_arrays
from .base import Chunk, Source, some_rows


class InMemory(Source):
    def __init__(self, X: Any, label: Any, called: str = "the array") -> None:
        self.called = called
        X, label = _array.host(X), _array.host(label)
        X = X.tocsr() if sparse.issparse(X) else X
        self.X, self.y = _without_columns(X, label) if _names_columns(X, label) else (X, label)
        if getattr(self.X, "ndim", 2) != 2:
            raise ValueError(f"X must have two dimensions, got shape {self.X.shape}.")
        n, d = self.X.shape
        if self.y is not None and not hasattr(self.y, "shape"):
            self.y = np.asarray(self.y)
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
    try:
        arrays = load_arrays(path)
    except BROKEN as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    wide = ["X"] if "X" in arrays else [n for n, a in arrays.items() if a.ndim == 2 and n != label]
    if len(wide) != 1:
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"Which array of {path} holds the rows? Call it X; there are {found}.")
    if isinstance(label, str) and label not in arrays:
        raise ValueError(f"There is no array {label!r} in {path}; there are {', '.join(arrays)}.")
    y = arrays[label] if isinstance(label, str) else label
    return InMemory(arrays[wide[0]], y, str(path))


def _names_columns(X: Any, label: Any) -> bool:
    names = [label] if isinstance(label, str) else label
    some = isinstance(names, list) and bool(names) and all(isinstance(n, str) for n in names)
    return some and hasattr(X, "columns") and all(name in X.columns for name in names)


def _without_columns(X: Any, label: Any) -> tuple[Any, Any]:
    labels = [label] if isinstance(label, str) else label
    kept = [name for name in X.columns if name not in labels]
    return X[kept], X[label]
