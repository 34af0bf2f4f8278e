"""Components in the report: dependence on the labels, weights, and the choice of gamma."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.page import MISSING, paragraph, table
from .bars import bars_of, drawn
from .contents import CURVE, Contents

Array = NDArray[np.float64]

MOST_BARS = 50
MOST_CARDS = 6
MOST_WEIGHTS = 12
# Size of a chart in pixels. Charts are inline SVG with the colours of the page.
WIDTH, HEIGHT = 400, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 30, 42


def scree(contents: Contents) -> str:
    """The share of the dependence on the labels of each component; empty if the model has none."""
    shares = getattr(contents.model, "dependence_ratio_", None)
    if shares is None or not np.isfinite(shares := np.asarray(shares, dtype=np.float64)).any():
        return ""
    shown = np.nan_to_num(shares[:MOST_BARS], posinf=0.0, neginf=0.0)
    cut = f" The first {MOST_BARS} of {len(shares):,} are drawn." if len(shares) > MOST_BARS else ""
    most = int(np.searchsorted(np.cumsum(shown), 0.9 * shown.sum()) + 1)
    summary = (
        f"Component 1 has {shown[0]:.1%} of the dependence (HSIC) between all columns and the "
        "labels"
    )
    if len(shown) > 1:
        summary += f"; {len(shown)} components together have {shown.sum():.1%}"
    if len(shown) > 2:
        summary += f", nine tenths of this in the first {most}"
    summary += "."
    dependence = np.asarray(getattr(contents.model, "dependence_", np.full(len(shares), np.nan)))
    rows = [
        [str(i + 1), f"{share:z.4f}", f"{value:.4g}" if np.isfinite(value) else MISSING]
        for i, (share, value) in enumerate(zip(shown, dependence, strict=False))
    ]
    chart = bars(shown.tolist(), "component", "share of dependence", summary)
    return (
        paragraph(summary + cut)
        + f'<figure class="card">{chart}</figure>'
        + _numbers(table(["Component", "Share", "HSIC"], rows, "Components"))
    )


def loadings(contents: Contents) -> str:
    """The largest weights of every component, for linear methods."""
    model = contents.model
    weights = getattr(model, "components_", None)
    if contents.importances is not None and (weights is None or hasattr(model, "kernel")):
        return ""
    if hasattr(model, "kernel"):
        return paragraph(
            "A kernel method has weights of its kernel features, not of the columns, so it has no "
            "loadings."
        )
    if weights is None:
        return paragraph("The model has no components_, so it has no loadings.")
    weights = np.asarray(weights, dtype=np.float64)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"column {j}" for j in range(weights.shape[1])]
    cards, first = [], ""
    for i, row in enumerate(weights[:MOST_CARDS]):
        top = np.argsort(-np.abs(row), kind="stable")[:MOST_WEIGHTS]
        top = top[row[top] != 0]
        if not len(top):
            cards.append(_card(i, paragraph("All weights are zero: no information on labels.")))
            continue
        if not first:
            words = " and ".join(f"“{names[j]}” ({row[j]:.2g})" for j in top[:2])
            first = f" Component {i + 1} has its largest weights for {words}."
        cards.append(_card(i, _weights([str(names[j]) for j in top], row[top])))
    scale = getattr(model, "scale", None)
    if scale is not None and not isinstance(scale, str):
        scale = "given"
    lead = f"Weights of the columns{f' after {scale} scaling' if scale else ''}: "
    lead += f"at most {MOST_WEIGHTS} of {weights.shape[1]:,} per component, the largest first."
    if len(weights) > MOST_CARDS:
        lead += f" The first {MOST_CARDS} of {len(weights):,} components are shown."
    return paragraph(lead + first) + f'<div class="cards">{"".join(cards)}</div>\n'


def importance_bars(contents: Contents) -> str:
    """Shares of the columns in the gradients of the embedding, overall and by class."""
    found = contents.importances
    if found is None:
        return ""
    cards = []
    whole = "All classes" if found.classes else "Embedding"
    for name, shares in ({whole: None} | found.classes).items():
        only = found if shares is None else replace(found, overall=shares, error=None)
        top = [bar for bar in bars_of(only, MOST_WEIGHTS) if bar["value"] > 0]
        if not top:
            continue
        longest = max(max(bar["value"], bar["tick"] or 0) for bar in top)
        cards.append(
            f'<div class="card"><h3><bdi>{escape(name)}</bdi></h3>{drawn(top, longest)}</div>'
        )
        if len(cards) == MOST_CARDS:
            break
    unit = "a standard deviation" if found.standardized else "a unit"
    lead = (
        f"Share of each column in the squared change of the embedding by {unit}: at most "
        f"{MOST_WEIGHTS} of {len(found.names):,} columns. Correlated columns share importance."
    )
    if found.classes:
        lead += " The bars of a class show the direction from the mean of all rows to its mean."
    if found.shuffled is not None:
        lead += (
            " ±: standard deviation over models of half of the rows. Tick, and in brackets: mean "
            "over models of shuffled labels; a column below it is not important."
        )
    return paragraph(lead) + f'<div class="cards">{"".join(cards)}</div>\n'


def gamma(contents: Contents) -> str:
    """Held-out score against the kernel coefficient gamma; empty if none were compared."""
    given = contents.gamma_curve
    if given is None:
        return ""
    lists = [np.asarray(given[key], dtype=np.float64) for key in CURVE]
    good = np.isfinite(lists).all(axis=0) & (lists[0] > 0)
    if not good.any():
        return paragraph("No value of gamma has a finite score.")
    order = np.argsort(lists[0][good], kind="stable")
    gammas, mean, std, control = (values[good][order] for values in lists)
    best = int(np.argmax(mean))
    used = getattr(contents.model, "gamma_", None)
    summary = (
        f"The best mean score is {mean[best]:z.3f} (± {std[best]:.3f}) at gamma = "
        f"{gammas[best]:.3g}; shuffled labels reach {control[best]:z.3f} there."
    )
    if best in (0, len(gammas) - 1) and len(gammas) > 2:
        summary += " This is the end of the range, so a better value may lie beyond."
    key = "Line and band: mean and one standard deviation. Dashed: shuffled labels."
    if used is not None and gammas[0] <= used <= gammas[-1]:
        key += f" Vertical: the gamma of this model, {used:.3g}."
    metric = contents.metric
    chart = curve(gammas, mean, std, control, used, ("gamma", metric), summary)
    rows = [
        [f"{gammas[i]:.4g}", f"{mean[i]:z.4f}", f"{std[i]:.4f}", f"{control[i]:z.4f}"]
        for i in range(len(gammas))
    ]
    return (
        paragraph(summary)
        + f'<figure class="card">{chart}<figcaption>{escape(key)}</figcaption></figure>'
        + _numbers(table(["gamma", "Mean", "Std", "Shuffled"], rows, "Values of gamma"))
    )


def _numbers(markup: str) -> str:
    return f"<details><summary>Table</summary>{markup}</details>\n"


def _card(i: int, markup: str) -> str:
    return f'<div class="card"><h3>Component {i + 1}</h3>{markup}</div>'


def _weights(names: Sequence[str], values: Any) -> str:
    longest = np.abs(values).max()
    rows = "".join(
        f'<tr><th scope="row"><bdi title="{escape(name)}">{escape(name)}</bdi></th>'
        f'<td class="track"><div class="{"minus" if value < 0 else "plus"}" '
        f'style="width: {50 * abs(value) / longest:.1f}%"></div></td>'
        f'<td class="number">{value:.3g}</td></tr>'
        for name, value in zip(names, values, strict=True)
    )
    return f'<table class="weights"><tbody>{rows}</tbody></table>'


# Charts ----------------------------------------------------------------------------------------


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
