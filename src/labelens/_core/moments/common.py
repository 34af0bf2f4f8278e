"""Common parts of the statistics."""

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
# How many times its range a sparse column may be away from zero without an origin of its own.
FAR = 64


def weights(weight: Array | None, rows: int) -> tuple[Array, float]:
    """(rows,) weights, ones where there are none, and their sum."""
    if weight is None:
        return np.ones(rows), float(rows)
    return weight, float(weight.sum())


def round_origin(values: NDArray[Any], apart: Array | float = 0.0) -> Array:
    """(p,) numbers near the values, rounded to about as much as the rows are `apart`.

    An origin goes into model files, and what goes there is no value of a training row. It need
    not be: being some spreads away costs a bit or two. Where rows are not apart, or there is one,
    it keeps its first digits: 8 in float64, 5 in float32; fewer would cost accuracy at 1e9 +- 1.
    """
    few = 26 if values.dtype == np.float64 else 18
    values = values.astype(np.float64)
    _, places = np.frexp(values)
    _, spread = np.frexp(np.minimum(apart, np.finfo(float).max))
    # 256 units in the last place at least, or neighbours would be left as they are.
    grid = np.where(np.equal(apart, 0), places - few, np.maximum(spread + 1, places - 45))
    unit = np.ldexp(1.0, np.clip(grid, -1074, 1023))
    return np.trunc(values / unit) * unit  # towards zero, so that nothing overflows


def about_mean(rows: Rows, weight: Array) -> tuple[Any, Array, Array]:
    """(n, p) -> rows minus their mean, that mean, and the weighted sum of what is left.

    The subtraction is exact wherever |mean| >> std (Sterbenz), which is the only place where it
    matters; what the mean itself was rounded by shows in the sum. Sparse rows stay sparse: columns
    that every row has an entry in are about their mean, the others about zero. An entry that is
    missing in one of n rows keeps |mean| below sqrt(n) std.
    """
    if sparse.issparse(rows):
        return _sparse_about_mean(rows, weight)
    # C order whatever the caller's layout, so that the same values give the same bits.
    given, rows = rows, np.array(rows, dtype=np.float64, order="C")
    # By way of the first row, so that a constant column is about itself to the last bit.
    origin = rows[0] + weight @ (rows - rows[0]) / weight.sum()
    if len(rows) == 1:
        origin = round_origin(given[0])
    rows -= origin
    return rows, origin, weight @ rows


def _sparse_about_mean(given: Any, weight: Array) -> tuple[Any, Array, Array]:
    rows = given.tocsr().astype(np.float64)  # a copy
    rows.sum_duplicates()
    full = _entries(rows) == rows.shape[0]
    if not full.any():
        return rows, np.zeros(rows.shape[1]), rows.T @ weight
    first = np.where(full, rows[:1].toarray()[0], 0.0)
    rows.data -= first[rows.indices]
    if rows.shape[0] == 1:
        origin = round_origin(first.astype(given.dtype))
    else:
        origin = first + np.where(full, rows.T @ weight / weight.sum(), 0.0)
    rows.data -= (origin - first)[rows.indices]
    return rows, origin, rows.T @ weight


def _entries(rows: Any) -> NDArray[np.intp]:
    """(p,) entries that CSR rows have in every column."""
    return np.bincount(rows.indices, minlength=rows.shape[1])


def stored_about(rows: Any, origin: Array) -> Any:
    """CSR rows minus the origin, as sparse as they are; None where that cannot be."""
    if not origin.any():
        return rows
    if (_entries(rows)[origin != 0] < rows.shape[0]).any():
        return None
    apart = rows.data - origin[rows.indices]
    return sparse.csr_array((apart, rows.indices, rows.indptr), shape=rows.shape)


def far_from_zero(rows: Any) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """The columns of CSR rows whose sums about zero would lose digits, and their (n, f) values.

    One row, or equal ones, do not show how far values are apart. Where they fill most columns, the
    columns are taken for full ones, which may be far from zero.
    """
    full = np.flatnonzero(_entries(rows) == rows.shape[0])
    values = rows[:, full].toarray()
    low, high = (bound.astype(np.float64) for bound in (values.min(axis=0), values.max(axis=0)))
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite shows in the sums
        far = np.minimum(np.abs(low), np.abs(high)) > FAR * (high - low)
    if 2 * len(full) < rows.shape[1]:
        far &= high > low
    return full[far], values[:, far]


def weighted_product(left: Rows, right: Rows, weight: Array) -> Array:
    """sum_i w_i left_i right_i^T, dense (p, q), for any mix of dense and sparse."""
    if sparse.issparse(right):
        product = (right.multiply(weight[:, None]).tocsr().T @ left).T
    else:
        product = left.T @ (right * weight[:, None])
    return product.toarray() if sparse.issparse(product) else np.ascontiguousarray(product)


def added(mine: Any, other: Any, reuse: bool) -> Any:
    """Mine + other, in place if mine may be overwritten."""
    if reuse:
        mine += other
        return mine
    return mine + other
