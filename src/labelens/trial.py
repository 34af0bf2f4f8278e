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
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
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
class Trial:
    model: Any  # fitted on the training rows
    Z: NDArray[Any]  # (n, k) of all rows
    test: NDArray[np.bool_]  # (n,)
    continuous: bool
    fit_seconds: float
    scores: Scores
    confusion: tuple[list[Any], NDArray[np.int64]] | None


def is_continuous(labels: NDArray[Any]) -> bool:
    """Numbers rather than classes: not all whole, or whole with nearly as many values as rows."""
    if labels.ndim == 2:
        return all(is_continuous(column) for column in labels.T)
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
    guesses = _neighbours(Z[known], labels[known], Z[asked], continuous)
    mixed = draw.permutation(labels)
    control = clone(model).fit(rows(train), mixed[train])
    by_chance = _neighbours(
        control.transform(rows(known)), mixed[known], control.transform(rows(asked)), continuous
    )
    plain = StandardScaler().fit(X[known])
    by_columns = _neighbours(
        plain.transform(X[known]), labels[known], plain.transform(X[asked]), continuous
    )
    scores = Scores(
        metric="k-NN R^2" if continuous else "1-NN accuracy",
        heldout=_score(guesses, labels[asked], continuous),
        train=_resubstituted(Z[known], labels[known], continuous),
        raw=_score(by_columns, labels[asked], continuous),
        majority=None if continuous else _majority(labels[known], labels[asked]),
        shuffled=_score(by_chance, mixed[asked], continuous),
        sampled=len(known) + len(asked) < len(X),
    )
    confusion = None
    if not continuous and labels.ndim == 1:
        confusion = _confusion(labels[asked], guesses)
    return Trial(model, Z, test, continuous, seconds, scores, confusion)


def _some(rows: NDArray[np.intp], most: int, draw: np.random.Generator) -> NDArray[np.intp]:
    return rows if len(rows) <= most else np.sort(draw.choice(rows, most, replace=False))


def _neighbours(Z: Any, labels: Any, asked: Any, continuous: bool) -> NDArray[Any]:
    k = min(5 if continuous else 1, len(Z))
    model: Any = KNeighborsRegressor(k) if continuous else KNeighborsClassifier(k)
    return model.fit(Z, labels).predict(asked)


def _resubstituted(Z: Any, labels: Any, continuous: bool) -> float:
    """What a picture of the fitted rows suggests: each by its nearest other row."""
    k = min(5 if continuous else 1, len(Z) - 1)
    model: Any = KNeighborsRegressor(k) if continuous else KNeighborsClassifier(k)
    places = model.fit(Z, labels).kneighbors(return_distance=False)
    guesses = labels[places].mean(axis=1) if continuous else labels[places[:, 0]]
    return _score(guesses, labels, continuous)


def _score(guesses: Any, labels: Any, continuous: bool) -> float:
    if not continuous:
        right = np.asarray(guesses == labels)
        return float((right.all(axis=1) if right.ndim == 2 else right).mean())
    labels = np.asarray(labels, dtype=np.float64)
    spread = np.sum((labels - labels.mean(axis=0)) ** 2)
    return float(1 - np.sum((labels - guesses) ** 2) / spread) if spread > 0 else 0.0


def _majority(labels: Any, asked: Any) -> float:
    """How often the commonest of the known labels is right."""
    values, counts = np.unique(_as_text(labels), return_counts=True)
    return float(np.mean(_as_text(asked) == values[np.argmax(counts)]))


def _as_text(labels: NDArray[Any]) -> NDArray[Any]:
    rows = labels[:, None] if labels.ndim == 1 else labels
    return np.array(["\0".join(map(str, row)) for row in rows.tolist()])


def _confusion(labels: Any, guesses: Any) -> tuple[list[Any], NDArray[np.int64]]:
    names = sorted(set(labels.tolist()) | set(guesses.tolist()), key=lambda v: (str(type(v)), v))
    number = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    pairs = zip(labels.tolist(), guesses.tolist(), strict=True)
    for a, b in pairs:
        counts[number[a], number[b]] += 1
    return names, counts
