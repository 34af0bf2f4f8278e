"""What the scores say, in one sentence, by a rule that the page prints too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

NO_EVIDENCE = "No evidence that the labels can be told from these columns."

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
    'No evidence that the labels can be told from these columns.'
    """
    heldout, train, raw = scores["heldout"], scores["train"], scores["raw"]
    majority, shuffled = scores["majority"], scores["shuffled"]
    is_r2 = scores["metric"] == "k-NN R^2"

    def beats(better: float, worse: float) -> bool:
        return better - worse > _margin(better, worse, n_heldout, is_r2)

    if heldout is None:
        return "No rows were held out, so nothing here says how well new rows would be told apart."
    if is_r2 and not beats(heldout, 0.0):
        return NO_EVIDENCE
    if shuffled is not None and not beats(heldout, shuffled):
        return NO_EVIDENCE
    if majority is not None and not beats(heldout, majority):
        return "Held-out rows are told no better than by always naming the largest class."
    if raw is None:
        sentence = "The labels of held-out rows can be told from this embedding"
    elif beats(heldout, raw):
        sentence = "This embedding tells held-out labels better than the raw columns do"
    elif beats(raw, heldout):
        sentence = "This embedding tells held-out labels, but less well than the raw columns do"
    else:
        sentence = "This embedding tells held-out labels about as well as the raw columns do"
    if train is not None and train - heldout > 0.1 and beats(train, heldout):
        sentence += "; it fits the training rows much better, so trust the held-out number only"
    if shuffled is None:
        sentence += "; no control with shuffled labels was run"
    return sentence + "."


def _margin(first: float, second: float, n: int, is_r2: bool) -> float:
    if is_r2:
        return 0.05
    variance = first * (1 - first) + second * (1 - second)
    return max(0.01, 2 * math.sqrt(max(0.0, variance) / max(1, n)))
