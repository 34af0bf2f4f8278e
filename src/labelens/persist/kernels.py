"""Label kernels with arguments, into a file and out of it."""

from __future__ import annotations

from typing import Any

from ..label_kernels import Cyclic, Jaccard, Ordinal, Precomputed, Product, Sum, Tree
from ..label_kernels.base import LabelKernel, plain
from .maps import Puts
from .spelling import spell, unspell
from .strict import FLOAT, INTEGER, LIST, NOTHING, NUMBER, TEXT, Arrays, fields, texts

# The fields of each, beside its kind.
FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "Cyclic": {"period": NUMBER, "harmonics": INTEGER},
    "Jaccard": {},
    "Ordinal": {"order": LIST + NOTHING},
    "Precomputed": {"classes": LIST},
    "Product": {"parts": LIST},
    "Sum": {"parts": LIST},
    "Tree": {"separator": TEXT, "parents": LIST + NOTHING},
}


def put_kernel(kernel: Any, name: str, arrays: Puts) -> Any:
    """A string as it is, an object as its kind and its fields; TypeError for a transformer."""
    if type(kernel) is str:
        return kernel
    facts: dict[str, Any] = {"kind": type(kernel).__name__}
    match kernel:
        case Cyclic():
            return facts | {"period": plain(kernel.period), "harmonics": plain(kernel.harmonics)}
        case Jaccard():
            return facts
        case Ordinal():
            order = kernel.order
            return facts | {"order": None if order is None else [spell(x) for x in order]}
        case Precomputed():
            arrays[f"{name}.similarity"] = kernel.similarity
            return facts | {"classes": [spell(label) for label in kernel.classes]}
        case Tree():
            parents = None
            if kernel.parents is not None:
                parents = [
                    [spell(node), None if parent is None else spell(parent)]
                    for node, parent in kernel.parents.items()
                ]
            return facts | {"separator": kernel.separator, "parents": parents}
        case Sum() | Product():
            parts = enumerate(kernel.parts)
            return facts | {"parts": [put_kernel(part, f"{name}.{i}", arrays) for i, part in parts]}
    raise TypeError


def take_kernel(facts: Any, name: str, arrays: Arrays) -> str | LabelKernel:
    """The kernel that `put_kernel` has put; its own constructor checks it once more."""
    if type(facts) is str:
        return facts
    kind = facts.get("kind") if type(facts) is dict else None
    if type(kind) is not str or kind not in FIELDS:
        raise ValueError(f"label_kernel={str(facts)[:60]} is of no kind")
    facts = fields(facts, f"its {kind}", kind=TEXT, **FIELDS[kind])
    try:
        return _made(facts, kind, name, arrays)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _made(facts: dict[str, Any], kind: str, name: str, arrays: Arrays) -> LabelKernel:
    match kind:
        case "Cyclic":
            return Cyclic(facts["period"], facts["harmonics"])
        case "Jaccard":
            return Jaccard()
        case "Ordinal":
            return Ordinal(None if facts["order"] is None else _labels(facts["order"]))
        case "Precomputed":
            classes = _labels(facts["classes"])
            similarity = arrays.take(f"{name}.similarity", FLOAT, len(classes), len(classes))
            return Precomputed(similarity, classes)
        case "Tree":
            return Tree(facts["separator"], _parents(facts["parents"]))
    if any(type(part) is dict and "parts" in part for part in facts["parts"]):
        raise ValueError(f"its {kind} has others within")
    parts = [take_kernel(part, f"{name}.{i}", arrays) for i, part in enumerate(facts["parts"])]
    return Sum(*parts) if kind == "Sum" else Product(*parts)


def _parents(stored: Any) -> dict[Any, Any] | None:
    if stored is None:
        return None
    table = {}
    for entry in stored:
        if type(entry) is not list or len(entry) != 2:
            raise ValueError("its parents are no pairs")
        parent = None if entry[1] is None else _label(entry[1])
        table[_label(entry[0])] = parent
    if len(table) < len(stored):
        raise ValueError("its parents have a node twice")
    return table


def _labels(stored: list[Any]) -> tuple[Any, ...]:
    return tuple(map(_label, stored))


def _label(stored: Any) -> Any:
    if type(stored) is not list or len(stored) != 2:
        raise ValueError("a label of its label_kernel is not a type and a text")
    return unspell(*texts(stored, "the labels of its label_kernel"))
