"""Rows that are on many machines, or in many pieces: where they are is no part of a method.

sources/    where rows come from, as streams of chunks
parts.py    what an engine has to offer, and the tree in which partial results are merged
ranges.py   files in parts
on_dask.py  Dask
errors.py   where in a source an error is
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import on_dask

# By the names that `labelens.fit` takes: modules with `FileParts(ranges)`, which is `Parts`.
ENGINES = {"dask": on_dask}


def engine_of(X: Any) -> ModuleType | None:
    """The engine whose collection this is; None if it is no collection of any.

    An engine is a module with `Collection(X, y, weight)`, which is `Parts`, and
    `mapped(function, X)`, which is lazy. The user has imported its library.
    """
    return on_dask if on_dask.is_dask(X) else None
