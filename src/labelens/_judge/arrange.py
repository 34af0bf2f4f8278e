"""The steps of `fit` and `partial_fit` of an atlas after the base model."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

from .._base import devices
from .._base.validation import check_seed
from .._core.class_scores import Codes, calibrated_scores
from .._core.labels.vocabulary import as_class_array
from .._core.layout import anchors
from .._core.local_maps import LocalMaps
from .._core.moments import Array
from .._fit.settings import has_falkon
from .._fit.task import Task
from .classes import (
    FEW_ROWS,
    KeptRows,
    LabelledRows,
    held_out_places,
    n_folds,
    places_without,
    read_classes,
    with_components,
)
from .conformal import Conformal

if TYPE_CHECKING:
    from .atlas import Atlas

# Temperatures that are tried, the preferred first. Higher ones mix discs so much that local maps
# are lost, lower ones hide which rows are in doubt.
TEMPERATURES = (0.1, 0.25, 0.05)
NEIGHBOURS = (1, 15)
BLOCK_NUMBERS = 1 << 22  # numbers of rows and classes held at a time


def arrange(atlas: Atlas, known: LabelledRows, which: Codes, seed: int) -> None:
    """Fit all but the base model, which is fitted; `which` are the numbers of the known rows."""
    if len(known.codes) <= FEW_ROWS:
        rows, places = held_out_places(atlas.estimator_, known, seed)
    else:
        every = KeptRows.of(devices.host(known.rows), known.labels, known.given)
        kept, _ = every.reduced()
        rows = kept.held_out()
        train, bare = ~np.isin(every.hashes, kept.hashes[rows]), clone(atlas.estimator_)
        if has_falkon(bare):  # half of the landmarks take a third of the time
            bare.n_random_features -= bare.n_random_features // 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit of all rows has given them already
            own = known.only(np.flatnonzero(train)).fitted(bare)
        places = places_without(atlas.estimator_, own, kept.rows, rows)
        codes = known.codes[kept.first]
        which = which[kept.first]
        known = LabelledRows(kept.rows, kept.labels, codes, kept.weight, known.c)
    describe(atlas, known, rows, places, seed)
    atlas.heldout_rows_ = which[rows]


def describe(
    atlas: Atlas, known: LabelledRows, rows: Codes, places: Array, seed: int
) -> tuple[Array, Array]:
    """Class probabilities, anchors and local maps, by held-out places of some known rows.

    Returns what `place` takes of these rows.
    """
    codes, weight = known.codes[rows], known.weight[rows]
    folds = Task(places, codes, "classes").folds(n_folds(len(codes)), seed)
    atlas._scores, scores = calibrated_scores(places, codes, weight, known.c, folds)
    atlas._conformal = Conformal.of(scores, codes, atlas._scores.means, places)
    apart = dissimilarities(scores, codes, weight, known.c)
    atlas.anchors_, atlas.radii_ = anchors(apart, atlas.layout)
    dimensions = atlas.anchors_.shape[1]
    there = devices.host(known.rows)
    atlas._local = LocalMaps.of(there, known.codes, known.weight, known.c, dimensions)
    points = atlas._local.project(there[rows])
    atlas.temperature_ = (
        accurate_temperature(atlas, scores, points, codes)
        if isinstance(atlas.temperature, str)
        else float(atlas.temperature)
    )
    atlas.heldout_embedding_ = place(atlas, scores, points)
    atlas.heldout_score_ = float(weight @ (scores.argmax(axis=1) == codes) / weight.sum())
    return scores, points


def place(atlas: Atlas, scores: Array, points: Array) -> Array:
    """(n, c) class scores, (n, q) projected rows -> (n, 2) or (n, 3) places."""
    places = np.empty((len(scores), atlas.anchors_.shape[1]))
    size = atlas.detail * atlas.radii_
    for here in blocks(len(scores), scores.shape[1] * places.shape[1]):
        p = softmax(scores[here] / atlas.temperature_, axis=1)
        places[here] = p @ atlas.anchors_ + atlas._local.mixed(points[here], p, size)
    return places


def dissimilarities(scores: Array, codes: Codes, weight: Array, c: int) -> Array:
    """(n, c) scores -> (c, c) symmetric: by how much the score of the other class is smaller."""
    means = np.zeros((c, c))
    for number in range(c):
        own = codes == number
        if own.any():
            means[number] = weight[own] @ scores[own] / weight[own].sum()
    apart = np.diag(means)[:, None] - means
    apart = np.maximum(apart + apart.T, 0)
    np.fill_diagonal(apart, 0)
    return apart


def accurate_temperature(atlas: Atlas, scores: Array, points: Array, codes: Codes) -> float:
    """The first temperature whose map of held-out rows is the most accurate, within an error."""
    task, right = Task(None, codes, "classes"), []
    for temperature in TEMPERATURES:
        atlas.temperature_ = temperature
        places = place(atlas, scores, points)
        guesses = [task.guesses(places, codes, k=k) for k in NEIGHBOURS]
        right.append(np.mean([guess == codes for guess in guesses], axis=0))
    best = right[int(np.argmax([one.mean() for one in right]))]
    for temperature, one in zip(TEMPERATURES, right, strict=True):
        apart = best - one
        if apart.mean() <= apart.std() / np.sqrt(len(apart)):
            return temperature
    raise AssertionError  # the best is no worse than itself


class Grown:
    """All rows in order while they are few, else the kept rows, and a base model of the rest."""

    def __init__(self, rows: Any, labels: Any, weight: Array) -> None:
        n = np.arange(len(labels))
        self.kept = KeptRows(rows, labels, weight, n.astype(np.uint64), n)
        self.few = True
        self.rest: list[KeptRows | Any] = []  # rows that are not kept, or a base model of them

    def merge(self, other: Grown) -> Grown:
        both = Grown.__new__(Grown)
        both.few = self.few and other.few
        both.few &= len(self.kept.labels) + len(other.kept.labels) <= FEW_ROWS
        both.rest = [*self.rest, *other.rest]
        if both.few:
            both.kept = self.kept.merge(other.kept)
            return both
        merged = self._hashed().merge(other._hashed())
        both.kept, rest = merged.reduced()
        if len(rest.labels):
            both.rest.append(rest)
        return both

    def _hashed(self) -> KeptRows:
        one = self.kept
        return KeptRows.of(one.rows, one.labels, one.weight) if self.few else one

    def arrange(self, atlas: Atlas) -> None:
        """Fit the atlas to all rows."""
        if self.few and len(self.kept.labels) > FEW_ROWS:  # a first part of many rows
            self.kept, rest = self._hashed().reduced()
            self.few, self.rest = False, [rest] if len(rest.labels) else []
        kept, n = self.kept, len(self.kept.labels)
        if len(set(kept.labels.tolist())) < 2:
            return  # later batches may have other classes
        labels, codes, classes, which = read_classes("The atlas", kept.labels, n, None, kept.weight)
        weight = None if (kept.weight == 1).all() else kept.weight[which]
        known = LabelledRows(kept.rows[which], labels, codes, weight, len(classes))
        seed, d = check_seed(atlas.random_state), known.rows.shape[1]
        base = with_components(atlas.estimator, known.c, d, seed)
        if not self.rest:
            atlas.estimator_ = known.fitted(base)
        else:
            self.rest = [self._absorbed(base)]
            atlas.estimator_ = self._with(known, np.arange(len(codes)))
        atlas.classes_ = as_class_array(classes)
        if self.few:
            arrange(atlas, known, which, seed)
            return
        held_out = kept.held_out()
        train = np.setdiff1d(np.arange(len(codes)), held_out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit of all rows has given them already
            own = self._with(known, train) if self.rest else known.only(train).fitted(base)
        places = places_without(atlas.estimator_, own, known.rows, held_out)
        describe(atlas, known, held_out, places, seed)
        atlas.heldout_rows_ = held_out

    def _absorbed(self, base: Any) -> Any:
        """A base model of the rows that are not kept."""
        models = [one for one in self.rest if not isinstance(one, KeptRows)]
        model = deepcopy(models[0]) if models else base
        for one in self.rest:
            if isinstance(one, KeptRows):
                model.partial_fit(one.rows, one.labels, **_weights(one.weight))
        for one in models[1:]:
            model.merge(one)
        return model

    def _with(self, known: LabelledRows, which: Any) -> Any:
        """The base model of the rest and of some of the kept rows."""
        some = known.only(which)
        model: Any = deepcopy(self.rest[0])
        return model.partial_fit(some.rows, some.labels, **_weights(some.weight))


def _weights(weight: Array) -> dict[str, Array]:
    return {} if (weight == 1).all() else {"sample_weight": weight}


def blocks(n: int, width: int) -> list[slice]:
    size = max(1, BLOCK_NUMBERS // width)
    return [slice(start, start + size) for start in range(0, n, size)]
