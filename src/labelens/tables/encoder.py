"""A table encoder is fitted once by mergeable column statistics; every route uses it alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from .._base.optional import require
from .._base.types import Impute, MatrixLike
from .._base.validation import some
from .encoding import REASONS, USUAL, EncodedColumn, decide
from .summary import TableSummary

IMPUTE = ("mean", "median", "drop")


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers.

    | column | features |
    |---|---|
    | numbers, booleans, text of numbers ($1,234.50, 12 %, 1.234,5) | the number |
    | dates and times | days since 1970; sine and cosine of the year, the week and, if there are \
times, the day |
    | text with at most `most_categories` values | one for each value, 0 or 1 |
    | other text | none; with `text=True` 32 hashed counts of letter triples |
    | lists of numbers, all of one length | one for each place |
    | row numbers, identifiers, empty columns | none |

    Statistics are counts, sums and samples of distinct values that merge exactly: `partial_fit` of
    any pieces and `merge` give the encoder of `fit` on all rows.

    Parameters
    ----------
    impute : {"mean", "median", "drop"}, default="mean"
        What fills gaps of numbers and dates; a further feature says where they were, if at least
        2 % of the training rows have one. With "drop" `transform` leaves NaN, and commands leave
        such rows out. The median of more than 4096 different values is estimated by 4096 of them.
    na : sequence of str, default=()
        Further cells that stand for a gap. Among numbers and dates "?", "-", ".", "missing" and
        some others do so anyway.
    most_categories : int, default=50
        Different values of text that are still categories.
    keep : sequence of str, default=()
        Columns to use even if they number or identify rows, or are text with many values.
    text : bool, default=False
        Whether text with many values is used. Its 32 features outweigh others where columns are
        scaled, so it is left out by default.

    Attributes
    ----------
    columns_ : tuple of EncodedColumn
        The columns that are used, and how.
    left_out_ : dict
        Names of the others, and why they are not.
    n_samples_seen_ : int
        Rows that it was fitted on.
    feature_names_in_, n_features_in_
        Of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from labelens.tables import TableEncoder
    >>> frame = pd.DataFrame({"age": [20, None, 40], "sex": ["f", "m", "f"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age=missing', 'sex=f', 'sex=m']
    >>> encoder.transform(frame).tolist()
    [[20.0, 0.0, 1.0, 0.0], [30.0, 1.0, 0.0, 1.0], [40.0, 0.0, 1.0, 0.0]]
    """

    def __init__(
        self,
        impute: Impute = "mean",
        *,
        na: Sequence[str] = (),
        most_categories: int = 50,
        keep: Sequence[str] = (),
        text: bool = False,
    ) -> None:
        self.impute = impute
        self.na = na
        self.most_categories = most_categories
        self.keep = keep
        self.text = text

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Fit the encoder with a data frame; `y` is not used."""
        return self._with(TableSummary(self.impute == "median"), X)

    def partial_fit(self, X: MatrixLike, y: object = None) -> Self:
        """Take in further rows."""
        if "_summary" not in self.__dict__ and "columns_" in self.__dict__:
            raise ValueError("This encoder was loaded from a model, and cannot be fitted on.")
        return self._with(self._so_far(), X)

    def merge(self, other: TableEncoder) -> Self:
        """Take in the rows that another encoder was fitted on."""
        for name in ("impute", "na", "most_categories", "keep", "text"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"These encoders differ in {name}: {mine!r} and {theirs!r}.")
        loaded = "_summary" not in self.__dict__ and "columns_" in self.__dict__
        if loaded or not hasattr(other, "_summary"):
            raise ValueError("An encoder that was loaded from a model cannot be merged.")
        return self._undecided(self._so_far().merge(other._summary))

    def _so_far(self) -> TableSummary:
        """A copy of the statistics: a call that fails leaves those of the encoder as they were."""
        known = self.__dict__.get("_summary")
        return TableSummary(self.impute == "median") if known is None else known.copied()

    def _with(self, summary: TableSummary, X: Any) -> Self:
        if self.impute not in IMPUTE:
            raise ValueError(f"impute must be one of {', '.join(IMPUTE)}, got {self.impute!r}.")
        return self._undecided(summary.add(_frame(X), tuple(self.na)))

    def _undecided(self, summary: TableSummary) -> Self:
        for name in ("columns_", "left_out_"):
            self.__dict__.pop(name, None)
        self._summary = summary
        self.feature_names_in_ = np.array(list(summary.columns), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.n_samples_seen_ = max((seen.rows for seen in summary.columns.values()), default=0)
        return self

    def __getattr__(self, name: str) -> Any:
        """`columns_` and `left_out_` are decided when they are first asked for."""
        if name not in ("columns_", "left_out_") or "_summary" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        used, left = [], {}
        for column, seen in self._summary.columns.items():
            made, why = decide(
                column, seen, self.impute, self.most_categories, column in self.keep, self.text
            )
            if made is None:
                left[column] = REASONS[why]
            else:
                used.append(made)
        self.columns_, self.left_out_ = tuple(used), left
        return self.__dict__[name]

    @classmethod
    def of(cls, columns: Sequence[EncodedColumn], impute: Impute, na: Sequence[str] = ()) -> Self:
        """An encoder that can transform, without statistics."""
        encoder = cls(impute, na=na)
        encoder.columns_, encoder.left_out_ = tuple(columns), {}
        encoder.feature_names_in_ = np.array([c.name for c in columns], dtype=object)
        encoder.n_features_in_ = len(columns)
        return encoder

    def transform(self, X: MatrixLike) -> NDArray[np.float64]:
        """(n_samples, features): rows of a data frame as numbers, by the columns' names."""
        return self.encode(X)[0]

    def encode(self, X: MatrixLike) -> tuple[NDArray[np.float64], list[str]]:
        """`transform`, and the values that the encoder does not know."""
        frame, columns = _frame(X), self._used()
        if missing := [c.name for c in columns if c.name not in frame.columns]:
            raise ValueError(
                f"There is no column {missing[0]!r}. There are {some(list(frame.columns))}."
            )
        parts, strange = [], []
        for column in columns:
            values, new = column.encode(frame[column.name], self.na, self.impute != "drop")
            parts.append(values)
            strange += new
        return np.column_stack(parts), strange

    def frame(self, X: MatrixLike) -> Any:
        """`transform`, as a data frame."""
        values, names = self.transform(X), self.get_feature_names_out()
        return require("pandas", extra="cli").DataFrame(values, columns=names)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Names of the features."""
        return np.array([name for c in self._used() for name in c.features], dtype=object)

    def _used(self) -> tuple[EncodedColumn, ...]:
        if not hasattr(self, "columns_"):
            require("sklearn.utils.validation", extra="cli").check_is_fitted(self, "columns_")
        if not self.columns_:
            why = ", ".join(f"{name!r} ({what})" for name, what in self.left_out_.items())
            raise ValueError(f"No column is left to use as a feature. Left out: {why or 'all'}.")
        return self.columns_

    def sentences(self) -> list[str]:
        """Which columns went where, other than plain numbers."""
        said: dict[str, list[str]] = {}
        for c in self._used():
            if c.kind == "category":
                said.setdefault("One-hot encoded", []).append(
                    f"{c.name!r} ({len(c.levels)} values)"
                )
            elif c.kind != "number":
                said.setdefault(SAID[c.kind], []).append(repr(c.name))
            elif c.reading in WRITTEN and self._odd(c) != "":
                said.setdefault("Text read as numbers", []).append(f"{c.name!r}{self._odd(c)}")
        for name, why in self.left_out_.items():
            said.setdefault(f"Left out, {why}", []).append(repr(name))
        for c in self._used() if self.impute != "drop" else ():
            if c.kind in ("number", "date") and self._has_gaps(c):
                what = f"Gaps filled with the {self.impute}" + ", and marked by a feature" * c.gaps
                said.setdefault(what, []).append(repr(c.name))
        return [f"{what}: {_listed(names)}." for what, names in said.items()]

    def _has_gaps(self, column: EncodedColumn) -> bool:
        if "_summary" not in self.__dict__:
            return column.gaps
        seen = self._summary.columns[column.name]
        return seen.readings[column.reading or USUAL[column.kind]].count < seen.rows

    def _odd(self, column: EncodedColumn) -> str:
        """The values in a column of numbers that are not numbers."""
        if "_summary" not in self.__dict__:
            return ""
        seen = self._summary.columns[column.name]
        read = {cell for cell in seen.texts.times if not _is_number(cell, column.reading)}
        cells = sorted(read)[:3]
        return f" (gaps: {', '.join(map(repr, cells))})" if cells else ""


SAID = {
    "date": "Dates, as days and cycles",
    "text": "Text, as hashed letter triples",
    "list": "Lists of numbers",
}
MOST_NAMED = 20
WRITTEN = ("number", "comma")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _is_number(cell: str, reading: str) -> bool:
    from .cells import READINGS, is_marker

    return not is_marker(cell) and READINGS[reading](cell) is not None


def _frame(X: Any) -> Any:
    """A pandas frame, its columns named by text."""
    pandas = require("pandas", extra="cli")
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if not isinstance(X, pandas.DataFrame):
        values = np.asarray(X)
        if values.ndim != 2:
            raise ValueError(f"X must be a table, got shape {values.shape}.")
        X = pandas.DataFrame(values, columns=[f"x{i}" for i in range(values.shape[1])])
    return X if all(isinstance(n, str) for n in X.columns) else X.rename(columns=str)
