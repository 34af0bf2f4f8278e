"""A recipe for rows on a device: the same features and moments, in blocks that suit it.

A device wants few and large steps where the host wants many and small ones: blocks are as large as
a fixed amount of scratch memory allows, and moments cross over once a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from . import _array
from .batch import Batch
from .labels import Right
from .maps import Identity, cosine_and_sine, unscaled
from .moments import Array, Fold, Moments, blocks, centre_of, far_from_zero, few_classes
from .recipe import Recipe


def summarize(recipe: Recipe, batch: Batch, right: Right | None, before: Moments | None) -> Moments:
    """As `recipe.summarize`."""
    rows = batch.rows
    labels, seen = _Labels(recipe, batch, right), 0 if before is None else before.n_samples
    about_zero = isinstance(recipe.phi, Identity) and recipe.scaling is None
    with _array.products(_array.place_of(rows), recipe.parameters["precision"]):
        if _nothing_but_classes(recipe, labels):
            fold = _fused(recipe, rows, labels)
        else:
            # On trust, so that the device has work to do while it is asked whether that was right.
            fold = _folded(recipe, rows, labels, seen, None)
            if about_zero and bool(far_from_zero(rows)):
                fold = _folded(recipe, rows, labels, seen, centre_of(rows))
    total = float(rows.shape[0]) if batch.weight is None else float(batch.weight.sum())
    made = Moments(
        rows.shape[0],
        None if right is None else right.classes,
        labels.cross(fold),
        fold.scatter(total) if recipe.scatter else None,
        None if recipe.noise is None else fold.cross("noise", total, np.zeros(recipe.noise.k)),
        fold.spread(total) if recipe.spread else None,
    )
    return made if before is None else before.merge(made)


def _nothing_but_classes(recipe: Recipe, labels: _Labels) -> bool:
    """Whether sums over few classes are all that is wanted, and a kernel makes them."""
    phi: Any = recipe.phi
    waves = hasattr(phi, "angles") and phi.n_features % 2 == 0
    if recipe.scatter or recipe.spread or recipe.noise is not None:
        return False
    return (waves or recipe.class_sums_only) and labels.few()


def _fused(recipe: Recipe, rows: Any, labels: _Labels) -> Fold:
    """The same sums by a kernel that reads features once, with no one-hot labels beside them."""
    phi: Any = recipe.phi
    if recipe.class_sums_only:
        fold = Fold(centre_of(rows))
        weight, codes, n_classes, _ = labels.of(slice(0, rows.shape[0]))
        fold.add_classes([rows], weight, codes, n_classes)
        return fold
    fold = Fold(None, factor=float(np.sqrt(2 / phi.n_features)))
    for here in blocks(rows, phi.n_features):
        angles = phi.angles(recipe.scaled(rows[here, :]))
        weight, codes, n_classes, _ = labels.of(here)
        fold.add_classes(cosine_and_sine(angles), weight, codes, n_classes)
    return fold


def _folded(recipe: Recipe, rows: Any, labels: _Labels, seen: int, origin: Any) -> Fold:
    """The sums over all blocks, of features about some origin."""
    assert recipe.phi is not None
    plain = isinstance(recipe.phi, Identity) and recipe.scaling is None
    single, fold = recipe.parameters["precision"] == "tf32", None
    for here in blocks(rows, _width(recipe, plain and origin is None)):
        features, factor = unscaled(recipe.phi, recipe.scaled(rows[here, :]))
        if fold is None:
            if origin is None and recipe.scatter:
                origin = _array.namespace(features).mean(features, axis=0)
            fold = Fold(origin, recipe.scatter, recipe.spread, factor)
        noise, weight = None, labels.weight(here)
        if recipe.noise is not None:
            vectors = recipe.noise.vectors(seen + here.start, seen + here.stop, labels.given(here))
            noise = _array.like(vectors, features)
        fold.add(features, weight, *labels.of(here), noise, single=single)
    assert fold is not None
    return fold


def _width(recipe: Recipe, in_place: bool) -> int:
    """Numbers of scratch that a row needs."""
    assert recipe.phi is not None
    p = recipe.phi.n_features
    made = 0 if in_place else 2 * p  # angles and features, or rows and what they are about
    return made + 4 * p * recipe.scatter + 2 * p * recipe.spread


class _Labels:
    """Weights and labels of a batch where its rows are; what lacks a label weighs nothing."""

    def __init__(self, recipe: Recipe, batch: Batch, right: Right | None) -> None:
        self._batch, self._right, self._rows = batch, right, batch.rows
        self._columns = recipe.label_columns
        self._whole = right is None or bool(batch.labelled.all())
        self._place = None if self._whole else np.cumsum(batch.labelled) - 1
        self._codes: Any = None
        self._origin = np.zeros(0)
        if right is None:
            return
        if right.codes is None:
            self._origin = _dense(right.features[:1024]).mean(axis=0)
        elif _array.on_device(right.codes):
            self._codes = right.codes
        else:
            codes = right.codes
            if not self._whole:
                codes = np.full((len(batch.labelled), codes.shape[1]), -1)
                codes[batch.labelled] = right.codes
            self._codes = _array.like(codes, self._rows, np.int32)

    @property
    def n_classes(self) -> int:
        return 0 if self._codes is None or self._right is None else len(self._right.classes or ())

    def few(self) -> bool:
        return few_classes(self._rows, self._codes, self.n_classes) is not None

    def given(self, here: slice) -> Array | None:
        """Weights of all rows, on the host."""
        return None if self._batch.weight is None else self._batch.weight[here]

    def weight(self, here: slice) -> Any:
        """The same on the device."""
        given = self.given(here)
        return None if given is None else _array.like(given, self._rows)

    def of(self, here: slice) -> tuple[Any, Any, int, Any]:
        """Weights of labelled rows, class numbers, how many classes there are, label features."""
        if self._right is None:
            return None, None, 0, None
        if self._codes is not None:
            return self.weight(here), self._codes[here, :], self.n_classes, None
        which = here if self._place is None else self._place[here]
        features = _array.like(_dense(self._right.features[which]) - self._origin, self._rows)
        weight: Any = self.given(here)
        if not self._whole:
            weight = self._batch.labelled[here] * (1.0 if weight is None else weight)
        return None if weight is None else _array.like(weight, self._rows), None, 0, features

    def cross(self, fold: Fold) -> Any:
        if self._right is None:
            return None
        if self._codes is not None:
            return fold.classes(self._columns)
        weight = self._batch.weight
        some = self._batch.labelled if weight is None else weight[self._batch.labelled]
        return fold.cross("right", float(some.sum()), self._origin)


def _dense(features: Any) -> Array:
    return features.toarray() if sparse.issparse(features) else features
