"""Sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .base import Array, ClassKernel


@dataclass(frozen=True)
class Jaccard(ClassKernel):
    """Sets: L(A, B) is the share of both in either, ``|A and B| / |A or B|``; two empty sets: 1.

    y is a multilabel indicator, one column for each thing that may be in the set, dense or sparse.
    Every distinct set is a class, the tuple of its columns; for many thousands of those
    `label_kernel="linear"`, ``|A and B|``, is the one to use.

    Examples
    --------
    >>> from labelens.label_kernels import Jaccard
    >>> Jaccard().between([(), (0, 2), (0, 1, 2, 3)])
    array([[1. , 0. , 0. ],
           [0. , 1. , 0.5],
           [0. , 0.5, 1. ]])
    """

    def between(self, classes: Sequence[Any]) -> Array:
        sizes = np.array([len(members) for members in classes], dtype=np.float64)
        rows = np.repeat(np.arange(len(classes)), sizes.astype(np.intp))
        columns = np.array([column for members in classes for column in members], dtype=np.intp)
        shape = len(classes), int(columns.max(initial=-1)) + 1
        members = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        both = (members @ members.T).toarray()
        either = sizes[:, None] + sizes - both
        return np.where(either > 0, both / np.maximum(either, 1), 1.0)
