"""How far to trust the plot: scores, their controls, and which classes are confused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from .._base.page import MISSING, paragraph, scrolled
from .contents import Contents, Label

MEANINGS = {
    "heldout": ("Held-out rows", "neighbours in the embedding, for rows held out of the fit"),
    "train": ("Training rows", "the same for the rows of the fit: too good"),
    "raw": ("Raw columns", "held-out rows again, neighbours in all columns, no embedding"),
    "majority": ("Largest class", "always naming it, without looking"),
    "shuffled": ("Shuffled labels", "the whole procedure on labels that mean nothing"),
}
MOST_CLASSES = 60
SHADES = 10
NO_EVIDENCE = "No evidence that these columns predict the labels."

RULE = (
    "The rule behind the sentence: a difference is clear when it exceeds two standard errors of "
    "the held-out scores and 0.01 (for R², when it exceeds 0.05). Held-out must clearly beat "
    "shuffled labels (and 0, for R²), then the largest class; after that it is compared with raw "
    "columns, and with the training rows, where more than 0.1 is called a gap."
)


def interpret(scores: Mapping[str, Any], n_heldout: int) -> str:
    """One sentence; the first rule that applies speaks.

    >>> scores = dict(heldout=0.52, train=1.0, raw=0.5, majority=0.5, shuffled=0.5)
    >>> interpret(scores | {"metric": "1-NN accuracy"}, 100)
    'No evidence that these columns predict the labels.'
    """
    heldout, train, raw = scores["heldout"], scores["train"], scores["raw"]
    majority, shuffled = scores["majority"], scores["shuffled"]
    is_r2 = scores["metric"] == "k-NN R^2"

    def beats(better: float, worse: float) -> bool:
        variance = max(0.0, better * (1 - better) + worse * (1 - worse)) / max(1, n_heldout)
        return better - worse > (0.05 if is_r2 else max(0.01, 2 * math.sqrt(variance)))

    if heldout is None:
        return "No rows were held out, so the accuracy for new rows is unknown."
    if is_r2 and not beats(heldout, 0.0):
        return NO_EVIDENCE
    if shuffled is not None and not beats(heldout, shuffled):
        return NO_EVIDENCE
    if majority is not None and not beats(heldout, majority):
        return "Held-out labels are predicted no better than by always naming the largest class."
    if raw is None:
        sentence = "This embedding predicts held-out labels"
    elif beats(heldout, raw):
        sentence = "This embedding predicts held-out labels better than the raw columns do"
    elif beats(raw, heldout):
        sentence = "This embedding predicts held-out labels, but less well than the raw columns do"
    else:
        sentence = "This embedding predicts held-out labels about as well as the raw columns do"
    if train is not None and train - heldout > 0.1 and beats(train, heldout):
        sentence += "; it fits the training rows much better, so trust the held-out number only"
    if shuffled is None:
        sentence += "; no control with shuffled labels was run"
    return sentence + "."


def honesty(contents: Contents) -> str:
    """For every label the verdict, and the numbers it rests on."""
    parts = [
        heading(contents, name) + _scores(contents, label)
        for name, label in contents.labels.items()
    ]
    return f'{"".join(parts)}<p class="soft small">{escape(RULE)}</p>\n'


def heading(contents: Contents, name: str) -> str:
    """The name of a label, where there are several."""
    return f"<h3><bdi>{escape(name)}</bdi></h3>\n" if len(contents.labels) > 1 else ""


def _scores(contents: Contents, label: Label) -> str:
    scores = label.scores
    sentence = interpret(scores, int(np.sum(contents.test)))
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
        f'<div class="honesty"><p class="verdict">{escape(sentence)}</p>'
        f'<table class="scores"><caption class="hidden">{escape(metric)}, and what it is compared '
        f'with</caption><thead><tr><th scope="col">{escape(metric)}</th>'
        f'<th scope="col" class="track" aria-label="As a bar"></th>'
        f'<th scope="col" class="number">Score</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{absence}</div>\n"
    )


def confusion(contents: Contents) -> str:
    """Heat maps that are tables: rows are true classes, columns what 1-NN said."""
    if contents.continuous:
        return paragraph("The labels are numbers, so there are no classes to confuse.")
    return "".join(
        heading(contents, name) + _matrix(name, label) for name, label in contents.labels.items()
    )


def _matrix(name: str, label: Label) -> str:
    if label.confusion is None:
        return paragraph("No held-out predictions were given, so there is nothing to show.")
    names = [str(name) for name in label.confusion[0]]
    counts = np.asarray(label.confusion[1], dtype=np.int64)
    if not counts.sum():
        return paragraph("No rows were held out, so there is nothing to show.")
    text = paragraph(_mistakes(names, counts))
    keep = np.arange(len(names))
    if len(names) > MOST_CLASSES:
        wrong = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts)
        keep = np.sort(np.argsort(-wrong, kind="stable")[:MOST_CLASSES])
        text += paragraph(
            f"Shown are the {MOST_CLASSES} most confused of {len(names):,} classes; shades are "
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
        f'<table class="confusion{dense}"><thead><tr><th scope="col">true \\ said</th>{head}'
        f"</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )
    return (
        f'{text}<p class="soft small">Rows are the true classes, columns the predicted ones. '
        "Blue is right, orange is wrong; the darker, the larger the share of the row.</p>"
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
    sentence = f"Of {all_:,} held-out rows, 1-NN names {right:,} right ({right / all_:.1%})."
    wrong = counts - np.diag(np.diag(counts))
    confused = []
    for _ in range(3):  # three searches are faster than sorting millions of pairs
        i, j = divmod(int(wrong.argmax()), len(names))
        if wrong[i, j]:
            confused.append(f"“{names[i]}” taken for “{names[j]}” ({wrong[i, j]:,})")
        wrong[i, j] = 0
    return f"{sentence} Most often: {', '.join(confused)}." if confused else sentence
