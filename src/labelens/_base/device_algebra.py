"""Linear algebra where a matrix is: what the array API standard lacks, and results on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .devices import device, host, namespace


def pieces(values: Any) -> tuple[Any, Any, Any]:
    """Three arrays of eleven significant bits or so each, whose sum is the array (Veltkamp)."""
    found = []
    for _ in range(2):
        scaled = values * float(2**13 + 1)
        found.append(scaled - (scaled - values))
        values = values - found[-1]
    return found[0], found[1], values


def city_block(left: Any, right: Any) -> Any:
    """(n, d), (m, d) -> (n, m) sums of absolute differences."""
    xp = namespace(left)
    if hasattr(xp, "cdist"):  # torch
        return xp.cdist(left, right, p=1.0)
    total = 0.0
    for column in range(left.shape[1]):
        total = total + xp.abs(left[:, column][:, None] - right[:, column][None, :])
    return total


def add_to_diagonal(matrix: Any, numbers: Any) -> None:
    """Add a number, or as many as there are rows, in place, whichever way its entries lie."""
    if isinstance(matrix, np.ndarray):
        matrix[np.diag_indices_from(matrix)] += numbers
        return
    xp, p = namespace(matrix), matrix.shape[0]
    for start in range(0, p, 1024):
        here = slice(start, min(start + 1024, p))
        unit = xp.eye(here.stop - start, dtype=matrix.dtype, device=device(matrix))
        matrix[here, here] += (numbers if np.isscalar(numbers) else numbers[here]) * unit


def eigh(matrix: Any, k: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ascending eigenvalues and vectors of a symmetric matrix, or the k largest, on the host."""
    size = matrix.shape[0]
    start = 0 if k is None else max(0, size - k)
    if isinstance(matrix, np.ndarray):
        values, vectors = linalg.eigh(matrix, subset_by_index=(start, size - 1))
        if len(values) < size - start:  # LAPACK's evr finds too few where many are equal
            values, vectors = (part[..., start:] for part in linalg.eigh(matrix, driver="evd"))
        return values, vectors
    values, vectors = namespace(matrix).linalg.eigh(matrix)
    return host(values[start:]), host(vectors[:, start:])


def cholesky(matrix: Any) -> Any:
    """The lower factor; None where the matrix is not positive."""
    xp = namespace(matrix)
    if hasattr(xp.linalg, "cholesky_ex"):  # torch, whose other one raises an error of its own
        root, info = xp.linalg.cholesky_ex(matrix)
        return None if int(info) else root
    try:
        root = xp.linalg.cholesky(matrix)
    except Exception as error:
        if type(error).__name__ == "LinAlgError":
            return None
        raise
    # CuPy returns NaN.
    return root if xp is np or bool(xp.all(xp.isfinite(root))) else None


def solve_triangular(root: Any, columns: Any, transposed: bool) -> Any:
    """root^-1 columns, or root^-T columns, of a lower triangular root."""
    if isinstance(root, np.ndarray):
        return linalg.solve_triangular(root, columns, lower=True, trans="T" if transposed else "N")
    xp = namespace(root)
    if hasattr(xp.linalg, "solve_triangular"):  # torch
        matrix = xp.matrix_transpose(root) if transposed else root
        return xp.linalg.solve_triangular(matrix, columns, upper=transposed)
    if "cupy" in xp.__name__:
        from cupyx.scipy.linalg import solve_triangular as solve

        return solve(root, columns, lower=True, trans="T" if transposed else 0)
    return xp.linalg.solve(xp.matrix_transpose(root) if transposed else root, columns)
