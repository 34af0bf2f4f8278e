"""Maps of classes: a disc for every class, and in each disc the main directions of its class."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin, clone

from .._base import devices
from .._base.types import LabelsLike, MatrixLike, RandomState, Transformer
from .._base.validation import (
    check_is_fitted,
    check_number,
    check_rows,
    check_seed,
    check_weight,
    unchanged_on_error,
)
from .._core.class_scores import ClassScores
from .._core.labels import read_labels
from .._core.labels.vocabulary import as_class_array
from .._core.local_maps import LocalMaps
from .._core.moments import Array
from .._fit.task import embedded
from ..methods import SupervisedPCA
from .arrange import Grown, arrange, blocks, place
from .classes import LabelledRows, RowMap, check_temperature, read_classes, with_components
from .conformal import Conformal, ConformalSets
from .selection import select

__all__ = ["Atlas"]

LAYOUTS = ("plane", "circle", "sphere")
FEWEST_ROWS = 10  # for `select`


class Atlas(ConformalSets, ClassifierMixin, RowMap):
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
        places between discs. 1 uses the calibrated probabilities. "auto" is 0.1, or 0.25 or 0.05
        where 1 and 15 neighbours on the map of held-out rows predict better with it, by more than
        one standard error.
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
    _grown: Grown  # after partial_fit

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
            Weights of the rows; the base model must accept them.

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
            if hasattr(self, "_grown"):
                del self._grown
        return self

    def partial_fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add rows, and arrange the map of all rows so far.

        `estimator` must be given, with `partial_fit` and numbers for parameters that `fit`
        computes from all rows, such as `gamma`. Up to 15,000 distinct rows are kept.
        `heldout_rows_` are numbers of kept rows. With one class only there is no map yet.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. Classes that are new after 15,000 distinct rows get no component.
        classes : array-like, default=None
            Not needed: classes may come in any part.

        Returns
        -------
        self
        """
        self._check_parameters()
        if not hasattr(self.estimator, "partial_fit"):
            raise TypeError(
                "partial_fit needs a base model that has it; pass estimator, such as "
                f"SupervisedPCA(). It is {self.estimator!r}."
            )
        grown = getattr(self, "_grown", None)
        if grown is None and hasattr(self, "anchors_"):
            raise ValueError("This atlas was made by fit or load, which keep no rows to add to.")
        with unchanged_on_error(self):
            rows = devices.host(check_rows(self, X, reset=grown is None))
            weight = check_weight(sample_weight, rows)
            labels, labelled = read_labels(y, rows.shape[0], self.missing_label)
            which = np.flatnonzero(labelled)
            weight = np.ones(len(labels)) if weight is None else weight[which]
            part = Grown(rows[which], labels, weight)
            self._grown = part if grown is None else grown.merge(part)
            self._grown.arrange(self)
        return self

    def merge(self, other: Self) -> Self:
        """Take in the rows of another atlas, as if fitted on the rows of both.

        Parameters
        ----------
        other : Atlas with the same parameters, made by partial_fit; it is not changed

        Returns
        -------
        self
        """
        for one in (self, other):
            check_is_fitted(one, "anchors_")
            if not hasattr(one, "_grown"):
                raise ValueError("merge takes atlases made by partial_fit, which keeps their rows.")
        if repr(self) != repr(other):
            raise ValueError(f"The parameters differ: {self!r} and {other!r}.")
        with unchanged_on_error(self):
            self._grown = self._grown.merge(other._grown)
            self._grown.arrange(self)
        return self

    def _placed(self, X: Any) -> tuple[Any, Array]:
        rows, scores = self._scored(X)
        return rows, place(self, scores, self._local.project(devices.host(rows)))

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
        check_temperature(self.temperature)

    def _scored(self, X: Any) -> tuple[Any, Array]:
        """The rows, and their (n, c) class scores on the host."""
        rows = self._checked(X)
        places = embedded(self.estimator_, rows)
        scores = np.empty((rows.shape[0], len(self.classes_)))
        for here in blocks(len(scores), scores.shape[1]):
            scores[here] = self._scores(places[here])
        return rows, scores

    @property
    def votes_(self) -> bool:
        check_is_fitted(self, "anchors_")
        return self._scores.votes is not None

    @property
    def _n_features_out(self) -> int:  # type: ignore[override]
        return int(self.anchors_.shape[1])


def state_of(atlas: Atlas) -> tuple[ClassScores, LocalMaps, Conformal]:
    """State for a model file besides the attributes."""
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
