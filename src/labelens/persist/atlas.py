"""An atlas: the file of its base model, and the arrays of its map."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from .._base.validation import check_is_fitted
from .._core.class_scores import ClassMeans, ClassScores, NeighbourVotes
from .._core.local_maps import LocalMaps
from .._judge.atlas import LAYOUTS, Atlas, restore_state, state_of
from .._judge.conformal import Conformal
from ..label_kernels.base import plain
from .schema import Block, Puts, Table, put, take
from .spelling import read_label, spell
from .strict import NUMBER, WHOLE, Arrays, fields, within

MAP: Table = {
    "anchors": Block("classes dimensions", attribute="anchors_"),
    "radii": Block("classes", attribute="radii_"),
}
MEANS: Table = {
    "centre": Block("k"),
    "weights": Block("k classes"),
    "offsets": Block("classes"),
}
VOTES: Table = {
    "references": Block("rows k"),
    "codes": Block("rows", WHOLE),
    "weight": Block("rows"),
    "shares": Block("classes"),
}
LOCAL: Table = {
    "shift": Block("d"),
    "factor": Block("d"),
    "directions": Block("d directions"),
    "class_means": Block("classes directions", attribute="means"),
    "axes": Block("classes directions dimensions"),
}
HELD_OUT: Table = {
    "heldout_probabilities": Block("heldout", attribute="own"),
    "heldout_codes": Block("heldout", WHOLE, attribute="codes"),
    "evidence": Block("heldout"),
}
FACTS: dict[str, Any] = {
    "selected": bool,  # whether the base model was found by `select`
    "layout": str,
    "detail": NUMBER,
    "temperature": NUMBER | None,  # the parameter; null for "auto"
    "temperature_used": NUMBER,
    "missing_label": list | None,  # type and text
    "random_state": int | None,
    "score_weights": list,  # of class means and of votes
    "heldout_score": NUMBER,
}


def base_of(atlas: Atlas) -> Any:
    """The base model, with the names of columns that the atlas has seen."""
    check_is_fitted(atlas, "anchors_")
    base = copy(atlas.estimator_)
    if not np.array_equal(getattr(base, "classes_", ()), atlas.classes_):
        raise TypeError(
            "labelens.save takes an atlas of one of the four methods, fitted on the classes of the "
            f"atlas; its base model is {type(base).__name__}."
        )
    if hasattr(atlas, "feature_names_in_"):
        base.feature_names_in_ = atlas.feature_names_in_
    return base


def put_atlas(atlas: Atlas, arrays: Puts) -> dict[str, Any]:
    scores, local, conformal = state_of(atlas)
    parts = ((MAP, atlas), (MEANS, scores.means), (LOCAL, local), (HELD_OUT, conformal))
    for table, source in parts:
        put(table, source, "atlas", arrays)
    if scores.votes is not None:
        put(VOTES, scores.votes, "atlas", arrays)
    marker, seed = atlas.missing_label, atlas.random_state
    if not isinstance(seed, int | np.integer | None):
        raise TypeError("A model file holds no RandomState instance; fit with an integer.")
    return {
        "selected": atlas.estimator is None,
        "layout": atlas.layout,
        "detail": float(atlas.detail),
        "temperature": None if isinstance(atlas.temperature, str) else float(atlas.temperature),
        "temperature_used": float(atlas.temperature_),
        "missing_label": None if marker is None else [*spell(plain(marker))],
        "random_state": None if seed is None else int(seed),
        "score_weights": [float(weight) for weight in scores.weights],
        "heldout_score": float(atlas.heldout_score_),
    }


def take_atlas(facts: Any, arrays: Arrays, base: Any) -> Atlas:
    """The atlas over a fitted base model; names of columns move from that to the atlas."""
    facts = fields(facts, "its atlas", **FACTS)
    if facts["layout"] not in LAYOUTS:
        raise ValueError(f"its layout is {facts['layout'][:60]!r}, not one of {', '.join(LAYOUTS)}")
    within(facts["detail"], 0, np.nextafter(1, 2), "its detail")
    for name in ("temperature", "temperature_used"):
        if facts[name] is not None:
            within(facts[name], np.nextafter(0, 1), np.inf, f"its {name}")
    if facts["random_state"] is not None:
        within(facts["random_state"], 0, 2**32, "its random_state")
    weights = facts["score_weights"]
    if len(weights) != 2 or any(type(weight) not in (int, float) for weight in weights):
        raise ValueError("its score_weights are not two numbers")
    marker = facts["missing_label"]
    classes = getattr(base, "classes_", None)
    if classes is None or np.ndim(classes) != 1:
        raise ValueError("it is an atlas without classes")
    arrays.sizes |= {
        "classes of atlas": len(classes),
        "dimensions of atlas": 3 if facts["layout"] == "sphere" else 2,
    }
    found, means, local, held_out = (
        take(table, "atlas", arrays) for table in (MAP, MEANS, LOCAL, HELD_OUT)
    )
    votes = None
    if within(weights[1], 0, np.inf, "a score weight") > 0:
        values = take(VOTES, "atlas", arrays)
        if not len(values["codes"]) or not 0 <= values["codes"].min() <= values[
            "codes"
        ].max() < len(classes):
            raise ValueError("its votes are for classes that it does not have")
        votes = NeighbourVotes(**values)
    atlas = Atlas(
        None if facts["selected"] else clone(base),
        layout=facts["layout"],
        detail=facts["detail"],
        temperature="auto" if facts["temperature"] is None else facts["temperature"],
        missing_label=None if marker is None else read_label(marker, "its missing_label"),
        random_state=facts["random_state"],
    )
    atlas.estimator_, atlas.classes_, atlas.n_features_in_ = base, classes, base.n_features_in_
    if hasattr(base, "feature_names_in_"):
        atlas.feature_names_in_ = base.feature_names_in_
        del base.feature_names_in_
    atlas.temperature_ = float(facts["temperature_used"])
    atlas.heldout_score_ = float(facts["heldout_score"])
    atlas.anchors_, atlas.radii_ = found["anchors_"], found["radii_"]
    scores = ClassScores(ClassMeans(**means), votes, (float(weights[0]), float(weights[1])))
    restore_state(atlas, scores, LocalMaps(**local), Conformal(**held_out))
    return atlas
