"""Held-out embeddings: each row by a model that was fitted without its label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from .._base.types import CrossValidation, LabelsLike, MatrixLike, RandomState, Transformer
from .._base.validation import check_seed
from .._core.moments import Array
from .._fit.folds import embedded_without
from .._fit.task import Rows, Task, embedded, seeded

# Folds from which on one factor of the exact kernel costs less than a factor for each.
MANY_FOLDS = 8


@dataclass(frozen=True, eq=False)
class CrossEmbedding:
    """The outcome of `cross_embed`.

    Attributes
    ----------
    Z : ndarray of shape (n_samples, n_components)
        Each row by a model that was fitted without its label.
    fitted : ndarray of shape (n_samples, n_components)
        Each row by the model of all rows, as `fit_transform` shows it, in the same frame.
    fold : ndarray of shape (n_samples,)
        The fold in which a row was held out.
    """

    Z: Array
    fitted: Array
    fold: Rows

    def __repr__(self) -> str:
        n, k = self.Z.shape
        folds = int(self.fold.max()) + 1
        return f"CrossEmbedding of {n:,} rows in {k} dimensions, held out in {folds} folds"


def cross_embed(
    estimator: Transformer,
    X: MatrixLike,
    y: LabelsLike,
    *,
    cv: CrossValidation = 5,
    random_state: RandomState | None = None,
) -> CrossEmbedding:
    """Embed each row by a model that was fitted without its label, all in one frame.

    `fit_transform` uses the labels of the rows it embeds, so it separates classes even in noise.
    Here the rows of a fold are placed by a model fitted on the other folds. Models of different
    folds agree up to a rotation, a reflection and a shift; by these, chosen by its training rows
    alone, each is moved onto the model of all rows, so that the folds share one frame.

    Distances between rows of one fold do not depend on the labels of that fold. Rows of different
    folds were placed by models that used each other's labels. In pure noise this shifts the means
    of classes slightly, too little to be visible in a plot. For a test, use `permutation_report`.

    Parameters
    ----------
    estimator : transformer
        One of labelens, or any other with `fit(X, y)` and `transform(X)`. It is cloned.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    cv : int, splitter or iterable of (train, test) rows, default=5
        Number of stratified folds of shuffled rows, or a splitter, or the folds.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of the estimator if it has none: folds differ by their rows only.

    Returns
    -------
    CrossEmbedding
        With `Z`, `fitted` and `fold`.

    See Also
    --------
    labelens.plot.cross_embedding : both plots, side by side.

    Examples
    --------
    >>> import numpy as np
    >>> from labelens import SupervisedPCA, cross_embed, knn_score
    >>> X, y = np.random.default_rng(0).normal(size=(60, 200)), np.arange(60) % 5
    >>> crossed = cross_embed(SupervisedPCA(4), X, y, random_state=0)
    >>> crossed
    CrossEmbedding of 60 rows in 4 dimensions, held out in 5 folds
    >>> knn_score(crossed.fitted[:40], y[:40], crossed.fitted[40:], y[40:])  # of noise
    1.0
    >>> knn_score(crossed.Z[:40], y[:40], crossed.Z[40:], y[40:])
    0.1
    """
    task, seed = Task.of(estimator, X, y), check_seed(random_state)
    model = seeded(estimator, seed)
    fitted = embedded(task.fit(model), task.X)
    Z, fold = np.empty_like(fitted), np.empty(task.n, dtype=np.intp)
    for number, part in enumerate(fold_embeddings(model, task, task.folds(cv, seed))):
        Z[part.test], fold[part.test] = part.moved_onto(fitted), number
    return CrossEmbedding(Z, fitted, fold)


@dataclass(frozen=True, eq=False)
class FoldEmbedding:
    """All rows, embedded by a model of some of them."""

    train: Rows
    test: Rows
    Z: Array  # (n, k)

    def moved_onto(self, frame: Array) -> Array:
        """The held-out rows, moved as takes the training rows to their places in the frame.

        The least-squares rotation or reflection, and shift: orthogonal Procrustes. The frame has
        seen the labels of the held-out rows, so these rows have no say in where they go.
        """
        if frame.shape[1] != self.Z.shape[1]:
            raise ValueError(
                f"{frame.shape[1]} components were fitted on all rows and {self.Z.shape[1]} on "
                "those of a fold, which cannot share one frame; set n_components to a number "
                "that each fold can have."
            )
        mine, theirs = self.Z[self.train], frame[self.train]
        centre, there = mine.mean(axis=0), theirs.mean(axis=0)
        rotation, _ = linalg.orthogonal_procrustes(mine - centre, theirs - there)
        return (self.Z[self.test] - centre) @ rotation + there


def fold_embeddings(
    model: Any, task: Task, folds: list[tuple[Rows, Rows]]
) -> Iterator[FoldEmbedding]:
    """All rows by clones of the model, one for each fold, fitted on its training rows."""
    if len(folds) >= MANY_FOLDS:
        several = embedded_without(model, task.X, task.labels, [train for train, _ in folds])
        if several is not None:
            for (train, test), Z in zip(folds, several, strict=True):
                yield FoldEmbedding(train, test, Z)
            return
    for train, test in folds:
        yield FoldEmbedding(train, test, embedded(task.fit(model, train), task.X))
