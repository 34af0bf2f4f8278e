"""Wheels and atlases of the explorer.

Detail and temperature of an atlas only place rows, so their sliders need no fit.
"""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._base.threads import go_on
from .._base.validation import check_seed
from .._core.class_scores import ClassScores
from .._core.labels.vocabulary import as_class_array
from .._judge import wheel as wheels
from .._judge.arrange import accurate_temperature, blocks, describe, place
from .._judge.atlas import Atlas, state_of
from .._judge.classes import LabelledRows, held_out_places, places_without, with_components
from .._judge.wheel import Wheel
from ..report.colouring import Colouring, stratified
from .explored import SPLIT_SEED
from .view import ControlState

MOST = {"wheel": 5000, "atlas": 200}  # classes
# Training rows that arrange an atlas, placed by models fitted without them; and training rows that
# align these models and describe the classes.
ARRANGED, POOL = 3000, 6000
NUMBERS = 1 << 27  # largest number of class scores in memory

Placed = tuple[Any, NDArray[Any], NDArray[Any] | None]  # model, places, honest places


def no_map(label: Colouring, kind: str, rows: int = 0) -> str:
    """The reason why a label has no such map; empty if it has one."""
    if label.continuous:
        return f"Maps of classes need classes, and {label.name!r} has continuous numbers."
    most = MOST[kind] if kind == "wheel" else min(MOST[kind], NUMBERS // max(1, rows))
    if len(label.names) > most:
        many = f"{label.name!r} has {len(label.names):,}"
        return f"{kind.capitalize()} maps show at most {most:,} classes; {many}."
    return ""


def base(estimator: Any, n_classes: int, n_features: int) -> int:
    """The number of components of the base model of a map."""
    return int(with_components(estimator, n_classes, n_features, None).n_components)


def make_wheel(
    estimator: Any, model: Any, embedded: Any, looked: NDArray[Any], numbered: Any
) -> Placed:
    """A wheel of embedded rows, training rows first."""
    codes, classes = numbered
    one = Wheel(estimator)
    one.n_features_in_ = model.n_features_in_
    wheels.arrange(one, model, embedded[: len(codes)], codes, classes)
    return one, wheels.place(one, embedded[looked]).astype(embedded.dtype), None


@dataclass(frozen=True, eq=False)
class ArrangedAtlas:
    """An atlas, and the scores and points that place rows at any detail and temperature."""

    atlas: Atlas
    scores: NDArray[Any]  # (m, c)
    points: NDArray[Any]  # (m, 2)
    own: NDArray[np.intp]  # which of the rows looked at arranged the atlas
    trained: int  # how many of the rows looked at are training rows
    crossed: tuple[NDArray[Any], NDArray[Any]]  # cross-fitted scores and points of `own`
    codes: NDArray[np.intp]  # of `own`

    @classmethod
    def of(
        cls, model: Any, X: NDArray[Any], embedded: Any, looked: NDArray[Any], numbered: Any
    ) -> ArrangedAtlas:
        """The atlas of a fitted base model, of all rows and of their embedding (n, k)."""
        codes, classes = numbered
        bare = copy(model)
        vars(bare).pop("feature_names_in_", None)  # rows are arrays here
        names, seed = as_class_array(classes), check_seed(SPLIT_SEED)
        rows = stratified(codes, ARRANGED, SPLIT_SEED)
        pool = np.union1d(rows, stratified(codes, POOL, SPLIT_SEED + 1))

        def labelled(some: NDArray[Any]) -> LabelledRows:
            return LabelledRows(X[some], names[codes[some]], codes[some], None, len(classes))

        atlas = Atlas(bare, random_state=SPLIT_SEED)
        atlas.estimator_, atlas.n_features_in_, atlas.classes_ = bare, X.shape[1], names
        known = labelled(pool)
        if len(rows) == len(codes):
            which, places = held_out_places(bare, known, seed)
        else:
            which = np.searchsorted(pool, rows)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the page shows warnings of the fit of all rows
                own = labelled(np.setdiff1d(np.arange(len(codes)), rows)).fitted(clone(bare))
            places = places_without(bare, own, known.rows, which)
        go_on()
        crossed = describe(atlas, known, which, places, seed)
        atlas.heldout_rows_ = rows
        class_scores, local, _ = state_of(atlas)
        scores = _scored(class_scores, embedded[looked], len(classes))
        points = local.project(X[looked])
        here = np.isin(rows, looked)
        part, trained = (crossed[0][here], crossed[1][here]), np.searchsorted(looked, len(codes))
        seen = np.searchsorted(looked, rows[here])
        return cls(atlas, scores, points, seen, int(trained), part, codes[rows[here]])

    def placed(self, view: ControlState) -> Placed:
        """The atlas, all places and the cross-fitted ones, nan for rows that did not arrange it."""
        atlas = copy(self.atlas)
        atlas.detail, atlas.temperature = view.detail, view.temperature or "auto"
        atlas.temperature_ = view.temperature or accurate_temperature(
            atlas, *self.crossed, self.codes
        )
        Z = place(atlas, self.scores, self.points)
        honest = Z.copy()
        honest[: self.trained] = np.nan
        honest[self.own] = atlas.heldout_embedding_ = place(atlas, *self.crossed)
        return atlas, Z, honest


def _scored(scores: ClassScores, embedded: Any, c: int) -> NDArray[np.float64]:
    found = np.empty((len(embedded), c))
    for here in blocks(len(found), c):
        go_on()
        found[here] = scores(np.asarray(embedded[here], dtype=np.float64))
    return found
