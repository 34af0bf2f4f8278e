"""Orders of the labels that are equally likely if labels are independent of rows.

Rows that are equal and have equal labels, such as copies, are one observation: they keep their
labels in common, and change places with as many others. Any other rows change places one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base import devices

Rows = NDArray[np.intp]
# Sets of copies that can change places: of fewer, rows with few distinct values are no copies.
FEWEST = 20


def shuffler(rows: Any, labels: Any) -> Callable[[np.random.Generator], Rows]:
    """A function that draws orders of n rows against their n labels."""
    n = int(labels.shape[0])
    number = _numbered(rows)
    sizes = np.bincount(number)
    if len(sizes) < n:
        size = sizes[number]
        order = np.lexsort([number, size])
        groups = [order[size[order] == s].reshape(-1, s) for s in np.unique(sizes)]
        movable = sum(len(same) for same in groups if len(same) > 1)
        if movable >= FEWEST and len({*zip(number, _numbered(labels), strict=True)}) == len(sizes):
            return lambda draw: _moved(groups, n, draw)
    return lambda draw: draw.permutation(n)


def _moved(groups: list[Rows], n: int, draw: np.random.Generator) -> Rows:
    order = np.empty(n, dtype=np.intp)
    for same in groups:  # (count, size)
        order[same] = draw.permutation(same)
    return order


def _numbered(table: Any) -> Rows:
    """(n,) the same number for equal rows."""
    found: dict[Any, int] = {}
    return np.array([found.setdefault(key, len(found)) for key in _keys(table)], dtype=np.intp)


def _keys(table: Any) -> Iterable[Any]:
    if sparse.issparse(table):
        table = sparse.csr_array(table, copy=True)
        table.sum_duplicates()
        table.eliminate_zeros()
        ends = zip(table.indptr, table.indptr[1:], strict=False)
        return (_digest(table.indices[a:b], table.data[a:b]) for a, b in ends)
    if not hasattr(table, "shape"):  # a list, of texts perhaps
        return map(repr, table)
    array = np.asarray(devices.host(table))
    if array.dtype.hasobject:
        return (repr(row) for row in array.tolist())
    if array.dtype.kind == "f":
        array = array + 0.0  # no negative zeros
    return map(_digest, array)


def _digest(*arrays: Any) -> bytes:
    made = blake2b(digest_size=16)
    for array in arrays:
        made.update(array.tobytes())
    return made.digest()
