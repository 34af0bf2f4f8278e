"""Hierarchies."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from .base import Array, ClassKernel, is_missing, plain


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
                    raise ValueError(f"parents go around in a circle at {node!r}.")
                way[node] = True
                node = table.get(node)
            safe.update(way)

    def check(self, classes: Iterable[Any]) -> None:
        known = None
        if self.parents is not None:
            known = {*self.parents, *self.parents.values()}
        for label in classes:
            if known is not None:
                if label not in known:
                    raise ValueError(f"The class {label!r} is no node of the parents of Tree.")
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
        shape = len(classes), len(number)
        rows = np.repeat(np.arange(len(paths)), [len(path) for path in paths])
        columns = np.array([node for path in paths for node in path], dtype=np.intp)
        on_the_way = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        return (on_the_way @ on_the_way.T).toarray()
