"""Common parts of the plots: axes, colours, text from data, and rows as points or shades."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._base.optional import require
from .._base.palette import COLOURS, MARKERS, look
from .._core.labels import read_labels
from .._core.labels.vocabulary import label_kind, number_labels
from .._core.moments import Array
from .._fit.task import task_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = Any

BLUE, VERMILION = COLOURS[:2]
GREY = "0.35"
LONGEST = 24  # letters of a name
MOST_POINTS = 100_000
CELLS = 300  # of a density, along each axis
LEVELS = 256  # of a colour map
NARROWEST = 0.4  # of the wider axis, where both have the same unit


def rgb(colours: Iterable[str]) -> Array:
    """(m, 3)"""
    return require("matplotlib.colors", extra="cli").to_rgba_array(list(colours))[:, :3]


def axes_or_new(
    ax: Axes | None,
    width: float = 6.4,
    height: float = 4.8,
    grid: Literal["x", "y", "both"] | None = None,
) -> Axes:
    """The Axes given, or those of a new figure that pyplot does not know."""
    if ax is None:
        figure = require("matplotlib.figure", extra="cli").Figure(
            figsize=(width, height), layout="constrained"
        )
        ax = figure.subplots()
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_axisbelow(True)
        if grid is not None:
            ax.grid(axis=grid, alpha=0.3)
        return ax
    if not isinstance(ax, require("matplotlib.axes", extra="cli").Axes):
        raise TypeError(
            f"ax must be one matplotlib Axes, got {type(ax).__name__}. Of a figure take "
            "figure.gca(), of an array of Axes one entry."
        )
    return ax


def shown(label: Any, longest: int = LONGEST) -> str:
    """A label on one short line: no control characters, and not empty."""
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}"
                   for letter in " ".join(str(label).split()))  # fmt: skip
    text = text or repr(str(label)[:1])
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def key(label: str, colour: str, marker: str, **more: Any) -> tuple[str, Any]:
    """An entry of a legend."""
    line = require("matplotlib.lines", extra="cli").Line2D
    return label, line([], [], color=colour, marker=marker, **{"ls": "", "ms": 6, **more})


def legend(ax: Axes, keys: list[tuple[str, Any]], where: str = "inside", n_rows: int = 0) -> None:
    """A legend of plain text, "inside" the Axes, to the right ("beside") or "below" them.

    In a figure without a layout engine, a legend to the right is inside too.
    """
    if not keys:
        return
    # The search for the best place looks at every row.
    place: dict[str, Any] = dict(loc="best" if n_rows < 10_000 else "upper right", framealpha=0.85)
    if where == "below":
        place = dict(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(keys), frameon=False)
    elif where == "beside" and ax.figure.get_layout_engine() is not None:
        place = dict(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    handles = [handle for _, handle in keys]
    # matplotlib leaves out names that start with an underscore, so they are written afterwards.
    box = ax.legend(handles, ["name"] * len(keys), fontsize=9, handletextpad=0.4, **place)
    for text, (name, _) in zip(box.get_texts(), keys, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def legend_above(ax: Axes, columns: int) -> None:
    """The legend of labelled artists above the Axes, if there is no space inside."""
    ax.legend(
        frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, fontsize=9
    )


def percent(axis: Any) -> None:
    """Ticks in percent, without decimals."""
    ticker = require("matplotlib.ticker", extra="cli")
    axis.set_major_formatter(ticker.PercentFormatter(1, decimals=0))


def whole_numbers(axis: Any, **more: Any) -> None:
    """Ticks at whole numbers only."""
    ticker = require("matplotlib.ticker", extra="cli")
    axis.set_major_locator(ticker.MaxNLocator(integer=True, **more))


def ring(ax: Axes, x: float, y: float, label: str) -> None:
    """A ring around one point, with an entry in the legend."""
    ax.plot(x, y, "o", ms=11, mfc="none", mec=VERMILION, mew=1.8, label=label)


def note(ax: Axes, sentences: Iterable[str]) -> None:
    """Small print above the Axes, at the right: where a title is not."""
    if text := "; ".join(sentence for sentence in sentences if sentence):
        ax.set_title(text, loc="right", fontsize=8, color=GREY, parse_math=False)


def halo() -> list[Any]:
    """White around letters, so that they can be read on top of rows."""
    effects = require("matplotlib.patheffects", extra="cli")
    return [effects.withStroke(linewidth=2.5, foreground="white")]


class Names:
    """Positions of names in a plot that do not overlap."""

    def __init__(self, ax: Axes, limits: Array, size: float) -> None:
        self.low, self.width = limits[:, 0], limits[:, 1] - limits[:, 0]
        extent = np.array(ax.get_window_extent().size)
        self.points = extent / ax.figure.dpi * 72  # 1/72 inch, of the Axes
        self.size = size  # of a letter
        self.taken: list[tuple[float, float, float]] = []  # middle, and half the width

    def take(self, place: Array, name: str, align: str = "center") -> bool:
        """Reserve space for a name; False if it would overlap another."""
        x, y = (place - self.low) / self.width * self.points
        half = 0.31 * self.size * (1 + len(name))
        x += {"left": half, "center": 0, "right": -half}[align]
        if any(abs(x - a) < half + c and abs(y - b) < 1.4 * self.size for a, b, c in self.taken):
            return False
        self.taken.append((x, y, half))
        return True


def jitter(n: int) -> Array:
    """(n,) places in a strip from -1/2 to 1/2.

    Multiples of the golden ratio fill an interval evenly, and the same every time.
    """
    places: Array = np.arange(n, dtype=np.float64)
    return places * 0.6180339887498949 % 1 - 0.5


def extents(points: Array) -> Array:
    """(n, 2) -> limits of both axes, (2, 2); a flat axis is shown as wide as the other.

    Two classes span one direction, so the second may be rounding alone: it is not magnified.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    width = high - low
    largest = width.max() if width.max() > 0 else 1.0
    width = np.where(width > 1e-6 * largest, width, largest)
    middle = (low + high) / 2
    return np.column_stack([middle - 0.54 * width, middle + 0.54 * width])


def same_unit(ax: Axes, limits: Array) -> Array:
    """Give both axes the same unit, so that distances are those of the rows.

    The box of the axes takes the shape of the limits. A narrow axis is widened.
    """
    width = limits[:, 1] - limits[:, 0]
    half = np.maximum(width, NARROWEST * width.max()) / 2
    middle = limits.mean(axis=1)
    limits = np.column_stack([middle - half, middle + half])
    ax.set_aspect("equal", adjustable="box")
    ax.set(xlim=limits[0], ylim=limits[1])
    ax.apply_aspect()
    return limits


def fit_height(ax: Axes, width: float, rows: int = 1, room: float = 1.0) -> None:
    """Set the height of the figure to that of its axes, plus `room` inches for titles."""
    figure: Any = ax.figure
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    share = float(np.clip((high - low) / (right - left), NARROWEST, 1))
    figure.set_figheight(rows * (room + width * share))


# Rows ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowColours:
    """A colour for each row, by the number of its class or of its level."""

    codes: NDArray[np.intp]  # (n,)
    table: Array  # (m, 3) red, green, blue
    markers: tuple[str, ...]  # (m,)
    names: tuple[str, ...] = ()  # (m,) of the classes; empty where there are none
    values: Array | None = None  # (n,) of continuous labels

    @classmethod
    def of(cls, y: Any, n: int, names: Any = None, task: Any = None) -> RowColours:
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
        if task_kind(labels, task) == "numbers":
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
    """The mask of held-out rows."""
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
    """The legend of training and held-out rows, if both are drawn."""
    if test is None or dense:
        return []
    hollow = key("training row", GREY, "o", mfc="none")
    return [hollow, key("held-out row", GREY, "o")]


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
