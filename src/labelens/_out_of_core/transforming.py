"""Rows through a model, from a source into a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, overload

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .._base.files import replaced
from .._base.optional import require
from .._base.types import Memory, PathLike, SourceLike
from .._engines import engine_of
from .._engines.errors import placed
from .._engines.sources import Source, has_named_columns, open_source
from .._fit.fitted import lazily_embedded, solution_of
from .._fit.projection import Projection
from .._judge.classes import RowMap, embed_chunk, method_of
from ..tables import TableEncoder
from .plan import chunk_rows
from .progress import ProgressCallback, ProgressMeter

Write = Callable[[NDArray[Any]], None]


@overload
def transform(
    estimator: Projection | RowMap,
    source: SourceLike,
    out: PathLike,
    *,
    encoder: TableEncoder | None = ...,
    memory: Memory | None = ...,
    progress: bool | ProgressCallback | None = ...,
) -> Path: ...


@overload  # -> dask array
def transform(estimator: Projection | RowMap, source: SourceLike, out: None = None) -> Any: ...


def transform(
    estimator: Projection | RowMap,
    source: SourceLike,
    out: PathLike | None = None,
    *,
    encoder: TableEncoder | None = None,
    memory: Memory | None = None,
    progress: bool | ProgressCallback | None = None,
) -> Any:
    """Embed data that need not fit in memory, into a file.

    Parameters
    ----------
    estimator : one of the four methods or a map (Atlas, ValueMap, Wheel) of one, fitted
    source
        As in `labelens.fit`. From files only the columns of the model are read; the y of batches
        is ignored.
    out : path, default=None
        .npy, .parquet or .csv (columns z1, z2, ...). The file appears when it is complete. None,
        for dask arrays and frames only, returns the lazy result of `estimator.transform`.
    encoder : labelens.tables.TableEncoder, default=None
        The encoder that was used to fit the model.
    memory, progress
        As in `labelens.fit`.

    Returns
    -------
    Path, or dask array
        `out`, or the embedding if that is None.

    Examples
    --------
    >>> import labelens, numpy as np, tempfile, os
    >>> X, y = np.random.default_rng(0).normal(size=(3000, 5)), np.arange(3000) % 3
    >>> model = labelens.SupervisedPCA(2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Z = np.load(labelens.transform(model, X, os.path.join(folder, "Z.npy")))
    >>> bool((Z == model.transform(X)).all())
    True
    """
    base = method_of(estimator, "labelens.transform")
    k = len(estimator.get_feature_names_out())
    engine = engine_of(source)
    if engine is not None and encoder is not None:
        source, _ = engine.encoded(source, None, None, encoder)
    if engine is not None and out is None:
        return _lazily(estimator, source, engine)
    path = Path("" if out is None else out)
    if path.suffix not in WRITERS:
        raise ValueError(f"out must end in {', '.join(WRITERS)}, got {path.name!r}.")
    if engine is not None:
        embedding = _lazily(estimator, source, engine)
        filled = filter(len, engine.computed_in_order(embedding))
        return _written(path, filled, k, "the dask collection")
    names: Any = getattr(estimator, "feature_names_in_", None)
    named = names is not None and has_named_columns(source)
    wanted = list(names) if named and encoder is None else None
    opened = open_source(source, features=wanted, encoder=encoder)
    _refuse_other_columns(opened, estimator.n_features_in_, names)
    classes = 0 if base is estimator else len(getattr(estimator, "classes_", ()))
    rows = chunk_rows(base, opened, memory, fits=False, classes=classes)
    callback = ProgressMeter(progress, opened.n_rows, opened.row_bytes)

    def pieces() -> Iterator[NDArray[Any]]:
        done = 0
        for chunk in opened.chunks(rows):
            with placed(opened, chunk, done):
                frame = hasattr(chunk.X, "columns")  # which has names of its own
                embedded = embed_chunk(estimator, chunk.X, check_columns=frame)
            yield embedded
            done += chunk.n_rows
            callback.at(done)
        if done:
            callback.at(done, done=True)

    return _written(path, pieces(), k, opened.title)


def _lazily(estimator: Any, X: Any, engine: Any) -> Any:
    if isinstance(estimator, Projection):
        return lazily_embedded(estimator, X, engine)
    solution_of(estimator.estimator_)
    return engine.mapped(partial(embed_chunk, estimator), X)


def _written(path: Path, pieces: Iterator[NDArray[Any]], k: int, title: str) -> Path:
    """The path, once the pieces of an (n, k) embedding are in a file there."""
    with replaced(path) as file, WRITERS[path.suffix](file, k) as write:
        first = next(pieces, None)
        if first is None:
            raise ValueError(f"There are no rows in {title}.")
        for rows in chain([first], pieces):
            write(rows)
    return path


def _refuse_other_columns(source: Source, width: int, names: Any) -> None:
    found = source.names
    if source.head.shape[1] != width:
        raise ValueError(
            f"{source.title} has {source.head.shape[1]} columns, and the model was fitted on "
            f"{width}."
        )
    if names is not None and found is not None and found != list(names):
        wrong = next(i for i in range(width) if found[i] != names[i])
        raise ValueError(
            f"Column {wrong} of {source.title} is {found[wrong]!r}, and {names[wrong]!r} where "
            "the model was fitted."
        )


# Files, written a chunk at a time ----------------------------------------------------------------


@contextmanager
def _npy(file: BinaryIO, k: int) -> Iterator[Write]:
    n, dtype = 0, np.dtype(np.float64)

    def head() -> None:
        # NumPy pads the header, so that it fits any number of rows.
        facts = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (n, k)}
        npy.write_array_header_1_0(file, facts)

    def write(Z: NDArray[Any]) -> None:
        nonlocal n, dtype
        if n == 0:
            dtype = Z.dtype
            head()
        n += len(Z)
        file.write(np.ascontiguousarray(Z).data)

    yield write
    file.seek(0)
    head()


@contextmanager
def _table(file: BinaryIO, k: int, writer: Any) -> Iterator[Write]:
    pa = require("pyarrow", extra="cli")
    names = [f"z{j + 1}" for j in range(k)]
    with ExitStack() as stack:
        opened: Any = None

        def write(Z: NDArray[Any]) -> None:
            nonlocal opened
            if opened is None:
                kind = pa.from_numpy_dtype(Z.dtype)
                schema = pa.schema([(name, kind) for name in names])
                opened = stack.enter_context(writer(file, schema))
            opened.write_batch(pa.record_batch(list(np.asfortranarray(Z).T), names))

        yield write


def _parquet(file: BinaryIO, k: int) -> Any:
    return _table(file, k, require("pyarrow.parquet", extra="cli").ParquetWriter)


def _csv(file: BinaryIO, k: int) -> Any:
    return _table(file, k, require("pyarrow.csv", extra="cli").CSVWriter)


WRITERS: dict[str, Any] = {".npy": _npy, ".parquet": _parquet, ".csv": _csv}
