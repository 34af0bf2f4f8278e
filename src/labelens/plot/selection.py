"""How the kernel width matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._base.optional import require
from .._base.types import CrossValidation, LabelsLike, MatrixLike, RandomState, Transformer
from .._base.validation import check_number, check_rows, check_seed
from .._core.moments import Array
from .._fit.shuffles import shuffler
from .._fit.task import Task, embedded
from ..methods import KernelSupervisedRandomProjection
from .canvas import BLUE, GREY, VERMILION, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FACTORS = np.logspace(-2, 2, 9)  # around gamma="scale"
MOST_COMPONENTS = 9


def gamma_curve(
    X: MatrixLike,
    y: LabelsLike,
    *,
    estimator: Transformer | None = None,
    gammas: ArrayLike | None = None,
    cv: CrossValidation = 5,
    ax: Axes | None = None,
    random_state: RandomState | None = None,
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
        splitter, which may hold rows out more than once.
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
    task = Task.of(estimator, check_rows(None, X, reset=True), y)
    gammas, scores = gamma_scores(task, estimator, gammas, cv, random_state)
    ax = axes_or_new(ax, grid="both")
    looks = ((BLUE, "o", "labels as they are"), (GREY, "s", "training labels shuffled"))
    for (colour, marker, name), table in zip(looks, scores, strict=True):
        mean, std = table.mean(axis=1), table.std(axis=1)
        ax.fill_between(gammas, mean - std, mean + std, color=colour, alpha=0.15, lw=0)
        ax.plot(gammas, mean, color=colour, marker=marker, ms=4.5, lw=1.6, label=name)
    means = scores[0].mean(axis=1)
    best = int(np.argmax(means))
    classes = task.kind == "classes"
    shown = f"{means[best]:.1%}" if classes else f"{means[best]:.2f}"
    ax.plot(
        gammas[best], means[best], ls="", marker="o", ms=11, mfc="none", mec=VERMILION, mew=1.8,
        label=f"best: {shown} at {gammas[best]:.2g}",
    )  # fmt: skip
    ax.set_xscale("log")
    ax.set(xlabel="gamma", ylabel=f"held-out {task.metric()}")
    if classes:
        ax.yaxis.set_major_formatter(
            require("matplotlib.ticker", extra="cli").PercentFormatter(1, decimals=0)
        )
    ax.legend(
        frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=9
    )  # above: bands leave no room inside
    return ax


def gamma_scores(
    task: Task, estimator: Any, gammas: Any, cv: Any, random_state: Any
) -> tuple[Array, Array]:
    """What the curve shows: gammas, and scores as in `_scores`."""
    if task.labels.ndim != 1:
        raise ValueError(f"y has {task.labels.shape[1]} columns; neighbours predict one at a time.")
    seed = check_seed(random_state)
    if estimator is None:
        estimator = _default(task, seed)
    if "gamma" not in estimator.get_params():
        raise TypeError(
            f"{type(estimator).__name__} has no parameter gamma; the kernel methods have one."
        )
    if gammas is None:
        middle = clone(estimator).set_params(gamma="scale").fit(task.X, task.labels).gamma_
        gammas = middle * FACTORS
    gammas = np.unique([check_number(gamma, "gamma", 0, open_low=True) for gamma in gammas])
    if len(gammas) == 0:
        raise ValueError("gammas is empty.")
    return gammas, _scores(task, estimator, gammas, cv, seed)


def _default(task: Task, seed: int) -> KernelSupervisedRandomProjection:
    if task.kind == "numbers":
        return KernelSupervisedRandomProjection(
            2, label_kernel="rbf", scale="minmax", random_state=seed
        )
    k = min(len(set(task.labels.tolist())) - 1, MOST_COMPONENTS)
    return KernelSupervisedRandomProjection(max(k, 1), scale="minmax", random_state=seed)


def _scores(task: Task, estimator: Any, gammas: Array, cv: Any, seed: int) -> Array:
    """(2, n_gammas, n_folds): with labels as they are, and with those of training shuffled."""
    draw = np.random.default_rng(seed)
    folds = task.splits(cv, seed)
    scores = np.empty((2, len(gammas), len(folds)))
    for j, (train, test) in enumerate(folds):
        seen, unseen, labels = task.rows(train), task.rows(test), task.labels[train]
        for control, own in enumerate((labels, labels[shuffler(seen, labels)(draw)])):
            for i, gamma in enumerate(gammas):
                model = clone(estimator).set_params(gamma=gamma).fit(seen, own)
                guesses = task.guesses(embedded(model, seen), own, embedded(model, unseen))
                scores[control, i, j] = task.score(guesses, task.labels[test])
    return scores
