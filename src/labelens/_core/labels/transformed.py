"""Any scikit-learn transformer of y as the label map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from .encoded import EncodedLabels, LabelMap


@dataclass(frozen=True)
class TransformedLabels(LabelMap):
    """Fitted on the first batch of labels; its output columns are the label features."""

    transformer: Any
    mix: str | None
    seed: int
    kernel: Any

    @classmethod
    def for_labels(cls, y: Any, transformer: Any, mix: str | None, seed: int) -> TransformedLabels:
        fitted = clone(transformer).fit(_as_input(y, transformer))
        return cls(fitted, mix, seed, transformer)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        features = self.transformer.transform(_as_input(y, self.transformer))
        values = features.data if sparse.issparse(features) else np.asarray(features, np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                f"label_kernel={self.kernel!r} made values of y that are not finite numbers."
            )
        if sparse.issparse(features):
            return EncodedLabels(features=features.tocsr().astype(np.float64))
        return EncodedLabels(features=values[:, None] if values.ndim == 1 else values)

    def same_as(self, other: Any) -> bool:
        mine = isinstance(other, TransformedLabels)
        return mine and joblib.hash(self.transformer) == joblib.hash(other.transformer)


def _as_input(y: Any, transformer: Any) -> Any:
    """A list of labels for transformers of lists, such as text vectorizers; else columns."""
    first = transformer.steps[0][1] if hasattr(transformer, "steps") else transformer
    tags = get_tags(first) if hasattr(first, "__sklearn_tags__") else None
    return y[:, None] if y.ndim == 1 and (tags is None or tags.input_tags.two_d_array) else y
