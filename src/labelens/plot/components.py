"""Plots of components: weights, dependence on the labels, and directions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from .._base import devices
from .._base.types import LabelsLike, MatrixLike
from .._base.validation import check_is_fitted, check_number, check_rows
from .._core.moments import Array
from .._fit.projection import Projection
from .._fit.settings import is_kernel_method
from .._judge.atlas import Atlas
from . import canvas
from .canvas import BLUE, GREY, VERMILION, Axes, shown
from .embedding import scatter

LETTER = 8.0  # points: height of a name at an arrow


def scree(estimator: Projection, *, ax: Axes | None = None) -> Axes:
    """Draw how much each component depends on the labels, and their sum.

    Bars are `dependence_ratio_`, the line is its running sum, the right-hand scale is
    `dependence_`. Where the line flattens, more components add nothing.

    Parameters
    ----------
    estimator : fitted estimator
        One of the four methods.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import SupervisedPCA, plot
    >>> ax = plot.scree(SupervisedPCA(2).fit(*load_iris(return_X_y=True)))
    >>> [round(float(bar.get_height()), 3) for bar in ax.patches]
    [0.991, 0.009]
    """
    if not isinstance(estimator, Projection):
        raise TypeError(
            f"{type(estimator).__name__} has no dependence_: scree draws the four methods of "
            "labelens."
        )
    dependence, share = estimator.dependence_, estimator.dependence_ratio_
    name = type(estimator).__name__
    if not np.isfinite(share).all():
        raise ValueError(
            f"The dependence of this {name} is not known (dependence_ratio_ is NaN): it was fitted "
            "without labels and keeps no variances to compare with. Fit it with y, or draw "
            f"{name.replace('RandomProjection', 'PCA')}."
        )
    if not share.any():
        raise ValueError(f"No component of this {name} depends on the labels: no scree plot.")
    ax = canvas.axes_or_new(ax, grid="y")
    what = "variance" if estimator.label_kernel_ is None else "dependence on the labels"
    numbers = np.arange(1, len(share) + 1)
    ax.bar(numbers, share, width=0.7, color=BLUE, label="each")
    ax.plot(numbers, np.cumsum(share), color=VERMILION, marker="o", ms=4, lw=1.6, label="together")
    ax.set(xlabel="component", ylabel=f"share of the {what}", ylim=(0, 1.05))
    ax.set_xlim(0.3, len(share) + 0.7)
    canvas.whole_numbers(ax.xaxis, min_n_ticks=1)
    canvas.percent(ax.yaxis)
    total = dependence[np.argmax(share)] / share.max()
    right = ax.secondary_yaxis("right", functions=(lambda s: s * total, lambda d: d / total))
    right.set_ylabel("HSIC")
    ax.legend(loc="center right", frameon=False)
    return ax


def loadings(
    estimator: Projection, component: int = 0, *, n_features: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw which input features pull a component most, and which way.

    A bar is the weight of a feature in `components_`: how far the component moves when the feature
    grows by one, in the units of the scaled column if the estimator scales.

    Parameters
    ----------
    estimator : fitted linear estimator
        `SupervisedPCA`, `SupervisedRandomProjection`, or any other with `components_`. Kernel
        methods have no weights for input features.
    component : int, default=0
        Its index, from 0; figures number components from 1, as files do.
    n_features : int, default=10
        How many features to show, the strongest first.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import SupervisedPCA, plot
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot.loadings(SupervisedPCA(2).fit(X, y), n_features=2)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['petal length (cm)', 'petal width (cm)']
    """
    weights = _linear_weights(estimator, "loadings")
    (component,) = _check_components((component,), len(weights))
    check_number(n_features, "n_features", 1, integer=True)
    mine = weights[component]
    strongest = np.argsort(-np.abs(mine), kind="stable")[:n_features]
    ax = canvas.axes_or_new(ax, height=1.2 + 0.3 * len(strongest))
    places = np.arange(len(strongest))
    colours = np.where(mine[strongest] < 0, VERMILION, BLUE)
    ax.barh(places, mine[strongest], color=colours, height=0.7)
    ax.axvline(0, color=GREY, lw=0.8)
    names = [_feature_name(estimator, j) for j in strongest]
    ax.set_yticks(places, names, parse_math=False)
    ax.set_ylim(len(strongest) - 0.4, -0.6)  # the strongest on top
    ax.set_xlabel(f"weight in component {component + 1}{_units(estimator)}")
    return ax


def biplot(
    estimator: Projection,
    X: MatrixLike,
    y: LabelsLike | None = None,
    *,
    components: tuple[int, int] = (0, 1),
    n_features: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Draw rows in two components, and the features that move them as arrows.

    A row moves along the arrow of a feature when that feature grows. Lengths are in proportion to
    the weights (see `loadings`), the longest reaching the edge of the rows. The arrows of kernel
    methods and of an `Atlas` are slopes of a least-squares fit to standardized columns: where rows
    move on average. `importances` shows what such averages hide.

    Parameters
    ----------
    estimator : fitted linear estimator, kernel method or Atlas
        With two components or more.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), default=None
        Labels, as in `scatter`.
    components : pair of int, default=(0, 1)
        Indices of the components to draw, from 0.
    n_features : int, default=8
        How many arrows to draw, the longest first.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import SupervisedPCA, plot
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot.biplot(SupervisedPCA(2).fit(X, y), X, y, n_features=1)
    >>> ax.texts[-1].get_text()
    'sepal width (cm)'
    """
    check_is_fitted(estimator, None)
    Z = np.asarray(estimator.transform(X), dtype=np.float64)
    kernelised = isinstance(estimator, Projection) and is_kernel_method(estimator)
    maps = kernelised or isinstance(estimator, Atlas)
    weights = _slopes(X, Z) if maps else _linear_weights(estimator, "a biplot")
    first, second = pair = _check_components(components, len(weights), 2)
    check_number(n_features, "n_features", 1, integer=True)
    Z = Z[:, pair]
    ax = scatter(Z, y, ax=ax)
    ax.set(xlabel=f"component {first + 1}", ylabel=f"component {second + 1}")
    arrows = weights[pair].T  # (d, 2)
    longest = np.argsort(-np.linalg.norm(arrows, axis=1), kind="stable")[:n_features]
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    room = np.array([[-left, right], [-low, high]])
    with np.errstate(divide="ignore"):
        reach = np.where(arrows[longest] < 0, room[:, 0], room[:, 1]) / np.abs(arrows[longest])
    stretch = 0.85 * float(reach.min())
    if not 0 < stretch < np.inf:  # no weights, or rows that all lie on one side of zero
        stretch = 1.0
    limits = np.array([[left, right], [low, high]])
    places = canvas.Names(ax, limits, LETTER)
    for j in longest:
        tip = stretch * arrows[j]
        if not tip.any():
            continue
        ax.annotate(
            "", tip, (0, 0), zorder=4,
            arrowprops=dict(arrowstyle="-|>", color="0.15", lw=1.2, shrinkA=0, shrinkB=0),
        )  # fmt: skip
        name = _feature_name(estimator, j)
        place, align = _beyond(tip, limits, name, places)
        ax.text(
            place[0], place[1], name, fontsize=LETTER, ha=align, va="center",
            path_effects=canvas.halo(),
            parse_math=False, zorder=5,
        )  # fmt: skip
    return ax


def _beyond(tip: Array, limits: Array, name: str, places: canvas.Names) -> tuple[Array, str]:
    """Where to write a name beyond the tip of an arrow, and its alignment there."""
    size = limits[:, 1] - limits[:, 0]
    outward = tip / size / np.linalg.norm(tip / size)
    align = "center" if abs(outward[0]) < 0.5 else "left" if outward[0] > 0 else "right"
    place = tip + (0.015 if align != "center" else 0.03) * outward * size
    step = np.array([0, 0.01 * size[1] * (-1 if tip[1] < 0 else 1)])
    while not places.take(place, name, align):
        place = place + step
    return place, align


def _linear_weights(estimator: Any, what: str) -> Array:
    """(k, d), of an estimator that has them."""
    name = type(estimator).__name__
    if isinstance(estimator, Projection) and is_kernel_method(estimator):
        raise TypeError(
            f"{name} has no weights for input features: its components are over features of the "
            f"kernel, so there is no {what.removeprefix('a ')}. Linear methods have one, as "
            "SupervisedPCA does."
        )
    weights = getattr(estimator, "components_", None)
    if weights is None:
        raise TypeError(f"{name} has no components_; {what} needs a fitted linear estimator.")
    if weights.shape[1] != getattr(estimator, "n_features_in_", weights.shape[1]):
        raise TypeError(
            f"components_ of this {name} are not over its {estimator.n_features_in_} input columns."
        )
    return np.asarray(weights, dtype=np.float64)


def _slopes(X: Any, Z: Array) -> Array:
    """(k, d) least-squares slopes of the components on standardized columns."""
    rows = devices.host(check_rows(None, X, reset=True))
    rows = StandardScaler().fit_transform(rows.toarray() if sparse.issparse(rows) else rows)
    return np.linalg.lstsq(rows, Z - Z.mean(axis=0), rcond=None)[0].T


def _check_components(components: Any, k: int, count: int = 1) -> list[int]:
    chosen = list(components)
    if len(chosen) != count:
        raise ValueError(f"components must be {count} numbers, got {components!r}.")
    for number in chosen:
        check_number(number, "component", 0, integer=True)
        if number >= k:
            raise ValueError(
                f"There is no component {number}: the estimator has {k}, with indices from 0."
            )
    return [int(number) for number in chosen]


def _feature_name(estimator: Any, j: int) -> str:
    names = getattr(estimator, "feature_names_in_", None)
    return f"column {j}" if names is None else shown(names[j])


def _units(estimator: Any) -> str:
    scales = {"minmax": ", columns scaled to [0, 1]", "standard": ", columns of unit variance"}
    scale = getattr(estimator, "scale", None)
    return scales.get(scale, "") if isinstance(scale, str) else ""
