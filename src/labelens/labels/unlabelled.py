"""No labels: L = I, which makes SPCA PCA and SRP the paper's randomized PCA (section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .vocabulary import normals_at


@dataclass(frozen=True)
class Unlabelled:
    """A Gaussian k-vector for every row, by its number in the stream.

    The stream is named by the seed and the order of the first rows (by their sums), so that
    estimators fitted on different data and merged later did not use the same vectors twice, while
    moving or scaling all rows, or writing them in float32 or CSR, is the same stream.
    """

    k: int
    stream: int
    kernel: None = None

    @classmethod
    def for_rows(cls, first_block: Any, k: int, seed: int) -> Unlabelled:
        rows = first_block.astype(np.float64)
        if not sparse.issparse(rows):
            rows -= rows[0]
        order = np.argsort(np.asarray(rows.sum(axis=1)).ravel(), kind="stable")
        key = seed.to_bytes(8, "little")
        digest = blake2b(order.astype("<i8").tobytes(), key=key, digest_size=8).digest()
        return cls(k, int.from_bytes(digest, "little"))

    def after(self, rows: int) -> Unlabelled:
        """The stream of rows that come after so many others."""
        return replace(self, stream=(self.stream + rows * self.k) % 2**64)

    def vectors(self, start: int, stop: int, weight: NDArray[np.float64] | None) -> Any:
        """(stop - start, k): g_i / sqrt(w_i), N(0, 1/k), so that the moment weighs rows once."""
        rows = np.arange(start, stop, dtype=np.uint64)[:, None] * np.uint64(self.k)
        counters = rows + np.arange(self.k, dtype=np.uint64) + np.uint64(self.stream)
        vectors = normals_at(counters) / np.sqrt(self.k)
        return vectors if weight is None else vectors / np.sqrt(weight)[:, None]
