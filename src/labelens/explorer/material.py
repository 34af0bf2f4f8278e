"""What is explored: rows, columns of labels, and the Python that gets hold of them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_diabetes, load_digits

from .. import tables
from .._optional import require
from .._validation import check_rows
from ..datasets import load_ionosphere, load_sonar, make_spirals, make_xor
from ..labels import read_labels

FEWEST = 8  # rows, below which nothing can be held out
MOST_LABEL_COLUMNS = 200


@dataclass(frozen=True, eq=False)
class Material:
    name: str
    X: NDArray[Any]  # (n, d), float32 where that loses nothing
    names: list[str]  # of the d features
    labels: dict[str, NDArray[Any]]  # (n,) each
    shown: dict[str, Any]  # (n,) columns to look at beside the labels
    notes: list[str]
    code: Callable[[str], str]  # the name of a label -> Python that sets X and y
    # The names of columns that a saved model asks for; None where X had none.
    feature_names: list[str] | None = field(default=None)
    # (n,) rising, where some rows were left out: by which the user knows the others.
    numbers: NDArray[np.int64] | None = field(default=None)


def from_table(
    name: str, table: tables.Table, code: Callable[[str], str] | None = None
) -> Material:
    """A table that `tables.pick` has made."""
    shown = {c: table.shown[c].tolist() for c in table.shown.columns if c not in table.columns}
    X = lossless(table.X)
    narrowed = ".astype(np.float32)" if X.dtype != table.X.dtype else ""

    def loaded(label: str) -> str:
        assert code is not None
        taken = f"X, y = table.X{narrowed}, table.columns[{label!r}]"
        imports = "import numpy as np\n" if narrowed else ""
        return f"{imports}{code(label)}\n{taken}"

    return Material(
        name,
        X,
        table.names,
        table.columns,
        shown,
        list(table.notes),
        loaded,
        feature_names=table.names,
        numbers=_numbers(table.shown.index),
    )


def _numbers(index: Any) -> NDArray[np.int64] | None:
    """Numbers of rows of a file, some of which may have been left out; of other indices none."""
    numbers = index.to_numpy()
    rising = numbers.dtype.kind == "i" and (numbers[:1] >= 0).all() and (np.diff(numbers) > 0).all()
    return numbers.astype(np.int64) if rising and numbers[-1] < 2**32 else None


def from_file(
    frame: Any,
    path: Path,
    labels: list[str],
    beside: Path | None = None,
    features: list[str] | None = None,
    drop: list[str] | None = None,
    impute: str | None = None,
) -> Material:
    """Columns of a frame that was read from a file; `beside` is a second file, of labels."""
    asked = {"features": features, "drop": drop, "impute": impute}
    given = {name: value for name, value in asked.items() if value}
    table = tables.pick(frame, labels, **given)  # type: ignore[arg-type]

    def code(label: str) -> str:
        second = "" if beside is None else f", Path({str(beside.absolute())!r})"
        options = "".join(f", {name}={value!r}" for name, value in given.items())
        return (
            "from pathlib import Path\n\nfrom labelens import tables\n\n"
            f"frame = tables.read(Path({str(path.absolute())!r}){second})\n"
            f"table = tables.pick(frame, {labels!r}{options})"
        )

    return from_table(path.name, table, code)


def from_arrays(X: Any, y: Any, name: str = "X") -> Material:
    """Arrays, or a DataFrame, as `labelens.explore` is given them."""
    if hasattr(X, "columns"):
        return _from_frame(X, y, name)
    if sparse.issparse(X):
        raise TypeError("explore shows rows as they are, and X is sparse; pass X.toarray().")
    rows = check_rows(None, X, reset=False)
    if rows.dtype.kind != "f":
        rows = rows.astype(np.float64)
    columns = _label_columns(y, rows.shape[0])
    names = [f"x{j}" for j in range(rows.shape[1])]

    def code(label: str) -> str:
        taken = "y" if len(columns) == 1 else _taken(y, label, list(columns))
        said = "# X and y are what labelens.explore was given."
        return said if taken == "y" else f"{said}\ny = {taken}"

    return Material(name, rows, names, columns, {}, [], code)


def _from_frame(X: Any, y: Any, name: str) -> Material:
    pandas = require("pandas", extra="cli")
    frame = X.to_pandas() if hasattr(X, "to_pandas") else X
    frame = frame.rename(columns=str)
    if isinstance(y, str) or (isinstance(y, list) and all(isinstance(c, str) for c in y) and
                              set(y) <= set(frame.columns)):  # fmt: skip
        labels = [y] if isinstance(y, str) else list(y)
        code = f"from labelens import tables\n\ntable = tables.pick(X, {labels!r})"
    else:
        columns = _label_columns(y, len(frame))
        if clash := [c for c in columns if c in frame.columns]:
            raise ValueError(f"{clash[0]!r} is the name of a label and of a column of X.")
        labels = list(columns)
        frame = pandas.concat([frame.reset_index(drop=True), pandas.DataFrame(columns)], axis=1)
        code = (
            "from labelens import tables\n\n"
            f"frame = X.assign(**{{{', '.join(f'{c!r}: y' for c in labels)}}})\n"
            f"table = tables.pick(frame, {labels!r})"
        )
    return from_table(name, tables.pick(frame, labels), lambda label: code)


def _label_columns(y: Any, n: int) -> dict[str, NDArray[Any]]:
    """One column of labels or several, by name."""
    if y is None:
        raise ValueError("y is None: there are no labels to see the data through.")
    if isinstance(y, Mapping) or hasattr(y, "columns"):
        pairs = [(str(name), y[name]) for name in (y if isinstance(y, Mapping) else y.columns)]
    else:
        array = np.asarray(y)
        if array.ndim == 2 and array.shape[1] > 1:
            pairs = [(f"y{j}", column) for j, column in enumerate(array.T)]
        else:
            name = getattr(y, "name", None)
            pairs = [(str(name) if name is not None else "y", array.reshape(len(array)))]
    if not pairs:
        raise ValueError("y has no columns: there are no labels to see the data through.")
    if len(pairs) > MOST_LABEL_COLUMNS:
        raise ValueError(
            f"y has {len(pairs)} columns, and at most {MOST_LABEL_COLUMNS} can be switched "
            "between; pass those to look at."
        )
    return {name: read_labels(column, n, None)[0] for name, column in pairs}


def _taken(y: Any, label: str, names: list[str]) -> str:
    if isinstance(y, Mapping) or hasattr(y, "columns"):
        return f"y[{label!r}]"
    return f"np.asarray(y)[:, {names.index(label)}]"


def lossless(X: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in half the memory, where float32 holds them exactly."""
    if X.dtype != np.float64:
        return X
    with np.errstate(over="ignore"):
        small = X.astype(np.float32)
    return small if np.array_equal(small, X) else X


# The data that come with the package ---------------------------------------------------------


def bundled() -> dict[str, Callable[[], Material]]:
    """What there is to look at without any data of one's own, by title."""
    here, theirs = "labelens.datasets", "sklearn.datasets"
    return {
        "Digits": lambda: _known("Digits", theirs, load_digits, "digit"),
        "Sonar": lambda: _known("Sonar", here, load_sonar, "class"),
        "Ionosphere": lambda: _known("Ionosphere", here, load_ionosphere, "class"),
        "Spirals": lambda: _drawn("Spirals", make_spirals),
        "XOR": lambda: _drawn("XOR", make_xor),
        "Diabetes": lambda: _known("Diabetes", theirs, load_diabetes, "progression"),
    }


def _known(title: str, module: str, load: Callable[..., Any], label: str) -> Material:
    data, loader = load(), load.__name__
    names = [str(name) for name in data.feature_names]
    code = f"from {module} import {loader}\n\nX, y = {loader}(return_X_y=True)"
    labels = {label: np.asarray(data.target)}
    return Material(title, data.data, names, labels, {}, [], lambda _: code)


def _drawn(title: str, make: Callable[..., Any]) -> Material:
    (X, y), maker = make(random_state=0), make.__name__
    names = [f"x{j}" for j in range(X.shape[1])]
    code = f"from labelens.datasets import {maker}\n\nX, y = {maker}(random_state=0)"
    return Material(title, X, names, {"class": y}, {}, [], lambda _: code)
