"""An embedding tried out honestly: fitted on some rows, judged on others and by shuffled labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from ._optional import require
from .labels import choose_kernel

HELD_OUT = 0.25
# Rows that neighbours are looked for among, and rows that look: more would take minutes.
MOST_NEIGHBOURS, MOST_QUERIES = 20_000, 5_000
FITTING, JUDGING = "fitting", "judging"


@dataclass(frozen=True)
class Scores:
    """1-NN accuracy, or k-NN R^2 for numbers; of the raw space on standardized columns."""

    metric: str
    heldout: float
    train: float
    raw: float
    majority: float | None
    shuffled: float
    sampled: bool  # whether some rows only were used


@dataclass(frozen=True)
class Judgement:
    """What held-out rows say of one column of labels."""

    scores: Scores
    confusion: tuple[list[Any], NDArray[np.int64]] | None  # classes and (c, c) counts of 1-NN


@dataclass(frozen=True)
class Trial:
    model: Any  # fitted on the training rows
    Z: NDArray[Any]  # (n, k) of all rows
    test: NDArray[np.bool_]  # (n,)
    continuous: bool
    fit_seconds: float
    each: list[Judgement]  # one for every column of labels

    @property
    def heldout(self) -> float:
        """The mean over the columns of labels."""
        return float(np.mean([judgement.scores.heldout for judgement in self.each]))


def is_continuous(labels: NDArray[Any]) -> bool:
    """Numbers rather than classes: not all whole, or whole with nearly as many values as rows.

    Of several columns of numbers one that is continuous makes all so.
    """
    if labels.ndim == 2:
        return labels.dtype.kind in "iuf" and any(is_continuous(column) for column in labels.T)
    if choose_kernel(labels) == "rbf":
        return True
    distinct = len(set(labels.tolist()))
    return labels.dtype.kind in "iuf" and distinct > max(100, len(labels) // 10)


def held_out(labels: NDArray[Any] | None, n: int, seed: int) -> NDArray[np.bool_]:
    """A quarter of the rows, of every class where it has rows enough."""
    strata = None
    if labels is not None and labels.ndim == 1 and not is_continuous(labels):
        _, codes, counts = np.unique(labels.astype(str), return_inverse=True, return_counts=True)
        if counts.min() >= 2 and len(counts) <= n * HELD_OUT * 0.5:
            strata = codes
    rows = np.arange(n)
    _, test = train_test_split(rows, test_size=HELD_OUT, random_state=seed, stratify=strata)
    mask = np.zeros(n, dtype=bool)
    mask[test] = True
    return mask


def try_out(
    model: Any,
    X: NDArray[Any],
    labels: NDArray[Any],
    seed: int,
    names: list[str] | None = None,
    told: Callable[[str], object] = lambda stage: None,
) -> Trial:
    """Fit on three quarters of the rows, and measure what the rest says of it.

    `told` hears which of the two is under way.
    """
    told(FITTING)
    continuous, test = is_continuous(labels), held_out(labels, len(X), seed)

    def rows(which: NDArray[Any]) -> Any:
        if names is None:
            return X[which]
        return require("pandas", extra="cli").DataFrame(X[which], columns=names)

    train = np.flatnonzero(~test)
    start = perf_counter()
    model = clone(model).fit(rows(train), labels[train])
    seconds = perf_counter() - start
    told(JUDGING)
    Z = model.transform(rows(np.arange(len(X))))
    draw = np.random.default_rng(seed)
    known = _some(train, MOST_NEIGHBOURS, draw)
    asked = _some(np.flatnonzero(test), MOST_QUERIES, draw)
    mixed = draw.permutation(labels)
    control = clone(model).fit(rows(train), mixed[train])
    plain = StandardScaler().fit(X[known])
    k = 5 if continuous else 1
    near = _nearest(Z[known], Z[asked], k)
    near_each_other = _nearest(Z[known], None, k)
    near_in_raw = _nearest(plain.transform(X[known]), plain.transform(X[asked]), k)
    near_by_chance = _nearest(control.transform(rows(known)), control.transform(rows(asked)), k)

    def judge(truth: NDArray[Any], shuffled: NDArray[Any]) -> Judgement:
        learnt = truth[known]
        guesses = _guess(learnt, near)
        scores = Scores(
            metric="k-NN R^2" if continuous else "1-NN accuracy",
            heldout=score(guesses, truth[asked], continuous),
            # What a picture of the fitted rows suggests: each by its nearest other rows.
            train=score(_guess(learnt, near_each_other), learnt, continuous),
            raw=score(_guess(learnt, near_in_raw), truth[asked], continuous),
            majority=None if continuous else _majority(learnt, truth[asked]),
            shuffled=score(_guess(shuffled[known], near_by_chance), shuffled[asked], continuous),
            sampled=len(known) + len(asked) < len(X),
        )
        return Judgement(scores, None if continuous else _confusion(truth[asked], guesses))

    each = [judge(*pair) for pair in zip(_columns(labels), _columns(mixed), strict=True)]
    return Trial(model, Z, test, continuous, seconds, each)


def _columns(labels: NDArray[Any]) -> list[NDArray[Any]]:
    return [labels] if labels.ndim == 1 else list(labels.T)


def _some(rows: NDArray[np.intp], most: int, draw: np.random.Generator) -> NDArray[np.intp]:
    return rows if len(rows) <= most else np.sort(draw.choice(rows, most, replace=False))


def _nearest(Z: Any, asked: Any, k: int) -> NDArray[np.intp]:
    """(m, k) the rows of Z nearest to those asked; None asks for the nearest others of each."""
    k = min(k, len(Z) if asked is not None else len(Z) - 1)
    return NearestNeighbors(n_neighbors=k).fit(Z).kneighbors(asked, return_distance=False)


def _guess(labels: NDArray[Any], near: NDArray[np.intp]) -> NDArray[Any]:
    """The label of the one neighbour, or the mean over several."""
    return labels[near[:, 0]] if near.shape[1] == 1 else labels[near].mean(axis=1)


def score(guesses: Any, labels: Any, continuous: bool) -> float:
    if not continuous:
        return float(np.mean(guesses == labels))
    labels = np.asarray(labels, dtype=np.float64)
    spread = np.sum((labels - labels.mean()) ** 2)
    return float(1 - np.sum((labels - guesses) ** 2) / spread) if spread > 0 else 0.0


def _majority(labels: Any, asked: Any) -> float:
    """How often the commonest of the known labels is right."""
    values, counts = np.unique(labels.astype(str), return_counts=True)
    return float(np.mean(asked.astype(str) == values[np.argmax(counts)]))


def _confusion(labels: Any, guesses: Any) -> tuple[list[Any], NDArray[np.int64]]:
    names = sorted(set(labels.tolist()) | set(guesses.tolist()), key=lambda v: (str(type(v)), v))
    number = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    pairs = zip(labels.tolist(), guesses.tolist(), strict=True)
    for a, b in pairs:
        counts[number[a], number[b]] += 1
    return names, counts
