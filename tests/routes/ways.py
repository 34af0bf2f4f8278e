"""Routes to a model: each takes a case and makes the model that `fit` makes of it."""

from __future__ import annotations

import copy
import tempfile
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv, feather, parquet
from sklearn.base import clone

import labelens
from engines.here import Here
from labelens._base import devices
from labelens._engines.parts import attempt, unless_refused
from labelens._fit.driver import fit_rows
from labelens._out_of_core import plan
from labelens.spark import partials
from routes.labels import respelled


@contextmanager
def small_chunks():
    """Streams of files and arrays in chunks of one block."""
    with (
        mock.patch.multiple(
            plan, CHUNK_BYTES=1, KERNEL_CHUNK_BYTES=1, KERNEL_BLOCKS=1, SENT_BYTES=1
        ),
    ):
        yield


@contextmanager
def everywhere_a_device():
    """Host memory that looks like the memory of a device."""
    with mock.patch.object(devices, "_in_host_memory", return_value=False):
        yield


def some(values, here):
    if values is None:
        return None
    if isinstance(values, list):
        return values[here] if isinstance(here, slice) else [values[i] for i in here]
    return values.iloc[here] if hasattr(values, "iloc") else values[here]


def cuts_of(case, most=5):
    """Slices that cover all rows; some may be a single row."""
    count = int(case.rng.integers(1, most + 1))
    inner = np.sort(case.rng.choice(np.arange(1, case.n), min(count, case.n - 1), replace=False))
    return [slice(a, b) for a, b in pairwise([0, *inner.tolist(), case.n])]


def parts_of(case):
    for here in cuts_of(case):
        yield some(case.X, here), some(case.y, here), some(case.weight, here)


def batches_of(case):
    """The same; each has a row that counts, and a label where there are labels."""
    counts = case.labelled if case.weight is None else case.labelled & (case.weight > 0)
    ends = [here.stop for here in cuts_of(case)]
    start = 0
    for end in [e for e in ends[:-1] if counts[e:].any()] + ends[-1:]:
        if counts[start:end].any():
            here = slice(start, end)
            yield some(case.X, here), some(case.y, here), some(case.weight, here)
            start = end


def settled(case, whole):
    """The estimator with a number for everything that `fit` took from all rows."""
    model = clone(case.model).set_params(n_components=whole.n_components_)
    if case.kernelised and isinstance(model.gamma, str):
        model.set_params(gamma=whole.gamma_)
    psi = whole._recipe.psi
    if psi is not None:
        model.set_params(label_kernel=whole.label_kernel_)
        if whole.label_kernel_ == "rbf":
            model.set_params(label_gamma=psi.gamma)
    return model


# In this process ---------------------------------------------------------------------------------


def in_batches(case):
    model = clone(case.model)
    for X, y, weight in batches_of(case):
        model.partial_fit(X, y, weight)
    return model


def merged(case):
    """Models of the parts, merged two neighbours at a time, in any order."""
    models = [clone(case.model).partial_fit(*part) for part in batches_of(case)]
    while len(models) > 1:
        i = int(case.rng.integers(0, len(models) - 1))
        models[i : i + 2] = [models[i].merge(models[i + 1])]
    return models[0]


def saved_between(case):
    model = clone(case.model)
    for part in batches_of(case):
        model = reloaded(model.partial_fit(*part))
    return model


def reloaded(model):
    with tempfile.TemporaryDirectory() as folder:
        labelens.save(model, Path(folder) / "model.labelens", moments=True)
        return labelens.load(Path(folder) / "model.labelens")


def saved(case):
    return reloaded(refitted(case))


def refitted(case):
    """By an estimator that may have been fitted before."""
    return case.start().fit(case.X, case.y, case.weight)


def copied(case):
    return copy.deepcopy(refitted(case))


def respelled_labels(case):
    return case.start().fit(case.X, respelled(case.y, case.rng), case.weight)


def reordered(case):
    """Rows in another order: half of the time from the last to the first."""
    order = np.arange(case.n)[::-1] if case.rng.random() < 0.5 else case.rng.permutation(case.n)
    return case.start().fit(*(some(a, order) for a in (case.X, case.y, case.weight)))


# Data in chunks ----------------------------------------------------------------------------------


def array(case):
    with small_chunks():
        return labelens.fit(case.start(), case.X, label=case.y)


def batches(case):
    """Labels of every batch in a container of their own."""
    pairs = [(X, respelled(y, case.rng, column=False)) for X, y, _ in parts_of(case)]
    with small_chunks():
        return labelens.fit(case.start(), pairs)


def _table(case):
    """Rows and labels as an Arrow table, and the names of the labels."""
    X = case.X if isinstance(case.X, pd.DataFrame) else np.asarray(case.X)
    columns = [X.iloc[:, j] for j in range(X.shape[1])] if hasattr(X, "iloc") else list(X.T)
    names = list(X.columns) if hasattr(X, "columns") else [f"x{j}" for j in range(len(columns))]
    table = {
        name: pa.array(np.ascontiguousarray(c)) for name, c in zip(names, columns, strict=True)
    }
    y = case.y
    if y is None:
        return pa.table(table), None
    if case.labels.ndim == 1:
        return pa.table(table | {"label": _column(y)}), "label"
    columns = [y[name] for name in y] if hasattr(y, "iloc") else list(zip(*y, strict=True))
    labels = {f"y{j}": _column(column) for j, column in enumerate(columns)}
    return pa.table(table | labels), list(labels)


def _column(values):
    if hasattr(values, "iloc"):
        return pa.array(values)
    return pa.array(
        list(values) if not isinstance(values, np.ndarray) else values, from_pandas=True
    )


def _files(case, ending, write, several=False):
    table, label = _table(case)
    with tempfile.TemporaryDirectory() as folder, small_chunks():
        for number, here in enumerate(cuts_of(case) if several else [slice(0, case.n)]):
            part = table.slice(here.start, here.stop - here.start)
            write(part, Path(folder) / f"{number}.{ending}")
        features = [name for name in table.column_names if name not in np.atleast_1d(label)]
        return labelens.fit(case.start(), f"{folder}/*.{ending}", label=label, features=features)


def _write_parquet(table, path):
    parquet.write_table(table, path, row_group_size=333)


def parquet_file(case):
    return _files(case, "parquet", _write_parquet)


def parquet_files(case):
    return _files(case, "parquet", _write_parquet, several=True)


def feather_file(case):
    return _files(case, "feather", lambda t, path: feather.write_feather(t, path, chunksize=777))


def csv_file(case):
    return _files(case, "csv", csv.write_csv)


def csv_files(case):
    return _files(case, "csv", csv.write_csv, several=True)


def npy_files(case):
    with tempfile.TemporaryDirectory() as folder, small_chunks():
        for number, here in enumerate(cuts_of(case)):
            np.save(f"{folder}/x{number}.npy", np.asarray(case.X)[here])
        return labelens.fit(case.start(), f"{folder}/x*.npy", label=case.y)


def on_dask(case):
    import dask
    import dask.array as da

    sizes = tuple(here.stop - here.start for here in cuts_of(case))

    def chunked(values):
        if values is None:
            return None
        values = np.asarray(values)
        return da.from_array(values, chunks=(sizes, *[(size,) for size in values.shape[1:]]))

    with dask.config.set(scheduler="synchronous"):
        return case.start().fit(*map(chunked, (np.asarray(case.X), case.y, case.weight)))


class SentAsBytes(Here):
    """Partial results as they come from the Python workers of Spark."""

    def each(self, step, features=True):
        def sent(part):
            return partials.loaded(partials.dumped(attempt(step, part)))

        return map(unless_refused, super().each(sent, features))


def as_on_spark(case):
    return fit_rows(case.start(), SentAsBytes(list(parts_of(case))))


def on_torch(case):
    import torch

    return case.start().fit(torch.asarray(np.asarray(case.X)), case.y, case.weight)


def on_device(case):
    import torch

    with everywhere_a_device():
        model = case.start().fit(torch.asarray(np.asarray(case.X)), case.y, case.weight)
        model._solve()
        return model.to("numpy")
