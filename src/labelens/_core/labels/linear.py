"""Numbers as they are: the linear label kernel, for multilabel indicators and linear targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoded import EncodedLabels, LabelMap
from .reading import check_decision


@dataclass(frozen=True)
class LinearLabels(LabelMap):
    width: int
    automatic: bool  # "auto" took the labels for a multilabel indicator
    mix: str | None
    seed: int
    kernel: str = "linear"
    decisive = ("width",)

    @classmethod
    def for_labels(cls, y: Any, automatic: bool, mix: str | None, seed: int) -> LinearLabels:
        return cls(1 if y.ndim == 1 else y.shape[1], automatic, mix, seed)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        features = numeric_columns(y, self.width, "linear", rows)
        if self.automatic:
            check_decision("linear", y, rows)
        return EncodedLabels(features=features)


def numeric_columns(y: Any, width: int, kernel: str, rows: NDArray[np.intp] | None = None) -> Any:
    """(n,) or (n, m) numbers -> (n, m) float64 or CSR."""
    columns = y[:, None] if y.ndim == 1 else y
    if columns.shape[1] != width:
        raise ValueError(f"y has {columns.shape[1]} columns, and {width} in the batches before.")
    if y.dtype.kind not in "biuf":
        # Dates stay dates: as a list, those in nanoseconds would be integers.
        for row, labels in enumerate(columns if y.dtype.kind in "mM" else columns.tolist()):
            for label in labels:
                if not isinstance(label, (int, float)):
                    raise TypeError(
                        f"label_kernel={kernel!r} needs numbers, and row "
                        f"{row if rows is None else int(rows[row])} of y is {label!r}; for classes "
                        "use label_kernel='delta'."
                    )
    return columns.astype(np.float64)
