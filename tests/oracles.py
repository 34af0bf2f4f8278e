"""The paper's formulas written out, n x n matrices and all: slow and obvious.

The paper's X is d x n; here rows are samples, so X^T stands where the paper has X.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg


def centring(n):
    """H = I - e e^T / n."""
    return np.eye(n) - np.full((n, n), 1 / n)


def delta_kernel(y):
    """L(p, q) = 1 if p == q else 0; over several columns, how many agree."""
    y = np.asarray(y)
    columns = y[:, None] if y.ndim == 1 else y
    return sum((c[:, None] == c[None, :]).astype(float) for c in columns.T)


def hsic(K, L):
    """Equation (1)."""
    n = len(K)
    H = centring(n)
    return np.trace(K @ H @ L @ H) / (n - 1) ** 2


def spca_q(X, L):
    """Q = X H L H X^T, whose top eigenvectors are SPCA."""
    H = centring(len(X))
    return X.T @ H @ L @ H @ X


def top_eigenvectors(matrix, k, metric=None):
    """(k, p): rows are the eigenvectors of the k largest eigenvalues, and those eigenvalues."""
    values, vectors = linalg.eigh(matrix, metric)
    return vectors[:, ::-1][:, :k].T, values[::-1][:k]


def kspca_embedding(K, L, k):
    """Section 2.1: beta from eig(H L H K), beta^T K beta = I; the embedding beta^T K, centred."""
    n = len(K)
    H = centring(n)
    values, beta = linalg.eig(H @ L @ H @ K)
    order = np.argsort(-values.real)[:k]
    beta = beta[:, order].real
    beta = beta / np.sqrt(np.sum(beta * (K @ beta), axis=0))
    return H @ K @ beta


def srp_components(X, psi):
    """U = X H Psi^T, one column of psi a component (psi is n x k here)."""
    return psi.T @ centring(len(X)) @ X


def covariance(X, weight=None):
    """C_xx with divisor N."""
    return np.cov(X, rowvar=False, bias=True, aweights=weight).reshape(X.shape[1], X.shape[1])


def objective(X, L, t):
    """A(t)."""
    Q, C = spca_q(X, L), covariance(X)
    return t * Q / np.trace(Q) + (1 - t) * C / np.trace(C)


def constraint(X, s):
    """B(s), up to its scale."""
    C = covariance(X)
    return (1 - s) * C + s * np.trace(C) / len(C) * np.eye(len(C))


def cross_covariance_long(X, Y):
    """C_xy in long double."""
    X, Y = np.asarray(X, np.longdouble), np.asarray(Y, np.longdouble)
    return (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0)) / len(X)


def gram(Z):
    """Inner products of centred rows: what stays of an embedding under rotation."""
    Z = np.asarray(Z) - np.mean(Z, axis=0)
    return Z @ Z.T
