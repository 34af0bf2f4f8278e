"""Checks of arguments, made once; the only module that uses scikit-learn's validation helpers.

Every error names the row, the column or the label.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_n_features,
    _check_sample_weight,
    check_array,
    validate_data,
)
from sklearn.utils.validation import check_is_fitted as check_is_fitted

from . import devices

OUTPUT = "_sklearn_output_config"  # where scikit-learn stores the setting of set_output


def some(names: Sequence[Any]) -> str:
    """The first few of them, for messages."""
    more = "" if len(names) <= 8 else f" and {len(names) - 8} more"
    return ", ".join(map(repr, names[:8])) + more


def check_seed(random_state: Any) -> int:
    """Any scikit-learn `random_state` as one integer, from which every draw is made."""
    return (_drawn_once if isinstance(random_state, int) else _drawn)(random_state)


def _drawn(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


# Cached: creating a generator takes a large part of a small fit.
_drawn_once = lru_cache(64)(_drawn)


def check_number(
    value: Any,
    name: str,
    low: float,
    high: float = np.inf,
    *,
    integer: bool = False,
    open_low: bool = False,
) -> Any:
    """The value, if it is a finite number within bounds; otherwise raise an error."""
    kind: Any = Integral if integer else Real
    if isinstance(value, np.floating):
        value = value.item()  # float32 cannot be compared with the largest float64
    above = "> " if open_low else ">= "
    bounds = f"{above}{low:g}" + ("" if high == np.inf else f" and <= {high:g}")
    wanted = f"{'an integer' if integer else 'a number'} {bounds}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind):
        raise TypeError(f"{name} must be {wanted}, got {value!r}.")
    if not (low < value if open_low else low <= value) or not value <= high:
        raise ValueError(f"{name} must be {wanted}, got {value!r}.")
    if not integer and not value <= sys.float_info.max:
        raise ValueError(f"{name} must be {wanted}, and finite, got {value!r}.")
    return int(value) if integer else float(value)


# Rows ----------------------------------------------------------------------------------------


def check_rows(estimator: Any, X: Any, *, reset: bool, finite: bool = True) -> Any:
    """X -> a real ndarray in its own dtype and layout, or CSR; finite; columns as in `fit`.

    Without an estimator only X itself is checked. With finite=False the caller looks at what it
    computes from X instead, which saves a read of X, and calls `refuse_non_finite` if that is not
    finite.
    """
    if not reset and _is_as_before(estimator, X):
        if finite:
            refuse_non_finite(X, None)
        return X
    if devices.on_device(X):
        return _check_device_rows(estimator, X, reset)
    X = as_frame(devices.host(X))
    names = _column_names(X)
    if names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has two columns named {twice!r}; name every column once.")
    if names == [] and hasattr(X, "shape"):
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}): X has no columns.")
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise ValueError(f"Complex data not supported: X has dtype {X.dtype}.")
    if np.ma.is_masked(X):
        raise ValueError("X is a masked array with masked values; fill them first, X.filled(...).")
    refuse_broken(X, "X")
    how: dict[str, Any] = dict(accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
    try:
        if estimator is None:
            rows = check_array(X, input_name="X", **how)
        else:
            rows = validate_data(estimator, X, reset=reset, **how)
        if rows.dtype.kind not in "fiub":
            raise TypeError(f"X has dtype {rows.dtype}; labelens takes real numbers.")
    except (ValueError, TypeError) as error:
        if culprit := _first_non_number(X):
            row, column, value = culprit
            kind = ValueError if isinstance(value, str) else type(error)
            raise kind(
                f"X is not numeric: {_cell(row, column, names)} holds {value!r} ({error}). Encode "
                "such columns as numbers (for example with OneHotEncoder) or drop them."
            ) from error
        raise
    if rows.dtype.kind == "f" and rows.dtype.itemsize not in (4, 8):
        rows = rows.astype(np.float32 if rows.dtype.itemsize < 4 else np.float64)
    if not rows.dtype.isnative:
        rows = rows.astype(rows.dtype.newbyteorder("="))
    rows = _canonical(rows, ours=rows is not X) if sparse.issparse(rows) else aligned(rows)
    if finite:
        refuse_non_finite(rows, names)
    return rows


def as_frame(X: Any) -> Any:
    """A table or record batch of Arrow, or a frame of Dask, as one of pandas; else as it is."""
    if hasattr(X, "columns") and hasattr(X, "dask"):
        return X.compute()
    return X.to_pandas() if hasattr(X, "to_pandas") and hasattr(X, "column_names") else X


def _check_device_rows(estimator: Any, X: Any, reset: bool) -> Any:
    """Rows that stay on their device, where NaN and infinity show in what is computed from them."""
    xp = devices.namespace(X)
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead (shape={tuple(X.shape)}). Reshape X "
            "with X.reshape(-1, 1) if it is one column, or X.reshape(1, -1) if it is one row."
        )
    if 0 in X.shape:
        what = "sample" if X.shape[0] == 0 else "feature"
        raise ValueError(
            f"Found array with 0 {what}(s) (shape={tuple(X.shape)}) while a minimum of 1 is "
            "required."
        )
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"Complex data not supported: X has dtype {X.dtype}.")
    if reset and estimator is not None:
        vars(estimator).pop("feature_names_in_", None)
    if hasattr(estimator, "feature_names_in_"):
        validate_data(estimator, X, reset=False, skip_check_array=True)  # which warns
    elif estimator is not None:
        _check_n_features(estimator, X, reset=reset)
    if X.dtype in (xp.float32, xp.float64):
        return X.detach() if hasattr(X, "detach") else X
    short = xp.isdtype(X.dtype, "real floating")
    return xp.astype(X, xp.float32 if short else xp.float64)


def check_same_place(estimator: Any, place: Any, X: Any, method: str) -> None:
    """As scikit-learn's estimators do while its array API dispatch is on; ours take any without."""
    if get_config()["array_api_dispatch"] and devices.place_of(X) != place:
        raise ValueError(
            f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace "
            "and the same device as those passed to fit(); move X, or the model with to(), or turn "
            "scikit-learn's array_api_dispatch off."
        )


def all_finite(values: Any) -> bool:
    xp = devices.namespace(values)
    return bool(xp.all(xp.isfinite(values)))


def _is_as_before(estimator: Any, X: Any) -> bool:
    """Whether X is a plain array that nothing can be wrong with but its values.

    To ask scikit-learn takes as long as to embed a hundred rows.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.size > 0
        and X.dtype in (np.float32, np.float64)
        and X.dtype.isnative
        and X.flags.aligned
        and estimator is not None
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
    )


def refuse_broken(matrix: Any, what: str) -> None:
    """Reject a sparse matrix that points outside of itself: compiled code would follow it."""
    if not sparse.issparse(matrix):
        return
    if matrix.format == "coo":
        places, broken = list(zip(matrix.coords, matrix.shape, strict=True)), False
    elif matrix.format in ("csr", "csc", "bsr"):
        block = getattr(matrix, "blocksize", (1, 1))
        height, width = (side // b for side, b in zip(matrix.shape, block, strict=True))
        major, minor = (width, height) if matrix.format == "csc" else (height, width)
        starts, room = matrix.indptr, min(len(matrix.indices), len(matrix.data))
        broken = len(starts) != major + 1 or starts[0] != 0 or starts[-1] > room
        broken = broken or bool((np.diff(starts) < 0).any())
        places = [(matrix.indices[: starts[-1]], minor)]
    else:
        return  # made of Python objects, or without indices
    for index, bound in places:
        broken = broken or bool(index.size and (index.min() < 0 or index.max() >= bound))
    if broken:
        raise ValueError(
            f"{what} is a broken {matrix.format.upper()} matrix: its indices point outside of its "
            f"shape {matrix.shape} or of its arrays. Build it again, or see {what}.check_format()."
        )


def _canonical(rows: Any, ours: bool) -> Any:
    """CSR with sorted indices, none twice, in 32 bits where they fit: what every consumer takes."""
    if not rows.has_canonical_format:
        rows = rows if ours else rows.copy()
        rows.sum_duplicates()
    width = np.int32 if max(rows.nnz, *rows.shape) < 2**31 else np.int64
    indices, starts = (aligned(a.astype(width, copy=False)) for a in (rows.indices, rows.indptr))
    return sparse.csr_array((aligned(rows.data), indices, starts), shape=rows.shape)


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy if it begins in the middle of a word, as arrays off a wire may.

    NumPy multiplies those by other loops, and the last digits are others.
    """
    return np.require(array, requirements="A")


def _column_names(X: Any) -> list[Any] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)


def _cell(row: int, column: int, names: Any) -> str:
    return f"row {row}, column {column if names is None else repr(names[column])}"


def _first_non_number(X: Any) -> tuple[int, int, Any] | None:
    """Row, column and value of the first cell that is no number; None if that is not the fault."""
    if sparse.issparse(X):
        return None
    cells = np.asarray(X)
    if cells.ndim != 2 or cells.dtype.kind not in "OUSMm":
        return None
    for column in range(cells.shape[1]):
        for row, value in enumerate(cells[:, column]):
            try:
                float(value)
            except (TypeError, ValueError):
                return row, column, value
    return None


def refuse_non_finite(rows: Any, names: Any = None, before: int = 0) -> None:
    """Name the first cell that is not finite, if there is one.

    `names` are those of the columns; so many rows were `before` these.
    """
    if devices.on_device(rows):
        n, step = rows.shape[0], max(1, (1 << 26) // rows.shape[1])
        for start in range(0, n, step):  # a part that has some is looked at on the host
            if not all_finite(part := rows[start : min(start + step, n), :]):
                refuse_non_finite(devices.host(part), names, start)
        return
    values = rows.data if sparse.issparse(rows) else rows
    if values.dtype.kind != "f" or values.size == 0:
        return
    # One fast read for the usual case; a sum that overflows falls through to the slow look.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values)) or np.isfinite(values).all():
            return
    bad = ~np.isfinite(values)
    place, count = int(np.argmax(bad)), int(bad.sum())
    if sparse.issparse(rows):
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        column = int(rows.indices[place])
    else:
        row, column = divmod(place, rows.shape[1])
    kind = "NaN" if np.isnan(values.flat[place]) else "infinity (inf)"
    raise ValueError(
        f"Input X contains {kind} at {_cell(before + row, column, names)}"
        f"{f' (and {count - 1} more values that are not finite)' if count > 1 else ''}. "
        "Impute or drop such rows first, for example with SimpleImputer."
    )


def check_embedding(Z: Any, n_components: int) -> NDArray[Any]:
    """The input of `inverse_transform`: (n, k), real and finite."""
    embedding = check_array(devices.host(Z), dtype=(np.float64, np.float32))
    if embedding.shape[1] != n_components:
        raise ValueError(
            f"X has {embedding.shape[1]} columns, and the embedding has {n_components} components."
        )
    return embedding


def wanted_container(estimator: Any) -> str:
    """The container set by `set_output`: "default", "pandas" or "polars"."""
    return set_output_of(estimator) or get_config()["transform_output"]


def set_output_of(estimator: Any) -> str | None:
    """The container set by `set_output` of this estimator; None if it was not called."""
    return vars(estimator).get(OUTPUT, {}).get("transform")


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """A fit that fails leaves the old attributes: none of them is ever changed in place."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


# Weights -------------------------------------------------------------------------------------


def check_weight(sample_weight: Any, X: Any) -> NDArray[np.float64] | None:
    """(n,) non-negative float64, at least one above zero; None where all rows weigh the same."""
    if sample_weight is None:
        return None
    sample_weight = devices.host(sample_weight)
    if np.ma.is_masked(sample_weight):
        raise ValueError(
            "sample_weight is a masked array with masked values. Fill them first, for example with "
            "a weight of 0: sample_weight.filled(0)."
        )
    values = np.asarray(sample_weight)
    if values.ndim == 0 and values.dtype == object:
        raise TypeError(
            f"sample_weight is a {type(sample_weight).__name__}; pass an array or a list with a "
            "number for every row."
        )
    if values.dtype.kind not in "biuf":
        for row, value in enumerate(values.ravel().tolist()):
            if not isinstance(value, (Real, Decimal)):
                raise TypeError(
                    f"sample_weight has {value!r} ({type(value).__name__}) at row {row}; every "
                    "weight must be a number >= 0."
                )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values)))
        raise ValueError(
            f"sample_weight contains NaN or infinity (inf) at row {row}: {values.flat[row]!r}."
        )
    rows = np.broadcast_to(np.float64(0), X.shape)  # of which only the number is looked at
    weight = _check_sample_weight(sample_weight, rows, dtype=np.float64)
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise ValueError(f"sample_weight is negative at row {row}: {weight[row]!r}.")
    if weight.size and not weight.any():  # scikit-learn 1.6 accepts it
        raise ValueError("sample_weight must contain at least one non-zero number; all are 0.")
    return aligned(weight)
