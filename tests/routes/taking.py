"""Which cases a route can take, and what it promises."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from routes import ways

# What looks at the first batch where `fit` looks at all rows.
LANDMARKS = ("nystroem",)


def has_dense_rows(case):
    return not sparse.issparse(case.X)


def has_plain_rows(case):
    return has_dense_rows(case) and not isinstance(case.X, pd.DataFrame)


def is_source(case):
    return case.weight is None and not _sparse_labels(case)


def _sparse_labels(case):
    return case.labels is not None and case.labels.kind == "sparse indicator"


def fits_a_table(case):
    kinds = ("big integers",)
    return (
        is_source(case)
        and has_dense_rows(case)
        and (case.labels is None or case.labels.kind not in kinds)
    )


def fits_text(case):
    """CSV knows numbers and text, and no float32."""
    dtype = np.asarray(case.X).dtype
    kinds = (None, "integers", "grades", "continuous", "targets", "indicator", "columns")
    kinds += ("twin columns", "mixed columns")
    kind = None if case.labels is None else case.labels.kind
    return fits_a_table(case) and dtype == np.float64 and kind in kinds


def comes_in_batches(case):
    """Whether batches can give the model of `fit`, once numbers stand for rules."""
    model = case.model
    first_rows = case.kernelised and (model.approximation in LANDMARKS or model.scale is not None)
    auto_scaled = model.scale is not None and model.shrinkage == "auto"
    columns = hasattr(model.label_kernel, "parts")
    balanced = model.class_weight == "balanced"
    return not (first_rows or auto_scaled or columns or balanced)


def merges(case):
    return comes_in_batches(case) and not case.sketched


def keeps_digits(case):
    """The exact kernel of float32 rows is float32, and its rounding depends on where rows are."""
    return merges(case) and not (case.single and case.kernelised)


def is_numeric_array(case):
    labels = case.labels is None or np.asarray(case.y).dtype.kind in "biuf"
    return has_plain_rows(case) and labels and not _sparse_labels(case)


def goes_to_dask(case):
    return is_numeric_array(case) and not is_exact(case)


def goes_to_spark(case):
    """Decimals are no labels of Spark, and its rows are arrays here."""
    kinds = ("decimals", "sparse indicator")
    rows = not isinstance(case.X, pd.DataFrame) and not is_exact(case)
    return rows and (case.labels is None or case.labels.kind not in kinds)


def goes_to_torch(case):
    return has_plain_rows(case) and case.X.dtype.kind == "f"


def goes_to_device(case):
    """In float32 a device computes features and products in float32."""
    return goes_to_torch(case) and not case.single


def has_labels_for_files(case):
    return case.labels is None or case.labels.kind != "decimals"


def is_exact(case):
    return case.kernelised and case.model.approximation == "exact"


# Routes that promise the bits of `fit`.
SAME_BITS = (
    ways.saved,
    ways.refitted,
    ways.copied,
    ways.respelled_labels,
    ways.array,
    ways.batches,
    ways.parquet_file,
    ways.parquet_files,
    ways.feather_file,
    ways.csv_file,
    ways.csv_files,
    ways.npy_files,
)


class Route(NamedTuple):
    takes: Callable  # which cases
    settled: bool = False  # whether numbers must stand for rules that `fit` applies to all rows


ROUTES = {
    ways.in_batches: Route(comes_in_batches, settled=True),
    ways.merged: Route(merges, settled=True),
    ways.saved_between: Route(
        lambda case: comes_in_batches(case) and has_labels_for_files(case), settled=True
    ),
    ways.reordered: Route(keeps_digits, settled=True),
    ways.saved: Route(has_labels_for_files),
    ways.refitted: Route(lambda case: True),
    ways.copied: Route(lambda case: True),
    ways.respelled_labels: Route(lambda case: True),
    ways.array: Route(is_source),
    ways.batches: Route(is_source),
    ways.parquet_file: Route(fits_a_table),
    ways.parquet_files: Route(fits_a_table),
    ways.feather_file: Route(fits_a_table),
    ways.csv_file: Route(fits_text),
    ways.csv_files: Route(fits_text),
    ways.npy_files: Route(lambda case: is_source(case) and has_plain_rows(case)),
    ways.as_on_spark: Route(goes_to_spark),
}
if find_spec("dask") is not None:
    ROUTES[ways.on_dask] = Route(goes_to_dask)
if find_spec("torch") is not None:
    ROUTES[ways.on_torch] = Route(goes_to_torch)
    ROUTES[ways.on_device] = Route(goes_to_device)


def routes_of(case):
    return [route for route, kind in ROUTES.items() if kind.takes(case)]
