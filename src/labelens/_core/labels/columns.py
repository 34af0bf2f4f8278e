"""Several columns of labels, each with a kernel of its own: their sum or their product.

For L = L_1 + L_2 the label features stand side by side; for L = L_1 * L_2 they are all products of
one of the first and one of the second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...label_kernels.columns import ColumnwiseKernel, Sum
from .encoded import EncodedLabels, LabelMap
from .reading import typed
from .similarity import SimilarityLabels

# Label features of a product: a moment has so many columns.
MOST_FEATURES = 1 << 14


@dataclass(frozen=True)
class Column:
    """The label map of one column, and what the first batch has settled of its classes."""

    psi: LabelMap
    classes: tuple[Any, ...] | None = None
    factor: NDArray[np.float64] | None = None  # (c, q) of the similarity of classes; None: one-hot

    @classmethod
    def for_labels(cls, psi: LabelMap, y: Any) -> Column:
        encoded = psi.encode(y, np.arange(len(y)))
        if encoded.codes is None:
            return cls(psi)
        classes = encoded.classes or ()
        # Not centred: a product depends on the mean.
        factor = psi.factor(classes, centred=False) if isinstance(psi, SimilarityLabels) else None
        return cls(psi, classes, factor)

    def features(self, y: Any, rows: NDArray[np.intp], column: int) -> NDArray[np.float64]:
        """(n, q)"""
        encoded = self.psi.encode(y, rows)
        if encoded.codes is None:
            return encoded.dense()
        number = {label: i for i, label in enumerate(self.classes or ())}
        for label in encoded.classes or ():
            if label not in number:
                raise ValueError(
                    f"The class {label!r} in column {column} of y was not in the first batch (of "
                    "`labelens.fit`: in its sample). Sums and products of label kernels fix their "
                    "classes there: start with a batch that has them all."
                )
        codes = np.array([number[label] for label in encoded.classes or ()])[encoded.codes[:, 0]]
        return np.eye(len(number))[codes] if self.factor is None else self.factor[codes]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Column)
            and self.psi.same_as(other.psi)
            and self.classes == other.classes
            and np.array_equal(self.factor, other.factor)  # type: ignore[arg-type]
        )


@dataclass(frozen=True)
class ColumnLabels(LabelMap):
    kernel: ColumnwiseKernel
    columns: tuple[Column, ...]
    mix: str | None
    seed: int
    decisive = ("columns",)

    @classmethod
    def for_labels(
        cls,
        y: Any,
        kernel: ColumnwiseKernel,
        mix: str | None,
        seed: int,
        make: Callable[[NDArray[Any], Any, int], LabelMap],
    ) -> ColumnLabels:
        """`make` turns a column of labels, its kernel and its number into a label map."""
        columns = tuple(
            Column.for_labels(make(labels, part, j), labels)
            for j, (labels, part) in enumerate(zip(_split(y, kernel), kernel.parts, strict=True))
        )
        return cls(kernel, columns, mix, seed)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        labels = _split(y, self.kernel)
        features = [column.features(labels[j], rows, j) for j, column in enumerate(self.columns)]
        if isinstance(self.kernel, Sum):
            return EncodedLabels(features=np.hstack(features))
        width = int(np.prod([part.shape[1] for part in features]))
        if width > MOST_FEATURES:
            raise ValueError(
                f"This Product of label kernels has {width} label features, and {MOST_FEATURES} "
                "are the most; use Sum, kernels with fewer classes, or Cyclic or 'linear' for "
                "'rbf'."
            )
        return EncodedLabels(features=reduce(_products, features))

    def same_as(self, other: Any) -> bool:
        # Parts such as "auto" and "delta" may have come to the same map.
        return super().same_as(other) and type(self.kernel) is type(other.kernel)


def _products(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, a), (n, b) -> (n, a b)"""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def _split(y: Any, kernel: ColumnwiseKernel) -> list[NDArray[Any]]:
    """The columns of y, each as an array of its own type."""
    count, found = len(kernel.parts), 1 if y.ndim == 1 else y.shape[1]
    if sparse.issparse(y) or found != count:
        raise ValueError(
            f"label_kernel={type(kernel).__name__} has {count} kernels, one for each column of y, "
            f"and y has {found} column{'s' * (found != 1)}{' and is sparse' * sparse.issparse(y)}."
        )
    return [typed(y[:, j]) for j in range(count)]
