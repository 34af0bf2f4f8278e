"""Reports on embeddings: shuffled labels, approximation, stability, kernel coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._base.optional import require
from .._base.types import CrossValidation, LabelsLike, MatrixLike, RandomState, Transformer
from .._base.validation import check_number, check_rows, check_seed
from .._core.moments import Array
from .._fit.shuffles import shuffler
from .._fit.task import Task, embedded
from .._judge import ApproximationReport, CrossEmbedding, PermutationReport, StabilityReport
from ..methods import KernelSupervisedRandomProjection
from . import canvas
from .canvas import BLUE, GREY, VERMILION, Axes
from .embedding import scatter

FACTORS = np.logspace(-2, 2, 9)  # around gamma="scale"
MOST_COMPONENTS = 9


def cross_embedding(
    crossed: CrossEmbedding,
    y: LabelsLike | None = None,
    *,
    axes: Sequence[Axes] | None = None,
    names: Iterable[str] | None = None,
) -> tuple[Axes, Axes]:
    """Plot the embedding of `fit_transform`, and next to it the held-out embedding.

    Parameters
    ----------
    crossed : CrossEmbedding
        What `cross_embed` returned.
    y : array-like of shape (n_samples,), default=None
        Labels, as in `scatter`.
    axes : pair of matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    names : sequence of str, default=None
        What to call the classes, in the order of the sorted labels.

    Returns
    -------
    pair of matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import SupervisedPCA, cross_embed, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> left, right = plot.cross_embedding(cross_embed(SupervisedPCA(2), X, y), y)
    >>> left.get_title(), right.get_title()
    ('as fitted', 'held out')
    """
    if axes is None:
        figure = require("matplotlib.figure", extra="cli").Figure((11, 4.8), layout="constrained")
        axes = figure.subplots(1, 2)
        for ax in axes:
            ax.spines[["top", "right"]].set_visible(False)
    left, right = (canvas.axes_or_new(ax) for ax in axes)
    scatter(crossed.fitted, y, ax=left, names=names).set_title("as fitted")
    scatter(crossed.Z, y, ax=right, names=names).set_title("held out")
    if (key := left.get_legend()) is not None:
        key.remove()  # the same as on the right
    # One frame: where rows go when they are held out, to the middle perhaps, can be seen.
    limits = np.array([[ax.get_xlim(), ax.get_ylim()] for ax in (left, right)])
    low, high = limits[..., 0].min(axis=0), limits[..., 1].max(axis=0)
    for ax in (left, right):
        ax.set_xlim(low[0], high[0])
        if crossed.Z.shape[1] > 1:
            ax.set_ylim(low[1], high[1])
    return left, right


def permutation(report: PermutationReport, *, ax: Axes | None = None) -> Axes:
    """Draw the held-out score among those of shuffled labels, and the score as fitted.

    Parameters
    ----------
    report : PermutationReport
        What `permutation_report` returned.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import SupervisedPCA, permutation_report, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> report = permutation_report(SupervisedPCA(2), X, y, n_permutations=19, random_state=0)
    >>> plot.permutation(report).get_xlabel()
    '1-NN accuracy'
    """
    ax = canvas.axes_or_new(ax, 6.4, 4.2)
    everything = np.concatenate([report.null_score, report.null_training_score])
    own = [report.score, report.training_score]
    low, high = min(everything.min(), *own), max(everything.max(), *own)
    bins = np.linspace(low, high, 41).tolist() if high > low else [low - 0.5, low + 0.5]
    looks = (
        ("held out", BLUE, report.score, report.null_score),
        ("as fitted", VERMILION, report.training_score, report.null_training_score),
    )
    for name, colour, score, null in looks:
        ax.hist(null, bins=bins, color=colour, alpha=0.35, label=f"{name}, labels shuffled")
        ax.axvline(score, color=colour, lw=2, label=f"{name}, labels as they are")
    ax.set(xlabel=report.metric, ylabel="shuffles")
    canvas.whole_numbers(ax.yaxis)
    evidence = "evidence" if report.evidence else "no evidence"
    ax.set_title(f"{evidence}: p = {report.pvalue:.2g}", loc="left")
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize=9)
    return ax


def approximation(report: ApproximationReport, *, ax: Axes | None = None) -> Axes:
    """Draw the error of the kernel against the number of features, and where it would be halved.

    Parameters
    ----------
    report : ApproximationReport
        What `approximation_report` returned, of an estimator that approximates a kernel.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import KernelSupervisedPCA, approximation_report, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelSupervisedPCA(n_random_features=64)
    >>> plot.approximation(approximation_report(model, X, y, random_state=0)).get_xscale()
    'log'
    """
    if report.rate is None:
        raise ValueError(
            "The report has no approximation, or only one number of features: a curve needs two."
        )
    ax = canvas.axes_or_new(ax, grid="both")
    ticker = require("matplotlib.ticker", extra="cli")
    p, errors, rate = report.n_features, report.kernel_errors, report.rate
    means = errors.mean(axis=1)
    half = report.features_for_half
    line = np.array([p[0], max(p[2], half or 0)])
    fit = np.exp(np.mean(np.log(means) + rate * np.log(p))) * line**-rate
    ax.plot(
        np.repeat(p, errors.shape[1]), errors.ravel(), ".", color=GREY, alpha=0.5, label="draws"
    )
    ax.plot(p, means, "o", color=BLUE, ms=7, label="mean")
    ax.plot(line, fit, color=BLUE, lw=1.4, label=f"features$^{{-{rate:.2f}}}$, as measured")
    if report.random:
        theory = means[1] * (p[1] / line) ** 0.5
        ax.plot(line, theory, color=GREY, ls="--", lw=1.2, label="features$^{-0.5}$, in theory")
    if half is not None:
        label = f"half the error of {int(p[1]):,} features: {half:,}"
        canvas.ring(ax, half, report.kernel_error / 2, label)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ticks = np.unique([*p, *([] if half is None else [half])])
    ax.set_xticks(ticks, [f"{int(tick):,}" for tick in ticks])
    ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 3, 5, 7)))
    ax.yaxis.set_major_formatter(ticker.PercentFormatter(1))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(ticker.NullLocator())
    ax.set(xlabel="features", ylabel="relative error of the kernel")
    ax.legend(frameon=False, loc="lower left", fontsize=9)
    return ax


def stability(report: StabilityReport, *, ax: Axes | None = None) -> Axes:
    """Draw how much of every component is found again, with other rows and with other seeds.

    Parameters
    ----------
    report : StabilityReport
        What `stability_report` returned.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import SupervisedPCA, plot, stability_report
    >>> report = stability_report(SupervisedPCA(2), *load_iris(return_X_y=True), random_state=0)
    >>> plot.stability(report).get_ylabel()
    'found again'
    """
    ax = canvas.axes_or_new(ax, grid="y")
    looks = (("other rows", BLUE, "o", report.rows), ("other seeds", VERMILION, "^", report.seeds))
    for side, (name, colour, marker, movement) in enumerate(looks):
        if movement is None:
            continue
        m, k = movement.found.shape
        place = np.arange(1, k + 1) + (side - 0.5) * 0.36
        across = (place + 0.24 * canvas.jitter(m)[:, None]).ravel()
        ax.plot(across, movement.found.ravel(), marker, color=colour, ms=4, alpha=0.5, label=name)
        means = movement.found.mean(axis=0)
        ax.hlines(means, place - 0.15, place + 0.15, color=colour, lw=2.5)
    ax.set(xlabel="component", ylabel="found again", ylim=(-0.03, 1.03))
    canvas.whole_numbers(ax.xaxis, min_n_ticks=1)
    canvas.percent(ax.yaxis)
    canvas.legend_above(ax, 2)
    return ax


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
    ax = canvas.axes_or_new(ax, grid="both")
    looks = ((BLUE, "o", "labels as they are"), (GREY, "s", "training labels shuffled"))
    for (colour, marker, name), table in zip(looks, scores, strict=True):
        mean, std = table.mean(axis=1), table.std(axis=1)
        ax.fill_between(gammas, mean - std, mean + std, color=colour, alpha=0.15, lw=0)
        ax.plot(gammas, mean, color=colour, marker=marker, ms=4.5, lw=1.6, label=name)
    means = scores[0].mean(axis=1)
    best = int(np.argmax(means))
    classes = task.kind == "classes"
    shown = f"{means[best]:.1%}" if classes else f"{means[best]:.2f}"
    canvas.ring(ax, gammas[best], means[best], f"best: {shown} at {gammas[best]:.2g}")
    ax.set_xscale("log")
    ax.set(xlabel="gamma", ylabel=f"held-out {task.metric()}")
    if classes:
        canvas.percent(ax.yaxis)
    canvas.legend_above(ax, 3)
    return ax


def gamma_scores(
    task: Task, estimator: Any, gammas: Any, cv: Any, random_state: Any
) -> tuple[Array, Array]:
    """The data of the curve: gammas, and scores as in `_scores`."""
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
        middle = task.fit(clone(estimator).set_params(gamma="scale")).gamma_
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
                model = task.fit(clone(estimator).set_params(gamma=gamma), train, own)
                guesses = task.guesses(embedded(model, seen), own, embedded(model, unseen))
                scores[control, i, j] = task.score(guesses, task.labels[test])
    return scores
