"""Evidence: scores, their baselines, and confused classes."""

from __future__ import annotations

import base64
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from .. import plot
from .._base.optional import require
from .._base.page import MISSING, paragraph, scrolled
from .._fit.task import Kind
from .._judge.permutation import PermutationReport
from .._judge.stability import STABLE, StabilityReport
from .bars import bars_of, drawn
from .contents import Contents, Label

MEANINGS = {
    "heldout": ("Held-out rows", "predicted from neighbours in the embedding"),
    "train": ("Training rows", "the same for training rows: too high by construction"),
    "raw": ("Raw columns", "held-out rows, predicted from neighbours in all columns"),
    "majority": ("Largest class", "always predicting the largest class"),
    "shuffled": ("Shuffled labels", "held-out rows, the same procedure with shuffled labels"),
}
TICKS = {
    PermutationReport: "Tick: 95 % of the shuffles are below it.",
    StabilityReport: f"Bar: mean share of the component that is found again. Tick: {STABLE:.0%}, "
    "from which on it counts as stable.",
}
MOST_CLASSES, MOST_COMPONENTS = 60, 20
SHADES = 10
SAME = 0.05  # accuracy; twice that of R²: within it, raw columns are about as good
LIGHT = 0.01  # shrinkage to try where plain directions show little

GRADES = ("Chance", "Weak", "Moderate", "Strong")
UNKNOWN = "Not measured"
THIRDS = 1 / 3, 2 / 3  # of the way from the baseline to a perfect score
Z95 = 1.959964

RULE = (
    "Grades: the baseline is the larger score of the largest class and shuffled labels (0 for R²). "
    "Chance: the 95 % interval of the held-out score contains the baseline, or the score exceeds "
    "it by at most 0.01 (0.05 for R²). Weak, moderate, strong: the score covers less than a third, "
    "less than two thirds, or more of the way from the baseline to 1. The verdict mentions a "
    "difference from raw columns or training rows if it exceeds two standard errors and 0.01 (half "
    "the interval and 0.05 for R²). Raw columns are about as good if two standard errors around "
    "the difference are within 0.05 (0.1 for R²). Intervals are Wilson's for accuracy, and use "
    "Fisher's z of the correlation for R²."
)


@dataclass(frozen=True)
class Verdict:
    """Interpretation of the scores of one embedding."""

    grade: str  # one of GRADES, or UNKNOWN
    sentence: str


def interval(scores: Mapping[str, Any], n_heldout: int) -> tuple[float, float]:
    """95 % interval of the held-out score."""
    score, n = float(scores["heldout"]), max(1, n_heldout)
    if scores["metric"] != "k-NN R^2":
        middle, spread = score + Z95**2 / (2 * n), score * (1 - score) / n + (Z95 / (2 * n)) ** 2
        half = Z95 * math.sqrt(max(0.0, spread))
        return (middle - half) / (1 + Z95**2 / n), (middle + half) / (1 + Z95**2 / n)
    if score <= 0 or n < 5:
        return min(0.0, score), max(0.0, score)
    z, half = math.atanh(min(math.sqrt(score), 1 - 1e-12)), Z95 / math.sqrt(n - 3)
    return max(0.0, math.tanh(z - half)) ** 2, math.tanh(z + half) ** 2


def interpret(scores: Mapping[str, Any], n_heldout: int) -> Verdict:
    """The grade of one embedding, and a sentence with the numbers behind it.

    >>> scores = dict(heldout=0.52, train=1.0, raw=0.5, majority=0.5, shuffled=0.48)
    >>> verdict = interpret(scores | {"metric": "1-NN accuracy"}, 100)
    >>> verdict.grade
    'Chance'
    >>> print(verdict.sentence)
    This embedding predicts held-out labels no better than chance: accuracy 0.520 (95 % interval \
0.423 to 0.615), largest class 0.500.
    """
    heldout, train, raw = scores["heldout"], scores["train"], scores["raw"]
    majority, shuffled = scores["majority"], scores["shuffled"]
    is_r2 = scores["metric"] == "k-NN R^2"

    def margin(one: float, other: float) -> float:
        """The smallest difference that is not noise."""
        if is_r2:
            low, high = interval(scores, n_heldout)
            return max(0.05, (high - low) / 2)
        variance = max(0.0, one * (1 - one) + other * (1 - other)) / max(1, n_heldout)
        return max(0.01, 2 * math.sqrt(variance))

    if heldout is None:
        return Verdict(UNKNOWN, "No rows were held out, so the accuracy for new rows is unknown.")
    known = {"largest class": majority, "shuffled labels": shuffled, "R² of the mean": None}
    if is_r2:
        known["R² of the mean"] = 0.0
    baselines = {name: score for name, score in known.items() if score is not None}
    name = max(baselines, key=lambda one: baselines[one], default="")
    baseline = baselines.get(name, 0.0)
    low, high = interval(scores, n_heldout)
    numbers = (
        f"{'R²' if is_r2 else 'accuracy'} {heldout:z.3f} (95 % interval {low:z.3f} to {high:z.3f})"
        + (f", {name} {baseline:z.3f}" if name else "")
    )
    # The interval that the report shows decides.
    if name and (low <= baseline or heldout - baseline <= (0.05 if is_r2 else 0.01)):
        return Verdict(
            GRADES[0],
            f"This embedding predicts held-out labels no better than chance: {numbers}.",
        )
    covered = (heldout - baseline) / max(1 - baseline, 1e-12)
    level = 1 + sum(covered >= third for third in THIRDS)
    sentence = f"This embedding predicts held-out labels: {numbers}"
    if raw is not None:
        sentence += f"; {_compared(heldout, raw, margin(heldout, raw), is_r2)}"
    if train is not None and train - heldout > max(0.1, margin(train, heldout)):
        sentence += "; the score of training rows is much higher, a sign of overfitting"
    if shuffled is None:
        sentence += "; shuffled labels were not tried"
    return Verdict(GRADES[level], sentence + ".")


def _compared(heldout: float, raw: float, margin: float, is_r2: bool) -> str:
    """The comparison in words; `margin` is the smallest difference that is not noise."""
    if heldout - raw > margin:
        return f"better than the raw columns ({raw:z.3f})"
    if raw - heldout > margin:
        return f"worse than the raw columns ({raw:z.3f})"
    if margin + abs(heldout - raw) <= SAME * (2 if is_r2 else 1):
        return f"about as good as the raw columns ({raw:z.3f})"
    return f"the raw columns have {raw:z.3f}; with so few held-out rows this is a tie"


def control(contents: Contents) -> str:
    """The embedding next to that of shuffled labels; empty if there is none."""
    if contents.control is None:
        return ""
    figure = require("matplotlib.figure", extra="cli").Figure((11, 5), layout="constrained")
    values = next(iter(contents.labels.values())).values
    mixed = contents.control[1] if contents.control[1].ndim == 1 else contents.control[1][:, 0]
    panels = (("Given labels", contents.Z, values), ("Shuffled", contents.control[0], mixed))
    for ax, (title, Z, labels) in zip(figure.subplots(1, 2), panels, strict=True):
        drawn = np.isfinite(Z).all(axis=1) & np.isfinite(contents.control[0]).all(axis=1)
        kind: Kind = "numbers" if contents.continuous else "classes"
        plot.scatter(Z[drawn], labels[drawn], ax=ax, task=kind)
        ax.set_title(title, loc="left")
        if (legend := ax.get_legend()) is not None:
            legend.remove()
    if contents.Z.shape[1] > 1:
        plot.canvas.fit_height(ax, 5.0)
    image = BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(image, format="png", dpi=90, metadata={"Software": None})
    data = base64.b64encode(image.getvalue()).decode()
    return paragraph(
        "The same procedure with the given and with shuffled labels. Groups that also appear with "
        "shuffled labels are not evidence of a dependence on the labels."
    ) + (
        f'<img src="data:image/png;base64,{data}" style="max-width: 100%" alt="Held-out rows: '
        'with the given labels, and with shuffled labels.">\n'
    )


def advice(grade: str, model: Any, chosen: bool = False) -> str:
    """Suggestions for weak embeddings; empty for strong ones.

    `chosen`: `select` has already compared methods and parameters.
    """
    if grade not in GRADES[:3]:
        return ""
    if chosen:
        return (
            "Cross-validation chose the method and its parameters, so more rows or other columns "
            "may help more than other parameters."
        )
    base = getattr(model, "estimator_", getattr(model, "estimator", model))
    if not hasattr(base, "kernel"):
        return "Next, try a nonlinear method: --method kspca."
    if isinstance(base.shrinkage, float) and base.shrinkage > LIGHT:
        return f"Next, try less shrinkage: --shrinkage {LIGHT:g}."
    return "Next, try another gamma: --gamma auto."


def honesty(contents: Contents) -> str:
    """The scores behind the verdict of each label."""
    parts = [
        heading(contents, name) + _scores(contents, label)
        for name, label in contents.labels.items()
    ]
    return f'{"".join(parts)}<p class="soft small">{escape(RULE)}</p>\n'


def verdicts(contents: Contents) -> str:
    """The grade of each label, a sentence with its scores, and a suggestion."""
    lines = []
    for name, label in contents.labels.items():
        verdict = interpret(label.scores, int(np.sum(contents.test)))
        which = f"<bdi>{escape(name)}</bdi>: " if len(contents.labels) > 1 else ""
        following = advice(verdict.grade, contents.model, bool(contents.about.get("why")))
        text = f"{verdict.sentence} {following}".strip()
        lines.append(
            f'<p class="verdict">{which}<b class="grade {verdict.grade.split()[0].lower()}">'
            f"{verdict.grade}.</b> {escape(text)}</p>\n"
        )
    return "".join(lines)


def checks(contents: Contents) -> str:
    """The verdict, the bars and the table of every report that was made."""
    return "".join(
        f"<h3>{escape(name)}</h3>\n{paragraph(f'{report.verdict} {TICKS[type(report)]}')}"
        f'<div class="card">{drawn(bars_of(report, MOST_COMPONENTS))}</div>'
        f"<details><summary>Table</summary><pre><code>"
        f"{escape(repr(report).removesuffix(report.verdict).rstrip())}</code></pre></details>\n"
        for name, report in contents.checks.items()
    )


def heading(contents: Contents, name: str) -> str:
    """The name of a label, where there are several."""
    return f"<h3><bdi>{escape(name)}</bdi></h3>\n" if len(contents.labels) > 1 else ""


def _scores(contents: Contents, label: Label) -> str:
    scores = label.scores
    metric = contents.metric
    rows, absent = [], []
    for key, (name, meaning) in MEANINGS.items():
        if key == "majority" and contents.continuous:
            continue
        score = scores[key]
        if score is None:
            absent.append(name.lower())
        value = MISSING if score is None else f"{score:z.3f}"
        width = 0.0 if score is None else 100 * min(1.0, max(0.0, score))
        rows.append(
            f'<tr class="{key}"><th scope="row">{name}<span class="soft">{meaning}</span></th>'
            f'<td class="track"><div style="width: {width:.1f}%"></div></td>'
            f'<td class="number">{value}</td></tr>'
        )
    absence = paragraph(f"Not measured: {', '.join(absent)}.") if absent else ""
    return (
        f'<div class="honesty"><table class="scores"><caption class="hidden">{escape(metric)}, '
        f"and its baselines</caption>"
        f'<thead><tr><th scope="col">{escape(metric)}</th>'
        f'<th scope="col" class="track" aria-label="As a bar"></th>'
        f'<th scope="col" class="number">Score</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{absence}</div>\n"
    )


def confusion(contents: Contents) -> str:
    """Confusion matrices: rows are true classes, columns predicted ones; empty for numbers."""
    if contents.continuous:
        return ""
    return "".join(
        heading(contents, name) + _matrix(name, label) for name, label in contents.labels.items()
    )


def _matrix(name: str, label: Label) -> str:
    if label.confusion is None:
        return paragraph("There are no held-out predictions.")
    names = [str(name) for name in label.confusion[0]]
    counts = np.asarray(label.confusion[1], dtype=np.int64)
    if not counts.sum():
        return paragraph("No rows were held out.")
    text = paragraph(_mistakes(names, counts))
    keep = np.arange(len(names))
    if len(names) > MOST_CLASSES:
        wrong = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts)
        keep = np.sort(np.argsort(-wrong, kind="stable")[:MOST_CLASSES])
        text += paragraph(
            f"The table has the {MOST_CLASSES} most confused of {len(names):,} classes. Shades are "
            "shares of all held-out rows of a class."
        )
    totals = np.maximum(counts.sum(axis=1), 1)
    head = "".join(f'<th scope="col">{_name(names[j])}</th>' for j in keep)
    lines = []
    for i in keep:
        cells = "".join(_cell(counts[i, j], totals[i], i == j) for j in keep)
        lines.append(f'<tr><th scope="row">{_name(names[i])}</th>{cells}</tr>')
    dense = " dense" if len(keep) > 12 else ""
    matrix = (
        f'<table class="confusion{dense}"><thead><tr><th scope="col">true \\ predicted</th>{head}'
        f"</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )
    return (
        f'{text}<p class="soft small">Rows are the true classes, columns the predicted ones. '
        "Blue: correct. Orange: wrong. Darker shades are larger shares of the row.</p>"
        f"{scrolled(matrix, f'Confusion of {name}')}\n"
    )


def _name(name: str) -> str:
    return f'<bdi title="{escape(name)}">{escape(name)}</bdi>'


def _cell(count: int, total: int, right: bool) -> str:
    if not count:
        return "<td></td>"
    shade = max(1, round(SHADES * count / total))
    return f'<td class="{"right" if right else "wrong"} s{shade}">{count}</td>'


def _mistakes(names: Sequence[str], counts: Any) -> str:
    right, all_ = int(np.trace(counts)), int(counts.sum())
    sentence = f"Of {all_:,} held-out rows, 1-NN predicts {right:,} correctly ({right / all_:.1%})."
    wrong = counts - np.diag(np.diag(counts))
    confused = []
    for _ in range(3):  # three searches are faster than sorting millions of pairs
        i, j = divmod(int(wrong.argmax()), len(names))
        if wrong[i, j]:
            confused.append(f"“{names[i]}” predicted as “{names[j]}” ({wrong[i, j]:,})")
        wrong[i, j] = 0
    return f"{sentence} Most frequent errors: {', '.join(confused)}." if confused else sentence
