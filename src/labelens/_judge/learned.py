"""Columns scaled by their importances before the kernel: a learned metric, for `select`."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from .._base import devices
from .._core.moments import Array
from .._fit import settings
from .._fit.batch import Batch
from .._fit.fitted import recipe_of
from .._fit.settings import is_kernel_method
from .._fit.task import Task, in_parallel
from .candidates import WIDEST
from .comparison import CLOSE, HEAT_FOLDS, HEAT_ROWS, Judging, Outcome, lean, standard_error
from .explain import importances

ROUNDS = 2  # metrics learnt in turn, each by a model with the one before
WIDTHS = (1.0, 3.0)  # multiples of gamma
LEAST = 1e-12  # share of a column: embeddings can be inverted
MOST_VALUES = 1e9  # of the products that are summed to average gradients


def with_learned_metric(
    candidates: list[Any],
    first: Outcome,
    task: Task,
    batch: Batch,
    max_rows: int,
    cv: int,
    judging: Judging,
) -> tuple[Any, Outcome] | None:
    """The best kernel method with a learned metric, if that is better than the first candidate.

    It has to predict held-out rows better by more than CLOSE in two folds of few rows, and then in
    all folds, there by more than one standard error too. Metrics are learnt without these rows.
    """
    rival, base = candidates[0], next(filter(is_kernel_method, candidates), None)
    wide = not 1 < batch.rows.shape[1] <= WIDEST
    known, least = first.scores[:cv], CLOSE[task.kind]  # of the last round of `compared`
    if base is None or wide or sparse.issparse(batch.rows) or known.mean() >= 1 - least:
        return None  # no score is above 1
    draw, variants = np.random.default_rng(judging.seed), [*product(range(ROUNDS), WIDTHS)]
    for size, folds in (HEAT_ROWS, HEAT_FOLDS), (max_rows, cv):
        some = task.sample(size, draw)
        own, part, n = task.only(some), batch.take(some), len(some)
        start, other = (lean(one, n, n - n // folds, task.n) for one in (base, rival))
        scores = _scores(start, variants, own, part, folds, judging)
        if len(variants) > 1:
            gains = scores - judging([other], own, part, folds, range(1))
        else:  # the same rows and folds
            gains = scores - known
            least = max(least, standard_error(gains[0], folds))
        best = int(gains.mean(axis=1).argmax())
        if gains[best].mean() <= least:
            return None
        variants = [variants[best]]
    [(last, width)] = variants
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of all rows gives them
        rows = devices.moved_to(part.place, part.rows)
        factors = _metrics(start, rows, own.labels, last)[-1]
    found = settings.altered(base, scale=factors, gamma=base.gamma * width)
    return found, Outcome(n, cv, scores[0], 1, float(scores[0].mean()))


def _scores(base: Any, variants: Any, task: Task, batch: Batch, cv: int, judging: Judging) -> Array:
    """(m, cv) scores of rounds and widths."""
    numbers, rows = task.fold_numbers(cv, judging.seed), devices.moved_to(batch.place, batch.rows)

    def fold(f: int) -> list[float]:
        train = np.flatnonzero(numbers != f)
        own, part = task.only(train), devices.rows_at(rows, train)
        few = own.sample(HEAT_ROWS, np.random.default_rng(judging.seed))
        metrics = _metrics(base, devices.rows_at(part, few), own.labels[few], variants[-1][0])
        judge = judging.judge(task, (numbers == f).astype(np.intp), batch.place)
        made = [settings.altered(base, scale=metrics[r], gamma=base.gamma * w) for r, w in variants]
        embeddings = (one.fit(part, own.labels).transform(rows) for one in made)
        return [judge(devices.host(Z), 1) for Z in embeddings]

    return np.transpose(in_parallel(fold, range(cv), rows))


def _metrics(base: Any, rows: Any, labels: Any, last: int) -> list[tuple[float, ...]]:
    """Factors of the columns in rounds 0 to `last`."""
    found = [base.scale]
    for _ in range(last + 1):
        found.append(_metric(settings.altered(base, scale=found[-1]), rows, labels))
    return found[1:]


def _metric(model: Any, rows: Any, labels: Any) -> tuple[float, ...]:
    """Roots of mean squared derivatives, such that the mean squared distance of rows stays."""
    fitted, (n, d) = model.fit(rows, labels), rows.shape
    most, there = int(MOST_VALUES / (n * d * fitted.n_components_)), devices.host(rows)
    shares = importances(fitted, there[:: max(1, n // max(most, 1))], random_state=0).overall
    deviations, scaling = there.std(axis=0), recipe_of(fitted).scaling
    before = deviations * (1.0 if scaling is None else scaling.factor)
    factors = np.sqrt(np.maximum(shares, LEAST) * (np.square(before).sum() or 1.0))
    factors /= np.where(deviations > 0, deviations, 1)
    return tuple(float(f"{factor:.4g}") for factor in factors)  # parameters that people read
