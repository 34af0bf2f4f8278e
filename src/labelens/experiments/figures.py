"""The experiments' figures, drawn from tidy frames of numbers.

A method has one colour and one marker in every figure; line styles tell ways of running it apart.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._optional import require
from .._page import replace_file
from ..plot.canvas import extents
from .frames import Frame, duration, in_order, measured, spread

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


def draw_all(frames: Mapping[str, Frame]) -> dict[str, Figure]:
    """Every figure by its file name; one whose frame is missing or empty says so."""
    figures = {}
    with _style():
        for name, (source, draw) in FIGURES.items():
            frame = measured(frames, source)
            figure = _nothing(source) if frame is None else draw(frame)
            # The layout is found once and kept, so that every rendering is the same.
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            figures[name] = figure
    return figures


def save(figures: Mapping[str, Figure], folder: str | os.PathLike[str]) -> list[Path]:
    """Write each figure as PNG and as SVG; returns the paths."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in figures.items():
        for kind in ("png", "svg"):
            path = Path(folder, f"{name}.{kind}")
            replace_file(path, render(figure, kind))
            paths.append(path)
    return paths


def render(figure: Figure, kind: str) -> bytes:
    """The bytes of a "png" or "svg"; the same numbers give the same bytes."""
    stream = io.BytesIO()
    blank = {"png": ["Software"], "svg": ["Date", "Creator"]}[kind]
    with _style():
        figure.savefig(stream, format=kind, dpi=150, metadata=dict.fromkeys(blank))
    return stream.getvalue()


def _style() -> Any:
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


def _figure(width: float, height: float) -> Figure:
    module = require("matplotlib.figure", extra="cli")
    return module.Figure(figsize=(width, height), layout="constrained")


def _nothing(source: str) -> Figure:
    figure = _figure(6.4, 1.6)
    sentence = f"This run has no numbers for this figure ({source})."
    figure.text(0.5, 0.5, sentence, ha="center", va="center", color="0.3")
    return figure


def _panels(names: Sequence[str], width: float = 3.6, height: float = 3.4) -> tuple[Figure, Any]:
    """A row of panels, one a name; wide enough for the legend below even when alone."""
    figure = _figure(max(6.4, width * len(names) + 0.4), height)
    axes = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for ax, name in zip(axes, names, strict=True):
        ax.set_title(name, parse_math=False)
    return figure, axes


def _line(
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


def _legend(figure: Figure, handles: list[Any], where: str, ncols: int = 6) -> None:
    legend = figure.legend(
        handles=handles, loc=f"outside {where} center",
        ncols=min(ncols, len(handles)), frameon=False, fontsize=10, handlelength=2.8,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)  # a dollar in a label is a dollar


def _key(label: str, look: tuple[str, str] = ("0.25", ""), style: str = "-", **more: Any) -> Any:
    line = require("matplotlib.lines", extra="cli").Line2D
    colour, marker = look
    return line([], [], label=label, color=colour, marker=marker, ls=style, lw=1.6, ms=5, **more)


def _method_keys(methods: Iterable[str]) -> list[Any]:
    return [_key(method, METHODS.get(method, OTHER)) for method in methods]


def _map_keys(maps: Iterable[str]) -> list[Any]:
    looks = [(name, MAPS.get(name, OTHER_MAP)) for name in maps]
    return [_key(name, (colour, marker), style) for name, (colour, marker, style) in looks]


def _style_keys(names: Iterable[str], styles: Mapping[str, str]) -> list[Any]:
    return [_key(name, style=styles.get(name, "-.")) for name in names]


def _sizes(ax: Axes, sizes: Iterable[float], logs: bool | None = None) -> None:
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
    # A panel has room for some 34 letters below it.
    gap = (places[-1] - places[0]) * (1 + max(map(len, names))) / 34
    kept = [len(values) - 1]
    for i in range(len(values) - 2, -1, -1):
        if places[kept[-1]] - places[i] >= gap:
            kept.append(i)
    ax.set_xticks(values[kept], [names[i] for i in kept])
    ax.minorticks_off()


def _logarithmic(ax: Axes, values: Any, show: Callable[[float], str] | None = None) -> None:
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


def _visualisation(frame: Frame) -> Figure:
    """Figure 1: a row a data set, a column a method."""
    rows = in_order(frame["dataset"], DATASETS)
    columns = in_order(frame["method"], METHODS)
    figure = _figure(max(6.4, 2.05 * len(columns) + 0.5), 2.05 * len(rows) + 0.9)
    axes = figure.subplots(len(rows), len(columns), squeeze=False)
    classes: list[list[str]] = []  # what the data sets call their first class, their second, ...
    for line, dataset in zip(axes, rows, strict=True):
        here = frame[frame["dataset"] == dataset]
        labels = sorted(set(here["label"].astype(str)))
        for i, label in enumerate(labels):
            if i == len(classes):
                classes.append([])
            if label not in classes[i]:
                classes[i].append(label)
        for ax, method in zip(line, columns, strict=True):
            _scatter(ax, here[here["method"] == method], labels, method)
        line[0].set_ylabel(dataset, fontsize=11, parse_math=False)
    handles = [
        _key(_class_name(names), CLASSES[i % len(CLASSES)], "") for i, names in enumerate(classes)
    ]
    grey = ("0.25", "o")
    handles += [_key("training row", grey, "", mfc="none", alpha=0.6), _key("test row", grey, "")]
    _legend(figure, handles, "lower", 4 if len(columns) > 3 else 2)
    return figure


def _class_name(labels: Iterable[str]) -> str:
    short = (label if len(label) <= 20 else f"{label[:19]}…" for label in labels)
    return f"class {' or '.join(short)}"


def _scatter(ax: Axes, panel: Frame, labels: list[str], method: str) -> None:
    ax.set(xticks=[], yticks=[])
    ax.spines[["top", "right"]].set_visible(True)
    if len(panel) == 0:
        ax.set_title(method, parse_math=False)
        ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, ha="center", color="0.4")
        return
    ax.set_title(f"{method}, 1-NN {panel['accuracy'].iloc[0]:.1%}", parse_math=False)
    for part in ("train", "test"):
        for i, label in enumerate(labels):
            points = panel[(panel["part"] == part) & (panel["label"].astype(str) == label)]
            colour, marker = CLASSES[i % len(CLASSES)]
            look = (
                dict(facecolors="none", edgecolors=colour, alpha=0.4, linewidths=0.7)
                if part == "train"
                else dict(facecolors=colour, edgecolors="white", alpha=0.85, linewidths=0.3)
            )
            ax.scatter(points["z1"], points["z2"], s=16, marker=marker, **look)
    (left, right), (bottom, top) = extents(panel[["z1", "z2"]].to_numpy(np.float64))
    ax.set(xlim=(left, right), ylim=(bottom, top))


def _classification(frame: Frame) -> Figure:
    """Figure 2: a column a data set, accuracy above fit time."""
    names = in_order(frame["dataset"], DATASETS)
    width = 4.1 if len(names) < 4 else 3.5
    figure = _figure(max(6.4, width * len(names) + 0.3), 7.2)
    axes = figure.subplots(2, len(names), squeeze=False, sharex="col")
    methods, devices = in_order(frame["method"], METHODS), in_order(frame["device"], DEVICES)
    for (above, below), name in zip(axes.T, names, strict=True):
        here = frame[frame["dataset"] == name]
        for device in devices:
            for method in methods:
                runs = here[(here["method"] == method) & (here["device"] == device)]
                if len(runs) == 0:
                    continue
                style = METHODS.get(method, OTHER), DEVICES.get(device, "-.")
                _line(above, spread(runs, "k", "accuracy"), *style, band="std", logs=False)
                _line(below, spread(runs, "k", "fit_seconds"), *style, band="std", logs=True)
        above.set_title(name, fontsize=12, parse_math=False)
        above.yaxis.set_major_formatter(_percent())
        _logarithmic(below, here["fit_seconds"], duration)
        _sizes(below, here["k"])
        below.set_xlabel("k, components")
    axes[0, 0].set_ylabel("1-NN accuracy on test rows")
    axes[1, 0].set_ylabel("fit time")
    _legend(figure, _method_keys(methods), "lower")
    _legend(figure, _style_keys(devices, DEVICES), "upper")
    return figure


def _percent() -> Any:
    return require("matplotlib.ticker", extra="cli").FuncFormatter(lambda value, _: f"{value:.0%}")


def _times(frame: Frame) -> Figure:
    """One panel a method, fit time against n."""
    methods, ways = in_order(frame["method"], METHODS), in_order(frame["way"], WAYS)
    figure, axes = _panels(methods, 3.1 if len(methods) < 5 else 2.7, 3.7)
    for ax, method in zip(axes, methods, strict=True):
        here = frame[frame["method"] == method]
        for way in ways:
            table = spread(here[here["way"] == way], "n", "seconds")
            look = METHODS.get(method, OTHER)
            _line(ax, table, look, WAYS.get(way, "-."), band="none", logs=True)
        _logarithmic(ax, frame["seconds"], duration)
        _sizes(ax, frame["n"], logs=True)
        ax.set_xlabel("n, rows")
    axes[0].set_ylabel("fit time (median)")
    _legend(figure, _style_keys(ways, WAYS), "lower")
    return figure


def _complexity(frame: Frame) -> Figure:
    """One panel a variable, fit time against its size."""
    variables = in_order(frame["variable"], VARIABLES)
    methods, ways = in_order(frame["method"], METHODS), in_order(frame["way"], WAYS)
    figure, axes = _panels([f"against {name}" for name in variables], 3.8, 4.4)
    for ax, variable in zip(axes, variables, strict=True):
        here = frame[frame["variable"] == variable]
        for method in methods:
            for way in ways:
                cell = here[(here["method"] == method) & (here["way"] == way)]
                look = METHODS.get(method, OTHER)
                table = spread(cell, "size", "seconds")
                _line(ax, table, look, WAYS.get(way, "-."), band="none", logs=True)
        _logarithmic(ax, frame["seconds"], duration)
        _sizes(ax, here["size"], logs=True)
        ax.set_xlabel(VARIABLES.get(variable, variable), parse_math=False)
    axes[0].set_ylabel("fit time (median)")
    _legend(figure, _method_keys(methods) + _style_keys(ways, WAYS), "lower")
    return figure


def _claim1(frame: Frame) -> Figure:
    """One panel a data set, residual against k."""
    names, maps = in_order(frame["dataset"], DATASETS), in_order(frame["label_map"], MAPS)
    figure, axes = _panels(names, 3.8, 3.9)
    for ax, name in zip(axes, names, strict=True):
        here = frame[frame["dataset"] == name]
        for label_map in maps:
            table = spread(here[here["label_map"] == label_map], "k", "residual")
            *look, style = MAPS.get(label_map, OTHER_MAP)
            _line(ax, table, look, style, band="range", logs=True)
        ax.axvline(int(here["n_classes"].iloc[0]) - 1, color="0.25", ls="-.", lw=1.2)
        _logarithmic(ax, frame["residual"])
        _sizes(ax, here["k"])
        ax.set_xlabel("k, components")
    axes[0].set_ylabel("residual (0 is exact)")
    keys = [*_map_keys(maps), _key("k = classes - 1", style="-.")]
    _legend(figure, keys, "lower")
    return figure


def _kernel_error(frame: Frame) -> Figure:
    """One panel a data set, error of the kernel against the number of features."""
    names, maps = in_order(frame["dataset"], DATASETS), in_order(frame["approximation"], MAPS)
    figure, axes = _panels(names, 3.8, 3.9)
    for ax, name in zip(axes, names, strict=True):
        here = frame[frame["dataset"] == name]
        for approximation in maps:
            table = spread(here[here["approximation"] == approximation], "n_features", "error")
            *look, style = MAPS.get(approximation, OTHER_MAP)
            _line(ax, table, look, style, band="range", logs=True)
        _logarithmic(ax, frame["error"], lambda value: f"{value:g}")
        _sizes(ax, here["n_features"], logs=True)
        ax.set_xlabel("random features")
    axes[0].set_ylabel("RMS error of the kernel")
    _legend(figure, _map_keys(maps), "lower")
    return figure


def _unlabelled(frame: Frame) -> Figure:
    """Share of variance against k."""
    methods = in_order(frame["method"], METHODS)
    figure, (ax,) = _panels([""], 6.4, 3.9)
    for method in methods:
        table = spread(frame[frame["method"] == method], "k", "captured")
        _line(ax, table, METHODS.get(method, OTHER), band="std", logs=False)
    ax.yaxis.set_major_formatter(_percent())
    _sizes(ax, frame["k"])
    ax.set_xlabel("k, components")
    ax.set_ylabel("share of variance captured")
    _legend(figure, _method_keys(methods), "lower")
    return figure


FIGURES: dict[str, tuple[str, Callable[[Frame], Figure]]] = {
    "figure1-visualisation": ("visualisation", _visualisation),
    "figure2-classification": ("classification", _classification),
    "times": ("times", _times),
    "complexity": ("complexity", _complexity),
    "claim1": ("claim1", _claim1),
    "kernel-error": ("kernel_error", _kernel_error),
    "unlabelled": ("unlabelled", _unlabelled),
}
