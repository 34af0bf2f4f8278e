"""Which columns of a DataFrame are taken, and of what kind: known from its schema."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.validation import some
from .._engines.sources.columns import list_of
from .._engines.sources.rows import ColumnLayout, Feature

NUMBERS = {
    "boolean": "bool",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float32",
    "double": "float64",
}
LABELS = (*NUMBERS, "string", "binary", "date", "timestamp", "timestamp_ntz")
# Vectors stay sparse if the first one is, and is so long that rows in a block would be too many.
WIDEST_DENSE = 4096


@dataclass(frozen=True)
class FrameColumns:
    """Columns by name; the lengths of lists and vectors come from rows."""

    labels: tuple[str, ...]
    features: dict[str, str]  # name -> type, as Spark spells it

    @classmethod
    def of(
        cls, frame: Any, features: Any, label: Any = None, encoded: bool = False
    ) -> FrameColumns:
        """`encoded`: features are cells of any type that an encoder reads."""
        kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
        labels = _listed(label)
        names = [name for name in kinds if name not in labels] if features is None else features
        taken = dict.fromkeys(list_of(name, kinds) for name in _listed(names))
        for name in (*labels, *taken):
            if name not in kinds:
                raise ValueError(
                    f"The DataFrame has no column {name!r}; it has {some(list(kinds))}."
                )
        if both := [name for name in labels if name in taken]:
            raise ValueError(f"The column {both[0]!r} cannot be a label and a feature.")
        if not taken:
            raise ValueError("The DataFrame has no column to use as a feature.")
        for name in taken:
            if encoded:
                if kinds[name].startswith(("map", "struct", "vector")):
                    raise ValueError(
                        f"The column {name!r} holds {kinds[name]}, which no encoder reads; name "
                        "the columns to use as features."
                    )
            elif _items(kinds[name]) not in NUMBERS and kinds[name] != "vector":
                raise ValueError(
                    f"The column {name!r} holds {kinds[name]}, and features are numbers, arrays of "
                    "numbers or vectors; cast or encode it, or name the columns to use as features."
                )
        for name in labels:
            if kinds[name] not in LABELS:
                raise ValueError(
                    f"The column {name!r} holds {kinds[name]}, and a label is one of "
                    f"{', '.join(LABELS)}; cast it, or name several columns."
                )
        return cls(tuple(labels), {name: kinds[name] for name in taken})

    def selected(self, frame: Any) -> Any:
        """The DataFrame with these columns, labels first."""
        return frame.select(*map(quoted, (*self.labels, *self.features)))

    def measured(self, frame: Any) -> ColumnLayout | None:
        """With the lengths of lists, from the first row if need be; None where there is none."""
        lists = [name for name, kind in self.features.items() if kind not in NUMBERS]
        first: Any = {}
        if lists:
            first = frame.select(*map(quoted, lists)).first()
            if first is None:
                return None
        found = []
        for name, kind in self.features.items():
            vector = kind == "vector"
            width = None
            if name in lists:
                if first[name] is None:
                    raise ValueError(
                        f"The column {name!r} of the DataFrame has empty cells (nulls); fill them "
                        "first, or leave such rows out."
                    )
                width = len(first[name])
            dtype = np.dtype("float64" if vector else NUMBERS[_items(kind)])
            found.append(Feature(name, dtype, width, vector))
        only = found[0]
        stays = len(found) == 1 and only.vector and hasattr(first[only.name], "indices")
        return ColumnLayout(self.labels, tuple(found), stays and only.columns > WIDEST_DENSE)


def quoted(name: str) -> str:
    """The name in backticks, so that its dots are not read as fields of a struct."""
    return "`" + name.replace("`", "``") + "`"


def numbered(frame: Any) -> Any:
    """The same columns by other names: mapInArrow cannot see those with dots."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


def _items(kind: str) -> str:
    return kind[6:-1] if kind.startswith("array<") else kind


def _listed(names: str | Iterable[str] | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)
