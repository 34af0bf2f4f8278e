"""Numbers that come around, as the harmonics of their cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...label_kernels import Cyclic
from .encoded import EncodedLabels, dense_mixing
from .fourier import dense_columns
from .linear import refuse_fourier


@dataclass(frozen=True)
class CyclicLabels:
    kernel: Cyclic
    mix: str | None
    seed: int

    @classmethod
    def for_labels(cls, y: Any, kernel: Cyclic, mix: str | None, seed: int) -> CyclicLabels:
        refuse_fourier(mix, "Cyclic")
        if y.ndim != 1:
            raise ValueError(
                f"label_kernel=Cyclic takes one column of numbers, and y has {y.shape[1]}; combine "
                "kernels of columns with labelens.label_kernels.Sum or Product."
            )
        return cls(kernel, mix, seed)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        return EncodedLabels(
            features=self.kernel.features(dense_columns(y, 1, rows, "Cyclic")[:, 0])
        )

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        # The first feature is constant: what a vector says along it is lost, so put nothing there.
        return np.vstack([np.zeros(k), dense_mixing(self.mix, self.seed, width - 1, k)])

    def same_as(self, other: Any) -> bool:
        return isinstance(other, CyclicLabels) and self.kernel == other.kernel
