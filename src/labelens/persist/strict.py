"""Strict checks of JSON, of its fields and of the shapes of arrays; ValueError for each fault."""

from __future__ import annotations

import json
import math
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

NUMBER = int | float
NAMES = {int: "an integer", float: "a number", str: "a string", bool: "true or false"}
NAMES |= {dict: "an object", list: "a list", type(None): "null"}

LONGEST_INTEGER = 300  # a float holds it
FLOAT = ("float64",)
WHOLE = ("int64",)


def parse(text: str, what: str) -> Any:
    """JSON without duplicate keys, NaN, infinity or numbers that overflow."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"{what} has {twice!r} twice")
        return found

    def finite(number: str) -> float:
        if not math.isfinite(value := float(number)):
            raise ValueError(f"{what} has {number}, which is not finite")
        return value

    def whole(number: str) -> int:
        if len(number) > LONGEST_INTEGER:
            raise ValueError(f"{what} has an integer of {len(number)} digits")
        return int(number)

    try:
        return json.loads(
            text,
            object_pairs_hook=unique,
            parse_int=whole,
            parse_float=finite,
            parse_constant=finite,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"{what} is not JSON ({error})") from None
    except RecursionError:
        raise ValueError(f"{what} is nested too deeply") from None


def fields(facts: Any, what: str, **kinds: Any) -> dict[str, Any]:
    """An object with exactly these fields; a kind is a type or a union of types."""
    if type(facts) is not dict:
        raise ValueError(f"{what} must be an object, not {_short(facts)}")
    if missing := sorted(kinds.keys() - facts.keys()):
        raise ValueError(f"{what} lacks {missing[0]!r}")
    if unknown := sorted(facts.keys() - kinds.keys()):
        raise ValueError(
            f"{what} has a field {_short(unknown[0])} that this version of labelens does not know"
        )
    for name, kind in kinds.items():
        allowed = get_args(kind) or (kind,)
        if type(facts[name]) not in allowed:  # exactly: True is no integer
            wanted = " or ".join(NAMES[one] for one in allowed)
            raise ValueError(f"{name!r} of {what} must be {wanted}, not {_short(facts[name])}")
    return facts


def within(value: Any, low: float, high: float, what: str) -> Any:
    if not low <= value < high:
        raise ValueError(f"{what} is {_short(value)}, out of range")
    return value


def texts(values: Any, what: str) -> tuple[str, ...]:
    for value in values:
        if type(value) is not str:
            raise ValueError(f"{what} must be strings, not {_short(value)}")
    return tuple(values)


class Arrays:
    """The arrays of a file, taken one by one; letters in a shape stand for `sizes`."""

    def __init__(self, arrays: dict[str, NDArray[Any]], **sizes: int) -> None:
        self._left = dict(arrays)
        self.sizes = sizes

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(
        self, name: str, dtypes: tuple[str, ...], *shape: str | int, finite: bool = True
    ) -> NDArray[Any]:
        """An array of one of the dtypes; the first array with a letter settles its size."""
        if name not in self._left:
            raise ValueError(f"the array {name!r} is missing")
        array = self._left.pop(name)
        if array.dtype.name not in dtypes:
            raise ValueError(f"the array {name!r} is {array.dtype}, not {' or '.join(dtypes)}")
        if array.ndim == len(shape):
            wanted = tuple(
                self.sizes.setdefault(letter, size) if isinstance(letter, str) else letter
                for letter, size in zip(shape, array.shape, strict=True)
            )
        if array.ndim != len(shape) or array.shape != wanted:
            spelled = ", ".join(
                f"{x}={self.sizes.get(x, '?')}" if isinstance(x, str) else str(x) for x in shape
            )
            raise ValueError(f"the array {name!r} has shape {array.shape}, not ({spelled})")
        if finite and array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"the array {name!r} has values that are not finite")
        return array

    def done(self) -> None:
        if self._left:
            raise ValueError(f"this model has no array {_short(min(self._left))}")


def _short(value: Any) -> str:
    spelled = repr(value)
    return spelled if len(spelled) <= 60 else spelled[:57] + "..."
