"""The same rows and labels in every kind of source."""

import gzip
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import csv, feather, ipc, parquet

N, D = 5 * 1024 + 300, 6


def as_table(X, y):
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    return pa.table(columns | {"label": y})


def npy(folder, X, y, order="C"):
    np.save(folder / "X.npy", np.array(X, order=order))
    np.save(folder / "y.npy", y)
    return folder / "X.npy", folder / "y.npy"


def two_npy(folder, X, y):
    np.save(folder / "a0.npy", X[:1500])
    np.save(folder / "a1.npy", X[1500:])
    np.save(folder / "y.npy", y)
    return str(folder / "a*.npy"), y


def npz(folder, X, y):
    np.savez(folder / "all.npz", X=X, target=y)
    return folder / "all.npz", "target"


def some_parquet(folder, X, y):
    for i, here in enumerate((slice(0, 700), slice(700, 700), slice(700, None))):
        parquet.write_table(as_table(X[here], y[here]), folder / f"{i}.parquet", row_group_size=333)
    return str(folder / "*.parquet"), "label"


def arrow(folder, X, y):
    feather.write_feather(as_table(X, y), folder / "a.feather", chunksize=777, compression="lz4")
    return folder / "a.feather", "label"


def arrow_stream(folder, X, y):
    table = as_table(X, y)
    with ipc.new_stream(folder / "a.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=777)
    return folder / "a.arrow", "label"


def text(folder, X, y):
    X = X.astype(np.float64)
    csv.write_csv(as_table(X[:900], y[:900]), folder / "0.csv")
    csv.write_csv(as_table(X[900:], y[900:]), folder / "1.csv")
    return [folder / "0.csv", folder / "1.csv"], "label"


def zipped_semicolons(folder, X, y):
    with gzip.open(folder / "a.csv.gz", "wt") as file:
        as_table(X.astype(np.float64), y).to_pandas().to_csv(file, index=False, sep=";")
    return folder / "a.csv.gz", "label"


def lists(folder, X, y):
    table = pa.table({"label": y, "x": pa.array(list(X))})
    parquet.write_table(table, folder / "lists.parquet", row_group_size=1000)
    return folder / "lists.parquet", "label"


def fixed_lists(folder, X, y):
    x = pa.FixedSizeListArray.from_arrays(pa.array(X[:, :4].ravel()), 4)
    table = pa.table({"x": x, "label": y, "u": X[:, 4], "v": X[:, 5]})
    parquet.write_table(table, folder / "lists.parquet", row_group_size=1000)
    return folder / "lists.parquet", "label"


def batches(folder, X, y):
    cuts = [0, 1, 1000, 1000, 1024, 4000, N]
    return [(X[a:b], y[a:b]) for a, b in pairwise(cuts)], None


def pandas_frame(folder, X, y):
    return as_table(X, y).to_pandas(), "label"


def polars_frame(folder, X, y):
    return pl.from_arrow(as_table(X, y)), "label"


KINDS = [
    lambda folder, X, y: (X, y),
    pandas_frame,
    polars_frame,
    npy,
    lambda *given: npy(*given, order="F"),
    two_npy,
    npz,
    some_parquet,
    arrow,
    arrow_stream,
    text,
    zipped_semicolons,
    lists,
    fixed_lists,
    batches,
]
NAMES = [
    "array", "pandas", "polars", "npy", "npy-F", "two npy", "npz", "parquet", "feather", "arrow",
    "csv", "csv.gz", "lists", "fixed lists", "batches",
]  # fmt: skip
