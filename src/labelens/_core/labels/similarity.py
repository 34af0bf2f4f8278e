"""Classes of which some are similar: a one-hot matrix, and a factor of their similarity later.

Rows enter as classes do, so that one read of X suffices and new classes may come at any time. Once
they are known, L = Y S Y^T with Y one-hot and S the (c, c) similarity, and S = F F^T makes
C_xy F the cross-moment of rows and labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..._base.rounding import rounding
from ...label_kernels import Jaccard, Ordinal
from ...label_kernels.base import ClassKernel
from .classes import encode_classes, kinds_of
from .encoded import EncodedLabels, LabelMap, refuse_columns
from .numeric import numeric_columns
from .reading import Order

# S and its eigenvectors are (c, c): beyond this they would take minutes and gigabytes.
MOST_CLASSES = 5000


@dataclass(frozen=True)
class SimilarityLabels(LabelMap):
    kernel: ClassKernel
    kinds: tuple[str, ...]  # of the classes
    width: int  # columns of y
    mix: str | None
    seed: int
    decisive = ("kernel", "kinds", "width")

    @classmethod
    def for_labels(
        cls, y: Any, kernel: ClassKernel, mix: str | None, seed: int, order: Order
    ) -> SimilarityLabels:
        """`order` is that of y itself, if it is an ordered categorical."""
        if isinstance(kernel, Jaccard):
            return cls(kernel, ("tuple",), 1 if y.ndim == 1 else y.shape[1], mix, seed)
        if isinstance(kernel, Ordinal) and kernel.order is None and order is not None:
            kernel = Ordinal(order)
        refuse_columns(y, kernel, "classes")
        return cls(kernel, kinds_of(y), 1, mix, seed)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        if isinstance(self.kernel, Jaccard):
            return _encode_sets(numeric_columns(y, self.width, "jaccard", rows))
        classes, codes = encode_classes(y, self.kinds, False, rows)
        self.kernel.check(classes)
        return EncodedLabels(classes, codes)

    def factor(self, classes: tuple[Any, ...], centred: bool = True) -> NDArray[np.float64]:
        """F, (c, q), with F F^T = S, or H S H where `centred`.

        The columns of C_xy sum to zero, so both give the same; but the rank of
        H S H is the number of components that there are to find.
        """
        if len(classes) > MOST_CLASSES:
            raise ValueError(
                f"label_kernel={type(self.kernel).__name__} compares every class with every "
                f"other, for {MOST_CLASSES} classes at most, and there are {len(classes)}. Use "
                "'delta' for classes, 'rbf' for numbers, 'linear' for sets."
            )
        similarity = self.kernel.between(classes)
        # S errs by eps of its entries, and the row sums bound the norm of all of them.
        error = rounding(np.abs(similarity).sum(axis=1).max(), len(classes))
        if centred:
            similarity = similarity - similarity.mean(axis=0)
            similarity -= similarity.mean(axis=1, keepdims=True)
        values, vectors = linalg.eigh(similarity)
        keep = values > error
        if centred:
            keep[0] = False  # the mean of all classes, which H takes to zero
        if not keep.any():  # all classes are the same
            return np.zeros((len(classes), 1))
        return vectors[:, keep] * np.sqrt(values[keep])


def _encode_sets(indicator: Any) -> EncodedLabels:
    """(n, m) of 0 and 1 -> every distinct row is a class, the tuple of its columns."""
    members = sparse.csr_array(indicator)
    members.sum_duplicates()  # and sorted
    if not np.isin(members.data, (0, 1)).all():
        raise ValueError(
            "label_kernel='jaccard' takes sets as a multilabel indicator: a column for each thing "
            "that may be in a set, and values 0 and 1."
        )
    members.eliminate_zeros()
    edges, columns = members.indptr.tolist(), members.indices.tolist()
    number: dict[tuple[int, ...], int] = {}
    codes = [number.setdefault(tuple(columns[a:b]), len(number)) for a, b in pairwise(edges)]
    return EncodedLabels(tuple(number), np.array(codes, dtype=np.intp)[:, None])
