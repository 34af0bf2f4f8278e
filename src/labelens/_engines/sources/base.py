"""The base class of sources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..._base import devices
from ..._base.optional import require
from ..._core.labels import Labels, as_labels
from ..._core.moments import BLOCK_ROWS


@dataclass(frozen=True)
class Chunk:
    """Some rows; X may be overwritten when the next chunk is asked for."""

    X: Any  # (n, d); None where only labels were asked for
    y: Any  # Labels, or integers that are on a device as X is; None: no labels
    weight: Any = None  # (n,)
    nuisance: Any = None  # Labels

    def __post_init__(self) -> None:
        for name in ("y", "nuisance"):
            if (value := getattr(self, name)) is not None and not devices.on_device(value):
                object.__setattr__(self, name, as_labels(value))

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self.X, self.y, self.weight, self.nuisance

    @property
    def n_rows(self) -> int:
        there = next(part for part in self._parts if part is not None)
        return int(there.shape[0])

    def take(self, which: Any) -> Chunk:
        """Some of the rows, by a slice or by their numbers."""
        return Chunk(*(some_rows(part, which) for part in self._parts))

    @classmethod
    def joined(cls, chunks: Sequence[Chunk]) -> Chunk:
        """The rows of all, one after the other."""
        parts = zip(*(chunk._parts for chunk in chunks), strict=True)
        return cls(*(join_rows(part) for part in parts))


class Source(ABC):
    """Rows that can be read in chunks."""

    title: str  # in messages
    head: Any  # (0, d): no rows, in the dtype and the kind (dense, sparse) of all
    names: list[str] | None = None  # of the columns, where X of a chunk does not know them
    n_rows: int | None = None  # None: not known before the end
    n_bytes: int = 0  # to read, as far as known
    copies: int = 2  # of a chunk that are held while it is read
    reader_bytes: int = 0  # that the reader needs in addition
    labelled: bool
    once: bool = False  # whether it can be read only once
    notes: Sequence[str] = ()  # what was guessed about files

    @property
    def row_bytes(self) -> int:
        return max(1, self.head.shape[1] * self.head.dtype.itemsize)

    @abstractmethod
    def chunks(self, rows: int, start: int = 0, features: bool = True) -> Iterator[Chunk]:
        """Chunks of `rows` rows from row `start` on; without features, labels alone are read."""

    def spare_memory(self) -> bool:
        """Hold less while reading from now on, at some cost; whether that makes a difference."""
        return False

    def cuts(self) -> Iterable[int]:
        """Rows, multiples of BLOCK_ROWS, at which one can begin without reading those before."""
        assert self.n_rows is not None
        return range(BLOCK_ROWS, self.n_rows, BLOCK_ROWS)

    def files(self) -> list[Source]:
        """Each file as a source of its own."""
        return [self]

    def identity(self) -> dict[str, Any] | None:
        """A fingerprint of this source, which changes with its data; None if there is none."""
        return None


def some_rows(values: Any, which: Any) -> Any:
    """Rows of an array, a frame or a series, by a slice or by their numbers."""
    if values is None:
        return None
    return values.iloc[which] if hasattr(values, "iloc") else values[which]


def join_rows(parts: Sequence[Any]) -> Any:
    """Rows, labels or weights, one after the other."""
    if parts[0] is None or len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], Labels):
        return Labels.joined(parts)
    if hasattr(parts[0], "iloc"):
        return require("pandas", extra="cli").concat(parts, ignore_index=True)
    return sparse.vstack(parts, "csr") if sparse.issparse(parts[0]) else np.concatenate(parts)
