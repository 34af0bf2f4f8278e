"""Files of many kinds as tables, and tables as files."""

from __future__ import annotations

import csv
import json
import lzma
import struct
import zlib
from bz2 import BZ2File
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from glob import has_magic
from gzip import BadGzipFile, GzipFile
from io import BufferedReader, BytesIO, FileIO
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base.optional import require
from .joining import join
from .places import located
from .text import NOT_GZIPPED, NULLS, TextFile, narrowed, only_member

if TYPE_CHECKING:
    from pandas import DataFrame as Frame

MOST_DENSE = 1 << 28  # numbers of a sparse matrix that becomes a table
# Errors of NumPy, gzip and zip for damaged files. (RuntimeError: a zip with a password, or with a
# compression that Python does not support.)
MOST_CELLS = 4 << 30  # bytes of an AnnData file as a table
BROKEN: tuple[type[Exception], ...] = (
    *(ValueError, OSError, KeyError, EOFError, RuntimeError, OverflowError, TypeError, SyntaxError),
    *(BadZipFile, zlib.error, lzma.LZMAError, struct.error, TokenError),
)


def read(
    path: str | Path,
    labels: str | Path | None = None,
    wanted: Sequence[str] = (),
    progress: Callable[[float], object] = lambda share: None,
    *,
    on: str | None = None,
    by_position: bool = False,
    transpose: bool = False,
) -> Frame:
    """Rows of any kind of file we know as a DataFrame; `labels` is a second file, joined by `join`.

    `path` is anything that `located` finds. With `transpose` the columns of the file are the rows,
    and its first column has the names of the features. `progress` is called with the share of the
    file that has been read.
    """
    with located(path) as place:
        frame = _read_all(place, progress)
        named = not place.name.endswith(NAMELESS)
    other = None if labels is None else read(labels)
    if transpose:
        frame = _transposed(frame, _name_of_rows(frame, other, on))
    if other is not None:
        named &= not str(labels).endswith(NAMELESS)
        by_position = by_position or not (named or on)
        frame = join(frame, other, wanted, on=on, by_position=by_position)
    elif transpose:
        frame = frame.set_index(frame.columns[0])
    if duplicates := sorted(set(frame.columns[frame.columns.duplicated()])):
        raise ValueError(f"{place.name} has two columns called {duplicates[0]!r}; rename one.")
    if not len(frame):
        raise ValueError(f"{place.name} has {len(frame.columns)} columns and no rows.")
    return frame


def _read_all(place: Path, progress: Callable[[float], object]) -> Frame:
    """A file, or the files of a glob, one after the other."""
    if place.exists() or not has_magic(str(place)):
        return _read_one(place, progress)
    paths = sorted(place.parent.glob(place.name))
    if not paths:
        raise FileNotFoundError(f"No file is called {place}.")
    frames = [_read_one(path, lambda share: None) for path in paths]
    for path, frame in zip(paths, frames, strict=True):
        if strange := set(frame.columns) ^ set(frames[0].columns):
            raise ValueError(f"{path} and {paths[0]}: only one has the column {min(strange)!r}.")
    whole = require("pandas", extra="cli").concat(frames, ignore_index=True)
    whole.attrs["notes"] = [note for frame in frames for note in frame.attrs.get("notes", ())]
    return whole


def _read_one(path: Path, progress: Callable[[float], object]) -> Frame:
    pandas = require("pandas", extra="cli")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.{_similar(path)}")
    packing = next((end for end in UNPACKED if path.name.lower().endswith(end)), "")
    name = path.name.lower().removesuffix(packing)
    kind = next((kind for kind in READERS if name.endswith(kind)), None)
    if kind is None:
        raise ValueError(
            f"{path.name} is none of the kinds of file that can be read: {', '.join(READERS)}."
        )
    try:
        with BufferedReader(_Watched(path, progress), 1 << 16) as file:
            frame = READERS[kind](pandas, path, UNPACKED[packing](file) if packing else file)
    except BROKEN as error:
        raise ValueError(f"{path.name} cannot be read: {_reason(error)}") from error
    frame.columns = [str(column) for column in frame.columns]
    return frame


def _transposed(frame: Frame, name: str) -> Frame:
    """Columns as rows; their names become a first column with this name."""
    names = frame.iloc[:, 0].astype(str)
    if names.duplicated().any():
        twice = names[names.duplicated()].iloc[0]
        raise ValueError(f"--transpose: {twice!r} is twice in the first column, of names.")
    turned = frame.iloc[:, 1:].T.infer_objects().set_axis(names.tolist(), axis=1)
    turned.insert(0, name, turned.index.astype(str), allow_duplicates=True)
    turned = turned.reset_index(drop=True)
    turned.attrs["notes"] = frame.attrs.get("notes", [])
    return turned


def _name_of_rows(frame: Frame, labels: Frame | None, on: str | None) -> str:
    """The column of labels that names what were columns."""
    names = set(frame.columns[1:])
    keys = [] if labels is None else [c for c in labels if names & set(labels[c].astype(str))]
    return on or (keys[0] if keys else "row")


def _unpacked_zst(file: Any) -> Any:
    return require("pyarrow", extra="cli").CompressedInputStream(file, "zstd")


UNPACKED: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda file: GzipFile(fileobj=file),
    ".bz2": BZ2File,
    ".zst": _unpacked_zst,
    ".zip": only_member,
}


def _similar(path: Path) -> str:
    """The file that was meant, if the name of one is near."""
    beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, beside, n=1, cutoff=0.7)
    return f" Did you mean {near[0]}?" if near else ""


def _reason(error: Exception) -> str:
    """The error of a library in plain words."""
    if isinstance(error, BadGzipFile):
        return NOT_GZIPPED
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    return str(error).strip()


class _Watched(FileIO):
    """A file that reports the share that has been read."""

    def __init__(self, path: Path, progress: Callable[[float], object]) -> None:
        super().__init__(path)
        self._progress, self._done, self._size = progress, 0, max(1, path.stat().st_size)

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        self._done += count
        self._progress(min(1.0, self._done / self._size))
        return count


def _text(pandas: Any, path: Path, stream: Any) -> Frame:
    file = TextFile(path)
    if twice := [name for name, times in Counter(file.names).items() if times > 1]:
        raise ValueError(f"it has two columns called {twice[0]!r}; rename one.")
    pa = require("pyarrow", extra="cli")
    schema = pa.schema([(name, pa.string()) for name in file.names])
    cells = pa.Table.from_batches(file.batches(stream=stream), schema)
    columns = {}
    for name in file.names:
        column = narrowed(cells[name], file.decimal_comma)
        column = column.cast(pa.float64()) if pa.types.is_null(column.type) else column
        columns[name] = column.to_pandas(date_as_object=False)
    frame = pandas.DataFrame(columns)
    frame.attrs["notes"] = file.notes
    return frame


def _idx(pandas: Any, path: Path, stream: Any) -> Frame:
    """Numbers as MNIST's files have them: a type, the shape, and the bytes."""
    content = stream.read()
    kind = dict(zip((8, 9, 11, 12, 13, 14), ("u1", "i1", ">i2", ">i4", ">f4", ">f8"), strict=True))
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in kind or not content[3]:
        raise ValueError("it does not begin as IDX files do.")
    begin = 4 + 4 * content[3]
    shape = np.frombuffer(content[4:begin], ">u4").astype(np.int64)
    dtype = np.dtype(kind[content[2]])
    if len(shape) != content[3] or len(content) - begin != prod(shape.tolist()) * dtype.itemsize:
        raise ValueError(f"its size is not the {' x '.join(map(str, shape))} values of its header.")
    array = np.frombuffer(content, dtype, offset=begin).reshape(shape)
    return _columns(pandas, array.astype(dtype.newbyteorder("=")))


def _array(pandas: Any, path: Path, stream: Any) -> Frame:
    return _columns(pandas, load_array(stream))


def _arrays(pandas: Any, path: Path, stream: Any) -> Frame:
    """The rows; arrays of one dimension and as many numbers are columns too.

    X_train and X_test are the rows of one table, and so are y_train and y_test.
    """
    arrays = load_arrays(stream)
    for name in ("X", "x"):
        parts = [part for part in (f"{name}_train", f"{name}_test") if part in arrays]
        if parts and "X" not in arrays:
            arrays["X"] = np.concatenate([arrays.pop(part) for part in parts])
            labels = [part.replace(name, "y") for part in parts]
            if all(part in arrays for part in labels):
                arrays["y"] = np.concatenate([arrays.pop(part).ravel() for part in labels])
    frame = _columns(pandas, arrays.pop(name_of_rows(arrays)))
    for name, array in arrays.items():
        if array.shape in ((len(frame),), (len(frame), 1)):
            frame[name] = array.ravel()
    return frame


def load_array(file: Any, **how: Any) -> NDArray[Any]:
    """The array of an .npy file."""
    stored = np.load(file, allow_pickle=False, **how)
    if not isinstance(stored, np.ndarray):
        raise ValueError("it holds several arrays; call it .npz")
    return stored


def load_arrays(file: Any) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file, by name."""
    stored = np.load(file, allow_pickle=False)
    if not hasattr(stored, "files"):
        raise ValueError("it is a single array; call it .npy")
    with stored:
        arrays = {name: stored[name] for name in stored.files}
    if {"format", "shape", "data"} <= arrays.keys():
        arrays = {"X": _sparse(arrays)}
    if strange := [name for name, array in arrays.items() if not hasattr(array, "shape")]:
        raise ValueError(f"{strange[0]!r} in it is not an array")
    return arrays


def _sparse(parts: dict[str, NDArray[Any]]) -> Any:
    """The matrix of a file of `scipy.sparse.save_npz`; scipy checks the parts."""
    kind, shape = parts["format"].item(), tuple(parts["shape"].tolist())
    form = kind.decode() if isinstance(kind, bytes) else str(kind)
    if form not in ("csr", "csc", "coo"):
        raise ValueError(
            f"a sparse matrix of the format {form[:20]!r} is not known; save it as CSR."
        )
    places = ("row", "col") if form == "coo" else ("indices", "indptr")
    if missing := [name for name in places if name not in parts]:
        raise ValueError(f"the sparse matrix in it has no {missing[0]}.")
    pair = tuple(parts[name] for name in places)
    given = (parts["data"], pair) if form == "coo" else (parts["data"], *pair)
    made = getattr(sparse, f"{form}_matrix")(given, shape=shape).tocsr()
    made.check_format()
    return made


def name_of_rows(arrays: dict[str, NDArray[Any]], label: Any = None) -> str:
    """X, or the only other array with two dimensions or more, without the label."""
    wide = [name for name, array in arrays.items() if array.ndim >= 2 and name != label]
    if "X" in wide:
        return "X"
    if len(wide) != 1:
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"it has no array X for the rows; it has {found}.")
    return wide[0]


def _columns(pandas: Any, array: Any) -> Frame:
    if array.ndim == 0:
        raise ValueError("it holds a single number; rows and columns are wanted")
    if sparse.issparse(array):
        if prod(array.shape) > MOST_DENSE:
            raise ValueError(
                f"its sparse matrix would have {prod(array.shape):,} numbers as a table; --memory "
                "keeps it sparse, and labelens.fit in Python does."
            )
        array = array.toarray()
    array = array.reshape(len(array), -1)  # images, row by row
    return pandas.DataFrame(array, columns=[f"x{i}" for i in range(array.shape[1])])


def _json(pandas: Any, path: Path, stream: Any) -> Frame:
    """An object on every line, or a list of objects."""
    text = stream.read().decode("utf-8-sig").strip()
    whole = text.startswith("[")
    records = json.loads(text) if whole else [json.loads(line) for line in text.split("\n") if line]
    if not all(isinstance(record, dict) for record in records):
        raise ValueError("its items are not objects, {...}, one for each row.")
    return pandas.DataFrame.from_records(records)


def _sheet(pandas: Any, path: Path, stream: Any) -> Frame:
    """The first sheet of a workbook."""
    require("openpyxl", extra="files")
    return pandas.read_excel(BytesIO(stream.read()), na_values=NULLS, keep_default_na=False)


def _cells(pandas: Any, path: Path, stream: Any) -> Frame:
    """The genes of an AnnData file and, as columns for labels only, its obs."""
    cells = require("anndata", extra="anndata").read_h5ad(path, backed="r")
    try:
        n, p = cells.shape
        if cells.X is None:
            raise ValueError("it has no X. Name a layer with labelens.tl.embed in Python.")
        if 8 * n * p > MOST_CELLS:
            raise ValueError(
                f"its {n:,} x {p:,} cells take {8 * n * p / 2**30:.1f} GiB as a table. Use "
                "labelens.tl.embed in Python, which reads them in chunks."
            )
        X = cells.X[:]
        X = X.toarray() if hasattr(X, "toarray") else X
        names = cells.var_names.astype(str)
        frame = pandas.DataFrame(X, columns=names, index=cells.obs_names.astype(str))
        obs = cells.obs[[name for name in cells.obs if name not in names]]
        frame = pandas.concat([frame, obs.set_axis(frame.index)], axis=1)
    finally:
        cells.file.close()
    frame.index.name = "cell"
    frame.attrs["obs"] = [str(name) for name in obs.columns]
    return frame


READERS: dict[str, Callable[[Any, Path, Any], Frame]] = {
    ".csv": _text,
    ".tsv": _text,
    ".txt": _text,
    ".dat": _text,
    ".jsonl": _json,
    ".ndjson": _json,
    ".json": _json,
    ".xlsx": _sheet,
    ".parquet": lambda pandas, path, stream: pandas.read_parquet(stream),
    ".feather": lambda pandas, path, stream: pandas.read_feather(stream),
    ".arrow": lambda pandas, path, stream: pandas.read_feather(stream),
    ".h5ad": _cells,
    ".npy": _array,
    ".npz": _arrays,
    "ubyte": _idx,
}
NAMELESS = (".npy", ".npz", "ubyte", "ubyte.gz")  # whose columns have no names


def write(frame: Frame, path: Path) -> None:
    """As CSV or parquet by its name; text that a spreadsheet would run is made plain text."""
    if path.suffix == ".csv":
        safe = frame.copy()
        safe.columns = [_plain(name) for name in safe.columns]
        for name in safe.columns:
            if safe[name].dtype.kind in "OUST":
                safe[name] = safe[name].map(_plain)
        safe.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC)
    else:
        frame.to_parquet(path, index=False)


def _plain(value: Any) -> Any:
    """With an apostrophe before what spreadsheets take for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value
