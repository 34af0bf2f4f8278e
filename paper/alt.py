"""The figures in words, for readers who cannot see them."""

from __future__ import annotations

from collections.abc import Mapping

from .figures import FIGURES
from .frames import Frame, compared, duration, in_order, measured, slope, spread
from .looks import DATASETS, DEVICES, MAPS, METHODS, VARIABLES, WAYS


def alt_texts(frames: Mapping[str, Frame]) -> dict[str, str]:
    """What a reader who cannot see a figure should know, by its name."""
    writers = {
        "figure1-visualisation": _say_visualisation,
        "figure2-classification": _say_classification,
        "times": _say_times,
        "complexity": _say_complexity,
        "claim1": _say_claim1,
        "kernel-error": _say_kernel_error,
        "unlabelled": _say_unlabelled,
    }
    texts = {}
    for name, write in writers.items():
        frame = measured(frames, FIGURES[name][0])
        texts[name] = "This run has no numbers for this figure." if frame is None else write(frame)
    return texts


def _say_visualisation(frame: Frame) -> str:
    accuracy = frame.groupby(["dataset", "method"])["accuracy"].first()
    parts = []
    for dataset in in_order(frame["dataset"], DATASETS):
        here = accuracy[dataset]
        scores = (f"{method} {here[method]:.1%}" for method in in_order(here.index, METHODS))
        parts.append(f"{dataset}: {', '.join(scores)}")
    return f"Scatter plots in two dimensions. 1-NN accuracy on test rows. {'; '.join(parts)}."


def _say_classification(frame: Frame) -> str:
    parts = []
    for dataset in in_order(frame["dataset"], DATASETS):
        here = frame[frame["dataset"] == dataset]
        k = here["k"].max()
        means = here[here["k"] == k].groupby(["method", "device"])[["accuracy", "fit_seconds"]]
        table = means.mean()
        scores = [
            f"{method} {device} {table.loc[(method, device), 'accuracy']:.1%} in "
            f"{duration(table.loc[(method, device), 'fit_seconds'])}"
            for method in in_order(here["method"], METHODS)
            for device in in_order(here["device"], DEVICES)
            if (method, device) in table.index
        ]
        parts.append(f"{dataset}, k = {k}: {', '.join(scores)}")
    return (
        "Accuracy and fit time against k. Means at the largest k of each data set. "
        f"{'; '.join(parts)}."
    )


def _say_times(frame: Frame) -> str:
    parts = []
    for method in in_order(frame["method"], METHODS):
        n, medians = compared(frame, method)
        shown = (f"{way} {duration(medians[way])}" for way in in_order(medians, WAYS))
        parts.append(f"{method} at n = {n:,}: {', '.join(shown)}")
    return f"Fit time against n. Medians. {'; '.join(parts)}."


def _say_complexity(frame: Frame) -> str:
    parts = []
    for method in in_order(frame["method"], METHODS):
        for way in in_order(frame["way"], WAYS):
            shown = (f"{v} {slope(frame, method, way, v)}" for v in VARIABLES)
            parts.append(f"{method}, {way}: {', '.join(shown)}")
    return f"Fit time against n, d and k. Measured slopes. {'; '.join(parts)}."


def _say_claim1(frame: Frame) -> str:
    parts = []
    for dataset in in_order(frame["dataset"], DATASETS):
        here = frame[frame["dataset"] == dataset]
        k = here["k"].max()
        full = here["k"][here["k"] >= here["n_classes"] - 1]
        sizes = sorted({k if len(full) == 0 else full.min(), k})
        means = here.groupby(["label_map", "k"])["residual"].mean()
        shown = [
            f"{name} {means[name, size]:.1e} at k = {size}"
            for name in in_order(here["label_map"], MAPS)
            for size in sizes
            if (name, size) in means.index
        ]
        parts.append(f"{dataset}: {', '.join(shown)}")
    return f"Residual between SRP and scaled SPCA against k. Means. {'; '.join(parts)}."


def _say_kernel_error(frame: Frame) -> str:
    parts = []
    for dataset in in_order(frame["dataset"], DATASETS):
        here = frame[frame["dataset"] == dataset]
        shown = []
        for name in in_order(here["approximation"], MAPS):
            table = spread(here[here["approximation"] == name], "n_features", "error")
            shown.append(f"{name} {table['mean'].iloc[-1]:.2g} with {table.index[-1]:,} features")
        parts.append(f"{dataset}: {', '.join(shown)}")
    return f"Error of the kernel against the number of features. Means. {'; '.join(parts)}."


def _say_unlabelled(frame: Frame) -> str:
    parts = []
    for method in in_order(frame["method"], METHODS):
        table = spread(frame[frame["method"] == method], "k", "captured")
        parts.append(f"{method} {table['mean'].iloc[-1]:.1%} at k = {table.index[-1]}")
    return f"Share of variance captured against k. Means: {', '.join(parts)}."
