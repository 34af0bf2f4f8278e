"""Constructor parameters as JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
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
from .maps import Puts
from .spelling import spell, unspell
from .strict import FLAG, LIST, NOTHING, NUMBER, OBJECT, TEXT, Arrays, fields, texts

ANYTHING = NUMBER + TEXT + FLAG + OBJECT + LIST + NOTHING
# Parameters that files did not have at first, and what those files mean by that.
ADDED: dict[str, Any] = {"class_weight": None, "precision": None, "label_shrinkage": 1.0}
# What to do about a parameter that a file cannot hold.
INSTEAD = {
    "kernel": "use a kernel that labelens knows by name",
    "approximation": f"use one of {', '.join(map(repr, APPROXIMATIONS))}",
    "label_kernel": "transform y before fitting and use label_kernel='linear'",
    "random_state": "fit with an integer",
    "class_weight": "name classes that are numbers, strings, bytes, bools or dates",
    "missing_label": "mark such rows with NaN and use missing_label=float('nan')",
}


def put_parameters(estimator: Any, arrays: Puts) -> dict[str, Any]:
    stored: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=False).items():
        try:
            match name:
                case "missing_label":
                    stored[name] = _stored_label(value)
                case "class_weight" if isinstance(value, Mapping):
                    stored[name] = [[*spell(plain(k)), _stored(v)] for k, v in value.items()]
                case "label_kernel":
                    stored[name] = put_kernel(value, name, arrays)
                case _:
                    stored[name] = _stored(value)
        except TypeError:
            what = type(value).__name__
            raise TypeError(
                f"{name}={value!r} cannot be saved: it is of type {what}, and a model file holds "
                f"numbers and text, no code. To save such a model, "
                f"{INSTEAD.get(name, 'give it a number or a name')}."
            ) from None
    return stored


def _stored_label(value: Any) -> list[str] | None:
    return None if value is None else list(spell(plain(value)))


def _stored(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {key: _stored(item) for key, item in value.items()}
    if (
        value is None
        or type(value) in (bool, int, str)
        or (type(value) is float and isfinite(value))
    ):
        return value
    raise TypeError


def take_parameters(stored: dict[str, Any], method: type[Any], arrays: Arrays) -> dict[str, Any]:
    """All that the method's constructor takes, and nothing else."""
    names = method._get_param_names()
    stored = ADDED | stored
    parameters = dict(fields(stored, "its parameters", **dict.fromkeys(names, ANYTHING)))
    marker = parameters["missing_label"]
    if marker is not None:
        if type(marker) is not list or len(marker) != 2:
            raise ValueError("its missing_label is not a type and a text")
        parameters["missing_label"] = unspell(*texts(marker, "the two of its missing_label"))
    parameters["label_kernel"] = take_kernel(parameters["label_kernel"], "label_kernel", arrays)
    if type(parameters["class_weight"]) is list:
        parameters["class_weight"] = _taken_weights(parameters["class_weight"])
    return parameters


def _taken_weights(stored: list[Any]) -> dict[Any, float]:
    found = {}
    for entry in stored:
        if type(entry) is not list or len(entry) != 3 or type(entry[2]) not in NUMBER:
            raise ValueError("its class_weight is not types, texts and weights")
        found[unspell(*texts(entry[:2], "the classes of its class_weight"))] = entry[2]
    if len(found) < len(stored):
        raise ValueError("its class_weight has a class twice")
    return found


def check_parameters(estimator: Any, labelled: bool) -> None:
    """As fitting does, and what fitting leaves to the maps."""
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
