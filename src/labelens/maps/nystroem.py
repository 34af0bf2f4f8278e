"""Nystroem features: kernel values against landmark rows, whitened by their own kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from .. import _array
from .._scratch import Empty
from ..kernels import Kernel
from .base import feature_generator, working_dtype

# Pieces that a triangular product is cut into: (1 + 1 / STRIPS) / 2 of a full one.
STRIPS = 8


@dataclass(frozen=True)
class Nystroem:
    """phi(x) = W^T k(landmarks, x) with W W^T = K_mm^(-1); landmarks are rows of the first batch.

    Any such W gives the same kernel; a triangular one is the cheapest to make and to multiply by.
    """

    kernel: Kernel
    landmarks: Any  # (m, d) from `origin`; sparse for sparse rows
    origin: NDArray[np.float64] | None  # (d,)
    whitening: NDArray[np.float64]  # (m, m), upper triangular

    @classmethod
    def draw(cls, kernel: Kernel, rows: Any, n_features: int, seed: int) -> Nystroem:
        chosen = feature_generator(seed).permutation(rows.shape[0])[:n_features]
        landmarks = _array.host(_array.rows_at(rows, np.sort(chosen))).astype(np.float64)
        origin = None
        if kernel.blind_to_shift and not sparse.issparse(landmarks):
            origin = landmarks[0].copy()  # measured from here, distances keep their digits
            landmarks -= origin
        # K_mm = L L^T by Cholesky, the landmark that the others say least of first: those that add
        # nothing to the ones before, as duplicates do, are left out.
        matrix = np.asfortranarray(kernel(landmarks, landmarks))
        rounding = len(matrix) * np.finfo(float).eps * np.diag(matrix).max(initial=0)
        factor, order, rank, _ = linalg.lapack.dpstrf(matrix, tol=rounding, lower=1)
        if rank == 0:  # rows of zeros, in a kernel of inner products
            return cls(kernel, landmarks[:1], origin, np.zeros((1, 1)))
        inverse, _ = linalg.lapack.dtrtri(factor[:rank, :rank], lower=1)
        whitening = np.ascontiguousarray(np.tril(inverse).T)
        return cls(kernel, landmarks[order[:rank] - 1], origin, whitening)

    @property
    def n_features(self) -> int:
        return len(self.whitening)

    def __call__(self, rows: Any, empty: Empty = np.empty) -> NDArray[Any]:
        if _array.on_device(rows):
            return self._on_device(rows)
        dtype, rows = working_dtype(rows), rows.astype(np.float64)
        if self.origin is not None:
            rows = (rows.toarray() if sparse.issparse(rows) else rows) - self.origin
        elif sparse.issparse(self.landmarks) and not sparse.issparse(rows):
            rows = sparse.csr_array(rows)
        values = self.kernel(rows, self.landmarks)
        features: NDArray[Any] = np.empty_like(values, dtype=dtype)
        # Some columns at a time, without the zeros below them. (NumPy's product lets other threads
        # run meanwhile; SciPy's triangular one does not.)
        step = -(-len(self.whitening) // STRIPS)
        for start in range(0, len(self.whitening), step):
            stop = start + step
            features[:, start:stop] = values[:, :stop] @ self.whitening[:stop, start:stop]
        return features

    def _on_device(self, rows: Any) -> Any:
        xp = _array.namespace(rows)
        single, rows = rows.dtype, xp.astype(rows, xp.float64)
        landmarks = self.landmarks
        if sparse.issparse(landmarks):
            landmarks = landmarks.toarray()
        if self.origin is not None:
            rows = rows - _array.kept(self.origin, rows)
        values = self.kernel(rows, _array.kept(landmarks, rows))
        return xp.astype(values @ _array.kept(self.whitening, rows), single)

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
