"""The one driver: look at the rows, draw the recipe, summarize each part, merge, solve.

    parts -> look -> draw -> summarize -> merge in a tree -> solve

An array is one part that has been read whole. A stream is one part, read in chunks on this
machine. Collections of Dask and Spark have their parts on workers. Every question to the rows is a
step that can be pickled, and a merge:

    what first_pass.py lists        the kind of labels, the weight of every class
                                    the spread of columns, a sample of rows
    always                          the moments

The maps are drawn here, from the first rows or from the sample, and go with the last question to
where the rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import NotFittedError

from .._base import devices
from .._base.threads import one_blas_thread
from .._base.validation import check_rows, unchanged_on_error
from .._core.labels import class_weights, read_labels
from .._engines.parts import Merge, Part, Parts, Step, one_after_the_other
from .._engines.sources import Chunk
from . import settings
from .batch import Batch, read_batch
from .first_pass import LabelSurvey, Needs, RowSurvey, balanced, sample_rows
from .job import Job

Estimator = TypeVar("Estimator")


@dataclass(frozen=True)
class Progress:
    """How far a fit on this machine is: what a checkpoint holds."""

    job: Job
    moments: Any
    rows: int


Watch = Callable[[Progress], object]


class RowsInMemory(Parts):
    """Rows that are here, all of them: one part, and nothing beyond the first rows."""

    title, n_parts, complete, elsewhere = "X", 1, True, False

    def __init__(self, X: Any, y: Any, weight: Any, nuisance: Any = None) -> None:
        self._chunk = Chunk(X, y, weight, nuisance)
        self.labelled, self.weighted = y is not None, weight is not None
        self.place = devices.place_of(X)

    def first(self, some: Callable[[Chunk], Chunk]) -> Chunk:
        return self._chunk

    def each(self, step: Step) -> Any:
        yield step(Part(0, self.title, None, [self._chunk]))

    def reduce(self, step: Step, merge: Merge, features: bool = True) -> Any:
        return next(self.each(step))


def fit_rows(
    estimator: Estimator,
    parts: Parts,
    watch: Watch | None = None,
    resumed: Progress | None = None,
) -> Estimator:
    """Fit the estimator with the rows of all parts; an error leaves it as it was.

    `watch` is called after every chunk that this process adds. `resumed` is where an earlier fit
    of the same rows has stopped; the parts begin there.
    """
    settings.check(estimator)
    if parts.elsewhere and settings.keeps_rows(estimator):
        name = settings.values(estimator)["approximation"]
        raise ValueError(
            f"approximation={name!r} keeps all rows in one place, and these are elsewhere; use "
            "approximation='nystroem' or random features ('orthogonal')."
        )
    with one_blas_thread():  # once, not for every chunk: it takes a millisecond
        if resumed is not None:
            job, moments = resumed.job, _summarized(resumed.job, parts, watch, resumed)
        else:
            work = settings.altered(estimator)  # the estimator stays as it is until all is done
            job, batch = _look(work, parts)
            if job.recipe.screens:
                job = job.screened(_light(job, parts, batch))
            moments = _summarized(job, parts, watch) if batch is None else job.add(batch, None)
        finish(estimator, job, moments, parts.names, parts.place)
    return estimator


def finish(
    estimator: Any, job: Job, moments: Any, names: list[str] | None = None, place: Any = None
) -> None:
    """Give the estimator what was fitted, and solve."""
    recipe = replace(job.recipe, parameters=settings.values(estimator))
    with unchanged_on_error(estimator):
        estimator._become(recipe, moments, job.estimator, place)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        try:
            estimator._solve()
        except NotFittedError as error:
            raise ValueError(str(error)) from None


# Looking -----------------------------------------------------------------------------------------


def _look(work: Any, parts: Parts) -> tuple[Job, Batch | None]:
    """Draw the maps from the first rows and from surveys of all parts.

    The batch is that of all rows, where the first rows are all there are.
    """
    first = parts.first(_CountedRows(work))
    if first is None:
        raise ValueError(f"There are no rows in {parts.title}.")
    if parts.complete:
        batch = read_batch(work, first.X, first.y, first.weight, True, True, first.nuisance)
        return Job.draw(work, batch), batch
    with parts.located(first):
        needs = Needs.of(work, first, parts.once)
        if not needs.first:
            batch = read_batch(work, first.X, first.y, first.weight, True, False, first.nuisance)
            return Job.draw(work, batch), None
    if parts.once:
        raise ValueError(
            f"{needs.first} requires a first pass over the data, and these batches can be read "
            "only once. Pass a list or an object with __iter__ that can be read again, or numbers "
            "for parameters that are taken from the data."
        )
    nuisance = first.nuisance  # the kind is that of the first rows
    job = _surveyed(work, parts, parts.release(first), needs)
    return job if nuisance is None else job.with_nuisance(nuisance), None


def _surveyed(work: Any, parts: Parts, first: Chunk, needs: Needs) -> Job:
    """The job, if it depends on all rows or all labels."""
    reader = work
    rows, starts = None, None
    check_rows(work, first.X, reset=True, finite=False)  # what all parts must have
    item = getattr(first.X, "dtype", np.dtype(np.float64))  # a frame has no dtype
    size = sample_rows(work, max(1, first.X.shape[1] * item.itemsize))
    if needs.sample or needs.values:
        starts = _before(parts.lengths())  # counting may take a pass
    labels = LabelSurvey.of(size)
    if needs.labels:
        settings.check_has_classes(work, first.y)
        survey = SurveyLabels(work, size, starts)
        labels = parts.reduce(survey, LabelSurvey.merge, features=False)
    elif first.y is not None:
        labels = labels.add(work, first)
    if labels.traits is not None and isinstance(work.class_weight, str):
        work.class_weight = balanced(labels.counts)
    known = labels.known(work)
    if needs.spread or needs.sample:
        rows = parts.reduce(SurveyRows(work, needs, size, starts), RowSurvey.merge)
        if rows.sample is not None:
            first, reader = rows.sample.rows(), copy(work)  # a sample has no names of columns
    batch = read_batch(reader, first.X, first.y, first.weight, first=True, last=False)
    if known is not None and needs.sample.endswith("='auto'") and not len(batch.numbers):
        raise ValueError(
            f"{needs.sample} looks at a sample of {first.n_rows} rows, and none of them has a "
            "label; give it a number."
        )
    return Job.draw(work, replace(batch, spread=None if rows is None else rows.spread, known=known))


@dataclass(frozen=True)
class SurveyLabels:
    estimator: Any
    sample_rows: int
    starts: Sequence[int] | None  # the number of the first row of each part; None: not needed

    def __call__(self, part: Part) -> LabelSurvey | None:
        nothing = LabelSurvey.of(self.sample_rows, _start(self.starts, part))
        view = part.fold(lambda view, chunk: view.add(self.estimator, chunk), nothing)
        return None if view is nothing else view


@dataclass(frozen=True)
class SurveyRows:
    estimator: Any
    needs: Needs
    sample_rows: int
    starts: Sequence[int] | None  # as above

    def __call__(self, part: Part) -> RowSurvey | None:
        nothing = RowSurvey.of(self.needs, self.sample_rows, _start(self.starts, part))
        view = part.fold(lambda view, chunk: view.add(self.estimator, self.needs, chunk), nothing)
        return None if view is nothing else view


def _start(starts: Sequence[int] | None, part: Part) -> int:
    return 0 if starts is None else starts[part.number]


# Summarizing -------------------------------------------------------------------------------------


def _summarized(
    job: Job, parts: Parts, watch: Watch | None, resumed: Progress | None = None
) -> Any:
    starts = None
    if job.recipe.noise is not None and parts.elsewhere:
        starts = _counted_before(job.estimator, parts)
    moments = parts.reduce(Summarize(job, starts, watch, resumed), _merged)
    if moments is None:
        if resumed is None:
            raise ValueError(f"There are no rows in {parts.title}.")
        return resumed.moments
    return moments


def _light(job: Job, parts: Parts, batch: Batch | None) -> Any:
    """The moments by which columns are chosen, where C_xx is only of those."""
    if batch is not None:
        return job.without_scatter.add(batch, None)
    if parts.once:
        raise ValueError(
            "n_nonzero with a covariance of the columns takes a first pass over wide rows, and "
            "these batches can be read only once. Use shrinkage=1, or data that can be read again."
        )
    return _summarized(job.without_scatter, parts, None)


def _merged(left: Any, right: Any) -> Any:
    return left.merge(right)


@dataclass(frozen=True)
class Summarize:
    """The moments of a part."""

    job: Job
    starts: Sequence[int] | None  # as above
    watch: Watch | None = None
    resumed: Progress | None = None

    def __call__(self, part: Part) -> Any:
        job = self.job if self.starts is None else self.job.starting_at(self.starts[part.number])
        rows = 0 if self.resumed is None else self.resumed.rows

        def add(before: Any, chunk: Chunk) -> Any:
            nonlocal rows
            moments, rows = job.add(job.read(chunk), before), rows + chunk.n_rows
            if self.watch is not None:
                self.watch(Progress(job, moments, rows))
            return moments

        return part.fold(add, None if self.resumed is None else self.resumed.moments)


# Which rows count --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _CountedRows:
    """The rows of a chunk that have a weight; the others are as if they were not there."""

    estimator: Any

    def __call__(self, chunk: Chunk) -> Chunk:
        counted = np.ones(chunk.n_rows, dtype=bool) if chunk.weight is None else chunk.weight > 0
        if _drops_classes(self.estimator) and chunk.y is not None:
            labels, labelled = read_labels(chunk.y, chunk.n_rows, self.estimator.missing_label)
            which = np.flatnonzero(labelled)
            factors = class_weights(self.estimator.class_weight, labels, None, which, False)
            counted[which] &= factors > 0
        return chunk.take(np.flatnonzero(counted))


def _drops_classes(estimator: Any) -> bool:
    weights = estimator.class_weight
    return isinstance(weights, Mapping) and 0 in weights.values()


@dataclass(frozen=True)
class _CountRows:
    """How many rows of a part have a weight."""

    some: _CountedRows

    def __call__(self, part: Part) -> tuple[int, ...]:
        return (part.fold(lambda n, chunk: n + self.some(chunk).n_rows, 0),)


def _counted_before(estimator: Any, parts: Parts) -> tuple[int, ...]:
    """For every part, how many rows that count are in those before it."""
    if not parts.weighted and not _drops_classes(estimator):
        return _before(parts.lengths())
    step = _CountRows(_CountedRows(estimator))
    return _before(parts.reduce(step, one_after_the_other, features=False))


def _before(counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(accumulate(counts, initial=0))[:-1]
