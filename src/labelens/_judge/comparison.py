"""Compare the candidates of `select`: successive halving, and scores of held-out rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import devices
from .._core.moments import Array
from .._core.neighbours import nearest
from .._fit import settings
from .._fit.batch import Batch
from .._fit.folds import Judge, cross_validate, passes_of
from .._fit.settings import grouped, is_kernel_method
from .._fit.task import Task, spelled
from .candidates import ROWS_A_LANDMARK

# Successive halving of many candidates: the first round has a third of the rows, but not too few,
# in two folds. The best go on, but no more of them than so many passes can serve; and of the linear
# methods some, unless they are behind by so many times CLOSE: more rows help flexible methods more.
FEW, HEAT, HEAT_ROWS, HEAT_FOLDS, MOST_PASSES = 10, 3, 1500, 2, 3
FINALISTS, LINEAR_FINALISTS, BEHIND = 8, 3, 3
# At most so many rows are all in the first round, in all folds; the final draws more folds of them.
FEW_ROWS, MOST_REPEATS = 1000, 4
# Differences of scores up to which the simpler may lead; R^2 of few rows varies more.
CLOSE = {"classes": 0.01, "multilabel": 0.01, "numbers": 0.03}
SMOOTHED = 0.5  # the share of a candidate's neighbours in the grid in its smoothed score
NEIGHBOURS = 15  # of classes, next to one
NUMERIC_NEIGHBOURS = 10
FEWEST_FEATURES = 256
JUDGED_ROWS, JUDGED_A_FOLD = 4000, 20


def compared(
    candidates: list[Any],
    task: Task,
    batch: Batch,
    max_rows: int,
    cv: int,
    judging: Judging,
    by_default: bool,
) -> list[Outcome]:
    """How each of the candidates did, in the last round that it took part in.

    On few rows those of the default grid are also judged by their neighbours in it: where their own
    scores are noise, the best of many is the luckiest, and a good neighbourhood is better evidence.
    """
    n = min(task.n, max_rows)
    # With more columns than rows, half of the rows are too few to choose the number of columns.
    few = n <= FEW_ROWS and (by_default or batch.rows.shape[1] > n)
    heat = (n, cv) if few else (min(n, max(HEAT_ROWS, n // HEAT)), HEAT_FOLDS)
    rounds = [(n, cv, range(min(MOST_REPEATS, -(-FEW_ROWS // n)) if by_default else 1))]
    if len(candidates) > FEW and (few or heat != rounds[0][:2]):
        rounds = [(*heat, range(1)), (n, cv, rounds[0][2][1:] if few else range(1))]
    draw, passes = np.random.default_rng(judging.seed), passes_of(candidates)
    around = in_the_grid(candidates) if few else [[] for _ in candidates]
    scores: dict[int, Array] = {}
    outcomes: dict[int, Outcome] = {}
    alive = list(range(len(candidates)))
    for number, (size, folds, repeats) in enumerate(rounds):
        some = task.sample(size, draw)
        fitted = size - size // folds
        smaller = [lean(candidates[i], size, fitted, task.n) for i in alive]
        if repeats:
            found = judging(smaller, task.only(some), batch.take(some), folds, repeats)
            before = {i: float(own.mean()) for i, own in scores.items()}
            for i, own in zip(alive, found, strict=True):
                scores[i] = np.hstack([scores[i], own]) if few and i in scores else own
            means = with_neighbours(scores, alive, before, around)
            outcomes |= {i: Outcome(size, folds, scores[i], number, means[i]) for i in alive}
        alive.sort(key=lambda i: -outcomes[i].smoothed)
        served = [*dict.fromkeys(passes[i] for i in alive)][: len(passes) if few else MOST_PASSES]
        best = [i for i in alive[: math.ceil(len(alive) / 2)] if passes[i] in served][:FINALISTS]
        linear = [i for i in alive if not is_kernel_method(candidates[i])]
        untuned = [i for i in linear if is_untuned(candidates[i])]
        least = outcomes[alive[0]].score - BEHIND * CLOSE[task.kind]
        if few or len({one.n_components for one in candidates}) > 1:  # more score higher
            least = -math.inf
        near = [i for i in linear[:LINEAR_FINALISTS] + untuned if outcomes[i].score >= least]
        alive = [*dict.fromkeys(best + near)]
    return [outcomes[i] for i in range(len(candidates))]


def in_the_grid(candidates: list[Any]) -> list[list[int]]:
    """The candidates that differ from each in one step of gamma or of shrinkage."""
    axes = "gamma", "shrinkage"
    around: list[list[int]] = [[] for _ in candidates]

    def others(i: int) -> list[Any]:
        values = settings.values(candidates[i])
        names = [name for name in values if name not in axes]
        return [type(candidates[i]).__name__, *(values[name] for name in names)]

    for same in grouped(range(len(candidates)), others):
        steps = []
        for name in axes:
            own = [getattr(candidates[i], name, 0.0) for i in same]
            if any(isinstance(value, str) for value in own):  # rules have no order
                own = [0.0] * len(own)
            steps.append(np.unique(own, return_inverse=True)[1])
        apart = sum(np.abs(step[:, None] - step) for step in steps)
        for row, i in enumerate(same):
            around[i] = [same[column] for column in np.flatnonzero(apart[row] == 1)]
    return around


def with_neighbours(
    scores: dict[int, Array], alive: list[int], before: dict[int, float], around: list[list[int]]
) -> dict[int, float]:
    """For those alive, half their mean score and half that of their neighbours in the grid.

    A neighbour that has dropped out counts with the score of its last round, plus what those alive
    have gained since.
    """
    own = {i: float(scores[i].mean()) for i in alive}
    gained = float(np.mean([own[i] - before[i] for i in alive])) if before else 0.0
    known = {i: value + gained for i, value in before.items()} | own
    return {
        i: (1 - SMOOTHED) * own[i] + SMOOTHED * float(np.mean([known[j] for j in around[i] or [i]]))
        for i in alive
    }


@dataclass(frozen=True)
class Outcome:
    rows: int
    folds: int
    scores: Array  # one a fold, of all repeats
    round: int
    smoothed: float  # by which candidates of a round are ordered

    @property
    def score(self) -> float:
        return float(self.scores.mean())

    @property
    def error(self) -> float:
        return standard_error(self.scores, self.folds)


def standard_error(scores: Array, folds: int) -> float:
    """The error of a mean over folds with overlapping training rows (Nadeau and Bengio, 2003)."""
    return float(np.std(scores, ddof=1) * math.sqrt(1 / len(scores) + 1 / (folds - 1)))


def lean(estimator: Any, sampled: int, fitted: int, n: int) -> Any:
    """What stands for an estimator of n rows where only some are sampled, and some of those fitted.

    Fewer rows get fewer random features, and need more regularization: n times the number that is
    added to C_xx is constant, which is s / (1 - s) of its trace over p. For the exact kernel and
    "falkon" p is the number of rows, so s does not change. "falkon" with as many landmarks as rows
    becomes the exact kernel.
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
        self, estimators: list[Any], task: Task, batch: Batch, folds: int, repeats: Iterable[int]
    ) -> Array:
        """(m, folds * repeats), of folds drawn by the numbers of the repeats."""
        some = max(JUDGED_ROWS, JUDGED_A_FOLD * folds)
        judged, found = task.sample(some, np.random.default_rng(self.seed)), []
        for number in repeats:
            fold = task.fold_numbers(folds, self.seed + number)
            judge = self.judge(task.only(judged), fold[judged], batch.place)
            found.append(cross_validate(estimators, batch, fold, judged, judge))
        return np.hstack(found)

    def neighbours(self, task: Task) -> list[int | None]:
        """Numbers of neighbours whose scores are averaged."""
        if self.n_neighbors is None and task.kind == "numbers":
            return [NUMERIC_NEIGHBOURS]
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

    def judge(self, task: Task, fold: NDArray[np.intp], place: devices.Place | None) -> Judge:
        """Scores of the rows held out in a fold."""
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
            places = nearest(Z[known], Z[asked], min(max(several), len(there)), place)
            said = [task.said_by(there, places[:, :k]) for k in several]
            return float(np.mean([task.score(one, labels[asked]) for one in said]))

        several = [k or task.neighbours for k in self.neighbours(task)]
        return score


def is_untuned(estimator: Any) -> bool:
    """Whether nothing was chosen but how columns are scaled: shrunk LDA."""
    return not is_kernel_method(estimator) and estimator.shrinkage == "auto"


def simpler_first(
    order: list[int], candidates: list[Any], outcomes: list[Outcome], task: Task
) -> list[int]:
    """The best candidate without tuning, else the best linear one, leads if it is close enough.

    That is within one standard error of the best, of the differences of the scores fold by fold,
    and within CLOSE: where a fold fails altogether, that error is large. If only a share of the
    rows was compared it is within that share of CLOSE, because flexible methods gain more from the
    others.
    """
    if not order:
        return order
    best = outcomes[order[0]]
    close = CLOSE[task.kind] * best.rows / task.n
    last = [i for i in order if outcomes[i].round == best.round and len(best.scores) > 1]
    untuned = [i for i in last if is_untuned(candidates[i])]
    linear = [i for i in last if not is_kernel_method(candidates[i])]
    for i in (*untuned[:1], *linear[:1]):
        apart = best.scores - outcomes[i].scores
        if apart.mean() <= min(standard_error(apart, best.folds), close):
            return [i, *(j for j in order if j != i)]
    return order
