"""Random Fourier features whose frequencies are made of Walsh-Hadamard transforms, in O(p log d).

A group of D frequencies, D = d rounded up to a power of two, is S H G_t ... H G_1: rows, padded
with zeros, are multiplied by a diagonal (and perhaps permuted) and transformed by H, some times
over, and then by the lengths that the frequencies shall have. Each group has its own diagonals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _jit
from .._scratch import Empty
from .base import waves, working_dtype


def padded_size(d: int) -> int:
    return 1 << max(0, d - 1).bit_length()


def n_groups(d: int, n_features: int) -> int:
    """Frequencies come in groups of the padded size; one serves two features."""
    return -(-((n_features + 1) // 2) // padded_size(d))


@dataclass(frozen=True)
class Structured:
    n_features: int
    d: int
    diagonals: NDArray[np.float64]  # (groups, stages, D)
    permutations: NDArray[np.int64]  # the same shape, or (groups, 0, D): none
    lengths: NDArray[np.float64]  # (groups, D)
    phase: float

    def __call__(self, rows: Any, empty: Empty = np.empty) -> NDArray[Any]:
        return waves(self.angles(rows, empty), self.n_features, self.phase, empty)

    def angles(self, rows: Any, empty: Empty = np.empty) -> NDArray[Any]:
        """(n, d) -> (n, ceil(p/2))."""
        dtype = working_dtype(rows)
        rows = rows.astype(dtype, copy=False)
        if sparse.issparse(rows):
            return rows @ self._frequencies.astype(dtype)
        return self._transformed(rows, empty)

    def _transformed(self, rows: NDArray[Any], empty: Empty = np.empty) -> NDArray[Any]:
        wanted, size = (self.n_features + 1) // 2, self.lengths.shape[1]
        angles = empty((len(rows), wanted), rows.dtype)
        for g in range(len(self.lengths)):
            first, last = g * size, min((g + 1) * size, wanted)
            _jit.hadamard_chain(
                rows,
                self.diagonals[g].astype(rows.dtype),
                self.permutations[g],
                self.lengths[g, : last - first].astype(rows.dtype),
                angles,
                first,
            )
        return angles

    @cached_property
    def _frequencies(self) -> NDArray[np.float64]:
        """(d, ceil(p/2)), written out: for sparse rows, which the transform would fill."""
        return self._transformed(np.eye(self.d))

    def same_as(self, other: Any) -> bool:
        return (
            isinstance(other, Structured)
            and (self.n_features, self.d) == (other.n_features, other.d)
            and self.diagonals.shape == other.diagonals.shape
            and np.array_equal(self.diagonals, other.diagonals)
            and np.allclose(self.lengths, other.lengths, rtol=1e-9, atol=0)
        )
