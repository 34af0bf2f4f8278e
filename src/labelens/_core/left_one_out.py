"""Ridge regression in which every row is predicted by all others, from one decomposition.

With features F centred, F^T F = V diag(e) V^T and U = F V, the leverage of a row is

    h_i = sum_j U_ij^2 / (e_j + r) + 1/n,    r: regularization

and its prediction without itself is (f_i - h_i y_i) / (1 - h_i): Allen's PRESS, exact for every r.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.preprocessing import StandardScaler

from .kernels import Kernel
from .maps.nystroem import Nystroem
from .moments import Array

RIDGES = (1e-5, 1e-4, 1e-3, 1e-2)  # times the number of rows
# Multiples of 1 / (columns * variance), and of its counterpart for sums of absolute differences.
WIDTHS = {"rbf": (0.1, 0.3, 1.0, 3.0), "laplacian": (0.3, 1.0, 3.0)}
LANDMARKS, MOST_LANDMARKS = 400, 640  # between them 4.5 times the root of the number of rows
COMPARED_ROWS, COMPARED_LANDMARKS = 500, 120  # by which widths and scaling are chosen
EVEN = 10.0  # ratio of standard deviations up to which columns may have one unit
FULL = 1e-6  # the least 1 - h


@dataclass(frozen=True)
class LeftOneOut:
    """Features of rows, decomposed."""

    axes: Array  # (n, p): U
    squares: Array  # (p,): e

    @classmethod
    def of(cls, features: Array) -> LeftOneOut:
        features = features - features.mean(axis=0, dtype=np.float64).astype(features.dtype)
        squares, vectors = linalg.eigh((features.T @ features).astype(np.float64))
        return cls(features @ vectors.astype(features.dtype), np.maximum(squares, 0))

    def __call__(self, targets: Array, ridges: Sequence[float]) -> Iterator[Array]:
        """(n, q) predictions of (n, q) targets, each by all other rows, for each of `ridges`."""
        n, single, mean = len(self.axes), self.axes.dtype, targets.mean(axis=0)
        inverses = 1 / (self.squares[:, None] + np.multiply(ridges, n))
        leverages = np.square(self.axes) @ inverses.astype(single) + 1 / n
        along = self.axes.T @ (targets - mean).astype(single)
        for leverage, inverse in zip(leverages.T, inverses.T, strict=True):
            fitted = self.axes @ (inverse[:, None] * along).astype(single) + mean
            own = leverage[:, None].astype(np.float64)
            yield (fitted - own * targets) / np.maximum(1 - own, FULL)

    def best(self, targets: Array) -> tuple[float, Array]:
        """The least mean squared error over `RIDGES`, and its predictions."""
        found = [(_error(one, targets), one) for one in self(targets, RIDGES)]
        return min(found, key=lambda one: one[0])


def predicted_by_others(rows: Any, targets: Array, seed: int) -> Array:
    """(n, d) rows, (n, q) targets -> (n, q) predictions, each by a model of all other rows.

    The mean of kernel ridge regressions with a Gaussian and a Laplacian kernel on landmarks. Gamma,
    scaling and regularization are those with the least error of left-out rows. The landmarks need
    no labels.
    """
    n, total = rows.shape[0], np.zeros(targets.shape)
    landmarks = int(np.clip(4.5 * np.sqrt(n), LANDMARKS, MOST_LANDMARKS))
    some = np.sort(np.random.default_rng(seed).permutation(n)[:COMPARED_ROWS])

    def error(view: Any, kernel: Kernel) -> float:
        return _decomposed(kernel, view[some], COMPARED_LANDMARKS, seed).best(targets[some])[0]

    views = _views(rows)
    if len(views) > 1:
        views = [min(views, key=lambda view: error(view, _kernel("rbf", 1.0, view)))]
    names = ["rbf"] if sparse.issparse(rows) else list(WIDTHS)
    for name in names:
        kernels = [_kernel(name, width, views[0]) for width in WIDTHS[name]]
        kernel = min(kernels, key=lambda kernel: error(views[0], kernel))
        total += _decomposed(kernel, views[0], landmarks, seed).best(targets)[1]
    return total / len(names)


def _views(rows: Any) -> list[Any]:
    """The rows with columns of unit variance; as they are too, where columns may have one unit."""
    scaler = StandardScaler(with_mean=not sparse.issparse(rows)).fit(rows)
    deviations = np.sqrt(scaler.var_[scaler.var_ > 0])
    if not len(deviations):
        return [scaler.transform(rows)]
    low, high = np.quantile(deviations, (0.1, 0.9))
    scaled = scaler.transform(rows)
    return [scaled, rows / float(deviations.mean())] if high < EVEN * low else [scaled]


def _kernel(name: str, width: float, view: Any) -> Kernel:
    squares = view.multiply(view) if sparse.issparse(view) else np.square(view)
    variance = float((squares.mean(axis=0) - np.square(view.mean(axis=0))).mean()) or 1.0
    unit = view.shape[1] * (variance if name == "rbf" else np.sqrt(variance))
    return Kernel(name, width / unit)


def _decomposed(kernel: Kernel, rows: Any, landmarks: int, seed: int) -> LeftOneOut:
    phi = Nystroem.draw(kernel, rows, landmarks, seed)
    return LeftOneOut.of(phi(rows.astype(np.float32)))


def _error(predictions: Array, targets: Array) -> float:
    apart = predictions - targets
    return float(np.einsum("ij,ij->", apart, apart)) / len(targets)
