"""Classes and label maps, into a file and out of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from ..labels.fourier import FourierLabels
from ..labels.hashed import HashedLabels
from ..labels.linear import LinearLabels
from ..labels.onehot import OneHotLabels
from ..labels.vocabulary import is_missing, label_kind
from .maps import Puts
from .spelling import put_texts, spell, take_texts, unspell
from .strict import FLAG, FLOAT, INTEGER, NOTHING, NUMBER, WHOLE, Arrays, fields, within

KERNELS = ("delta", "linear", "rbf")


@dataclass(frozen=True)
class KnownLabels:
    """What a model without moments knows of its labels; it takes no more of them."""

    kernel: str
    kinds: tuple[str, ...]  # empty where labels are no classes


def put_classes(classes: tuple[Any, ...] | None, columns: int, arrays: Puts) -> list[str] | None:
    """The type of label in every column; the labels go into the arrays, as they were first seen."""
    if classes is None:
        return None
    pairs = classes if columns > 1 else [(0, label) for label in classes]
    types: list[str] = [""] * columns
    spelled = []
    for column, label in pairs:
        try:
            kind, text = spell(label)
        except TypeError as error:
            raise TypeError(f"Class {error}; fit on y.astype(str).") from None
        if types[column] not in ("", kind):
            raise TypeError(
                f"Classes are of types {types[column]} and {kind}, and a model file holds one "
                "type for each column; convert y to one of them."
            )
        types[column] = kind
        spelled.append(text)
    put_texts("classes", spelled, arrays)
    if columns > 1:
        arrays["classes.columns"] = np.array([column for column, _ in pairs], dtype=np.int64)
    return types


def take_classes(types: tuple[str, ...], kinds: tuple[str, ...], arrays: Arrays) -> tuple[Any, ...]:
    """The classes in their order; `kinds` are those that the label map has noted."""
    texts = take_texts("classes", arrays, "c")
    columns = [0] * len(texts)
    if len(types) > 1:
        columns = arrays.take("classes.columns", WHOLE, "c").tolist()
    if set(columns) != set(range(len(types))) or len(kinds) != len(types):
        raise ValueError("its classes do not belong to its columns of labels")
    labels = [unspell(types[j], text) for j, text in zip(columns, texts, strict=True)]
    for j, label in zip(columns, labels, strict=True):
        if label_kind(label) != kinds[j]:
            raise ValueError(f"class {label!r} is not of kind {kinds[j]!r}")
        if is_missing(label) or (type(label) is float and not isfinite(label)):
            raise ValueError(f"{label!r} is no class")
    classes = tuple(zip(columns, labels, strict=True)) if len(types) > 1 else tuple(labels)
    if len(set(classes)) < len(classes):
        raise ValueError("a class is listed twice")
    return classes


def put_label_map(psi: Any, arrays: Puts) -> dict[str, Any]:
    match psi:
        case OneHotLabels() | HashedLabels():
            return {"seed": psi.seed, "whole": bool(psi.whole)}
        case LinearLabels():
            return {"seed": psi.seed, "width": psi.width}
        case FourierLabels():
            arrays["labels.frequencies"] = psi.frequencies
            arrays["labels.amplitudes"] = psi.amplitudes
            if psi.phases is not None:
                arrays["labels.phases"] = psi.phases
            reach = None if psi.reach == np.inf else float(psi.reach)
            return {
                "seed": psi.seed,
                "gamma": float(psi.gamma),
                "middle": float(psi.middle),
                "reach": reach,
            }
    raise TypeError(f"A model file cannot hold a {type(psi).__name__} label map.")


def take_label_map(facts: Any, arrays: Arrays, estimator: Any, known: KnownLabels) -> Any:
    """The label map; leaves its number of features in sizes["q"] unless it is one-hot."""
    mix, what = None if estimator._spectral else estimator.label_map, "its label_map"
    kinds: dict[str, tuple[type, ...]] = {"seed": INTEGER}
    if known.kernel == "delta":
        kinds |= {"whole": FLAG}
    elif known.kernel == "linear":
        kinds |= {"width": INTEGER}
    else:
        kinds |= {"gamma": NUMBER, "middle": NUMBER, "reach": NUMBER + NOTHING}
    facts = fields(facts, what, **kinds)
    seed = within(facts["seed"], 0, 2**31, "the seed of its label_map")
    if known.kernel == "delta":
        if mix != "gaussian":
            return OneHotLabels(known.kinds, facts["whole"], mix, seed, estimator.label_gamma)
        k = arrays.sizes["q"] = arrays.sizes["k"]
        return HashedLabels(known.kinds, facts["whole"], k, seed)
    if known.kernel == "linear":
        width = arrays.sizes["q"] = within(facts["width"], 1, 2**48, "the width of its label_map")
        return LinearLabels(width, mix, seed)
    # Only labels in one column have a grid of frequencies, and so a reach.
    columns = "m" if facts["reach"] is None else 1
    frequencies = arrays.take("labels.frequencies", FLOAT, columns, "f")
    amplitudes = arrays.take("labels.amplitudes", FLOAT, "f")
    phases = arrays.take("labels.phases", FLOAT, "f") if mix == "fourier" else None
    arrays.sizes["q"] = len(amplitudes) * (2 if phases is None else 1)
    gamma, middle = float(facts["gamma"]), float(facts["middle"])
    reach = np.inf if facts["reach"] is None else float(facts["reach"])
    return FourierLabels(gamma, frequencies, amplitudes, phases, middle, reach, mix, seed)
