"""A recipe for rows on a device: the same features and moments, in blocks that suit it.

A device wants few and large steps where the host wants many and small ones: blocks are as large as
a fixed amount of scratch memory allows, and moments cross over once a batch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from .._base import devices
from .._core.labels import EncodedLabels, NumberedLabels
from .._core.maps import Identity, unscaled
from .._core.moments import Array, ClassSums, Moments
from .._core.moments.fold import (
    Fold,
    blocks,
    centre_of,
    centred_class_sums,
    far_from_zero,
    few_classes,
    kernels_for,
)
from . import summarize as host
from .batch import Batch
from .recipe import Recipe

# Labels below this one are taken for numbers of classes: as many as cost no more than one.
GUESSED = 16


def add_up(recipe: Recipe, batch: Batch, before: Moments | None) -> Moments:
    """The moments of a batch and of those before, wherever its rows are."""
    if recipe.nuisance is not None:
        known, rest = None, None
        if before is not None:
            known, rest = before.nuisance, replace(before, nuisance=None)
        nuisance = add_up(recipe.of_nuisance, batch.of_nuisance(), known)
        return replace(add_up(replace(recipe, nuisance=None), batch, rest), nuisance=nuisance)
    if recipe.columns is not None:
        light = replace(recipe, scatter=False, columns=None)
        rest = None if before is None else replace(before, scatter=None)
        scatter = scatter_of_columns(recipe, batch, before)
        return replace(add_up(light, batch, rest), scatter=scatter)
    if devices.on_device(batch.rows):
        return summarize(recipe, batch, before)
    return host.summarize(recipe, batch, recipe.encode(batch), before)


def scatter_of_columns(recipe: Recipe, batch: Batch, before: Moments | None = None) -> Any:
    """C_xx of the columns of the recipe."""
    columns = recipe.columns
    assert columns is not None
    some = replace(batch, rows=devices.columns_at(batch.rows, columns))
    alone = replace(recipe.of_nuisance, phi=Identity(len(columns)), psi=None, scatter=True)
    known = None if before is None else Moments(before.n_samples, scatter=before.scatter)
    return add_up(alone, some, known).scatter


def summarize(recipe: Recipe, batch: Batch, before: Moments | None) -> Moments:
    """As on the host, where rows are on a device."""
    made = _by_label(recipe, batch)
    if made is None:
        seen = 0 if before is None else before.n_samples
        made = _in_blocks(recipe, batch, recipe.encode(batch), seen)
    return made if before is None else before.merge(made)


def _by_label(recipe: Recipe, batch: Batch) -> Moments | None:
    """Sums over labels that number their classes as they are, which is known only afterwards.

    None where they do not, or more than sums is wanted. To ask first would mean to wait twice.
    """
    rows, labels, n = batch.rows, batch.labels, batch.rows.shape[0]
    alone = isinstance(labels, NumberedLabels) and recipe.class_sums_only and batch.weight is None
    if not alone or kernels_for(rows) is None or getattr(recipe.psi, "kinds", ()) != ("number",):
        return None
    origin, weights, sums = centred_class_sums(rows, labels.given, GUESSED)
    if weights.sum() != n:
        return None
    classes = np.flatnonzero(weights)
    cross = ClassSums(1, origin, weights[classes], sums[classes])
    return Moments(n, tuple(classes.tolist()), cross)


def _in_blocks(recipe: Recipe, batch: Batch, encoded: EncodedLabels | None, seen: int) -> Moments:
    """In general: so many rows were seen before."""
    rows, labels = batch.rows, _Labels(recipe, batch, encoded)
    total = float(rows.shape[0]) if batch.weight is None else float(batch.weight.sum())
    with devices.products(devices.place_of(rows), recipe.parameters["precision"]):
        if _waves_by_classes(recipe, labels):
            fold = _waves(recipe, rows, labels)
        else:
            # On trust, so that the device has work to do while it is asked whether that was right.
            fold = _folded(recipe, rows, labels, seen, None)
            if recipe.plain and bool(far_from_zero(rows)):
                fold = _folded(recipe, rows, labels, seen, centre_of(rows))
    return Moments(
        rows.shape[0],
        None if encoded is None else encoded.classes,
        labels.cross(fold),
        fold.scatter(total) if recipe.scatter else None,
        None if recipe.noise is None else fold.cross("noise", total, np.zeros(recipe.noise.width)),
        fold.spread(total) if recipe.spread else None,
        None if encoded is None else recipe.label_scatter_of(encoded, batch.label_weight),
    )


def _waves_by_classes(recipe: Recipe, labels: _Labels) -> bool:
    """Whether sums over few classes of cosines and sines are all that is wanted."""
    phi: Any = recipe.phi
    more = recipe.scatter or recipe.spread or recipe.noise is not None
    return hasattr(phi, "angles") and phi.n_features % 2 == 0 and not more and labels.few()


def _waves(recipe: Recipe, rows: Any, labels: _Labels) -> Fold:
    """The same sums by a kernel that reads angles once, and writes nothing else down."""
    phi: Any = recipe.phi
    fold = Fold(None, factor=float(np.sqrt(2 / phi.n_features)))
    copied = 0 if recipe.scaling is None else rows.shape[1]
    # Two blocks of angles: those of one go when those of the next are there.
    for here in blocks(rows, phi.n_features + copied):
        angles = phi.angles(recipe.scaled(rows[here, :]))
        weight, codes, n_classes, _ = labels.of(here)
        fold.add_waves(angles, weight, codes, n_classes)
    return fold


def _folded(recipe: Recipe, rows: Any, labels: _Labels, seen: int, origin: Any) -> Fold:
    """The sums over all blocks, of features about some origin."""
    assert recipe.phi is not None
    single, fold = recipe.parameters["precision"] == "tf32", None
    for here in blocks(rows, _width(recipe, recipe.plain and origin is None)):
        features, factor = unscaled(recipe.phi, recipe.scaled(rows[here, :]))
        if fold is None:
            if origin is None and recipe.scatter:
                origin = devices.namespace(features).mean(features, axis=0)
            fold = Fold(origin, recipe.scatter, recipe.spread, factor)
        noise, weight = None, labels.weight(here)
        if recipe.noise is not None:
            vectors = recipe.noise.vectors(seen + here.start, seen + here.stop, labels.given(here))
            noise = devices.like(vectors, features)
        fold.add(features, weight, *labels.of(here), noise, single=single)
    assert fold is not None
    return fold


def _width(recipe: Recipe, in_place: bool) -> int:
    """Numbers of scratch that a row needs."""
    assert recipe.phi is not None
    p = recipe.phi.n_features
    made = 0 if in_place else 2 * p  # angles and features, or rows and what they are about
    wide = 2 if recipe.parameters["precision"] == "tf32" else 4  # C_xx of float32 rows, or float64
    return made + wide * p * recipe.scatter + 2 * p * recipe.spread


class _Labels:
    """Weights and labels of a batch where its rows are; what lacks a label weighs nothing."""

    def __init__(self, recipe: Recipe, batch: Batch, encoded: EncodedLabels | None) -> None:
        self._batch, self._encoded = batch, encoded
        # Of the dtype of features: rows that are scaled and summed as they are become float64.
        self._rows = batch.rows if recipe.scaling is None else recipe.scaled(batch.rows[:1, :])
        self._columns = recipe.label_columns
        numbered = isinstance(batch.labels, NumberedLabels)
        self._whole = encoded is None or numbered or bool(batch.labelled.all())
        self._place = None if self._whole else np.cumsum(batch.labelled) - 1
        self._codes: Any = None
        self._origin = np.zeros(0)
        if encoded is None:
            return
        if encoded.codes is None:
            self._origin = _dense(encoded.features[:1024]).mean(axis=0)
        elif devices.on_device(encoded.codes):
            self._codes = encoded.codes
        else:
            codes = encoded.codes
            if not self._whole:
                codes = np.full((len(batch.labelled), codes.shape[1]), -1)
                codes[batch.labelled] = encoded.codes
            self._codes = devices.like(codes, self._rows, np.int32)

    @property
    def n_classes(self) -> int:
        return (
            0 if self._codes is None or self._encoded is None else len(self._encoded.classes or ())
        )

    def few(self) -> bool:
        return few_classes(self._rows, self._codes, self.n_classes) is not None

    def given(self, here: slice) -> Array | None:
        """Weights of all rows, on the host."""
        return None if self._batch.weight is None else self._batch.weight[here]

    def weight(self, here: slice) -> Any:
        """The same on the device."""
        given = self.given(here)
        return None if given is None else devices.like(given, self._rows)

    def of(self, here: slice) -> tuple[Any, Any, int, Any]:
        """Weights of labelled rows, class numbers, how many classes there are, label features."""
        if self._encoded is None:
            return None, None, 0, None
        if self._codes is not None:
            return self.weight(here), self._codes[here, :], self.n_classes, None
        which = here if self._place is None else self._place[here]
        features = devices.like(_dense(self._encoded.features[which]) - self._origin, self._rows)
        weight: Any = self.given(here)
        if not self._whole:
            weight = self._batch.labelled[here] * (1.0 if weight is None else weight)
        return None if weight is None else devices.like(weight, self._rows), None, 0, features

    def cross(self, fold: Fold) -> Any:
        if self._encoded is None:
            return None
        if self._codes is not None:
            return fold.classes(self._columns)
        weight = self._batch.weight
        some = self._batch.labelled if weight is None else weight[self._batch.labelled]
        return fold.cross("right", float(some.sum()), self._origin)


def _dense(features: Any) -> Array:
    return features.toarray() if sparse.issparse(features) else features
