"""Any scikit-learn transformer of y as the label map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from .linear import refuse_fourier
from .right import Right, dense_mixing


@dataclass(frozen=True)
class TransformedLabels:
    """Fitted on the first batch of labels; its output columns are the label features."""

    transformer: Any
    mix: str | None
    seed: int
    kernel: Any

    @classmethod
    def for_labels(cls, y: Any, transformer: Any, mix: str | None, seed: int) -> TransformedLabels:
        refuse_fourier(mix, type(transformer).__name__)
        fitted = clone(transformer).fit(y[:, None] if y.ndim == 1 else y)
        return cls(fitted, mix, seed, transformer)

    def encode(self, y: Any) -> Right:
        features = self.transformer.transform(y[:, None] if y.ndim == 1 else y)
        if sparse.issparse(features):
            return Right(features=features.tocsr().astype(np.float64))
        features = np.asarray(features, dtype=np.float64)
        return Right(features=features[:, None] if features.ndim == 1 else features)

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        return dense_mixing(self.mix, self.seed, width, k)

    def same_as(self, other: Any) -> bool:
        return isinstance(other, TransformedLabels) and joblib.hash(
            self.transformer
        ) == joblib.hash(other.transformer)
