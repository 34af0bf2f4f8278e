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
from typing import Any, TypeVar

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._threads import in_order, one_blas_thread
from ._validation import check_seed
from .batch import Batch
from .embedding import embed
from .maps import Identity
from .maps.base import waves
from .moments import BLOCK_ROWS, Array, Moments
from .recipe import Recipe, draw_label_map, draw_recipe, scales_moments, statistics, summarize
from .solution import solve

Item = TypeVar("Item")
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
    seen, features = replace(batch, rows=one.features), one.features[judged]
    in_turn = in_order if features.shape[1] >= WORTH_A_THREAD else map

    def summarized(f: int) -> Moments:
        part = seen.take(np.flatnonzero(fold == f))
        return summarize(one.recipe, part, one.recipe.encode(part))

    def run(task: tuple[int, Moments, list[_Variant]]) -> None:
        f, rest, job = task
        known: dict[float, Any] = {}
        for variant in job:
            embedding = embed(variant.recipe, rest, solve(variant.recipe, rest, known), features)
            scores[variant.members, f] = [judge(embedding[:, :k], f) for k in variant.sizes]

    parts = list(in_turn(summarized, range(scores.shape[1])))
    # Those that need the same whitening of the same moments are one job.
    names = "shrinkage", "scale"
    jobs = _grouped(
        _variants(estimators, one, batch), lambda v: [v.recipe.parameters[name] for name in names]
    )
    rests = enumerate(without_each(parts))
    for _ in in_turn(run, ((f, rest, job) for f, rest in rests for job in jobs)):
        pass


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


@dataclass(frozen=True)
class _Pass:
    """What one pass over the rows serves."""

    members: list[int]
    recipe: Recipe  # which takes features as they are
    features: Any  # (n, p)


def _passes(estimators: Sequence[Any], batch: Batch) -> Iterator[_Pass]:
    def what_is_drawn(i: int) -> Any:
        return _what_is_drawn(estimators[i], batch.labels is not None)

    for alike in _grouped(range(len(estimators)), what_is_drawn):
        source = None
        for members in _grouped(alike, lambda i: getattr(estimators[i], "gamma", None)):
            kept = [statistics(estimators[i], batch.labels is not None) for i in members]
            scatter, _, spread = (any(column) for column in zip(*kept, strict=True))
            # One that wants C_xx if any does, so that it is checked to fit into memory.
            lead = max((estimators[i] for i in members), key=lambda one: one.shrinkage != 1)
            if source is not None and not isinstance(lead.gamma, str):
                recipe, features = source.recipe, source.features(lead.gamma)
            else:
                recipe = draw_recipe(lead, batch)
                if recipe.phi is None:
                    raise ValueError(
                        "approximation='exact' keeps rows and no moments that folds could share; "
                        "use approximation='nystroem' with as many features as rows: it is exact "
                        "too."
                    )
                if hasattr(recipe.phi, "angles"):
                    source = source or _Angles.of(recipe, batch.rows)
                    assert recipe.kernel is not None
                    features = source.features(recipe.kernel.gamma)
                else:
                    features = blockwise(recipe.features, batch.rows)
            plain = replace(
                recipe,
                phi=Identity(features.shape[1]),
                scaling=None,
                scatter=scatter,
                spread=spread,
            )
            yield _Pass(members, plain, features)


@dataclass(frozen=True)
class _Angles:
    """What random Fourier features are made of: the same for every gamma, up to a factor."""

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
    keys = [
        joblib.hash([_what_is_drawn(one, True), getattr(one, "gamma", 0)]) for one in estimators
    ]
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return [number[key] for key in keys]


def _what_is_drawn(estimator: Any, labelled: bool) -> Any:
    """All that the moments depend on, gamma apart."""
    _, sketch, _ = statistics(estimator, labelled)
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


def _variants(estimators: Sequence[Any], one: _Pass, batch: Batch) -> Iterator[_Variant]:
    def what_is_solved(i: int) -> Any:
        parameters = dict(vars(estimators[i]))  # all that an estimator has before it is fitted
        if estimators[i]._spectral:
            parameters.pop("n_components")  # the first of many components are those of few
        return type(estimators[i]).__name__, parameters

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
        )
        yield _Variant(recipe, members, sizes)


def _grouped(items: Iterable[Item], key: Callable[[Item], Any]) -> list[list[Item]]:
    """Items with equal keys together, in the order of the first of them."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(joblib.hash(key(item)), []).append(item)
    return list(groups.values())
