"""Which source a user means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from ...tables import TableEncoder
from .arrays import InMemory, open_npz
from .base import Source
from .batches import Batches, encoded
from .columns import ColumnFiles, in_words
from .formats import FORMATS
from .npy import NpyFiles

KINDS = (*FORMATS, ".npy", ".npz")


def open_source(
    source: Any,
    label: Any = None,
    features: Sequence[str] | None = None,
    encoder: TableEncoder | None = None,
) -> Source:
    """An array, a frame, a path, a glob, a list of paths or an iterable of (X, y), opened.

    Files are looked at, all of them, and no row is read yet; but an encoder that is not fitted is
    fitted on all rows.
    """
    if isinstance(source, Source):
        return source
    paths = _paths(source)
    if paths is not None:
        return _open_files(paths, label, features, encoder)
    if features is not None:
        raise ValueError("features names columns of files; choose those of a frame yourself.")
    if encoder is not None:
        source = encoded(source, encoder)
    if hasattr(source, "shape"):
        return InMemory(source, label)
    if label is not None:
        raise ValueError("label names a column, and batches are pairs of rows and labels already.")
    if not hasattr(source, "__iter__"):
        raise TypeError(
            "A source is an array, a frame, paths of files or an iterable of (X, y) pairs, got "
            f"a {type(source).__name__}."
        )
    return Batches(source)


def absolute(source: Any) -> Any:
    """The same, where paths mean the same in every folder of this machine."""
    if isinstance(source, (str, os.PathLike)):
        return os.path.abspath(os.fspath(source))
    if isinstance(source, (list, tuple)):
        return [absolute(s) if isinstance(s, (str, os.PathLike)) else s for s in source]
    return source


def has_named_columns(source: Any) -> bool:
    """Whether these are files whose columns have names."""
    paths = _paths(source)
    return paths is not None and _kind(paths[0]) in FORMATS


def column_names(source: Any) -> list[str] | None:
    """The column names of the first file; None if columns have no names."""
    if not has_named_columns(source):
        return None
    first = (_paths(source) or [])[0]
    with in_words(first):
        return list(FORMATS[_kind(first)](first).schema.names)


def _paths(source: Any) -> list[Path] | None:
    """The files that are meant, in order; None where no files are."""
    if isinstance(source, (str, os.PathLike)):
        text = os.fspath(source)
        if Path(text).is_dir():
            raise IsADirectoryError(f"{text} is a folder; name its files, say {text}/*.parquet.")
        if has_magic(text) and not Path(text).exists():
            found = sorted(glob(text, recursive=True))
            if not found:
                raise FileNotFoundError(f"No file is called {text}.")
            return [Path(path) for path in found]
        if not Path(text).exists():
            raise FileNotFoundError(f"There is no file {text}.")
        return [Path(text)]
    if isinstance(source, (list, tuple)) and all(isinstance(s, (str, os.PathLike)) for s in source):
        if not source:
            raise ValueError("The list of files is empty. Name at least one file.")
        return [path for item in source for path in _paths(item) or ()]
    return None


def _open_files(
    paths: list[Path], label: Any, features: Sequence[str] | None, encoder: TableEncoder | None
) -> Source:
    kinds = {_kind(path): path for path in paths}
    if len(kinds) > 1:
        raise ValueError(f"The files are of several kinds, {' and '.join(sorted(kinds))}.")
    kind = next(iter(kinds))
    if kind in FORMATS:
        return ColumnFiles(paths, FORMATS[kind], label, features, encoder)
    if encoder is not None:
        raise ValueError(f"An encoder is for named columns, and those of a {kind} file have none.")
    if features is not None:
        raise ValueError(f"features names columns, and those of a {kind} file have no names.")
    if kind == ".npy":
        return NpyFiles(paths, label)
    if len(paths) > 1:
        raise ValueError("Several .npz files cannot be one source; save the rows as .npy files.")
    return open_npz(paths[0], label)


def _kind(path: Path) -> str:
    name = path.name.lower()
    if name.endswith((".gz", ".bz2", ".zst", ".zip")):
        name = name.rpartition(".")[0]
        if not name.endswith((".csv", ".tsv", ".txt", ".dat")):
            raise ValueError(f"{path} is compressed; of such files only CSV can be read in chunks.")
    kind = next((kind for kind in KINDS if name.endswith(kind)), None)
    if kind is None:
        raise ValueError(
            f"{path} is none of the kinds of file that can be read in chunks: {', '.join(KINDS)}."
        )
    return kind
