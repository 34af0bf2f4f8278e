"""Columns of Spark's vectors: structs of type (0 sparse, 1 dense), size, indices and values.

Dense and sparse ones may take turns in a column; a dense one has neither size nor indices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def dense_rows(column: Any, width: int, title: str) -> NDArray[np.float64]:
    """(n, width) of a column without nulls."""
    values, places, ends = _entries(column, width, title)
    if len(values) == len(column) * width:  # nothing is left out anywhere
        return values.reshape(-1, width)
    rows = np.zeros((len(column), width))
    rows[np.repeat(np.arange(len(column)), np.diff(ends)), places] = values
    return rows


def sparse_rows(column: Any, width: int, title: str) -> Any:
    """The same as a CSR matrix, zeros left out."""
    values, places, ends = _entries(column, width, title)
    # A copy, since the values belong to Arrow.
    rows = sparse.csr_matrix((values, places, ends), shape=(len(column), width), copy=True)
    rows.eliminate_zeros()
    return rows


def _entries(column: Any, width: int, title: str) -> tuple[Any, Any, Any]:
    """Values, the column of each, and where every row ends among them (n + 1,)."""
    values = column.field("values")
    lengths = values.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    dense = column.field("type").to_numpy(zero_copy_only=False) == 1
    sizes = np.where(dense, lengths, column.field("size").fill_null(-1).to_numpy())
    if (sizes != width).any():
        other = sizes[sizes != width][0]
        raise ValueError(f"The vectors in {title} are not all {width} long; one is {other} long.")
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = np.empty(ends[-1], dtype=np.int32)
    inside = np.repeat(dense, lengths)
    places[inside] = np.tile(np.arange(width), np.count_nonzero(dense))
    places[~inside] = column.field("indices").flatten().to_numpy(zero_copy_only=False)
    return values.flatten().to_numpy(zero_copy_only=False), places, ends
