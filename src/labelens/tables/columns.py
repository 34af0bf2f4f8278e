"""Columns of a table: which are features, which are labels, and what is done about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._base.optional import require
from .._base.types import Impute
from .._base.validation import some
from .encoding import Encoding

if TYPE_CHECKING:
    from pandas import DataFrame as Frame

# A column of text with more values than this is a name or prose, not a category.
MOST_CATEGORIES = 50


@dataclass(frozen=True)
class Table:
    X: NDArray[np.float64]  # (n, d)
    names: list[str]  # of the d features
    labels: Any  # (n,) or (n, m) array; None where none was asked for
    shown: Frame  # (n, some) columns as they were, to look at
    notes: list[str]
    encoding: Encoding  # how new rows become such features
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)  # labels, each as it was, (n,)
    groups: NDArray[Any] | None = None  # (n,) codes of rows that belong together


def pick(
    frame: Frame,
    labels: Sequence[str] = (),
    *,
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    impute: Impute | None = None,
) -> Table:
    """Features and labels of a table: numbers as they are, categories one-hot, the rest not."""
    for name in (*labels, *features, *drop):
        if name not in frame.columns:
            raise _unknown(frame, name)
    if twice := [name for name in labels if list(labels).count(name) > 1]:
        raise ValueError(f"The label {twice[0]!r} is named twice; once is enough.")
    notes: list[str] = []
    frame, columns = _labelled(frame, list(labels), notes)
    chosen = [
        name
        for name in dict.fromkeys(features or frame.columns)
        if name not in labels and name not in drop
    ]
    numbers, parts = _as_numbers(frame, chosen, notes)
    if not parts:
        raise ValueError(
            "No column is left to use as a feature. "
            + (" ".join(notes) or "All are labels, or dropped.")
        )
    encoding = Encoding.of(parts, impute)
    if encoding.fill:
        encoding = replace(encoding, fill=_fill(numbers, impute))
    kept = _without_gaps(numbers, encoding, impute, notes)
    numbers = numbers[kept]
    shown = frame.loc[kept, list(frame.columns[:8])]
    columns = {name: values[kept] for name, values in columns.items()}
    arrays = list(columns.values())
    target = arrays[0] if len(arrays) == 1 else np.column_stack(arrays) if arrays else None
    X, names = numbers.to_numpy(np.float64), list(numbers.columns)
    return Table(X, names, target, shown, notes, encoding, columns)


def align(frame: Frame, features: Encoding | Sequence[str], impute: Impute | None = None) -> Table:
    """The features that a model was fitted on; categories that it never saw are zero.

    Gaps are filled with the values of the `Encoding`, which are those of the training rows, never
    with values of these. A model without one knows the names of its features only.
    """
    pandas = require("pandas", extra="cli")
    notes: list[str] = []
    if not isinstance(features, Encoding):
        features = Encoding.of([_origin_of(frame, name) for name in features], None)
    if impute in ("mean", "median") and impute != features.impute:
        raise ValueError(
            f"This model has no {impute} of its training rows to fill gaps with: it was fitted "
            f"{f'with --impute {features.impute}' if features.impute else 'without --impute'}. Fit "
            f"it with --impute {impute}, or leave rows with gaps out with --impute drop."
        )
    levels: dict[str, list[str]] = {}  # those that the model knows, of every column of text
    parts: list[Any] = []
    for column, level in features.parts:
        if column not in frame.columns:
            raise _unknown(frame, column)
        if level is None:
            parts.append(_numbers_again(pandas, frame[column]))
        else:
            levels.setdefault(column, []).append(level)
    unseen: list[str] = []
    for column, known in levels.items():
        values = frame[column].astype("string")
        parts += _one_hot(pandas, column, values, known)
        new = sorted(set(values.dropna().unique()).difference(known))
        unseen += [f"{column}={level}" for level in new]
    if unseen:
        notes.append(f"Unknown to the model, counted as none: {', '.join(unseen[:5])}.")
    numbers = pandas.concat(parts, axis=1)[list(features.names)]
    kept = _without_gaps(numbers, features, impute or features.impute, notes, "the training rows")
    values, shown = numbers[kept].to_numpy(np.float64), frame.loc[kept, list(frame.columns[:8])]
    return Table(values, list(features.names), None, shown, notes, features)


def _numbers_again(pandas: Any, column: Any) -> Any:
    """A column that was numbers where the model was fitted."""
    if pandas.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind != "c":
        return column.astype("float64")
    values = column.astype("string")
    numbers = pandas.to_numeric(values, errors="coerce")
    if (strange := numbers.isna() & values.notna()).any():
        raise ValueError(
            f"The column {column.name!r} held numbers where the model was fitted, and here row "
            f"{values.index[strange][0]} holds {values[strange].iloc[0]!r}."
        )
    return numbers.astype("float64")


def _origin_of(frame: Frame, name: str) -> tuple[str, str | None]:
    """A column of numbers, or the column of text and its level in column=level, with any "="."""
    if name in frame.columns:
        return name, None
    beginnings = [name[:i] for i, letter in enumerate(name) if letter == "="]
    for column in reversed(beginnings):
        if column in frame.columns:
            return column, name[len(column) + 1 :]
    raise _unknown(frame, beginnings[-1] if beginnings else name)


def _one_hot(pandas: Any, name: str, values: Any, levels: Sequence[str]) -> list[Any]:
    """A column for each level; a gap is a gap in all of them."""
    parts, gap = [], values.isna().to_numpy()
    for level in levels:
        code = (values == level).to_numpy(dtype="float64", na_value=np.nan)
        code[gap] = np.nan
        parts.append(pandas.Series(code, index=values.index, name=f"{name}={level}"))
    return parts


def _unknown(frame: Frame, name: str) -> ValueError:
    near = get_close_matches(name, list(frame.columns), n=3, cutoff=0.5)
    lower = {column.lower(): column for column in frame.columns}
    near = near or [lower[c] for c in get_close_matches(name.lower(), list(lower), n=3, cutoff=0.5)]
    return ValueError(
        f"There is no column {name!r}. "
        + (f"Did you mean {some(near)}?" if near else f"There are {some(list(frame.columns))}.")
    )


def _labelled(
    frame: Frame, labels: list[str], notes: list[str]
) -> tuple[Frame, dict[str, NDArray[Any]]]:
    if not labels:
        return frame, {}
    gaps = frame[labels].isna().any(axis=1)
    if gaps.all():
        raise ValueError(f"No row has a label in {', '.join(map(repr, labels))}.")
    if gaps.any():
        notes.append(f"{int(gaps.sum())} rows without a label are left out.")
        frame = frame[~gaps]
    columns = [frame[name] for name in labels]
    pandas = require("pandas", extra="cli")
    for column in columns:
        if _is_date(pandas, column) or (
            column.dtype.kind not in "iufb" and _looks_like_dates(pandas, column.astype("string"))
        ):
            raise ValueError(
                f"The label {column.name!r} is a date; turn it into classes (say, the month) or a "
                "number first."
            )
    return frame, {name: _label_array(frame[name]) for name in labels}


def _label_array(column: Any) -> NDArray[Any]:
    if column.dtype.kind in "iufb":
        return column.to_numpy()
    return column.astype(str).to_numpy(dtype=object)


def _as_numbers(
    frame: Frame, chosen: Sequence[str], notes: list[str]
) -> tuple[Frame, list[tuple[str, str | None]]]:
    """The features, and the column and level that each comes from."""
    pandas = require("pandas", extra="cli")
    parts: list[Any] = []
    origins: list[tuple[str, str | None]] = []
    coded: list[str] = []
    dates: list[str] = []
    prose: list[str] = []
    odd: list[str] = []
    for name in chosen:
        column = frame[name]
        if pandas.api.types.is_numeric_dtype(column.dtype):  # bools too
            if column.dtype.kind == "c":
                raise ValueError(f"The column {name!r} holds complex numbers.")
            parts.append(column.astype("float64"))
            origins.append((name, None))
        elif _is_date(pandas, column):
            dates.append(name)
        else:
            values = column.astype("string")
            levels = sorted(values.dropna().unique())
            strange = values[pandas.to_numeric(values, errors="coerce").isna() & values.notna()]
            if 0 < len(strange) < len(values) / 2:
                odd.append(f"{name!r} (row {strange.index[0]} holds {strange.iloc[0]!r})")
            if len(levels) > MOST_CATEGORIES or _looks_like_dates(pandas, values):
                (prose if len(levels) > MOST_CATEGORIES else dates).append(name)
                continue
            coded.append(f"{name!r} ({len(levels)} values)")
            parts += _one_hot(pandas, name, values, levels)
            origins += [(name, level) for level in levels]
    many = f"text with more than {MOST_CATEGORIES} different values"
    for said, names in {
        "Mostly numbers, but taken as text": odd,
        "One-hot encoded": coded,
        "Left out, because they are dates": map(repr, dates),
        f"Left out, because they are {many}": map(repr, prose),
    }.items():
        if listed := ", ".join(names):
            notes.append(f"{said}: {listed}.")
    return (pandas.concat(parts, axis=1) if parts else pandas.DataFrame(index=frame.index)), origins


def _is_date(pandas: Any, column: Any) -> bool:
    return pandas.api.types.is_datetime64_any_dtype(column.dtype) or column.dtype.kind in "mM"


def _looks_like_dates(pandas: Any, values: Any) -> bool:
    some = values.dropna().head(50)
    if not len(some) or not some.str.contains(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{4}").all():
        return False
    return bool(pandas.to_datetime(some, errors="coerce", format="mixed").notna().all())


def _fill(numbers: Frame, impute: Impute | None) -> tuple[float, ...]:
    """What gaps are filled with, by feature."""
    if (empty := numbers.isna().all()).any():
        name = numbers.columns[empty][0]
        raise ValueError(f"The column {name!r} has no value at all; leave it out with --drop.")
    return tuple(getattr(numbers, str(impute))().tolist())


def _without_gaps(
    numbers: Frame,
    encoding: Encoding,
    impute: Impute | None,
    notes: list[str],
    of: str = "their column",
) -> NDArray[np.bool_]:
    """Fill the gaps, or say which rows stay; `numbers` is changed, it is ours."""
    values = numbers.to_numpy()
    if np.isinf(values).any():
        name = numbers.columns[np.isinf(values).any(axis=0)][0]
        raise ValueError(f"The column {name!r} holds infinity; replace it first.")
    gaps = np.isnan(values)
    everything = np.ones(len(numbers), dtype=bool)
    if not gaps.any():
        return everything
    counts = gaps.sum(axis=0)
    counts = ", ".join(
        f"{name!r} {count}" for name, count in zip(numbers.columns, counts, strict=True) if count
    )
    if impute is None:
        raise ValueError(
            f"Values are missing ({counts}, of {len(numbers)} rows). Fit with --impute mean or "
            "--impute median to fill them, or leave such rows out with --impute drop."
        )
    if impute == "drop":
        kept = ~gaps.any(axis=1)
        if not kept.any():
            raise ValueError(f"Every row has a missing value ({counts}): none would be left.")
        notes.append(f"{int((~kept).sum())} rows with missing values are left out ({counts}).")
        return kept
    numbers[:] = np.where(gaps, np.array(encoding.fill), values)
    notes.append(f"Missing values are filled with the {impute} of {of} ({counts}).")
    return everything
