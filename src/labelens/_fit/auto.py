"""The rules of "auto" for `gamma` and `n_components`, which use the first batch.

gamma="auto"         of WIDTHS times gamma="scale", the one whose embedding of rows that were not
                     fitted depends most on their labels: tr(P H L H) / tr(H L H) beyond chance, the
                     mean of three folds of at most 2000 rows, with at most 512 features, and no
                     more components than half of the held-out rows. Of equal ones the nearest to
                     "scale". That rule looks at all rows, the others at those with a label.
n_components="auto"  as many as carry dependence beyond chance: component j counts if its singular
                     value is larger than the j-th of each of 19 shuffles of the labels (5 %), and
                     all before it count. At most 5000 rows are looked at, and 32 components.
                     The weights of classes are those of the shuffled labels. Sample weights stay
                     with the rows in 19 shuffles and move with the labels in 19 others, so that
                     the 5 % hold whether they depend on the rows or on the labels. Where gamma is
                     "auto" too, shuffles take the best of all widths.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._base.threads import one_blas_thread
from .._base.validation import check_seed, refuse_non_finite
from .._base.warn import warn_user
from .._core.kernels import SHIFT_INVARIANT
from .._core.maps import Identity
from .._core.moments import Array
from .._core.solvers import SPECTRAL
from . import settings
from .batch import Batch
from .folds import blockwise, cross_validate
from .recipe import draw_label_map, draw_recipe, needs_spread, settle_kernel, spread_of
from .shuffles import Rows, shuffler
from .solution import solve
from .summarize import summarize
from .task import Task

WIDTHS = 10.0 ** np.arange(-2, 2.1, 0.5)
ROUNDING = 1e-9  # scores that differ by less are equal
FOLDS, WIDTH_ROWS, WIDTH_FEATURES = 3, 2000, 512
SHUFFLES, COUNTED_ROWS, MOST_COMPONENTS = 19, 5000, 32


def settle(estimator: Any, batch: Batch) -> Any:
    """The estimator with a number for every "auto"; itself if there is none."""
    auto = [name for name in ("gamma", "n_components") if _is_auto(estimator, name)]
    if not auto:
        return estimator
    if batch.labels is None:
        raise ValueError(
            f"{auto[0]}='auto' needs labels, and y is None; pass a number"
            + (", 'scale' or 'median'." if auto[0] == "gamma" else ".")
        )
    # These are looked at before they are summed up, which is where NaN would show.
    refuse_non_finite(batch.rows, getattr(estimator, "feature_names_in_", None))
    seed = check_seed(estimator.random_state)
    work = settings.altered(estimator, random_state=seed)
    if batch.spread is None and needs_spread(work):  # of all rows, as in a stream
        names = getattr(estimator, "feature_names_in_", None)
        batch = replace(batch, spread=spread_of(batch, names=names))
    labelled = batch.take(np.flatnonzero(batch.labelled))
    with one_blas_thread():
        if "n_components" in auto:
            work.n_components = MOST_COMPONENTS  # those that labels lack are zero
        if "gamma" in auto:
            gammas = _widths(work, labelled)
            work.gamma = _best_width(work, labelled, gammas) if len(gammas) > 1 else gammas[0]
        if "n_components" in auto:
            tried = [{"gamma": gamma} for gamma in gammas] if "gamma" in auto else [{}]
            work.n_components = _beyond_chance(work, labelled, tried)
    return settings.altered(work, random_state=estimator.random_state)


def _is_auto(estimator: Any, name: str) -> bool:
    value = getattr(estimator, name, None)
    return isinstance(value, str) and value == "auto"


def _lean(estimator: Any, **changes: Any) -> Any:
    """The same method with features that are cheap, and exist."""
    parameters = settings.values(estimator)
    if settings.is_kernel_method(estimator) and settings.keeps_rows(estimator):
        changes["approximation"] = "nystroem"
    if "n_random_features" in parameters:
        changes["n_random_features"] = min(parameters["n_random_features"], WIDTH_FEATURES)
    return settings.altered(estimator, **changes)


def _widths(estimator: Any, batch: Batch) -> list[float]:
    scale = settings.altered(estimator, gamma="scale")
    kernel, _ = settle_kernel(scale, batch, estimator.random_state)
    if kernel is None or kernel.name not in SHIFT_INVARIANT:
        return [1.0 if kernel is None else kernel.gamma]
    return (kernel.gamma * WIDTHS).tolist()


def _best_width(estimator: Any, batch: Batch, gammas: list[float]) -> float:
    seed = estimator.random_state
    task = Task.of(estimator, batch.rows, batch.labels)
    some = task.sample(WIDTH_ROWS, np.random.default_rng(seed))
    task, batch = task.only(some), batch.take(some)
    fold = task.fold_numbers(min(FOLDS, task.n), seed)
    held_out = [np.flatnonzero(fold == f) for f in range(fold.max() + 1)]
    beyond_chance = [task.only(rows).beyond_chance(seed) for rows in held_out]

    def judge(Z: Array, f: int) -> float:
        # As many components as rows have any labels for a linear function of them.
        few = max(1, (len(held_out[f]) - 1) // 2)
        return beyond_chance[f](Z[held_out[f], :few])

    scores = cross_validate(
        [_lean(estimator, gamma=gamma) for gamma in gammas],
        batch,
        fold,
        np.arange(task.n),
        judge,
    ).mean(axis=1)
    tied = np.flatnonzero(scores >= scores.max() - ROUNDING)
    return gammas[tied[np.abs(np.log(WIDTHS[tied])).argmin()]]


def _beyond_chance(estimator: Any, batch: Batch, tried: list[dict[str, float]]) -> int:
    """How many components; `tried` are the widths of which the labels have chosen one."""
    draw = np.random.default_rng(estimator.random_state)
    n = batch.rows.shape[0]
    batch = batch.take(np.sort(draw.permutation(n)[:COUNTED_ROWS]))
    shuffle = shuffler(batch.rows, batch.labels)
    # Sample weights may belong to the rows or to the labels. This is unknown here, so a component
    # must exceed both kinds of shuffles.
    kinds = (False,) if batch.sample_weight is None else (False, True)
    orders = [(np.arange(len(batch.numbers)), False)]
    orders += [(shuffle(draw), kind) for kind in kinds for _ in range(SHUFFLES)]
    table = np.array([
        _strengths(_lean(estimator, **change), batch, orders) for change in tried
    ])  # (widths, orders, k)  # fmt: skip
    # Widths have their own scales, and the labels as they are their best one: so have shuffles.
    table /= np.maximum(table.mean(axis=1, keepdims=True), np.finfo(float).tiny)
    own = table[tried.index({"gamma": estimator.gamma}) if len(tried) > 1 else 0, 0]
    beyond = own > table[:, 1:].max(axis=(0, 1))
    count = int(np.argmin(beyond)) if not beyond.all() else len(beyond)
    if count == 0:
        warn_user(
            "No component depends on the labels more than it would on shuffled ones; "
            "n_components='auto' keeps one component. Test it with permutation_report."
        )
    return max(count, 1)


def _strengths(estimator: Any, batch: Batch, orders: list[tuple[Rows, bool]]) -> list[Array]:
    """Singular values for labels in every order; with True, weights go where labels go."""
    recipe = draw_recipe(estimator, batch)
    features = blockwise(recipe.features, batch.rows)
    changed: dict[str, Any] = {"target_weight": 1.0}  # variance is no dependence
    if recipe.scaling is not None:
        changed["scale"] = None  # done to the rows
    recipe = replace(
        recipe,
        parameters={**recipe.parameters, **changed},
        solver=SPECTRAL,
        phi=Identity(features.shape[1]),
        scaling=None,
        noise=None,
    )
    batch = replace(batch, rows=features)
    same_rows: dict[float, Any] = {}
    whole = None if batch.weight is not None else summarize(recipe, batch, recipe.encode(batch))

    def solved(order: Rows, weights_too: bool) -> Array:
        shuffled = batch.shuffled(order, estimator.class_weight, weights_too)
        if whole is None:  # weights move C_xx, and the label map may depend on them
            psi = draw_label_map(estimator, shuffled, estimator.random_state)
            own = replace(recipe, psi=psi)
            moments = summarize(own, shuffled, own.encode(shuffled))
            return solve(own, moments, {}).solution.singular_values
        cross_only = replace(recipe, scatter=False, spread=False)
        moments = summarize(cross_only, shuffled, cross_only.encode(shuffled))
        moments = replace(whole, cross=moments.cross, classes=moments.classes)
        return solve(recipe, moments, same_rows).solution.singular_values

    return [solved(*order) for order in orders]
