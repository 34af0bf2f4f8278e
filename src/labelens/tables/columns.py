"""Columns of a table: which are features, which are labels, and what is done about the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._base.optional import require
from .._base.types import Impute, Transformer
from .._base.validation import some
from .cells import DATES, READINGS, cells_of, read_as
from .encoder import TableEncoder
from .encoding import EncodedColumn, read_as_numbers
from .summary import ColumnSummary

if TYPE_CHECKING:
    from pandas import DataFrame as Frame

Model = TypeVar("Model", bound=Transformer)

LABEL_WORDS = {
    "label", "labels", "class", "classes", "target", "targets", "y", "category", "species",
    "diagnosis", "outcome", "response", "truth", "cluster", "genus", "variety", "type",
}  # fmt: skip
CHANCE = 1e-6  # of a column that determines the label


@dataclass(frozen=True)
class Table:
    X: NDArray[np.float64]  # (n, d)
    names: list[str]  # of the d features
    labels: Any  # (n,) or (n, m) array; None where none was asked for
    shown: Frame  # (n, some) columns as they were, to look at
    notes: list[str]
    encoder: TableEncoder  # how new rows become such features
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)  # labels, each as it was, (n,)
    groups: NDArray[Any] | None = None  # (n,) codes of rows that belong together
    unlabelled: Table | None = None  # rows without a label
    nuisance: NDArray[Any] | None = None  # (n,) or (n, m)

    @property
    def frame(self) -> Frame:
        """The features."""
        return require("pandas", extra="cli").DataFrame(self.X, columns=self.names)

    def fit(self, model: Model) -> Model:
        """The model, fitted on all rows; not every one takes a nuisance."""
        aside = {} if self.nuisance is None else {"nuisance": self.nuisance}
        model.fit(self.frame, self.labels, **aside)
        return model


def pick(
    frame: Frame,
    labels: Sequence[str] = (),
    *,
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    impute: Impute = "mean",
    na: Sequence[str] = (),
    groups: str | None = None,
    nuisance: Sequence[str] = (),
    text: bool = False,
    encoder: TableEncoder | None = None,
    typed: bool = False,
) -> Table:
    """Features and labels of a table; features are those of a `TableEncoder`.

    `encoder` is one that was fitted before; None fits one. Text in `typed` labels is no number.
    """
    for name in (*labels, *features, *drop, *nuisance, *([] if groups is None else [groups])):
        if name not in frame.columns:
            raise _unknown(frame, name)
    if twice := [name for name in labels if list(labels).count(name) > 1]:
        raise ValueError(f"The label {twice[0]!r} is named twice; once is enough.")
    notes: list[str] = list(frame.attrs.get("notes", ()))
    texts = () if typed else labels
    everything = frame = frame.assign(**{n: read_label(frame[n], na, notes) for n in texts})
    frame, columns = _labelled(frame, list(labels), notes)
    rest = everything[everything[list(labels)].isna().any(axis=1)] if labels else frame[:0]
    taken = {*labels, *drop, *nuisance, groups}
    chosen = [name for name in dict.fromkeys(features or frame.columns) if name not in taken]
    if not chosen:
        raise ValueError("No column is left to use as a feature: all are labels, or dropped.")
    if encoder is None:
        encoder = TableEncoder(impute, na=tuple(na), keep=tuple(features), text=text)
        encoder.fit(frame[chosen])
        notes += encoder.sentences()
    X, kept = _without_gaps(frame, encoder, encoder.impute, notes)
    notes += leaks(frame[kept], encoder, columns, kept)
    shown = frame.loc[kept, list(frame.columns[:8])]
    columns = {name: values[kept] for name, values in columns.items()}
    arrays = list(columns.values())
    target = arrays[0] if len(arrays) == 1 else np.column_stack(arrays) if arrays else None
    names = encoder.get_feature_names_out().tolist()
    together = None
    if groups is not None:
        together = require("pandas", extra="cli").factorize(frame[groups])[0][kept]
    beside = [_nuisance(frame[name])[kept] for name in nuisance]
    others = align(rest, encoder) if len(rest) else None
    aside = None if not beside else beside[0] if len(beside) == 1 else np.column_stack(beside)
    return Table(X, names, target, shown, notes, encoder, columns, together, others, aside)


def align(
    frame: Frame, features: TableEncoder | Sequence[str], impute: Impute | None = None
) -> Table:
    """The features that a model was fitted on; unknown categories are zero.

    Gaps are filled with the values of the encoder, which are those of the training rows, never
    with values of these. A model without one knows the names of its features only.
    """
    notes: list[str] = []
    if not isinstance(features, TableEncoder):
        # Without statistics nothing can fill a gap.
        features = TableEncoder.of([_by_name(frame, name) for name in features], "drop")
        impute = impute or "raise"  # type: ignore[assignment]
    for column in features.columns_:
        if column.name not in frame.columns:
            raise _unknown(frame, column.name)
    if impute in ("mean", "median") and impute != features.impute:
        raise ValueError(
            f"This model has no {impute} of its training rows to fill gaps with: it was fitted "
            f"with --impute {features.impute}. Fit it with --impute {impute}, or leave rows with "
            "gaps out with --impute drop."
        )
    X, kept = _without_gaps(frame, features, impute or features.impute, notes, strict=True)
    shown = frame.loc[kept, list(frame.columns[:8])]
    return Table(X, features.get_feature_names_out().tolist(), None, shown, notes, features)


def _without_gaps(
    frame: Frame, encoder: TableEncoder, impute: Any, notes: list[str], strict: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Features of the rows that stay, and which these are."""
    kept: NDArray[np.bool_] = np.ones(len(frame), dtype=bool)
    if impute == encoder.impute and impute != "drop":
        X, strange = encoder.encode(frame)
    else:
        bare = TableEncoder.of(encoder.columns_, "drop", encoder.na)
        X, strange = bare.encode(frame)
        gaps = np.isnan(X)
        names = encoder.get_feature_names_out()
        counts = ", ".join(f"{n!r} {c}" for n, c in zip(names, gaps.sum(axis=0), strict=True) if c)
        if gaps.any() and impute != "drop":
            raise ValueError(
                f"Values are missing ({counts}, of {len(X)} rows), and this model has no values "
                "for gaps. Leave such rows out with --impute drop."
            )
        kept = np.asarray(~gaps.any(axis=1))
        if not kept.any():
            raise ValueError(f"Every row has a missing value ({counts}): none would be left.")
        if counts:
            notes.append(f"{int((~kept).sum())} rows with missing values are left out ({counts}).")
        X = X[kept]
    levels = {f"{c.name}={level}" for c in encoder.columns_ for level in c.levels}
    strange = [one for one in dict.fromkeys(strange) if one not in levels]
    if strange and strict:
        notes.append(
            f"Values that are not in the training rows: {', '.join(strange[:5])}. Unknown numbers "
            "are treated as missing, unknown categories as no category."
        )
    return X, kept


def leaks(
    frame: Frame, encoder: TableEncoder, labels: dict[str, NDArray[Any]], kept: Any
) -> list[str]:
    """Warnings about columns that give the label away."""
    pandas, notes = require("pandas", extra="cli"), []
    for label, values in labels.items():
        y, classes = pandas.factorize(values[kept])
        for column in encoder.columns_:
            if column.kind not in ("number", "category", "date"):
                continue
            cells = cells_of(frame[column.name], encoder.na)[1]
            x, seen = pandas.factorize(cells)
            x, of = x[x >= 0], y[x >= 0]
            if len(seen) < 2 or len(np.unique(x * np.int64(len(classes)) + of)) > len(seen):
                continue  # some value has two classes
            copy = len(seen) == len(classes) and len(seen) > len(x) / 2
            few = 2 * len(seen) <= len(x) and len(seen) <= max(2 * len(classes), 10)
            # The probability of one class for each value is at most that, if labels are random.
            chance = (np.bincount(of).max() / len(of)) ** (len(x) - len(seen))
            names = cells.dtype.kind == "O" or (np.mod(seen, 1) == 0).all()  # and no measurements
            groups = names and 2 * len(seen) <= len(x) and chance < CHANCE
            if not (copy or few or groups):
                continue
            note = f"WARNING: the column {column.name!r} determines the label {label!r}. "
            if not (copy or few):
                note += (
                    f"Each of its {len(seen)} values has one class. If they name groups of rows, "
                    f"such as persons, hold groups out together: --groups {column.name}. "
                )
            note += f"If it is known only after the label, leave it out: --drop {column.name}."
            notes.append(note)
    return notes


def _by_name(frame: Frame, name: str) -> EncodedColumn:
    """A column of numbers, or the column of text and its level in column=level, with any "="."""
    if name in frame.columns:
        return EncodedColumn(name, "number", fill=(0.0,))
    beginnings = [name[:i] for i, letter in enumerate(name) if letter == "="]
    for column in reversed(beginnings):
        if column in frame.columns:
            return EncodedColumn(column, "category", levels=(name[len(column) + 1 :],))
    raise _unknown(frame, beginnings[-1] if beginnings else name)


def _unknown(frame: Frame, name: str) -> ValueError:
    near = get_close_matches(name, list(frame.columns), n=3, cutoff=0.5)
    lower = {column.lower(): column for column in frame.columns}
    near = near or [lower[c] for c in get_close_matches(name.lower(), list(lower), n=3, cutoff=0.5)]
    return ValueError(
        f"There is no column {name!r}. "
        + (f"Did you mean {some(near)}?" if near else f"There are {some(list(frame.columns))}.")
    )


def read_label(column: Any, na: Sequence[str], notes: list[str]) -> Any:
    """A column of text without its blanks; as numbers, if most of its cells are numbers.

    Digits alone stay text, because a file with types has said so: they may be postal codes.
    """
    kind, cells = cells_of(column, na)
    if kind != "text" or hasattr(column, "cat"):
        return column
    cells[[cell is not None and not cell.strip() for cell in cells]] = None
    pandas = require("pandas", extra="cli")
    column, seen = pandas.Series(cells, column.index, object, column.name), ColumnSummary()
    seen.add(column, na)
    there = column.dropna()
    reading = None if there.map(str.isdecimal).all() else read_as_numbers(seen)
    if reading is None:
        return column
    numbers = pandas.Series(read_as(reading, cells), column.index, name=column.name)
    odd = list(dict.fromkeys(there[numbers.isna()]))
    also = f"; other cells count as no label: {some(odd)}" if odd else ""
    notes.append(f"The label {column.name!r} is read as numbers{also}.")
    return numbers


def _labelled(
    frame: Frame, labels: list[str], notes: list[str]
) -> tuple[Frame, dict[str, NDArray[Any]]]:
    if not labels:
        return frame, {}
    gaps = frame[labels].isna().any(axis=1)
    if gaps.all():
        raise ValueError(f"No row has a label in {', '.join(map(repr, labels))}.")
    if gaps.any():
        notes.append(f"{int(gaps.sum())} rows without a label are not used to fit or score.")
        frame = frame[~gaps].assign(**{name: _whole(frame[name][~gaps]) for name in labels})
    columns = [frame[name] for name in labels]
    pandas = require("pandas", extra="cli")
    for column in columns:
        if (
            column.dtype.kind in "mM"
            or pandas.api.types.is_datetime64_any_dtype(column.dtype)
            or (
                column.dtype.kind not in "iufb" and _are_dates(column.dropna().astype(str).head(50))
            )
        ):
            raise ValueError(
                f"The label {column.name!r} is a date; turn it into classes (say, the month) or a "
                "number first."
            )
    return frame, {name: _label_array(frame[name]) for name in labels}


def _whole(column: Any) -> Any:
    """Whole numbers, which gaps had made floats, as integers."""
    whole = column.dtype.kind == "f" and not (column % 1).any() and column.abs().max() < 2**53
    return column.astype(np.int64) if whole else column


def _label_array(column: Any) -> NDArray[Any]:
    if column.dtype.kind in "iufb":
        return column.to_numpy()
    return column.astype(str).to_numpy(dtype=object)


def _nuisance(column: Any) -> NDArray[Any]:
    if column.isna().any():
        raise ValueError(
            f"The column {column.name!r} of --nuisance has {int(column.isna().sum())} empty cells. "
            "Fill them, or leave such rows out."
        )
    return _label_array(column)


def _are_dates(cells: Any) -> bool:
    return any(all(READINGS[r](cell) is not None for cell in cells) for r in DATES)


def likely_labels(names: Sequence[str]) -> list[str]:
    """Columns that are called what labels are often called."""
    words = [set(re.findall("[a-z]+", re.sub("([A-Z])", r" \1", name).lower())) for name in names]
    return [name for name, own in zip(names, words, strict=True) if own & LABEL_WORDS]
