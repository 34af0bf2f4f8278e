"""The experiments' figures, drawn from tidy frames of numbers."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from labelens._base.files import replaced
from labelens.plot.canvas import extents

from .frames import Frame, duration, in_order, measured, spread
from .looks import (
    CLASSES,
    DATASETS,
    DEVICES,
    MAPS,
    METHODS,
    OTHER,
    OTHER_MAP,
    VARIABLES,
    WAYS,
    Axes,
    Figure,
    key,
    legend,
    line,
    logarithmic,
    map_keys,
    method_keys,
    new_figure,
    our_look,
    panels,
    percent,
    show_sizes,
    style_keys,
)


def draw_all(frames: Mapping[str, Frame]) -> dict[str, Figure]:
    """Every figure by its file name; one whose frame is missing or empty says so."""
    figures = {}
    with our_look():
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
            with replaced(path) as file:
                file.write(render(figure, kind))
            paths.append(path)
    return paths


def render(figure: Figure, kind: str) -> bytes:
    """The bytes of a "png" or "svg"; the same numbers give the same bytes."""
    stream = io.BytesIO()
    blank = {"png": ["Software"], "svg": ["Date", "Creator"]}[kind]
    with our_look():
        figure.savefig(stream, format=kind, dpi=150, metadata=dict.fromkeys(blank))
    return stream.getvalue()


def _nothing(source: str) -> Figure:
    figure = new_figure(6.4, 1.6)
    sentence = f"This run has no numbers for this figure ({source})."
    figure.text(0.5, 0.5, sentence, ha="center", va="center", color="0.3")
    return figure


def _visualisation(frame: Frame) -> Figure:
    """Figure 1: a row a data set, a column a method."""
    rows = in_order(frame["dataset"], DATASETS)
    columns = in_order(frame["method"], METHODS)
    figure = new_figure(max(6.4, 2.05 * len(columns) + 0.5), 2.05 * len(rows) + 0.9)
    axes = figure.subplots(len(rows), len(columns), squeeze=False)
    classes: list[list[str]] = []  # what the data sets call their first class, their second, ...
    for row, dataset in zip(axes, rows, strict=True):
        here = frame[frame["dataset"] == dataset]
        labels = sorted(set(here["label"].astype(str)))
        for i, label in enumerate(labels):
            if i == len(classes):
                classes.append([])
            if label not in classes[i]:
                classes[i].append(label)
        for ax, method in zip(row, columns, strict=True):
            _scatter(ax, here[here["method"] == method], labels, method)
        row[0].set_ylabel(dataset, fontsize=11, parse_math=False)
    handles = [
        key(_class_name(names), CLASSES[i % len(CLASSES)], "") for i, names in enumerate(classes)
    ]
    grey = ("0.25", "o")
    handles += [key("training row", grey, "", mfc="none", alpha=0.6), key("test row", grey, "")]
    legend(figure, handles, "lower", 4 if len(columns) > 3 else 2)
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
    figure = new_figure(max(6.4, width * len(names) + 0.3), 7.2)
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
                line(above, spread(runs, "k", "accuracy"), *style, band="std", logs=False)
                line(below, spread(runs, "k", "fit_seconds"), *style, band="std", logs=True)
        above.set_title(name, fontsize=12, parse_math=False)
        above.yaxis.set_major_formatter(percent())
        logarithmic(below, here["fit_seconds"], duration)
        show_sizes(below, here["k"])
        below.set_xlabel("k, components")
    axes[0, 0].set_ylabel("1-NN accuracy on test rows")
    axes[1, 0].set_ylabel("fit time")
    legend(figure, method_keys(methods), "lower")
    legend(figure, style_keys(devices, DEVICES), "upper")
    return figure


def _times(frame: Frame) -> Figure:
    """One panel a method, fit time against n."""
    methods, ways = in_order(frame["method"], METHODS), in_order(frame["way"], WAYS)
    figure, axes = panels(methods, 3.1 if len(methods) < 5 else 2.7, 3.7)
    for ax, method in zip(axes, methods, strict=True):
        here = frame[frame["method"] == method]
        for way in ways:
            table = spread(here[here["way"] == way], "n", "seconds")
            look = METHODS.get(method, OTHER)
            line(ax, table, look, WAYS.get(way, "-."), band="none", logs=True)
        logarithmic(ax, frame["seconds"], duration)
        show_sizes(ax, frame["n"], logs=True)
        ax.set_xlabel("n, rows")
    axes[0].set_ylabel("fit time (median)")
    legend(figure, style_keys(ways, WAYS), "lower")
    return figure


def _complexity(frame: Frame) -> Figure:
    """One panel a variable, fit time against its size."""
    variables = in_order(frame["variable"], VARIABLES)
    methods, ways = in_order(frame["method"], METHODS), in_order(frame["way"], WAYS)
    figure, axes = panels([f"against {name}" for name in variables], 3.8, 4.4)
    for ax, variable in zip(axes, variables, strict=True):
        here = frame[frame["variable"] == variable]
        for method in methods:
            for way in ways:
                cell = here[(here["method"] == method) & (here["way"] == way)]
                look = METHODS.get(method, OTHER)
                table = spread(cell, "size", "seconds")
                line(ax, table, look, WAYS.get(way, "-."), band="none", logs=True)
        logarithmic(ax, frame["seconds"], duration)
        show_sizes(ax, here["size"], logs=True)
        ax.set_xlabel(VARIABLES.get(variable, variable), parse_math=False)
    axes[0].set_ylabel("fit time (median)")
    legend(figure, method_keys(methods) + style_keys(ways, WAYS), "lower")
    return figure


def _claim1(frame: Frame) -> Figure:
    """One panel a data set, residual against k."""
    figure, axes, maps = _by_map(frame, "label_map", "k", "residual")
    for name, ax in axes.items():
        here = frame[frame["dataset"] == name]
        ax.axvline(int(here["n_classes"].iloc[0]) - 1, color="0.25", ls="-.", lw=1.2)
        ax.set(xlabel="k, components")
    next(iter(axes.values())).set_ylabel("residual (0 is exact)")
    legend(figure, [*map_keys(maps), key("k = classes - 1", style="-.")], "lower")
    return figure


def _kernel_error(frame: Frame) -> Figure:
    """One panel a data set, error of the kernel against the number of features."""
    figure, axes, maps = _by_map(
        frame, "approximation", "n_features", "error", logs=True, show=lambda value: f"{value:g}"
    )
    for ax in axes.values():
        ax.set(xlabel="random features")
    next(iter(axes.values())).set_ylabel("RMS error of the kernel")
    legend(figure, map_keys(maps), "lower")
    return figure


def _by_map(
    frame: Frame,
    column: str,
    size: str,
    value: str,
    *,
    logs: bool | None = None,
    show: Callable[[float], str] | None = None,
) -> tuple[Figure, dict[str, Axes], list[str]]:
    """One panel a data set, by its name, and in it a line for each of the maps in a column."""
    names, maps = in_order(frame["dataset"], DATASETS), in_order(frame[column], MAPS)
    figure, axes = panels(names, 3.8, 3.9)
    for ax, name in zip(axes, names, strict=True):
        here = frame[frame["dataset"] == name]
        for one in maps:
            *look, dashes = MAPS.get(one, OTHER_MAP)
            table = spread(here[here[column] == one], size, value)
            line(ax, table, look, dashes, band="range", logs=True)
        logarithmic(ax, frame[value], show)
        show_sizes(ax, here[size], logs)
    return figure, dict(zip(names, axes, strict=True)), maps


def _unlabelled(frame: Frame) -> Figure:
    """Share of variance against k."""
    methods = in_order(frame["method"], METHODS)
    figure, (ax,) = panels([""], 6.4, 3.9)
    for method in methods:
        table = spread(frame[frame["method"] == method], "k", "captured")
        line(ax, table, METHODS.get(method, OTHER), band="std", logs=False)
    ax.yaxis.set_major_formatter(percent())
    show_sizes(ax, frame["k"])
    ax.set_xlabel("k, components")
    ax.set_ylabel("share of variance captured")
    legend(figure, method_keys(methods), "lower")
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
