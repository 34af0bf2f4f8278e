"""New arrays beside those that there are, and parts of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .places import device, host, is_single, moved_to, namespace, place_of


def fill(out: Any, function: str, values: Any) -> None:
    """out[...] = function(values), without a copy where the library can."""
    apply = getattr(np if isinstance(out, np.ndarray) else namespace(out), function)
    try:
        apply(values, out=out)
    except TypeError:  # the standard knows no `out`
        out[...] = apply(values)


def empty(shape: tuple[int, ...], like: Any) -> Any:
    """An array of the same kind and dtype."""
    xp = namespace(like)
    return xp.empty(shape, dtype=like.dtype, device=device(like))


def zeros(shape: tuple[int, ...], like: Any) -> Any:
    xp = namespace(like)
    return xp.zeros(shape, dtype=like.dtype, device=device(like))


def ones(shape: tuple[int, ...], like: Any) -> Any:
    xp = namespace(like)
    return xp.ones(shape, dtype=like.dtype, device=device(like))


def like(values: NDArray[Any], array: Any, dtype: Any = None) -> Any:
    """A NumPy array where another array is, in its dtype or the one given (by NumPy's name)."""
    place = place_of(array)
    if dtype is None:
        dtype = np.float32 if is_single(array) else np.float64
    return values.astype(dtype, copy=False) if place is None else place.put(values, dtype)


_made: dict[tuple[int, str, str], tuple[Any, Any]] = {}


def made_once(values: NDArray[Any], array: Any, make: Callable[[], Any]) -> Any:
    """What is made, where another array is and in its dtype, of an array that never changes.

    It is forgotten with the array that it was made of.
    """
    place = place_of(array)
    assert place is not None
    key = (id(values), f"{place.library} {place.device}", str(array.dtype))
    if key not in _made:
        forget = partial(_forget, _made, key)
        _made[key] = weakref.ref(values, forget), make()
    return _made[key][1]


def _forget(made: dict[Any, Any], key: Any, _: Any) -> None:
    """Also while Python ends, when this module knows no names any more."""
    made.pop(key, None)


def constant_at(values: NDArray[Any], array: Any) -> Any:
    """As `like`, for an array of a model."""
    if place_of(array) is None:
        return like(values, array)
    return made_once(values, array, lambda: like(values, array))


def rows_at(rows: Any, which: Any) -> Any:
    """Some rows, by a slice or by a NumPy mask or array of numbers."""
    place = place_of(rows)
    if place is None:
        return rows[which]
    if isinstance(which, slice):
        return rows[slice(*which.indices(rows.shape[0])), :]
    numbers = np.flatnonzero(which) if which.dtype == bool else which
    return place.xp.take(rows, place.put(numbers, np.int64), axis=0)


def columns_at(rows: Any, which: NDArray[Any]) -> Any:
    """Columns in another order."""
    place = place_of(rows)
    if place is None:
        return rows[:, which]
    return place.xp.take(rows, place.put(which, np.int64), axis=1)


def stacked(above: Any, below: Any) -> Any:
    """One array above another, where the first of them is."""
    place = place_of(above)
    if place is None:
        return np.concatenate([above, host(below)])
    return place.xp.concat([above, moved_to(place, below)])
