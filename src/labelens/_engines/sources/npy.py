"""Arrays in .npy files, read into one buffer that is used again."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..._base.threads import one_ahead
from ..._core.labels import Labels, as_labels
from ...tables.files import BROKEN, load_array
from .base import Chunk, Source


class NpyFiles(Source):
    """One or several files of rows; the labels are an array, or a file of as many rows."""

    def __init__(self, paths: list[Path], label: Any) -> None:
        self.paths, self.title = paths, name_of(paths)
        self._files = [_File(path) for path in paths]
        first = self._files[0]
        for file in self._files:
            if len(file.shape) != 2:
                raise ValueError(
                    f"{file.path} has shape {file.shape}; rows and columns are wanted."
                )
            if file.shape[1] != first.shape[1] or file.dtype != first.dtype:
                raise ValueError(
                    f"{file.path} has {file.shape[1]} columns of {file.dtype}, and {first.path} "
                    f"{first.shape[1]} of {first.dtype}."
                )
        if first.dtype.kind not in "fiub":
            raise ValueError(f"{first.path} holds {first.dtype}; labelens takes real numbers.")
        self.head = np.empty((0, first.shape[1]), first.dtype)
        self.n_rows = sum(file.shape[0] for file in self._files)
        self.n_bytes = self.n_rows * self.row_bytes
        self._labels = _labels(label)
        self.labelled = self._labels is not None
        if self._labels is not None and self._labels.shape[0] != self.n_rows:
            raise ValueError(
                f"There are {self.n_rows} rows in {self.title} and {self._labels.shape[0]} labels."
            )

    def chunks(self, rows: int, start: int = 0, features: bool = True) -> Iterator[Chunk]:
        return one_ahead(self._chunks(rows, start, features))

    def _chunks(self, rows: int, start: int, features: bool) -> Generator[Chunk, None, None]:
        assert self.n_rows is not None
        size = min(rows, max(self.n_rows - start, 0))
        order: Any = "F" if all(file.fortran for file in self._files) else "C"
        # One is in use while the other is read into.
        buffers = [np.empty((size, self.head.shape[1]), self.head.dtype, order) for _ in range(2)]
        for number, first in enumerate(range(start, self.n_rows, rows)):
            last = min(first + rows, self.n_rows)
            X = None
            if features:
                X = buffers[number % 2][: last - first]
                self._read(X, first, last)
            yield Chunk(X, self._labels_of(first, last))

    def _read(self, buffer: NDArray[Any], first: int, last: int) -> None:
        begins = 0
        for file in self._files:
            a, b = max(first, begins), min(last, begins + file.shape[0])
            if a < b:
                file.read(buffer[a - first : b - first], a - begins)
            begins += file.shape[0]

    def _labels_of(self, first: int, last: int) -> Any:
        if not isinstance(self._labels, _File):
            return None if self._labels is None else self._labels[first:last]
        labels = np.empty((last - first, *self._labels.shape[1:]), self._labels.dtype)
        self._labels.read(labels, first)
        return labels

    def identity(self) -> dict[str, Any] | None:
        if isinstance(self._labels, Labels):
            return None
        return stamps([*self.paths, *([] if self._labels is None else [self._labels.path])])


def _labels(label: Any) -> Any:
    """None, an array, or a file that holds one."""
    if label is None or not isinstance(label, (str, Path)):
        return None if label is None else as_labels(label)
    if not Path(label).exists():
        raise FileNotFoundError(
            f"There is no file {label}; the labels of an .npy file are another .npy file."
        )
    return _File(Path(label))


class _File:
    """Dtype and shape of a .npy file, and the offset of its numbers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            there = load_array(path, mmap_mode="r")
        except BROKEN as error:
            raise ValueError(f"{path} cannot be read: {error}") from None
        self.shape, self.dtype = there.shape, there.dtype
        self.offset = int(getattr(there, "offset", 0))
        self.fortran = there.flags.f_contiguous and not there.flags.c_contiguous

    def read(self, out: NDArray[Any], row: int) -> None:
        """Rows `row` and after, as many as `out` has."""
        with open(self.path, "rb", buffering=0) as file:
            if not self.fortran:
                self._into(file, out, row * prod(self.shape[1:]))
                return
            for j in range(self.shape[1]):
                apart = out.strides[0] != out.dtype.itemsize
                column = np.empty(len(out), out.dtype) if apart else out[:, j]
                self._into(file, column, j * self.shape[0] + row)
                if apart:
                    out[:, j] = column

    def _into(self, file: BinaryIO, out: NDArray[Any], item: int) -> None:
        file.seek(self.offset + item * self.dtype.itemsize)
        left = out.reshape(-1).view(np.uint8).data
        while left:
            count = file.readinto(left)  # type: ignore[attr-defined]
            if not count:
                raise ValueError(f"{self.path} has become shorter while it was read.")
            left = left[count:]


def name_of(paths: list[Path]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more files"


def stamps(paths: list[Path]) -> dict[str, Any]:
    """Sizes and times of files: a file that has been changed has another."""
    found = {str(path): path.stat() for path in paths}
    return {name: [stat.st_size, stat.st_mtime_ns] for name, stat in found.items()}
