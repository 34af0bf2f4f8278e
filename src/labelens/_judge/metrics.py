"""Dependence of embeddings on labels, and distances between subspaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, sparse
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from .._base import devices
from .._base.threads import in_order
from .._base.types import Approximation, Gamma, KernelLike, LabelsLike, MatrixLike, RandomState
from .._base.validation import check_number, check_rows, check_seed
from .._core.kernels import Kernel, make_kernel, settle_gamma
from .._core.labels import (
    Labels,
    SimilarityLabels,
    as_labels,
    choose_kernel,
    make_label_map,
    read_labels,
)
from .._core.labels.numeric import FourierLabels
from .._core.labels.vocabulary import label_kind, number_labels
from .._core.maps import make_feature_map
from .._core.moments import Array, Spread
from .._core.moments.fold import spread_on_device
from .._core.tiles import DeviceTiles, bands
from .._fit.settings import check_kernel
from .._fit.shuffles import shuffler
from ..label_kernels.base import LabelKernelLike

__all__ = ["HSICTest", "hsic", "hsic_test", "knn_score", "subspace_distance"]

TILE = 1024


def hsic(
    X: MatrixLike,
    y: LabelsLike,
    *,
    kernel: KernelLike = "rbf",
    gamma: Gamma = "scale",
    kernel_params: Mapping[str, Any] | None = None,
    label_kernel: LabelKernelLike = "auto",
    label_gamma: float | None = None,
    approximation: Approximation = "exact",
    n_random_features: int = 1024,
    random_state: RandomState | None = None,
) -> float:
    """Hilbert-Schmidt independence criterion, tr(K H L H) / (n - 1)^2: equation (1) of the paper.

    Zero means that these kernels detect no dependence. No n x n matrix is stored.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    kernel, gamma, kernel_params
        The kernel K of the rows, as in `KernelSupervisedPCA`; "linear" compares raw features.
    label_kernel, label_gamma
        The kernel L of the labels, as in `SupervisedPCA`.
    approximation : {"exact", "orthogonal", "fourier", "fastfood", "nystroem"} or transformer
        "exact" costs O(n^2) time; the others estimate K with `n_random_features` features in O(n).
    n_random_features : int, default=1024
    random_state : int, RandomState instance or None, default=None
        Used by the random approximations, and by `gamma="median"` past 1000 rows.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from labelens import hsic
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> related, unrelated = hsic(x, np.abs(x) > 0.5), hsic(x, np.arange(200) % 2)
    >>> bool(related > 100 * unrelated)
    True
    """
    problem = _Problem.of(
        X, y, kernel, gamma, kernel_params, label_kernel, label_gamma, approximation,
        n_random_features, random_state,
    )  # fmt: skip
    return float(problem.statistic(problem.right[None])[0])


@dataclass(frozen=True, eq=False)
class HSICTest:
    """The outcome of `hsic_test`.

    Attributes
    ----------
    statistic : float
        HSIC of X and y.
    pvalue : float
        The share of permutations, the data itself among them, whose HSIC is as large.
    null : ndarray of shape (n_permutations,)
        HSIC with shuffled labels.
    """

    statistic: float
    pvalue: float
    null: NDArray[np.float64]


def hsic_test(
    X: MatrixLike,
    y: LabelsLike,
    *,
    n_permutations: int = 999,
    kernel: KernelLike = "rbf",
    gamma: Gamma = "scale",
    kernel_params: Mapping[str, Any] | None = None,
    label_kernel: LabelKernelLike = "auto",
    label_gamma: float | None = None,
    approximation: Approximation = "exact",
    n_random_features: int = 1024,
    random_state: RandomState | None = None,
) -> HSICTest:
    """Permutation test of independence: how often shuffled labels give as large an HSIC.

    The p-value counts the data itself as one permutation, so it is never zero, and it is uniform
    when X and y are independent. Rows that are equal and have equal labels, such as copies, count
    as one observation: shuffles keep them together.

    Parameters
    ----------
    X, y, kernel, gamma, kernel_params, label_kernel, label_gamma
        As in `hsic`.
    n_permutations : int, default=999
    approximation, n_random_features, random_state
        As in `hsic`; prefer a random approximation past some thousand rows.

    Returns
    -------
    HSICTest
        With `statistic`, `pvalue` and `null`, the statistics of the shuffled labels.

    Examples
    --------
    >>> import numpy as np
    >>> from labelens import hsic_test
    >>> x = np.linspace(-1, 1, 100)[:, None]
    >>> hsic_test(x, np.abs(x) > 0.5, random_state=0).pvalue
    0.001
    """
    check_number(n_permutations, "n_permutations", 1, integer=True)
    problem = _Problem.of(
        X, y, kernel, gamma, kernel_params, label_kernel, label_gamma, approximation,
        n_random_features, random_state,
    )  # fmt: skip
    statistic = float(problem.statistic(problem.right[None])[0])
    draw = np.random.default_rng(problem.seed)
    shuffle = shuffler(*problem.observed)
    null = np.empty(n_permutations)
    # As many permutations at once as make 32 MB of label features.
    some = max(1, (1 << 22) // problem.right.size)
    for start in range(0, n_permutations, some):
        count = min(some, n_permutations - start)
        shuffled = np.stack([problem.right[shuffle(draw)] for _ in range(count)])
        null[start : start + count] = problem.statistic(shuffled)
    # Equal up to rounding counts as equal: labels that repeat make many permutations the same.
    rounding = 1e-12 * statistic + 1e-14 * problem.largest()
    as_large = int((null >= statistic - rounding).sum())
    return HSICTest(statistic, (1 + as_large) / (1 + n_permutations), null)


@dataclass(frozen=True)
class _Problem:
    """Rows and centred label features, (n, q) with L = right right^T: HSIC needs no more."""

    rows: Any
    kernel: Kernel | None  # None: rows are features already
    right: Array
    seed: int
    observed: tuple[Any, Any]  # rows and labels as they were read

    @classmethod
    def of(
        cls, X: Any, y: Any, kernel: Any, gamma: Any, kernel_params: Any, label_kernel: Any,
        label_gamma: float | None, approximation: Any, n_random_features: int, random_state: Any,
    ) -> _Problem:  # fmt: skip
        check_kernel(kernel, gamma, kernel_params, approximation, n_random_features)
        if isinstance(approximation, str) and approximation == "falkon":
            raise ValueError(
                "approximation='falkon' solves systems, and HSIC has none. Use 'nystroem'."
            )
        if label_gamma is not None:
            check_number(label_gamma, "label_gamma", 0, open_low=True)
        if y is None:
            raise ValueError("y is None: HSIC measures the dependence of X on labels.")
        rows = check_rows(None, X, reset=True)
        n = rows.shape[0]
        if n < 2:
            raise ValueError("n_samples = 1: HSIC compares rows, so it needs at least two.")
        y = as_labels(y)
        labels, _ = read_labels(y, n, None)
        seed = check_seed(random_state)
        psi = make_label_map(labels, None, label_kernel, label_gamma, 1, None, seed, y.orders)
        if isinstance(psi, FourierLabels):
            right = _pivoted_cholesky(Kernel("rbf", psi.gamma), psi.numbers(labels))
        else:
            encoded = psi.encode(labels, np.arange(n))
            right = encoded.dense()
            if isinstance(psi, SimilarityLabels):
                right = right @ psi.factor(encoded.classes or ())
        right = right - right.mean(axis=0)
        there = devices.on_device(rows)
        if there:
            rows = devices.namespace(rows).astype(rows, devices.namespace(rows).float64)
        elif not sparse.issparse(rows):
            rows = rows.astype(np.float64)
        observed = rows, labels
        settled = make_kernel(kernel, gamma, kernel_params)
        spread = spread_on_device(rows, None) if there else Spread.of(rows)
        settled = settle_gamma(settled, rows, spread, seed)
        if not sparse.issparse(rows) and settled.blind_to_shift:
            rows = rows - devices.like(spread.origin, rows)
        phi = make_feature_map(approximation, settled, rows, n_random_features, seed)
        if phi is None:
            return cls(rows, settled, right, seed, observed)
        return cls(phi(rows), None, right, seed, observed)

    def largest(self) -> float:
        """tr(K) tr(H L H) / (n - 1)^2, which no statistic exceeds."""
        if self.kernel is None:
            values = self.rows.data if sparse.issparse(self.rows) else self.rows
            trace = float(devices.namespace(values).sum(values * values))
        else:
            parts = (slice(a, a + TILE) for a in range(0, len(self.right), TILE))
            tiles = (devices.rows_at(self.rows, part) for part in parts)
            trace = sum(devices.trace(self.kernel(tile, tile)) for tile in tiles)
        return trace * float(np.square(self.right).sum()) / (len(self.right) - 1) ** 2

    def statistic(self, rights: Array) -> Array:
        """(m, n, q) label features -> the m values of tr(K H L H) / (n - 1)^2."""
        m, n, q = rights.shape
        columns = np.ascontiguousarray(rights.transpose(1, 0, 2)).reshape(n, m * q)
        if self.kernel is None:
            # |Phi^T H Psi|_F^2
            across = self.rows.T @ devices.like(columns, self.rows)
            squares = np.square(devices.host(across)).sum(axis=0)
        elif devices.on_device(self.rows):
            squares = self._on_device(devices.like(columns, self.rows))
        else:
            squares = np.zeros(m * q)

            def band(start: int) -> Array:
                here = slice(start, start + TILE)
                products = np.zeros((min(TILE, n - start), m * q))
                mine = self.rows[here]
                for left in range(0, n, TILE):
                    part = slice(left, left + TILE)
                    # The same object on the diagonal: distances of a row to itself are then zero.
                    other = mine if left == start else self.rows[part]
                    products += self.kernel(mine, other) @ columns[part]  # type: ignore[misc]
                return np.einsum("ij,ij->j", columns[here], products)

            for part in in_order(band, range(0, n, TILE)):
                squares += part
        statistics = squares.reshape(m, q).sum(axis=1) / (n - 1) ** 2
        if not np.isfinite(statistics).all():
            raise ValueError("HSIC overflows float64: scale X down first.")
        return statistics

    def _on_device(self, columns: Any) -> Array:
        """(n, w) columns -> the w values of column^T K column."""
        assert self.kernel is not None
        xp, n = devices.namespace(columns), columns.shape[0]
        tiles, squares = DeviceTiles(self.kernel, self.rows[0, :]), 0.0
        left, right = tiles.sides(self.rows)
        for here in bands(n, n):
            products = tiles.between(left[here, :], right) @ columns
            squares = squares + xp.sum(columns[here, :] * products, axis=0)
        return np.asarray(devices.host(squares))


def _pivoted_cholesky(kernel: Kernel, rows: Array) -> Array:
    """(n, m) -> (n, r) with K = F F^T up to a trace of 1e-14 n, one kernel column at a time.

    A smooth kernel of few columns has a small r, so the exact L is never written out.
    """
    n = len(rows)
    rows = rows - rows.mean(axis=0)
    rest = np.ones(n)  # the diagonal of a shift-invariant kernel
    factor = np.empty((n, 0))
    while factor.shape[1] < n and rest.sum() > 1e-14 * n:
        pivot = int(np.argmax(rest))
        column = kernel(rows, rows[pivot : pivot + 1])[:, 0] - factor @ factor[pivot]
        column /= np.sqrt(rest[pivot])
        factor = np.column_stack([factor, column])
        rest = np.maximum(rest - column**2, 0)
        rest[pivot] = 0
    return factor


def knn_score(
    train: MatrixLike,
    train_labels: LabelsLike,
    test: MatrixLike,
    test_labels: LabelsLike,
    n_neighbors: int = 1,
) -> float:
    """Accuracy of labels predicted from nearest neighbours; R^2 for continuous labels.

    Parameters
    ----------
    train, test : array-like of shape (n_samples, n_components)
    train_labels, test_labels : array-like of shape (n_samples,)
    n_neighbors : int, default=1
        The paper's 1-NN.

    Returns
    -------
    float

    Examples
    --------
    >>> from labelens import knn_score
    >>> knn_score([[0.0], [1.0]], ["a", "b"], [[0.1], [0.9], [0.2]], ["a", "b", "b"])
    0.6666666666666666
    """
    train, test = devices.host(train), devices.host(test)
    given = (as_labels(y) for y in (train_labels, test_labels))
    read = (read_labels(y, y.values.shape[0], None)[0] for y in given)
    labels, asked = (y.toarray() if sparse.issparse(y) else y for y in read)
    classes = labels.ndim == 1 and choose_kernel(labels) == "delta"
    if classes and asked.ndim == 1 and len(asked):
        both = Labels.joined([as_labels(labels), as_labels(asked)]).values
        _, codes = number_labels(both, label_kind(both[0]), np.arange(len(both)))
        labels, asked = codes[: len(labels)], codes[len(labels) :]
    model = (KNeighborsClassifier if classes else KNeighborsRegressor)(n_neighbors)
    return float(model.fit(train, labels).score(test, asked))


def subspace_distance(first: ArrayLike, second: ArrayLike) -> float:
    """Sine of the largest angle between the row spaces of two matrices: 0 the same, 1 at worst.

    Parameters
    ----------
    first, second : array-like of shape (n_components, n_features)
        As in `components_`; zero rows are ignored.

    Returns
    -------
    float

    Examples
    --------
    >>> from labelens import subspace_distance
    >>> subspace_distance([[1.0, 0.0]], [[0.0, 2.0]])
    1.0
    >>> subspace_distance([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, -1.0]]) < 1e-15
    True
    """
    bases = []
    for matrix in (first, second):
        rows = np.asarray(devices.host(matrix), dtype=np.float64)
        if rows.ndim != 2:
            raise ValueError(
                "subspace_distance compares matrices of shape (n_components, n_features), as "
                f"components_ are; got shape {rows.shape}."
            )
        lengths = linalg.norm(rows, axis=1)
        live = rows[lengths > 0] / lengths[lengths > 0, None]
        bases.append(linalg.orth(live.T))
    if bases[0].shape[0] != bases[1].shape[0]:
        raise ValueError(f"The matrices have {bases[0].shape[0]} and {bases[1].shape[0]} columns.")
    if bases[0].shape[1] != bases[1].shape[1]:
        return 1.0
    residual = bases[0] - bases[1] @ (bases[1].T @ bases[0])
    return float(min(1.0, linalg.norm(residual, 2))) if residual.size else 0.0
