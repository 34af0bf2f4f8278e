"""Nystroem features: kernel values against landmark rows, whitened by their own kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..._base import device_algebra, devices
from ..._base.rounding import EPS
from ..._base.scratch import Empty
from ..._base.threads import cached_property
from ..kernels import Kernel
from ..moments.common import round_origin
from .base import feature_generator, working_dtype

# Pieces that a triangular product is cut into: (1 + 1 / STRIPS) / 2 of a full one.
STRIPS = 8
# What a landmark has to add to the others, relative to the largest k(x, x). That is known to some
# eps, and the features of other rows to eps / LEAST; what is left out is below LEAST. Both
# errors are equal here, and rounding does not decide how many landmarks stay.
LEAST = float(np.sqrt(EPS))
# Landmarks that add the same but for rounding are taken in the order of rows: what the first adds
# counts for more by this, relative to the largest k(x, x).
FIRST = float(EPS**0.75)


@dataclass(frozen=True)
class Nystroem:
    """phi(x) = W^T k(landmarks, x) with W W^T = K_mm^(-1); landmarks are rows of the first batch.

    Any such W gives the same kernel; a triangular one is the cheapest to make and to multiply by.
    """

    kernel: Kernel
    landmarks: Any  # (m, d) from `origin`; sparse for sparse rows
    origin: NDArray[np.float64] | None  # (d,)
    whitening: Any  # (m, m), upper triangular; on the device of the first rows

    @classmethod
    def draw(cls, kernel: Kernel, rows: Any, n_features: int, seed: int) -> Nystroem:
        drawn = feature_generator(seed).permutation(rows.shape[0])
        landmarks = _landmarks(rows, np.sort(drawn[:n_features]))
        place = devices.place_of(rows) if devices.on_device(rows) else None
        origin = None
        if kernel.blind_to_shift and not sparse.issparse(landmarks):
            origin = landmarks[0].copy()  # measured from here, distances keep their digits
            if kernel.name == "linear" and len(drawn) > n_features:
                # From another row: a landmark at the origin would be one direction less.
                origin = round_origin(_landmarks(rows, drawn[n_features : n_features + 1])[0])
            landmarks -= origin
        # K_mm = L L^T by Cholesky. Where landmarks add nothing to the ones before, as duplicates
        # do, the one that the others say least of goes first, and those are left out.
        there = devices.moved_to(place, landmarks)
        matrix = kernel(there, there)
        largest = devices.diagonal(matrix).max(initial=0)
        root = device_algebra.cholesky(matrix)
        if root is not None and devices.diagonal(root).min() ** 2 > LEAST * largest:
            return cls(kernel, landmarks, origin, _inverse(root))
        matrix = np.asfortranarray(devices.host(matrix))
        order = _order(matrix, largest)
        if not len(order):  # rows of zeros, in a kernel of inner products
            return cls(kernel, landmarks[:1], origin, np.zeros((1, 1)))
        whitening = _inverse(np.linalg.cholesky(matrix[np.ix_(order, order)]))
        return cls(kernel, landmarks[order], origin, whitening)

    @property
    def n_features(self) -> int:
        return int(self.whitening.shape[0])

    @cached_property
    def host_whitening(self) -> NDArray[np.float64]:
        return devices.host(self.whitening)

    def __call__(self, rows: Any, empty: Empty = np.empty) -> NDArray[Any]:
        if devices.on_device(rows):
            return self._on_device(rows)
        dtype, rows = working_dtype(rows), rows.astype(np.float64)
        if self.origin is not None:
            rows = (rows.toarray() if sparse.issparse(rows) else rows) - self.origin
        elif sparse.issparse(self.landmarks) and not sparse.issparse(rows):
            rows = sparse.csr_array(rows)
        values = self.kernel(rows, self.landmarks)
        return self._whitened(values, self.host_whitening, np.empty_like(values, dtype=dtype))

    def _whitened(self, values: Any, whitening: Any, features: Any) -> Any:
        """Some columns at a time, without the zeros below them.

        (NumPy's product lets other threads run meanwhile; SciPy's triangular one does not.)
        """
        m = whitening.shape[0]
        step = -(-m // STRIPS)
        for start in range(0, m, step):
            stop = min(start + step, m)
            features[:, start:stop] = values[:, :stop] @ whitening[:stop, start:stop]
        return features

    def _on_device(self, rows: Any) -> Any:
        xp = devices.namespace(rows)
        single, rows = rows.dtype, xp.astype(rows, xp.float64)
        landmarks = self.landmarks
        if sparse.issparse(landmarks):
            landmarks = landmarks.toarray()
        if self.origin is not None:
            rows = rows - devices.constant_at(self.origin, rows)
        values = self.kernel(rows, devices.constant_at(landmarks, rows))
        features = devices.empty(values.shape, values)
        whitening = devices.constant_at(self.whitening, rows)
        return xp.astype(self._whitened(values, whitening, features), single, copy=False)

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


def _inverse(root: Any) -> Any:
    """L^-T of a lower triangular L, upper triangular, where L is."""
    if isinstance(root, np.ndarray):
        inverse, _ = linalg.lapack.dtrtri(root.T, lower=0)
        return np.ascontiguousarray(inverse)
    xp = devices.namespace(root)
    unit = xp.eye(root.shape[0], dtype=root.dtype, device=devices.device(root))
    return xp.triu(device_algebra.solve_triangular(root, unit, transposed=True))


def _order(matrix: NDArray[np.float64], largest: float) -> NDArray[np.intp]:
    """Which landmarks to keep, in the order of Cholesky's pivots."""
    tilted = matrix.copy(order="F")
    np.einsum("ii->i", tilted)[:] += np.linspace(FIRST * largest, 0, len(matrix))
    _, order, rank, _ = linalg.lapack.dpstrf(tilted, tol=LEAST * largest, lower=1, overwrite_a=True)
    return order[:rank] - 1


def _landmarks(rows: Any, which: NDArray[np.intp]) -> Any:
    return devices.host(devices.rows_at(rows, which)).astype(np.float64)
