"""One rule for the numbers that are no more than rounding, and one for signs.

A sum of m terms, each added with a relative error of eps / 2, errs by about sqrt(m) eps of its
size. Sums over rows are made in blocks of 1024, so 32 eps bounds a block, and the sum of a million
rows in blocks errs as much again. An n x n decomposition adds at most n eps of its largest value.

The size is that of the terms, not of the sum: where large terms cancel, the rounding stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

EPS = float(np.finfo(np.float64).eps)
SUM = 32 * EPS  # the error of a sum over rows, relative to the size of its terms


def rounding(size: Any, n: int) -> Any:
    """The error of eigenvalues or singular values of an n x n matrix of sums of that size."""
    return (SUM + n * EPS) * size


def norm(matrix: NDArray[Any]) -> float:
    """Frobenius, also where squares overflow or vanish."""
    with np.errstate(over="ignore"):
        size = np.linalg.norm(matrix)
    if not 1e-100 < size < 1e100 and (unit := np.abs(matrix).max(initial=0)) > 0:
        size = unit * np.linalg.norm(matrix / unit)
    return float(size)


def lengths(rows: NDArray[Any]) -> NDArray[Any]:
    """(n, p) -> (n,), also where squares overflow or vanish."""
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
    found = np.sqrt(squares)
    if (odd := ~((squares > 1e-200) & (squares < 1e200))).any():
        rows = rows[odd]
        largest = np.abs(rows).max(axis=1, initial=0)
        units = rows / np.where(largest > 0, largest, 1)[:, None]
        found[odd] = largest * np.linalg.norm(units, axis=1)
    return found


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
