"""The same labels by every route: in memory, in batches, from files, on workers."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import labelens
from label_routes import EVERY_ROUTE, NAMES, D, N, same_model, small_chunks, some_rows, with_gaps  # noqa: F401
from labelens import SupervisedPCA, SupervisedRandomProjection
from labelens.label_kernels import Ordinal, Sum

SIZES = ["S", "M", "L", "XL"]


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


def masked(y):
    gone = [label is None for label in y]
    return np.ma.masked_array([y[0] if no else v for v, no in zip(y, gone, strict=True)], gone)


CONTAINERS = [pd.array, pd.Series, pl.Series, pa.array, masked, lambda y: pd.DataFrame({"y": y})]


@pytest.mark.parametrize("of", CONTAINERS)
@pytest.mark.parametrize("kind", ["number", "integer", "string", "bool"])
def test_gaps_in_every_container(X, of, kind):
    values = {
        "number": X[:, 0].tolist(),
        "integer": (np.arange(N) % 3).tolist(),
        "string": [f"class {i % 3}" for i in range(N)],
        "bool": [i % 3 == 0 for i in range(N)],
    }[kind]
    labelled = np.arange(N) % 7 != 3
    expected = SupervisedPCA(1).fit(X[labelled], np.array(values)[labelled])
    model = SupervisedPCA(1, missing_label=np.nan).fit(X, of(with_gaps(values)))
    assert model.label_kernel_ == expected.label_kernel_
    np.testing.assert_allclose(model.components_, expected.components_, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="contains NaN at row 3"):
        SupervisedPCA(2).fit(X, of(with_gaps(values)))


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
    assert SupervisedPCA(1).fit(X, same).classes_.tolist() == list(np.unique(days))
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
