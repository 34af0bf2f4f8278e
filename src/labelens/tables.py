"""Tables as people keep them: files of columns, some of which are labels.

pandas reads them; what is decided about a column is said in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from csv import QUOTE_NONNUMERIC
from dataclasses import dataclass
from difflib import get_close_matches
from gzip import GzipFile
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ._optional import require

Frame = Any  # pandas.DataFrame

# A column of text with more values than this is a name or prose, not a category.
MOST_CATEGORIES = 50
IMPUTE = ("mean", "median", "drop")


@dataclass(frozen=True)
class Table:
    X: NDArray[np.float64]  # (n, d)
    names: list[str]  # of the d features
    labels: Any  # (n,) or (n, m) array; None where none was asked for
    shown: Frame  # (n, some) columns as they were, to look at
    notes: list[str]


# Files ---------------------------------------------------------------------------------------


def read(
    path: Path, labels: Path | None = None, told: Callable[[float], object] = lambda share: None
) -> Frame:
    """A file of any kind we know as a DataFrame; `labels` is a second file for arrays.

    `told` hears the share of the file that has been read.
    """
    pandas = require("pandas", extra="cli")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    name = path.name.lower().removesuffix(".gz")
    kind = next((kind for kind in READERS if name.endswith(kind)), None)
    if kind is None:
        raise ValueError(
            f"{path.name} is none of the kinds of file that can be read: {', '.join(READERS)}."
        )
    try:
        with BufferedReader(_Watched(path, told)) as file:
            zipped = path.name.lower().endswith(".gz")
            frame = READERS[kind](pandas, GzipFile(fileobj=file) if zipped else file)
    except pandas.errors.EmptyDataError:
        raise ValueError(
            f"{path.name} is empty: there is not even a line of column names."
        ) from None
    except (ValueError, OSError, KeyError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from error
    frame.columns = [str(column) for column in frame.columns]
    if labels is not None:
        frame = _with_labels(frame, read(labels), labels)
    if duplicates := sorted(set(frame.columns[frame.columns.duplicated()])):
        raise ValueError(f"{path.name} has two columns called {duplicates[0]!r}; rename one.")
    if not len(frame):
        raise ValueError(f"{path.name} has {len(frame.columns)} columns and no rows.")
    return frame


def _with_labels(frame: Frame, labels: Frame, path: Path) -> Frame:
    if len(labels) != len(frame):
        raise ValueError(f"{path.name} has {len(labels)} labels, and there are {len(frame)} rows.")
    if len(labels.columns) == 1:
        labels.columns = ["label"]
    return require("pandas", extra="cli").concat([frame, labels], axis=1)


class _Watched(FileIO):
    """A file that tells the share of it that has been read."""

    def __init__(self, path: Path, told: Callable[[float], object]) -> None:
        super().__init__(path)
        self._told, self._done, self._size = told, 0, max(1, path.stat().st_size)

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        self._done += count
        self._told(min(1.0, self._done / self._size))
        return count


def _array(pandas: Any, stream: Any) -> Frame:
    return _columns(pandas, np.load(stream, allow_pickle=False))


def _arrays(pandas: Any, stream: Any) -> Frame:
    """X, or the only two-dimensional array; one-dimensional ones of its length are columns too."""
    with np.load(stream, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    wide = [name for name, array in arrays.items() if array.ndim == 2]
    if "X" in wide:
        wide = ["X"]
    if len(wide) != 1:
        raise ValueError(
            f"it holds {', '.join(f'{n} {a.shape}' for n, a in arrays.items())}; which is the data "
            "is clear if one is called X, or only one has two dimensions"
        )
    frame = _columns(pandas, arrays.pop(wide[0]))
    for name, array in arrays.items():
        if array.shape == (len(frame),):
            frame[name] = array
    return frame


def _columns(pandas: Any, array: NDArray[Any]) -> Frame:
    if array.ndim not in (1, 2):
        raise ValueError(f"its shape is {array.shape}; rows and columns are wanted")
    array = array[:, None] if array.ndim == 1 else array
    return pandas.DataFrame(array, columns=[f"x{i}" for i in range(array.shape[1])])


READERS: dict[str, Callable[[Any, Any], Frame]] = {
    ".csv": lambda pandas, stream: pandas.read_csv(stream),
    ".tsv": lambda pandas, stream: pandas.read_csv(stream, sep="\t"),
    ".parquet": lambda pandas, stream: pandas.read_parquet(stream),
    ".feather": lambda pandas, stream: pandas.read_feather(stream),
    ".arrow": lambda pandas, stream: pandas.read_feather(stream),
    ".npy": _array,
    ".npz": _arrays,
}


# Columns -------------------------------------------------------------------------------------


def pick(
    frame: Frame,
    labels: Sequence[str] = (),
    *,
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    impute: str | None = None,
) -> Table:
    """Features and labels of a table: numbers as they are, categories one-hot, the rest not."""
    for name in (*labels, *features, *drop):
        _known(frame, name)
    if twice := [name for name in labels if list(labels).count(name) > 1]:
        raise ValueError(f"The label {twice[0]!r} is named twice; once is enough.")
    notes: list[str] = []
    frame, target = _labelled(frame, list(labels), notes)
    chosen = [
        name for name in (features or frame.columns) if name not in labels and name not in drop
    ]
    numbers = _as_numbers(frame, chosen, notes)
    if not len(numbers.columns):
        raise ValueError(
            "No column is left to use as a feature. "
            + (" ".join(notes) or "All are labels, or dropped.")
        )
    kept = _without_gaps(numbers, impute, notes)
    numbers = numbers[kept]
    shown = frame.loc[kept, list(frame.columns[:8])]
    return Table(
        numbers.to_numpy(np.float64),
        list(numbers.columns),
        None if target is None else target[kept],
        shown,
        notes,
    )


def align(frame: Frame, names: Sequence[str], impute: str | None = None) -> Table:
    """The columns that a model was fitted on, by name; categories that it never saw are zero."""
    notes: list[str] = []
    plain = [name for name in names if name in frame.columns]
    coded = [name for name in names if name not in frame.columns]
    sources = {name: name.rpartition("=")[0] for name in coded}
    if missing := [name for name in coded if sources[name] not in frame.columns]:
        _known(frame, missing[0])
    numbers = _as_numbers(frame, [*plain, *dict.fromkeys(sources.values())], notes)
    unseen = [name for name in numbers.columns if name not in set(names)]
    if unseen:
        notes.append(f"Unknown to the model, counted as none: {', '.join(unseen[:5])}.")
    numbers = numbers.reindex(columns=list(names), fill_value=0.0)
    kept = _without_gaps(numbers, impute, notes)
    values = numbers[kept].to_numpy(np.float64)
    return Table(values, list(names), None, frame.loc[kept, list(frame.columns[:8])], notes)


def _known(frame: Frame, name: str) -> None:
    if name in frame.columns:
        return
    near = get_close_matches(name, list(frame.columns), n=3, cutoff=0.5)
    lower = {column.lower(): column for column in frame.columns}
    near = near or [lower[c] for c in get_close_matches(name.lower(), list(lower), n=3, cutoff=0.5)]
    some = ", ".join(repr(column) for column in (near or list(frame.columns)[:8]))
    more = "" if near or len(frame.columns) <= 8 else f" and {len(frame.columns) - 8} more"
    raise ValueError(
        f"There is no column {name!r}. "
        + (f"Did you mean {some}?" if near else f"There are {some}{more}.")
    )


def _labelled(frame: Frame, labels: list[str], notes: list[str]) -> tuple[Frame, Any]:
    if not labels:
        return frame, None
    gaps = frame[labels].isna().any(axis=1)
    if gaps.all():
        raise ValueError(f"No row has a label in {', '.join(map(repr, labels))}.")
    if gaps.any():
        notes.append(f"{int(gaps.sum())} rows without a label are left out.")
        frame = frame[~gaps]
    columns = [frame[name] for name in labels]
    for column in columns:
        if column.dtype.kind in "mM" or hasattr(column.dtype, "tz"):
            raise ValueError(
                f"The label {column.name!r} is a date; turn it into classes (say, the month) or a "
                "number first."
            )
    arrays = [_label_array(column) for column in columns]
    return frame, arrays[0] if len(arrays) == 1 else np.column_stack(arrays)


def _label_array(column: Any) -> NDArray[Any]:
    if column.dtype.kind in "iufb":
        return column.to_numpy()
    return column.astype(str).to_numpy(dtype=object)


def _as_numbers(frame: Frame, chosen: Sequence[str], notes: list[str]) -> Frame:
    pandas = require("pandas", extra="cli")
    parts: list[Any] = []
    coded: list[str] = []
    dates: list[str] = []
    prose: list[str] = []
    for name in chosen:
        column = frame[name]
        if pandas.api.types.is_bool_dtype(column.dtype):
            parts.append(column.astype("float64"))
        elif pandas.api.types.is_numeric_dtype(column.dtype):
            if column.dtype.kind == "c":
                raise ValueError(f"The column {name!r} holds complex numbers.")
            parts.append(column.astype("float64"))
        elif pandas.api.types.is_datetime64_any_dtype(column.dtype) or column.dtype.kind in "mM":
            dates.append(name)
        else:
            values = column.astype("string")
            levels = sorted(values.dropna().unique())
            if len(levels) > MOST_CATEGORIES or _looks_like_dates(pandas, values):
                (prose if len(levels) > MOST_CATEGORIES else dates).append(name)
                continue
            coded.append(f"{name!r} ({len(levels)} values)")
            gap = values.isna().to_numpy()
            for level in levels:
                code = (values == level).to_numpy(dtype="float64", na_value=np.nan)
                code[gap] = np.nan
                parts.append(pandas.Series(code, index=frame.index, name=f"{name}={level}"))
    if coded:
        notes.append(f"One-hot encoded: {', '.join(coded)}.")
    if dates:
        notes.append(f"Left out, because they are dates: {', '.join(map(repr, dates))}.")
    if prose:
        notes.append(
            f"Left out, because they are text with more than {MOST_CATEGORIES} different values: "
            f"{', '.join(map(repr, prose))}."
        )
    return pandas.concat(parts, axis=1) if parts else pandas.DataFrame(index=frame.index)


def _looks_like_dates(pandas: Any, values: Any) -> bool:
    some = values.dropna().head(50)
    if not len(some) or not some.str.contains(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{4}").all():
        return False
    return bool(pandas.to_datetime(some, errors="coerce", format="mixed").notna().all())


def _without_gaps(numbers: Frame, impute: str | None, notes: list[str]) -> NDArray[np.bool_]:
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
    told = ", ".join(
        f"{name!r} {count}"
        for name, count in list(zip(numbers.columns, counts, strict=True))
        if count
    )
    if impute is None:
        raise ValueError(
            f"Values are missing ({told}, of {len(numbers)} rows). Fill them with --impute mean or "
            "--impute median, or leave such rows out with --impute drop."
        )
    if impute == "drop":
        kept = ~gaps.any(axis=1)
        if not kept.any():
            raise ValueError(f"Every row has a missing value ({told}): none would be left.")
        notes.append(f"{int((~kept).sum())} rows with missing values are left out ({told}).")
        return kept
    if (counts == len(numbers)).any():
        name = numbers.columns[counts == len(numbers)][0]
        raise ValueError(f"The column {name!r} has no value at all; leave it out with --drop.")
    filled = numbers.fillna(getattr(numbers, impute)())
    numbers[:] = filled
    notes.append(f"Missing values are filled with the {impute} of their column ({told}).")
    return everything


# Writing -------------------------------------------------------------------------------------


def write(frame: Frame, path: Path) -> None:
    """As CSV or parquet by its name; text that a spreadsheet would run is made plain text."""
    if path.suffix == ".csv":
        safe = frame.copy()
        safe.columns = [_plain(name) for name in safe.columns]
        for name in safe.columns:
            if safe[name].dtype.kind in "OUST":
                safe[name] = safe[name].map(_plain)
        safe.to_csv(path, index=False, quoting=QUOTE_NONNUMERIC)
    else:
        frame.to_parquet(path, index=False)


def _plain(value: Any) -> Any:
    """With an apostrophe before what spreadsheets take for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value
