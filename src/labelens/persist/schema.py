"""Tables of fields: one entry says how a value is written, and how it is read and checked.

A table maps the names in a file to kinds of field. `put` writes the attributes of an object by it
and `take` reads them: a `Fact` is in the header, a `Block` and `Rows` are arrays, `name.field`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base import devices
from .container import DTYPES
from .strict import FLOAT, NUMBER, Arrays, fields, within

Puts = dict[str, NDArray[Any]]
ANY_NUMBER = tuple(dtype.name for dtype in DTYPES.values())


@dataclass(frozen=True)
class Fact:
    types: Any  # of JSON: one, or a union of them
    write: Callable[[Any], Any] = lambda value: value
    read: Callable[[Any], Any] = lambda fact: fact
    limits: tuple[float, float] | None = None  # the lowest, and the first that is too high
    attribute: str = ""  # where it has another name than the field


OR_INFINITE = Fact(  # a number, null where it is infinite
    NUMBER | None,
    lambda value: None if value == np.inf else float(value),
    lambda fact: np.inf if fact is None else float(fact),
)


@dataclass(frozen=True)
class Block:
    """An array, or a number where the shape is empty; words in it are sizes of its object alone."""

    shape: str = ""
    dtypes: tuple[str, ...] = FLOAT
    finite: bool = True
    positive: bool = False  # a number
    attribute: str = ""

    def put(self, value: Any, key: str, arrays: Puts) -> None:
        arrays[key] = np.asarray(devices.host(value), dtype=self.dtypes[0])

    def take(self, key: str, arrays: Arrays) -> Any:
        name = key.rpartition(".")[0]
        shape = [size if len(size) == 1 else f"{size} of {name}" for size in self.shape.split()]
        array = arrays.take(key, self.dtypes, *shape, finite=self.finite)
        if self.positive and not array > 0:
            raise ValueError(f"the array {key!r} is not positive")
        return array if shape else array.item()


@dataclass(frozen=True)
class Rows:
    """A matrix, dense or CSR."""

    n: str
    d: str
    dtypes: tuple[str, ...] = ANY_NUMBER
    attribute: str = ""

    def put(self, value: Any, key: str, arrays: Puts) -> None:
        if sparse.issparse(value):
            parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
            arrays.update({f"{key}.{part}": array for part, array in parts.items()})
        else:
            arrays[key] = value

    def take(self, key: str, arrays: Arrays) -> Any:
        if key in arrays:
            return arrays.take(key, self.dtypes, self.n, self.d)
        places = ("int32", "int64")
        data = arrays.take(f"{key}.data", self.dtypes, f"entries of {key}")
        indices = arrays.take(f"{key}.indices", places, f"entries of {key}")
        starts = arrays.take(f"{key}.indptr", places, f"ends of {key}")
        width, height = arrays.sizes[self.d], arrays.sizes.setdefault(self.n, len(starts) - 1)
        if len(starts) != height + 1 or starts[0] != 0 or starts[-1] != len(data):
            raise ValueError(f"the sparse rows {key!r} do not fill their arrays")
        if (np.diff(starts) < 0).any() or ((indices < 0) | (indices >= width)).any():
            raise ValueError(f"the sparse rows {key!r} have entries outside of them")
        return sparse.csr_array((data, indices, starts), shape=(height, width))


Table = dict[str, Fact | Block | Rows]


def put(table: Table, source: Any, name: str, arrays: Puts) -> dict[str, Any]:
    """Write an object's arrays, but for those that are None, and return its facts."""
    facts = {}
    for field, kind in table.items():
        value = getattr(source, kind.attribute or field)
        if isinstance(kind, Fact):
            facts[field] = kind.write(value)
        elif value is not None:
            kind.put(value, f"{name}.{field}", arrays)
    return facts


def take(
    table: Table,
    name: str,
    arrays: Arrays,
    facts: Any = None,
    what: str = "",
    without: Collection[str] = (),
) -> dict[str, Any]:
    """Read the fields of `what`, by attribute; arrays that it is `without` are None."""
    types = {field: kind.types for field, kind in table.items() if isinstance(kind, Fact)}
    facts = fields({} if facts is None else facts, what, **types)
    found = {}
    for field, kind in table.items():
        if not isinstance(kind, Fact):
            value = None if field in without else kind.take(f"{name}.{field}", arrays)
        else:
            if kind.limits is not None and facts[field] is not None:
                within(facts[field], *kind.limits, f"the {field} of {what}")
            value = kind.read(facts[field])
        found[kind.attribute or field] = value
    return found


def made(kind: Any, values: Mapping[str, Any], **known: Any) -> Any:
    """An object of a dataclass from the values of a file, and what else it takes of the known."""
    found = known | dict(values)
    return kind(**{name: found[name] for name in kind.__dataclass_fields__ if name in found})
