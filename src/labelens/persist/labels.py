"""Classes and label maps."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

import numpy as np

from .._core.labels.classes import HashedLabels, OneHotLabels
from .._core.labels.columns import Column, ColumnLabels
from .._core.labels.numeric import CyclicLabels, FourierLabels, LinearLabels, SlicedLabels
from .._core.labels.similarity import SimilarityLabels
from .._core.labels.vocabulary import label_kind
from ..label_kernels import NAMED, Cyclic, Ordinal, Ranked, Sliced, Sum
from ..label_kernels.base import ClassKernel, LabelKernel, is_missing
from ..label_kernels.columns import ColumnwiseKernel
from ..label_kernels.quantiles import QuantileKernel
from .kernels import put_kernel, take_kernel
from .schema import OR_INFINITE, Block, Fact, Puts, Table, made, put, take
from .spelling import put_texts, spell, take_texts, unspell
from .strict import NUMBER, WHOLE, Arrays, fields, texts

KERNELS = ("delta", "linear", "rbf")


@dataclass(frozen=True)
class StoredLabelMap:
    """The label map of a model without moments, which encodes no further labels."""

    kernel: Any
    kinds: tuple[str, ...]  # empty where labels are no classes


SEED = Fact(int, limits=(0, 2**31))
WIDTH = Fact(int, limits=(1, 2**48))
AUTOMATIC = Fact(bool, bool, attribute="automatic")  # whether "auto" took numbers for classes
NUMERIC = Fact(NUMBER, float, float)
MAPS: dict[type, Table] = {
    OneHotLabels: {"seed": SEED, "whole": AUTOMATIC},
    HashedLabels: {"seed": SEED, "whole": AUTOMATIC},
    LinearLabels: {"seed": SEED, "width": WIDTH},
    SimilarityLabels: {"seed": SEED, "width": WIDTH},
    CyclicLabels: {"seed": SEED},
    SlicedLabels: {"seed": SEED},
    FourierLabels: {
        "seed": SEED,
        "gamma": NUMERIC,
        "middle": NUMERIC,
        "reach": OR_INFINITE,
        "frequencies": Block("columns frequencies"),
        "amplitudes": Block("frequencies"),
        "phases": Block("frequencies"),
    },
    ColumnLabels: {"seed": SEED, "columns": Fact(list)},  # which are written one by one
}
FACTOR = Block("classes features")  # of a column
FAMILIES: dict[type[LabelKernel], type] = {
    ClassKernel: SimilarityLabels,
    Cyclic: CyclicLabels,
    Ranked: FourierLabels,
    Sliced: SlicedLabels,
    ColumnwiseKernel: ColumnLabels,
}


def put_classes(
    classes: tuple[Any, ...] | None, columns: int, arrays: Puts, name: str = "classes"
) -> list[str] | None:
    """The type of label in every column; the labels go into the arrays, in the order of classes."""
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
    stored: list[Any],
    kinds: tuple[str, ...],
    arrays: Arrays,
    name: str = "classes",
    size: str = "c",
) -> tuple[Any, ...]:
    """The classes in their order; `kinds` are those of the label map."""
    types = texts(stored, "the types of its classes")
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
            raise ValueError(f"{label!r} is not a class")
    classes = tuple(zip(columns, labels, strict=True)) if len(types) > 1 else tuple(labels)
    if len(set(classes)) < len(classes):
        raise ValueError("a class is listed twice")
    return classes


def put_labels(psi: Any, arrays: Puts, name: str = "labels") -> dict[str, Any]:
    kernel = put_kernel(psi.kernel, f"{name}.kernel", arrays)
    return {"kernel": kernel, "kinds": list(getattr(psi, "kinds", ()))}


def take_labels(facts: Any, arrays: Arrays, name: str = "labels") -> StoredLabelMap:
    fields(facts, "its labels", kernel=str | dict, kinds=list)
    kernel = take_kernel(facts["kernel"], f"{name}.kernel", arrays)
    classes = kernel == "delta" or isinstance(kernel, ClassKernel)
    known = isinstance(kernel, LabelKernel) or kernel in KERNELS
    if isinstance(kernel, QuantileKernel) and kernel.takes_labels:
        raise ValueError(f"its labels are {kernel!r}, which lacks the quantiles")
    if not known or classes != bool(facts["kinds"]):
        raise ValueError("its labels are of no kind")
    return StoredLabelMap(kernel, texts(facts["kinds"], "the kinds of its labels"))


def agree(asked: Any, kernel: Any) -> bool:
    """Whether fitting with the label_kernel `asked` can result in this kernel."""
    if isinstance(asked, str):
        asked = NAMED.get(asked, asked)
    if asked == Ordinal():  # which takes the order of the labels
        return isinstance(kernel, Ordinal)
    if isinstance(asked, QuantileKernel) and asked.takes_labels:
        return type(kernel) is type(asked)
    return kernel in KERNELS if asked == "auto" else bool(asked == kernel)


def put_label_map(psi: Any, arrays: Puts, name: str = "labels") -> dict[str, Any]:
    if type(psi) not in MAPS:
        raise TypeError(f"A model file cannot hold a {type(psi).__name__} label map.")
    facts = put(MAPS[type(psi)], psi, name, arrays)
    if isinstance(psi, ColumnLabels):
        columns = enumerate(psi.columns)
        facts["columns"] = [_put_column(column, arrays, f"{name}.{i}") for i, column in columns]
    return facts


def take_label_map(
    facts: Any,
    arrays: Arrays,
    known: StoredLabelMap,
    mix: str | None,
    gamma: float | None,
    asked: Any,
    name: str = "labels",
) -> Any:
    """The label map; `asked` is the parameter label_kernel."""
    kind = _kind_of_map(known.kernel, mix)
    without = () if mix == "fourier" else ("phases",)
    values = take(MAPS[kind], name, arrays, facts, "its label_map", without)
    if kind is ColumnLabels:
        values["columns"] = _take_columns(values["columns"], arrays, known.kernel, gamma, name)
    elif (
        kind is FourierLabels
        and len(values["frequencies"]) != 1
        and (values["reach"] < np.inf or isinstance(known.kernel, Ranked))
    ):
        # Only labels in one column have a grid of frequencies, and so a reach.
        raise ValueError(f"the array '{name}.frequencies' is not of shape (1, ...)")
    chosen = {"mix": mix, "gamma": gamma, "k": arrays.sizes["k"], "automatic": asked == "auto"}
    return made(kind, values, **vars(known), **chosen)


def _kind_of_map(kernel: Any, mix: str | None) -> type:
    for family, kind in FAMILIES.items():
        if isinstance(kernel, family):
            return kind
    classes = HashedLabels if mix == "gaussian" else OneHotLabels
    return {"delta": classes, "linear": LinearLabels, "rbf": FourierLabels}[kernel]


def n_label_features(psi: Any) -> int | None:
    """The number of features of a label map; None for classes, whose number can grow."""
    match psi:
        case HashedLabels():
            return psi.k
        case LinearLabels():
            return psi.width
        case CyclicLabels():
            return 2 * psi.kernel.harmonics + 1
        case SlicedLabels():
            return psi.kernel.n_slices
        case FourierLabels():
            return len(psi.amplitudes) * (2 if psi.phases is None else 1)
        case ColumnLabels():
            widths = [_width(column) for column in psi.columns]
            return sum(widths) if isinstance(psi.kernel, Sum) else prod(widths)
    return None


def _width(column: Column) -> int:
    if column.factor is not None:
        return int(column.factor.shape[1])
    return len(column.classes or ()) or n_label_features(column.psi) or 0


def _put_column(column: Column, arrays: Puts, name: str) -> dict[str, Any]:
    if column.factor is not None:
        FACTOR.put(column.factor, f"{name}.factor", arrays)
    return {
        "labels": put_labels(column.psi, arrays, name),
        "map": put_label_map(column.psi, arrays, name),
        "classes": put_classes(column.classes, 1, arrays, f"{name}.classes"),
    }


def _take_columns(
    stored: list[Any], arrays: Arrays, kernel: ColumnwiseKernel, gamma: float | None, name: str
) -> tuple[Column, ...]:
    if len(stored) != len(kernel.parts):
        raise ValueError("its label_map has not one column for each of its label kernels")
    columns = []
    for i, (facts, part) in enumerate(zip(stored, kernel.parts, strict=True)):
        here, what = f"{name}.{i}", "a column of its label_map"
        fields(facts, what, labels=dict, map=dict, classes=list | None)
        known = take_labels(facts["labels"], arrays, here)
        if not agree(part, known.kernel) or isinstance(known.kernel, ColumnwiseKernel):
            raise ValueError(f"column {i} of its labels is {known.kernel!r}, not {part!r}")
        psi = take_label_map(facts["map"], arrays, known, None, gamma, part, here)
        if (facts["classes"] is None) != (n_label_features(psi) is not None):
            raise ValueError(f"column {i} of its labels has classes that it should not, or lacks")
        classes = factor = None
        if facts["classes"] is not None:
            stored_as, size = f"{here}.classes", f"classes of {here}"
            classes = take_classes(facts["classes"], known.kinds, arrays, stored_as, size)
            if isinstance(psi, SimilarityLabels):
                factor = FACTOR.take(f"{here}.factor", arrays)
        columns.append(Column(psi, classes, factor))
    return tuple(columns)
