"""An embedding in the plane, or on a line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.types import LabelsLike
from .._core.moments import Array
from .canvas import Names, axes_or_new, extents, halo, jitter, legend, note
from .rows import MOST_POINTS, RowColours, check_mask, draw_rows, part_keys

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_KEYS = 20  # in a legend; more classes are named where they are
MOST_NAMES = 60
LETTER = 7.0  # points: height of a name in the picture


def scatter(
    Z: ArrayLike,
    y: LabelsLike | None = None,
    *,
    ax: Axes | None = None,
    test: ArrayLike | None = None,
    names: Iterable[str] | None = None,
) -> Axes:
    """Draw an embedding: its first two columns, or one column as a strip for each class.

    Up to 20 classes have a legend, more are named at their medians, as far as names fit. Past
    100,000 rows the picture is a density: cells in the mean colour of their rows.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_components)
        Finite numbers, as `transform` returns them.
    y : array-like of shape (n_samples,), default=None
        Labels. Floats that are not all whole numbers are continuous and shown by a colour bar (in a
        strip by height too), all others are classes, shown by colour and marker.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    test : array-like of bool of shape (n_samples,), default=None
        True for test rows, which are drawn solid, and False for training rows, drawn hollow.
    names : sequence of str, default=None
        What to call the classes, in the order of the sorted labels.

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
    colouring = RowColours.of(y, len(embedded), names)
    mask = check_mask(test, len(embedded))
    ax = axes_or_new(ax)
    strip = embedded.shape[1] == 1
    points = _strip(embedded[:, 0], colouring) if strip else embedded[:, :2]
    limits = extents(points)
    if strip and colouring.values is None:
        limits[1] = -0.6, max(len(colouring.names), 1) - 0.4
    remarks = [draw_rows(ax, points, colouring, mask, limits)]
    ax.set(xlim=limits[0], ylim=limits[1], xlabel="component 0")
    ax.locator_params(nbins=6)
    dense = len(points) > MOST_POINTS
    keys = []
    if strip:
        _label_strip(ax, colouring)
    else:
        ax.set_ylabel("component 1")
        if 1 <= len(colouring.names) <= MOST_KEYS:
            keys = colouring.keys(dense)
        elif colouring.names:
            remarks.append(_name_classes(ax, points, colouring, limits))
    if colouring.values is not None and not strip:
        colouring.colour_bar(ax)
    where = "beside" if colouring.values is None else "inside"
    legend(ax, [*keys, *part_keys(mask, dense)], where, len(points))
    note(ax, remarks)
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
            f"Z holds {embedded[row, column]} at row {row}, column {column}, which has no place in "
            "a picture; drop such rows."
        )
    return embedded


def _strip(line: Array, colouring: RowColours) -> Array:
    """One column -> (n, 2): at the height of the class, jittered, or of the continuous label."""
    if colouring.values is not None:
        return np.column_stack([line, colouring.values])
    return np.column_stack([line, colouring.codes + 0.7 * jitter(len(line))])


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
    places = Names(ax, limits, LETTER)
    for number in np.argsort(-counts, kind="stable")[: 10 * MOST_NAMES]:
        median = np.median(by_class[ends[number] - counts[number] : ends[number]], axis=0)
        if not places.take(median, colouring.names[number]):
            continue
        # Darker than its rows, so that it stands out among them.
        ax.text(
            median[0], median[1], colouring.names[number], color=0.7 * colouring.table[number],
            ha="center", va="center", fontsize=LETTER, weight="bold", path_effects=halo(),
            parse_math=False, clip_on=True, zorder=4,
        )  # fmt: skip
        if len(places.taken) == MOST_NAMES:
            break
    return f"{len(places.taken)} of {len(colouring.names):,} classes are named"
