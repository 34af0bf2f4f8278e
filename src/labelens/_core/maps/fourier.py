"""Random Fourier features (Rahimi and Recht) with one dense matrix of frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..._base import devices
from ..._base.scratch import Empty
from ..._base.threads import cached_property
from ..kernels import Kernel
from .base import feature_generator, radial_scale, waves, working_dtype


@dataclass(frozen=True)
class Fourier:
    n_features: int
    frequencies: NDArray[np.float64]  # (d, ceil(p/2))
    phase: float

    @classmethod
    def draw(cls, kernel: Kernel, d: int, n_features: int, seed: int) -> Fourier:
        """Independent frequencies from the kernel's spectral density."""
        draw = feature_generator(seed)
        normals = draw.standard_normal((d, (n_features + 1) // 2))
        return cls.from_normals(kernel, normals, n_features, draw)

    @classmethod
    def from_normals(
        cls,
        kernel: Kernel,
        normals: NDArray[np.float64],
        n_features: int,
        draw: np.random.Generator,
    ) -> Fourier:
        """Columns that are standard normal vectors, one by one -> frequencies of the kernel."""
        if kernel.name == "laplacian":
            # exp(-gamma |x|_1) is a product over coordinates, each with a Cauchy density: a normal
            # number over the size of an independent one.
            frequencies = kernel.gamma * normals / np.abs(draw.standard_normal(normals.shape))
        else:
            frequencies = normals * radial_scale(kernel, normals.shape[1], draw)
        return cls(n_features, frequencies, draw.uniform(0, 2 * np.pi))

    @cached_property
    def _single(self) -> NDArray[np.float32]:
        return self.frequencies.astype(np.float32)

    def angles(self, rows: Any, empty: Empty = np.empty) -> NDArray[Any]:
        """(n, d) -> (n, ceil(p/2))."""
        if devices.on_device(rows):
            return rows @ devices.constant_at(self.frequencies, rows)
        dtype = working_dtype(rows)
        frequencies = self._single if dtype == np.float32 else self.frequencies
        if sparse.issparse(rows):
            return rows.astype(dtype, copy=False) @ frequencies
        rows = np.ascontiguousarray(rows, dtype)  # a single row in steps has other bits
        return np.matmul(rows, frequencies, out=empty((len(rows), frequencies.shape[1]), dtype))

    def __call__(self, rows: Any, empty: Empty = np.empty) -> NDArray[Any]:
        return waves(self.angles(rows, empty), self.n_features, self.phase, empty)

    def same_as(self, other: Any) -> bool:
        return (
            isinstance(other, Fourier)
            and self.n_features == other.n_features
            and self.frequencies.shape == other.frequencies.shape
            and np.allclose(self.frequencies, other.frequencies, rtol=1e-9, atol=0)
        )
