"""A fit of rows that are elsewhere: three questions at most, each a step and a merge.

    what first_pass.py lists        of what kind are labels, and how many rows has every class?
                                    how far do columns spread, and which rows are in the sample?
    always                          what are the moments?

The maps are drawn here, from the first rows or from the sample, and go with the last question to
where the rows are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from .._base.jit import get_ready
from .._base.validation import check_rows, unchanged_on_error
from .._core.labels import class_weights, read_labels
from .._core.moments import BLOCK_ROWS, Moments
from .._engines.parts import Part, Parts, one_after_the_other
from .._engines.sources import Chunk, some_rows
from . import settings
from .batch import read_batch
from .first_pass import LabelSurvey, Needs, RowSurvey, balanced, join_rows, sample_rows


def fit_parts(estimator: Any, parts: Parts) -> None:
    """Fit the estimator; if anything goes wrong it is left as it was."""
    settings.check(estimator)
    if estimator._kernelised and estimator.approximation == "exact":
        raise ValueError(
            "approximation='exact' keeps all rows in one place, and these are elsewhere; use "
            "approximation='nystroem' or random features ('orthogonal')."
        )
    work = clone(estimator)
    first = _first_rows(work, parts)
    draw(work, parts, first, Needs.of(work, first))
    starts = _counted_before(work, parts) if work._recipe.noise is not None else None
    work.moments_ = parts.reduce(Summarize(work, starts), Moments.merge)
    work._solved = None
    finish(estimator, work, parts.names)


def draw(work: Any, parts: Parts, first: Chunk, needs: Needs) -> None:
    """Draw the maps from the first rows and from what all parts say."""
    reader = work
    view, known, starts = None, None, None
    if needs.first:
        check_rows(work, first.X, reset=True, finite=False)  # what all parts must have
        size = sample_rows(work, max(1, first.X.shape[1] * _itemsize(first.X)))
        if needs.sample or needs.values:
            starts = _before(parts.lengths())  # counting may take a pass
        labels = LabelSurvey.of(size)
        if needs.labels:
            settings.check_has_classes(work, first.y)
            labels = parts.reduce(
                SurveyLabels(work, size, starts), LabelSurvey.merge, features=False
            )
        elif first.y is not None:
            labels = labels.add(work, first)
        if labels.traits is not None and isinstance(work.class_weight, str):
            work.class_weight = balanced(labels.counts)
        known = labels.known(work)
    if needs.spread or needs.sample:
        view = parts.reduce(SurveyRows(work, needs, size, starts), RowSurvey.merge)
        if view.sample is not None:
            first, reader = view.sample.rows(), copy(work)  # a sample has no names of columns
    batch = read_batch(reader, first.X, first.y, first.weight, True, False)
    if known is not None and needs.sample.endswith("='auto'") and not len(batch.numbers):
        raise ValueError(
            f"{needs.sample} looks at a sample of {first.n_rows} rows, and none of them has a "
            "label; give it a number."
        )
    work._draw(replace(batch, spread=None if view is None else view.spread, known=known))


def _itemsize(X: Any) -> int:
    return X.dtype.itemsize if hasattr(X, "dtype") else 8


def finish(estimator: Any, work: Any, names: list[str] | None) -> None:
    """Give the estimator what was fitted, and solve."""
    parameters = estimator.get_params(deep=False)
    work._recipe = replace(work._recipe, parameters=parameters)
    if names is not None:
        work.feature_names_in_ = np.array(names, dtype=object)
    with unchanged_on_error(estimator):
        estimator._become(work)
        try:
            estimator._solve()
        except NotFittedError as error:
            raise ValueError(str(error)) from None


# Steps -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SurveyLabels:
    estimator: Any
    sample_rows: int
    starts: Sequence[int] | None  # as below

    def __call__(self, part: Part) -> LabelSurvey | None:
        nothing = LabelSurvey.of(self.sample_rows, _start(self.starts, part))
        view = part.fold(lambda view, chunk: view.add(self.estimator, chunk), nothing)
        return None if view is nothing else view


@dataclass(frozen=True)
class SurveyRows:
    estimator: Any
    needs: Needs
    sample_rows: int
    starts: Sequence[int] | None  # as below

    def __call__(self, part: Part) -> RowSurvey | None:
        nothing = RowSurvey.of(self.needs, self.sample_rows, _start(self.starts, part))
        view = part.fold(lambda view, chunk: view.add(self.estimator, self.needs, chunk), nothing)
        return None if view is nothing else view


def _start(starts: Sequence[int] | None, part: Part) -> int:
    return 0 if starts is None else starts[part.number]


@dataclass(frozen=True)
class Summarize:
    """The moments of a part, under a recipe that has been drawn."""

    estimator: Any  # knows the recipe
    starts: Sequence[int] | None  # the number of the first row of every part; None: nobody asks

    def __call__(self, part: Part) -> Moments | None:
        mine = copy(self.estimator)  # others are at work with the same one
        if self.starts is not None:
            noise = mine._recipe.noise.after(self.starts[part.number])
            mine._recipe = replace(mine._recipe, noise=noise)

        def add(before: Moments | None, chunk: Chunk) -> Moments:
            batch = read_batch(mine, chunk.X, chunk.y, chunk.weight, False, False)
            get_ready(batch.rows.size)
            mine._add(batch, before)
            return mine.moments_

        return part.fold(add)


# First rows, and how many come before a part ----------------------------------------------------


def _first_rows(estimator: Any, parts: Parts) -> Chunk:
    """The first BLOCK_ROWS rows that count."""
    found: list[Chunk] = []
    for some in parts.each(FirstRows(estimator)):
        found += some or []
        if sum(chunk.n_rows for chunk in found) >= BLOCK_ROWS:
            break
    if not found:
        raise ValueError(f"There are no rows in {parts.called}.")
    rows, labels, weights = zip(*((c.X, c.y, c.weight) for c in found), strict=True)
    return Chunk(join_rows(rows), join_rows(labels), join_rows(weights))


@dataclass(frozen=True)
class FirstRows:
    estimator: Any

    def __call__(self, part: Part) -> list[Chunk]:
        found: list[Chunk] = []

        def take(count: int, chunk: Chunk) -> int:
            which = np.flatnonzero(_counted(self.estimator, chunk))[:BLOCK_ROWS]
            found.append(Chunk(*(some_rows(a, which) for a in (chunk.X, chunk.y, chunk.weight))))
            return count + len(which)

        part.fold(take, 0, until=lambda count: count >= BLOCK_ROWS)
        return found


def _counted(estimator: Any, chunk: Chunk) -> NDArray[np.bool_]:
    """(n,) which rows have a weight; the others are as if they were not there."""
    counted = np.ones(chunk.n_rows, dtype=bool) if chunk.weight is None else chunk.weight > 0
    if _drops_classes(estimator) and chunk.y is not None:
        labels, labelled = read_labels(chunk.y, chunk.n_rows, estimator.missing_label)
        which = np.flatnonzero(labelled)
        factors = class_weights(estimator.class_weight, labels, None, which, False)
        counted[which] &= factors > 0
    return counted


def _drops_classes(estimator: Any) -> bool:
    weights = estimator.class_weight
    return isinstance(weights, Mapping) and 0 in weights.values()


@dataclass(frozen=True)
class CountRows:
    """How many rows of a part have a weight."""

    estimator: Any

    def __call__(self, part: Part) -> tuple[int, ...]:
        return (part.fold(lambda n, chunk: n + int(_counted(self.estimator, chunk).sum()), 0),)


def _counted_before(estimator: Any, parts: Parts) -> tuple[int, ...]:
    """For every part, how many rows that count are in those before it."""
    if not parts.weighted and not _drops_classes(estimator):
        return _before(parts.lengths())
    return _before(parts.reduce(CountRows(estimator), one_after_the_other, features=False))


def _before(counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(accumulate(counts, initial=0))[:-1]
