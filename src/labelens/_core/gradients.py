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

from .._base import devices
from .kernels import Kernel, squared_distances
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


def of_kernel(kernel: Kernel, known: Any, coefficients: Any, rows: Any) -> Array | None:
    """Z = sum_m coefficients_m k(x, known_m), averaged over rows; None for unknown functions.

    All may be on a device.
    """
    if not isinstance(kernel.name, str):
        return None
    known, coefficients, rows = (_dense(part) for part in (known, coefficients, rows))
    xp, total = devices.namespace(known), 0.0
    for start in range(0, rows.shape[0], ROWS):
        some = devices.rows_at(rows, slice(start, start + ROWS))
        slopes = _slopes(kernel, known, coefficients, some)
        total += xp.permute_dims(slopes, (1, 2, 0)) @ xp.permute_dims(slopes, (1, 0, 2))
    found: Array = devices.host(total) / rows.shape[0]
    return found


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


def _slopes(kernel: Kernel, known: Any, coefficients: Any, rows: Any) -> Any:
    """(b, d, k) gradients."""
    xp, columns = devices.namespace(rows), range(rows.shape[1])
    if kernel.name == "laplacian":  # -gamma sign(x_i - l_i) k
        values = -kernel.gamma * kernel(rows, known)
        signs = (xp.sign(rows[:, i][:, None] - known[:, i][None, :]) for i in columns)
        return xp.stack([(values * sign) @ coefficients for sign in signs], axis=1)
    weighted = (coefficients[:, j][:, None] * known for j in range(coefficients.shape[1]))
    if kernel.name in ("linear", "polynomial"):  # s(x.l) l
        weights = 1 + devices.zeros((rows.shape[0], known.shape[0]), known)
        if kernel.name == "polynomial":
            degree, c = kernel.params["degree"], kernel.params["coef0"]
            weights = degree * kernel.gamma * (kernel.gamma * rows @ known.T + c) ** (degree - 1)
        return xp.stack([weights @ part for part in weighted], axis=2)
    weights = _radial(kernel, rows, known)  # s(|x - l|) (x - l)
    sums = weights @ coefficients
    own = (rows * sums[:, j][:, None] for j in range(coefficients.shape[1]))
    return xp.stack([a - weights @ b for a, b in zip(own, weighted, strict=True)], axis=2)


def _radial(kernel: Kernel, rows: Any, known: Any) -> Any:
    """S with dk / dx = s (x - l)."""
    if kernel.name == "rbf":
        return -2 * kernel.gamma * kernel(rows, known)
    nu = kernel.params["nu"]
    scale = float(np.sqrt(4 * nu * kernel.gamma))
    xp = devices.namespace(rows)
    centre = xp.mean(known, axis=0)
    t = scale * xp.sqrt(squared_distances(rows - centre, known - centre))
    if nu == 0.5:  # not smooth where rows meet
        return xp.where(t > 0, -(scale**2) * xp.exp(-t) / xp.where(t > 0, t, 1 + t), 0.0 * t)
    return -(scale**2) * xp.exp(-t) * (1 if nu == 1.5 else (1 + t) / 3)


def _dense(rows: Any) -> Any:
    if devices.on_device(rows):
        return devices.namespace(rows).astype(rows, devices.namespace(rows).float64)
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
