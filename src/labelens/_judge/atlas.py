"""Maps of classes: a disc for every class, and in each disc the main directions of its class."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)

from .._base import devices
from .._base.page import DocumentationLink
from .._base.types import LabelsLike, MatrixLike, RandomState, Transformer
from .._base.validation import (
    check_is_fitted,
    check_number,
    check_rows,
    check_seed,
    check_weight,
    unchanged_on_error,
)
from .._core.class_scores import ClassScores, Codes, calibrated_scores
from .._core.labels.vocabulary import as_class_array
from .._core.layout import anchors
from .._core.local_maps import LocalMaps
from .._core.moments import Array
from .._core.neighbours import nearest
from .._fit.task import Task, embedded
from ..methods import SupervisedPCA
from .classes import LabelledRows, held_out_places, n_folds, read_classes, with_components
from .conformal import Conformal, ConformalSets
from .selection import select

__all__ = ["Atlas"]

LAYOUTS = ("plane", "circle", "sphere")
FEWEST_ROWS = 10  # for `select`
# Temperatures that are tried. Higher ones mix discs so much that the local maps are lost.
TEMPERATURES = (0.25, 0.1, 0.05)
NEIGHBOURS = 15
BLOCK_NUMBERS = 1 << 22  # numbers of rows and classes held at a time


class Atlas(
    DocumentationLink,
    ConformalSets,
    ClassNamePrefixFeaturesOutMixin,
    ClassifierMixin,
    TransformerMixin,
    BaseEstimator,
):
    """A map of classes that separates them and shows the variation within each.

    Every class has a disc; similar classes have discs near each other. The class probabilities of
    a row choose its disc, or a place between discs if the class is in doubt. Its place within a
    disc shows the two main directions of that class:

        position(x) = sum_c p_c(x) (a_c + r_c L_c(x))

    with class probabilities p_c, anchors a_c, radii r_c and local maps L_c.

    Parameters
    ----------
    estimator : transformer, default=None
        The base model that embeds the rows for the class probabilities. A clone is fitted, its
        `n_components`, if it has that parameter, set to n_classes - 1. None is the model that
        `labelens.select` finds.
    layout : {"plane", "circle", "sphere"}, default="plane"
        Where the anchors are: in the unit disc, on a circle, or on a sphere (three dimensions).
    detail : float, default=0.85
        Size of the local maps, from 0 (rows of a class are on its anchor) to 1 (discs touch).
    temperature : float or "auto", default="auto"
        Low temperatures move rows to the discs of their most probable classes, high ones towards
        places between discs. 1 uses the calibrated probabilities. "auto" is the highest of 0.25,
        0.1 and 0.05 whose map of held-out rows is the most accurate, within one standard error.
    missing_label : object, default=None
        Marker of rows without a label. They do not take part in the fit; `transform` places them.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out rows and of the base model, if it has none.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_classes, 2) or (n_classes, 3)
        The centres of the discs, within the unit disc or ball.
    radii_ : ndarray of shape (n_classes,)
        The radii of the discs, which do not overlap. `detail` times these bounds the local maps.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    estimator_ : transformer
        The base model, fitted on all rows.
    temperature_ : float
        The temperature used.
    votes_ : bool
        Whether votes of neighbours take part in the class probabilities. They do if they lower the
        log loss of held-out rows by more than a standard error.
    heldout_rows_ : ndarray of shape (n_heldout,)
        Rows of X whose class probabilities were computed by a model that was fitted without them:
        all labelled rows up to 3,000, else 3,000 of them.
    heldout_embedding_ : ndarray of shape (n_heldout, 2) or (n_heldout, 3)
        The places of these rows by those probabilities. Plot them for an honest map: `transform`
        separates the training rows better than new ones.
    heldout_score_ : float
        Accuracy of the class with the largest of those probabilities.
    n_features_in_ : int
        Columns expected.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if X had string ones.

    See Also
    --------
    labelens.plot.atlas : draws it.
    labelens.Wheel : anchors on a circle, without local maps.

    Notes
    -----
    The class probabilities are a weighted product of linear discriminant analysis in the space of
    the base model and of distance-weighted votes of the 15 nearest rows. The weights minimize the
    log loss of held-out rows, so that `predict_proba` is calibrated.

    Distances between anchors follow the order of the dissimilarities of classes: how much smaller,
    on average, the score of the other class is for rows of a class. A local map is the projection
    of standardized columns on the leading eigenvectors of the covariance of its class, scaled so
    that 98 % of a Gaussian class are within the disc. It is linear within a class; distances
    between discs, and sizes of discs, have no meaning.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from labelens import Atlas, SupervisedPCA, knn_score
    >>> X, y = load_digits(return_X_y=True)
    >>> atlas = Atlas(SupervisedPCA(shrinkage=0.1), random_state=0).fit(X[:1200], y[:1200])
    >>> Z = atlas.transform(X)
    >>> round(knn_score(Z[:1200], y[:1200], Z[1200:], y[1200:]), 2)
    0.91
    >>> atlas.predict(X[1200:1205])
    array([7, 7, 3, 5, 1])
    """

    _scores: ClassScores
    _local: LocalMaps

    def __init__(
        self,
        estimator: Transformer | None = None,
        *,
        layout: Literal["plane", "circle", "sphere"] = "plane",
        detail: float = 0.85,
        temperature: float | Literal["auto"] = "auto",
        missing_label: object = None,
        random_state: RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.layout = layout
        self.detail = detail
        self.temperature = temperature
        self.missing_label = missing_label
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the base model, the class probabilities, the anchors and the local maps.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes, at least two.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; the base model has to accept them.

        Returns
        -------
        self
        """
        self._check_parameters()
        with unchanged_on_error(self):
            rows = check_rows(self, X, reset=True)
            weight = check_weight(sample_weight, rows)
            labels, codes, classes, which = read_classes(
                "The atlas", y, rows.shape[0], self.missing_label, weight
            )
            weight = None if weight is None else weight[which]
            some = devices.rows_at(rows, which)
            known = LabelledRows(some, labels, codes, weight, len(classes))
            seed = check_seed(self.random_state)
            self.estimator_ = known.fitted(base_model(self, known, seed))
            self.classes_ = as_class_array(classes)
            arrange(self, known, which, seed)
        return self

    def transform(self, X: MatrixLike) -> NDArray[Any]:
        """Place rows on the map.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2), or (n_samples, 3) for layout="sphere"
            float32 if X is, else float64; where X is.
        """
        rows, scores = self._scored(X)
        places = place(self, scores, self._local.project(devices.host(rows)))
        places = places.astype(np.float32 if devices.is_single(rows) else np.float64)
        return devices.shown_at(places, devices.place_of(X))

    def predict_proba(self, X: MatrixLike) -> Array:
        """Compute calibrated class probabilities.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`; where X is.
        """
        p: Array = softmax(self._scored(X)[1], axis=1)
        return devices.shown_at(p, devices.place_of(X))

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Predict the most probable class of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._scored(X)[1]
        return self.classes_[scores.argmax(axis=1)]

    def _check_parameters(self) -> None:
        if self.layout not in LAYOUTS:
            names = ", ".join(map(repr, LAYOUTS))
            raise ValueError(f"layout must be one of {names}, got {self.layout!r}.")
        check_number(self.detail, "detail", 0, 1)
        if not isinstance(self.temperature, str):
            check_number(self.temperature, "temperature", 0, open_low=True)
        elif self.temperature != "auto":
            raise ValueError(
                f"temperature must be 'auto' or a number > 0, got {self.temperature!r}."
            )

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "anchors_")
        return check_rows(self, X, reset=False)

    def _scored(self, X: Any) -> tuple[Any, Array]:
        """The rows, and their (n, c) class scores on the host."""
        rows = self._checked(X)
        places = embedded(self.estimator_, rows)
        scores = np.empty((rows.shape[0], len(self.classes_)))
        for here in _blocks(len(scores), scores.shape[1]):
            scores[here] = self._scores(places[here])
        return rows, scores

    @property
    def votes_(self) -> bool:
        check_is_fitted(self, "anchors_")
        return self._scores.votes is not None

    @property
    def _n_features_out(self) -> int:
        return int(self.anchors_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def state_of(atlas: Atlas) -> tuple[ClassScores, LocalMaps, Conformal]:
    """What a file has to hold besides the attributes."""
    return atlas._scores, atlas._local, atlas._conformal


def restore_state(
    atlas: Atlas, scores: ClassScores, local: LocalMaps, conformal: Conformal
) -> None:
    atlas._scores, atlas._local, atlas._conformal = scores, local, conformal


def base_model(atlas: Atlas, known: LabelledRows, seed: int) -> Any:
    """The estimator that embeds the rows: fitted if `select` has fitted it."""
    d = known.rows.shape[1]
    if atlas.estimator is not None:
        return with_components(atlas.estimator, known.c, d, seed)
    if len(known.codes) < FEWEST_ROWS:
        return SupervisedPCA(min(known.c - 1, d), shrinkage=0.1)
    model = select(known.rows, known.labels, random_state=seed).estimator
    return model if known.given is None else clone(model)


def arrange(atlas: Atlas, known: LabelledRows, which: Codes, seed: int) -> None:
    """Fit all but the base model, which is fitted."""
    rows, places = held_out_places(atlas.estimator_, known, seed)
    codes, weight = known.codes[rows], known.weight[rows]
    folds = Task(places, codes, "classes").folds(n_folds(len(codes)), seed)
    atlas._scores, scores = calibrated_scores(places, codes, weight, known.c, folds)
    atlas._conformal = Conformal.of(scores, codes, atlas._scores.means, places)
    apart = dissimilarities(scores, codes, weight, known.c)
    atlas.anchors_, atlas.radii_ = anchors(apart, atlas.layout)
    dimensions = atlas.anchors_.shape[1]
    there = devices.host(known.rows)
    atlas._local = LocalMaps.of(there, known.codes, known.weight, known.c, dimensions)
    points = atlas._local.project(there[rows])
    atlas.temperature_ = (
        _accurate_temperature(atlas, scores, points, codes)
        if isinstance(atlas.temperature, str)
        else float(atlas.temperature)
    )
    atlas.heldout_rows_ = which[rows]
    atlas.heldout_embedding_ = place(atlas, scores, points)
    atlas.heldout_score_ = float(weight @ (scores.argmax(axis=1) == codes) / weight.sum())


def place(atlas: Atlas, scores: Array, points: Array) -> Array:
    """(n, c) class scores, (n, q) projected rows -> (n, 2) or (n, 3) places."""
    places = np.empty((len(scores), atlas.anchors_.shape[1]))
    size = atlas.detail * atlas.radii_
    for here in _blocks(len(scores), scores.shape[1] * places.shape[1]):
        p = softmax(scores[here] / atlas.temperature_, axis=1)
        places[here] = p @ atlas.anchors_ + atlas._local.mixed(points[here], p, size)
    return places


def dissimilarities(scores: Array, codes: Codes, weight: Array, c: int) -> Array:
    """(n, c) scores -> (c, c) symmetric: by how much the score of the other class is smaller."""
    means = np.zeros((c, c))
    for number in range(c):
        own = codes == number
        if own.any():
            means[number] = weight[own] @ scores[own] / weight[own].sum()
    apart = np.diag(means)[:, None] - means
    apart = np.maximum(apart + apart.T, 0)
    np.fill_diagonal(apart, 0)
    return apart


def _accurate_temperature(atlas: Atlas, scores: Array, points: Array, codes: Codes) -> float:
    """The highest temperature whose map of held-out rows has the best accuracy, within an error."""
    right = []
    for temperature in TEMPERATURES:
        atlas.temperature_ = temperature
        places = place(atlas, scores, points)
        k = min(NEIGHBOURS, len(places) - 1)
        # A row is the first of its own neighbours.
        near = codes[nearest(places, places, k + 1)[:, 1:]]
        votes = np.zeros(scores.shape)
        np.add.at(votes, (np.arange(len(near))[:, None], near), 1)
        right.append((votes.argmax(axis=1) == codes).astype(float))
    accuracies = [float(one.mean()) for one in right]
    best = right[int(np.argmax(accuracies))]
    for temperature, one in zip(TEMPERATURES, right, strict=True):
        apart = best - one
        if apart.mean() <= apart.std() / np.sqrt(len(apart)):
            return temperature
    raise AssertionError  # the best is no worse than itself


def _blocks(n: int, width: int) -> list[slice]:
    size = max(1, BLOCK_NUMBERS // width)
    return [slice(start, start + size) for start in range(0, n, size)]
