"""What the statistics share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Rows = Any  # (n, p): an ndarray of any real dtype, or a CSR matrix

# The grid: blocks of this many rows, counted from the first row of a batch, are reduced one by
# one and merged in order. Batches that are multiples of it give the same bits as one big batch.
BLOCK_ROWS = 1024


def weights(weight: Array | None, rows: int) -> tuple[Array, float]:
    if weight is None:
        return np.ones(rows), float(rows)
    return weight, float(weight.sum())


def about_mean(rows: Rows, weight: Array) -> tuple[Any, Array, Array]:
    """(n, p) -> rows minus their mean, that mean, and the weighted sum of what is left.

    The subtraction is exact wherever |mean| >> std (Sterbenz), which is the only place where it
    matters; what the mean itself was rounded by shows in the sum. Sparse rows stay about zero, so
    that they stay sparse.
    """
    if sparse.issparse(rows):
        rows = rows.astype(np.float64)
        return rows, np.zeros(rows.shape[1]), rows.T @ weight
    # C order whatever the caller's layout, so that the same values give the same bits.
    rows = np.array(rows, dtype=np.float64, order="C")
    # By way of the first row, so that a constant column is about itself to the last bit.
    origin = rows[0] + weight @ (rows - rows[0]) / weight.sum()
    rows -= origin
    return rows, origin, weight @ rows


def weighted_product(left: Rows, right: Rows, weight: Array) -> Array:
    """sum_i w_i left_i right_i^T, dense (p, q), for any mix of dense and sparse."""
    if sparse.issparse(right):
        product = (right.multiply(weight[:, None]).tocsr().T @ left).T
    else:
        product = left.T @ (right * weight[:, None])
    return product.toarray() if sparse.issparse(product) else np.ascontiguousarray(product)


def shifted(mine: Array, other: Array, reuse: bool) -> Array:
    return np.add(mine, other, out=mine if reuse else None)
