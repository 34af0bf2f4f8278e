"""The paper's formulas as they stand, n x n matrices and all: what our own code is compared with.

The paper's X is d x n; here rows are samples, so X^T stands where the paper has X.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from labelens._core.moments import Array

# The width of the RBF kernel that stands for the delta kernel (section 3).
SIGMA_Y = 1e-10


def centring(n: int) -> Array:
    """H = I - e e^T / n, (n, n)."""
    return np.eye(n) - np.full((n, n), 1 / n)


def delta_kernel(y: NDArray[Any]) -> Array:
    """L(p, q) = 1 if p = q, else 0, (n, n)."""
    return (y[:, None] == y[None, :]).astype(np.float64)


def narrow_kernel(y: NDArray[Any]) -> Array:
    """L by the RBF kernel that stands for the delta kernel, (n, n); labels may be any numbers."""
    return np.exp(-((y[:, None] - y[None, :]) ** 2) / (2 * SIGMA_Y**2))


def fourier_features(
    rows: NDArray[Any], sigma: float, n_features: int, draw: np.random.Generator
) -> Array:
    """Random kitchen sinks, sqrt(2 / m) cos(w.x + b), (n, m); labels need all digits of float64."""
    frequencies = draw.standard_normal((rows.shape[1], n_features)) / sigma
    phases = draw.uniform(0, 2 * np.pi, n_features)
    return np.sqrt(2 / n_features) * np.cos(rows.astype(np.float64) @ frequencies + phases)


def label_features(y: NDArray[Any], k: int, draw: np.random.Generator) -> Array:
    """Psi_Y, (n, k): features of the RBF kernel that stands for the delta kernel."""
    return fourier_features(y[:, None], SIGMA_Y, k, draw)


def spca(X: NDArray[Any], L: Array, k: int) -> Array:
    """The top k eigenvectors of X H L H X^T, (d, k)."""
    H = centring(len(X))
    return _top_eigenvectors(X.T @ H @ L @ H @ X, k)


def srp(X: NDArray[Any], psi: Array) -> Array:
    """X H Psi_Y^T, (d, k)."""
    return X.T @ centring(len(X)) @ psi


def kspca(K: Array, L: Array, k: int) -> Array:
    """beta, (n, k): top eigenvectors of H L H K with beta^T K beta = I."""
    H = centring(len(K))
    values, vectors = linalg.eig(H @ L @ H @ K)
    beta = vectors[:, np.argsort(-values.real)[:k]].real
    return beta / np.sqrt(np.sum(beta * (K @ beta), axis=0))


def ksrp(phi: Array, psi: Array) -> Array:
    """Psi_X H Psi_Y^T, (k_x, k)."""
    return phi.T @ centring(len(phi)) @ psi


def _top_eigenvectors(matrix: Array, k: int) -> Array:
    size = len(matrix)
    return linalg.eigh(matrix, subset_by_index=(size - k, size - 1))[1][:, ::-1]
