"""Compare the candidates of `select`: successive halving, and scores of held-out rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import sem

from .._core.moments import Array
from .._core.neighbours import nearest
from .._fit import settings
from .._fit.batch import Batch
from .._fit.folds import Judge, cross_validate, passes_of
from .._fit.settings import is_kernel_method
from .._fit.task import Task, spelled
from .candidates import ROWS_A_LANDMARK

# Successive halving of many candidates: the first round has a third of the rows, but not too few,
# in two folds. The best go on, but no more of them than so many passes can serve; and of the linear
# methods, which cost little, some in any case.
FEW, HEAT, HEAT_ROWS, HEAT_FOLDS, MOST_PASSES = 10, 3, 1500, 2, 3
FINALISTS, LINEAR_FINALISTS = 5, 3
# With fewer rows than this the folds are drawn more than once.
MANY_ROWS, MOST_REPEATS = 1000, 4
NEIGHBOURS = 15  # of classes, next to one
FEWEST_FEATURES = 256
JUDGED_ROWS, JUDGED_A_FOLD = 4000, 20


def compared(
    candidates: list[Any],
    task: Task,
    batch: Batch,
    max_rows: int,
    cv: int,
    judging: Judging,
    repeated: bool,
) -> list[Outcome]:
    """How each of the candidates did, in the last round that it took part in.

    If `repeated`, the folds of few rows are drawn several times.
    """
    n = min(task.n, max_rows)
    rounds = [(n, cv)]
    heat = min(n, max(HEAT_ROWS, n // HEAT)), HEAT_FOLDS
    if len(candidates) > FEW and heat != rounds[0]:
        rounds.insert(0, heat)
    draw, passes = np.random.default_rng(judging.seed), passes_of(candidates)
    outcomes: dict[int, Outcome] = {}
    alive = list(range(len(candidates)))
    for number, (size, folds) in enumerate(rounds):
        some = task.sample(size, draw)
        fitted = size - size // folds
        smaller = [lean(candidates[i], size, fitted, task.n) for i in alive]
        repeats = 1
        if repeated and number == len(rounds) - 1:
            repeats = min(MOST_REPEATS, -(-MANY_ROWS // size))
        scores = judging(smaller, task.only(some), batch.take(some), folds, repeats)
        outcomes |= {i: Outcome(size, own, number) for i, own in zip(alive, scores, strict=True)}
        alive.sort(key=lambda i: -outcomes[i].score)
        served = [*dict.fromkeys(passes[i] for i in alive)][:MOST_PASSES]
        best = [i for i in alive[: math.ceil(len(alive) / 2)] if passes[i] in served][:FINALISTS]
        linear = [i for i in alive if not is_kernel_method(candidates[i])][:LINEAR_FINALISTS]
        alive = [*dict.fromkeys(best + linear)]
    return [outcomes[i] for i in range(len(candidates))]


@dataclass(frozen=True)
class Outcome:
    rows: int
    scores: Array  # one a fold
    round: int = 0

    @property
    def score(self) -> float:
        return float(self.scores.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean, over folds."""
        return float(sem(self.scores))


def lean(estimator: Any, sampled: int, fitted: int, n: int) -> Any:
    """What stands for an estimator of n rows where only some are sampled, and some of those fitted.

    Fewer rows get fewer random features. And they need more of a ridge: n times what is added to
    C_xx is kept, which is s / (1 - s) of its trace over p. With the exact kernel and with
    "falkon" p is the number of rows, so the same s serves; the exact kernel stands for "falkon",
    whose landmarks would be all the rows there are.
    """
    if settings.keeps_rows(estimator):
        few = settings.has_falkon(estimator) and fitted <= estimator.n_random_features
        return settings.altered(estimator, approximation="exact") if few else estimator
    s, changed, features = estimator.shrinkage, {}, 1.0
    if _draws_features(estimator):
        # There are no more landmarks than rows.
        nystroem = estimator.approximation == "nystroem"
        wanted = min(estimator.n_random_features, n if nystroem else np.inf)
        if (most := max(FEWEST_FEATURES, sampled // ROWS_A_LANDMARK)) < wanted:
            changed["n_random_features"], features = most, most / wanted
    if not isinstance(s, str) and 0 < s < 1:
        ridge = s / (1 - s) * features * n / fitted
        changed["shrinkage"] = ridge / (1 + ridge)
    return settings.altered(estimator, **changed)


def _draws_features(estimator: Any) -> bool:
    """Whether it has n_random_features: transformers and the linear kernel have their own."""
    return (
        is_kernel_method(estimator)
        and isinstance(estimator.approximation, str)
        and estimator.kernel != "linear"
    )


@dataclass(frozen=True)
class Judging:
    scoring: str
    n_neighbors: int | None
    seed: int

    def __call__(
        self, estimators: list[Any], task: Task, batch: Batch, folds: int, repeats: int = 1
    ) -> Array:
        """(m, folds * repeats)"""
        some = max(JUDGED_ROWS, JUDGED_A_FOLD * folds)
        judged, found = task.sample(some, np.random.default_rng(self.seed)), []
        for number in range(repeats):
            fold = task.fold_numbers(folds, self.seed + number)
            judge = self._judge(task.only(judged), fold[judged])
            found.append(cross_validate(estimators, batch, fold, judged, judge))
        return np.hstack(found)

    def neighbours(self, task: Task) -> list[int | None]:
        """Numbers of neighbours whose scores are averaged."""
        if self.n_neighbors is not None or task.kind != "classes" or task.labels.ndim > 1:
            return [self.n_neighbors]
        counts = np.unique(spelled(task.labels), return_counts=True)[1]
        return [1, int(np.clip(np.median(counts) / 3, 1, NEIGHBOURS))]

    def metric(self, task: Task) -> str:
        if self.scoring == "hsic":
            return "dependence"
        several = dict.fromkeys(self.neighbours(task))
        if len(several) == 1:
            return task.metric(*several)
        return "mean of " + " and ".join(f"{k}-NN" for k in several) + " accuracy"

    def _judge(self, task: Task, fold: NDArray[np.intp]) -> Judge:
        labels = task.dense_labels()
        if task.kind == "classes" and labels.ndim == 1:  # numbers are compared faster
            labels = np.unique(spelled(labels), return_inverse=True)[1]
        if self.scoring == "hsic":
            held = [task.only(np.flatnonzero(fold == f)) for f in range(fold.max() + 1)]
            beyond_chance = [one.beyond_chance(self.seed) for one in held]
            return lambda Z, f: beyond_chance[f](Z[fold == f])

        def score(Z: Array, f: int) -> float:
            known, asked = fold != f, fold == f
            there = labels[known]
            places = nearest(Z[known], Z[asked], min(max(several), len(there)))
            said = [task.said_by(there, places[:, :k]) for k in several]
            return float(np.mean([task.score(one, labels[asked]) for one in said]))

        several = [k or task.neighbours for k in self.neighbours(task)]
        return score


def simpler_first(order: list[int], candidates: list[Any], outcomes: list[Outcome]) -> list[int]:
    """The best linear method leads if its scores are within one standard error of the best.

    That error is the one of the differences of the scores, fold by fold.
    """
    best = outcomes[order[0]]
    for i in order:
        if outcomes[i].round < best.round or len(best.scores) < 2:
            break
        if not is_kernel_method(candidates[i]):
            apart = best.scores - outcomes[i].scores
            if apart.mean() <= sem(apart):
                return [i, *(j for j in order if j != i)]
            break
    return order
