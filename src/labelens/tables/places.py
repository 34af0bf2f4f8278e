"""Where tables are, other than in one local file: URLs, queries, standard input, tables in folders.

Each is put into a local file first, which every reader can read at once or in chunks.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any

from .._base.optional import require

URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*(::[a-zA-Z][a-zA-Z0-9+.-]*)*://.")
STDIN = "-"
BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"\x93NUMPY": ".npy",
    b"\x1f\x8b": ".txt.gz",
    b"{": ".jsonl",
    b"[": ".json",
}


@contextmanager
def located(place: str | Path | None, sql: str | None = None) -> Iterator[Path]:
    """A local path, or a glob, of the rows at a place; copies last as long as the context.

    A place is a path, a glob, a URL that fsspec knows, "-" for standard input, a folder with a
    Delta table or a Hugging Face dataset, or None with `sql`. With `sql` it is a DuckDB database.
    """
    if place is None and sql is None:
        raise ValueError("No data are named. Name a file, or a query with --sql.")
    path, elsewhere = Path(str(place)), str(place) == STDIN or URL.match(str(place))
    if sql is None and not elsewhere and not path.is_dir():
        yield path
        return
    with TemporaryDirectory(prefix="labelens-") as name:
        folder = Path(name)
        if sql is not None:
            yield _queried(sql, place, folder)
        elif str(place) == STDIN:
            yield _from_stdin(folder)
        elif URL.match(str(place)):
            yield _fetched(str(place), folder)
        else:
            yield _from_folder(path, folder)


def _queried(sql: str, database: Any, folder: Path) -> Path:
    """The rows of a query, in the folder of the user: FROM 'people.csv' is read there."""
    duckdb, path = require("duckdb", extra="files"), folder / "query.parquet"
    try:
        base = duckdb.connect(str(database or ":memory:"), read_only=database is not None)
        with base:
            base.sql(sql).write_parquet(str(path))
    except (duckdb.Error, AttributeError) as error:  # AttributeError: no rows, as of CREATE
        why = str(error) if isinstance(error, duckdb.Error) else "it selects nothing"
        raise ValueError(f"--sql: {why.splitlines()[0]}") from None
    return path


def _from_stdin(folder: Path) -> Path:
    """Standard input as a file, named by its first bytes; text by default."""
    stream = sys.stdin.buffer
    start = stream.read(16)
    kind = next((kind for begin, kind in BEGINNINGS.items() if start.startswith(begin)), ".txt")
    path = folder / f"stdin{kind}"
    with path.open("wb") as file:
        file.write(start)
        copyfileobj(stream, file)
    return path


def _fetched(url: str, folder: Path) -> Path:
    """The file of a URL, or a glob of several."""
    fsspec, scheme = require("fsspec", extra="files"), url.partition("://")[0]
    if scheme == "file":
        return Path(url.partition("://")[2])
    try:
        system, inside = fsspec.core.url_to_fs(url)
        found = system.glob(inside) if fsspec.core.has_magic(inside) else [inside]
        targets = [str(folder / Path(one).name) for one in found]
        if not found:
            raise FileNotFoundError(f"No file is called {url}.")
        if len(set(targets)) < len(targets):
            raise ValueError("two of its files have the same name")
        system.get(found, targets)
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {url}.") from None
    except Exception as error:  # each protocol has its own
        raise ValueError(f"{url} cannot be read: {str(error) or type(error).__name__}") from error
    return Path(targets[0]) if len(targets) == 1 else folder / f"*{Path(targets[0]).suffix}"


def _from_folder(path: Path, folder: Path) -> Path:
    if (path / "_delta_log").is_dir():
        table = require("deltalake", extra="files").DeltaTable(str(path))
        dataset = table.to_pyarrow_dataset()
        return _written(dataset.to_batches(), dataset.schema, folder / f"{path.name}.parquet")
    if (path / "dataset_dict.json").is_file():
        parts = [str(one) for one in sorted(path.iterdir()) if one.is_dir()]
        raise ValueError(f"{path} is a dataset of several parts; name one: {', '.join(parts)}.")
    if (path / "state.json").is_file() and any(path.glob("*.arrow")):
        return _huggingface(path, folder)
    kinds = {"".join(one.suffixes[-1:]) for one in path.iterdir() if _is_rows(one)}
    if len(kinds) == 1:
        return path / f"*{kinds.pop()}"
    raise IsADirectoryError(f"{path} is a folder; name a file in it.")


def _is_rows(path: Path) -> bool:
    return path.is_file() and path.suffix in (".parquet", ".arrow", ".feather", ".csv", ".tsv")


def _huggingface(path: Path, folder: Path) -> Path:
    """A dataset that `save_to_disk` has written: Arrow streams, in the order of state.json."""
    pa = require("pyarrow", extra="cli")
    state = json.loads((path / "state.json").read_text())
    if state.get("_indices_files"):
        raise ValueError(f"{path} selects rows by an index; save it after flatten_indices().")
    files = [path / Path(one["filename"]).name for one in state["_data_files"]]

    def batches(file: Path) -> Iterator[Any]:
        with pa.OSFile(str(file)) as source:
            yield from pa.ipc.open_stream(source)

    with pa.OSFile(str(files[0])) as source:
        schema = pa.ipc.open_stream(source).schema
    every = (batch for file in files for batch in batches(file))
    return _written(every, schema, folder / f"{path.name}.parquet")


def _written(batches: Iterable[Any], schema: Any, path: Path) -> Path:
    """Record batches as a parquet file."""
    with require("pyarrow.parquet", extra="cli").ParquetWriter(path, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path
