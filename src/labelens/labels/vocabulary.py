"""Class labels of any hashable scalar type: numbering them, ordering them, hashing them."""

from __future__ import annotations

from hashlib import blake2b
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray


def label_kind(label: Any) -> str:
    """Labels are of one kind if they can be told apart and compared with each other."""
    if isinstance(label, (bool, np.bool_)):
        return "bool"
    if isinstance(label, (Number, np.number)):
        return "number"
    for kind in (str, bytes):
        if isinstance(label, kind):
            return kind.__name__
    return type(label).__name__


def check_kind(label: Any, kind: str, where: str) -> None:
    if label_kind(label) != kind:
        raise TypeError(
            f"Labels of mixed types: {where} is {label!r} ({label_kind(label)}), where the others "
            f"are of type {kind}. Convert y to one type, for example with y.astype(str)."
        )


def number_labels(y: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """(n,) -> the distinct labels as Python scalars, in order, and the number of each row's."""
    if y.dtype.kind == "O":
        return _number_objects(y)
    labels, codes = np.unique(y, return_inverse=True)
    return (list(labels) if y.dtype.kind in "mM" else labels.tolist()), codes.ravel()


def _number_objects(y: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    number: dict[Any, int] = {}
    codes = np.empty(len(y), dtype=np.intp)
    kind = None
    for row, label in enumerate(y):
        if label is None or label != label:
            raise ValueError(
                f"Input y contains NaN or None at row {row}: {label!r} is no label. Drop such "
                "rows, or mark unlabelled ones and name the marker with missing_label."
            )
        if isinstance(label, np.generic):
            label = label.item()
        try:
            code = number.setdefault(label, len(number))
        except TypeError:
            raise TypeError(
                f"Unknown label type: row {row} of y is {label!r} ({type(label).__name__}), which "
                "is not hashable."
            ) from None
        if code == len(number) - 1:
            kind = kind or label_kind(label)
            check_kind(label, kind, f"row {row} of y")
        codes[row] = code
    order = in_order(list(number))
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    labels = list(number)
    return [labels[i] for i in order], rank[codes]


def in_order(labels: list[Any]) -> list[int]:
    """Positions of the labels in sorted order; by their spelling where they know no order."""
    try:
        return sorted(range(len(labels)), key=lambda i: labels[i])
    except TypeError:
        return sorted(range(len(labels)), key=lambda i: repr(labels[i]))


def as_class_array(labels: list[Any]) -> NDArray[Any]:
    """Sorted labels as the array that `classes_` shows; objects where NumPy has no exact type."""
    kinds = {type(label) for label in labels}
    if kinds <= {int} or kinds <= {int, float} or kinds <= {bool} or kinds <= {str}:
        array = np.array(labels)
        if array.dtype.kind in "bifuU" and array.tolist() == labels:
            return array
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def hashed_normals(labels: list[Any], k: int, seed: int) -> NDArray[np.float64]:
    """(c, k) standard normal numbers that depend on seed and label alone.

    Counter-based, so a label has the same vector in every batch, on every worker and after every
    restart, whatever other labels there are. (Python's own `hash` is salted per process.)
    """
    digests = np.array([_digest(label, seed) for label in labels], dtype=np.uint64)
    return normals_at(digests[:, None] + np.arange(k, dtype=np.uint64))


def normals_at(counters: NDArray[Any]) -> NDArray[np.float64]:
    """One standard normal number for each 64-bit counter (splitmix64, then the inverse CDF)."""
    from scipy.special import ndtri

    bits = counters + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    # The upper 53 bits as a number strictly between 0 and 1.
    return ndtri(((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)


def _digest(label: Any, seed: int) -> int:
    if isinstance(label, float) and label.is_integer():
        label = int(label)  # 1.0 and 1 are one class, as they are for Python and NumPy
    spelled = label.hex() if isinstance(label, (float, bytes)) else str(label)
    text = f"{seed}\0{label_kind(label)}\0{spelled}"
    return int.from_bytes(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )
