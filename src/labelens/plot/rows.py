"""Rows as points, or as shades where there are too many to draw one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._base.optional import require
from .._core.labels import choose_kernel, read_labels
from .._core.labels.vocabulary import label_kind, number_labels
from .._core.moments import Array
from .canvas import COLOURS, GREY, MARKERS, key, look, rgb, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 100_000
CELLS = 300  # of a density, along each axis
LEVELS = 256  # of a colour map


@dataclass(frozen=True, eq=False)
class RowColours:
    """A colour for each row, by the number of its class or of its level."""

    codes: NDArray[np.intp]  # (n,)
    table: Array  # (m, 3) red, green, blue
    markers: tuple[str, ...]  # (m,)
    names: tuple[str, ...] = ()  # (m,) of the classes; empty where there are none
    values: Array | None = None  # (n,) of continuous labels

    @classmethod
    def of(cls, y: Any, n: int, names: Any = None) -> RowColours:
        """Classes by colour and marker, continuous labels by a colour map."""
        if y is None:
            if names is not None:
                raise ValueError("names are those of the classes in y, and y is None.")
            return cls(np.zeros(n, dtype=np.intp), rgb(COLOURS[:1]), ("o",))
        labels, _ = read_labels(y, n, None)
        if labels.ndim != 1:
            raise ValueError(
                f"y has {labels.shape[1]} columns, and rows can be coloured by one: pass y[:, 0], "
                "or another."
            )
        if choose_kernel(labels) == "rbf":
            if names is not None:
                raise ValueError("names are those of classes, and y is continuous.")
            return cls.by_value(labels.astype(np.float64))
        classes, codes = number_labels(labels, label_kind(labels[0]), np.arange(n))
        return cls.by_class(classes, codes, names)

    @classmethod
    def by_class(cls, classes: list[Any], codes: Any, names: Any) -> RowColours:
        if names is None:
            names = classes
        elif len(names) != len(classes):
            raise ValueError(
                f"There are {len(names)} names for {len(classes)} classes; give one for each "
                "class, in the order of the sorted labels."
            )
        colours, markers = zip(*(look(i) for i in range(len(classes))), strict=True)
        return cls(codes, rgb(colours), markers, tuple(shown(name) for name in names))

    @classmethod
    def by_value(cls, values: Array) -> RowColours:
        low, high = values.min(), values.max()
        # Halves first: the range of large numbers may overflow.
        width = max(high / 2 - low / 2, np.finfo(float).tiny)
        share = (values / 2 - low / 2) / width
        codes = np.minimum(share * LEVELS, LEVELS - 1).astype(np.intp)
        table = require("matplotlib", extra="cli").colormaps["viridis"](np.arange(LEVELS))[:, :3]
        return cls(codes, table, ("o",) * LEVELS, values=values)

    def colour_bar(self, ax: Axes) -> None:
        assert self.values is not None
        colours = require("matplotlib.colors", extra="cli")
        mappable = require("matplotlib.cm", extra="cli").ScalarMappable(
            colours.Normalize(self.values.min(), self.values.max()), "viridis"
        )
        bar = ax.figure.colorbar(mappable, ax=ax, fraction=0.05, pad=0.02)
        bar.set_label("y")
        bar.outline.set_visible(False)

    def keys(self, dense: bool) -> list[tuple[str, Any]]:
        """The legend of the classes."""
        markers = ("s",) * len(self.names) if dense else self.markers
        looks = zip(self.names, self.table, markers, strict=True)
        return [key(name, colour, marker) for name, colour, marker in looks]


def check_mask(test: Any, n: int) -> NDArray[np.bool_] | None:
    """The mask of test rows."""
    if test is None:
        return None
    mask = np.asarray(test)
    if mask.dtype != bool or mask.shape != (n,):
        raise ValueError(
            f"test must be a boolean mask with an entry for each of the {n} rows, True for test "
            f"rows; got {mask.dtype} of shape {mask.shape}."
        )
    return mask


def part_keys(test: Any, dense: bool) -> list[tuple[str, Any]]:
    """The legend of training and test rows, where they are told apart."""
    if test is None or dense:
        return []
    hollow = key("training row", GREY, "o", mfc="none")
    return [hollow, key("test row", GREY, "o")]


def draw_rows(ax: Axes, points: Array, colouring: RowColours, test: Any, limits: Array) -> str:
    """Draw (n, 2) rows; returns what the reader should know of how."""
    n = len(points)
    if n > MOST_POINTS:
        _shade(ax, points, colouring, limits)
        return f"density of {n:,} rows" + ("" if test is None else ", training and test alike")
    size = float(np.clip(36 * np.sqrt(300 / n), 2, 36))
    solid = dict(linewidths=0.3 if n < 5000 else 0, alpha=0.8 if n < 5000 else 0.6)
    alike = np.zeros(n, dtype=bool) if test is None else ~test
    marker_of = np.array([MARKERS.index(marker) for marker in colouring.markers])
    drawn_with = marker_of[colouring.codes]
    for hollow in (True, False):
        for number, marker in enumerate(MARKERS):
            mine = (alike == hollow) & (drawn_with == number)
            if not mine.any():
                continue
            colours = colouring.table[colouring.codes[mine]]
            style: dict[str, Any] = (
                dict(facecolors="none", edgecolors=colours, linewidths=0.8, alpha=0.6)
                if hollow
                else dict(facecolors=colours, edgecolors="white", **solid)
            )
            ax.scatter(points[mine, 0], points[mine, 1], s=size, marker=marker, **style)
    return ""


def _shade(ax: Axes, points: Array, colouring: RowColours, limits: Array) -> None:
    """An image: cells in the mean colour of their rows, the stronger the more rows they hold."""
    low, high = limits.T
    cell = np.clip((points - low) / (high - low) * CELLS, 0, CELLS - 1).astype(np.intp)
    place = cell[:, 1] * CELLS + cell[:, 0]
    count = np.bincount(place, minlength=CELLS**2)
    some = np.maximum(count, 1)

    def mean(weights: Any) -> Any:
        return np.bincount(place, weights=weights, minlength=CELLS**2) / some

    image = np.zeros((CELLS**2, 4))
    if colouring.values is None:
        for channel in range(3):
            image[:, channel] = mean(colouring.table[colouring.codes, channel])
    else:
        image[:, :3] = colouring.table[mean(colouring.codes).round().astype(np.intp)]
    image[:, 3] = np.where(count > 0, 0.2 + 0.8 * np.log1p(count) / np.log1p(count.max()), 0)
    ax.imshow(
        image.reshape(CELLS, CELLS, 4).clip(0, 1), extent=(low[0], high[0], low[1], high[1]),
        origin="lower", aspect=ax.get_aspect(), interpolation="nearest",
    )  # fmt: skip
