"""Numbers that come around, as the harmonics of their cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...label_kernels import Cyclic
from .encoded import EncodedLabels, LabelMap, dense_mixing, refuse_columns
from .fourier import dense_columns


@dataclass(frozen=True)
class CyclicLabels(LabelMap):
    kernel: Cyclic
    mix: str | None
    seed: int

    @classmethod
    def for_labels(cls, y: Any, kernel: Cyclic, mix: str | None, seed: int) -> CyclicLabels:
        refuse_columns(y, kernel, "numbers")
        return cls(kernel, mix, seed)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        numbers = dense_columns(y, 1, rows, "Cyclic")[:, 0]
        return EncodedLabels(features=self.kernel.features(numbers))

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        # The first feature is constant: what a vector says along it is lost, so put nothing there.
        return np.vstack([np.zeros(k), dense_mixing(self.mix, self.seed, width - 1, k)])
