"""A map of classes: discs with names, and rows within and between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from .._base.types import LabelsLike, MatrixLike, RandomState
from .._base.validation import check_rows
from .._core.labels import read_labels
from .._judge.atlas import Atlas
from . import canvas
from .canvas import Axes, RowColours
from .embedding import class_codes

MOST_NAMES = 120


def atlas(
    X: MatrixLike,
    y: LabelsLike,
    *,
    ax: Axes | None = None,
    estimator: Atlas | None = None,
    names: Iterable[str] | None = None,
    random_state: RandomState | None = None,
) -> Axes:
    """Draw a map of classes: a named disc for each class, and the rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Classes, at least two.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    estimator : Atlas, default=None
        A fitted one draws all rows of X by `transform`; pass rows that it was not fitted on. Of
        another, a clone is fitted, and its held-out places are drawn: those of rows whose class
        probabilities come from a model fitted without them. None is
        Atlas(random_state=random_state).
    names : sequence of str, default=None
        Names of the classes, in the order of the sorted labels.
    random_state : int, RandomState instance or None, default=None
        Seed of the default atlas.

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    labelens.Atlas : how rows are placed.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from labelens import Atlas, SupervisedPCA, plot
    >>> X, y = load_digits(return_X_y=True)
    >>> ax = plot.atlas(X, y, estimator=Atlas(SupervisedPCA(shrinkage=0.1), random_state=0))
    >>> sorted(text.get_text() for text in ax.texts)
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']
    """
    rows = check_rows(None, X, reset=True)
    labels, _ = read_labels(y, rows.shape[0], None)
    if estimator is None:
        estimator = Atlas(random_state=random_state)
    elif not isinstance(estimator, Atlas):
        raise TypeError(
            f"estimator must be an Atlas, got {type(estimator).__name__}; pass Atlas(estimator)."
        )
    if hasattr(estimator, "anchors_"):
        places, shown = estimator.transform(rows), labels
    else:
        estimator = clone(estimator).fit(rows, labels)
        places, shown = estimator.heldout_embedding_, labels[estimator.heldout_rows_]
    if estimator.anchors_.shape[1] != 2:
        raise ValueError("layout='sphere' has three dimensions; plot.atlas draws two.")
    classes = estimator.classes_.tolist()
    colouring = RowColours.by_class(classes, class_codes(classes, shown, "atlas"), names)
    ax = canvas.axes_or_new(ax, 6.4, 6.4)
    ax.set_aspect("equal")
    ax.set_axis_off()
    limits = np.array([[-1.02, 1.02], [-1.02, 1.02]])
    _discs(ax, estimator, colouring)
    density = canvas.draw_rows(ax, np.asarray(places, dtype=np.float64), colouring, None, limits)
    named = _names(ax, estimator, colouring)
    ax.set(xlim=limits[0] * 1.06, ylim=limits[1] * 1.06)
    canvas.note(ax, [density, named])
    return ax


def _discs(ax: Axes, estimator: Atlas, colouring: RowColours) -> None:
    around = np.linspace(0, 2 * np.pi, 121)
    ring = np.column_stack([np.cos(around), np.sin(around)])
    for number, (anchor, radius) in enumerate(
        zip(estimator.anchors_, estimator.detail * estimator.radii_, strict=True)
    ):
        disc = anchor + radius * ring
        ax.fill(*disc.T, color=colouring.table[number], alpha=0.08, lw=0, zorder=0)


def _names(ax: Axes, estimator: Atlas, colouring: RowColours) -> str:
    """A name at the top of each disc; of very many discs, those of the largest ones."""
    largest = np.argsort(-estimator.radii_, kind="stable")[:MOST_NAMES]
    c = len(estimator.radii_)
    look: dict[str, Any] = dict(ha="center", va="bottom", weight="bold", parse_math=False)
    for number in largest:
        x, y = estimator.anchors_[number]
        size = float(np.clip(60 * estimator.radii_[number], 5, 11))
        ax.text(
            x, y + estimator.detail * estimator.radii_[number], colouring.names[number],
            color=0.7 * colouring.table[number], fontsize=size, zorder=4, **look,
        )  # fmt: skip
    return "" if len(largest) == c else f"{len(largest)} of {c:,} classes are named"
