"""Nystroem features: kernel values against landmark rows, whitened by their own kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..kernels import Kernel
from .base import feature_generator, working_dtype


@dataclass(frozen=True)
class Nystroem:
    """phi(x) = K_mm^(-1/2) k(landmarks, x); landmarks are rows of the first batch."""

    kernel: Kernel
    landmarks: Any  # (m, d) from `origin`; sparse for sparse rows
    origin: NDArray[np.float64] | None  # (d,)
    whitening: NDArray[np.float64]  # (m, m)

    @classmethod
    def draw(cls, kernel: Kernel, rows: Any, n_features: int, seed: int) -> Nystroem:
        chosen = feature_generator(seed).permutation(rows.shape[0])[:n_features]
        landmarks = rows[np.sort(chosen)].astype(np.float64)
        origin = None
        if kernel.blind_to_shift and not sparse.issparse(landmarks):
            origin = landmarks[0].copy()  # measured from here, distances keep their digits
            landmarks -= origin
        values, vectors = np.linalg.eigh(kernel(landmarks, landmarks))
        # Duplicate landmarks make K_mm singular: a pseudo-inverse square root leaves them out.
        keep = values > values[-1] * len(values) * np.finfo(float).eps
        scaled = vectors[:, keep] / np.sqrt(values[keep])
        return cls(kernel, landmarks, origin, scaled @ vectors[:, keep].T)

    @property
    def n_features(self) -> int:
        return len(self.whitening)

    def __call__(self, rows: Any) -> NDArray[Any]:
        dtype, rows = working_dtype(rows), rows.astype(np.float64)
        if self.origin is not None:
            rows = (rows.toarray() if sparse.issparse(rows) else rows) - self.origin
        elif sparse.issparse(self.landmarks) and not sparse.issparse(rows):
            rows = sparse.csr_array(rows)
        return (self.kernel(rows, self.landmarks) @ self.whitening).astype(dtype)

    def _from(self) -> NDArray[np.float64]:
        return np.zeros(0) if self.origin is None else self.origin

    def same_as(self, other: Any) -> bool:
        return (
            isinstance(other, Nystroem)
            and self.kernel == other.kernel
            and self.landmarks.shape == other.landmarks.shape
            and abs(self.landmarks - other.landmarks).max() == 0
            and np.array_equal(self._from(), other._from())
        )
