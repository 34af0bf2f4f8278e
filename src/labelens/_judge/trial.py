"""An embedding tried out honestly: fitted on some rows, judged on others and by shuffled labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.preprocessing import StandardScaler

from .._base.optional import require
from .._core.labels.vocabulary import label_kind, number_labels
from .._fit.shuffles import shuffler
from .._fit.task import Kind, Task, score, spelled, task_kind
from .atlas import Atlas
from .classes import unseen_places

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


@dataclass(frozen=True)
class Judgement:
    """Scores of held-out rows for one column of labels."""

    scores: Scores
    confusion: tuple[list[Any], NDArray[np.int64]] | None  # classes and (c, c) counts of 1-NN


@dataclass(frozen=True)
class Trial:
    model: Any  # fitted on the training rows
    # (n, k): each row by a model fitted without its label, in one frame; nan where there is
    # none, for some of very many training rows.
    Z: NDArray[Any]
    fitted: NDArray[Any]  # (n, k): all rows by the model
    # The same as Z with shuffled labels, and these; nan for training rows if the model is no atlas.
    control: tuple[NDArray[Any], NDArray[Any]]
    test: NDArray[np.bool_]  # (n,)
    continuous: bool
    fit_seconds: float
    sampled: bool  # whether some rows only were judged
    each: list[Judgement]  # one for every column of labels

    @property
    def heldout(self) -> float:
        """The mean over the columns of labels."""
        return float(np.mean([judgement.scores.heldout for judgement in self.each]))


def held_out(
    labels: NDArray[Any] | None, n: int, seed: int, kind: Kind | None = None, groups: Any = None
) -> NDArray[np.bool_]:
    """A quarter of the rows, of every class where it has rows enough; of `groups`, a quarter."""
    strata = None
    if groups is not None:
        splitter = GroupShuffleSplit(1, test_size=HELD_OUT, random_state=seed)
        _, test = next(splitter.split(np.arange(n), groups=groups))
        return np.isin(np.arange(n), test)
    if labels is not None and labels.ndim == 1 and task_kind(labels, kind) != "numbers":
        _, codes, counts = np.unique(spelled(labels), return_inverse=True, return_counts=True)
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
    report_stage: Callable[[str], object] = lambda stage: None,
    *,
    kind: Kind | None = None,
    test: NDArray[np.bool_] | None = None,
    nuisance: Any = None,
) -> Trial:
    """Fit three quarters of the rows, and score the rest.

    `report_stage` is called with the stage that begins; `kind` is what labels are, if not what
    `task_kind` says; `test` are the rows to hold out, if others than `held_out` says; `nuisance` is
    that of `fit`.
    """
    report_stage(FITTING)
    continuous = task_kind(labels, kind) == "numbers"
    test = held_out(labels, len(X), seed, kind) if test is None else test

    def rows(which: NDArray[Any]) -> Any:
        if names is None:
            return X[which]
        return require("pandas", extra="cli").DataFrame(X[which], columns=names)

    train = np.flatnonzero(~test)
    everything = rows(np.arange(len(X)))
    task = Task(everything, labels, "numbers" if continuous else "classes", nuisance=nuisance)
    start = perf_counter()
    model = task.fit(model, train)
    seconds = perf_counter() - start
    report_stage(JUDGING)
    Z = model.transform(everything)
    draw = np.random.default_rng(seed)
    known = some_of(train, MOST_NEIGHBOURS, draw)
    asked = some_of(np.flatnonzero(test), MOST_QUERIES, draw)
    mixed = labels[shuffler(X, labels)(draw)]
    control = task.fit(model, train, mixed[train])
    plain = StandardScaler().fit(X[known])
    learnt = labels[known]
    guesses = task.guesses(Z[known], learnt, Z[asked])
    # The accuracy that a plot of the training rows suggests: each by its nearest other rows.
    of_each_other = task.guesses(Z[known], learnt)
    in_raw = task.guesses(plain.transform(X[known]), learnt, plain.transform(X[asked]))
    by_chance = task.guesses(
        control.transform(rows(known)), mixed[known], control.transform(rows(asked))
    )

    def judge(j: int) -> Judgement:
        """The scores of the j-th column of labels."""

        def of(labels: NDArray[Any]) -> NDArray[Any]:
            return labels if labels.ndim == 1 else labels[:, j]

        truth, shuffled, guessed = of(labels), of(mixed), of(guesses)
        scores = Scores(
            metric="k-NN R^2" if continuous else "1-NN accuracy",
            heldout=score(guessed, truth[asked], continuous),
            train=score(of(of_each_other), truth[known], continuous),
            raw=score(of(in_raw), truth[asked], continuous),
            majority=None if continuous else _majority(truth[known], truth[asked]),
            shuffled=score(of(by_chance), shuffled[asked], continuous),
        )
        return Judgement(scores, None if continuous else _confusion(truth[asked], guessed))

    each = [judge(j) for j in range(1 if labels.ndim == 1 else labels.shape[1])]
    sampled = len(known) + len(asked) < len(X)
    honest = Z.copy()
    which, places = unseen(model, task.only(train), Z[train], seed)
    honest[train] = np.nan
    honest[train[which]] = places
    drawn = np.full(Z.shape, np.nan)
    drawn[test] = control.transform(rows(np.flatnonzero(test)))
    if isinstance(control, Atlas):
        drawn[train[control.heldout_rows_]] = control.heldout_embedding_
    return Trial(model, honest, Z, (drawn, mixed), test, continuous, seconds, sampled, each)


def unseen(
    model: Any, task: Task, fitted: NDArray[Any], seed: int
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Training rows, and their places by models fitted without them, in the frame of the model."""
    if isinstance(model, Atlas):
        return model.heldout_rows_, model.heldout_embedding_
    return unseen_places(clone(model), task, fitted, seed)


def some_of(rows: NDArray[np.intp], most: int, draw: np.random.Generator) -> NDArray[np.intp]:
    """At most so many of the rows, in order."""
    return rows if len(rows) <= most else np.sort(draw.choice(rows, most, replace=False))


def _majority(labels: Any, asked: Any) -> float:
    """How often the most frequent of the known labels is right."""
    values, counts = np.unique(spelled(labels), return_counts=True)
    return float(np.mean(spelled(asked) == values[np.argmax(counts)]))


def _confusion(labels: Any, guesses: Any) -> tuple[list[Any], NDArray[np.int64]]:
    both = np.concatenate([labels, guesses])
    names, codes = number_labels(both, label_kind(both[0]), np.arange(len(both)))
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(counts, (codes[: len(labels)], codes[len(labels) :]), 1)
    return names, counts
