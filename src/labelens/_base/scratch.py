"""Arrays that are used over and over.

The features of a block are a few megabytes. Where an allocator gives such arrays back to the system
as soon as they are freed, as in the workers of Dask, the system clears every page of the next ones
anew, and that takes as long as to fill them with cosines.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

Empty = Callable[[tuple[int, ...], Any], NDArray[Any]]  # of a shape and a dtype, as numpy.empty


class Scratch(local):
    """Memory of every thread, for one block after the other.

    >>> scratch = Scratch()
    >>> first = scratch.empty((2, 3), np.float32)
    >>> scratch.start_over()
    >>> np.shares_memory(first, scratch.empty((1, 3), np.float32))
    True
    """

    def __init__(self) -> None:  # called in every thread
        self._buffers: list[NDArray[np.uint8]] = []
        self._given = 0

    def start_over(self) -> None:
        """Let what was given be written over."""
        self._given = 0

    def empty(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """An array that is not given out again until `start_over`."""
        size = prod(shape) * np.dtype(dtype).itemsize
        if self._given == len(self._buffers):
            self._buffers.append(np.empty(size, np.uint8))
        elif self._buffers[self._given].size < size:
            self._buffers[self._given] = np.empty(size, np.uint8)
        buffer = self._buffers[self._given]
        self._given += 1
        return buffer[:size].view(dtype).reshape(shape)
