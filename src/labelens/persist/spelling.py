"""Labels and names as text and back, with the same type and value."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..label_kernels.base import plain
from .schema import Fact
from .strict import WHOLE, Arrays, texts


def spell(label: Any) -> tuple[str, str]:
    """A label as its type and a text; TypeError for types that a file cannot contain."""
    kind = type(label)
    if kind in (int, float):
        return "number", repr(label)
    if kind in (str, bool):
        return kind.__name__, str(label)
    if kind is bytes:
        return "bytes", label.hex()
    if kind is np.datetime64:
        return "datetime64", str(plain(label))
    if kind is np.timedelta64:
        label = plain(label)
        return "timedelta64", f"{label.astype(np.int64)} {np.datetime_data(label.dtype)[0]}"
    if kind is tuple and all(type(column) is int and column >= 0 for column in label):
        return "set", ",".join(map(str, label))
    raise TypeError(
        f"{label!r} is of type {kind.__name__}, and labels in a model file are numbers, "
        "strings, bytes, bools, dates, times or durations"
    )


def unspell(kind: str, text: str) -> Any:
    """The label with exactly this spelling."""
    try:
        label = _read(kind, text)
        if spell(label) == (kind, text):
            return label
    except (ValueError, TypeError, OverflowError):
        pass
    raise ValueError(f"there is no label of type {kind[:40]!r} with the text {text[:40]!r}")


def _read(kind: str, text: str) -> Any:
    match kind:
        case "number":
            return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        case "str":
            return text
        case "bool":
            return text == "True"
        case "bytes":
            return bytes.fromhex(text)
        case "datetime64":
            return np.datetime64(text)
        case "timedelta64":
            count, _, unit = text.partition(" ")
            return np.int64(int(count)).astype(f"m8[{unit}]")
        case "set":
            return tuple(map(int, text.split(","))) if text else ()
    raise ValueError


def read_label(stored: Any, what: str) -> Any:
    """The label of a list of type and text."""
    if type(stored) is not list or len(stored) != 2:
        raise ValueError(f"{what} is not a type and a text")
    return unspell(*texts(stored, f"the type and the text of {what}"))


LABEL_OR_NONE = Fact(  # missing_label
    list | None,
    lambda label: None if label is None else [*spell(plain(label))],
    lambda fact: None if fact is None else read_label(fact, "its missing_label"),
)


def put_texts(name: str, strings: Iterable[str], arrays: dict[str, NDArray[Any]]) -> None:
    """Concatenated UTF-8, and where each text ends."""
    pieces = [text.encode("utf-8", "surrogatepass") for text in strings]
    arrays[f"{name}.text"] = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    arrays[f"{name}.ends"] = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)


def take_texts(name: str, arrays: Arrays, count: str) -> list[str]:
    ends = arrays.take(f"{name}.ends", WHOLE, count)
    text = arrays.take(f"{name}.text", ("uint8",), f"bytes of {name}").tobytes()
    starts = np.concatenate([[0], ends])
    if (np.diff(starts) < 0).any() or starts[-1] != len(text):
        raise ValueError(f"the texts of {name!r} do not fill their array")
    edges = starts.tolist()
    try:
        return [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(edges)]
    except UnicodeDecodeError:
        raise ValueError(f"the texts of {name!r} are not UTF-8") from None
