"""No labels: L = I, which makes SPCA PCA and SRP the paper's randomized PCA (section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoded import random_generator
from .vocabulary import normals_at


@dataclass(frozen=True)
class Unlabelled:
    """A Gaussian vector for every row, by the seed and the number of the row.

    The same rows in the same order get the same vectors, in whatever pieces they arrive. Models
    fitted separately use the same vectors, so `merge` multiplies those of one by `rotation`.
    """

    k: int
    stream: int
    kernel: None = None

    @classmethod
    def of(cls, k: int, seed: int) -> Unlabelled:
        key = seed.to_bytes(8, "little")
        digest = blake2b(b"sketch", key=key, digest_size=8).digest()
        return cls(k, int.from_bytes(digest, "little"))

    @property
    def width(self) -> int:
        """The length of a vector: k, but one number cannot be rotated."""
        return max(self.k, 2)

    def after(self, rows: int) -> Unlabelled:
        """The stream of rows that come after so many others."""
        return replace(self, stream=(self.stream + rows * self.width) % 2**64)

    def vectors(self, start: int, stop: int, weight: NDArray[np.float64] | None) -> Any:
        """(stop - start, width): g_i / sqrt(w_i), N(0, 1/k), so that the moment weighs rows once.

        The first k columns make the sketch.
        """
        rows = np.arange(start, stop, dtype=np.uint64)[:, None] * np.uint64(self.width)
        counters = rows + np.arange(self.width, dtype=np.uint64) + np.uint64(self.stream)
        vectors = normals_at(counters) / np.sqrt(self.k)
        return vectors if weight is None else vectors / np.sqrt(weight)[:, None]

    def rotation(self, mine: int, theirs: int) -> NDArray[np.float64]:
        """(width, width): a random rotation Q for the vectors of a model that is merged into mine.

        E[Q] = 0, so that E[g_i^T Q g_i] = 0: no row of the one is paired with a row of the other.
        Q is drawn anew for every pair of sample counts, and these grow with every merge, so the
        same holds for any two of many models, in whatever order they are merged.
        """
        draw = random_generator(self.stream, f"rotation {mine} {theirs}")
        Q, R = np.linalg.qr(draw.standard_normal((self.width, self.width)))
        Q *= np.sign(np.diag(R))  # or it would not be uniform
        Q[:, 0] *= np.linalg.slogdet(Q).sign  # a reflection could cancel what both have in common
        return Q
