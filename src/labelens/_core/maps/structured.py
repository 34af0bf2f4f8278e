"""Random Fourier features whose frequencies are made of Walsh-Hadamard transforms, in O(p log d).

A group of D frequencies, D = d rounded up to a power of two, is S H G_t ... H G_1: rows, padded
with zeros, are multiplied by a diagonal (and perhaps permuted) and transformed by H, some times
over, and then by the lengths that the frequencies shall have. Each group has its own diagonals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..._base import devices, jit
from ..._base.scratch import Empty
from ..._base.threads import cached_property
from .base import waves, working_dtype

# Number of padded columns from which a device computes angles by transforms, in float32 and TF32. A
# product reads the rows once, and a GPU multiplies faster than it reads (benchmarks/gpu.py).
TRANSFORMED_FROM = (1 << 11, 1 << 13)


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
        if devices.on_device(rows):
            return self._on_device(rows)
        dtype = working_dtype(rows)
        rows = rows.astype(dtype, copy=False)
        if sparse.issparse(rows):
            return rows @ self.frequencies.astype(dtype)
        return self._transformed(rows, empty)

    def _transformed(self, rows: NDArray[Any], empty: Empty = np.empty) -> NDArray[Any]:
        wanted, size = (self.n_features + 1) // 2, self.lengths.shape[1]
        angles = empty((len(rows), wanted), rows.dtype)
        for g in range(len(self.lengths)):
            first, last = g * size, min((g + 1) * size, wanted)
            jit.hadamard_chain(
                rows,
                self.diagonals[g].astype(rows.dtype),
                self.permutations[g],
                self.lengths[g, : last - first].astype(rows.dtype),
                angles,
                first,
            )
        return angles

    def _on_device(self, rows: Any) -> Any:
        """The same angles, by a product with all frequencies unless transforms are cheaper."""
        if self.lengths.shape[1] >= TRANSFORMED_FROM[devices.in_tf32(rows)]:
            return self._transformed_on_device(rows)

        def written_out() -> Any:
            xp = devices.namespace(rows)
            one_by_one = xp.eye(self.d, dtype=xp.float64, device=devices.device(rows))
            return xp.astype(self._transformed_on_device(one_by_one), rows.dtype)

        return rows @ devices.made_once(self.diagonals, rows, written_out)

    def _transformed_on_device(self, rows: Any) -> Any:
        xp, size = devices.namespace(rows), self.lengths.shape[1]
        padding = devices.zeros((rows.shape[0], size - self.d), rows)
        padded, groups = xp.concat([rows, padding], axis=1), []
        diagonals, lengths = (devices.like(a, rows) for a in (self.diagonals, self.lengths))
        for g in range(len(self.lengths)):
            group = padded
            for stage in range(self.diagonals.shape[1]):
                if self.permutations.shape[1]:
                    group = devices.columns_at(group, self.permutations[g, stage])
                group = _hadamard(group * diagonals[g, stage, :])
            groups.append(group * lengths[g, :])
        angles = groups[0] if len(groups) == 1 else xp.concat(groups, axis=1)
        return angles[:, : (self.n_features + 1) // 2]

    @cached_property
    def frequencies(self) -> NDArray[np.float64]:
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


def _hadamard(rows: Any) -> Any:
    """(n, D) rows times the D x D Walsh-Hadamard matrix, as H_a and H_b of its Kronecker product.

    Two products with small matrices in place of log2(D) passes over memory.
    """
    xp = devices.namespace(rows)
    n, size = rows.shape
    a = 1 << (size.bit_length() - 1) // 2
    blocks = xp.reshape(rows, (n, a, size // a))
    blocks = blocks @ devices.constant_at(_hadamard_matrix(size // a), rows)
    blocks = devices.constant_at(_hadamard_matrix(a), rows) @ blocks
    return xp.reshape(blocks, (n, size))


@cache
def _hadamard_matrix(size: int) -> NDArray[np.float64]:
    return linalg.hadamard(size).astype(np.float64)
