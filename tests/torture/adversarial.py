"""Adversarial data: every case, by name, with the outcome that is declared."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

from hostile_names import HOSTILE_NAMES
from torture.case import (
    DAY,
    FRAME,
    KERNEL,
    LINEAR,
    RNG,
    SPARSE,
    Case,
    N,
    X,
    Y,
    csr,
    frame_with,
    unsorted,
    wide_indices,
    with_duplicates,
    with_explicit_zeros,
    wrong,
)


def mixed_scales():
    return X * np.array([1e-20, 1e-10, 1, 1e10, 1e20])


def one_a_class():
    rows = RNG.normal(size=(8, 5))
    return Case(rows, np.arange(8), k=3, only=("SPCA", "KSPCA"))


def many_classes():
    rows = RNG.normal(size=(100_000, 4)) * [4, 3, 2, 1]
    fourier = {"approximation": "fourier", "n_random_features": 40}
    return Case(rows, np.arange(100_000), tolerance=1e-8, changes=fourier)


NAN_AT_3 = np.where(np.arange(N) == 3, np.nan, Y)
NOT_TOGETHER = "mixed types"
CASES: dict[str, Any] = {
    "plain": Case(X),
    # Sizes of numbers.
    "denormals": Case(X * 1e-310, tolerance=1e-6, only=LINEAR),
    "denormals in float32": Case((X * 1e-40).astype(np.float32), tolerance=1e-3, only=LINEAR),
    "squares that underflow": Case(X * 1e-170, only=LINEAR),
    "squares that overflow": Case(X * 1e170, only=("SPCA",)),
    "embeddings that overflow": Case(
        X * 1e170, error={"SRP": (ValueError, "overflows float64: scale X down")}, only=("SRP",)
    ),
    "small, kernels": Case(X * 1e-150, only=KERNEL, changes={"gamma": "median"}),
    "large, kernels": Case(X * 1e150, only=KERNEL, changes={"gamma": "median"}),
    "sums that overflow": Case(X * 1e307, error=wrong(ValueError, "overflow|too large|scale X")),
    "3e38 in float32": Case(
        np.where(X > 0, [3e38, 1, 1, 1, 1], 0).astype(np.float32),
        only=("SPCA",),
        tolerance=1e-5,
        k=1,
    ),
    "3e38 in float32, everywhere": Case(
        (np.sign(X) * 3e38).astype(np.float32),
        error={
            "SPCA": (ValueError, "overflows float32.*float64"),
            "SRP": (ValueError, "overflows float32.*float64"),
        },
        only=LINEAR,
    ),
    "3e38 as float64": Case(np.sign(X) * 3e38 + X * 1e37, only=LINEAR),
    "offset 1e8": Case(X + 1e8, tolerance=1e-6),
    "offset 1e12 in one column": Case(
        X + np.array([1e12, 0, 0, 0, 0]), tolerance=1e-3, only=LINEAR
    ),
    "float32 at 1e4": Case((X + 1e4).astype(np.float32), tolerance=1e-3, only=LINEAR),
    "columns of very different sizes": Case(mixed_scales(), only=LINEAR),
    "negative zeros": Case(np.where(np.abs(X) < 1, -0.0, X)),
    # Degenerate shapes.
    "a constant column": Case(np.c_[X, np.full(N, 0.1)]),
    "a constant column far away": Case(np.c_[X, np.full(N, 1e15)], tolerance=1e-9, only=LINEAR),
    "constant columns but one": Case(np.c_[X[:, 0], np.full((N, 4), 7.3)], k=1, only=("SPCA",)),
    "duplicate columns": Case(np.c_[X, X, X]),
    "opposite columns": Case(np.c_[X, -X]),
    "duplicate rows": Case(np.repeat(X, 3, axis=0), np.repeat(Y, 3)),
    "p >> n": Case(RNG.normal(size=(N, 3000)) + Y[:, None]),
    "n < k": Case(X[:3], Y[:3], k=5, says="Only 2 of the 5", only=("SPCA", "SRP")),
    "n < k, in kernels": Case(X[:3], Y[:3], k=5, says="Only 2 of the 5", only=KERNEL),
    "all rows equal": Case(np.full((N, 5), 0.3), says="Only 0 of the 2"),
    "classes with equal rows": Case(np.eye(3, 5)[Y] * 0.1),
    "one row a class": one_a_class,
    "two rows": Case(X[:2], [0, 1], k=1, only=("SPCA", "SRP", "KSPCA", "KSRP")),
    "one row": Case(X[:1], Y[:1], error=wrong(ValueError, "n_samples = 1")),
    "one class": Case(X, np.zeros(N), error=wrong(ValueError, "a single class")),
    "one column": Case(X[:, :1], k=1, only=("SPCA",)),
    "100,000 classes": many_classes,
    "a class of one row": Case(X, np.where(np.arange(N) == 7, 3, Y), k=3),
    "no rows": Case(X[:0], Y[:0], error=wrong(ValueError, "0 sample")),
    "no columns": Case(X[:, :0], error=wrong(ValueError, "0 feature")),
    "a frame without columns": Case(FRAME[[]], error=wrong(ValueError, "0 feature")),
    "one dimension": Case(X[:, 0], error=wrong(ValueError, "2D array")),
    "three dimensions": Case(X[None], error=wrong(ValueError, "dim")),
    "a number": Case(1.0, error=wrong((ValueError, TypeError), "")),
    "ragged": Case([[1.0, 2], [3]] * 30, error=wrong(ValueError, "")),
    # Values that are none.
    "NaN": Case(
        np.where(X[4, 1] == X, np.nan, X), error=wrong(ValueError, "NaN at row 4, column 1")
    ),
    "infinity": Case(
        np.where(X[4, 1] == X, -np.inf, X), error=wrong(ValueError, "infinity.*row 4, column 1")
    ),
    "None in objects": Case(
        np.where(X[4, 1] == X, None, X), error=wrong((ValueError, TypeError), "row 4, column 1")
    ),
    "text": Case(FRAME.assign(width="wide"), error=wrong(ValueError, "'width' holds 'wide'")),
    "numbers as text": Case(FRAME.assign(width="1.5"), plain=FRAME.assign(width=1.5).to_numpy()),
    "complex": Case(X * 1j, error=wrong(ValueError, "[Cc]omplex")),
    "dates": Case(FRAME.assign(age=DAY), error=wrong((TypeError, ValueError), "'age'")),
    "dates with a time zone": Case(
        FRAME.assign(age=pd.DatetimeIndex(DAY).tz_localize("Europe/Oslo")),
        error=wrong((TypeError, ValueError), "'age'"),
    ),
    "time spans": Case(
        FRAME.assign(age=pd.to_timedelta(np.arange(N), "s")),
        error=wrong((TypeError, ValueError), "'age'"),
    ),
    "masked values": Case(
        np.ma.masked_greater(X, 1), error=wrong(ValueError, "masked array.*filled")
    ),
    "records": Case(np.zeros(N, dtype=[("a", float)]), error=wrong((ValueError, TypeError), "")),
    # Numbers of other types and layouts.
    "big-endian": Case(X.astype(">f8"), plain=X),
    "big-endian float32": Case(
        X.astype(">f4"), plain=X.astype(np.float32).astype(float), tolerance=1e-4
    ),
    "big-endian integers": Case((X * 100).astype(">i4"), plain=(X * 100).astype(int)),
    "Fortran": Case(np.asfortranarray(X)),
    "backwards": Case(np.ascontiguousarray(X[::-1])[::-1], plain=X),
    "every other column": Case(np.repeat(X, 2, axis=1)[:, ::2], plain=X),
    "one row over and over": Case(
        np.broadcast_to(X[0], (N, 5)), plain=np.repeat(X[:1], N, axis=0), says="Only 0 of the 2"
    ),
    "float16": Case(X.astype(np.float16), plain=X.astype(np.float16).astype(float), tolerance=1e-4),
    "long double": Case(X.astype(np.longdouble), plain=X),
    "bytes that wrap": Case(
        np.clip(X * 60 + 120, 0, 255).astype(np.uint8),
        plain=np.clip(X * 60 + 120, 0, 255).astype(np.uint8).astype(float),
    ),
    "integers beyond 2^53": Case(
        (X * 2.0**58).astype(np.int64),
        plain=(X * 2.0**58).astype(np.int64).astype(float),
        tolerance=1e-9,
        only=LINEAR,
    ),
    "bools": Case(X > 0, plain=(X > 0).astype(float)),
    "objects": Case(X.astype(object), plain=X),
    "decimals": Case(
        np.array([[Decimal(repr(v)) for v in row] for row in X.tolist()], dtype=object), plain=X
    ),
    "lists": Case(X.tolist(), plain=X),
    "a mask that hides nothing": Case(np.ma.array(X, mask=False), plain=X),
    "read-only": Case(np.frombuffer(X.tobytes()).reshape(X.shape), plain=X),
    # Sparse rows.
    "CSR": Case(SPARSE, plain=SPARSE.toarray()),
    "explicit zeros": Case(with_explicit_zeros(), plain=SPARSE.toarray()),
    "unsorted indices": Case(unsorted(), plain=SPARSE.toarray()),
    "duplicate entries": Case(with_duplicates(), plain=SPARSE.toarray()),
    "COO with duplicates": Case(with_duplicates(sparse.coo_array), plain=SPARSE.toarray()),
    "int64 indices": Case(wide_indices(), plain=SPARSE.toarray()),
    "CSC": Case(SPARSE.tocsc(), plain=SPARSE.toarray()),
    "DOK": Case(SPARSE.todok(), plain=SPARSE.toarray()),
    "a matrix": Case(sparse.csr_matrix(SPARSE), plain=SPARSE.toarray()),
    "sparse integers": Case(
        sparse.csr_array((SPARSE * 50).astype(np.int8)),
        plain=(SPARSE * 50).astype(np.int8).toarray().astype(float),
    ),
    "sparse, empty rows and columns": Case(
        sparse.csr_array(SPARSE.toarray() * (np.arange(5) != 2) * (np.arange(N) != 4)[:, None]),
        plain=SPARSE.toarray() * (np.arange(5) != 2) * (np.arange(N) != 4)[:, None],
    ),
    "sparse, no entry": Case(
        sparse.csr_array((N, 5)), plain=np.zeros((N, 5)), says="Only 0 of the 2"
    ),
    "sparse NaN": Case(
        sparse.csr_array(np.where(X[4, 1] == X, np.nan, SPARSE.toarray())),
        error=wrong(ValueError, "NaN at row 4, column 1"),
    ),
    "indices out of bounds": Case(
        csr(np.ones(N), np.full(N, 5_000_000), np.arange(N + 1)),
        error=wrong(ValueError, "ind(ex|ices)"),
    ),
    "negative indices": Case(
        csr(np.ones(N), np.full(N, -3), np.arange(N + 1)), error=wrong(ValueError, "ind(ex|ices)")
    ),
    "starts that go back": Case(
        csr(np.ones(N), np.zeros(N), [0, *np.arange(N)[::-1], N][: N + 1]),
        error=wrong(ValueError, "ind"),
    ),
    "starts beyond the data": Case(
        csr(np.ones(3), np.zeros(3), np.arange(N + 1) * 1000),
        error=wrong(ValueError, "ind|data"),
    ),
    # Frames.
    "a frame": Case(FRAME, plain=X),
    "duplicate names": Case(
        FRAME.set_axis([*"abbca"], axis=1), error=wrong(ValueError, "two columns named 'a'")
    ),
    "hostile names": Case(FRAME.set_axis(HOSTILE_NAMES[:5], axis=1), plain=X),
    "names that are numbers": Case(FRAME.set_axis(range(5), axis=1), plain=X),
    "names of two kinds": Case(
        FRAME.set_axis(["a", 1, "b", 2, "c"], axis=1), error=wrong(TypeError, "string")
    ),
    "two levels of names": Case(
        FRAME.set_axis(pd.MultiIndex.from_product([["a"], [*"vwxyz"]]), axis=1), plain=X
    ),
    "reordered columns": Case(
        FRAME, plain=X, then=FRAME[FRAME.columns[::-1]], error=wrong(ValueError, "order")
    ),
    "a column less": Case(FRAME, then=FRAME.iloc[:, :4], error=wrong(ValueError, "hue")),
    "a column more": Case(FRAME, then=FRAME.assign(more=1.0), error=wrong(ValueError, "more")),
    "other names": Case(
        FRAME, then=FRAME.rename(columns={"hue": "tint"}), error=wrong(ValueError, "tint")
    ),
    "nullable floats": Case(FRAME.astype("Float64"), plain=X),
    "nullable integers": Case(
        (FRAME * 100).round().astype("Int64"), plain=(FRAME * 100).round().to_numpy()
    ),
    "nullable bools": Case((FRAME > 0).astype("boolean"), plain=(X > 0).astype(float)),
    "nullable with a gap": Case(
        FRAME.astype("Float64").mask(FRAME.iloc[4, 1] == FRAME),
        error=wrong(ValueError, "NaN at row 4, column 'width'"),
    ),
    "Arrow floats": Case(FRAME.astype(pd.ArrowDtype(pa.float64())), plain=X),
    "Arrow integers": Case(
        (FRAME * 100).round().astype("Int64").astype(pd.ArrowDtype(pa.int32())),
        plain=(FRAME * 100).round().to_numpy(),
    ),
    "Arrow with a gap": Case(
        FRAME.astype(pd.ArrowDtype(pa.float64())).mask(FRAME.iloc[4, 1] == FRAME),
        error=wrong((ValueError, TypeError), "row 4, column 'width'"),
    ),
    "Arrow text": Case(
        FRAME.assign(hue=pd.array(["red"] * N, dtype=pd.ArrowDtype(pa.string()))),
        error=wrong((ValueError, TypeError), "'hue' holds 'red'"),
    ),
    "columns of many types": Case(
        frame_with(width=np.arange(N, dtype=np.int8), hue=X[:, 4] > 0).astype({"age": "float32"}),
        plain=np.c_[X[:, 0], np.arange(N), X[:, 2], X[:, 3].astype(np.float32), X[:, 4] > 0].astype(
            float
        ),
        tolerance=1e-5,
    ),
    "sparse columns": Case(pd.DataFrame.sparse.from_spmatrix(SPARSE), plain=SPARSE.toarray()),
    "polars": Case(pl.DataFrame({name: FRAME[name].to_numpy() for name in FRAME}), plain=X),
    "categories as features": Case(
        FRAME.assign(hue=pd.Categorical(np.array([*"rgb"])[Y])),
        error=wrong((ValueError, TypeError), "'hue' holds 'r'"),
    ),
    # Labels.
    "labels of text": Case(X, np.array(["b", "a", "ä"])[Y], codes=Y),
    "labels of hostile text": Case(X, np.array(HOSTILE_NAMES[:3], dtype=object)[Y], codes=Y),
    "labels of bytes": Case(X, np.array([b"a", b"\xff", b"\0b"])[Y], codes=Y),
    "labels of 2^70": Case(X, np.array([2**70, 2**70 + 1, -(2**70)], dtype=object)[Y], codes=Y),
    "labels that floats cannot tell apart": Case(
        X, np.array([2**53, 2**53 + 1, 2**53 + 2])[Y], codes=Y
    ),
    "labels in a list": Case(X, [["x", "y", "z"][i] for i in Y], codes=Y),
    "labels of NaN": Case(X, NAN_AT_3, error=wrong(ValueError, "NaN at row 3")),
    "labels of infinity": Case(
        X,
        np.where(np.isnan(NAN_AT_3), np.inf, NAN_AT_3),
        error=wrong(ValueError, "infinity.*row 3"),
    ),
    "labels of None": Case(
        X, np.where(np.isnan(NAN_AT_3), None, Y), error=wrong(ValueError, r"row 3 \(None\)")
    ),
    "labels of NaT": Case(
        X,
        np.where(np.arange(N) == 3, np.datetime64("NaT"), DAY[Y]),
        error=wrong(ValueError, "row 3"),
    ),
    "labels of two kinds": Case(
        X, np.where(np.isnan(NAN_AT_3), "a", Y.astype(object)), error=wrong(TypeError, NOT_TOGETHER)
    ),
    "labels of a bool among numbers": Case(
        X,
        np.where(np.isnan(NAN_AT_3), True, Y.astype(object)),
        error=wrong(TypeError, NOT_TOGETHER),
    ),
    "labels that cannot be hashed": Case(X, np.array([{}] * N), error=wrong(TypeError, "row 0")),
    "labels of complex numbers": Case(X, Y * 1j, error=wrong(ValueError, "[Cc]omplex")),
    "labels too few": Case(X, Y[:-1], error=wrong(ValueError, "60 rows, 59 labels")),
    "labels in three dimensions": Case(
        X, np.zeros((N, 2, 2)), error=wrong(ValueError, "one or two dimensions")
    ),
    "labels that are dates": Case(X, DAY[Y], codes=Y),
    "labels with a time zone": Case(
        X,
        pd.Series(pd.DatetimeIndex(DAY[Y]).tz_localize("Europe/Oslo")),
        codes=Y,
    ),
    "categories with unused levels": Case(
        X, pd.Series(pd.Categorical(np.array([*"abc"])[Y], categories=[*"zcbay"])), codes=Y
    ),
    "ordered categories": Case(
        X, pd.Series(pd.Categorical(Y, categories=[5, 2, 1, 0], ordered=True)), codes=Y
    ),
    "nullable labels": Case(X, pd.Series(Y, dtype="Int64"), codes=Y),
    "nullable labels with a gap": Case(
        X, pd.Series(Y, dtype="Int64").where(np.arange(N) != 3), error=wrong(ValueError, "row 3")
    ),
    "Arrow labels": Case(
        X, pd.Series(np.array([*"abc"])[Y], dtype=pd.ArrowDtype(pa.string())), codes=Y
    ),
    "polars labels": Case(X, pl.Series(np.array([*"abc"])[Y]), codes=Y),
    "labels of an index that is shuffled": Case(
        FRAME, pd.Series(Y, index=np.arange(N)[::-1]), plain=X, codes=Y
    ),
    "big-endian labels": Case(X, Y.astype(">i8"), codes=Y),
    # Weights.
    "weights of one": Case(X, weight=np.ones(N, dtype=int)),
    "weights that are whole": Case(X, weight=1 + Y),
    "weights of zero": Case(X, weight=(np.arange(N) % 4 > 0).astype(float)),
    "huge weights": Case(X, weight=np.full(N, 1e300)),
    "tiny weights": Case(X, weight=np.full(N, 1e-300)),
    "weights over 600 decades": Case(
        X, weight=np.where(np.arange(N) % 2, 1e-300, 1e300), only=LINEAR, tolerance=1e-6
    ),
    "negative weights": Case(X, weight=-np.ones(N), error=wrong(ValueError, "negative at row 0")),
    "weights of NaN": Case(
        X, weight=np.full(N, np.nan), error=wrong(ValueError, "NaN or infinity.*row 0")
    ),
    "no weight at all": Case(X, weight=np.zeros(N), error=wrong(ValueError, "non-zero")),
    "weights too few": Case(X, weight=np.ones(3), error=wrong(ValueError, "sample_weight")),
}
