"""Rows on the host: block by block through a recipe, into moments."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._base import devices
from .._base.scratch import Scratch
from .._base.threads import in_order, one_blas_thread
from .._core.exact_kernel import KernelRows
from .._core.labels import EncodedLabels
from .._core.moments import (
    Array,
    ClassSums,
    CrossMoment,
    Moments,
    Scatter,
    Spread,
    union_of_classes,
)
from .batch import Batch
from .recipe import Recipe


@one_blas_thread()  # also where the first block is reduced before the others, and in merges
def summarize(
    recipe: Recipe, batch: Batch, encoded: EncodedLabels | None, before: Moments | None = None
) -> Moments:
    """Reduce a batch, block by block, and merge it into the moments of the batches before.

    `right` holds the labelled rows only; the others count for C_xx and its kin.
    """
    rows, labelled, weight = batch.rows, batch.labelled, batch.weight
    if encoded is not None and encoded.codes is not None and recipe.class_sums_only:
        return _add_class_sums(before, batch, encoded)
    n = rows.shape[0]
    place = np.concatenate([[0], np.cumsum(labelled)])  # row -> row of `right`
    seen = 0 if before is None else before.n_samples
    scratch = Scratch()  # moments keep nothing of the features
    ready: dict[int, Moments] = {}

    def reduce_block(start: int) -> Moments:
        if start in ready:
            return ready.pop(start)
        with np.errstate(over="ignore", invalid="ignore"):  # looked at once, at the end
            return moments_of(slice(start, min(start + recipe.block, n)))

    def moments_of(here: slice) -> Moments:
        scratch.start_over()
        features = recipe.features(rows[here], scratch.empty)
        w = None if weight is None else weight[here]
        cross = sketch = labels = None
        if encoded is not None and place[here.stop] > place[here.start]:
            mine = encoded.rows(slice(place[here.start], place[here.stop]))
            which = slice(None) if labelled[here].all() else labelled[here]
            label_weight = None if w is None else w[which]
            cross = _cross(features[which], mine, label_weight, origin)
            labels = recipe.label_scatter_of(mine, label_weight)
        if recipe.noise is not None:
            noise = recipe.noise.vectors(seen + here.start, seen + here.stop, w)
            sketch = CrossMoment.of(features, noise, w)
        return Moments(
            here.stop - here.start,
            None if encoded is None else encoded.classes,
            cross,
            Scatter.of(features, w) if recipe.scatter else None,
            sketch,
            Spread.of(features, w) if recipe.spread else None,
            labels,
        )

    # All sums over classes are about the same point, that of the first block which has labels.
    origin: Array | None = None
    if before is not None and isinstance(before.cross, ClassSums):
        origin = before.cross.origin
    elif encoded is not None and encoded.codes is not None:
        first = int(np.argmax(labelled)) // recipe.block * recipe.block
        ready[first] = lead = reduce_block(first)
        assert isinstance(lead.cross, ClassSums)
        origin = lead.cross.origin
    total, ours = before, False
    for part in in_order(reduce_block, range(0, n, recipe.block)):
        with np.errstate(over="ignore", invalid="ignore"):
            total = part if total is None else total.merge(part, reuse=ours)
        ours = True
    assert total is not None
    return total


def _add_class_sums(before: Moments | None, batch: Batch, encoded: EncodedLabels) -> Moments:
    """The fast way for rows and classes: no blocks, columns are shared out among threads."""
    assert encoded.classes is not None and encoded.codes is not None
    rows, weight, which = batch.rows, batch.weight, np.flatnonzero(batch.labelled)
    with np.errstate(over="ignore", invalid="ignore"):
        seen = 0 if before is None else before.n_samples
        if before is None or before.cross is None:  # the first labels
            sums = ClassSums.of(rows, encoded.codes, len(encoded.classes), weight, which)
            return Moments(seen + rows.shape[0], encoded.classes, sums)
        assert before.classes is not None and isinstance(before.cross, ClassSums)
        classes, position = union_of_classes(before.classes, encoded.classes)
        known = before.cross.numbered(np.arange(len(before.classes)), len(classes))
        sums = known.add(rows, position[encoded.codes], weight, which)
        return Moments(seen + rows.shape[0], classes, sums)


def _cross(
    features: Any, encoded: EncodedLabels, weight: Array | None, origin: Array | None
) -> CrossMoment | ClassSums:
    if encoded.codes is None:
        return CrossMoment.of(features, encoded.features, weight)
    if not sparse.issparse(features):
        features = np.ascontiguousarray(features)
    return ClassSums.of(features, encoded.codes, len(encoded.classes or ()), weight, origin=origin)


def keep_rows(
    recipe: Recipe, batch: Batch, encoded: EncodedLabels | None, before: KernelRows | None
) -> KernelRows:
    """The counterpart of `summarize` for the exact kernel: rows with their label features."""
    n, labelled = batch.rows.shape[0], batch.labelled
    weight, noise = np.ones(n) if batch.weight is None else batch.weight, None
    if recipe.noise is not None:
        start = 0 if before is None else before.n_samples
        noise = recipe.noise.vectors(start, start + n, weight)
    keep = np.ones(n, dtype=bool) if recipe.keeps_all_rows else labelled
    mine = EncodedLabels() if encoded is None else encoded
    return KernelRows(
        n,
        recipe.scaled(devices.rows_at(batch.rows, keep)),  # a copy, which the caller cannot change
        weight[keep],
        mine.classes,
        devices.host(mine.codes),
        mine.features,
        None if labelled[keep].all() or recipe.psi is None else labelled[keep],
        noise,
    )
