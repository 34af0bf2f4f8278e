"""How the kernel width matters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from .._optional import require
from .._validation import check_number, check_rows, check_seed
from ..labels import choose_kernel, read_labels
from ..methods import KernelSupervisedRandomProjection
from ..metrics import knn_score
from ..moments import Array
from .canvas import COLOURS, GREY, Axes, axes_or_new

FACTORS = np.logspace(-2, 2, 9)  # around gamma="scale"
MOST_COMPONENTS = 9
NEIGHBOURS = 5  # for continuous labels


def gamma_curve(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    gammas: Any = None,
    cv: Any = 5,
    ax: Axes = None,
    random_state: Any = None,
) -> Axes:
    """Draw how well neighbours in the embedding predict held-out labels, against gamma.

    The same with shuffled training labels is a control: what luck and the test alone would show.
    Lines are means over the folds, bands a standard deviation to each side, the ring is the best.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Classes (the score is the accuracy of 1-NN) or continuous labels (R^2 of 5-NN).
    estimator : estimator with a parameter `gamma`, default=None
        None is KernelSupervisedRandomProjection(scale="minmax") with n_classes - 1 components, at
        most 9, or with 2 for continuous labels.
    gammas : array-like of float, default=None
        None is nine values from a hundredth of gamma="scale" to a hundred times as much.
    cv : int or splitter, default=5
        Number of folds, of shuffled rows and with the classes in proportion, or a scikit-learn
        splitter.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, of the shuffled labels and of the default estimator.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from labelens import plot
    >>> X, y = make_circles(200, factor=0.4, noise=0.1, random_state=0)
    >>> ax = plot.gamma_curve(X, y, gammas=[0.01, 1, 100], cv=3, random_state=0)
    >>> ax.get_xscale()
    'log'
    """
    gammas, scores, classes = gamma_scores(X, y, estimator, gammas, cv, random_state)
    ax = axes_or_new(ax, grid="both")
    looks = ((COLOURS[0], "o", "labels as they are"), (GREY, "s", "training labels shuffled"))
    for (colour, marker, name), table in zip(looks, scores, strict=True):
        mean, std = table.mean(axis=1), table.std(axis=1)
        ax.fill_between(gammas, mean - std, mean + std, color=colour, alpha=0.15, lw=0)
        ax.plot(gammas, mean, color=colour, marker=marker, ms=4.5, lw=1.6, label=name)
    means = scores[0].mean(axis=1)
    best = int(np.argmax(means))
    shown = f"{means[best]:.1%}" if classes else f"{means[best]:.2f}"
    ax.plot(
        gammas[best], means[best], ls="", marker="o", ms=11, mfc="none", mec=COLOURS[1], mew=1.8,
        label=f"best: {shown} at {gammas[best]:.2g}",
    )  # fmt: skip
    ax.set_xscale("log")
    ax.set(xlabel="gamma", ylabel="held-out accuracy of 1-NN" if classes else "held-out R² of 5-NN")
    if classes:
        ax.yaxis.set_major_formatter(
            require("matplotlib.ticker", extra="cli").PercentFormatter(1, decimals=0)
        )
    ax.legend(
        frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=9
    )  # above: bands leave no room inside
    return ax


def gamma_scores(
    X: Any, y: Any, estimator: Any, gammas: Any, cv: Any, random_state: Any
) -> tuple[Array, Array, bool]:
    """What the curve shows: gammas, scores as in `_scores`, and whether labels are classes."""
    rows = check_rows(None, X, reset=True)
    if y is None:
        raise ValueError("y is None: the curve shows how well labels are predicted.")
    labels, _ = read_labels(y, rows.shape[0], None)
    if labels.ndim != 1:
        raise ValueError(f"y has {labels.shape[1]} columns; neighbours predict one at a time.")
    classes = choose_kernel(labels) == "delta"
    seed = check_seed(random_state)
    if estimator is None:
        k = min(len(set(labels.tolist())) - 1, MOST_COMPONENTS) if classes else 2
        estimator = KernelSupervisedRandomProjection(max(k, 1), scale="minmax", random_state=seed)
    if "gamma" not in estimator.get_params():
        raise TypeError(
            f"{type(estimator).__name__} has no parameter gamma; the kernel methods have one."
        )
    if gammas is None:
        middle = clone(estimator).set_params(gamma="scale").fit(rows, labels).gamma_
        gammas = middle * FACTORS
    gammas = np.unique([check_number(gamma, "gamma", 0, open_low=True) for gamma in gammas])
    if len(gammas) == 0:
        raise ValueError("gammas is empty.")
    folds = _folds(cv, rows, labels, classes, seed)
    scores = _scores(estimator, gammas, rows, labels, classes, folds, seed)
    return gammas, scores, classes


def _folds(cv: Any, rows: Any, labels: Any, classes: bool, seed: int) -> list[Any]:
    if isinstance(cv, (int, np.integer)):
        check_number(cv, "cv", 2, integer=True)
        cv = (StratifiedKFold if classes else KFold)(cv, shuffle=True, random_state=seed)
    return list(check_cv(cv, labels, classifier=classes).split(rows, labels))


def _scores(
    estimator: Any,
    gammas: Array,
    rows: Any,
    labels: Any,
    classes: bool,
    folds: list[Any],
    seed: int,
) -> Array:
    """(2, n_gammas, n_folds): with labels as they are, and with those of training shuffled."""
    draw = np.random.default_rng(seed)
    scores = np.empty((2, len(gammas), len(folds)))
    for j, (train, test) in enumerate(folds):
        for control, own in enumerate((labels[train], draw.permutation(labels[train]))):
            for i, gamma in enumerate(gammas):
                model = clone(estimator).set_params(gamma=gamma).fit(rows[train], own)
                scores[control, i, j] = knn_score(
                    model.transform(rows[train]), own, model.transform(rows[test]), labels[test],
                    1 if classes else NEIGHBOURS,
                )  # fmt: skip
    return scores
