"""Many classes around a circle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._base.types import LabelsLike, MatrixLike, RandomState
from .._base.validation import check_rows
from .._core.labels import read_labels
from .._core.labels.vocabulary import label_kind, number_labels
from .._core.moments import Array
from .._judge.wheel import Wheel
from .canvas import axes_or_new, legend, note
from .rows import MOST_POINTS, RowColours, check_mask, draw_rows, part_keys

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 120  # around the circle
UPRIGHT = 24  # names; more of them are turned to point at the middle


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
    mask = check_mask(test, n)
    labels, _ = read_labels(y, n, None)
    fitted = _fitted(estimator, rows, labels, mask, random_state)
    colouring = RowColours.by_class(
        fitted.classes_.tolist(), _codes(fitted.classes_.tolist(), labels), names
    )
    ax = axes_or_new(ax, 6.4, 6.0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    points = fitted.transform(rows).astype(np.float64)
    limits = np.array([[-1.02, 1.02], [-1.02, 1.02]])
    ring = np.linspace(0, 2 * np.pi, 361)
    ax.plot(np.cos(ring), np.sin(ring), color="0.85", lw=1, zorder=0)
    dense = n > MOST_POINTS
    remarks = [
        draw_rows(ax, points, colouring, mask, limits),
        _name_anchors(ax, fitted.anchors_, colouring),
    ]
    legend(ax, part_keys(mask, dense), "below")
    note(ax, remarks)
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


def _codes(classes: list[Any], labels: Any) -> Any:
    """The numbers of the labels among the classes of the wheel."""
    found, codes = number_labels(labels, label_kind(labels[0]), np.arange(len(labels)))
    number = {label: i for i, label in enumerate(classes)}
    for label in found:
        if label not in number:
            raise ValueError(f"The wheel has no anchor for the class {label!r} of y.")
    return np.array([number[label] for label in found], dtype=np.intp)[codes]


def _name_anchors(ax: Axes, anchors: Array, colouring: RowColours) -> str:
    """Names outside the circle, in the colour of their rows."""
    c = len(anchors)
    around = np.argsort(-np.arctan2(anchors[:, 1], anchors[:, 0]), kind="stable")
    step = -(-c // MOST_NAMES)
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
