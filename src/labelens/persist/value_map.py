"""A map of numbers: the file of its base model, and the arrays of the map."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from .._base.validation import check_is_fitted
from .._core.local_maps import LocalMaps
from .._judge.value_map import Prediction, ValueMap, restore_map, state_of_map
from ..label_kernels.base import plain
from .atlas import LOCAL
from .schema import Block, Puts, Table, put, take
from .spelling import read_label, spell
from .strict import NUMBER, Arrays, fields, within

LEVELS: Table = {"levels": Block("classes", attribute="levels_")}
PREDICTION: Table = {
    "linear": Block("coefficients"),
    "references": Block("rows k"),
    "values": Block("rows"),
    "weights": Block("parts"),
}
FACTS: dict[str, Any] = {
    "selected": bool,  # whether the base model was found by `select`
    "detail": NUMBER,
    "missing_label": list | None,  # type and text
    "random_state": int | None,
    "size": NUMBER,
    "heldout_score": NUMBER,
}


def base_of_map(value_map: ValueMap) -> Any:
    """The base model, with the names of columns that the map has seen."""
    check_is_fitted(value_map, "levels_")
    base = copy(value_map.estimator_)
    if hasattr(value_map, "feature_names_in_"):
        base.feature_names_in_ = value_map.feature_names_in_
    return base


def put_map_of_numbers(value_map: ValueMap, arrays: Puts) -> dict[str, Any]:
    prediction, local, size = state_of_map(value_map)
    for table, source in ((LEVELS, value_map), (PREDICTION, prediction), (LOCAL, local)):
        put(table, source, "value_map", arrays)
    marker, seed = value_map.missing_label, value_map.random_state
    if not isinstance(seed, int | np.integer | None):
        raise TypeError("A model file holds no RandomState instance; fit with an integer.")
    return {
        "selected": value_map.estimator is None,
        "detail": float(value_map.detail),
        "missing_label": None if marker is None else [*spell(plain(marker))],
        "random_state": None if seed is None else int(seed),
        "size": size,
        "heldout_score": float(value_map.heldout_score_),
    }


def take_map_of_numbers(facts: Any, arrays: Arrays, base: Any) -> ValueMap:
    """The map over a fitted base model; names of columns move from that to the map."""
    facts = fields(facts, "its value_map", **FACTS)
    for name in ("detail", "size"):
        within(facts[name], 0, np.inf, f"its {name}")
    if facts["random_state"] is not None:
        within(facts["random_state"], 0, 2**32, "its random_state")
    arrays.sizes |= {"dimensions of value_map": 1, "parts of value_map": 3}
    levels, prediction, local = (
        take(table, "value_map", arrays) for table in (LEVELS, PREDICTION, LOCAL)
    )
    if len(prediction["linear"]) != prediction["references"].shape[1] + 1:
        raise ValueError("its prediction is not one of its base model")
    if (np.diff(levels["levels_"]) < 0).any():
        raise ValueError("its levels are not in order")
    marker = facts["missing_label"]
    value_map = ValueMap(
        None if facts["selected"] else clone(base),
        detail=facts["detail"],
        missing_label=None if marker is None else read_label(marker, "its missing_label"),
        random_state=facts["random_state"],
    )
    value_map.estimator_, value_map.n_features_in_ = base, base.n_features_in_
    if hasattr(base, "feature_names_in_"):
        value_map.feature_names_in_ = base.feature_names_in_
        del base.feature_names_in_
    value_map.levels_ = levels["levels_"]
    value_map.heldout_score_ = float(facts["heldout_score"])
    restore_map(value_map, Prediction(**prediction), LocalMaps(**local), float(facts["size"]))
    return value_map
