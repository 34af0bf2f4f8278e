"""Many classes in two dimensions: class anchors on a circle, and rows between them."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.optimize import brentq
from scipy.special import softmax

from .._base.types import LabelsLike, MatrixLike, RandomState, Transformer
from .._base.validation import check_rows, unchanged_on_error
from .._core.class_scores import class_means
from .._core.labels.vocabulary import as_class_array
from .._core.layout import circle
from .._core.moments import Array
from .._fit.task import embedded
from ..methods import KernelSupervisedPCA
from .classes import RowMap, check_temperature, read_classes, with_components

__all__ = ["Wheel"]

MOST_CONFIDENT = 0.98  # of training rows, in the mean
RIDGE = 1e-3  # share of the total covariance that is added to the one within classes
BLOCK_NUMBERS = 1 << 22  # class probabilities held at a time


class Wheel(RowMap):
    """A 2-D map of many classes: anchors on a circle, rows at the mean of their anchors.

    Two components separate few classes, n_classes - 1 components all of them. The wheel embeds rows
    in n_classes - 1 components, computes class probabilities from the embedding, and places a row
    at the mean of the anchors weighted by these. A row that surely belongs to a class lies at its
    anchor, a row between two classes on the line between their anchors, and an uncertain row in the
    middle.

    Parameters
    ----------
    estimator : transformer, default=None
        The base model. A clone is fitted, its `n_components`, if it has that parameter, set
        to n_classes - 1. None is KernelSupervisedPCA(shrinkage=1e-3, scale="minmax").
    temperature : float or "auto", default="auto"
        Low temperatures move rows to the anchors, high ones to the middle. "auto" calibrates the
        probabilities on the training rows: the mean of the largest probability equals the
        accuracy, or 0.98 if that is less.
    random_state : int, RandomState instance or None, default=None
        Seed of the default estimator. A given estimator has its own.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_classes, 2)
        Positions of the classes on the unit circle. They start at the left with the first class and
        go clockwise; classes that are confused with each other are neighbours.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    temperature_ : float
        The temperature used.
    estimator_ : transformer
        The base model, fitted.
    n_features_in_ : int
        Columns expected.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if X had string ones.

    Notes
    -----
    The score of a class is minus half the squared distance of the embedded row to the class mean,
    in units of the covariance within classes (linear discriminant analysis with equal priors).
    Probabilities are the softmax of scores / temperature. The order of the anchors is that of a
    clustering tree, improved by reversing segments while the confusion of neighbours increases.

    See Also
    --------
    labelens.plot.wheel : draws it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from labelens import SupervisedPCA, Wheel, knn_score
    >>> X, y = load_digits(return_X_y=True)
    >>> def held_out(model):
    ...     Z = model.fit(X[:1200], y[:1200]).transform(X)
    ...     return round(knn_score(Z[:1200], y[:1200], Z[1200:], y[1200:]), 2)
    >>> held_out(SupervisedPCA(2)), held_out(Wheel(random_state=0))
    (0.6, 0.94)
    """

    _centre: Array  # (k,)
    _weights: Array  # (k, c)
    _offsets: Array  # (c,)

    def __init__(
        self,
        estimator: Transformer | None = None,
        *,
        temperature: float | Literal["auto"] = "auto",
        random_state: RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.temperature = temperature
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: LabelsLike) -> Self:
        """Fit the embedding, the class scores, the order of the anchors and the temperature.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes, at least two.

        Returns
        -------
        self
        """
        check_temperature(self.temperature)
        with unchanged_on_error(self):
            rows = check_rows(self, X, reset=True)
            labels, codes, classes = numbered_classes(y, rows.shape[0])
            estimator = embedder(self, len(classes), rows.shape[1]).fit(rows, labels)
            arrange(self, estimator, embedded(estimator, rows), codes, classes)
        return self

    def _placed(self, X: Any) -> tuple[Any, Array]:
        rows = self._checked(X)
        return rows, place(self, embedded(self.estimator_, rows))


def embedder(wheel: Wheel, n_classes: int, n_features: int) -> Any:
    """The unfitted estimator that embeds the rows of a wheel."""
    model = wheel.estimator
    if model is None:
        model = KernelSupervisedPCA(shrinkage=1e-3, scale="minmax", random_state=wheel.random_state)
    return with_components(model, n_classes, n_features, None)


def arrange(
    wheel: Wheel, estimator: Any, embedded: Any, codes: NDArray[np.intp], classes: list[Any]
) -> None:
    """Fit a wheel to the fitted estimator's (n, k) embedded rows and their class numbers."""
    wheel.estimator_, wheel.classes_ = estimator, as_class_array(classes)
    embedded, c = np.asarray(embedded, dtype=np.float64), len(classes)
    wheel._centre, wheel._weights, wheel._offsets = _discriminant(embedded, codes, c)
    # The temperature and the order of the anchors need no more than some rows: some of every
    # class, also where classes come in turn and every other row would be of every other class.
    step = max(1, embedded.size // BLOCK_NUMBERS, len(codes) * c // BLOCK_NUMBERS)
    rows = np.sort(np.argsort(codes, kind="stable")[::step])
    some, own = _scores(wheel, embedded[rows]), codes[rows]
    wheel.temperature_ = (
        _confidence_like_accuracy(some, own)
        if isinstance(wheel.temperature, str)
        else float(wheel.temperature)
    )
    probabilities = softmax(some / wheel.temperature_, axis=1)
    wheel.anchors_ = _anchors(_confusion(probabilities, own))


def place(wheel: Wheel, embedded: Any) -> Array:
    """(n, k) embedded rows -> (n, 2) on the disc."""
    embedded = np.asarray(embedded, dtype=np.float64)
    points = np.empty((len(embedded), 2))
    block = max(1, BLOCK_NUMBERS // len(wheel.anchors_))
    for start in range(0, len(points), block):
        here = slice(start, start + block)
        scores = _scores(wheel, embedded[here])
        points[here] = softmax(scores / wheel.temperature_, axis=1) @ wheel.anchors_
    return points


def _scores(wheel: Wheel, embedded: Array) -> Array:
    """(n, k) -> (n, c), up to a term that is the same for all classes of a row."""
    return (embedded - wheel._centre) @ wheel._weights + wheel._offsets


def numbered_classes(y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.intp], list[Any]]:
    """The labels as an array, the number of each row's class, and the classes, sorted."""
    return read_classes("The wheel", y, n_rows)[:3]


def _discriminant(embedded: Array, codes: Any, n_classes: int) -> tuple[Array, Array, Array]:
    """The centre (k,), weights (k, c) and offsets (c,) of the class scores."""
    n = len(embedded)
    centre = embedded.mean(axis=0)
    embedded = embedded - centre
    means = _class_means(embedded, codes, n_classes)
    around = embedded - means[codes]
    # A flexible embedding leaves next to nothing within the classes of its training rows: the total
    # covariance keeps the units sane.
    metric = around.T @ around / n + RIDGE * (embedded.T @ embedded / n)
    variances, axes = linalg.eigh(metric)
    live = variances > 1e-12 * variances[-1] if variances[-1] > 0 else np.zeros(0, dtype=np.intp)
    whitened = axes[:, live] / np.sqrt(variances[live])
    # -|z - m|^2 / 2 = z.m - |m|^2 / 2 - |z|^2 / 2, and the last term is the same for all classes.
    places = means @ whitened
    return centre, whitened @ places.T, -np.square(places).sum(axis=1) / 2


def _confidence_like_accuracy(scores: Array, codes: Any) -> float:
    """The temperature at which the mean largest probability is the share of rows that are right."""
    scores = scores - scores.max(axis=1, keepdims=True)
    goal = min(float((scores.argmax(axis=1) == codes).mean()), MOST_CONFIDENT)
    scale = float(np.abs(scores).mean())
    if scale == 0:  # no row is nearer to one class than to another
        return 1.0

    def too_sure(logarithm: float) -> float:
        # The largest score is zero now, so its probability is one over the sum.
        return float((1 / np.exp(scores / np.exp(logarithm)).sum(axis=1)).mean()) - goal

    low, high = np.log(scale) - 20, np.log(scale) + 20
    if too_sure(low) <= 0 or too_sure(high) >= 0:  # no temperature is
        return float(np.exp(low if too_sure(low) <= 0 else high))
    return float(np.exp(brentq(too_sure, low, high, xtol=1e-12)))


def _confusion(probabilities: Array, codes: Any) -> Array:
    """(c, c) symmetric: how much of one class is taken for another."""
    mean = _class_means(probabilities, codes, probabilities.shape[1])
    return mean + mean.T


def _class_means(rows: Array, codes: Any, n_classes: int) -> Array:
    return class_means(rows, codes, np.ones(len(rows)), n_classes)


def _anchors(confusion: Array) -> Array:
    """(c, c) -> (c, 2) places on the unit circle, the confused ones side by side."""
    apart = confusion.max() - confusion
    np.fill_diagonal(apart, 0)
    return circle(apart)
