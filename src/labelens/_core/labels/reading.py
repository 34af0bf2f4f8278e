"""Labels as users pass them: lists, arrays, frames, Arrow's columns; missing ones; their kind.

Every route reads labels here: `as_labels` where labels come in, `read_labels` where they are used.
None, NaN, NaT, pandas' NA, masked labels and the nulls of Arrow and polars are one missing value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..._base import devices
from ..._base.validation import refuse_broken
from ...label_kernels.base import is_missing, moment, plain

HOW_TO_MARK = (
    "Drop such rows, or mark unlabelled ones with a value and name it with missing_label (nan "
    "stands for NaN, None and NaT too)."
)
# Types of objects that have a NumPy dtype.
BOOL, INT, REAL = (bool, np.bool_), (int, np.integer), (int, float, np.integer, np.floating)
DATE, DURATION = (date, np.datetime64), (timedelta, np.timedelta64)

Order = tuple[Any, ...] | None  # the classes of a column from the lowest to the highest


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels as arrays, none of them changed."""

    values: Any  # (n,) or (n, m), or CSR
    orders: tuple[Order, ...]  # one for every column

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __getitem__(self, which: Any) -> Labels:
        """The labels of some rows."""
        return Labels(self.values[which], self.orders)

    @classmethod
    def joined(cls, parts: Sequence[Labels]) -> Labels:
        """One after the other; labels of mixed kinds stay objects."""
        values = [part.values for part in parts]
        if len(parts) == 1:
            return parts[0]
        if sparse.issparse(values[0]):
            return cls(sparse.vstack(values, "csr"), parts[0].orders)
        return cls(np.concatenate(_of_one_kind(values)), parts[0].orders)

    @classmethod
    def side_by_side(cls, columns: Sequence[Labels]) -> Labels:
        """Columns of labels as one array; of mixed kinds they are objects."""
        if len(columns) == 1:
            return columns[0]
        values = _of_one_kind([column.values for column in columns])
        return cls(np.column_stack(values), tuple(o for column in columns for o in column.orders))


def as_labels(y: Any) -> Labels:
    """Labels of any type as an array that changes none: ints stay ints, strings keep their ends."""
    if isinstance(y, Labels):
        return y
    refuse_broken(y, "y")
    if sparse.issparse(y):
        return Labels(y.tocsr(), (None,) * y.shape[1])
    if np.ma.is_masked(y) and isinstance(y, np.ma.MaskedArray):
        mask, y = y.mask, boxed(y.data.ravel()).reshape(y.shape)
        y[mask] = None
    y = devices.host(y)
    if columns := [as_labels(column) for column in _columns(y)]:
        return Labels.side_by_side(columns)
    values, order = _as_array(y)
    if values.ndim == 0:
        shown = "" if hasattr(y, "__iter__") else f" ({y!r})"
        raise TypeError(
            f"y is a {type(y).__name__}{shown}, and must be an array or a list with a label for "
            "every row" + ("; pass list(y)." if hasattr(y, "__next__") else ".")
        )
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got shape {values.shape}.")
    return Labels(values, (order,) * (1 if values.ndim == 1 else values.shape[1]))


def read_labels(y: Any, n_rows: int, marker: Any) -> tuple[Any, NDArray[np.bool_]]:
    """The labels of the rows that have one, (l,) or (l, m) or CSR, and which these are, (n,)."""
    labels = as_labels(y).values
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
                f"missing_label={marker!r} cannot be distinguished from the zeros of a sparse y. "
                "Pass only the labelled rows, or a dense y."
            )
        bad = ~np.isfinite(labels.data) if labels.dtype.kind == "f" else np.zeros(1, dtype=bool)
        if bad.any():
            row = int(np.searchsorted(labels.indptr, np.argmax(bad), side="right")) - 1
            raise ValueError(f"Input y contains NaN or infinity (inf) at row {row}.")
        return labels, np.ones(n_rows, dtype=bool)
    gaps = _missing(labels)
    labelled = np.ones(n_rows, dtype=bool)
    if marker is not None:
        labelled = ~_marked(labels, gaps, marker)
    _refuse_gaps(labels, gaps, labelled)
    # Only now: [1.5, None] are numbers, and [1, None] are whole ones.
    return typed(labels if labelled.all() else labels[labelled]), labelled


def _marked(labels: NDArray[Any], gaps: NDArray[np.bool_], marker: Any) -> NDArray[np.bool_]:
    """(n,) which rows have no label."""
    marked = gaps
    if not is_missing(marker):
        there = ~gaps  # comparisons with NA give NA
        marked = np.zeros(labels.shape, dtype=bool)
        marked[there] = labels[there] == plain(marker)  # types that never compare: one False
    if labels.ndim == 1:
        return marked
    partly = marked.any(axis=1) & ~marked.all(axis=1)
    if partly.any():
        row = int(np.argmax(partly))
        raise ValueError(
            f"Row {row} of y has a label in some columns and missing_label={marker!r} in "
            f"column {int(np.argmax(marked[row]))}; a row is labelled in all columns or none."
        )
    return np.asarray(marked.all(axis=1))


def choose_kernel(y: Any) -> str:
    """The rule behind `label_kernel="auto"`."""
    return Traits.of(y).kernel


@dataclass(frozen=True)
class Traits:
    """All that `label_kernel="auto"` looks at, of some labels; those of more can be merged in."""

    kinds: frozenset[str]  # of types: "sparse", "bool", "number", "other"
    several: bool  # columns
    binary: bool  # 0 and 1 only; asked of several columns of bools or numbers
    whole: bool  # no number has a fraction

    @classmethod
    def of(cls, y: Any) -> Traits:
        kind = {"b": "bool", "i": "number", "u": "number", "f": "number"}.get(y.dtype.kind, "other")
        kinds = frozenset(["sparse" if sparse.issparse(y) else kind])
        binary = y.ndim == 2 and bool(kinds & {"bool", "number"}) and bool(_is_binary(y).all())
        whole = y.dtype.kind != "f" or sparse.issparse(y) or bool((y == np.floor(y)).all())
        return cls(kinds, y.ndim == 2, binary, whole)

    def merge(self, other: Traits) -> Traits:
        return Traits(
            self.kinds | other.kinds,
            self.several,
            self.binary and other.binary,
            self.whole and other.whole,
        )

    @property
    def kernel(self) -> str:
        """The first that matches.

        1. sparse, or several columns of 0 and 1 only (a multilabel indicator) -> "linear"
        2. floats, not all of them whole numbers (continuous)                  -> "rbf"
        3. anything else: int, str, bool, whole floats, objects (classes)      -> "delta"
        """
        if self.kinds == {"sparse"} or (len(self.kinds) == 1 and self.binary):
            return "linear"
        return "rbf" if self.kinds == {"number"} and not self.whole else "delta"


def _is_binary(y: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isin(y, (0, 1))


def may_change(labels: Labels, traits: Traits) -> bool:
    """Whether other rows of a source could make "auto" choose another kernel than these do.

    The types of its columns are those of all rows, unless they are objects.
    """
    if traits.kernel != "delta":
        return traits.kernel == "linear" and traits.binary
    return traits.kinds == {"number"} and labels.values.dtype.kind in "fO"


def check_decision(kernel: str, y: Any, rows: NDArray[np.intp]) -> None:
    """Reject labels with which "auto" would not have chosen this kernel for the batches before."""
    if sparse.issparse(y) or y.dtype.kind not in "biuf":
        return
    if kernel == "delta" and y.dtype.kind == "f":
        bad, took = y != np.floor(y), "whole numbers for classes"
        instead = "pass label_kernel='rbf' for continuous labels, 'delta' for classes."
    elif kernel == "linear":
        bad, took = ~_is_binary(y), "columns of 0 and 1 for a multilabel indicator"
        instead = "pass label_kernel='delta' for classes, 'linear' or 'rbf' for numbers."
    else:
        return
    if bad.any():
        place = tuple(int(i) for i in np.unravel_index(np.argmax(bad), bad.shape))
        raise ValueError(
            f"label_kernel='auto' took {took} in the first batch, and row {int(rows[place[0]])} of "
            f"this one has {y[place].item()!r}: {instead}"
        )


def _refuse_gaps(
    labels: NDArray[Any], gaps: NDArray[np.bool_], labelled: NDArray[np.bool_]
) -> None:
    """Reject labels that are no labels: NaN, None, NaT, infinity."""
    bad = gaps | np.isinf(labels) if labels.dtype.kind == "f" else gaps
    bad = bad & (labelled if labels.ndim == 1 else labelled[:, None])
    if bad.any():
        place = tuple(int(i) for i in np.unravel_index(np.argmax(bad), bad.shape))
        value = labels[place]
        kind = "infinity (inf)" if labels.dtype.kind == "f" and np.isinf(value) else "NaN"
        where = f"row {place[0]}" + (f", column {place[1]}" if len(place) > 1 else "")
        shown = "" if labels.dtype.kind == "f" else f" ({value!r})"
        raise ValueError(f"Input y contains {kind} at {where}{shown}. {HOW_TO_MARK}")


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    if labels.dtype.kind == "O":
        found = [is_missing(label) for label in labels.flat]
        return np.array(found, dtype=bool).reshape(labels.shape)
    return np.zeros(labels.shape, dtype=bool)


# Containers --------------------------------------------------------------------------------------


def _columns(y: Any) -> list[Any]:
    """The columns of a frame of pandas or polars, or of a table of Arrow; none of others."""
    if hasattr(y, "iloc") and y.ndim == 2:
        return [y.iloc[:, j] for j in range(y.shape[1])]
    if hasattr(y, "get_columns"):
        return y.get_columns()
    return list(y.columns) if hasattr(y, "column_names") else []


def _as_array(y: Any) -> tuple[NDArray[Any], Order]:
    """One array, and the order of its labels where y is an ordered categorical, or an Enum."""
    if isinstance(y, (list, tuple)):
        return typed(np.array(y, dtype=object)), None
    if hasattr(y, "null_count") and hasattr(y, "type"):  # Arrow's
        return _arrow_array(y)
    kind: Any = getattr(y, "dtype", None)
    ordered = getattr(kind, "ordered", False) is True or type(kind).__name__ == "Enum"
    order = tuple(map(plain, kind.categories.to_list())) if ordered else None
    # polars and pandas make floats of whole numbers with gaps.
    if hasattr(kind, "is_integer") and kind.is_integer() and y.null_count():
        return boxed(y.to_list()), order
    gaps = hasattr(y, "isna") and getattr(kind, "kind", "") in "iu" and y.isna().any()
    return typed(np.asarray(y, dtype=object if gaps else None)), order


def _arrow_array(y: Any) -> tuple[NDArray[Any], Order]:
    if not hasattr(y.type, "ordered"):
        gaps = y.null_count and "int" in str(y.type)  # whole numbers with gaps are no floats
        return boxed(y.to_pylist()) if gaps else typed(np.asarray(y)), None
    # Not every type of value can be decoded, or have its dictionaries unified, by Arrow.
    decoded, known = [boxed(())], dict[Any, None]()
    for piece in y.chunks if hasattr(y, "chunks") else [y]:
        values = _arrow_array(piece.dictionary)[0]
        known |= dict.fromkeys(map(plain, values))
        labels = values[piece.indices.fill_null(0).to_numpy(zero_copy_only=False)]
        if piece.null_count:
            labels = boxed(labels)
            labels[piece.is_null().to_numpy(zero_copy_only=False)] = None
        decoded.append(labels)
    labels = np.concatenate(_of_one_kind([part for part in decoded if len(part)] or decoded))
    return labels, tuple(known) if y.type.ordered else None


def boxed(labels: Any) -> NDArray[Any]:
    """One dimension of objects, each as it is: NumPy's own would make integers of dates."""
    items = list(labels)
    box = np.empty(len(items), dtype=object)
    box[:] = items
    return box


def _of_one_kind(arrays: Sequence[NDArray[Any]]) -> Sequence[NDArray[Any]]:
    """Arrays that can be put together without a change to any label; objects if need be."""
    kinds = {array.dtype.kind for array in arrays}
    if len(kinds) == 1 or (kinds <= {*"iuf"} and "f" in kinds and _are_floats(arrays)):
        return arrays
    return [boxed(array.ravel()).reshape(array.shape) for array in arrays]


def _are_floats(arrays: Sequence[NDArray[Any]]) -> bool:
    """Whether the whole numbers among these are floats too."""
    whole = [array for array in arrays if array.dtype.kind != "f" and array.size]
    return all(a.min() >= -(2**53) and a.max() <= 2**53 for a in whole)


def typed(labels: NDArray[Any]) -> NDArray[Any]:
    """Objects of one kind with a NumPy dtype (bool, int, real, date, time) as such an array.

    Objects stay what they are where that would not be exact.
    """
    types = set(map(type, labels.flat)) if labels.dtype.kind == "O" else set()

    def all_are(kinds: tuple[Any, ...]) -> bool:
        return all(issubclass(t, kinds) for t in types)

    if not types:
        return labels
    if all_are(DATE) or all_are(DURATION):
        return _in_one_unit(labels)
    if all_are(BOOL):
        return labels.astype(bool)
    if any(issubclass(t, (*BOOL, np.timedelta64)) for t in types):  # ints to Python, NumPy
        return labels
    if all_are(INT):
        for dtype in (np.int64, np.uint64):
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            if all(low <= label <= high for label in labels.flat):
                return labels.astype(dtype)
    elif all_are(REAL):
        numbers = labels.astype(np.float64)
        # Python compares int and float exactly, NumPy does not.
        pairs = zip(labels.flat, numbers.ravel().tolist(), strict=True)
        if all(a == b or b != b for a, b in pairs):
            return numbers
    return labels


def _in_one_unit(labels: NDArray[Any]) -> NDArray[Any]:
    """The finest unit among these; objects where it does not reach as far."""
    moments = list(map(moment, labels.flat))
    whole = np.array(moments)
    if len({m.dtype for m in moments}) > 1 and any(
        b.astype(a.dtype) != a for a, b in zip(moments, whole, strict=True)
    ):
        whole = boxed(map(plain, moments))
    return whole.reshape(labels.shape)
