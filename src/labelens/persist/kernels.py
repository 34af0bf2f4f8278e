"""Label kernels with arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..label_kernels import (
    Cyclic,
    Jaccard,
    Ordinal,
    Precomputed,
    Product,
    Ranked,
    Sliced,
    Sum,
    Tree,
)
from ..label_kernels.base import LabelKernel, plain
from .schema import Block, Fact, Puts, Table, made, put, take
from .spelling import read_label, spell
from .strict import NUMBER, Arrays


def _label(stored: Any) -> Any:
    return read_label(stored, "a label of its label_kernel")


def _labels(stored: list[Any]) -> tuple[Any, ...]:
    return tuple(map(_label, stored))


def _spelled(labels: Any) -> list[Any]:
    return [spell(label) for label in labels]


def _parents(stored: list[Any]) -> dict[Any, Any]:
    if any(type(pair) is not list or len(pair) != 2 for pair in stored):
        raise ValueError("its parents are not pairs")
    table = {_label(node): _or_none(_label)(parent) for node, parent in stored}
    if len(table) < len(stored):
        raise ValueError("its parents have a node twice")
    return table


def _pairs(parents: Any) -> list[Any]:
    return [[spell(node), _or_none(spell)(parent)] for node, parent in parents.items()]


def _or_none(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else convert(value)


ORDER = Fact(list | None, _or_none(_spelled), _or_none(_labels))
PARENTS = Fact(list | None, _or_none(_pairs), _or_none(_parents))
NUMBERS = Fact(list | None, _or_none(list))
PARTS = Fact(list)  # kernels that are written one by one
TABLES: dict[type[LabelKernel], Table] = {
    Cyclic: {"period": Fact(NUMBER, plain), "harmonics": Fact(int, plain)},
    Jaccard: {},
    Ordinal: {"order": ORDER},
    Precomputed: {
        "classes": Fact(list, _spelled, _labels),
        "similarity": Block("classes classes"),
    },
    Product: {"parts": PARTS},
    Ranked: {"n_quantiles": Fact(int, plain), "quantiles": NUMBERS, "levels": NUMBERS},
    Sliced: {"n_slices": Fact(int, plain), "edges": NUMBERS},
    Sum: {"parts": PARTS},
    Tree: {"separator": Fact(str), "parents": PARENTS},
}
BY_NAME = {kind.__name__: kind for kind in TABLES}


def put_kernel(kernel: Any, name: str, arrays: Puts) -> Any:
    """A string as it is, an object as its kind and its fields; TypeError for a transformer."""
    if type(kernel) is str:
        return kernel
    if type(kernel) not in TABLES:
        raise TypeError
    facts = {"kind": type(kernel).__name__} | put(TABLES[type(kernel)], kernel, name, arrays)
    if "parts" in facts:
        parts = enumerate(kernel.parts)
        facts["parts"] = [put_kernel(part, f"{name}.{i}", arrays) for i, part in parts]
    return facts


def take_kernel(facts: Any, name: str, arrays: Arrays) -> str | LabelKernel:
    """The kernel that `put_kernel` has put; its own constructor checks it once more."""
    if type(facts) is str:
        return facts
    kind = facts.get("kind") if type(facts) is dict else None
    if type(kind) is not str or kind not in BY_NAME:
        raise ValueError(f"label_kernel={str(facts)[:60]} is of no kind")
    table = TABLES[BY_NAME[kind]] | {"kind": Fact(str)}
    values = take(table, name, arrays, facts, f"its {kind}")
    try:
        if "parts" not in values:
            return made(BY_NAME[kind], values)
        if any(type(part) is dict and "parts" in part for part in values["parts"]):
            raise ValueError(f"its {kind} has others within")
        parts = enumerate(values["parts"])
        return BY_NAME[kind](*(take_kernel(part, f"{name}.{i}", arrays) for i, part in parts))
    except TypeError as error:
        raise ValueError(str(error)) from None
