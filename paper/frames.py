"""Tidy frames of numbers, one an experiment, and what figures and words alike need of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from labelens._base.page import MISSING

Frame = Any  # pandas.DataFrame

# What each frame measures: a row without these says nothing.
NUMBERS = {
    "visualisation": ["z1", "z2"],
    "classification": ["accuracy", "fit_seconds"],
    "times": ["seconds"],
    "complexity": ["seconds"],
    "claim1": ["residual"],
    "kernel_error": ["error"],
    "unlabelled": ["captured"],
}


def measured(frames: Mapping[str, Frame], source: str) -> Frame | None:
    """The rows of a frame that hold numbers, or None where there are none."""
    frame = frames.get(source)
    if frame is None or len(frame) == 0:
        return None
    frame = frame[np.isfinite(frame[NUMBERS[source]].to_numpy(np.float64)).all(axis=1)]
    return frame if len(frame) else None


def in_order(values: Iterable[Any], known: Iterable[str]) -> list[str]:
    """Distinct values: the known ones in their order, then the rest sorted."""
    found, known = set(values), list(known)
    return [name for name in known if name in found] + sorted(found - set(known))


def spread(frame: Frame, size: str, value: str) -> Frame:
    """A row for each size, rising: mean, median, std (0 for a single run), min and max."""
    table = frame.groupby(size)[value].agg(["mean", "median", "std", "min", "max"])
    return table.fillna({"std": 0.0})


def duration(seconds: float) -> str:
    """Three digits and a unit that suits them.

    >>> duration(0.00123), duration(95.6)
    ('1.23 ms', '95.6 s')
    """
    for unit, length in (("s", 1.0), ("ms", 1e-3)):
        # 0.9995 s would round to 1000 ms.
        if seconds >= 0.9995 * length:
            return f"{_digits(seconds / length)} {unit}"
    return f"{_digits(seconds / 1e-6)} µs"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def compared(frame: Frame, method: str) -> tuple[int, dict[str, float]]:
    """The largest n that every way of a method reached (or any did), and the median seconds."""
    table = frame[frame["method"] == method].pivot_table("seconds", "n", "way", aggfunc="median")
    shared = table.dropna()
    last = (shared if len(shared) else table).iloc[-1]
    return int(last.name), last.dropna().to_dict()


def exponent(sizes: Any, seconds: Any) -> float | None:
    """Least squares slope of log seconds on log size; None for fewer than two sizes."""
    if len(set(sizes)) < 2:
        return None
    return float(np.polyfit(np.log(np.asarray(sizes, float)), np.log(seconds), 1)[0])


def slope(frame: Frame, method: str, way: str, variable: str) -> str:
    cell = frame[
        (frame["method"] == method) & (frame["way"] == way) & (frame["variable"] == variable)
    ]
    power = exponent(cell["size"], cell["seconds"])
    return MISSING if power is None else f"{power:z.2f}"
