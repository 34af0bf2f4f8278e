"""Maps of rows with a number as label: its prediction, and the main variation at that level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import r2_score

from .._base import devices
from .._base.types import MatrixLike, RandomState, Transformer
from .._base.validation import (
    check_number,
    check_rows,
    check_seed,
    unchanged_on_error,
)
from .._core.class_scores import Codes
from .._core.labels import read_labels
from .._core.local_maps import LocalMaps
from .._core.moments import Array
from .._core.neighbours import nearest
from .._fit.task import Task, embedded, seeded
from ..methods import SupervisedPCA
from .classes import RowMap, n_folds, unseen_places, warn_of_column
from .selection import select

__all__ = ["ValueMap"]

FEWEST_ROWS = 10  # for `select`
NEIGHBOURS = 15
SLICES, ROWS_A_SLICE = 10, 50


class ValueMap(RegressorMixin, RowMap):
    """A 2-D map for continuous labels: the predicted label, and the variation of the rows.

    The first axis is the predicted number t. The second is the main direction of the rows near
    that level, which changes smoothly with t:

        position(x) = (t(x), detail s sum_j w_j(t(x)) L_j(x))

    with local maps L_j of slices of the rows by t, weights w_j that interpolate between the
    neighbouring slices, and the standard deviation s of t.

    Parameters
    ----------
    estimator : transformer, default=None
        The base model. A clone is fitted. None is the model that `labelens.select` finds.
    detail : float, default=1
        Size of the second axis, compared with the first.
    missing_label : object, default=None
        Marker of rows without a label. They do not take part in the fit; `transform` places them.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out rows and of the base model, if it has none.

    Attributes
    ----------
    estimator_ : transformer
        The base model, fitted on all rows.
    levels_ : ndarray of shape (n_slices,)
        Mean predictions of the slices.
    heldout_rows_ : ndarray of shape (n_heldout,)
        Rows of X whose prediction is by a model that was fitted without them: all labelled rows up
        to 3,000, else 3,000 of them.
    heldout_embedding_ : ndarray of shape (n_heldout, 2)
        The places of these rows by those predictions.
    heldout_score_ : float
        R^2 of those predictions.
    n_features_in_ : int
        Columns expected.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if X had string ones.

    See Also
    --------
    labelens.Atlas : the map of classes.

    Notes
    -----
    The prediction is a linear function of the embedded row; with a mean of the 15 nearest rows,
    where that lowers the squared error of held-out rows by more than a standard error. A local map
    is the leading eigenvector of the covariance of a slice of held-out rows, of standardized
    columns; its sign is that of the slice below.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from labelens import SupervisedPCA, ValueMap
    >>> X, y = load_diabetes(return_X_y=True)
    >>> value_map = ValueMap(SupervisedPCA(1, shrinkage=0.1), random_state=0).fit(X, y)
    >>> value_map.transform(X).shape
    (442, 2)
    >>> value_map.heldout_score_ > 0.4
    True
    """

    _fitted = "levels_"
    _prediction: Prediction
    _local: LocalMaps
    _size: float

    def __init__(
        self,
        estimator: Transformer | None = None,
        *,
        detail: float = 1.0,
        missing_label: object = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.detail = detail
        self.missing_label = missing_label
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Fit the base model, the prediction and the local maps.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Numbers.

        Returns
        -------
        self
        """
        check_number(self.detail, "detail", 0)
        with unchanged_on_error(self):
            rows = devices.host(check_rows(self, X, reset=True))
            numbers, which = _numbers(y, rows.shape[0], self.missing_label)
            rows, seed = rows[which], check_seed(self.random_state)
            task = Task(rows, numbers, "numbers")
            if self.estimator is not None:
                self.estimator_ = seeded(self.estimator, seed).fit(rows, numbers)
            elif task.n < FEWEST_ROWS:
                self.estimator_ = SupervisedPCA(1, label_kernel="linear").fit(rows, numbers)
            else:
                self.estimator_ = select(
                    rows, numbers, task="numbers", cv=min(5, task.n // 2), random_state=seed
                ).estimator
            frame = embedded(self.estimator_, rows)
            some, places = unseen_places(clone(self.estimator_), task, frame, seed)
            known = numbers[some]
            folds = Task(places, known, "numbers").folds(n_folds(len(some)), seed)
            self._prediction, t = Prediction.of(places, known, folds)
            self.heldout_score_ = float(r2_score(known, t))
            self._arrange(rows[some], t)
            self.heldout_rows_ = which[some]
            self.heldout_embedding_ = self._place(rows[some], t)
        return self

    def _arrange(self, rows: Any, t: Array) -> None:
        """Local maps of slices, by held-out predictions."""
        c = int(np.clip(len(t) // ROWS_A_SLICE, 1, SLICES))
        codes = np.empty(len(t), dtype=np.intp)
        codes[np.argsort(t, kind="stable")] = np.arange(len(t)) * c // len(t)
        local = LocalMaps.of(rows, codes, np.ones(len(t)), c, 1)
        for j in range(1, c):
            if local.axes[j, :, 0] @ local.axes[j - 1, :, 0] < 0:
                local.axes[j] *= -1
        self._local, self._size = local, float(t.std())
        self.levels_ = np.bincount(codes, t) / np.bincount(codes)

    def _place(self, rows: Any, t: Array) -> Array:
        weights = interpolation(self.levels_, t)
        size = np.full(len(self.levels_), self.detail * self._size)
        second = self._local.mixed(self._local.project(rows), weights, size)
        return np.column_stack([t, second])

    def _placed(self, X: Any) -> tuple[Any, Array]:
        rows, t = self._predicted(X)
        return rows, self._place(rows, t)

    def predict(self, X: MatrixLike) -> Array:
        """Predict the number of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return devices.shown_at(self._predicted(X)[1], devices.place_of(X))

    def predict_interval(
        self, X: MatrixLike, confidence_level: float | Sequence[float] = 0.9
    ) -> tuple[Array, Array]:
        """Predict intervals that hold the number with a stated probability (split conformal).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        confidence_level : float or sequence of float, default=0.9
            The share of new rows whose interval is to hold their number, if they are like the
            training rows. All intervals have the same width, that of errors of held-out rows.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The prediction, in the middle of the interval.
        y_interval : ndarray of shape (n_samples, 2, n_levels)
            Lower and upper ends. As in MAPIE. Infinite where held-out rows are too few.
        """
        levels = np.atleast_1d(np.asarray(confidence_level, dtype=float))
        for level in levels:
            check_number(float(level), "confidence_level", 0, 1, open_low=True)
        predicted, errors = self._predicted(X)[1], np.append(self._prediction.errors, np.inf)
        ranks = np.ceil(len(errors) * levels - 1e-9).astype(np.intp)
        widths = np.stack([-errors[ranks - 1], errors[ranks - 1]])
        where = devices.place_of(X)
        intervals: Array = predicted[:, None, None] + widths
        return devices.shown_at(predicted, where), devices.shown_at(intervals, where)

    def _predicted(self, X: Any) -> tuple[Any, Array]:
        rows = devices.host(self._checked(X))
        return rows, self._prediction(embedded(self.estimator_, rows))


def state_of_map(value_map: ValueMap) -> tuple[Prediction, LocalMaps, float]:
    """State for a model file besides the attributes."""
    return value_map._prediction, value_map._local, value_map._size


def restore_map(value_map: ValueMap, prediction: Prediction, local: LocalMaps, size: float) -> None:
    value_map._prediction, value_map._local, value_map._size = prediction, local, size


@dataclass(frozen=True)
class Prediction:
    """A linear function of embedded rows, and a mean of neighbours; weighted, with a constant."""

    linear: Array  # (k + 1,), the constant first
    references: Array  # (m, k)
    values: Array  # (m,)
    weights: Array  # (3,)
    errors: Array  # (m,) of the references, each by models without it; absolute values, sorted

    def parts(self, places: Array) -> Array:
        """(n, k) -> (n, 3): one, the linear function, the mean of neighbours."""
        k = min(NEIGHBOURS, len(self.references))
        near = self.values[nearest(self.references, places, k)].reshape(len(places), -1)
        linear = self.linear[0] + places @ self.linear[1:]
        return np.column_stack([np.ones(len(places)), linear, near.mean(axis=1)])

    def __call__(self, places: Array) -> Array:
        result: Array = self.parts(places) @ self.weights
        return result

    @classmethod
    def of(
        cls, places: Array, numbers: Array, folds: list[tuple[Codes, Codes]]
    ) -> tuple[Prediction, Array]:
        """The prediction for new rows, and (n,) cross-fitted predictions of the given rows."""

        def fitted(which: Any) -> Prediction:
            with_one = np.column_stack([np.ones(len(places[which])), places[which]])
            found = np.linalg.lstsq(with_one, numbers[which], rcond=None)[0]
            return cls(found, places[which], numbers[which], alone, np.empty(0))

        alone, both = np.array([0.0, 1.0, 0.0]), np.zeros(3)
        parts = np.empty((len(numbers), 3))
        for train, test in folds:
            parts[test] = fitted(train).parts(places[test])
        shift, level = parts[:, 1:].mean(axis=0), numbers.mean()
        both[1:] = nnls(parts[:, 1:] - shift, numbers - level)[0]
        both[0] = level - shift @ both[1:]
        gain = (parts @ alone - numbers) ** 2 - (parts @ both - numbers) ** 2
        better = gain.mean() > gain.std() / np.sqrt(len(gain))
        weights = both if better else alone
        whole, errors = fitted(slice(None)), np.sort(np.abs(numbers - parts @ weights))
        return cls(whole.linear, places, numbers, weights, errors), parts @ weights


def interpolation(levels: Array, t: Array) -> Array:
    """(n, c) weights of increasing levels: linear between neighbours, constant beyond the ends."""
    eye = np.eye(len(levels))
    return np.column_stack([np.interp(t, levels, column) for column in eye])


def _numbers(y: Any, n: int, marker: Any) -> tuple[Array, Codes]:
    """The numbers of the labelled rows, and which rows these are."""
    if y is None:
        raise ValueError("ValueMap requires y to be passed, but the target y is None.")
    warn_of_column(y)
    labels, labelled = read_labels(y, n, marker)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or labels.dtype.kind not in "iufb":
        raise ValueError("ValueMap needs one column of numbers as y. For classes, use Atlas.")
    numbers = labels.astype(np.float64)
    if len(numbers) < 2:
        raise ValueError(f"y has n_samples={len(numbers)}; at least two are required.")
    return numbers, np.flatnonzero(labelled)
