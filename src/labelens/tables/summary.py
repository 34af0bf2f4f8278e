"""Statistics of columns that merge exactly: each is a function of the cells, not of their order.

Sums are two words; distinct values are the K with the lowest hashes, with their counts. A value
that is among the lowest of all rows is among the lowest of every part, so its count is complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import inf
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._base.optional import require
from .cells import READINGS, cells_of, is_marker, is_plain

DISTINCT = 4096  # values that are kept


@dataclass
class Sums:
    """Statistics of numbers without NaN."""

    count: int = 0
    total: float = 0.0
    rest: float = 0.0  # what rounding took from the total
    low: float = inf
    high: float = -inf
    whole: bool = True

    def add(self, values: NDArray[np.float64], times: NDArray[Any] | None = None) -> None:
        if not len(values):
            return
        weighted = values if times is None else values * times
        n = len(values) if times is None else int(times.sum())
        finite = bool(np.isfinite(weighted).all())
        total = float(weighted.sum())
        whole = finite and bool((values == np.floor(values)).all())
        self.merge(Sums(n, total, 0.0, float(values.min()), float(values.max()), whole))

    def merge(self, other: Sums) -> None:
        total = self.total + other.total
        shift = total - self.total  # Knuth's two-sum
        lost = (self.total - (total - shift)) + (other.total - shift)
        self.total, self.rest = total, self.rest + other.rest + lost
        self.count += other.count
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.whole = self.whole and other.whole

    @property
    def mean(self) -> float:
        return (self.total + self.rest) / self.count


@dataclass
class Distinct:
    """Distinct values and how often each occurs; those with the lowest hashes if they are many."""

    times: dict[Any, int] = field(default_factory=dict)
    full: bool = False  # whether some were left out

    def add(self, values: Any, counts: Any) -> None:
        if len(values) > DISTINCT:
            lowest = np.argsort(_hashes(values), kind="stable")[:DISTINCT]
            values, counts, self.full = values[lowest], counts[lowest], True
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            self.times[value] = self.times.get(value, 0) + count
        if len(self.times) > DISTINCT:
            known = np.array(list(self.times), values.dtype)
            lowest = np.argsort(_hashes(known), kind="stable")[:DISTINCT]
            self.times = {value: self.times[value] for value in known[lowest].tolist()}
            self.full = True

    def merge(self, other: Distinct) -> None:
        self.full = self.full or other.full
        if other.times:
            values = list(other.times)
            kind = object if isinstance(values[0], str) else np.float64
            self.add(np.array(values, kind), np.array(list(other.times.values())))

    @property
    def unique(self) -> bool:
        """Whether no value occurs twice, as far as they are kept."""
        return all(count == 1 for count in self.times.values())

    def median(self) -> float:
        """Of numbers; of many, estimated by those that are kept."""
        values = np.array(sorted(self.times), np.float64)
        places = np.cumsum([self.times[v] for v in values.tolist()])
        n = int(places[-1])
        pair = [values[np.searchsorted(places, rank, "right")] for rank in ((n - 1) // 2, n // 2)]
        return float(pair[0] / 2 + pair[1] / 2)


def _hashes(values: NDArray[Any]) -> NDArray[np.uint64]:
    """(n,) numbers, by splitmix64 of their bits, or text."""
    if values.dtype == object:
        digests = (blake2b(v.encode("utf-8", "surrogatepass"), digest_size=8) for v in values)
        return np.frombuffer(b"".join(digest.digest() for digest in digests), "<u8")
    bits = values.astype("<f8").view("<u8").astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


@dataclass
class ColumnSummary:
    """All that is known of a column."""

    medians: bool = False  # whether the median may be asked for
    rows: int = 0
    gaps: int = 0
    types: set[str] = field(default_factory=set)  # of cells, as `cells_of` has them
    readings: dict[str, Sums] = field(default_factory=dict)  # of cells that are no markers
    texts: Distinct = field(default_factory=Distinct)
    numbers: Distinct = field(default_factory=Distinct)
    markers: Counter[str] = field(default_factory=Counter)
    n_texts: int = 0
    plain: int = 0  # of them numbers or dates as computers write them
    spaces: int = 0  # cells of several words
    clock: bool = False  # whether a date has a time of day
    items: list[Sums] | None = None  # of lists, by place

    def copied(self) -> ColumnSummary:
        return replace(
            self,
            types=set(self.types),
            readings={name: replace(sums) for name, sums in self.readings.items()},
            texts=replace(self.texts, times=dict(self.texts.times)),
            numbers=replace(self.numbers, times=dict(self.numbers.times)),
            markers=self.markers.copy(),
            items=None if self.items is None else [replace(sums) for sums in self.items],
        )

    def add(self, column: Any, na: Collection[str]) -> None:
        """Take in the cells of a pandas Series."""
        kind, values = cells_of(column, na)
        self.rows += len(values)
        if kind == "list":
            gaps = np.isnan(values).all(axis=1)
            self.gaps += int(gaps.sum())
            self.types.add(kind)
            self._widths(values.shape[1], column.name)
            for sums, item in zip(self.items or (), values.T, strict=True):
                sums.add(item[~np.isnan(item)])
            return
        if kind == "text":
            self._add_texts(values)
            return
        there = values[~np.isnan(values)]
        self.gaps += len(values) - len(there)
        if len(there):
            self.types.add(kind)
            self._read(kind, there, None)

    def _read(self, reading: str, values: NDArray[np.float64], times: Any) -> None:
        sums = self.readings.setdefault(reading, Sums())
        sums.add(values, times)
        # Distinct numbers are for medians, and for whole numbers that may number rows.
        if reading == "number" and (self.medians or sums.whole):
            if times is None:
                values, times = np.unique(values, return_counts=True)
            self.numbers.add(values + 0.0, times)  # -0.0 is 0.0
        elif reading not in ("comma", "truth"):
            self.clock = self.clock or bool((values != np.floor(values)).any())

    def _add_texts(self, values: NDArray[Any]) -> None:
        codes, uniques = require("pandas", extra="cli").factorize(values)
        times = np.bincount(codes[codes >= 0], minlength=len(uniques))
        self.gaps += int((codes < 0).sum())
        if not len(uniques):
            return
        self.types.add("text")
        self.n_texts += int(times.sum())
        self.texts.add(uniques, times)
        self.plain += sum(int(n) for c, n in zip(uniques, times, strict=True) if is_plain(c))
        self.spaces += sum(int(n) for c, n in zip(uniques, times, strict=True) if " " in c.strip())
        marked = np.array([is_marker(cell) for cell in uniques])
        for cell, count in zip(uniques[marked], times[marked], strict=True):
            self.markers[cell] += int(count)
        for reading, parse in READINGS.items():
            found = [None if m else parse(c) for c, m in zip(uniques, marked, strict=True)]
            which = np.array([v is not None for v in found])
            if which.any():
                numbers = np.array([v for v in found if v is not None], np.float64)
                self._read(reading, numbers, times[which])

    def _widths(self, width: int, name: Any) -> None:
        self.items = self.items or [Sums() for _ in range(width)]
        if len(self.items) != width:
            raise ValueError(
                f"The lists in column {name!r} have different lengths: {len(self.items)} and "
                f"{width}."
            )

    def merge(self, other: ColumnSummary) -> None:
        self.rows += other.rows
        self.gaps += other.gaps
        self.types |= other.types
        for reading, sums in other.readings.items():
            self.readings.setdefault(reading, Sums()).merge(sums)
        self.texts.merge(other.texts)
        self.numbers.merge(other.numbers)
        self.markers.update(other.markers)
        self.n_texts += other.n_texts
        self.plain += other.plain
        self.spaces += other.spaces
        self.clock = self.clock or other.clock
        if other.items is not None:
            self._widths(len(other.items), "of lists")
            for mine, theirs in zip(self.items or (), other.items, strict=True):
                mine.merge(theirs)


class TableSummary:
    """Statistics of all columns, in the order of the first rows."""

    def __init__(self, medians: bool = False) -> None:
        self.columns: dict[str, ColumnSummary] = {}
        self._medians = medians

    def copied(self) -> TableSummary:
        other = TableSummary(self._medians)
        other.columns = {name: column.copied() for name, column in self.columns.items()}
        return other

    def add(self, frame: Any, na: Collection[str] = ()) -> Self:
        self._expect([str(name) for name in frame.columns])
        for place, name in enumerate(self.columns):
            self.columns[name].add(frame.iloc[:, place].rename(name), na)
        return self

    def merge(self, other: TableSummary) -> Self:
        self._expect(list(other.columns))
        for name, summary in other.columns.items():
            self.columns[name].merge(summary)
        return self

    def _expect(self, names: list[str]) -> None:
        if not self.columns:
            if twice := [name for name, times in Counter(names).items() if times > 1]:
                raise ValueError(f"There are two columns called {twice[0]!r}; rename one.")
            self.columns = {name: ColumnSummary(self._medians) for name in names}
        if names != list(self.columns):
            strange = sorted(set(names) ^ set(self.columns)) or ["in another order"]
            raise ValueError(f"The columns are not those of the first rows: {strange[0]}.")
