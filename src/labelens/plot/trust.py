"""What of an embedding is real."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._base.optional import require
from .._base.types import LabelsLike
from .._judge import ApproximationReport, CrossEmbedding, PermutationReport, StabilityReport
from .canvas import BLUE, GREY, VERMILION, axes_or_new, jitter
from .embedding import scatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def cross_embedding(
    crossed: CrossEmbedding,
    y: LabelsLike | None = None,
    *,
    axes: Sequence[Axes] | None = None,
    names: Iterable[str] | None = None,
) -> tuple[Axes, Axes]:
    """Draw what `fit_transform` shows, and beside it the same rows when they are held out.

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
    left, right = (axes_or_new(ax) for ax in axes)
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
    ax = axes_or_new(ax, 6.4, 4.2)
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
    ax.yaxis.set_major_locator(require("matplotlib.ticker", extra="cli").MaxNLocator(integer=True))
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
            "No kernel was approximated, or with one number of features only: there is no curve."
        )
    ax = axes_or_new(ax, grid="both")
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
        ax.plot(
            half, report.kernel_error / 2, "o", ms=11, mfc="none", mec=VERMILION, mew=1.8,
            label=f"half the error of {int(p[1]):,} features: {half:,}",
        )  # fmt: skip
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
    ax = axes_or_new(ax, grid="y")
    looks = (("other rows", BLUE, "o", report.rows), ("other seeds", VERMILION, "^", report.seeds))
    for side, (name, colour, marker, movement) in enumerate(looks):
        if movement is None:
            continue
        m, k = movement.found.shape
        place = np.arange(k) + (side - 0.5) * 0.36
        across = (place + 0.24 * jitter(m)[:, None]).ravel()
        ax.plot(across, movement.found.ravel(), marker, color=colour, ms=4, alpha=0.5, label=name)
        means = movement.found.mean(axis=0)
        ax.hlines(means, place - 0.15, place + 0.15, color=colour, lw=2.5)
    ax.set(xlabel="component", ylabel="found again", ylim=(-0.03, 1.03))
    ticker = require("matplotlib.ticker", extra="cli")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(ticker.PercentFormatter(1, decimals=0))
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=9)
    return ax
