"""Any scikit-learn transformer as the feature map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_approximation import PolynomialCountSketch

from ..._base import devices
from ..._base.scratch import Empty
from ..kernels import Kernel
from .base import feature_generator


@dataclass(frozen=True)
class Transformed:
    """Fitted on the first batch of rows."""

    transformer: Any
    n_features: int

    @classmethod
    def fit(cls, transformer: Any, rows: Any) -> Transformed:
        fitted = clone(transformer).fit(devices.host(devices.rows_at(rows, slice(None))))
        return cls(fitted, fitted.transform(devices.host(devices.rows_at(rows, slice(1)))).shape[1])

    def __call__(self, rows: Any, empty: Empty = np.empty) -> Any:
        if devices.on_device(rows):  # the code of the transformer runs on the host
            features = self(devices.host(rows))
            dense = features.toarray() if sparse.issparse(features) else features
            return devices.like(dense, rows)
        features = self.transformer.transform(rows)
        features = features.tocsr() if sparse.issparse(features) else np.asarray(features)
        values: Any = features.data if sparse.issparse(features) else features
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(
                f"approximation={self.transformer!r} made features that are not finite numbers."
            )
        return features

    def same_as(self, other: Any) -> bool:
        return isinstance(other, Transformed) and joblib.hash(self) == joblib.hash(other)


def tensor_sketch(kernel: Kernel, rows: Any, n_features: int, seed: int) -> Transformed:
    """Random features of the polynomial kernel (Pham and Pagh, 2013)."""
    sketch = PolynomialCountSketch(
        gamma=kernel.gamma,
        n_components=n_features,
        random_state=int(feature_generator(seed).integers(2**31)),
        **kernel.params,
    )
    return Transformed.fit(sketch, rows)
