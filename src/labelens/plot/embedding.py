"""An embedding in the plane, on a line, or around a circle of classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from .._base.types import LabelsLike, MatrixLike, RandomState
from .._base.validation import check_rows
from .._core.labels import read_labels
from .._core.labels.vocabulary import label_kind, number_labels
from .._core.moments import Array
from .._fit.task import Kind
from .._judge.wheel import Wheel
from . import canvas
from .canvas import Axes, RowColours

MOST_KEYS = 20  # in a legend; more classes are named where they are
MOST_NAMES, MOST_AROUND = 60, 120  # in the plane, and around a circle
UPRIGHT = 24  # names around a circle; more of them are turned to point at the middle
AXES_WIDTH = 5.0  # inches, in a figure of its own
LETTER, LARGE_LETTER = 7.0, 10.0  # points: height of a name in the plot, of many and of few


def scatter(
    Z: ArrayLike,
    y: LabelsLike | None = None,
    *,
    ax: Axes | None = None,
    test: ArrayLike | None = None,
    names: Iterable[str] | None = None,
    task: Kind | None = None,
) -> Axes:
    """Draw an embedding: its first two columns, or one column as a strip for each class.

    Classes are named at their medians, as far as names fit; up to 20 have a legend too. Both axes
    have the same unit. Past
    100,000 rows the plot is a density: cells in the mean colour of their rows.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_components)
        Finite numbers, as `transform` returns them.
    y : array-like of shape (n_samples,), default=None
        Labels. Numbers are shown by a colour bar (in a strip by height too), classes by colour and
        marker; `labelens.select` says which are which.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    test : array-like of bool of shape (n_samples,), default=None
        True for test rows, which are drawn solid, and False for training rows, drawn hollow.
    names : sequence of str, default=None
        What to call the classes, in the order of the sorted labels.
    task : {"classes", "numbers"}, default=None
        What y is, if not what its values say.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import SupervisedPCA, plot
    >>> iris = load_iris()
    >>> Z = SupervisedPCA(2).fit(iris.data, iris.target).transform(iris.data)
    >>> ax = plot.scatter(Z, iris.target, names=iris.target_names)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['setosa', 'versicolor', 'virginica']
    """
    embedded = _check_embedding(Z)
    colouring = RowColours.of(y, len(embedded), names, task)
    mask = canvas.check_mask(test, len(embedded))
    own_figure, ax = ax is None, canvas.axes_or_new(ax)
    strip = embedded.shape[1] == 1
    points = _strip(embedded[:, 0], colouring) if strip else embedded[:, :2]
    limits = canvas.extents(points)
    if strip and colouring.values is None:
        limits[1] = -0.6, max(len(colouring.names), 1) - 0.4
    remarks = [canvas.draw_rows(ax, points, colouring, mask, limits)]
    if strip:
        ax.set(xlim=limits[0], ylim=limits[1])
    else:
        limits = canvas.same_unit(ax, limits)
        if own_figure:
            canvas.fit_height(ax, AXES_WIDTH)
    ax.set_xlabel("component 1")
    ax.locator_params(nbins=6)
    dense = len(points) > canvas.MOST_POINTS
    keys = []
    if strip:
        _label_strip(ax, colouring)
    else:
        ax.set_ylabel("component 2")
        if colouring.names:
            named = _name_classes(ax, points, colouring, limits)
            few = len(colouring.names) <= MOST_KEYS
            keys = colouring.keys(dense) if few else []
            remarks += [] if few else [named]
    if colouring.values is not None and not strip:
        colouring.colour_bar(ax)
    where = "beside" if colouring.values is None else "inside"
    canvas.legend(ax, [*keys, *canvas.part_keys(mask, dense)], where, len(points))
    canvas.note(ax, remarks)
    return ax


def _check_embedding(Z: Any) -> Array:
    embedded: NDArray[Any] = np.asarray(Z)
    if embedded.ndim == 1 and embedded.dtype != object:
        embedded = embedded[:, None]
    if embedded.ndim != 2 or 0 in embedded.shape or embedded.dtype.kind not in "fiub":
        raise ValueError(
            "Z must be a table of real numbers, (n_samples, n_components), as transform returns "
            f"it; got {embedded.dtype} of shape {embedded.shape}."
        )
    embedded = embedded[:, :2].astype(np.float64)
    bad = ~np.isfinite(embedded)
    if bad.any():
        row, column = (int(i) for i in np.unravel_index(np.argmax(bad), bad.shape))
        raise ValueError(
            f"Z holds {embedded[row, column]} at row {row}, column {column}, which cannot be "
            "plotted; drop such rows."
        )
    return embedded


def _strip(line: Array, colouring: RowColours) -> Array:
    """One column -> (n, 2): at the height of the class, jittered, or of the continuous label."""
    if colouring.values is not None:
        return np.column_stack([line, colouring.values])
    return np.column_stack([line, colouring.codes + 0.7 * canvas.jitter(len(line))])


def _label_strip(ax: Axes, colouring: RowColours) -> None:
    if colouring.values is not None:
        ax.set_ylabel("y")
        return
    ax.invert_yaxis()  # the first class on top
    step = -(-len(colouring.names) // MOST_KEYS) or 1
    ticks = range(0, len(colouring.names), step)
    ax.set_yticks(ticks, colouring.names[::step], parse_math=False)


def _name_classes(ax: Axes, points: Array, colouring: RowColours, limits: Array) -> str:
    """Names at the medians of the classes, the largest first, none on another."""
    counts = np.bincount(colouring.codes, minlength=len(colouring.names))
    by_class = points[np.argsort(colouring.codes, kind="stable")]
    ends = np.cumsum(counts)
    size = LETTER if len(colouring.names) > MOST_KEYS else LARGE_LETTER
    places = canvas.Names(ax, limits, size)
    for number in np.argsort(-counts, kind="stable")[: 10 * MOST_NAMES]:
        median = np.median(by_class[ends[number] - counts[number] : ends[number]], axis=0)
        if not places.take(median, colouring.names[number]):
            continue
        # Darker than its rows, so that it stands out among them.
        ax.text(
            median[0], median[1], colouring.names[number], color=0.5 * colouring.table[number],
            ha="center",
            va="center", fontsize=size, weight="bold", path_effects=canvas.halo(),
            parse_math=False, clip_on=True, zorder=4,
        )  # fmt: skip
        if len(places.taken) == MOST_NAMES:
            break
    return f"{len(places.taken)} of {len(colouring.names):,} classes are named"


def wheel(
    X: MatrixLike,
    y: LabelsLike,
    *,
    ax: Axes | None = None,
    test: ArrayLike | None = None,
    estimator: Wheel | None = None,
    names: Iterable[str] | None = None,
    random_state: RandomState | None = None,
) -> Axes:
    """Draw many classes in the plane: named anchors on a circle, rows where classes pull them.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Classes, two or more; three or more make a wheel.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    test : array-like of bool of shape (n_samples,), default=None
        True for rows that are drawn, solid, but that the wheel is not fitted on.
    estimator : Wheel, default=None
        A fitted one is drawn as it is, so that new rows can be put on it; of another a clone is
        fitted. None is Wheel(random_state=random_state).
    names : sequence of str, default=None
        What to call the classes, in the order of the sorted labels.
    random_state : int, RandomState instance or None, default=None
        Seed of the default wheel.

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    labelens.Wheel : how rows find their places.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from labelens import plot
    >>> X, y = load_digits(return_X_y=True)
    >>> ax = plot.wheel(X, y, random_state=0)
    >>> sorted(text.get_text() for text in ax.texts)
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']
    """
    rows = check_rows(None, X, reset=True)
    n = rows.shape[0]
    mask = canvas.check_mask(test, n)
    labels, _ = read_labels(y, n, None)
    fitted = _fitted(estimator, rows, labels, mask, random_state)
    colouring = RowColours.by_class(
        fitted.classes_.tolist(), class_codes(fitted.classes_.tolist(), labels), names
    )
    ax = canvas.axes_or_new(ax, 6.4, 6.0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    points = fitted.transform(rows).astype(np.float64)
    limits = np.array([[-1.02, 1.02], [-1.02, 1.02]])
    ring = np.linspace(0, 2 * np.pi, 361)
    ax.plot(np.cos(ring), np.sin(ring), color="0.85", lw=1, zorder=0)
    density = canvas.draw_rows(ax, points, colouring, mask, limits)
    named = _name_anchors(ax, fitted.anchors_, colouring)
    canvas.legend(ax, canvas.part_keys(mask, n > canvas.MOST_POINTS), "below")
    canvas.note(ax, [density, named])
    return ax


def _fitted(estimator: Any, rows: Any, labels: Any, mask: Any, random_state: Any) -> Wheel:
    if estimator is None:
        estimator = Wheel(random_state=random_state)
    elif not isinstance(estimator, Wheel):
        raise TypeError(
            f"estimator must be a Wheel, got {type(estimator).__name__}; for a wheel of it pass "
            "Wheel(estimator)."
        )
    if hasattr(estimator, "anchors_"):
        return estimator
    train = slice(None) if mask is None else ~mask
    if mask is not None and mask.all():
        raise ValueError("test marks all rows: there are none to fit the wheel on.")
    return clone(estimator).fit(rows[train], labels[train])


def class_codes(classes: list[Any], labels: Any, what: str = "wheel") -> Any:
    """The numbers of the labels among the classes of the wheel, or of what has anchors."""
    found, codes = number_labels(labels, label_kind(labels[0]), np.arange(len(labels)))
    number = {label: i for i, label in enumerate(classes)}
    for label in found:
        if label not in number:
            raise ValueError(f"The {what} has no anchor for the class {label!r} of y.")
    return np.array([number[label] for label in found], dtype=np.intp)[codes]


def _name_anchors(ax: Axes, anchors: Array, colouring: RowColours) -> str:
    """Names outside the circle, in the colour of their rows."""
    c = len(anchors)
    around = np.argsort(-np.arctan2(anchors[:, 1], anchors[:, 0]), kind="stable")
    step = -(-c // MOST_AROUND)
    named = around[::step]
    turned = len(named) > UPRIGHT
    size = max(5.5, 11 - 0.08 * len(named))
    for number in named:
        x, y = anchors[number]
        colour = 0.85 * colouring.table[number]
        ax.plot([x, 1.03 * x], [y, 1.03 * y], color=colour, lw=1.5, zorder=1)
        look: dict[str, Any] = dict(
            ha="center" if abs(x) < 0.15 else "left" if x > 0 else "right",
            va="center" if abs(y) < 0.95 else "bottom" if y > 0 else "top",
        )
        if turned:
            angle = float(np.degrees(np.arctan2(y, x)))
            over = abs(angle) > 90  # upside down otherwise
            look = dict(
                rotation=angle - 180 * np.sign(angle) * over if angle else 0.0,
                rotation_mode="anchor", ha="right" if over else "left", va="center",
            )  # fmt: skip
        ax.text(
            1.06 * x, 1.06 * y, colouring.names[number], color=colour, weight="bold",
            fontsize=size, parse_math=False, **look,
        )  # fmt: skip
    # The longest name takes this share of the Axes, at each side.
    letters = max(len(colouring.names[number]) for number in named)
    share = 0.65 * size * letters / (ax.get_window_extent().width / ax.figure.dpi * 72)
    across = 1.1 / (1 - 2 * min(share, 0.2))
    upright = across if turned else 1.18
    ax.set(xlim=(-across, across), ylim=(-upright, upright))
    return "" if step == 1 else f"{len(named)} of {c:,} classes are named"
