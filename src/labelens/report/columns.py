"""Columns of any type: in a page as small typed arrays, in a file next to the embedding.

In a page numbers stay as they are, other values become words and codes. Nothing here is markup: the
page's script shows these values as text.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.optional import require

NO_VALUE = "(missing)"


def pack(array: NDArray[Any]) -> dict[str, str]:
    """An array as its type and base64 of its little-endian bytes."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {"type": little.dtype.str[1:], "data": base64.b64encode(little.tobytes()).decode()}


def words_of(values: Any, longest: int | None = None) -> tuple[list[str], NDArray[Any]]:
    """Distinct values as text, in order of first sight, and the code of every row."""
    codes = np.empty(len(values), dtype=np.uint32)
    seen: dict[str, int] = {}
    for i, value in enumerate(values):
        codes[i] = seen.setdefault(as_text(value, longest), len(seen))
    return list(seen), codes


def as_text(value: Any, longest: int | None = None) -> str:
    """The value as text, cut where it is longer than `longest`."""
    # NaN, NaT and pandas.NA are not equal to themselves, or the comparison is NA.
    try:
        missing = value is None or bool(value != value)
    except (TypeError, ValueError):
        missing = type(value).__name__ == "NAType"
    text = NO_VALUE if missing else str(value)
    return text if longest is None or len(text) <= longest else text[:longest] + "…"


def as_array(values: Sequence[Any]) -> NDArray[Any]:
    """A list as numbers if float64 holds all of it, else as it is."""
    if all(isinstance(v, float) or (type(v) is int and abs(v) < 2**53) for v in values):
        return np.array(values, dtype=np.float64)
    items = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        items[i] = value
    return items


def embedding_frame(
    numbers: Any,
    Z: NDArray[Any],
    test: Any = None,
    labels: Mapping[str, NDArray[Any]] | None = None,
) -> Any:
    """A DataFrame of an embedding: numbers of rows, part, labels and components."""
    columns: dict[str, Any] = {getattr(numbers, "name", None) or "row": numbers}
    if test is not None:
        columns["part"] = np.where(test, "test", "train")
    columns |= {f"label_{name}": values for name, values in (labels or {}).items()}
    columns |= {f"z{j + 1}": Z[:, j] for j in range(Z.shape[1])}
    return require("pandas", extra="cli").DataFrame(columns)
