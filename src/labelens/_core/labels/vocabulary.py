"""Class labels of any hashable scalar type: numbering them, ordering them, hashing them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from numbers import Number, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...label_kernels.base import plain
from .reading import BOOL, DATE, DURATION, boxed, typed

INF = float("inf")
# The first that a label is an instance of; others go by the name of their type.
KINDS: dict[str, tuple[type, ...]] = {
    "bool": BOOL,
    "datetime64": DATE,
    "timedelta64": DURATION,
    "number": (Number, np.number),
    "str": (str,),
    "bytes": (bytes,),
}


def label_kind(label: Any) -> str:
    """Labels of one kind can be compared with each other."""
    for kind, types in KINDS.items():
        if isinstance(label, types):
            return kind
    return type(label).__name__


def check_kind(label: Any, kind: str, where: str) -> None:
    if label_kind(label) != kind:
        raise TypeError(
            f"Labels of mixed types: {where} is {label!r} ({label_kind(label)}), where the others "
            f"are of type {kind}. Convert y to one type, for example with y.astype(str)."
        )


def number_labels(
    y: NDArray[Any], kind: str, rows: NDArray[np.intp]
) -> tuple[list[Any], NDArray[np.intp]]:
    """(n,) -> the distinct labels as Python scalars, in order, and the number of each row's.

    All must be of one kind; `rows` are the numbers by which the user knows the rows.
    """
    y = typed(y)
    if y.dtype.kind == "O":
        return _number_objects(y, kind, rows)
    labels, codes = _unique(y)
    scalars = list(map(plain, labels)) if y.dtype.kind in "mM" else labels.tolist()
    for label in scalars[:1]:
        check_kind(label, kind, f"the label of row {int(rows[np.argmax(codes == 0)])}")
    return scalars, codes


def _unique(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """np.unique with the inverse; integers within a small range are counted, not sorted."""
    if y.dtype.kind in "iu" and y.size:
        low, high = int(y.min()), int(y.max())
        if high - low < 4 * y.size:
            # In the dtype of y the difference of two int8 would wrap.
            offsets = y.astype(np.intp) - low if high < 2**63 else (y - low).astype(np.intp)
            present = np.flatnonzero(np.bincount(offsets, minlength=high - low + 1))
            number = np.empty(high - low + 1, dtype=np.intp)
            number[present] = np.arange(len(present))
            return y.dtype.type(low) + present.astype(y.dtype), number[offsets]
    labels, codes = np.unique(y, return_inverse=True)
    return labels, codes.ravel()


def _number_objects(
    y: NDArray[Any], kind: str, rows: NDArray[np.intp]
) -> tuple[list[Any], NDArray[np.intp]]:
    several = len(set(map(type, y))) > 1
    for row, label in zip(rows, y if several else y[:1], strict=several):
        check_kind(label, kind, f"the label of row {int(row)}")
    number: dict[Any, int] = {}
    try:
        codes = np.array([number.setdefault(label, len(number)) for label in y], dtype=np.intp)
    except TypeError:
        raise TypeError(
            f"Unknown label type: row {int(rows[0])} of y is {y[0]!r} ({type(y[0]).__name__}), "
            "which is not hashable. Pass a number, a string or a date for every row, or as many "
            "labels in every row."
        ) from None
    labels = list(map(plain, number))
    order = label_order(labels)
    return [labels[i] for i in order], np.argsort(order)[codes]


def label_order(labels: list[Any]) -> list[int]:
    """Positions of the labels in sorted order; by their spelling where they know no order."""
    try:
        return sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:
        return sorted(range(len(labels)), key=lambda i: repr(labels[i]))


def as_class_array(labels: list[Any]) -> NDArray[Any]:
    """Sorted labels as the array that `classes_` shows; objects where NumPy has no exact type."""
    kinds = {type(label) for label in labels}
    if kinds <= {int} or kinds <= {int, float} or kinds <= {bool} or kinds <= {str}:
        array = np.array(labels)
        if array.dtype.kind in "bifuU" and array.tolist() == labels:
            return array
    return boxed(labels)


def hashed_normals(labels: list[Any], k: int, seed: int) -> NDArray[np.float64]:
    """(c, k) standard normal numbers that depend on seed and label alone.

    Counter-based, so a label has the same vector in every batch, on every worker and after every
    restart, whatever other labels there are. (Python's own `hash` is salted per process.)
    """
    digests = np.array([_digest(label, seed) for label in labels], dtype=np.uint64)
    return normals_at(digests[:, None] + np.arange(k, dtype=np.uint64))


def normals_at(counters: NDArray[Any]) -> NDArray[np.float64]:
    """One standard normal number for each 64-bit counter, by the inverse CDF."""
    from scipy.special import ndtri

    # The upper 53 bits as a number strictly between 0 and 1.
    bits = scrambled(counters) >> np.uint64(11)
    return ndtri((bits.astype(np.float64) + 0.5) * 2.0**-53)


def scrambled(counters: NDArray[Any]) -> NDArray[np.uint64]:
    """64 bits that look random for each 64-bit counter, no two the same (splitmix64)."""
    bits = counters + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _digest(label: Any, seed: int) -> int:
    text = f"{seed}\0{_spelled(label)}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def _spelled(label: Any) -> str:
    """The same for labels that are equal (1, 1.0 and Decimal(1)), else different."""
    if isinstance(label, tuple):
        return f"({','.join(map(_spelled, label))})"
    label, kind = plain(label), label_kind(label)
    if isinstance(label, (Real, Decimal)) and kind == "number":
        label = _simplest(label)
    spelled = label.hex() if isinstance(label, (float, bytes)) else str(label)
    return f"{kind} {len(spelled)} {spelled}"


def _simplest(number: Any) -> Any:
    """The int, float or fraction that equals a number."""
    try:
        if number == int(number):
            return int(number)
        near = float(number)
        return near if near == number else Fraction(number)
    except (OverflowError, ValueError):  # too large for a float, or infinite
        return number if number != number or number in (INF, -INF) else Fraction(number)
