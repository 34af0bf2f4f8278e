"""What the standard lacks of arithmetic and linear algebra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..optional import require
from .making import fill
from .places import Place, device, host, is_single, namespace, place_of

# How CuPy numbers the ways in which it multiplies.
CUPY_FLOAT32, CUPY_TF32 = 1, 7


def in_tf32(array: Any) -> bool:
    """Whether products of such arrays are TF32's at the moment."""
    place = place_of(array)
    if place is None or not is_single(array) or "torch" not in place.library:
        return False
    return bool(place.xp.backends.cuda.matmul.fp32_precision == "tf32")


@contextmanager
def products(place: Place | None, precision: str | None) -> Iterator[None]:
    """Products of float32 matrices in TF32 if that was asked for, whatever the library's default.

    That is a setting of the whole library, so it is put back; on the host it means nothing.
    """
    library = "" if place is None else place.library
    tf32 = precision == "tf32"
    if "torch" in library:
        matmul: Any = require("torch", "torch").backends.cuda.matmul
        name, wanted = "fp32_precision", "tf32" if tf32 else "ieee"
        before = getattr(matmul, name)
        setattr(matmul, name, wanted)
        try:
            yield
        finally:
            setattr(matmul, name, before)
    elif "cupy" in library:
        from cupy._core import _routines_linalg as linalg

        before = linalg.get_compute_type(np.float32)
        linalg.set_compute_type(np.float32, CUPY_TF32 if tf32 else CUPY_FLOAT32)
        try:
            yield
        finally:
            linalg.set_compute_type(np.float32, before)
    else:
        yield


def exp(values: Any) -> Any:
    """In place: the argument is lost."""
    fill(values, "exp", values)
    return values


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


def trace(matrix: Any) -> float:
    return float(namespace(matrix).linalg.trace(matrix))


def diagonal(matrix: Any) -> NDArray[Any]:
    """On the host."""
    return host(namespace(matrix).linalg.diagonal(matrix))


def add_to_diagonal(matrix: Any, number: float) -> None:
    """In place, whichever way its numbers lie."""
    if isinstance(matrix, np.ndarray):
        matrix[np.diag_indices_from(matrix)] += number
        return
    xp, p = namespace(matrix), matrix.shape[0]
    for start in range(0, p, 1024):
        here = slice(start, min(start + 1024, p))
        unit = xp.eye(here.stop - start, dtype=matrix.dtype, device=device(matrix))
        matrix[here, here] += number * unit


def eigh(matrix: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """All eigenvalues of a symmetric matrix, ascending, and their vectors; on the host."""
    if isinstance(matrix, np.ndarray):
        return linalg.eigh(matrix)
    values, vectors = namespace(matrix).linalg.eigh(matrix)
    return host(values), host(vectors)


def largest(matrix: Any, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The k largest of them."""
    if isinstance(matrix, np.ndarray):
        size = len(matrix)
        return linalg.eigh(matrix, subset_by_index=(max(0, size - k), size - 1))
    values, vectors = namespace(matrix).linalg.eigh(matrix)
    return host(values[-k:]), host(vectors[:, -k:])


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
    # CuPy says it with NaN.
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
