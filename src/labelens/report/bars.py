"""Bars of what was computed on request: importances, shuffled labels, other rows and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from .._judge.explain import Importances
from .._judge.permutation import PermutationReport
from .._judge.stability import STABLE, StabilityReport


def bars_of(
    found: Importances | PermutationReport | StabilityReport, most: int
) -> list[dict[str, Any]]:
    """The largest importances, or what a report has measured: name, value, text, and a tick."""
    lines: list[tuple[str, Any, str, Any]] = []
    if isinstance(found, PermutationReport):
        score = f"Held-out {found.metric.replace('^2', '²')}", found.score, found.null_score
        dependence = "Held-out dependence", found.dependence, found.null_dependence
        for name, own, null in (score, dependence):
            low, high = np.quantile(null, (0.05, 0.95))
            lines.append((name, own, f"{own:z.3f}, shuffled {low:z.3f} to {high:z.3f}", high))
    elif isinstance(found, StabilityReport):
        for j in range(min(most, len(found.stable))):
            for cause, moved in {"rows": found.rows, "seeds": found.seeds}.items():
                if moved is not None:
                    share = moved.found[:, j].mean()
                    lines.append(
                        (f"Component {j + 1}, other {cause}", share, f"{share:.1%}", STABLE)
                    )
    else:
        for j in np.argsort(-found.overall, kind="stable")[:most]:
            text, tick = f"{found.overall[j]:.3f}", None
            if found.error is not None and found.shuffled is not None:
                tick = float(found.shuffled[j])
                text += f" ± {found.error[j]:.3f} ({tick:.3f})"
            lines.append((found.names[j], found.overall[j], text, tick))
    return [dict(name=n, value=float(v), text=text, tick=tick) for n, v, text, tick in lines]


def drawn(bars: Sequence[dict[str, Any]], longest: float = 1.0) -> str:
    """A table of bars; one of length `longest` is as wide as its cell."""

    def share(value: float) -> str:
        return f"{100 * min(1.0, max(0.0, value / longest)):.1f}%"

    lines = ""
    for bar in bars:
        name, tick = escape(bar["name"]), bar["tick"]
        mark = "" if tick is None else f'<i style="left: {share(tick)}"></i>'
        lines += (
            f'<tr><th scope="row"><bdi title="{name}">{name}</bdi></th><td class="track"><div>'
            f'<b style="width: {share(bar["value"])}"></b>{mark}</div></td>'
            f"<td>{escape(bar['text'])}</td></tr>"
        )
    return f'<table class="bars"><tbody>{lines}</tbody></table>'
