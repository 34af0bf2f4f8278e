"""An Atlas or a ValueMap: the file of its base model, and the arrays of its map."""

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
from .._judge.value_map import Prediction, ValueMap, restore_map, state_of_map
from .schema import Block, Fact, Puts, Table, put, take
from .spelling import LABEL_OR_NONE
from .strict import NUMBER, WHOLE, Arrays, within

MAPS: dict[str, type[Atlas | ValueMap]] = {"atlas": Atlas, "value_map": ValueMap}
ABOVE_ZERO = float(np.nextafter(0, 1))


def _stored_seed(seed: Any) -> int | None:
    if not isinstance(seed, int | np.integer | None):
        raise TypeError("A model file cannot hold a RandomState instance; fit with an integer.")
    return None if seed is None else int(seed)


# Parameters of the constructor, and attributes, which end with "_".
COMMON: Table = {
    # Whether the base model was found by `select`.
    "selected": Fact(bool, lambda estimator: estimator is None, attribute="estimator"),
    "detail": Fact(NUMBER, float, limits=(0, np.inf)),
    "missing_label": LABEL_OR_NONE,
    "random_state": Fact(int | None, _stored_seed, limits=(0, 2**32)),
    "heldout_score": Fact(NUMBER, float, float, attribute="heldout_score_"),
}
ATLAS: Table = COMMON | {
    "layout": Fact(str),
    "detail": Fact(NUMBER, float, limits=(0, float(np.nextafter(1, 2)))),
    "temperature": Fact(
        NUMBER | None,
        lambda value: None if isinstance(value, str) else float(value),
        lambda fact: "auto" if fact is None else fact,
        limits=(ABOVE_ZERO, np.inf),
    ),
    "temperature_used": Fact(
        NUMBER, float, float, limits=(ABOVE_ZERO, np.inf), attribute="temperature_"
    ),
    "anchors": Block("classes dimensions", attribute="anchors_"),
    "radii": Block("classes", attribute="radii_"),
}
VALUE_MAP: Table = COMMON | {"levels": Block("classes", attribute="levels_")}
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
PREDICTION: Table = {
    "linear": Block("coefficients"),
    "references": Block("rows k"),
    "values": Block("rows"),
    "weights": Block("parts"),
    "errors": Block("rows"),
}


def name_of_map(estimator: Any) -> str | None:
    """The field of the header in which the map is; None for other estimators."""
    return next((name for name, kind in MAPS.items() if isinstance(estimator, kind)), None)


def base_of(own: Any) -> Any:
    """The base model of a fitted map, with the names of the map's columns."""
    check_is_fitted(own, "estimator_")
    base = copy(own.estimator_)
    if isinstance(own, Atlas) and not np.array_equal(getattr(base, "classes_", ()), own.classes_):
        raise TypeError(
            "labelens.save takes an atlas of one of the four methods, fitted on the classes of the "
            f"atlas; its base model is {type(base).__name__}."
        )
    if hasattr(own, "feature_names_in_"):
        base.feature_names_in_ = own.feature_names_in_
    return base


def put_atlas(own: Atlas | ValueMap, arrays: Puts) -> dict[str, Any]:
    more: dict[str, Any]
    if isinstance(own, ValueMap):
        prediction, local, size = state_of_map(own)
        parts: list[tuple[Table, Any]] = [(PREDICTION, prediction), (LOCAL, local)]
        name, table, more = "value_map", VALUE_MAP, {"size": float(size)}
    else:
        scores, local, conformal = state_of(own)
        parts = [(MEANS, scores.means), (LOCAL, local), (HELD_OUT, conformal)]
        if scores.votes is not None:
            parts.append((VOTES, scores.votes))
        weights = [float(weight) for weight in scores.weights]
        name, table, more = "atlas", ATLAS, {"score_weights": weights}
    for fields, source in parts:
        put(fields, source, name, arrays)
    return put(table, own, name, arrays) | more


def take_atlas(name: str, facts: Any, arrays: Arrays, base: Any) -> Atlas | ValueMap:
    """The map over a fitted base model."""
    return (_take_atlas if name == "atlas" else _take_value_map)(facts, arrays, base)


def _take_atlas(facts: Any, arrays: Arrays, base: Any) -> Atlas:
    classes = getattr(base, "classes_", None)
    if classes is None or np.ndim(classes) != 1:
        raise ValueError("it is an atlas without classes")
    arrays.sizes["classes of atlas"] = len(classes)
    values = take(ATLAS | {"score_weights": Fact(list)}, "atlas", arrays, facts, "its atlas")
    layout, weights = values["layout"], values.pop("score_weights")
    if layout not in LAYOUTS:
        raise ValueError(f"its layout is {layout[:60]!r}, not one of {', '.join(LAYOUTS)}")
    if values["anchors_"].shape[1] != (3 if layout == "sphere" else 2):
        raise ValueError(f"its anchors have {values['anchors_'].shape[1]} dimensions")
    if len(weights) != 2 or any(type(weight) not in (int, float) for weight in weights):
        raise ValueError("its score_weights are not two numbers")
    means, local, held_out = (take(table, "atlas", arrays) for table in (MEANS, LOCAL, HELD_OUT))
    votes = None
    if within(weights[1], 0, np.inf, "a score weight") > 0:
        votes = NeighbourVotes(**take(VOTES, "atlas", arrays))
        if not len(votes.codes) or votes.codes.min() < 0 or votes.codes.max() >= len(classes):
            raise ValueError("its votes are for classes that it does not have")
    atlas = _made(Atlas, values, base)
    atlas.classes_ = classes
    scores = ClassScores(ClassMeans(**means), votes, (float(weights[0]), float(weights[1])))
    restore_state(atlas, scores, LocalMaps(**local), Conformal(**held_out))
    return atlas


def _take_value_map(facts: Any, arrays: Arrays, base: Any) -> ValueMap:
    arrays.sizes |= {"dimensions of value_map": 1, "parts of value_map": 3}
    table = VALUE_MAP | {"size": Fact(NUMBER, read=float, limits=(0, np.inf))}
    values = take(table, "value_map", arrays, facts, "its value_map")
    prediction, local = (take(part, "value_map", arrays) for part in (PREDICTION, LOCAL))
    if len(prediction["linear"]) != prediction["references"].shape[1] + 1:
        raise ValueError("its prediction is not one of its base model")
    for ordered, what in (values["levels_"], "levels"), (prediction["errors"], "errors"):
        if (np.diff(ordered) < 0).any():
            raise ValueError(f"its {what} are not in order")
    size = values.pop("size")
    value_map = _made(ValueMap, values, base)
    restore_map(value_map, Prediction(**prediction), LocalMaps(**local), size)
    return value_map


def _made(kind: type[Any], values: dict[str, Any], base: Any) -> Any:
    """A fitted map; names of columns move from its base model to it."""
    given = {name: value for name, value in values.items() if not name.endswith("_")}
    made = kind(None if given.pop("estimator") else clone(base), **given)
    vars(made).update({name: values[name] for name in values if name.endswith("_")})
    made.estimator_, made.n_features_in_ = base, base.n_features_in_
    if hasattr(base, "feature_names_in_"):
        made.feature_names_in_ = base.feature_names_in_
        del base.feature_names_in_
    return made
