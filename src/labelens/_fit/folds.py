"""Candidates compared by cross-validation, sharing all that they can share.

    one draw of directions   serves every gamma: angles are multiplied
    one pass over the rows   gives the moments of every fold; those of the others are merged
    one exact kernel         serves every fold, label kernel and solver, its factor all of these
    one set of moments       serves every solver, shrinkage, target weight and linear scaling
    one spectral solution    serves every smaller number of components

So ten folds cost about one fit, and most of a grid costs solving only.

What is taken from all rows before they are cut into folds needs no labels: a rule for gamma, the
landmarks, a transformer of rows, the scaling of kernel methods. Of the labels of held-out rows
nothing is used but what it takes to write labels down: their type, the range of numbers, and what
`label_gamma=None`, slices, ranks or a transformer of y take from them. `class_weight="balanced"`
counts all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from .._base import device_algebra, devices
from .._base.threads import in_order, one_blas_thread
from .._base.validation import check_seed
from .._core.gram import Gram
from .._core.kernels import Distances, KnownKernel
from .._core.left_out import LeftOut, embedding_of_all
from .._core.maps import Identity
from .._core.maps.base import waves
from .._core.moments import BLOCK_ROWS, Array
from . import settings
from .batch import Batch, read_batch
from .device import add_up, scatter_of_columns
from .embedding import embed
from .recipe import (
    WIDEST_SCREENED,
    Recipe,
    draw_label_map,
    draw_recipe,
    scales_moments,
    screens,
    settle_kernel,
    statistics,
)
from .settings import grouped
from .solution import solve
from .summarize import keep_rows

# Features from which on solving takes longer than starting threads.
WORTH_A_THREAD = 384
# Rows up to which kernel matrices of folds are kept for other label kernels.
SHARED_ROWS = 4096
# (n, k) of the held-out rows, and the number of their fold -> score.
Judge = Callable[[Array, int], float]


def cross_validate(
    estimators: Sequence[Any],
    batch: Batch,
    fold: NDArray[np.intp],
    judged: NDArray[np.intp],
    judge: Judge,
) -> Array:
    """(m, n_folds): how m estimators do on every fold, fitted on the others.

    `fold` (n,) says where a row is held out; `judge` sees the embedding of the rows `judged`.
    Each `random_state` must be a number.
    """
    scores = np.empty((len(estimators), int(fold.max()) + 1))

    def judge_together(passes: list[_Pass]) -> None:
        for one in passes:
            _judge_pass(one, estimators, batch, fold, judged, judge, scores)

    if batch.place is not None:  # torch loads its linear algebra at the first call, on one thread
        device_algebra.cholesky(batch.place.put(np.eye(1)))
    # Threads share out passes, or the folds of each where there are more folds.
    many = max(passes_of(estimators), default=0) >= scores.shape[1]
    together = groupby(_passes(estimators, batch), lambda one: id(one.grams))
    with one_blas_thread():  # small products, of which there are many, should start no others
        for _ in (in_order if many else map)(
            judge_together, (list(passes) for _, passes in together)
        ):
            pass
    return scores


def _judge_pass(
    one: _Pass,
    estimators: Sequence[Any],
    batch: Batch,
    fold: NDArray[np.intp],
    judged: NDArray[np.intp],
    judge: Judge,
    scores: Array,
) -> None:
    """Fill in the scores of all that one pass over the rows serves."""
    seen, features = replace(batch, rows=one.features), one.features[judged]
    exact = one.recipe.phi is None
    in_turn = in_order if exact or features.shape[1] >= WORTH_A_THREAD else map

    def summarized(f: int) -> Any:
        part, recipe = seen.take(np.flatnonzero(fold == f)), one.recipe
        if recipe.noise is not None:  # no two rows have the same vector, whatever their folds
            recipe = replace(recipe, noise=recipe.noise.after(int((fold < f).sum())))
        if exact:
            kept = keep_rows(recipe, part, recipe.encode(part), None)
            return replace(kept, place=batch.place)
        moments = add_up(recipe, part, None)
        return moments if moments.finite() else _refuse_overflow()

    def run(task: tuple[int, Any, list[_Variant]]) -> None:
        f, rest, job = task
        known: dict[Any, Any] = {}
        if f in one.grams:
            known["gram"] = one.grams[f]
        for variant in job:
            moments, recipe = rest, variant.recipe
            if recipe.screens:  # by the rows outside the fold
                recipe = recipe.screened(rest)
                scatter = scatter_of_columns(recipe, seen.take(np.flatnonzero(fold != f)))
                moments = replace(rest, scatter=scatter)
            try:
                solved = solve(recipe, moments, known)
            except NotFittedError as error:
                raise ValueError(f"The rows outside fold {f} cannot be fitted: {error}") from None
            embedding = embed(recipe, moments, solved, features)
            if not np.isfinite(embedding).all():
                _refuse_overflow()
            scores[variant.members, f] = [judge(embedding[:, :k], f) for k in variant.sizes]
        if "gram" in known and len(known["gram"]) <= SHARED_ROWS:
            one.grams[f] = known["gram"]

    parts = list(in_turn(summarized, range(scores.shape[1])))
    # Estimators with the same whitening of the same moments are one job.
    names = "shrinkage", "scale"
    jobs = grouped(
        _variants(estimators, one, batch), lambda v: [v.recipe.parameters[name] for name in names]
    )
    if exact:  # of one fold all share a matrix, and its factors in turn
        jobs = [[variant for job in jobs for variant in job]]
    rests = enumerate(without_each(parts))
    for _ in in_turn(run, ((f, rest, job) for f, rest in rests for job in jobs)):
        pass


def embedded_without(
    model: Any, X: Any, y: Any, stay: Sequence[NDArray[np.intp]]
) -> Iterator[Array] | None:
    """(n, k) embeddings of all rows by models of the exact kernel, each of some rows only.

    They follow from one kernel matrix and its factor. None if each model must be fitted, because
    its kernel, scaling or labels depend on its rows.
    """
    if not hasattr(model, "_kernelised") or not settings.keeps_rows(model):
        return None
    s: Any = model.shrinkage
    if settings.has_falkon(model) or isinstance(s, str) or not 0 < s < 1:
        return None
    if model.target_weight != 1 or devices.on_device(X):
        return None
    batch = read_batch(clone(model), X, y, None, True, True)
    n = batch.rows.shape[0]
    if n > SHARED_ROWS or not batch.labelled.all() or batch.weight is not None:
        return None
    recipe = draw_recipe(model, batch)
    others = [draw_recipe(model, batch.take(rows)) for rows in stay]
    if any(recipe.difference(other) for other in others):
        return None
    kept = keep_rows(recipe, batch, recipe.encode(batch), None)
    assert recipe.kernel is not None
    whole = Gram(recipe.kernel, kept.rows, kept.weight, recipe.block, None)

    def without(rows: NDArray[np.intp]) -> Array:
        part = batch.take(rows)
        rest = keep_rows(recipe, part, recipe.encode(part), None)
        solved: Any = solve(recipe, rest, {"gram": LeftOut(whole, rows)})
        return embedding_of_all(whole, rows, solved.coefficients) - solved.centre

    return map(without, stay)


def _refuse_overflow() -> NoReturn:
    raise ValueError("Sums over the rows overflow: X is too large. Scale it down first.")


def without_each(parts: Sequence[Any], rest: Any = None) -> Iterator[Any]:
    """For every part the merge of all others: m log m merges, of which log m are kept."""
    if len(parts) == 1:
        assert rest is not None
        yield rest
        return
    half = len(parts) // 2
    for mine, others in ((parts[:half], parts[half:]), (parts[half:], parts[:half])):
        whole = rest
        for other in others:
            whole = other if whole is None else whole.merge(other)
        yield from without_each(mine, whole)


@dataclass(frozen=True)
class _Pass:
    """The estimators that share one pass over the rows."""

    members: list[int]
    recipe: Recipe  # which takes features as they are
    features: Any  # (n, p)
    grams: dict[int, Any] = field(default_factory=dict)  # of the exact kernel, for every fold


def _passes(estimators: Sequence[Any], batch: Batch) -> Iterator[_Pass]:
    labelled = batch.labels is not None
    kept = [statistics(one, labelled) for one in estimators]
    # Estimators with C_xx first: their recipe is checked to fit into memory.
    order = sorted(range(len(estimators)), key=lambda i: not kept[i][0])
    exact = [i for i in order if settings.keeps_rows(estimators[i])]
    yield from _exact_passes(estimators, batch, exact, kept)
    others = [i for i in order if not settings.keeps_rows(estimators[i])]
    for alike in grouped(others, lambda i: _what_is_drawn(estimators[i], labelled)):
        source = None
        for members in grouped(alike, lambda i: [getattr(estimators[i], "gamma", 0)]):
            lead = estimators[members[0]]
            recipe = source.recipe if source is not None else draw_recipe(lead, batch)
            if source is None and hasattr(recipe.phi, "angles"):
                source = _Angles.of(recipe, batch.rows)
            if source is not None:
                features = source.features(_gamma(lead, batch))
            else:
                features = blockwise(recipe.features, batch.rows)
            scatter, _, spread, labels = (any(kept[i][j] for i in members) for j in range(4))
            if features.shape[1] > WIDEST_SCREENED:  # columns are chosen without each fold
                scatter = any(kept[i][0] and not screens(estimators[i]) for i in members)
            plain = replace(
                recipe,
                phi=Identity(features.shape[1]),
                scaling=None,
                scatter=scatter,
                spread=spread,
                label_scatter=labels,
            )
            yield _Pass(members, plain, features)


def _gamma(estimator: Any, batch: Batch) -> float:
    """The number that a rule gives for these rows."""
    if not isinstance(estimator.gamma, str):
        return float(estimator.gamma)
    kernel, _ = settle_kernel(estimator, batch, check_seed(estimator.random_state))
    assert kernel is not None
    return float(kernel.gamma)


@dataclass(frozen=True)
class _Angles:
    """The random numbers of Fourier features: the same for all gammas, up to a factor."""

    recipe: Recipe
    angles: NDArray[Any]  # (n, ceil(p/2))

    @classmethod
    def of(cls, recipe: Recipe, rows: Any) -> _Angles:
        phi: Any = recipe.phi
        return cls(recipe, blockwise(lambda some: phi.angles(recipe.scaled(some)), rows))

    def features(self, gamma: float) -> NDArray[Any]:
        phi: Any = self.recipe.phi
        assert self.recipe.kernel is not None
        stretch = self.angles.dtype.type(self.recipe.kernel.stretch(gamma))
        return blockwise(lambda some: waves(some * stretch, phi.n_features, phi.phase), self.angles)


def blockwise(function: Callable[[Any], Any], rows: Any) -> Any:
    """The function of all rows, a block at a time, on all threads."""
    starts = range(0, rows.shape[0], BLOCK_ROWS)
    blocks = list(in_order(lambda a: function(rows[a : a + BLOCK_ROWS]), starts))
    return sparse.vstack(blocks, "csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)


def passes_of(estimators: Sequence[Any]) -> list[int]:
    """(m,) which of the passes over labelled rows serves each."""
    number = [0] * len(estimators)
    groups = grouped(
        range(len(estimators)),
        lambda i: [*_what_is_drawn(estimators[i], True), getattr(estimators[i], "gamma", 0)],
    )
    for n, group in enumerate(groups):
        for i in group:
            number[i] = n
    return number


def _what_is_drawn(estimator: Any, labelled: bool) -> list[Any]:
    """All that the moments depend on, gamma apart."""
    _, sketch, *_ = statistics(estimator, labelled)
    names = ["label_kernel", "label_gamma", "random_state", "batch_size"]
    if estimator._kernelised:
        names += ["approximation", "kernel", "kernel_params", "n_random_features"]
    if not scales_moments(estimator):
        names.append("scale")
    if sketch:
        names.append("n_components")
    # These are drawn before the reduction, the others after it.
    early = estimator._solver.random_labels and estimator.label_map in ("gaussian", "fourier")
    if early:
        names += ["label_map", "n_components"]
    return [estimator._kernelised, sketch, early, *(getattr(estimator, name) for name in names)]


def _exact_passes(
    estimators: Sequence[Any], batch: Batch, order: Sequence[int], kept: Sequence[Any]
) -> Iterator[_Pass]:
    """The exact kernel: rows are numbers, and the matrix of all of them serves every fold.

    Distances serve every gamma, and a kernel every label kernel.
    """
    labelled, numbers = batch.labels is not None, np.arange(float(batch.rows.shape[0]))[:, None]

    def valued(names: Sequence[str]) -> Callable[[int], list[Any]]:
        return lambda i: [getattr(estimators[i], name) for name in names]

    for alike in grouped(order, valued(("scale", "kernel", "kernel_params", "random_state"))):
        distances = None
        for same in grouped(alike, valued(("gamma",))):
            kernel: KnownKernel | None = None
            grams: dict[int, Any] = {}
            for members in grouped(same, lambda i: _what_is_drawn(estimators[i], labelled)):
                lead = estimators[members[0]]
                recipe = draw_recipe(lead, batch)
                if kernel is None:
                    own, _ = settle_kernel(lead, batch, check_seed(lead.random_state))
                    assert own is not None
                    distances = distances or _distances(recipe, own.blind_to_shift, batch)
                    kernel = distances.known(own)
                plain = replace(
                    recipe,
                    kernel=kernel,
                    scaling=None,
                    scatter=any(kept[i][0] for i in members),
                    label_scatter=any(kept[i][3] for i in members),
                )
                yield _Pass(members, plain, numbers, grams)


def _distances(recipe: Recipe, blind_to_shift: bool, batch: Batch) -> Distances:
    """Where the rows were taken from, so that a device makes the kernels of its rows."""
    scaled = recipe.scaled(batch.rows)
    if blind_to_shift and not sparse.issparse(scaled):
        scaled = scaled - scaled[0]  # distances then keep their digits
    return Distances(devices.moved_to(batch.place, scaled))


@dataclass(frozen=True)
class _Variant:
    """A solver with its parameters, and the numbers of components that it serves."""

    recipe: Recipe
    members: list[int]
    sizes: list[int]


def _variants(estimators: Sequence[Any], one: _Pass, batch: Batch) -> Iterator[_Variant]:
    def what_is_solved(i: int) -> list[Any]:
        parameters = settings.values(estimators[i])
        if not estimators[i]._solver.random_labels:
            parameters.pop("n_components")  # the first of many components are those of few
        return [type(estimators[i]).__name__, *parameters.values()]

    for members in grouped(one.members, what_is_solved):
        sizes = [estimators[i].n_components for i in members]
        lead = estimators[members[int(np.argmax(sizes))]]
        parameters = settings.values(lead)
        if not scales_moments(lead):
            parameters["scale"] = None  # done to the rows
        recipe = replace(
            one.recipe,
            parameters=parameters,
            n_components=max(sizes),
            solver=lead._solver,
            scatter=one.recipe.scatter or screens(lead),
            psi=draw_label_map(lead, batch, check_seed(lead.random_state)),
        )
        yield _Variant(recipe, members, sizes)
