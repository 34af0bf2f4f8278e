"""Fastfood (Le, Sarlos and Smola, 2013): Gaussian frequencies as S H G P H B, in O(p log d).

H is the Walsh-Hadamard transform, B random signs, P a permutation, G a Gaussian diagonal and S
the diagonal that gives every frequency the length of a Gaussian vector. Rows are padded with
zeros to a power of two; each group of that many frequencies has its own B, P, G and S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..kernels import Kernel
from .base import feature_generator, radial_scale, waves, working_dtype


@dataclass(frozen=True)
class Fastfood:
    n_features: int
    signs: NDArray[np.float64]  # all (groups, D), D = d rounded up to a power of two
    permutation: NDArray[np.intp]
    gaussian: NDArray[np.float64]
    lengths: NDArray[np.float64]
    phase: float

    @classmethod
    def draw(cls, kernel: Kernel, d: int, n_features: int, seed: int) -> Fastfood:
        if kernel.name == "laplacian":
            raise ValueError(
                "approximation='fastfood' draws radial kernels only, and the 'laplacian' kernel "
                "is a product over coordinates; use approximation='orthogonal' or 'fourier', or "
                "kernel='matern' with kernel_params={'nu': 0.5}."
            )
        draw = feature_generator(seed)
        size = 1 << max(0, d - 1).bit_length()
        groups = -(-((n_features + 1) // 2) // size)
        shape = (groups, size)
        signs = draw.choice([-1.0, 1.0], shape)
        permutation = np.stack([draw.permutation(size) for _ in range(groups)])
        gaussian = draw.standard_normal(shape)
        # Rows of H G P H B / sqrt(D) all have length |G|; a Gaussian vector has a chi length.
        lengths = np.sqrt(draw.chisquare(size, shape)) / np.linalg.norm(
            gaussian, axis=1, keepdims=True
        )
        lengths *= radial_scale(kernel, groups * size, draw).reshape(shape) / np.sqrt(size)
        return cls(n_features, signs, permutation, gaussian, lengths, draw.uniform(0, 2 * np.pi))

    def __call__(self, rows: Any) -> NDArray[Any]:
        if sparse.issparse(rows):
            raise ValueError(
                "approximation='fastfood' would make a sparse X dense; use "
                "approximation='orthogonal' or 'fourier'."
            )
        dtype = working_dtype(rows)
        groups, size = self.signs.shape
        padded: NDArray[Any] = np.zeros((len(rows), size), dtype=dtype)
        padded[:, : rows.shape[1]] = rows
        angles = np.empty((len(rows), groups * size), dtype=dtype)
        for g in range(groups):
            mixed = walsh_hadamard(padded * self.signs[g].astype(dtype))
            mixed = walsh_hadamard(mixed[:, self.permutation[g]] * self.gaussian[g].astype(dtype))
            angles[:, g * size : (g + 1) * size] = mixed * self.lengths[g].astype(dtype)
        return waves(angles[:, : (self.n_features + 1) // 2], self.n_features, self.phase)

    def same_as(self, other: Any) -> bool:
        return (
            isinstance(other, Fastfood)
            and self.n_features == other.n_features
            and np.array_equal(self.lengths, other.lengths)
            and np.array_equal(self.gaussian, other.gaussian)
        )


def walsh_hadamard(rows: NDArray[Any]) -> NDArray[Any]:
    """(n, 2^m) -> rows @ H, unnormalised, in m passes of additions."""
    n, size = rows.shape
    half = 1
    while half < size:
        pairs = rows.reshape(n, -1, 2, half)
        rows = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        half *= 2
    return rows.reshape(n, size)
