"""What the components are: how much each depends on the labels, what it weighs, which width."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from .._base.page import MISSING, paragraph, table
from .charts import bars, curve
from .contents import CURVE, Contents

MOST_BARS = 50
MOST_CARDS = 6
MOST_WEIGHTS = 12


def scree(contents: Contents) -> str:
    """The share of dependence on the labels that every component adds."""
    shares = getattr(contents.model, "dependence_ratio_", None)
    if shares is None or not np.isfinite(shares := np.asarray(shares, dtype=np.float64)).any():
        return paragraph("The model does not say how much its components depend on the labels.")
    shown = np.nan_to_num(shares[:MOST_BARS], posinf=0.0, neginf=0.0)
    cut = f" The first {MOST_BARS} of {len(shares):,} are drawn." if len(shares) > MOST_BARS else ""
    most = int(np.searchsorted(np.cumsum(shown), 0.9 * shown.sum()) + 1)
    summary = (
        f"Component 1 adds {shown[0]:.1%} of the dependence (HSIC) between all columns and the "
        "labels"
    )
    if len(shown) > 1:
        summary += f"; {len(shown)} components together hold {shown.sum():.1%}"
    if len(shown) > 2:
        summary += f", nine tenths of it in the first {most}"
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
    if hasattr(model, "kernel"):
        return paragraph(
            "A kernel method weighs features of its kernel, not columns of the data, so it has no "
            "loadings to show."
        )
    if weights is None:
        return paragraph("The model has no components_, so there are no loadings to show.")
    weights = np.asarray(weights, dtype=np.float64)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"column {j}" for j in range(weights.shape[1])]
    cards, first = [], ""
    for i, row in enumerate(weights[:MOST_CARDS]):
        top = np.argsort(-np.abs(row), kind="stable")[:MOST_WEIGHTS]
        top = top[row[top] != 0]
        if not len(top):
            cards.append(_card(i, paragraph("All weights are zero: it carries no information.")))
            continue
        if not first:
            words = " and ".join(f"“{names[j]}” ({row[j]:.2g})" for j in top[:2])
            first = f" Component {i + 1} weighs {words} most."
        cards.append(_card(i, _weights([str(names[j]) for j in top], row[top])))
    scale = getattr(model, "scale", None)
    lead = f"Weights of the columns{f' after {scale} scaling' if scale else ''}: "
    lead += f"at most {MOST_WEIGHTS} of {weights.shape[1]:,} a component, the largest first."
    if len(weights) > MOST_CARDS:
        lead += f" The first {MOST_CARDS} of {len(weights):,} components are shown."
    return paragraph(lead + first) + f'<div class="cards">{"".join(cards)}</div>\n'


def gamma(contents: Contents) -> str:
    """Held-out score against kernel width."""
    given = contents.gamma_curve
    if given is None:
        return paragraph("No kernel widths were compared in this run.")
    lists = [np.asarray(given[key], dtype=np.float64) for key in CURVE]
    good = np.isfinite(lists).all(axis=0) & (lists[0] > 0)
    if not good.any():
        return paragraph("No kernel width gave a number, so there is nothing to draw.")
    order = np.argsort(lists[0][good], kind="stable")
    gammas, mean, std, control = (values[good][order] for values in lists)
    best = int(np.argmax(mean))
    used = getattr(contents.model, "gamma_", None)
    summary = (
        f"The best mean score is {mean[best]:z.3f} (± {std[best]:.3f}) at gamma = "
        f"{gammas[best]:.3g}; shuffled labels reach {control[best]:z.3f} there."
    )
    if best in (0, len(gammas) - 1) and len(gammas) > 2:
        summary += " That is the edge of what was tried: a better width may lie beyond."
    key = "Line and band: mean and one standard deviation. Dashed: shuffled labels."
    if used is not None and gammas[0] <= used <= gammas[-1]:
        key += f" Vertical: the width this model uses, {used:.3g}."
    metric = contents.metric
    chart = curve(gammas, mean, std, control, used, ("gamma", metric), summary)
    rows = [
        [f"{gammas[i]:.4g}", f"{mean[i]:z.4f}", f"{std[i]:.4f}", f"{control[i]:z.4f}"]
        for i in range(len(gammas))
    ]
    return (
        paragraph(summary)
        + f'<figure class="card">{chart}<figcaption>{escape(key)}</figcaption></figure>'
        + _numbers(table(["gamma", "Mean", "Std", "Shuffled"], rows, "Kernel widths"))
    )


def _numbers(markup: str) -> str:
    return f"<details><summary>The numbers</summary>{markup}</details>\n"


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
