"""What a case of adversarial data is, and rows that cases are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)

ESTIMATORS = {
    "SPCA": SupervisedPCA(2),
    "SRP": SupervisedRandomProjection(2, random_state=0),
    "KSPCA": KernelSupervisedPCA(2, approximation="fourier", n_random_features=40, random_state=0),
    "KSRP": KernelSupervisedRandomProjection(2, approximation="exact", random_state=0),
}
LINEAR, KERNEL, ALL = ("SPCA", "SRP"), ("KSPCA", "KSRP"), tuple(ESTIMATORS)
N = 60
Y = np.arange(N) % 3
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, 5)) + np.eye(3, 5)[Y] * [3, 2, 1, 0, 0]
FRAME = pd.DataFrame(X, columns=["height", "width", "depth", "age", "hue"])
DAY = np.datetime64("2024-02-28") + np.arange(N)
SPARSE = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0))


@dataclass
class Case:
    """Rows and labels as a user has them, and what must come of them."""

    X: Any
    y: Any = field(default_factory=lambda: Y)
    weight: Any = None
    plain: Any = None  # the same rows as a plain array, if X is none; None: np.asarray(X)
    codes: Any = None  # the same labels as numbers from 0; None: as they are
    tolerance: float = 1e-9
    error: Any = None  # a type and a pattern, or one for some of the estimators by name
    says: str | None = None  # the one warning that is declared
    then: Any = None  # rows for `transform`, if others
    k: int = 2
    changes: dict[str, Any] = field(default_factory=dict)  # parameters
    only: tuple[str, ...] = ALL


def wrong(kind, words):
    return dict.fromkeys(ALL, (kind, words))


def csr(data, indices, starts, shape=(N, 5), width=np.int32):
    """A CSR array that nobody has checked."""
    made = sparse.csr_array(shape)
    made.data, made.indices, made.indptr = (
        np.asarray(data, float),
        np.asarray(indices, width),
        np.asarray(starts, width),
    )
    return made


def with_explicit_zeros():
    made = sparse.csr_array(np.where(X == 0, 1, X))
    made.data[SPARSE.toarray().ravel() == 0] = 0
    return made


def unsorted():
    made = SPARSE.copy()
    for a, b in zip(made.indptr, made.indptr[1:], strict=False):
        made.indices[a:b] = made.indices[a:b][::-1].copy()
        made.data[a:b] = made.data[a:b][::-1].copy()
    made.has_sorted_indices = made.has_canonical_format = False
    return made


def with_duplicates(kind=sparse.csr_array):
    coo = SPARSE.tocoo()
    rows, columns = (np.concatenate([i, i]) for i in coo.coords)
    data = np.concatenate([coo.data * 0.25, coo.data * 0.75])
    if kind is sparse.coo_array:
        return sparse.coo_array((data, (rows, columns)), shape=coo.shape)
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(N + 1))
    return csr(data[order], columns[order], starts)


def wide_indices():
    made = SPARSE.copy()
    made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    return made


def frame_with(**columns):
    return FRAME.assign(**columns)
