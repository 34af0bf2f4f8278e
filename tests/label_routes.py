"""Routes that labels can take into a model: in memory, in batches, from files, on workers."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import labelens
from labelens._out_of_core import plan

N, D = 2 * 1024 + 100, 4  # three chunks
NAMES = [f"x{j}" for j in range(D)]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(plan, "CHUNK_BYTES", 1024 * D * 8)


@pytest.fixture(name="X")
def some_rows(rng):
    return rng.normal(size=(N, D))


def as_table(X, columns):
    rows = {name: X[:, j] for j, name in enumerate(NAMES)}
    return pa.table(rows | {name: pa.array(labels) for name, labels in columns.items()})


def frame_of(columns):
    """y: one list, or a frame of several."""
    only = next(iter(columns.values()))
    return only if len(columns) == 1 else pd.DataFrame(columns)


def array(model, X, columns, folder):
    return labelens.fit(model, X, label=frame_of(columns))


def batches(model, X, columns, folder):
    y, cuts = frame_of(columns), [0, 700, 1500, N]
    return labelens.fit(model, [(X[a:b], y[a:b]) for a, b in pairwise(cuts)])


def pandas_frame(model, X, columns, folder):
    frame = pd.DataFrame(X, columns=NAMES).assign(**columns)
    return labelens.fit(model, frame, label=list(columns))


def polars_frame(model, X, columns, folder):
    frame = pl.DataFrame(X, schema=NAMES, orient="row").with_columns(
        **{name: pl.Series(list(labels)) for name, labels in columns.items()}
    )
    return labelens.fit(model, frame, label=list(columns))


def file(write, name):
    def route(model, X, columns, folder):
        write(as_table(X, columns), folder / name)
        return labelens.fit(model, folder / name, label=list(columns))

    return route


def on_dask(model, X, columns, folder):
    da = pytest.importorskip("dask.array")
    return model.fit(da.from_array(X, chunks=(N, D)), frame_of(columns))


ROUTES = {
    "array": array,
    "batches": batches,
    "pandas": pandas_frame,
    "polars": polars_frame,
    "csv": file(csv.write_csv, "a.csv"),
    "parquet": file(parquet.write_table, "a.parquet"),
    "feather": file(feather.write_feather, "a.feather"),
    "dask": on_dask,
}
EVERY_ROUTE = pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)


def same_model(mine, other):
    assert mine.label_kernel_ == other.label_kernel_
    assert mine.n_samples_seen_ == other.n_samples_seen_
    np.testing.assert_array_equal(mine.components_, other.components_)


def with_gaps(labels):
    return [None if i % 7 == 3 else label for i, label in enumerate(labels)]
