"""G of all rows but some, and systems with it, by the Cholesky factor of all rows.

With T the rows that stay, F those left out, w the share of T in the weights and r the unit vector
of the roots of its weights,

    G_T = Q G[T, T] Q / w,    Q = I - r r^T

With M = (G + ridge I)^-1 of all rows,

    (G[T, T] + ridge I)^-1 = M[T, T] - M[T, F] M[F, F]^-1 M[F, T]

The regularization of T differs slightly from that of all rows. So this is a preconditioner, and
conjugate gradients take a few steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .gram import TOLERANCE, Gram, conjugate_gradients
from .moments import Array


class LeftOut(Gram):
    """As `Gram`, of the rows `stay` of few rows on the host, whose weights are above zero."""

    def __init__(self, whole: Gram, stay: NDArray[np.intp]) -> None:
        self._whole, self._stay = whole, stay
        self._gone = np.setdiff1d(np.arange(len(whole)), stay)
        self.dtype, own = whole.dtype, whole.root[stay]
        self._share = float(own @ own)
        self.root = own / np.sqrt(self._share)
        along = self._among(self.root[:, None])[:, 0]  # G[T, T] r
        level = whole.root**2 @ whole.mean  # the mean of K
        self.mean = along / (own * np.sqrt(self._share)) + whole.mean[stay]
        self.mean += self.root**2 @ whole.mean[stay] - level
        diagonal = whole.diagonal[stay] - 2 * self.root * along
        diagonal += self.root**2 * (self.root @ along)
        self.diagonal = np.maximum(diagonal, 0) / self._share
        self.trace = float(self.diagonal.sum())
        self._removed: tuple[Array, Array] | None = None
        self._place, self._eigen = None, None

    def _padded(self, columns: Array) -> Array:
        padded = np.zeros((len(self._whole), columns.shape[1]))
        padded[self._stay] = columns
        return padded

    def _among(self, columns: Array) -> Array:
        """G[T, T] columns."""
        return self._whole.times(self._padded(columns))[self._stay]

    def _centred(self, columns: Array) -> Array:
        """Q columns."""
        return columns - np.outer(self.root, self.root @ columns)

    def times(self, columns: Array) -> Array:
        return self._centred(self._among(self._centred(columns))) / self._share

    def solve(self, columns: Array, ridge: float) -> Array | None:
        """(G_T + ridge I)^-1 columns, for columns that are orthogonal to r."""
        removed = self._removed
        if removed is None:
            # One factor serves all folds: the first of them has made it.
            if not self._whole.has_factor and not self._whole.factorize(ridge * self._share):
                return None
            unit = np.zeros((len(self._whole), len(self._gone)))
            unit[self._gone, np.arange(len(self._gone))] = 1
            beside = self._whole.substitute(unit)  # M[:, F]
            inner = linalg.inv(beside[self._gone], check_finite=False)
            self._removed = removed = (beside, inner)
        beside, inner = removed

        def precondition(rest: Array) -> Array:
            solved = self._whole.substitute(self._padded(self._centred(rest)))
            solved -= beside @ (inner @ solved[self._gone])
            return self._centred(solved[self._stay])

        return conjugate_gradients(
            lambda X: self.times(X) + ridge * X, precondition, columns, TOLERANCE[self.dtype]
        )

    def _make_eigen(self) -> tuple[Array, Array]:
        matrix = self._whole.matrix[np.ix_(self._stay, self._stay)]
        self.matrix = self._centred(self._centred(matrix).T) / self._share
        return super()._make_eigen()


def embedding_of_all(whole: Gram, stay: NDArray[np.intp], coefficients: Array) -> Array:
    """k(all rows, T) coefficients, (n, k), whose columns sum to zero."""
    padded = np.zeros((len(whole), coefficients.shape[1]))
    padded[stay] = coefficients
    root = whole.root[:, None]
    return whole.times(padded / root) / root + whole.mean @ padded
