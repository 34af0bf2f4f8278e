"""Average outer products of gradients of embeddings, one column of X at a time.

With g_j(x) the gradient of component j, all functions here return

    A_i = E[(d z_j / d x_i) (d z_l / d x_i)],    (d, k, k)

the diagonals of the average gradient outer products (AGOP) of all pairs of components. A linear
combination z_v = v^T z of components has the diagonal v^T A_i v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .kernels import Kernel
from .moments import Array

ROWS = 256  # at a time
ENTRIES = 1 << 24  # of the products of columns and components that are held at a time


def of_projector(projector: Array) -> Array:
    """Z = projector^T x, (d, k)."""
    return np.einsum("ij,il->ijl", projector, projector)


def of_waves(frequencies: Array, projector: Array, second: Array) -> Array:
    """Z = projector^T phi for pairs of waves; `second` is E[phi phi^T], (p, p), uncentred.

    The derivative of cos(w.x) is -w_i sin(w.x), and that of sin(w.x) is w_i cos(w.x): both are
    features. So A_i = U_i^T E[phi phi^T] U_i, where U_i holds w_i times the swapped coefficients.
    """
    d, pairs = frequencies.shape
    k = projector.shape[1]
    swapped = np.vstack([projector[pairs:], -projector[:pairs]])  # (p, k)
    found, step = np.empty((d, k, k)), max(1, ENTRIES // swapped.size)
    for start in range(0, d, step):
        some = np.tile(frequencies[start : start + step], 2)  # (e, p)
        U = some.T[:, :, None] * swapped[:, None]  # (p, e, k)
        along = (second @ U.reshape(len(swapped), -1)).reshape(U.shape)
        found[start : start + step] = U.transpose(1, 2, 0) @ along.transpose(1, 0, 2)
    return found


def of_kernel(kernel: Kernel, known: Any, coefficients: Array, rows: Any) -> Array | None:
    """Z = sum_m coefficients_m k(x, known_m), averaged over rows; None for unknown functions."""
    if not isinstance(kernel.name, str):
        return None
    known, rows = (_dense(part) for part in (known, rows))
    found = np.zeros((rows.shape[1], coefficients.shape[1], coefficients.shape[1]))
    for start in range(0, len(rows), ROWS):
        slopes = _slopes(kernel, known, coefficients, rows[start : start + ROWS])
        found += np.einsum("bij,bil->ijl", slopes, slopes, optimize=True)
    return found / len(rows)


def by_differences(
    embed: Callable[[Array], Array], rows: Array, steps: Array, move: float = 1e-4
) -> Array:
    """The same for any function of (n, d) rows, by central differences of `move` times `steps`."""
    parts = []
    for i, step in enumerate(steps):
        ends = []
        for sign in (1, -1):
            moved = rows.copy()
            moved[:, i] += sign * move * step
            ends.append(embed(moved))
        slope = (ends[0] - ends[1]) / (2 * move * step)
        parts.append(slope.T @ slope / len(rows))
    return np.array(parts)


def _slopes(kernel: Kernel, known: Array, coefficients: Array, rows: Array) -> Array:
    """(b, d, k) gradients."""
    (b, d), k = rows.shape, coefficients.shape[1]
    slopes = np.empty((b, d, k))
    if kernel.name == "laplacian":  # -gamma sign(x_i - l_i) k
        values = -kernel.gamma * kernel(rows, known)
        for i in range(d):
            slopes[:, i] = (values * np.sign(rows[:, i, None] - known[:, i])) @ coefficients
        return slopes
    if kernel.name in ("linear", "polynomial"):  # s(x.l) l
        weights = np.ones((b, len(known)))
        if kernel.name == "polynomial":
            degree, c = kernel.params["degree"], kernel.params["coef0"]
            weights = degree * kernel.gamma * (kernel.gamma * rows @ known.T + c) ** (degree - 1)
        for j in range(k):
            slopes[:, :, j] = weights @ (coefficients[:, j, None] * known)
        return slopes
    weights = _radial(kernel, rows, known)  # s(|x - l|) (x - l)
    sums = weights @ coefficients
    for j in range(k):
        slopes[:, :, j] = rows * sums[:, j, None] - weights @ (coefficients[:, j, None] * known)
    return slopes


def _radial(kernel: Kernel, rows: Array, known: Array) -> Array:
    """S with dk / dx = s (x - l)."""
    if kernel.name == "rbf":
        return -2 * kernel.gamma * kernel(rows, known)
    nu = kernel.params["nu"]
    scale = float(np.sqrt(4 * nu * kernel.gamma))
    centre = known.mean(axis=0)
    rows, known = rows - centre, known - centre
    squares = np.square(rows).sum(axis=1)[:, None] + np.square(known).sum(axis=1)
    t = scale * np.sqrt(np.maximum(squares - 2 * rows @ known.T, 0))
    if nu == 0.5:  # not smooth where rows meet
        return np.where(t > 1e-9, -(scale**2) * np.exp(-t) / np.maximum(t, 1e-9), 0)
    return -(scale**2) * np.exp(-t) * (1 if nu == 1.5 else (1 + t) / 3)


def _dense(rows: Any) -> Array:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
