"""A linear model as one SELECT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core.maps import Identity
from .._fit.fitted import recipe_of
from .._fit.projection import Projection
from ..tables import EncodedColumn, TableEncoder
from ..tables.cells import EMPTY, MARKERS, number
from .graph import affine, exportable


def sql(
    estimator: Projection,
    table: str = "rows",
    *,
    keep: str | Sequence[str] = (),
    encoder: TableEncoder | None = None,
) -> str:
    """One SELECT that computes what `transform` does, for linear models.

    The query is standard SQL: names in double quotes, numbers in floating point. A row with a NULL
    among its features becomes NULL, unless the encoder imputes a value.

    Parameters
    ----------
    estimator : a linear method, fitted
        Columns are its `feature_names_in_`, or x0, x1, ... where it has no names.
    table : str, default="rows"
        Where the columns are; dots part schema and table, as in "sales.visits".
    keep : str or sequence of str, default=()
        Other columns of the table to select, such as its key.
    encoder : TableEncoder, default=None
        How columns became the features: numbers by CAST, categories and gaps by CASE. Dates, text
        and lists raise ValueError, because standard SQL cannot encode them.

    Returns
    -------
    str

    Examples
    --------
    >>> import labelens, numpy as np
    >>> model = labelens.SupervisedPCA(1).fit(np.array([[0.0], [1], [4], [5]]), [0, 0, 1, 1])
    >>> print(labelens.export.sql(model, "visits", keep=["id"]))
    SELECT
      "id",
      (-2.5e0 + (1.0e0 * ("x0" - 0.0e0))) AS "z1"
    FROM "visits"
    """
    if not isinstance(estimator, Projection):
        name = type(estimator).__name__
        raise TypeError(
            f"labelens.export.sql takes a linear method, got {name}; fit SupervisedPCA "
            "(--method spca), or use labelens.export.onnx."
        )
    exportable(estimator)
    if not isinstance(recipe_of(estimator).phi, Identity):
        raise ValueError(
            f"SQL is for linear models, and this {type(estimator).__name__} has random features; "
            "use labelens.export.onnx."
        )
    names: Any = getattr(estimator, "feature_names_in_", None)
    names = [f"x{i}" for i in range(estimator.n_features_in_)] if names is None else list(names)
    columns = [_quoted(name) for name in names]
    if encoder is not None:
        if encoder.get_feature_names_out().tolist() != names:
            raise ValueError("The features of the encoder are not those of the model.")
        columns = [text for column in encoder.columns_ for text in _features(column, encoder)]
    elif len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Two columns are named {twice!r}; SQL needs a name for each.")
    origin, projector, shift = affine(estimator)
    centred = [f"({text} - {_number(o)})" for text, o in zip(columns, origin, strict=True)]
    kept = [keep] if isinstance(keep, str) else list(keep)
    made = [f"z{j + 1}" for j in range(projector.shape[1])]
    if both := [name for name in kept if name in made]:
        raise ValueError(f"keep has {both[0]!r}, which is the name of a component.")
    lines = [_quoted(name) for name in kept]
    for j, name in enumerate(made):
        terms = [f"({_number(w)} * {x})" for w, x in zip(projector[:, j], centred, strict=True)]
        lines.append(f"{_sum([_number(shift[j]), *terms])} AS {_quoted(name)}")
    place = ".".join(_quoted(part) for part in table.split("."))
    return "SELECT\n  " + ",\n  ".join(lines) + f"\nFROM {place}"


def _features(column: EncodedColumn, encoder: TableEncoder) -> list[str]:
    """An expression for every feature of a column."""
    name, kind = _quoted(column.name), column.kind
    if kind not in ("number", "category"):
        raise ValueError(
            f"The column {column.name!r} is {'a ' * (kind != 'text')}{kind}, which standard SQL "
            f"cannot encode. Fit without it (--drop {column.name}), or use ONNX."
        )
    text = f"CAST({name} AS VARCHAR)"
    gap = f"{name} IS NULL"
    if encoder.na:
        gap = f"({gap} OR {text} IN ({_texts(encoder.na)}))"
    if kind == "category":
        cases = [
            f"CASE WHEN {gap} THEN 0e0 WHEN {text} = {_text(level)} THEN 1e0 ELSE 0e0 END"
            for level in column.levels
        ]
        return cases + _marks(column, gap)
    value = f"CAST({name} AS DOUBLE PRECISION)"
    numbers = [v for cell in encoder.na if (v := number(cell)) is not None]
    if numbers and not column.reading:
        gap = f"({name} IS NULL OR {value} IN ({', '.join(map(_number, numbers))}))"
    if column.reading == "truth":  # true and false, 1 and 0, or text of them
        value = f"CASE WHEN LOWER({text}) IN ('true', '1') THEN 1e0 ELSE 0e0 END"
    elif column.reading:
        if column.reading != "number":
            raise ValueError(
                f"The column {column.name!r} holds numbers with a decimal comma, which SQL cannot "
                "read. Convert it first."
            )
        gap = f"({gap} OR LOWER(TRIM({text})) IN ({_texts(sorted({*MARKERS, EMPTY}))}))"
        bare = text
        for sign in "$€£¥₹%,' ":
            bare = f"REPLACE({bare}, {_text(sign)}, '')"
        value = f"CAST({bare} AS DOUBLE PRECISION)"
    fill = _number(column.fill[0]) if encoder.impute != "drop" else "NULL"
    return [f"CASE WHEN {gap} THEN {fill} ELSE {value} END", *_marks(column, gap)]


def _marks(column: EncodedColumn, gap: str) -> list[str]:
    return [f"CASE WHEN {gap} THEN 1e0 ELSE 0e0 END"] if column.gaps else []


def _texts(values: Sequence[str]) -> str:
    return ", ".join(map(_text, values))


def _text(value: str) -> str:
    if "\0" in value:
        raise ValueError(f"The value {value!r} has a NUL, which SQL cannot express.")
    return "'" + value.replace("'", "''") + "'"


def _number(value: float) -> str:
    """With an exponent, because 0.1 without one is a decimal number in standard SQL."""
    spelled = repr(float(value))
    return spelled if "e" in spelled else f"{spelled}e0"


def _quoted(name: str) -> str:
    if "\0" in name:
        raise ValueError(f"Column {name!r} has a NUL in its name, which SQL cannot express.")
    return '"' + name.replace('"', '""') + '"'


def _sum(terms: list[str]) -> str:
    """A balanced tree of additions, because engines limit the depth of expressions."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return f"({_sum(terms[:middle])} + {_sum(terms[middle:])})"
