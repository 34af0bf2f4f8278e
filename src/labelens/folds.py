"""Candidates compared by cross-validation, sharing all that they can share.

    one draw of directions   serves every gamma: angles are multiplied
    one pass over the rows   gives the moments of every fold; those of the others are merged
    one set of moments       serves every solver, shrinkage, target weight and linear scaling
    one spectral solution    serves every smaller number of components

So ten folds cost about one fit, and most of a grid costs solving only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._threads import in_order, one_blas_thread
from ._validation import check_seed
from .batch import Batch
from .embedding import embed
from .maps import Identity, Waves
from .moments import BLOCK_ROWS, Array, Moments
from .recipe import Recipe, draw_label_map, draw_recipe, scales_moments, statistics, summarize
from .solution import solve

# Features from which on solving takes longer than starting threads.
WORTH_A_THREAD = 384
# (n, k) of the judged rows, and the fold that the model has not seen -> how good it is.
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
    Every `random_state` has to be a number, and `approximation` other than "exact".
    """
    scores = np.empty((len(estimators), int(fold.max()) + 1))
    with one_blas_thread():  # small products, of which there are many, should start no others
        for one in _passes(estimators, batch):
            _judge_pass(one, estimators, batch, fold, judged, judge, scores)
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
    seen = replace(batch, rows=one.rows)
    held_out = (seen.take(np.flatnonzero(fold == f)) for f in range(scores.shape[1]))
    parts = [summarize(one.recipe, part, one.recipe.encode(part)) for part in held_out]
    # The judged rows as features, once; what follows takes these as its rows.
    features = blockwise(one.recipe.features, one.rows[judged])
    variants = list(_variants(estimators, one, batch))
    in_turn = in_order if features.shape[1] >= WORTH_A_THREAD else map
    for f, rest in enumerate(without_each(parts)):
        judged_by = partial(_Variant.judged, features=features, moments=rest, judge=judge, fold=f)
        for variant, found in zip(variants, in_turn(judged_by, variants), strict=True):
            scores[variant.members, f] = found


def without_each(parts: Sequence[Moments], rest: Moments | None = None) -> Iterator[Moments]:
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


def blockwise(function: Callable[[Any], Any], rows: Any) -> Any:
    """The function of all rows, a block at a time, on all threads."""
    starts = range(0, rows.shape[0], BLOCK_ROWS)
    blocks = list(in_order(lambda a: function(rows[a : a + BLOCK_ROWS]), starts))
    return sparse.vstack(blocks, "csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)


@dataclass(frozen=True)
class _Pass:
    """What one pass over the rows serves."""

    members: list[int]
    recipe: Recipe
    rows: Any  # that the recipe takes: the rows themselves, or their angles


def _passes(estimators: Sequence[Any], batch: Batch) -> Iterator[_Pass]:
    for alike in _grouped(range(len(estimators)), lambda i: _what_is_drawn(estimators[i], batch)):
        source = None
        for members in _grouped(alike, lambda i: getattr(estimators[i], "gamma", None)):
            kept = [statistics(estimators[i], batch.labels is not None) for i in members]
            scatter, _, spread = (any(column) for column in zip(*kept, strict=True))
            # One that wants C_xx if any does, so that it is checked to fit into memory.
            lead = max((estimators[i] for i in members), key=lambda one: one.shrinkage != 1)
            if source is None or isinstance(lead.gamma, str):
                with one_blas_thread():
                    recipe = draw_recipe(lead, batch)
                if hasattr(recipe.phi, "angles"):
                    source = source or _Angles.of(recipe, batch.rows)
                gamma = None if recipe.kernel is None else recipe.kernel.gamma
            else:
                gamma = lead.gamma
            rows = batch.rows
            if source is not None:
                recipe, rows = source.at(gamma), source.angles
            if recipe.phi is None:
                raise ValueError(
                    "approximation='exact' keeps rows and no moments that folds could share; use "
                    "approximation='nystroem' with as many features as rows: it is exact too."
                )
            yield _Pass(members, replace(recipe, scatter=scatter, spread=spread), rows)


@dataclass(frozen=True)
class _Angles:
    """What random Fourier features are made of: the same for every gamma, up to a factor."""

    recipe: Recipe
    angles: NDArray[Any]  # (n, ceil(p/2))

    @classmethod
    def of(cls, recipe: Recipe, rows: Any) -> _Angles:
        phi: Any = recipe.phi
        return cls(recipe, blockwise(lambda some: phi.angles(recipe.scaled(some)), rows))

    def at(self, gamma: Any) -> Recipe:
        """For rows that are angles."""
        kernel, phi = self.recipe.kernel, self.recipe.phi
        assert kernel is not None
        waves = Waves(phi.n_features, phi.phase, kernel.stretch(gamma))  # type: ignore[union-attr]
        return replace(self.recipe, kernel=replace(kernel, gamma=gamma), phi=waves, scaling=None)


def _what_is_drawn(estimator: Any, batch: Batch) -> Any:
    """All that the moments depend on, gamma apart."""
    _, sketch, _ = statistics(estimator, batch.labels is not None)
    names = ["label_kernel", "label_gamma", "random_state", "batch_size"]
    if estimator._kernelised:
        names += ["approximation", "kernel", "kernel_params", "n_random_features"]
    if not scales_moments(estimator):
        names.append("scale")
    if sketch:
        names.append("n_components")
    # These are drawn before the reduction, the others after it.
    early = not estimator._spectral and estimator.label_map in ("gaussian", "fourier")
    if early:
        names += ["label_map", "n_components"]
    return [estimator._kernelised, sketch, early, *(getattr(estimator, name) for name in names)]


@dataclass(frozen=True)
class _Variant:
    """A solver with its parameters, and the numbers of components that it serves."""

    recipe: Recipe
    members: list[int]
    sizes: list[int]

    def judged(self, features: Any, moments: Moments, judge: Judge, fold: int) -> list[float]:
        embedding = embed(self.recipe, moments, solve(self.recipe, moments), features)
        return [judge(embedding[:, :k], fold) for k in self.sizes]


def _variants(estimators: Sequence[Any], one: _Pass, batch: Batch) -> Iterator[_Variant]:
    def what_is_solved(i: int) -> Any:
        parameters = dict(vars(estimators[i]))  # all that an estimator has before it is fitted
        if estimators[i]._spectral:
            parameters.pop("n_components")  # the first of many components are those of few
        return type(estimators[i]).__name__, parameters

    features = one.recipe.phi.n_features  # type: ignore[union-attr]
    for members in _grouped(one.members, what_is_solved):
        sizes = [estimators[i].n_components for i in members]
        lead = estimators[members[int(np.argmax(sizes))]]
        parameters = dict(vars(lead))
        if not scales_moments(lead):
            parameters["scale"] = None  # done to the rows
        recipe = replace(
            one.recipe,
            parameters=parameters,
            n_components=max(sizes),
            spectral=lead._spectral,
            psi=draw_label_map(lead, batch, check_seed(lead.random_state)),
            phi=Identity(features),
            scaling=None,
        )
        yield _Variant(recipe, members, sizes)


def _grouped(items: Iterable[int], key: Callable[[int], Any]) -> list[list[int]]:
    """Items with equal keys together, in the order of the first of them."""
    groups: dict[str, list[int]] = {}
    for item in items:
        groups.setdefault(joblib.hash(key(item)), []).append(item)
    return list(groups.values())
