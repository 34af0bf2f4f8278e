"""One rule for the signs that decompositions leave open."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def with_signs(vectors: NDArray[Any]) -> NDArray[Any]:
    """Make the first of the largest entries of every column positive.

    As scikit-learn's `svd_flip`, but entries that are equal up to rounding, as those of two
    classes are, do not leave the choice to the rounding.
    """
    if not vectors.size:
        return vectors
    sizes = np.abs(np.ascontiguousarray(vectors.T))  # rows are looked through faster
    first = np.argmax(sizes > (1 - 1e-6) * sizes.max(axis=1, keepdims=True), axis=1)
    return vectors * np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
