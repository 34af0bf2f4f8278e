"""The same labels by every route: in memory, in batches, from files, on workers."""

import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet
from sklearn.base import clone

import labelens
from labelens import KernelSupervisedPCA, SupervisedPCA, SupervisedRandomProjection
from labelens.engines import first_pass
from labelens.label_kernels import Ordinal, Sum
from labelens.labels.vocabulary import scrambled
from labelens.sources import formats, open_source
from labelens.streaming import plan

N, D = 2 * 1024 + 100, 4  # three chunks
NAMES = [f"x{j}" for j in range(D)]
SIZES = ["S", "M", "L", "XL"]


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


# Missing labels --------------------------------------------------------------------------------


@EVERY_ROUTE
def test_numbers_with_gaps_are_numbers(rng, X, tmp_path, route):
    values = X[:, 0] + rng.normal(size=N)
    nan = np.where(np.arange(N) % 7 == 3, np.nan, values)
    expected = SupervisedPCA(2, missing_label=np.nan).fit(X, nan)
    assert expected.label_kernel_ == "rbf"
    model = SupervisedPCA(2, missing_label=np.nan)
    same_model(route(model, X, {"y": with_gaps(values.tolist())}, tmp_path), expected)


@EVERY_ROUTE
@pytest.mark.parametrize("most", [1, 4], ids=["linear", "delta"])
def test_columns_of_whole_numbers_with_gaps(rng, X, tmp_path, route, most):
    y = rng.integers(0, most + 1, size=(N, 2))
    y[0] = most
    nan = np.where((np.arange(N) % 7 == 3)[:, None], np.nan, y)
    expected = SupervisedPCA(2, missing_label=np.nan).fit(X, nan)
    columns = {name: with_gaps(y[:, j].tolist()) for j, name in enumerate("ab")}
    model = route(SupervisedPCA(2, missing_label=np.nan), X, columns, tmp_path)
    same_model(model, expected)
    assert model.label_kernel_ == ("linear" if most == 1 else "delta")


@pytest.mark.parametrize("marker", [np.nan, float("nan"), pd.NA, pd.NaT], ids=repr)
@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT], ids=repr)
def test_one_missing_value(X, marker, gap):
    y = [gap if i % 5 == 2 else value for i, value in enumerate(X[:, 0].tolist())]
    nan = np.where(np.arange(N) % 5 == 2, np.nan, X[:, 0])
    expected = SupervisedPCA(2, missing_label=np.nan).fit(X, nan)
    same_model(SupervisedPCA(2, missing_label=marker).fit(X, y), expected)


@pytest.mark.parametrize("of", [pl.Series, pa.array, lambda y: pd.Series(y, dtype="Int64")])
def test_large_whole_numbers_with_gaps_are_exact(X, of):
    y = with_gaps((2**60 + np.arange(N) % 3).tolist())
    assert SupervisedPCA(1, missing_label=np.nan).fit(X, of(y)).classes_.tolist() == [
        2**60,
        2**60 + 1,
        2**60 + 2,
    ]


# Orders ----------------------------------------------------------------------------------------


def graded(kind, labels):
    if kind == "polars":
        return pl.Series(labels, dtype=pl.Enum(SIZES))
    return pd.Categorical(labels, SIZES, ordered=True)


def write_frame(kind, frame, path):
    if path.suffix == ".parquet":
        frame.write_parquet(path) if kind == "polars" else frame.to_parquet(path)
    else:
        frame.write_ipc(path) if kind == "polars" else frame.to_feather(path)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("route", ["fit", "array", "frame", "batches", "a.parquet", "a.feather"])
def test_orders_are_kept(rng, X, tmp_path, kind, columns, route):
    grades = rng.choice(SIZES, size=(N, columns))
    named, plain = (Ordinal(SIZES), "ordinal") if columns == 1 else (
        Sum(Ordinal(SIZES), Ordinal(SIZES)), Sum("ordinal", "ordinal")
    )  # fmt: skip
    expected = SupervisedPCA(2, label_kernel=named).fit(X, grades.squeeze())
    names = list("ab")[:columns]
    labels = {name: graded(kind, grades[:, j]) for j, name in enumerate(names)}
    rows = {name: X[:, j] for j, name in enumerate(NAMES)}
    frame = (pl.DataFrame if kind == "polars" else pd.DataFrame)(rows | labels)
    y = frame[names] if columns == 2 else frame[names[0]]
    model = SupervisedPCA(2, label_kernel=plain)
    if route == "fit":
        model.fit(X, y)
    elif route == "array":
        labelens.fit(model, X, label=y)
    elif route == "frame":
        labelens.fit(model, frame, label=names)
    elif route == "batches":
        labelens.fit(model, [(X[:600], y[:600]), (X[600:], y[600:])])
    else:
        write_frame(kind, frame, tmp_path / route)
        labelens.fit(model, tmp_path / route, label=names)
    np.testing.assert_array_equal(model.components_, expected.components_)


# Dates -----------------------------------------------------------------------------------------


DAYS = np.datetime64("2024-02-27") + np.arange(N) % 4
INSTANTS = {
    "s": DAYS.astype("M8[s]"),
    "ns": DAYS.astype("M8[ns]"),
    "date": DAYS.tolist(),
    "datetime": DAYS.astype("M8[us]").tolist(),
    "pandas": pd.Series(DAYS),
    "Timestamp": list(pd.Series(DAYS)),
    "time zone": pd.Series(DAYS).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
    "polars": pl.Series(DAYS),
    "Arrow": pa.array(DAYS),
    "mixed": [day.item() if i % 2 else pd.Timestamp(day) for i, day in enumerate(DAYS)],
}
DURATIONS = {
    "ns": (DAYS - DAYS[0]).astype("m8[ns]"),
    "timedelta": (DAYS - DAYS[0]).tolist(),
    "pandas": pd.Series(DAYS - DAYS[0]),
    "polars": pl.Series((DAYS - DAYS[0]).astype("m8[us]")),
}


def hashed(X, y, **options):
    model = SupervisedRandomProjection(2, label_map="gaussian", random_state=0, **options)
    return model.fit(X, y)


@pytest.mark.parametrize(
    ("days", "same"),
    [(DAYS, y) for y in INSTANTS.values()] + [(DAYS - DAYS[0], y) for y in DURATIONS.values()],
    ids=[*INSTANTS, *(f"{name} (duration)" for name in DURATIONS)],
)
def test_an_instant_is_one_class_in_every_unit(X, days, same):
    expected, found = hashed(X, days), hashed(X, same)
    np.testing.assert_array_equal(found.components_, expected.components_)
    assert found.classes_.tolist() == expected.classes_.tolist() == list(np.unique(days))
    stream = SupervisedPCA(1).partial_fit(X, days).partial_fit(X, same)
    assert stream.classes_.tolist() == list(np.unique(days))


def test_a_stream_may_mix_units(X):
    parts = [(X[:700], DAYS[:700]), (X[700:1500], INSTANTS["ns"][700:1500])]
    parts.append((X[1500:], INSTANTS["date"][1500:]))
    same_model(labelens.fit(SupervisedPCA(2), parts), SupervisedPCA(2).fit(X, DAYS))


@EVERY_ROUTE
def test_dates_beside_other_labels(X, tmp_path, route):
    """Dates in a column of their own stay dates, and so do dates with gaps."""
    letters = ["abc"[i % 3] for i in range(N)]
    columns = {"day": with_gaps(DAYS.tolist()), "letter": with_gaps(letters)}
    frame = pd.DataFrame({"day": DAYS, "letter": letters}).astype(object)
    frame[np.arange(N) % 7 == 3] = None
    expected = SupervisedPCA(2, missing_label=np.nan).fit(X, frame.to_numpy())
    model = route(SupervisedPCA(2, missing_label=np.nan), X, columns, tmp_path)
    same_model(model, expected)
    assert model.classes_[0].tolist() == list(np.unique(DAYS))


def test_classes_named_by_the_user_may_be_in_any_unit(X):
    today = datetime.date(2024, 2, 28)
    for y in (DAYS, INSTANTS["ns"], INSTANTS["date"]):
        weighted = SupervisedPCA(2, class_weight={today: 3.0}).fit(X, y)
        weight = np.where(today == DAYS, 3.0, 1.0)
        expected = SupervisedPCA(2).fit(X, DAYS, sample_weight=weight)
        np.testing.assert_allclose(weighted.components_, expected.components_, atol=1e-12)
        marked = SupervisedPCA(2, missing_label=today).fit(X, y)
        assert np.datetime64(today) not in marked.classes_
        order = Ordinal(sorted({day.item() for day in DAYS}))
        SupervisedPCA(2, label_kernel=order).fit(X, y)


def test_equal_numbers_have_one_vector(X):
    y = np.arange(N) % 4 / 4
    expected = hashed(X, y, label_kernel="delta")
    for kind in (Decimal, Fraction):
        found = hashed(X, [kind(value) for value in y])
        np.testing.assert_array_equal(found.components_, expected.components_)
    found = hashed(X, [Decimal(f"{value:.5f}") for value in y])
    np.testing.assert_array_equal(found.components_, expected.components_)


def test_mixed_units_in_a_file(X, tmp_path):
    y = np.where(np.arange(N) % 2, DAYS.astype("M8[s]"), DAYS + np.timedelta64(1, "ms"))
    model = SupervisedPCA(2).fit(X, y)
    labelens.save(model, tmp_path / "m")
    assert labelens.load(tmp_path / "m").classes_.tolist() == model.classes_.tolist()


# What the first chunk does not tell ------------------------------------------------------------


def late(rng, kind):
    """Labels, a column each, and the kernel that all of them mean; the first chunk means another.

    `missing` in the first chunk: it has no labels.
    """
    y = rng.integers(0, 2, size=(N, 2))
    match kind:
        case "columns of classes":
            y[1500:] *= 3
            return {"a": y[:, 0].tolist(), "b": y[:, 1].tolist()}, "delta"
        case "columns of numbers":
            y = y.astype(float)
            y[2000, 1] = 0.5
            return {"a": y[:, 0].tolist(), "b": y[:, 1].tolist()}, "rbf"
        case "numbers":
            y = y[:, 0].astype(float)
            y[2000] = 0.5
            return {"y": y.tolist()}, "rbf"
        case "numbers with gaps":
            y = [1.0 if i % 2 else None for i in range(2000)]
            return {"y": y + rng.normal(size=N - 2000).tolist()}, "rbf"
        case "missing numbers":
            return {"y": [None] * 1100 + rng.normal(size=N - 1100).tolist()}, "rbf"
        case "missing classes":
            return {"y": [None] * 1100 + rng.choice(list("abc"), N - 1100).tolist()}, "delta"
        case "missing indicator":
            columns = y[1100:].T.tolist()
            a, b = ([None] * 1100 + labels for labels in columns)
            return {"a": a, "b": b}, "linear"


LATE = [
    "columns of classes", "columns of numbers", "numbers", "numbers with gaps", "missing numbers",
    "missing classes", "missing indicator",
]  # fmt: skip


@EVERY_ROUTE
@pytest.mark.parametrize("kind", LATE)
def test_all_labels_decide(rng, X, tmp_path, monkeypatch, route, kind):
    if kind.startswith("missing"):  # in the first block of text too
        monkeypatch.setattr(formats, "CSV_BLOCK", 1 << 14)
    columns, kernel = late(rng, kind)
    y = np.array(list(zip(*columns.values(), strict=True)), dtype=object).squeeze()
    model = SupervisedPCA(2, missing_label=np.nan, random_state=0)
    expected = clone(model).fit(X, y)
    assert expected.label_kernel_ == kernel
    same_model(route(model, X, columns, tmp_path), expected)


@pytest.mark.parametrize("kind", LATE[:2])
def test_dask_decides_by_all_parts(rng, X, kind):
    columns, kernel = late(rng, kind)
    y = np.column_stack(list(columns.values()))
    rows, labels = (da.from_array(a, chunks=(1024, -1)) for a in (X, y))
    model = SupervisedPCA(2, random_state=0).fit(rows, labels)
    assert model.label_kernel_ == kernel
    expected = SupervisedPCA(2, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "columns of classes",
            "0 and 1 for a multilabel indicator .* has 3: .*'delta' for classes",
        ),
        ("columns of numbers", "0 and 1 for a multilabel indicator .* has 0.5: .*'rbf'"),
        ("numbers", "whole numbers for classes .* has 0.5: pass label_kernel='rbf'"),
    ],
)
def test_a_later_batch_must_not_contradict(rng, X, tmp_path, kind, words):
    columns, _ = late(rng, kind)
    y = np.column_stack(list(columns.values())).squeeze()
    pairs = [(X[a:b], y[a:b]) for a, b in pairwise([0, 1024, N])]
    with pytest.raises(ValueError, match=words):
        labelens.fit(SupervisedPCA(2), iter(pairs))
    for options in ({}, {"label_map": "gaussian"}):
        model = SupervisedRandomProjection(2, random_state=0, **options).partial_fit(*pairs[0])
        labelens.save(model, tmp_path / "m", moments=True)
        for first in (model, labelens.load(tmp_path / "m")):
            with pytest.raises(ValueError, match=words):
                first.partial_fit(*pairs[1])
            assert first.n_samples_seen_ == 1024


def test_whole_numbers_of_another_type_do_not_contradict(X):
    y = np.arange(N) % 2
    for kind in (float, np.uint8, np.int16):
        model = SupervisedPCA(1).partial_fit(X, y).partial_fit(X, y.astype(kind))
        assert model.classes_.tolist() == [0, 1]


def test_integers_and_then_fractions(X):
    y = np.arange(N) % 3
    with pytest.raises(ValueError, match="took whole numbers for classes"):
        SupervisedPCA(1).partial_fit(X, y).partial_fit(X, y / 2)
    with pytest.raises(ValueError, match="took whole numbers for classes"):
        labelens.fit(SupervisedPCA(1), [(X[:1024], y[:1024]), (X[1024:], y[1024:] / 2)])


def test_no_label_anywhere(X):
    y = np.full(N, np.nan)
    with pytest.raises(ValueError, match="y has no labels: every value is missing_label=nan"):
        labelens.fit(SupervisedPCA(2, missing_label=np.nan), X, label=y)
    y[2000] = 1
    pairs = [(X[:1024], y[:1024]), (X[1024:], y[1024:])]
    with pytest.raises(ValueError, match="first chunk without labels requires a first pass"):
        labelens.fit(SupervisedPCA(2, missing_label=np.nan), iter(pairs))


def test_few_labels_among_many_rows(X, monkeypatch):
    """None of them is in the sample of rows."""
    monkeypatch.setattr(first_pass, "SAMPLE_ROWS", 1024)
    hashes = scrambled(np.arange(N, dtype=np.uint64))
    y = np.full(N, np.nan)
    unseen = np.argsort(hashes)[-40:]
    y[unseen] = np.arange(40) % 2
    model = KernelSupervisedPCA(
        1, gamma="median", n_random_features=16, random_state=0, missing_label=np.nan
    )
    assert labelens.fit(clone(model), X, label=y).classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"gamma='auto' looks at a sample .* none of them has a"):
        labelens.fit(clone(model).set_params(gamma="auto"), X, label=y)


def test_one_read_suffices_for_continuous_labels(X):
    """The width of the RBF kernel over labels takes a pass over labels, not over rows."""

    class Pairs:
        def __init__(self):
            self.times = 0

        def __iter__(self):
            self.times += 1
            yield X, X[:, 0]

    source = open_source(Pairs())
    reads = []
    chunks = source.chunks
    source.chunks = lambda rows, start=0, features=True: (
        reads.append(features), chunks(rows, start, features))[1]  # fmt: skip
    labelens.fit(SupervisedPCA(2), source)
    assert reads == [True, False, True]  # the first one for its first chunk only
