"""Prediction sets with a stated coverage, and rows unlike all that a map was fitted on.

Split conformal prediction: held-out rows, whose probabilities come from models fitted without
them, say how small the probability of the true class of a new row may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from .._base.types import MatrixLike
from .._base.validation import check_is_fitted, check_number
from .._core.class_scores import ClassMeans, Codes
from .._core.moments import Array
from .._fit.task import embedded

UNLIKE = 0.01  # the conformity below which a row is unlike anything seen


@dataclass(frozen=True)
class Conformal:
    """Conformal prediction from the probabilities of held-out rows."""

    own: Array  # (m,) probabilities of their own classes
    codes: Codes  # (m,)
    evidence: Array  # (m,) largest discriminants

    @classmethod
    def of(cls, scores: Array, codes: Codes, means: ClassMeans, places: Array) -> Conformal:
        own = softmax(scores, axis=1)[np.arange(len(codes)), codes]
        return cls(own, codes, largest_discriminant(means, places))

    def least(self, level: float, number: int | None = None) -> float:
        """The probability from which on a class is in the set; of one class alone if numbered."""
        own = np.sort(self.own if number is None else self.own[self.codes == number])
        k = int(np.ceil((len(own) + 1) * level - 1e-9))
        return -np.inf if k > len(own) else float(own[len(own) - k])

    def conformity(self, evidence: Array) -> Array:
        """p-values: the share of held-out rows with no more evidence for any class."""
        below = np.searchsorted(np.sort(self.evidence), evidence, side="right")
        return (below + 1) / (len(self.evidence) + 1)


def largest_discriminant(means: ClassMeans, places: Array) -> Array:
    """(n, k) -> (n,) the largest of x.w_c + b_c, which is small far from all classes.

    Probabilities are relative: far from all classes the nearest may still have all of them.
    """
    found: Array = ((places - means.centre) @ means.weights + means.offsets).max(axis=1)
    return found


class ConformalSets:
    """Prediction sets and conformity of an `Atlas`."""

    _conformal: Conformal

    def predict_set(
        self,
        X: MatrixLike,
        confidence_level: float | Sequence[float] = 0.9,
        *,
        class_conditional: bool = False,
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Predict sets of classes that hold the true one with a stated probability.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        confidence_level : float or sequence of float, default=0.9
            The share of new rows whose set is to hold their class, if they are like the training
            rows.
        class_conditional : bool, default=False
            Whether this share is to be reached in every class; the sets are larger then.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The most probable class.
        y_set : ndarray of bool of shape (n_samples, n_classes, n_levels)
            Whether a class is in the set, in the order of `classes_`. As in MAPIE. A set may be
            empty: no class conforms.
        """
        atlas: Any = self
        levels = np.atleast_1d(np.asarray(confidence_level, dtype=float))
        for level in levels:
            check_number(float(level), "confidence_level", 0, 1, open_low=True)
        p = atlas.predict_proba(X)
        numbers = range(p.shape[1]) if class_conditional else [None]
        least = [[self._conformal.least(level, c) for c in numbers] for level in levels]
        sets = np.stack([p >= np.array(row) - 1e-12 for row in least], axis=2)
        return atlas.classes_[p.argmax(axis=1)], sets

    def class_coverage(self, confidence_level: float = 0.9) -> dict[Any, float]:
        """Share of the held-out rows of each class whose set of `predict_set` holds it.

        Parameters
        ----------
        confidence_level : float, default=0.9

        Returns
        -------
        dict of classes and floats
            The mean over all rows is the confidence level; a class far below it is one that sets
            often miss. Pass `class_conditional=True` then.
        """
        check_is_fitted(self, "anchors_")
        held, least = self._conformal, self._conformal.least(confidence_level)
        classes = getattr(self, "classes_", np.array([])).tolist()
        inside = held.own >= least
        rows = [inside[held.codes == c] for c in range(len(classes))]
        return {
            name: float(some.mean()) if len(some) else np.nan
            for name, some in zip(classes, rows, strict=True)
        }

    def conformity(self, X: MatrixLike) -> Array:
        """Compute how well rows conform to any class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            The share of held-out rows that conform no better. Below 0.01 a row is unlike anything
            that the map was fitted on, and its place and class mean nothing.
        """
        atlas: Any = self
        rows = atlas._checked(X)
        places = embedded(atlas.estimator_, rows)
        return self._conformal.conformity(largest_discriminant(atlas._scores.means, places))
