"""Labels of every kind, and the containers and files that can hold them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

GRADES = ["low", "middle", "high", "top"]  # in an order that is not alphabetic


@dataclass(frozen=True)
class Labels:
    kind: str
    values: list[Any]  # one label a row; a tuple where there are several columns
    signal: np.ndarray  # (n, q): numbers that rows may depend on
    classes: bool  # whether the rule "auto" takes them for classes
    markers: tuple[Any, ...]  # what may stand for a missing label
    ordered: bool = False  # whether classes have an order

    @property
    def ndim(self):
        return 2 if isinstance(self.values[0], tuple) else 1

    def marked(self, labelled, marker):
        """y, with the marker where there is no label."""
        kind, values = self.kind, self.values
        if not labelled.all():
            gap = tuple([marker] * len(values[0])) if self.ndim == 2 else marker
            values = [v if there else gap for v, there in zip(values, labelled, strict=True)]
        return CONTAINERS.get(kind, as_array)(values)


def as_array(values):
    return np.array(values)


def as_objects(values):
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def as_categories(values):
    known = [None if missing(v) else v for v in values]
    return pd.Series(pd.Categorical(known, categories=GRADES, ordered=True))


def as_frame(values):
    first, second = zip(*values, strict=True)
    return pd.DataFrame({"first": list(first), "second": list(second)})


def as_graded_frame(values):
    frame = as_frame(values)
    frame["first"] = as_categories(frame["first"])
    return frame


def as_dates(values):
    return np.array(["NaT" if missing(v) else v for v in values], dtype="datetime64[D]")


def missing(value):
    return value is None or value != value


CONTAINERS = {
    "strings": as_objects,
    "decimals": as_objects,
    "bytes": as_objects,
    "big integers": as_objects,
    "dates": as_dates,
    "categories": as_categories,
    "mixed columns": as_frame,
    "graded columns": as_graded_frame,
    "sparse indicator": lambda values: sparse.csr_array(np.array(values, dtype=float)),
    "integers with gaps": lambda values: list(values),
    "continuous": lambda values: list(values) if None in values else np.array(values, float),
    "targets": lambda values: (
        [list(v) for v in values] if (None,) * 3 in values else as_array(values)
    ),
    "indicator": lambda values: (
        [list(v) for v in values] if (None,) * 3 in values else as_array(values)
    ),
}

NAMES = {
    "integers": lambda i: 3 * i - 2,
    "whole floats": float,
    "strings": lambda i: ["a", "b", "ä", " a", "10"][i],
    "booleans": lambda i: bool(i % 2),
    "bytes": lambda i: b"abcde"[i : i + 1],
    "decimals": lambda i: Decimal(i) / 8,
    "big integers": lambda i: 2**70 + i,
    "dates": lambda i: date(2024, 2, 27) + timedelta(days=i),
    "categories": lambda i: GRADES[i],
    "grades": lambda i: i,
}
MARKERS = {
    "integers": (-1,),
    "grades": (-1,),
    "whole floats": (float("nan"), -1.0),
    "strings": (None, float("nan"), "?"),
    "bytes": (None,),
    "decimals": (None,),
    "big integers": (None,),
    "dates": (float("nan"),),
    "categories": (float("nan"),),
    "continuous": (float("nan"), None),
    "targets": (float("nan"), None),
    "indicator": (float("nan"), None),
    "columns": (-1,),
    "mixed columns": (),
}
LABELS = (
    *NAMES,
    "continuous",
    "targets",
    "indicator",
    "sparse indicator",
    "columns",
    "twin columns",
    "mixed columns",
    "graded columns",
)


def draw_labels(kind, n, rng):
    """N labels; every class is among the last rows, and few of them among the first."""
    markers = MARKERS.get(kind, ())
    if kind in NAMES:
        count = 2 if kind == "booleans" else int(rng.integers(2, 5))
        codes = np.concatenate(
            [rng.integers(0, 2, n // 2), rng.permutation(np.arange(n - n // 2) % count)]
        )
        values = [NAMES[kind](int(code)) for code in codes]
        ordered = kind in ("categories", "grades")
        return Labels(kind, values, np.eye(count)[codes], True, markers, ordered)
    if kind == "continuous":
        numbers = rng.normal(size=n)
        return Labels(kind, numbers.tolist(), np.c_[numbers, numbers**2], False, markers)
    if kind == "targets":
        far = np.array([0, 0, 1000])
        numbers = rng.normal(size=(n, 3)) + far
        return Labels(kind, list(map(tuple, numbers.tolist())), numbers - far, False, markers)
    if kind in ("indicator", "sparse indicator"):
        sets = rng.integers(0, 2, (n, 3))
        return Labels(kind, list(map(tuple, sets.tolist())), sets, False, markers)
    if kind == "twin columns":
        codes = np.repeat(rng.permutation(np.arange(n) % 3)[:, None], 2, axis=1)
        signal = np.eye(3)[codes[:, 0]]
        return Labels(kind, list(map(tuple, codes.tolist())), signal, True, (-1,))
    if kind == "columns":  # integers in two columns, of which the first half looks like sets
        codes = rng.integers(0, 2, (n, 2))
        codes[n // 2 :] = rng.integers(0, 3, (n - n // 2, 2))
        codes[-1] = 2
        signal = np.eye(3)[codes].reshape(n, -1)
        return Labels(kind, list(map(tuple, codes.tolist())), signal, True, markers)
    assert kind in ("mixed columns", "graded columns")
    names, numbers = rng.integers(0, 3, n), rng.normal(size=n)
    names[:3] = range(3)
    spelled = GRADES if kind == "graded columns" else "xyz"
    values = [(spelled[i], float(v)) for i, v in zip(names, numbers, strict=True)]
    return Labels(kind, values, np.c_[np.eye(3)[names], numbers], False, markers)


# The same labels in other containers -------------------------------------------------------------


def respelled(y, rng, column=True):
    """The same labels, as another user or library would pass them; perhaps as a column."""
    if y is None or sparse.issparse(y):
        return y
    if isinstance(y, pd.DataFrame):
        return y if rng.random() < 0.5 else pl.from_pandas(y) if not _graded(y) else y
    if isinstance(y, pd.Series) and isinstance(y.dtype, pd.CategoricalDtype):
        enum = pl.Series("y", [None if missing(v) else v for v in y], dtype=pl.Enum(GRADES))
        return [y, enum][rng.integers(0, 2)]
    if isinstance(y, np.ndarray) and y.dtype.kind == "M":
        units = ["datetime64[D]", "datetime64[s]", "datetime64[ns]"]
        choices = [
            y.astype(units[rng.integers(0, 3)]),
            pd.Series(pd.to_datetime(y)),
            as_objects(y.tolist()),
        ]
        return choices[rng.integers(0, 3)]
    choices = [y, list(y)]
    if not isinstance(y, list):
        choices.append(y.astype(object))
        if y.ndim == 1:
            choices += [pd.Series(y), *([y[:, None]] if column else [])]
    return choices[rng.integers(0, len(choices))]


def _graded(frame):
    return isinstance(frame.dtypes.iloc[0], pd.CategoricalDtype)
