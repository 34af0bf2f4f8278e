"""Models of every kind, and what it takes for two of them to be the same."""

import datetime
import struct

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)

LINEAR = (SupervisedPCA, SupervisedRandomProjection)


KERNEL = (KernelSupervisedPCA, KernelSupervisedRandomProjection)


def rows_of(kind, rng, n=96, d=6):
    d = 160 if kind == "wide" else d
    X = rng.normal(size=(n, d)) + np.arange(n)[:, None] % 3 * np.linspace(1, 2, d)
    match kind:
        case "float32":
            return X.astype(np.float32)
        case "sparse":
            return sparse.csr_array(np.where(np.abs(X) > 1, X, 0))
        case "frame":
            return pd.DataFrame(X, columns=[*"abcd", "é\n", ""])
        case "integers":
            return (X * 4).astype(np.int16)
        case "fortran":
            return np.asfortranarray(X)
    return X


def labels_of(kind, n=96):
    number = np.arange(n) % 3
    day = np.datetime64("2024-02-28", "D")
    match kind:
        case "int":
            return number - 1
        case "seven":
            return np.arange(n) % 7
        case "whole float":
            return number.astype(float)
        case "huge and mixed":
            return np.array([10**40, 0.5, -7], dtype=object)[number]
        case "str":
            return np.array(["a", "", "\ud800é\0"], dtype=object)[number]
        case "bytes":
            return np.array([b"a", b"\xff", b"\n"])[number]
        case "bool":
            return number > 0
        case "datetime64":
            return day + number
        case "timedelta64":
            return number.astype("m8[25s]")
        case "date":
            return np.array([datetime.date(2024, 1, 1 + i) for i in number], dtype=object)
        case "datetime":
            return np.array([datetime.datetime(1, 1, 1, 0, i, 0, i) for i in number], dtype=object)
        case "columns":
            return np.stack([number, np.arange(n) % 4], axis=1)
        case "columns of objects":
            return np.array([["xyz"[i], i > 1] for i in number], dtype=object)
        case "continuous":
            return number + np.sin(np.arange(n))
        case "continuous columns":
            return np.stack([number + np.sin(np.arange(n)), np.cos(np.arange(n))], axis=1)
        case "multilabel":
            return np.stack([number == 0, number > 0, np.arange(n) % 2], axis=1).astype(int)
        case "sparse multilabel":
            return sparse.csr_matrix(labels_of("multilabel", n))
        case "some missing":
            return np.where(np.arange(n) % 5 == 1, np.nan, number)
        case "some marked":
            return np.where(np.arange(n) % 5 == 1, "?", np.array(["u", "v", "w"])[number])


def case(method, rows="dense", labels="int", **parameters):
    name = "-".join(
        [method.__name__, rows, str(labels), *(f"{k}={v}" for k, v in parameters.items())]
    )
    return pytest.param((method, rows, labels, parameters), id=name)


GRID = [
    *(case(m, rows=r) for m in LINEAR for r in ("dense", "float32", "sparse", "frame", "fortran")),
    *(case(m, scale=s) for m in LINEAR + KERNEL for s in ("minmax", "standard")),
    *(case(m, rows="sparse", scale="standard") for m in LINEAR + KERNEL),
    *(case(m, scale=(2.0, 3, 1, 0.5, 1, 1)) for m in LINEAR + KERNEL),
    *(
        case(SupervisedPCA, labels=y, n_components=1)
        for y in ("whole float", "huge and mixed", "bytes", "bool", "datetime64")
    ),
    *(
        case(m, labels=y, n_components=1)
        for m in (SupervisedPCA, SupervisedRandomProjection)
        for y in ("str", "timedelta64", "date", "datetime", "columns", "columns of objects")
    ),
    *(
        case(m, labels=y)
        for m in LINEAR
        for y in ("continuous", "continuous columns", "multilabel", "sparse multilabel", None)
    ),
    case(SupervisedPCA, labels="int", label_kernel="rbf", label_gamma=2),
    *(case(m, labels="some missing", missing_label=float("nan")) for m in LINEAR + KERNEL),
    case(SupervisedPCA, labels="str", class_weight={"a": 2.0}),
    case(SupervisedPCA, labels="date", class_weight={np.datetime64("2024-01-02"): 2}),
    case(SupervisedPCA, class_weight={np.int64(0): np.float32(2.5), 1: 0}, n_components=1),
    case(SupervisedPCA, labels="some marked", missing_label="?", target_weight=0.5),
    *(
        case(SupervisedRandomProjection, labels=y, label_map=how)
        for y, how in (
            ("int", "gaussian"),
            ("str", "gaussian"),
            ("int", "fourier"),
            ("seven", "spread"),
            ("int", "spread"),
        )
    ),
    *(
        case(SupervisedRandomProjection, labels=y, label_map=how)
        for y, how in (("continuous", "fourier"), ("continuous columns", "gaussian"))
    ),
    *(
        case(m, **{name: value})
        for m in LINEAR + KERNEL
        for name, value in (("target_weight", 0.3), ("shrinkage", 0.1), ("shrinkage", "auto"))
    ),
    case(SupervisedPCA, scale="standard", shrinkage="auto"),
    case(SupervisedPCA, scale="minmax", target_weight=0.5, shrinkage=0.5),
    case(SupervisedRandomProjection, scale="minmax", target_weight=0.5, shrinkage=0.5),
    *(
        case(m, labels=y, label_shrinkage=0.5, n_components=1)
        for m in (SupervisedPCA, SupervisedRandomProjection, KernelSupervisedPCA)
        for y in ("int", "columns", "continuous", "sparse multilabel")
    ),
    case(SupervisedPCA, batch_size=16, rows="float32"),
    case(SupervisedPCA, batch_size=16, labels="continuous"),
    *(
        case(KernelSupervisedPCA, rows=rows, approximation=a)
        for a in ("fourier", "orthogonal", "fastfood", "nystroem", "exact")
        for rows in ("float32", "sparse", "integers")
    ),
    *(
        case(KernelSupervisedRandomProjection, approximation=a)
        for a in ("fourier", "orthogonal", "fastfood", "nystroem", "exact")
    ),
    *(case(m, rows="wide", n_random_features=1024) for m in KERNEL),
    *(
        case(KernelSupervisedPCA, kernel=k, approximation=a, gamma="median")
        for k in ("laplacian", "matern", "polynomial", "linear")
        for a in ("orthogonal", "nystroem", "exact")
    ),
    case(KernelSupervisedPCA, rows="sparse", kernel="poly"),
    case(KernelSupervisedPCA, kernel="polynomial", kernel_params={"degree": 2, "coef0": 0}),
    case(KernelSupervisedPCA, kernel="matern", kernel_params={"nu": np.float64(2.5)}, gamma=0.1),
    *(
        case(KernelSupervisedRandomProjection, labels=y, approximation="exact", label_map=how)
        for y, how in (("int", "gaussian"), ("continuous", "orthogonal"), (None, "orthogonal"))
    ),
    case(KernelSupervisedPCA, labels="sparse multilabel", approximation="exact"),
    case(KernelSupervisedPCA, labels="columns", approximation="exact", rows="fortran"),
    case(KernelSupervisedPCA, rows="fortran", kernel="polynomial", approximation="exact"),
    case(KernelSupervisedPCA, labels=None),
]


ATTRIBUTES = ["components_", "mean_", "dual_coef_", "classes_", "singular_values_", "dependence_"]


ATTRIBUTES += ["dependence_ratio_", "n_samples_seen_", "n_features_in_", "feature_names_in_"]


ATTRIBUTES += ["gamma_", "label_kernel_", "shrinkage_"]


def fitted(composition, rng, n=96, solve=True):
    """A model with its rows and labels."""
    method, rows, labels, parameters = composition
    X = rows_of(rows, rng)
    y = None if labels is None else labels_of(labels)
    usual = {"n_components": 2, "random_state": 3}
    if method in KERNEL:
        usual["n_random_features"] = 33
    model = method(**usual | parameters)
    some = X[:n] if not isinstance(X, pd.DataFrame) else X.iloc[:n]
    (model.fit if solve else model.partial_fit)(some, None if y is None else y[:n])
    return model, X, y


def bits(value):
    """Something that is equal only where every bit, type and order in memory is."""
    match value:
        case np.ndarray() if value.dtype == object:
            return ["objects", *map(bits, value.tolist())]
        case np.ndarray():
            return value.dtype.str, value.shape, value.flags.f_contiguous, value.tobytes()
        case list() | tuple():
            return [bits(item) for item in value]
        case dict():
            return {key: bits(item) for key, item in value.items()}
        case np.floating() | float():
            return "float", struct.pack("<d", value)
    return type(value).__name__, value


def asked(model, name):
    try:
        return bits(getattr(model, name))
    except AttributeError as error:
        return str(error)


def forms(X):
    if isinstance(X, pd.DataFrame):
        return [X]
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return [
        form(dense.astype(dtype))
        for dtype in (np.float32, np.float64)
        for form in (np.ascontiguousarray, np.asfortranarray, sparse.csr_array)
    ]


def embedded(model, X):
    try:
        return bits(model.transform(X))
    except ValueError as error:  # sparse rows where dense ones were scaled
        return str(error)


def assert_same(model, other, *rows):
    assert type(model) is type(other)
    assert bits(model.get_params()) == bits(other.get_params())
    for name in ATTRIBUTES:
        assert asked(model, name) == asked(other, name), name
    assert bits(model.get_feature_names_out()) == bits(other.get_feature_names_out())
    for X in rows:
        assert embedded(model, X) == embedded(other, X)
    if isinstance(model, LINEAR):
        Z = np.arange(2.0 * model.n_components).reshape(2, -1)
        for dtype in (np.float32, np.float64):
            ours, theirs = (m.inverse_transform(Z.astype(dtype)) for m in (model, other))
            assert bits(ours) == bits(theirs)


# The same, for every kind of model: whatever is changed, a sentence or a model.
KINDS = [
    (SupervisedPCA, "frame", "str", dict(shrinkage="auto", scale="standard")),
    (SupervisedRandomProjection, "sparse", "continuous", dict(target_weight=0.5)),
    (SupervisedRandomProjection, "dense", None, {}),
    (SupervisedPCA, "dense", "columns", dict(label_shrinkage=0.5)),
    (KernelSupervisedPCA, "dense", "columns", dict(approximation="fastfood")),
    (KernelSupervisedPCA, "sparse", "int", dict(approximation="nystroem")),
    (KernelSupervisedPCA, "dense", "multilabel", dict(kernel="polynomial")),
    (KernelSupervisedRandomProjection, "sparse", "sparse multilabel", dict(approximation="exact")),
    (KernelSupervisedRandomProjection, "dense", "int", dict(approximation="exact")),
]
