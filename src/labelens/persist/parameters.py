"""Constructor parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from .._base.validation import check_number
from .._core.maps import APPROXIMATIONS
from .._fit import settings
from ..label_kernels import NAMED
from ..label_kernels.base import LabelKernel, plain
from .kernels import put_kernel, take_kernel
from .labels import KERNELS
from .schema import Fact, Puts, Table, take
from .spelling import LABEL_OR_NONE, read_label, spell
from .strict import Arrays

ANYTHING = int | float | str | bool | dict | list | None
# Parameters that old files do not have, and their values there.
ADDED: dict[str, Any] = {
    "class_weight": None,
    "precision": None,
    "label_shrinkage": 1.0,
    "n_nonzero": None,
    "component_scale": "total",
}
# Advice for a parameter that a file cannot contain.
INSTEAD = {
    "kernel": "use one of the named kernels",
    "approximation": f"use one of {', '.join(map(repr, APPROXIMATIONS))}",
    "label_kernel": "transform y before fitting and use label_kernel='linear'",
    "random_state": "fit with an integer",
    "class_weight": "name classes that are numbers, strings, bytes, bools or dates",
    "missing_label": "mark such rows with NaN and use missing_label=float('nan')",
}


def _stored(value: Any) -> Any:
    """Values of JSON's types as they are; TypeError for others."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {key: _stored(item) for key, item in value.items()}
    plain_type = value is None or type(value) in (bool, int, str)
    if plain_type or (type(value) is float and isfinite(value)):
        return value
    raise TypeError


def _stored_weights(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return _stored(value)
    return [[*spell(plain(label)), _stored(weight)] for label, weight in value.items()]


def _weights(stored: Any) -> Any:
    if type(stored) is not list:
        return stored
    found = {}
    for entry in stored:
        if type(entry) is not list or len(entry) != 3 or type(entry[2]) not in (int, float):
            raise ValueError("its class_weight is not types, texts and weights")
        found[read_label(entry[:2], "a class of its class_weight")] = entry[2]
    if len(found) < len(stored):
        raise ValueError("its class_weight has a class twice")
    return found


def _stored_scale(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else list(map(_stored, value))


def _scale(stored: Any) -> Any:
    return tuple(stored) if type(stored) is list else stored


# Others are numbers and text as they are; a label kernel has arrays too.
SPECIAL = {
    "missing_label": replace(LABEL_OR_NONE, types=ANYTHING),
    "class_weight": Fact(ANYTHING, _stored_weights, _weights),
    "scale": Fact(ANYTHING, _stored_scale, _scale),
}
PLAIN = Fact(ANYTHING, _stored)


def put_parameters(estimator: Any, arrays: Puts) -> dict[str, Any]:
    stored: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=False).items():
        try:
            if name == "label_kernel":
                stored[name] = put_kernel(value, name, arrays)
            else:
                stored[name] = SPECIAL.get(name, PLAIN).write(value)
        except TypeError:
            raise TypeError(
                f"{name}={value!r} cannot be saved: it is of type {type(value).__name__}, and a "
                "model file contains numbers and text, no code. To save such a model, "
                f"{INSTEAD.get(name, 'give it a number or a name')}."
            ) from None
    return stored


def take_parameters(stored: dict[str, Any], method: Any, arrays: Arrays) -> dict[str, Any]:
    """Exactly the parameters of the constructor."""
    table: Table = {name: SPECIAL.get(name, PLAIN) for name in sorted(settings.names(method))}
    added = {name: value for name, value in ADDED.items() if name in table}
    found = take(table, "", arrays, added | stored, "its parameters")
    kernel = take_kernel(found["label_kernel"], "label_kernel", arrays)
    return found | {"label_kernel": kernel}


def check_parameters(estimator: Any, labelled: bool) -> None:
    """The checks of fitting, and those that fitting leaves to the maps."""
    try:
        settings.check(estimator)
        settings.check_against_labels(estimator, labelled)
        kernel = estimator.label_kernel
        if not isinstance(kernel, LabelKernel) and kernel not in ("auto", *KERNELS, *NAMED):
            raise ValueError(f"label_kernel={kernel!r} is not a name it may have")
        if estimator.random_state is not None:
            check_number(estimator.random_state, "random_state", 0, 2**32, integer=True)
    except TypeError as error:
        raise ValueError(str(error)) from None
