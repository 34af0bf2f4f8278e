"""Labels as users pass them: lists, arrays, frames, masks and markers of missing ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _array
from .._validation import refuse_broken
from ..label_kernels.base import is_missing

HOW_TO_MARK = (
    "Drop such rows, or mark unlabelled ones with a value and name it with missing_label (nan "
    "stands for NaN, None and NaT too)."
)


def read_labels(y: Any, n_rows: int, marker: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Turn y into an (n,) or (n, m) array, or CSR, and say which rows have a label."""
    refuse_broken(y, "y")
    labels: Any = y.tocsr() if sparse.issparse(y) else _as_array(y)
    if labels.ndim == 2 and labels.shape[1] == 1 and not sparse.issparse(labels):
        labels = labels[:, 0]
    if labels.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got shape {labels.shape}.")
    if labels.shape[0] != n_rows:
        raise ValueError(
            f"X and y have inconsistent numbers of samples: {n_rows} rows, "
            f"{labels.shape[0]} labels."
        )
    if labels.ndim == 2 and labels.shape[1] == 0:
        raise ValueError("y has no columns.")
    if labels.dtype.kind in "cV":
        what = "Complex data not supported" if labels.dtype.kind == "c" else "Unknown label type"
        raise ValueError(f"{what}: y has dtype {labels.dtype}.")
    if sparse.issparse(labels):
        if marker is not None:
            raise ValueError(
                f"missing_label={marker!r} cannot be told from the zeros of a sparse y; pass the "
                "labelled rows alone, or a dense y."
            )
        bad = ~np.isfinite(labels.data) if labels.dtype.kind == "f" else np.zeros(1, dtype=bool)
        if bad.any():
            row = int(np.searchsorted(labels.indptr, np.argmax(bad), side="right")) - 1
            raise ValueError(f"Input y contains NaN or infinity (inf) at row {row}.")
        return labels, np.ones(n_rows, dtype=bool)
    if marker is None:
        return labels, _without_gaps(labels, np.ones(n_rows, dtype=bool))
    marked: Any = _missing(labels)
    if not is_missing(marker):
        there = ~marked  # NA says neither yes nor no
        marked = np.zeros(labels.shape, dtype=bool)
        marked[there] = labels[there] == marker  # types that never compare: one False
    if labels.ndim == 2:
        partly = marked.any(axis=1) & ~marked.all(axis=1)
        if partly.any():
            row = int(np.argmax(partly))
            raise ValueError(
                f"Row {row} of y has a label in some columns and missing_label={marker!r} in "
                f"column {int(np.argmax(marked[row]))}; a row is labelled in all columns or none."
            )
        marked = marked.all(axis=1)
    return labels, _without_gaps(labels, ~marked)


def choose_kernel(y: Any) -> str:
    """The rule behind `label_kernel="auto"`, first match wins.

    1. sparse, or several columns of 0 and 1 only (a multilabel indicator) -> "linear"
    2. floats, not all of them whole numbers (continuous)                  -> "rbf"
    3. anything else: int, str, bool, whole floats, objects (classes)      -> "delta"
    """
    if sparse.issparse(y):
        return "linear"
    if y.ndim == 2 and y.dtype.kind in "biuf" and np.isin(y, (0, 1)).all():
        return "linear"
    if y.dtype.kind == "f" and not (y == np.floor(y)).all():
        return "rbf"
    return "delta"


def _without_gaps(labels: NDArray[Any], labelled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Refuse labels that are no labels: NaN, None, NaT, infinity."""
    bad = _missing(labels)
    if labels.dtype.kind == "f":
        bad |= np.isinf(labels)
    bad &= labelled if labels.ndim == 1 else labelled[:, None]
    if bad.any():
        place = tuple(int(i) for i in np.unravel_index(np.argmax(bad), bad.shape))
        value = labels[place]
        kind = "infinity (inf)" if labels.dtype.kind == "f" and np.isinf(value) else "NaN"
        where = f"row {place[0]}" + (f", column {place[1]}" if len(place) > 1 else "")
        shown = "" if labels.dtype.kind == "f" else f" ({value!r})"
        raise ValueError(f"Input y contains {kind} at {where}{shown}. {HOW_TO_MARK}")
    return labelled


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    if labels.dtype.kind == "O":
        found = [is_missing(label) for label in labels.flat]
        return np.array(found, dtype=bool).reshape(labels.shape)
    return np.zeros(labels.shape, dtype=bool)


def column_orders(y: Any) -> tuple[tuple[Any, ...] | None, ...]:
    """The order of the labels in every column that is an ordered pandas categorical, else None."""
    frame = hasattr(y, "iloc") and y.ndim == 2
    kinds: list[Any] = list(y.dtypes) if frame else [getattr(y, "dtype", None)]
    return tuple(
        tuple(kind.categories.tolist()) if getattr(kind, "ordered", False) is True else None
        for kind in kinds
    )


def _as_array(y: Any) -> NDArray[Any]:
    """np.asarray that changes no label: ints stay ints, strings keep their ends."""
    if np.ma.is_masked(y):
        raise ValueError(f"y is a masked array with masked labels. {HOW_TO_MARK}")
    y = _array.host(y)
    if not isinstance(y, (list, tuple)):
        labels = np.asarray(y)
        return as_numbers(labels) if labels.dtype == object else labels
    return as_numbers(np.array(y, dtype=object))


def as_numbers(labels: NDArray[Any]) -> NDArray[Any]:
    """Objects that are all bool, all int or all real as such an array, if that is exact."""
    types = set(map(type, labels.flat))
    if types and all(issubclass(t, (bool, np.bool_)) for t in types):
        return labels.astype(bool)
    if any(issubclass(t, (bool, np.bool_)) for t in types):
        return labels
    if types and all(issubclass(t, (int, np.integer)) for t in types):
        for dtype in (np.int64, np.uint64):
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            if all(low <= label <= high for label in labels.flat):
                return labels.astype(dtype)
    elif types and all(issubclass(t, (int, float, np.integer, np.floating)) for t in types):
        numbers = labels.astype(np.float64)
        # Python compares int and float exactly, NumPy does not.
        if all(
            a == b or b != b for a, b in zip(labels.flat, numbers.ravel().tolist(), strict=True)
        ):
            return numbers
    return labels
