"""Similarities that the user has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from .._base.validation import some
from .base import Array, ClassKernel, plain


@dataclass(frozen=True, eq=False, init=False)
class Precomputed(ClassKernel):
    """A similarity of classes that you have: confusions, expert ratings, word vectors.

    Parameters
    ----------
    similarity : array-like of shape (c, c)
        Symmetric, without negative eigenvalues. A pandas DataFrame has the classes as its index
        and columns.
    classes : sequence of labels, default=None
        The classes of its rows; None are the integers 0, 1, ..., or those of the DataFrame.

    Examples
    --------
    >>> from labelens.label_kernels import Precomputed
    >>> Precomputed([[1, 0.5], [0.5, 1]], classes=["car", "lorry"])
    Precomputed(similarity=array([[1. , 0.5],
           [0.5, 1. ]]), classes=('car', 'lorry'))
    """

    similarity: Array  # (c, c)
    classes: tuple[Any, ...]

    def __init__(self, similarity: ArrayLike, classes: Iterable[Any] | None = None) -> None:
        matrix = np.array(similarity, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            raise ValueError(f"similarity must be a square matrix, got shape {matrix.shape}.")
        if hasattr(similarity, "columns") and classes is None:
            frame: Any = similarity
            classes = list(frame.columns)
            if list(frame.index) != classes:
                raise ValueError("similarity must have the same classes as its index and columns.")
        names = tuple(map(plain, range(len(matrix)) if classes is None else classes))
        if len(names) != len(matrix) or len(set(names)) < len(names):
            raise ValueError(
                f"classes must name each of the {len(matrix)} rows of similarity once, got "
                f"{some(names)}."
            )
        if not np.isfinite(matrix).all():
            raise ValueError("similarity has values that are not finite numbers.")
        largest = np.abs(matrix).max()
        if np.abs(matrix - matrix.T).max() > 1e-10 * largest:
            i, j = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
            raise ValueError(
                f"similarity is not symmetric: that of {names[i]!r} and {names[j]!r} is "
                f"{matrix[i, j]:g} one way and {matrix[j, i]:g} the other."
            )
        matrix = (matrix + matrix.T) / 2
        lowest = float(linalg.eigvalsh(matrix, subset_by_index=(0, 0))[0])
        if lowest < -1e-10 * largest * len(matrix):
            raise ValueError(
                "similarity must be positive semidefinite, and its smallest eigenvalue is "
                f"{lowest:.3g}; adding {-lowest:.3g} to the diagonal would mend that."
            )
        matrix.flags.writeable = False
        object.__setattr__(self, "similarity", matrix)
        object.__setattr__(self, "classes", names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Precomputed):
            return NotImplemented
        return self.classes == other.classes and np.array_equal(self.similarity, other.similarity)

    def __hash__(self) -> int:
        return hash((self.classes, self.similarity.tobytes()))

    def check(self, classes: Iterable[Any]) -> None:
        known = set(self.classes)
        for label in classes:
            if label not in known:
                raise ValueError(
                    f"The class {label!r} is not among those of label_kernel=Precomputed, "
                    f"{some(self.classes)}."
                )

    def between(self, classes: Sequence[Any]) -> Array:
        place = {label: i for i, label in enumerate(self.classes)}
        rows = [place[label] for label in classes]
        return self.similarity[np.ix_(rows, rows)]
