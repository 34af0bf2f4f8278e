"""One column of a table as features: decided by its statistics, once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import BUCKETS, DATES, NUMERIC, READINGS, cells_of, grams, is_marker, read_as
from .summary import ColumnSummary

KINDS = ("number", "date", "category", "list", "text")
USUAL = {"number": "number", "date": "iso"}  # readings
MISSING = "missing"
# Of the cells that are no markers so many must be numbers, or dates; the others count as gaps.
MOSTLY = 0.95
FEWEST_ROWS = 10  # below which nothing is taken for an index or an identifier
IDENTIFIER = re.compile(
    r"(^|[\W_])(id|ids|uuid|guid|key|index|idx)$|[a-z](Id|ID)$|^Unnamed: \d+$", 0
)
FEWEST_GAPS = 0.02  # of the rows, below which gaps get no feature
WAVES = {"year": 365.2425, "week": 7.0, "day": 1.0}  # days


@dataclass(frozen=True)
class EncodedColumn:
    """How cells of one column become features."""

    name: str
    kind: str  # of KINDS
    reading: str = ""  # how text is read as numbers or dates
    levels: tuple[str, ...] = ()  # of a category
    fill: tuple[float, ...] = ()  # for gaps: one of a number or date, one for each place of a list
    gaps: bool = False  # whether a feature marks gaps
    clock: bool = False  # dates: whether the time of day counts

    def __post_init__(self) -> None:
        wide = {"number": 1, "date": 1, "category": 0, "text": 0}.get(self.kind, len(self.fill))
        if self.kind not in KINDS or self.reading not in ("", *READINGS):
            raise ValueError(f"the column {self.name[:40]!r} is of no known kind")
        if len(self.fill) != wide or (self.kind == "list") > len(self.fill):
            raise ValueError(f"the column {self.name[:40]!r} has values for gaps that do not fit")
        if (self.kind == "category") != bool(self.levels):
            raise ValueError(f"the column {self.name[:40]!r} has levels without being a category")
        if self.reading and self.reading not in (NUMERIC if self.kind == "number" else DATES):
            raise ValueError(f"the column {self.name[:40]!r} is not read as {self.reading}")

    @property
    def features(self) -> list[str]:
        """Their names."""
        name = self.name
        end = [f"{name}={MISSING}"] if self.gaps else []
        if self.kind == "category":
            return [f"{name}={level}" for level in self.levels] + end
        if self.kind == "list":
            return [f"{name}[{i}]" for i in range(len(self.fill))] + end
        if self.kind == "text":
            return [f"{name}#{i}" for i in range(BUCKETS)]
        waves = [f"{name} {part} {wave}" for part in self.waves for wave in ("sin", "cos")]
        return [name, *waves, *end]

    @property
    def waves(self) -> list[str]:
        """The cycles of a date."""
        return [w for w in WAVES if w != "day" or self.clock] if self.kind == "date" else []

    def same_features(self, other: EncodedColumn) -> bool:
        """Whether moments of rows of both can be merged: where nothing was filled, fills differ."""
        filled = self.gaps or other.gaps
        return self.features == other.features and (not filled or self.fill == other.fill)

    def encode(self, column: Any, na: Any, fill: bool) -> tuple[NDArray[np.float64], list[str]]:
        """(n, features), and cells that the model does not know; without `fill` gaps are NaN."""
        found, values = cells_of(column, na)
        if self.kind == "list":
            return self._lists(found, values, fill), []
        if self.kind in ("category", "text"):
            texts = values if found == "text" else _as_text(values)
            return self._texts(texts, fill)
        strange: list[str] = []
        if found == "text":
            texts, values = values, read_as(self.reading or USUAL[self.kind], values)
            odd = [t for t in texts[np.isnan(values)] if t is not None and not is_marker(t)]
            strange = [f"{self.name}: {cell!r}" for cell in dict.fromkeys(odd)]
        if np.isinf(values).any():
            raise ValueError(f"The column {self.name!r} holds infinity; replace it first.")
        gap = np.isnan(values)
        values = np.where(gap, self.fill[0], values) if fill else values
        parts = [values]
        for wave in self.waves:
            angle = 2 * np.pi * values / WAVES[wave]
            parts += [np.sin(angle), np.cos(angle)]
        if self.gaps:
            parts.append(gap.astype(np.float64))
        return np.column_stack(parts), strange

    def _lists(self, found: str, values: NDArray[Any], fill: bool) -> NDArray[np.float64]:
        width = len(self.fill)
        if found != "list" and not (found == "text" and all(v is None for v in values)):
            raise ValueError(f"The column {self.name!r} held lists where the model was fitted.")
        rows = values if found == "list" else np.full((len(values), width), np.nan)
        if rows.shape[1] != width:
            raise ValueError(
                f"The lists in column {self.name!r} have {rows.shape[1]} numbers, and {width} "
                "where the model was fitted."
            )
        gap = np.isnan(rows)
        out = np.where(gap, np.array(self.fill), rows) if fill else rows
        return np.column_stack([out, gap.any(axis=1).astype(float)]) if self.gaps else out

    def _texts(self, texts: NDArray[Any], fill: bool) -> tuple[NDArray[np.float64], list[str]]:
        gap = np.array([text is None for text in texts], bool)
        if self.kind == "text":
            values = grams(texts)
        else:
            places = {level: j for j, level in enumerate(self.levels)}
            codes = np.array([places.get(t, -1) for t in texts], np.intp)
            values = np.zeros((len(texts), len(self.levels)))
            known = codes >= 0
            values[np.flatnonzero(known), codes[known]] = 1.0
        if not fill:
            values[gap] = np.nan
        new = (
            []
            if self.kind == "text"
            else sorted({t for t in texts if t is not None} - set(self.levels))
        )
        if self.gaps:
            values = np.column_stack([values, gap.astype(np.float64)])
        return values, [f"{self.name}={level}" for level in new]


def _as_text(values: NDArray[np.float64]) -> NDArray[Any]:
    """Numbers as a file would spell them."""
    spelled = [None if v != v else str(int(v)) if v == int(v) else repr(v) for v in values.tolist()]
    return np.array(spelled, object)


# Deciding ----------------------------------------------------------------------------------------


def decide(
    name: str, seen: ColumnSummary, impute: str, most: int, keep: bool, text: bool
) -> tuple[EncodedColumn | None, str]:
    """A column, or None, and the note on it: a key of `REASONS`, or empty."""
    there, gaps = seen.rows - seen.gaps, _marked(seen.gaps, seen, impute)
    if there == 0:
        return None, "empty"
    if "list" in seen.types:
        if seen.types != {"list"}:
            raise ValueError(f"The column {name!r} holds lists in some rows, and not in others.")
        means = tuple(sums.mean if sums.count else 0.0 for sums in seen.items or ())
        return EncodedColumn(name, "list", fill=means, gaps=gaps), ""
    marked = sum(seen.markers.values())
    reading = _reading(seen, there - marked)
    if reading is None:
        return _text(name, seen, gaps, most, keep, text or keep)
    sums = seen.readings[reading]
    kind = "number" if reading in NUMERIC else "date"
    if kind == "number" and not keep and (why := _names_rows(name, seen, sums)):
        return None, why
    middle = sums.mean
    if impute == "median" and reading == "number":
        middle = seen.numbers.median()
    if not isfinite(middle):
        raise ValueError(f"The column {name!r} holds infinity; replace it first.")
    gaps = _marked(seen.rows - sums.count, seen, impute)
    if reading in ("number", "iso") and seen.plain == seen.n_texts:
        reading = ""  # of any type
    return EncodedColumn(name, kind, reading, fill=(middle,), gaps=gaps, clock=seen.clock), ""


def _marked(gaps: int, seen: ColumnSummary, impute: str) -> bool:
    """Whether gaps get a feature: scaling would make one of a few rows as loud as any other."""
    return impute != "drop" and gaps > 0 and gaps >= FEWEST_GAPS * seen.rows


def _reading(seen: ColumnSummary, cells: int) -> str | None:
    """How most cells can be read; None as text alone."""
    counts = {reading: sums.count for reading, sums in seen.readings.items()}
    if not cells or not counts:
        return None
    best = max(READINGS, key=lambda reading: counts.get(reading, 0))
    share = 1.0 if best == "truth" else MOSTLY
    return best if counts.get(best, 0) >= share * cells else None


def read_as_numbers(seen: ColumnSummary) -> str | None:
    """How most cells of a column are read as numbers, if they are numbers."""
    reading = _reading(seen, seen.rows - seen.gaps - sum(seen.markers.values()))
    return reading if reading in ("number", "comma") else None


def _names_rows(name: str, seen: ColumnSummary, sums: Any) -> str:
    n = seen.rows
    if n < FEWEST_ROWS or sums.count < n or not sums.whole or not seen.numbers.unique:
        return ""
    ends = sums.low + sums.high
    if sums.high - sums.low + 1 == n and abs(sums.mean - ends / 2) <= 1e-9 * max(1, abs(ends)):
        return "index"
    return "identifier" if IDENTIFIER.search(name) else ""


def _text(
    name: str, seen: ColumnSummary, gaps: bool, most: int, keep: bool, text: bool
) -> tuple[EncodedColumn | None, str]:
    unique = seen.texts.unique and seen.n_texts >= FEWEST_ROWS
    prose = seen.spaces >= seen.n_texts / 2
    if unique and not prose and not keep:
        return None, "identifier"
    if len(seen.texts.times) <= most and not (unique and prose):
        mixed = not seen.types <= {"text"}
        numbers = _as_text(np.array(list(seen.numbers.times))).tolist() if mixed else []
        levels = sorted({*seen.texts.times, *numbers})
        if MISSING in levels and gaps:  # a gap by another name
            gaps = False
        return EncodedColumn(name, "category", levels=tuple(levels), gaps=gaps), ""
    return (EncodedColumn(name, "text"), "") if text else (None, "text")


REASONS = {
    "empty": "without any value",
    "index": "row numbers",
    "identifier": "a different value in every row",
    "text": "text with many values (--text or --features uses it)",
}
