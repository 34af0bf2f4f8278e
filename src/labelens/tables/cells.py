"""Cells of a column: the values of texts in each of the usual notations.

Each reading is a function of one cell alone, so that no decision depends on how rows were cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from .._base.optional import require

# Markers of missing values among numbers and dates; in a column of text they are values.
MARKERS = frozenset(
    ("?", "-", "--", ".", "..", "*", "missing", "unknown", "not available", "tbd", "n.a.", "na.")
)
EMPTY = ""
BOOLS = {"true": 1.0, "false": 0.0}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
GROUPED = re.compile(r"[+-]?\d{1,3}([,' \u00a0\u202f]\d{3})+(\.\d+)?")
COMMA = re.compile(r"[+-]?(\d{1,3}([. \u00a0\u202f]\d{3})+|\d+)(,\d+)?")
UNITS = "$€£¥₹%\u00a0 "
ISO = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?\s*(Z|[+-]\d{2}:?\d{2})?)?"
)
SLASHED = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?)?")
NAMED = re.compile(
    r"(?:(\d{1,2})[ -]([a-z]{3,9})|([a-z]{3,9}) (\d{1,2}))\.?,?[ -](\d{4})", re.IGNORECASE
)
MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
MONTHS = {name[:end]: i for i, name in enumerate(MONTH_NAMES, 1) for end in (3, 9)}
EPOCH = datetime(1970, 1, 1)
DAY = 86400.0
GRAM, BUCKETS = 3, 32  # letters of an n-gram, and numbers that text becomes


def number(cell: str) -> float | None:
    """1234.5, 1,234.50, 1 234, $5, 12 %, (3); None: no number."""
    text = cell.strip()
    if NUMBER.fullmatch(text) or INFINITE.fullmatch(text):
        return float(text)
    bare, sign = _bare(text)
    if NUMBER.fullmatch(bare):
        return sign * float(bare)
    return sign * float(re.sub(r"[,' \u00a0\u202f]", "", bare)) if GROUPED.fullmatch(bare) else None


def comma_number(cell: str) -> float | None:
    """1234,5 and 1.234,50 as in most of Europe."""
    bare, sign = _bare(cell.strip())
    if not COMMA.fullmatch(bare):
        return None
    return sign * float(re.sub(r"[. \u00a0\u202f]", "", bare).replace(",", "."))


def _bare(text: str) -> tuple[str, float]:
    """Without currency, percent sign and brackets, and the sign."""
    sign = 1.0
    if text.startswith("(") and text.endswith(")"):
        text, sign = text[1:-1], -1.0
    return re.sub(r"^([+-]?)[$€£¥₹\u00a0 ]+", r"\1", text).rstrip(UNITS), sign


def truth(cell: str) -> float | None:
    return BOOLS.get(cell.strip().lower())


def iso_date(cell: str) -> float | None:
    """Days since 1970, of a date or a time as ISO 8601 writes it."""
    if (found := ISO.fullmatch(cell.strip())) is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    days = _days(year, month, day, hour, minute, second)
    if days is None:
        return None
    seconds = float(fraction or 0)
    if zone and zone != "Z":
        away = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:])).total_seconds()
        seconds -= away if zone[0] == "+" else -away
    return days + seconds / DAY


def day_first(cell: str) -> float | None:
    """31/12/2020, 31.12.2020"""
    found = SLASHED.fullmatch(cell.strip())
    return found and _days(found[4], found[3], found[1], found[5], found[6], found[7])


def month_first(cell: str) -> float | None:
    """12/31/2020"""
    found = SLASHED.fullmatch(cell.strip())
    return found and _days(found[4], found[1], found[3], found[5], found[6], found[7])


def month_named(cell: str) -> float | None:
    """31-Dec-2020, 31 December 2020, Dec 31, 2020"""
    found = NAMED.fullmatch(cell.strip())
    month = MONTHS.get((found[2] or found[3]).lower()) if found else None
    if found is None or month is None:
        return None
    return _days(found[5], str(month), found[1] or found[4], None, None, None)


def _days(*parts: str | None) -> float | None:
    year, month, day, hour, minute, second = (int(part or 0) for part in parts)
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None
    return (moment - EPOCH).total_seconds() / DAY


# In this order: the first that reads as many cells as any other is taken.
READINGS: dict[str, Callable[[str], float | None]] = {
    "number": number,
    "comma": comma_number,
    "truth": truth,
    "iso": iso_date,
    "month first": month_first,
    "day first": day_first,
    "month named": month_named,
}
NUMERIC, DATES = ("number", "comma", "truth"), ("iso", "month first", "day first", "month named")


def is_plain(cell: str) -> bool:
    """A number or a date as programs write it."""
    return bool(NUMBER.fullmatch(cell) or ISO.fullmatch(cell))


def is_marker(cell: str) -> bool:
    return cell.strip().lower() in MARKERS


def cells_of(column: Any, na: Collection[str] = ()) -> tuple[str, NDArray[Any]]:
    """A column as ("number" | "truth" | "iso", float64), ("list", (n, w)) or ("text", str | None).

    Gaps are NaN, or None in text; dates are days since 1970.
    """
    pandas = require("pandas", extra="cli")
    kinds = pandas.api.types
    if isinstance(column.dtype, pandas.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype if column.notna().all() else object)
    if column.dtype.kind == "c":
        raise ValueError(f"The column {column.name!r} holds complex numbers.")
    if kinds.is_datetime64_any_dtype(column.dtype):
        column = column.dt.tz_convert(None) if getattr(column.dt, "tz", None) else column
        moments = column.to_numpy("datetime64[us]")
        days = moments.astype(np.int64) / (DAY * 1e6)
        return "iso", np.where(np.isnat(moments), np.nan, days)
    if column.dtype.kind == "m":
        return "number", column.dt.total_seconds().to_numpy(np.float64)
    if kinds.is_bool_dtype(column.dtype):
        return "truth", column.to_numpy(np.float64, na_value=np.nan)
    if kinds.is_numeric_dtype(column.dtype):
        values = column.to_numpy(np.float64, na_value=np.nan)
        if (
            na
            and (
                gaps := np.isin(values, [v for cell in na if (v := number(cell)) is not None])
            ).any()
        ):
            values = np.where(gaps, np.nan, values)
        return "number", values
    values = column.to_numpy(object)
    first = next((v for v in values[:1000] if v is not None and v is not pandas.NA), None)
    if isinstance(first, (list, tuple, np.ndarray)):
        if not any(isinstance(item, str) for item in first):
            return "list", _lists(values, len(first), column.name)
        values = np.array([_joined(value) for value in values], object)
    if isinstance(first, (bool, np.bool_, datetime)) or type(first).__name__ == "date":
        guessed = pandas.Series(values).infer_objects()
        if guessed.dtype != object:
            return cells_of(guessed.rename(column.name), na)
    gaps = pandas.isna(values)
    texts = np.array(
        [None if gap else _spelled(v) for v, gap in zip(values, gaps, strict=True)], object
    )
    if na:
        texts[np.isin(texts.astype(str), list(na))] = None
    return "text", texts


def _joined(value: Any) -> Any:
    """A list of words as text."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple, np.ndarray)) else value


def _spelled(value: Any) -> str:
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)


def _lists(values: Any, width: int, name: str) -> NDArray[np.float64]:
    rows = np.full((len(values), width), np.nan)
    for i, value in enumerate(values):
        if isinstance(value, (list, tuple, np.ndarray)):
            if len(value) != width:
                raise ValueError(
                    f"The lists in column {name!r} have different lengths: {width}, and "
                    f"{len(value)} in row {i}."
                )
            rows[i] = np.array(value, dtype=np.float64)
    return rows


def read_as(reading: str, texts: NDArray[Any]) -> NDArray[np.float64]:
    """(n,) text -> numbers or days; NaN where the cell has none in this reading."""
    pandas = require("pandas", extra="cli")
    codes, uniques = pandas.factorize(texts)
    kind = NUMERIC if reading in NUMERIC else DATES
    readings = [READINGS[one] for one in sorted(kind, key=lambda one: one != reading)]

    def parse(cell: str) -> float | None:
        return next((v for one in readings if (v := one(cell)) is not None), None)

    found = [None if is_marker(cell) else parse(cell) for cell in uniques]
    values = np.array([np.nan if v is None else v for v in found] + [np.nan], np.float64)
    return values[codes]  # -1: the last


def grams(texts: NDArray[Any]) -> NDArray[np.float64]:
    """(n,) text -> (n, BUCKETS): counts of hashed letter n-grams with random signs, of length 1."""
    pandas = require("pandas", extra="cli")
    codes, uniques = pandas.factorize(texts)
    rows = np.zeros((len(uniques) + 1, BUCKETS))
    for row, cell in zip(rows, uniques, strict=False):
        text = f" {' '.join(cell.lower().split())} "
        for i in range(max(1, len(text) - GRAM + 1)):
            code = crc32(text[i : i + GRAM].encode("utf-8", "surrogatepass"))
            row[(code >> 1) % BUCKETS] += 1.0 if code & 1 else -1.0
        row /= max(float(np.sqrt(np.square(row).sum())), 1.0)
    return rows[codes]
