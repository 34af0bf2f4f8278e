"""The data of a session: rows, columns of labels, and the Python code that loads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_diabetes, load_digits

from .. import tables
from .._base import devices
from .._base.optional import require
from .._base.validation import check_rows
from .._core.labels import read_labels
from .._fit.task import is_continuous
from ..datasets import load_ionosphere, load_sonar, make_spirals, make_xor
from ..report.colouring import Colouring, read_colouring
from .view import ControlState

FEWEST = 8  # rows, of which some are held out
SPLIT_SEED = 0  # of the held-out rows, the sample of the plot, and the shuffled labels
MOST_LABEL_COLUMNS = 200


@dataclass(frozen=True, eq=False)
class ExploredData:
    name: str
    X: NDArray[Any]  # (n, d), float32 if that is exact
    names: list[str]  # of the d features
    labels: dict[str, NDArray[Any]]  # (n,) each
    shown: dict[str, Any]  # (n,) columns that are neither labels nor features
    notes: list[str]
    code: Callable[[str], str]  # the name of a label -> Python that sets X and y
    # The names of columns that a saved model checks; None if X has none.
    feature_names: list[str] | None = None
    encoding: tables.TableEncoder | None = None  # of a table
    # (n,) rising: numbers of the rows in the table; None if no rows were left out.
    numbers: NDArray[np.int64] | None = None
    folder: Path | None = None  # of the file, in which a column may name image files
    source: tuple[Any, Any] | None = None  # the table as it was read, and the index of the n rows


def from_table(
    name: str, table: tables.Table, code: str, frame: Any, folder: Path | None = None
) -> ExploredData:
    """The data of a frame after `tables.pick`; `code` is the Python code for the same."""
    kept = frame.loc[table.shown.index]
    taken = {*table.columns, *table.names}
    shown = {str(c): kept[c].array for c in kept.columns if str(c) not in taken}
    X = lossless(table.X)
    narrowed = ".astype(np.float32)" if X.dtype != table.X.dtype else ""

    def loaded(label: str) -> str:
        taken = f"X, y = table.X{narrowed}, table.columns[{label!r}]"
        imports = "import numpy as np\n" if narrowed else ""
        return f"{imports}{code}\n{taken}"

    return ExploredData(
        name,
        X,
        table.names,
        table.columns,
        shown,
        list(table.notes),
        loaded,
        feature_names=table.names,
        encoding=table.encoder,
        numbers=_numbers(table.shown.index),
        folder=folder,
        source=(frame, table.shown.index),
    )


def _numbers(index: Any) -> NDArray[np.int64] | None:
    """Numbers of the rows of a file, of which some may be left out; None for other indices."""
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
) -> ExploredData:
    """The data of a frame that was read from a file; `beside` is a second file, of labels."""
    asked = {"features": features, "drop": drop, "impute": impute}
    given = {name: value for name, value in asked.items() if value}
    table = tables.pick(frame, labels, **given)  # type: ignore[arg-type]
    second = "" if beside is None else f", Path({str(beside.absolute())!r}), {labels!r}"
    options = "".join(f", {name}={value!r}" for name, value in given.items())
    code = (
        "from pathlib import Path\n\nfrom labelens import tables\n\n"
        f"frame = tables.read(Path({str(path.absolute())!r}){second})\n"
        f"table = tables.pick(frame, {labels!r}{options})"
    )
    return from_table(path.name, table, code, frame, path.absolute().parent)


def from_arrays(X: Any, y: Any, name: str = "X") -> ExploredData:
    """The data of arrays, or of a DataFrame, as passed to `labelens.explore`."""
    if hasattr(X, "columns"):
        return _from_frame(X, y, name)
    if sparse.issparse(X):
        raise TypeError("X is sparse, and explore needs a dense array. Pass X.toarray().")
    if devices.on_device(X):
        raise TypeError(
            "X is in GPU memory, and explore needs an array in host memory. Copy it first: X.cpu() "
            "for torch, X.get() for CuPy."
        )
    rows = check_rows(None, X, reset=False)
    if rows.dtype.kind != "f":
        rows = rows.astype(np.float64)
    columns, taken = _label_columns(y, rows.shape[0])
    names = [f"x{j}" for j in range(rows.shape[1])]
    given = "X" if isinstance(X, np.ndarray) else "np.asarray(X)"

    def code(label: str) -> str:
        return (
            "import numpy as np\n\n# X and y are the arguments of labelens.explore.\n"
            f"X, y = {given}, {taken[label]}"
        )

    return ExploredData(name, rows, names, columns, {}, [], code)


def _from_frame(X: Any, y: Any, name: str) -> ExploredData:
    pandas = require("pandas", extra="cli")
    given = "X.to_pandas()" if hasattr(X, "to_pandas") else "X"
    frame = X.to_pandas() if hasattr(X, "to_pandas") else X
    frame = frame.rename(columns=str)
    if _are_names(y, frame):
        labels = [y] if isinstance(y, str) else list(y)
        code = f"from labelens import tables\n\ntable = tables.pick({given}, {labels}, typed=True)"
    else:
        columns, taken = _label_columns(y, len(frame))
        if clash := [c for c in columns if c in frame.columns]:
            raise ValueError(f"{clash[0]!r} is a label and a column of X. Rename one of them.")
        labels = list(columns)
        frame = pandas.concat([frame.reset_index(drop=True), pandas.DataFrame(columns)], axis=1)
        beside = ", ".join(f"{label!r}: {one}" for label, one in taken.items())
        code = (
            "import numpy as np\nfrom labelens import tables\n\n"
            f"frame = {given}.assign(**{{{beside}}})\n"
            f"table = tables.pick(frame, {labels!r}, typed=True)"
        )
    return from_table(name, tables.pick(frame, labels, typed=True), code, frame)


def _are_names(y: Any, frame: Any) -> bool:
    """Whether y names columns of the frame; a list of labels has repeated values."""
    if isinstance(y, str):
        return True
    strings = isinstance(y, list) and all(isinstance(one, str) for one in y)
    return strings and 0 < len(set(y)) == len(y) and set(y) <= set(frame.columns)


def _label_columns(y: Any, n: int) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The columns of labels, by name, and the Python code that takes each of them from y."""
    if y is None:
        raise ValueError("y is None, and explore needs labels. Pass a column of labels as y.")
    if isinstance(y, Mapping) or hasattr(y, "columns"):
        names = y if isinstance(y, Mapping) else y.columns
        found = [(str(name), y[name], f"np.asarray(y[{name!r}])") for name in names]
    else:
        array = np.asarray(y)
        if array.ndim == 2 and array.shape[1] > 1:
            columns = enumerate(array.T)
            found = [(f"y{j}", column, f"np.asarray(y)[:, {j}]") for j, column in columns]
        else:
            name = getattr(y, "name", None)
            name = str(name) if name is not None else "y"
            found = [(name, array.reshape(len(array)), "np.asarray(y).ravel()")]
    if not found:
        raise ValueError("y has no columns, and explore needs labels. Pass at least one column.")
    if len(found) > MOST_LABEL_COLUMNS:
        raise ValueError(
            f"y has {len(found)} columns; explore takes at most {MOST_LABEL_COLUMNS}. Pass fewer "
            "columns."
        )
    return (
        {name: read_labels(column, n, None)[0] for name, column, _ in found},
        {name: taken for name, _, taken in found},
    )


def lossless(X: NDArray[Any]) -> NDArray[Any]:
    """The same numbers as float32, if that is exact."""
    if X.dtype != np.float64:
        return X
    with np.errstate(over="ignore"):
        small = X.astype(np.float32)
    return small if np.array_equal(small, X) else X


# Bundled data ----------------------------------------------------------------------------------


def bundled() -> dict[str, Callable[[], ExploredData]]:
    """The data sets of the package and of scikit-learn, by title."""
    ours, theirs = "labelens.datasets", "sklearn.datasets"
    return {
        "Digits": lambda: _bundled("Digits", theirs, load_digits, "digit"),
        "Sonar": lambda: _bundled("Sonar", ours, load_sonar, "class"),
        "Ionosphere": lambda: _bundled("Ionosphere", ours, load_ionosphere, "class"),
        "Spirals": lambda: _bundled("Spirals", ours, make_spirals, "class"),
        "XOR": lambda: _bundled("XOR", ours, make_xor, "class"),
        "Diabetes": lambda: _bundled("Diabetes", theirs, load_diabetes, "progression"),
    }


def _bundled(title: str, module: str, load: Callable[..., Any], label: str) -> ExploredData:
    loader = load.__name__
    drawn = loader.startswith("make_")
    arguments: dict[str, Any] = {"random_state": 0} if drawn else {"return_X_y": True}
    X, y = load(**arguments)
    names = [f"x{j}" for j in range(X.shape[1])] if drawn else map(str, load().feature_names)
    said = ", ".join(f"{name}={value}" for name, value in arguments.items())
    code = f"from {module} import {loader}\n\nX, y = {loader}({said})"
    return ExploredData(title, X, list(names), {label: np.asarray(y)}, {}, [], lambda _: code)


def script(material: ExploredData, view: ControlState, estimator: Any) -> str:
    """Python code for the embedding of a view; `estimator` is that of the view."""
    label = list(material.labels)[view.label]
    method = type(estimator).__name__
    parameters = (f"{name}={value!r}" for name, value in changed_parameters(estimator).items())
    model = f"{method}({', '.join(parameters)})"
    names = [method]
    if view.map == "wheel":
        model, names = f"Wheel({model})", [method, "Wheel"]
    if view.map == "atlas":
        about = f", detail={view.detail!r}" if view.detail != 0.85 else ""
        about += f", temperature={view.temperature!r}" if view.temperature else ""
        model, names = f"Atlas({model}{about}, random_state={SPLIT_SEED})", [method, "Atlas"]
    strata = "y" if len(material.labels) == 1 else "None"
    lines = [
        f"from labelens import {', '.join(names)}",
        "from labelens._judge.trial import held_out",
        *material.code(label).splitlines(),
        f"train = ~held_out({strata}, len(X), {SPLIT_SEED})  # training rows",
        f"model = {model}",
        "model.fit(X[train], y[train])",
        "Z = model.transform(X)",
    ]
    imports = {line for line in lines if line.startswith(("from ", "import "))}
    # The order of isort: `import numpy` before `from pathlib`, the others by name.
    ordered = sorted(imports, key=lambda line: (line.startswith("from labelens"), line))
    body = [line for line in lines if line and line not in imports]
    return "\n".join([*ordered, "", *body, ""])


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters that differ from the defaults of the method."""
    default = type(estimator)().get_params(deep=False)
    given = estimator.get_params(deep=False)
    return {name: value for name, value in given.items() if value != default[name]}


def read_label(name: str, values: NDArray[Any]) -> Colouring:
    label = read_colouring(name, values, is_continuous(values))
    if len(label.names) == 1:
        raise ValueError(f"{name} has a single value, {label.names[0]!r}; two are required.")
    return label
