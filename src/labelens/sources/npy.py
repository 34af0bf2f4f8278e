"""Arrays in .npy files, read into one buffer that is used again."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._threads import one_ahead
from .base import Chunk, Source, dense_head


class NpyFiles(Source):
    """One or several files of rows; the labels are an array, or files of as many rows in all."""

    def __init__(self, paths: list[Path], label: Any) -> None:
        self.paths, self.called = paths, name_of(paths)
        self._files = [_Header(path) for path in paths]
        first = self._files[0]
        for file in self._files:
            if file.width != first.width or file.dtype != first.dtype:
                raise ValueError(
                    f"{file.path} has {file.width} columns of {file.dtype}, and {first.path} "
                    f"{first.width} of {first.dtype}."
                )
        if first.dtype.kind not in "fiub":
            raise ValueError(f"{first.path} holds {first.dtype}; labelens takes real numbers.")
        self.head = dense_head(first.width, first.dtype)
        self.n_rows = sum(file.length for file in self._files)
        self.n_bytes = self.n_rows * self.row_bytes
        self._label_path = Path(label) if isinstance(label, (str, Path)) else None
        y = label
        if self._label_path is not None:
            if not self._label_path.exists():
                raise FileNotFoundError(
                    f"There is no file {label}; the labels of an .npy file are another .npy file."
                )
            y = np.load(self._label_path, allow_pickle=False)
        self.y = None if y is None else np.asarray(y)
        self.labelled = y is not None
        if self.y is not None and len(self.y) != self.n_rows:
            raise ValueError(
                f"There are {self.n_rows} rows in {self.called} and {len(self.y)} labels."
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
            yield Chunk(X, None if self.y is None else self.y[first:last])

    def _read(self, buffer: NDArray[Any], first: int, last: int) -> None:
        begins = 0
        for file in self._files:
            a, b = max(first, begins), min(last, begins + file.length)
            if a < b:
                file.read(buffer[a - first : b - first], a - begins)
            begins += file.length

    def identity(self) -> dict[str, Any] | None:
        if self.y is not None and self._label_path is None:
            return None
        return stamps([*self.paths, *([self._label_path] if self._label_path else [])])


class _Header:
    """Where the numbers of a .npy file begin, and what they are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            there = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(f"{path} cannot be read: {error}") from None
        if there.ndim != 2:
            raise ValueError(f"{path} has shape {there.shape}; rows and columns are wanted.")
        self.length, self.width = there.shape
        self.dtype, self.offset = there.dtype, int(getattr(there, "offset", 0))
        self.fortran = there.flags.f_contiguous and not there.flags.c_contiguous

    def read(self, out: NDArray[Any], row: int) -> None:
        with open(self.path, "rb", buffering=0) as file:
            if not self.fortran:
                self._into(file, out, row * self.width)
                return
            for j in range(self.width):
                apart = out.strides[0] != out.dtype.itemsize
                column = np.empty(len(out), out.dtype) if apart else out[:, j]
                self._into(file, column, j * self.length + row)
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
