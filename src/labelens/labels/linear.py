"""Numbers as they are: the linear label kernel, for multilabel indicators and linear targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .right import Right, dense_mixing


@dataclass(frozen=True)
class LinearLabels:
    width: int
    mix: str | None
    seed: int
    kernel: str = "linear"

    @classmethod
    def for_labels(cls, y: Any, mix: str | None, seed: int) -> LinearLabels:
        refuse_fourier(mix, "linear")
        return cls(1 if y.ndim == 1 else y.shape[1], mix, seed)

    def encode(self, y: Any) -> Right:
        return Right(features=numeric_columns(y, self.width, "linear"))

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        return dense_mixing(self.mix, self.seed, width, k)

    def same_as(self, other: Any) -> bool:
        return isinstance(other, LinearLabels) and self.width == other.width


def refuse_fourier(mix: str | None, kernel: str) -> None:
    if mix == "fourier":
        raise ValueError(
            f"label_map='fourier' approximates an RBF kernel, and label_kernel is {kernel!r}; use "
            "label_map='orthogonal' or 'gaussian', or label_kernel='rbf'."
        )


def numeric_columns(y: Any, width: int, kernel: str) -> Any:
    """(n,) or (n, m) numbers -> (n, m) float64 or CSR."""
    if y.dtype.kind not in "biuf":
        if y.dtype.kind != "O":
            raise TypeError(_not_numeric(kernel, y.flat[0].item() if y.size else y.dtype))
        for label in y.flat:
            if not isinstance(label, (int, float, np.number)):
                raise TypeError(_not_numeric(kernel, label))
    columns = y[:, None] if y.ndim == 1 else y
    if columns.shape[1] != width:
        raise ValueError(f"y has {columns.shape[1]} columns, and {width} in the batches before.")
    columns = columns.astype(np.float64)
    values = columns.data if sparse.issparse(columns) else columns
    if not np.isfinite(values).all():
        raise ValueError(
            "Input y contains NaN or infinity (inf). Drop such rows, or name a missing_label."
        )
    return columns


def _not_numeric(kernel: str, label: Any) -> str:
    return (
        f"label_kernel={kernel!r} needs numbers, and y holds {label!r}; for classes use "
        "label_kernel='delta'."
    )
