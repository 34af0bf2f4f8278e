"""Small charts as inline SVG: they follow the page's colours and need no script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

WIDTH, HEIGHT = 400, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 30, 42


def bars(values: Sequence[float], x_title: str, y_title: str, alt: str) -> str:
    """One bar a value, numbered from 1."""
    low, high = min(0.0, *values), max(0.0, *values)
    y = _Axis(low, high, HEIGHT - BOTTOM, TOP)
    step = (WIDTH - LEFT - RIGHT) / len(values)
    parts = [y.grid()]
    every = math.ceil(len(values) / 10)
    for i, value in enumerate(values):
        left = LEFT + i * step
        top, bottom = sorted((y(value), y(0.0)))
        parts.append(
            f'<rect class="bar" x="{left + 0.12 * step:.1f}" y="{top:.1f}" '
            f'width="{0.76 * step:.1f}" height="{max(bottom - top, 0.5):.1f}"/>'
        )
        if i % every == 0:
            parts.append(_text(left + step / 2, HEIGHT - BOTTOM + 16, str(i + 1), "middle"))
    return _svg(parts, x_title, y_title, alt)


def curve(
    x: Array,
    mean: Array,
    std: Array,
    control: Array,
    marked: float | None,
    titles: tuple[str, str],
    alt: str,
) -> str:
    """Means with a band of one standard deviation and a dashed control, on a logarithmic x."""
    upper, lower, logs = mean + std, mean - std, np.log10(x)
    y = _Axis(
        min(lower.min(), control.min()), max(upper.max(), control.max()), HEIGHT - BOTTOM, TOP
    )
    span = logs[-1] - logs[0] or 1.0

    def across(log: float) -> float:
        return LEFT + 10 + (log - logs[0]) / span * (WIDTH - LEFT - RIGHT - 20)

    def path(heights: Array) -> str:
        return " ".join(f"{across(a):.1f},{y(b):.1f}" for a, b in zip(logs, heights, strict=True))

    parts = [y.grid()]
    backwards = " ".join(reversed(path(lower).split(" ")))
    parts.append(f'<polygon class="band" points="{path(upper)} {backwards}"/>')
    if marked is not None and x[0] <= marked <= x[-1]:
        at = across(math.log10(marked))
        parts.append(f'<line class="used" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" '
                     f'y2="{HEIGHT - BOTTOM}"/>')  # fmt: skip
    parts.append(f'<polyline class="control" points="{path(control)}"/>')
    parts.append(f'<polyline class="mean" points="{path(mean)}"/>')
    parts += [
        f'<circle class="bar" cx="{across(a):.1f}" cy="{y(b):.1f}" r="3"/>'
        for a, b in zip(logs, mean, strict=True)
    ]
    every = math.ceil(len(x) / 5)
    for i in range(0, len(x), every):
        parts.append(_text(across(logs[i]), HEIGHT - BOTTOM + 16, f"{x[i]:.2g}", "middle"))
    return _svg(parts, *titles, alt)


class _Axis:
    """Numbers to heights, with round ticks."""

    def __init__(self, low: float, high: float, bottom: float, top: float) -> None:
        step = _round_step((high - low or 1.0) / 4)
        self.first, self.last = math.floor(low / step), math.ceil(high / step)
        if self.first == self.last:
            self.last += 1
        self.step, self.bottom, self.top = step, bottom, top

    def __call__(self, value: float) -> float:
        share = (value / self.step - self.first) / (self.last - self.first)
        return self.bottom + share * (self.top - self.bottom)

    def grid(self) -> str:
        lines = []
        for tick in range(self.first, self.last + 1):
            height = self(tick * self.step)
            kind = "axis" if tick == 0 else "grid"
            lines.append(f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
                         f'y1="{height:.1f}" y2="{height:.1f}"/>')  # fmt: skip
            lines.append(_text(LEFT - 6, height + 4, f"{tick * self.step:.3g}", "end"))
        return "".join(lines)


def _round_step(step: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= step * (1 - 1e-9))


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(parts: Sequence[str], x_title: str, y_title: str, alt: str) -> str:
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    titles = _text(middle, HEIGHT - 6, x_title, "middle") + _text(4, 14, y_title, "start")
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape(alt)}">{"".join(parts)}{titles}</svg>'
    )
