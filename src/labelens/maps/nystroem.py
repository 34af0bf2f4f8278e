"""Nystroem features: kernel values against landmark rows, whitened by their own kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from .base import feature_generator, working_dtype


@dataclass(frozen=True)
class Nystroem:
    """phi(x) = K_mm^(-1/2) k(landmarks, x); landmarks are rows of the first batch."""

    kernel: Kernel
    landmarks: Any  # (m, d), sparse for sparse rows
    whitening: NDArray[np.float64]  # (m, m)

    @classmethod
    def draw(cls, kernel: Kernel, rows: Any, n_features: int, seed: int) -> Nystroem:
        chosen = feature_generator(seed).permutation(rows.shape[0])[:n_features]
        landmarks = rows[np.sort(chosen)].astype(np.float64)
        values, vectors = np.linalg.eigh(kernel(landmarks, landmarks))
        # Duplicate landmarks make K_mm singular: a pseudo-inverse square root leaves them out.
        keep = values > values[-1] * len(values) * np.finfo(float).eps
        scaled = vectors[:, keep] / np.sqrt(values[keep])
        return cls(kernel, landmarks, scaled @ vectors[:, keep].T)

    @property
    def n_features(self) -> int:
        return len(self.whitening)

    def __call__(self, rows: Any) -> NDArray[Any]:
        dtype = working_dtype(rows)
        return (self.kernel(rows.astype(np.float64), self.landmarks) @ self.whitening).astype(dtype)

    def same_as(self, other: Any) -> bool:
        return (
            isinstance(other, Nystroem)
            and self.kernel == other.kernel
            and self.landmarks.shape == other.landmarks.shape
            and abs(self.landmarks - other.landmarks).max() == 0
        )
