"""Classes and label maps, into a file and out of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

import numpy as np

from .._core.labels.classes import HashedLabels, OneHotLabels
from .._core.labels.columns import Column, ColumnLabels
from .._core.labels.numeric import CyclicLabels, FourierLabels, LinearLabels
from .._core.labels.similarity import SimilarityLabels
from .._core.labels.vocabulary import label_kind
from ..label_kernels import NAMED, Cyclic, Ordinal, Sum
from ..label_kernels.base import ClassKernel, LabelKernel, is_missing
from ..label_kernels.columns import ColumnwiseKernel
from .kernels import put_kernel, take_kernel
from .maps import Puts
from .spelling import put_texts, spell, take_texts, unspell
from .strict import (
    FLAG,
    FLOAT,
    INTEGER,
    LIST,
    NOTHING,
    NUMBER,
    OBJECT,
    TEXT,
    WHOLE,
    Arrays,
    fields,
    texts,
    within,
)

KERNELS = ("delta", "linear", "rbf")


@dataclass(frozen=True)
class StoredLabelMap:
    """What a model without moments knows of its labels; it takes no more of them."""

    kernel: Any
    kinds: tuple[str, ...]  # empty where labels are no classes


def put_classes(
    classes: tuple[Any, ...] | None, columns: int, arrays: Puts, name: str = "classes"
) -> list[str] | None:
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
    put_texts(name, spelled, arrays)
    if columns > 1:
        arrays[f"{name}.columns"] = np.array([column for column, _ in pairs], dtype=np.int64)
    return types


def take_classes(
    types: tuple[str, ...],
    kinds: tuple[str, ...],
    arrays: Arrays,
    name: str = "classes",
    size: str = "c",
) -> tuple[Any, ...]:
    """The classes in their order; `kinds` are those that the label map has noted."""
    spelled = take_texts(name, arrays, size)
    columns = [0] * len(spelled)
    if len(types) > 1:
        columns = arrays.take(f"{name}.columns", WHOLE, size).tolist()
    if set(columns) != set(range(len(types))) or len(kinds) != len(types):
        raise ValueError("its classes do not belong to its columns of labels")
    labels = [unspell(types[j], text) for j, text in zip(columns, spelled, strict=True)]
    for j, label in zip(columns, labels, strict=True):
        if label_kind(label) != kinds[j]:
            raise ValueError(f"class {label!r} is not of kind {kinds[j]!r}")
        if is_missing(label) or (type(label) is float and not isfinite(label)):
            raise ValueError(f"{label!r} is no class")
    classes = tuple(zip(columns, labels, strict=True)) if len(types) > 1 else tuple(labels)
    if len(set(classes)) < len(classes):
        raise ValueError("a class is listed twice")
    return classes


def put_label_map(psi: Any, arrays: Puts, name: str = "labels") -> dict[str, Any]:
    match psi:
        case OneHotLabels() | HashedLabels():
            return {"seed": psi.seed, "whole": bool(psi.automatic)}
        case LinearLabels() | SimilarityLabels():
            return {"seed": psi.seed, "width": psi.width}
        case CyclicLabels():
            return {"seed": psi.seed}
        case FourierLabels():
            arrays[f"{name}.frequencies"] = psi.frequencies
            arrays[f"{name}.amplitudes"] = psi.amplitudes
            if psi.phases is not None:
                arrays[f"{name}.phases"] = psi.phases
            reach = None if psi.reach == np.inf else float(psi.reach)
            return {
                "seed": psi.seed,
                "gamma": float(psi.gamma),
                "middle": float(psi.middle),
                "reach": reach,
            }
        case ColumnLabels():
            columns = enumerate(psi.columns)
            return {
                "seed": psi.seed,
                "columns": [_put_column(column, arrays, f"{name}.{i}") for i, column in columns],
            }
    raise TypeError(f"A model file cannot hold a {type(psi).__name__} label map.")


def _put_column(column: Column, arrays: Puts, name: str) -> dict[str, Any]:
    if column.factor is not None:
        arrays[f"{name}.factor"] = column.factor
    return {
        "labels": put_labels(column.psi, arrays, f"{name}.kernel"),
        "map": put_label_map(column.psi, arrays, name),
        "classes": put_classes(column.classes, 1, arrays, f"{name}.classes"),
    }


def put_labels(psi: Any, arrays: Puts, name: str) -> dict[str, Any]:
    """What is known of the labels without their map."""
    kernel = put_kernel(psi.kernel, name, arrays)
    return {"kernel": kernel, "kinds": list(getattr(psi, "kinds", ()))}


def take_labels(facts: Any, arrays: Arrays, name: str) -> StoredLabelMap:
    fields(facts, "its labels", kernel=TEXT + OBJECT, kinds=LIST)
    kernel = take_kernel(facts["kernel"], name, arrays)
    classes = kernel == "delta" or isinstance(kernel, ClassKernel)
    known = isinstance(kernel, LabelKernel) or kernel in KERNELS
    if not known or classes != bool(facts["kinds"]):
        raise ValueError("its labels are of no kind")
    return StoredLabelMap(kernel, texts(facts["kinds"], "the kinds of its labels"))


def agree(asked: Any, kernel: Any) -> bool:
    """Whether a label_kernel may have come to this one."""
    if isinstance(asked, str):
        asked = NAMED.get(asked, asked)
    if asked == Ordinal():  # which takes the order of the labels
        return isinstance(kernel, Ordinal)
    return kernel in KERNELS if asked == "auto" else bool(asked == kernel)


def take_label_map(
    facts: Any,
    arrays: Arrays,
    known: StoredLabelMap,
    mix: str | None,
    gamma: float | None,
    asked: Any,
    name: str = "labels",
) -> tuple[Any, int | None]:
    """The label map and its number of features; None for classes, which may become more.

    `asked` is the parameter label_kernel.
    """
    automatic = isinstance(asked, str) and asked == "auto"
    kernel, what = known.kernel, "its label_map"
    kinds: dict[str, tuple[type, ...]] = {"seed": INTEGER}
    if kernel == "delta":
        kinds |= {"whole": FLAG}  # whether "auto" took whole numbers for classes
    elif kernel == "linear" or isinstance(kernel, ClassKernel):
        kinds |= {"width": INTEGER}
    elif kernel == "rbf":
        kinds |= {"gamma": NUMBER, "middle": NUMBER, "reach": NUMBER + NOTHING}
    elif isinstance(kernel, ColumnwiseKernel):
        kinds |= {"columns": LIST}
    facts = fields(facts, what, **kinds)
    seed = within(facts["seed"], 0, 2**31, "the seed of its label_map")
    if "width" in facts:
        within(facts["width"], 1, 2**48, "the width of its label_map")
    if isinstance(kernel, ClassKernel):
        return SimilarityLabels(kernel, known.kinds, facts["width"], mix, seed), None
    if isinstance(kernel, Cyclic):
        return CyclicLabels(kernel, mix, seed), 2 * kernel.harmonics + 1
    if isinstance(kernel, ColumnwiseKernel):
        return _take_columns(facts["columns"], arrays, kernel, mix, gamma, seed, name)
    if kernel == "delta":
        if mix != "gaussian":
            return OneHotLabels(known.kinds, facts["whole"], mix, seed, gamma), None
        k = arrays.sizes["k"]
        return HashedLabels(known.kinds, facts["whole"], k, seed), k
    if kernel == "linear":
        return LinearLabels(facts["width"], automatic, mix, seed), facts["width"]
    # Only labels in one column have a grid of frequencies, and so a reach.
    columns, count = "m" if facts["reach"] is None else 1, f"frequencies of {name}"
    frequencies = arrays.take(f"{name}.frequencies", FLOAT, columns, count)
    amplitudes = arrays.take(f"{name}.amplitudes", FLOAT, count)
    phases = arrays.take(f"{name}.phases", FLOAT, count) if mix == "fourier" else None
    width = len(amplitudes) * (2 if phases is None else 1)
    middle = float(facts["middle"])
    reach = np.inf if facts["reach"] is None else float(facts["reach"])
    psi = FourierLabels(
        float(facts["gamma"]), frequencies, amplitudes, phases, middle, reach, mix, seed
    )
    return psi, width


def _take_columns(
    stored: list[Any],
    arrays: Arrays,
    kernel: ColumnwiseKernel,
    mix: str | None,
    gamma: float | None,
    seed: int,
    name: str,
) -> tuple[ColumnLabels, int]:
    if len(stored) != len(kernel.parts):
        raise ValueError("its label_map has not one column for each of its label kernels")
    columns, widths = [], []
    for i, (facts, part) in enumerate(zip(stored, kernel.parts, strict=True)):
        here = f"{name}.{i}"
        fields(
            facts, "a column of its label_map", labels=OBJECT, map=OBJECT, classes=LIST + NOTHING
        )
        known = take_labels(facts["labels"], arrays, f"{here}.kernel")
        if not agree(part, known.kernel) or isinstance(known.kernel, ColumnwiseKernel):
            raise ValueError(f"column {i} of its labels is {known.kernel!r}, not {part!r}")
        psi, width = take_label_map(facts["map"], arrays, known, None, gamma, part, here)
        if (facts["classes"] is None) != (width is not None):
            raise ValueError(f"column {i} of its labels has classes that it should not, or lacks")
        classes = factor = None
        if width is None:
            types, count = texts(facts["classes"], "the types of its classes"), f"classes of {here}"
            classes = take_classes(types, known.kinds, arrays, f"{here}.classes", count)
            width = len(classes)
            if isinstance(psi, SimilarityLabels):
                factor = arrays.take(f"{here}.factor", FLOAT, count, f"features of {here}")
                width = factor.shape[1]
        columns.append(Column(psi, classes, factor))
        widths.append(width)
    total = sum(widths) if isinstance(kernel, Sum) else prod(widths)
    return ColumnLabels(kernel, tuple(columns), mix, seed), total
