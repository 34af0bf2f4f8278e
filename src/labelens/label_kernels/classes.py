"""Similarities of classes: grades, hierarchies, sets, and those that the user has."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from .._base.validation import some
from .base import Array, ClassKernel, is_missing, plain


@dataclass(frozen=True, init=False)
class Ordinal(ClassKernel):
    """Classes that have an order: grades, stages, ratings.

    L(a, b) is the number of thresholds that both have passed, so that classes are the less
    similar the more of them lie between (the thermometer code).

    Parameters
    ----------
    order : sequence of labels, default=None
        From the lowest to the highest. None takes that of an ordered pandas categorical, a polars
        Enum or an ordered Arrow dictionary, if y (of the first batch) is one, and else the sorted
        order of the labels that were seen.

    Examples
    --------
    >>> from labelens.label_kernels import Ordinal
    >>> Ordinal(["low", "middle", "high"]).between(["high", "low", "middle"])
    array([[2., 0., 1.],
           [0., 0., 0.],
           [1., 0., 1.]])
    """

    order: tuple[Any, ...] | None

    def __init__(self, order: Iterable[Any] | None = None) -> None:
        if order is not None:
            if isinstance(order, (str, bytes)) or not isinstance(order, Iterable):
                raise TypeError(f"order must be a sequence of labels or None, got {order!r}.")
            order = tuple(plain(label) for label in order)
            if len(set(order)) < len(order):
                twice = next(label for label in order if order.count(label) > 1)
                raise ValueError(f"order has {twice!r} twice.")
        object.__setattr__(self, "order", order)

    def check(self, classes: Iterable[Any]) -> None:
        if self.order is not None:
            _refuse_unlisted(classes, self.order, "in the order of label_kernel=Ordinal")

    def between(self, classes: Sequence[Any]) -> Array:
        order = classes if self.order is None else self.order
        passed = np.array(_positions(classes, order), dtype=np.float64)
        return np.minimum(passed[:, None], passed)


@dataclass(frozen=True)
class Tree(ClassKernel):
    """Classes in a hierarchy.

    L(a, b) is the length of the path from the root that both have in common. A class may be a
    leaf or an inner node.

    Parameters
    ----------
    separator : str, default="/"
        Labels are paths from the root, such as "animal/dog/poodle", and this is between steps.
    parents : mapping of node to parent, default=None
        The hierarchy as a table (a dict or a pandas Series) instead: labels are nodes of it, of
        any type, and nodes without a parent, or with None, are roots.

    Examples
    --------
    >>> from labelens.label_kernels import Tree
    >>> Tree().between(["animal/cat", "animal/dog/poodle", "plant"])
    array([[2., 1., 0.],
           [1., 3., 0.],
           [0., 0., 1.]])
    >>> Tree(parents={"cat": "animal", "dog": "animal"}).between(["cat", "dog"])
    array([[2., 1.],
           [1., 2.]])
    """

    separator: str = "/"
    parents: Mapping[Any, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.separator, str) or not self.separator:
            raise TypeError(f"separator must be a string, not empty, got {self.separator!r}.")
        if self.parents is None:
            return
        if not hasattr(self.parents, "items"):
            raise TypeError(
                "parents must be a dict or a Series that gives the parent of every node, got "
                f"{self.parents!r}."
            )
        table = {
            plain(node): None if is_missing(parent) else plain(parent)
            for node, parent in self.parents.items()
        }
        object.__setattr__(self, "parents", table)
        safe: set[Any] = {None}
        for node in table:
            way = {}  # in order
            while node not in safe:
                if node in way:
                    raise ValueError(f"parents has a cycle at {node!r}.")
                way[node] = True
                node = table.get(node)
            safe.update(way)

    def check(self, classes: Iterable[Any]) -> None:
        known = set() if self.parents is None else {*self.parents, *self.parents.values()}
        for label in classes:
            if self.parents is not None:
                if label not in known:
                    raise ValueError(f"The class {label!r} is not a node in the parents of Tree.")
            elif not isinstance(label, str):
                raise TypeError(
                    f"label_kernel=Tree takes paths such as 'animal/dog', and the class {label!r} "
                    f"is of type {type(label).__name__}; for other nodes pass Tree(parents=...)."
                )
            elif not self.path(label):
                raise ValueError(f"The class {label!r} is an empty path.")

    def path(self, label: Any) -> tuple[Hashable, ...]:
        """The nodes from the root to a class, that class included."""
        if self.parents is None:
            steps = label.split(self.separator)
            # One before the root, or behind the leaf, parts nothing.
            named = [i for i, step in enumerate(steps) if step]
            steps = steps[named[0] : named[-1] + 1] if named else []
            # A node is the way to it: dogs may be animals here and sausages there.
            return tuple(tuple(steps[: i + 1]) for i in range(len(steps)))
        way = [label]
        while (node := self.parents.get(way[-1])) is not None:
            way.append(node)
        return tuple(reversed(way))

    def between(self, classes: Sequence[Any]) -> Array:
        number: dict[Hashable, int] = {}
        paths = [[number.setdefault(n, len(number)) for n in self.path(c)] for c in classes]
        return _in_common(paths)


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
        both = _in_common(classes)
        either = sizes[:, None] + sizes - both
        return np.where(either > 0, both / np.maximum(either, 1), 1.0)


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
                f"{lowest:.3g}; adding {-lowest:.3g} to the diagonal makes it so."
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
        _refuse_unlisted(classes, self.classes, "among those of label_kernel=Precomputed")

    def between(self, classes: Sequence[Any]) -> Array:
        rows = _positions(classes, self.classes)
        return self.similarity[np.ix_(rows, rows)]


def _refuse_unlisted(classes: Iterable[Any], listed: Sequence[Any], where: str) -> None:
    known = set(listed)
    for label in classes:
        if label not in known:
            raise ValueError(f"The class {label!r} is not {where}, {some(listed)}.")


def _positions(classes: Sequence[Any], listed: Sequence[Any]) -> list[int]:
    position = {label: i for i, label in enumerate(listed)}
    return [position[label] for label in classes]


def _in_common(lists: Sequence[Sequence[int]]) -> Array:
    """(c, c): how many numbers every two of c lists have in common."""
    rows = np.repeat(np.arange(len(lists)), [len(numbers) for numbers in lists])
    columns = np.array([number for numbers in lists for number in numbers], dtype=np.intp)
    shape = len(lists), int(columns.max(initial=-1)) + 1
    members = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    return (members @ members.T).toarray()
