"""What all plots share: axes, colours, and text from data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._base.optional import require
from .._core.moments import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours that colour-blind readers can tell apart: Okabe-Ito's, then three of Tol's.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00",
    "#56B4E9", "#000000", "#882255", "#999933", "#332288",
)  # fmt: skip
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*", "<", ">")
BLUE, VERMILION = COLOURS[:2]
GREY = "0.35"
LONGEST = 24  # letters of a name


def look(number: int) -> tuple[str, str]:
    """The colour and the marker of a class; a hundred classes have a pair each."""
    turn, place = divmod(number, len(COLOURS))
    return COLOURS[place], MARKERS[(place + 5 * turn + turn // 2) % len(MARKERS)]


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
    """A legend of plain text, "inside" the Axes, "beside" or "below" them.

    Only a figure with a layout engine makes room beside its Axes; in others that is inside too.
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


def note(ax: Axes, sentences: Iterable[str]) -> None:
    """Small print above the Axes, at the right: where a title is not."""
    if text := "; ".join(sentence for sentence in sentences if sentence):
        ax.set_title(text, loc="right", fontsize=8, color=GREY, parse_math=False)


def halo() -> list[Any]:
    """White around letters, so that they can be read on top of rows."""
    effects = require("matplotlib.patheffects", extra="cli")
    return [effects.withStroke(linewidth=2.5, foreground="white")]


class Names:
    """Places of names in a picture, so that none is written on another."""

    def __init__(self, ax: Axes, limits: Array, size: float) -> None:
        self.low, self.width = limits[:, 0], limits[:, 1] - limits[:, 0]
        extent = np.array(ax.get_window_extent().size)
        self.points = extent / ax.figure.dpi * 72  # 1/72 inch, of the Axes
        self.size = size  # of a letter
        self.taken: list[tuple[float, float, float]] = []  # middle, and half the width

    def take(self, place: Array, name: str, align: str = "center") -> bool:
        """Whether there is room for a name; if so it is taken."""
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
