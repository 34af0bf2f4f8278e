"""What the experiments' figures have in common: looks, axes, legends.

A method has one colour and one marker in every figure; line styles tell ways of running it apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from labelens._base.optional import require

from .frames import Frame

Figure = Any  # matplotlib.figure.Figure
Axes = Any  # matplotlib.axes.Axes

# Colours that colour-blind readers can tell apart (Okabe-Ito).
METHODS = {
    "PCA": ("#000000", "v"),
    "KPCA": ("#CC79A7", "P"),
    "SPCA": ("#D55E00", "s"),
    "SPCA, randomized SVD": ("#D55E00", "s"),
    "KSPCA": ("#E69F00", "D"),
    "SRP": ("#0072B2", "o"),
    "SRP without labels": ("#0072B2", "o"),
    "KSRP": ("#56B4E9", "^"),
    "KSRP, exact K": ("#009E73", "*"),
    "SRP, sigma_Y = 1e-10": ("#0072B2", "x"),
    "KSRP, sigma_Y = 1e-10": ("#56B4E9", "x"),
}
OTHER = ("#7F7F7F", "x")
# Maps have line styles too: two of them often lie on each other.
MAPS = {
    "orthogonal": ("#009E73", "o", "-"),
    "fourier": ("#CC79A7", "s", "--"),
    "gaussian": ("#000000", "^", ":"),
    "fastfood": ("#7F7F7F", "^", ":"),
    "nystroem": ("#000000", "D", "-"),
}
OTHER_MAP = (*OTHER, "-.")
CLASSES = (
    ("#0072B2", "o"), ("#D55E00", "^"), ("#009E73", "s"), ("#CC79A7", "D"),
    ("#E69F00", "v"), ("#56B4E9", "P"), ("#000000", "X"),
)  # fmt: skip
DEVICES = {"plain": "-", "label noise": "--", "target_weight": ":"}
WAYS = {"formulas as written": ":", "the authors' clock": "--", "labelens": "-"}
DATASETS = ("XOR", "Spirals", "Spirals, not scaled", "Sonar", "Ionosphere", "MNIST", "digits")
VARIABLES = {"n": "n, rows", "d": "d, columns", "k": "k, components"}

FLOOR = 1e-16  # where a logarithmic axis shows zero


def our_look() -> Any:
    """The library's own look whatever the user's settings, and SVG that keeps text as text."""
    ours = {
        "font.size": 10,
        "axes.titlesize": 10,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "labelens",
    }
    return require("matplotlib.style", extra="cli").context(["default", ours])


def new_figure(width: float, height: float) -> Figure:
    module = require("matplotlib.figure", extra="cli")
    return module.Figure(figsize=(width, height), layout="constrained")


def panels(names: Sequence[str], width: float = 3.6, height: float = 3.4) -> tuple[Figure, Any]:
    """A row of panels, one a name; wide enough for the legend below even when alone."""
    figure = new_figure(max(6.4, width * len(names) + 0.4), height)
    axes = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for ax, name in zip(axes, names, strict=True):
        ax.set_title(name, parse_math=False)
    return figure, axes


def line(
    ax: Axes, table: Frame, look: Sequence[str], style: str = "-", *, band: str, logs: bool
) -> None:
    """Middle and band of a `spread`: "std" around the mean, "range" around it, or a bare median."""
    colour, marker = look
    middle = table["median"] if band == "none" else table["mean"]
    low, high = table["min"], table["max"]
    if band == "std":
        low, high = middle - table["std"], middle + table["std"]
        if logs:  # which cannot show what is not positive
            low = low.where(low > 0, table["min"])
    if logs:
        middle, low, high = (np.maximum(part, FLOOR) for part in (middle, low, high))
    if band != "none":
        ax.fill_between(table.index, low, high, color=colour, alpha=0.12, lw=0)
    ax.plot(table.index, middle, color=colour, marker=marker, ls=style, lw=1.6, ms=4.5)


def legend(figure: Figure, handles: list[Any], where: str, ncols: int = 6) -> None:
    legend = figure.legend(
        handles=handles, loc=f"outside {where} center",
        ncols=min(ncols, len(handles)), frameon=False, fontsize=10, handlelength=2.8,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)  # a dollar in a label is a dollar


def key(label: str, look: tuple[str, str] = ("0.25", ""), style: str = "-", **more: Any) -> Any:
    module = require("matplotlib.lines", extra="cli")
    colour, marker = look
    own = dict(color=colour, marker=marker, ls=style, lw=1.6, ms=5)
    return module.Line2D([], [], label=label, **own, **more)


def method_keys(methods: Iterable[str]) -> list[Any]:
    return [key(method, METHODS.get(method, OTHER)) for method in methods]


def map_keys(maps: Iterable[str]) -> list[Any]:
    looks = [(name, MAPS.get(name, OTHER_MAP)) for name in maps]
    return [key(name, (colour, marker), style) for name, (colour, marker, style) in looks]


def style_keys(names: Iterable[str], styles: Mapping[str, str]) -> list[Any]:
    return [key(name, style=styles.get(name, "-.")) for name in names]


def show_sizes(ax: Axes, sizes: Iterable[float], logs: bool | None = None) -> None:
    """Ticks at the sizes measured, a logarithmic axis where they are far from evenly spaced."""
    values = np.unique(np.asarray(list(sizes), dtype=np.float64))
    if logs is None:
        steps = np.diff(values)
        logs = len(steps) > 1 and steps.max() > 4 * steps.min()
    if logs:
        ax.set_xscale("log")
    short = values[-1] >= 10_000
    names = [f"{v / 1000:.3g}k" if short and v >= 1000 else f"{v:,g}" for v in values]
    places = np.log(values) if logs else values
    # Some 34 letters fit below a panel.
    gap = (places[-1] - places[0]) * (1 + max(map(len, names))) / 34
    kept = [len(values) - 1]
    for i in range(len(values) - 2, -1, -1):
        if places[kept[-1]] - places[i] >= gap:
            kept.append(i)
    ax.set_xticks(values[kept], [names[i] for i in kept])
    ax.minorticks_off()


def logarithmic(ax: Axes, values: Any, show: Callable[[float], str] | None = None) -> None:
    """A logarithmic y axis of a decade or more, so that it always has labelled ticks."""
    ticker = require("matplotlib.ticker", extra="cli")
    values = np.maximum(values, FLOOR)
    low, high = float(values.min()), float(values.max())
    margin = max(1.3, np.sqrt(10 * low / high))
    low, high = low / margin, high * margin
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    if high / low < 3000:
        ax.yaxis.set_major_locator(
            ticker.LogLocator(subs=(1, 2, 5) if high / low < 100 else (1, 3))
        )
    if show is not None:
        ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: show(value)))
    ax.yaxis.set_minor_formatter(ticker.NullFormatter())


def percent() -> Any:
    return require("matplotlib.ticker", extra="cli").FuncFormatter(lambda value, _: f"{value:.0%}")
