"""A table of all kinds of columns with gaps: every route fits the same model."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import labelens
from labelens import SupervisedPCA
from labelens.tables import TableEncoder

N = 3000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)

    def gaps(values, share=0.1):
        return [
            None if gone else value
            for value, gone in zip(values, rng.random(N) < share, strict=True)
        ]

    y = rng.choice(["a", "b", "c"], N)
    return pd.DataFrame(
        {
            "row": np.arange(N),
            "number": np.array(gaps(1e6 + rng.normal(size=N)), float) + (y == "a"),
            "whole": rng.integers(0, 40, N),
            "odd": np.where(rng.random(N) < 0.1, "?", rng.normal(size=N).round(3).astype(str)),
            "money": [f"${v:,.2f}" for v in rng.gamma(2, 900, N)],
            "flag": rng.random(N) > 0.5,
            "colour": gaps(rng.choice(["red", "green", "blue, or so"], N)),
            "city": [f"city {i}" for i in rng.integers(0, 300, N)],
            "day": gaps(pd.date_range("2020-01-01", periods=N, freq="11h").strftime("%Y-%m-%d")),
            "empty": [None] * N,
            "y": y,
        }
    )


@pytest.fixture(scope="module")
def truth(frame):
    X, encoder = frame.drop(columns="y"), TableEncoder("median", text=True)
    model = SupervisedPCA(2, scale="standard").fit(encoder.fit(X).frame(X), frame["y"])
    assert set(encoder.left_out_) == {"row", "empty"}
    return model, encoder, model.transform(encoder.frame(X))


def same(encoder, model, frame, truth):
    assert encoder.columns_ == pytest.approx(encoder.columns_)
    for mine, theirs in zip(encoder.columns_, truth[1].columns_, strict=True):
        assert mine.features == theirs.features
        np.testing.assert_allclose(mine.fill, theirs.fill, rtol=1e-13)
    Z = model.transform(encoder.frame(frame.drop(columns="y")))
    np.testing.assert_allclose(Z, truth[2], rtol=0, atol=1e-12 * np.abs(truth[2]).max())


def unfitted():
    return SupervisedPCA(2, scale="standard"), TableEncoder("median", text=True)


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("files", [1, 3])
def test_files(frame, truth, tmp_path, kind, files):
    for i, part in enumerate(np.array_split(np.arange(N), files)):
        some = frame.iloc[part].reset_index(drop=True)
        path = tmp_path / f"{i}.{kind}"
        some.to_csv(path, index=False) if kind == "csv" else getattr(some, f"to_{kind}")(path)
    model, encoder = unfitted()
    source = str(tmp_path / f"*.{kind}")
    labelens.fit(model, source, label="y", encoder=encoder)
    same(encoder, model, frame, truth)
    labelens.transform(model, source, tmp_path / "Z.npy", encoder=encoder)
    np.testing.assert_allclose(np.load(tmp_path / "Z.npy"), truth[2], atol=1e-10)


def test_batches(frame, truth):
    cuts = [slice(0, 1), slice(1, 700), slice(700, N)]
    batches = [(frame[cut].drop(columns="y"), frame["y"][cut]) for cut in cuts]
    model, encoder = unfitted()
    labelens.fit(model, batches, encoder=encoder)
    same(encoder, model, frame, truth)
    with pytest.raises(ValueError, match="can be read only once"):
        labelens.fit(SupervisedPCA(2), iter(batches), encoder=TableEncoder())


def test_pieces_and_merged_encoders(frame, truth):
    X = frame.drop(columns="y")
    pieces = TableEncoder("median", text=True)
    for start in range(0, N, 313):
        pieces.partial_fit(X[start : start + 313])
    merged = TableEncoder("median", text=True).fit(X[2000:])
    merged.merge(TableEncoder("median", text=True).fit(X[:5])).merge(
        TableEncoder("median", text=True).fit(X[5:2000])
    )
    for encoder in (pieces, merged):
        model, rest = (SupervisedPCA(2, scale="standard") for _ in range(2))
        for cut in (slice(0, 700), slice(700, 1500)):
            model.partial_fit(encoder.frame(X[cut]), frame["y"][cut])
        model.merge(rest.fit(encoder.frame(X[1500:]), frame["y"][1500:]))
        same(encoder, model, frame, truth)


def test_dask_reads_files(frame, truth, tmp_path):
    pytest.importorskip("dask")
    for i in range(3):
        frame[i * N // 3 : (i + 1) * N // 3].to_parquet(tmp_path / f"{i}.parquet", index=False)
    model, encoder = unfitted()
    labelens.fit(model, f"{tmp_path}/*.parquet", label="y", encoder=encoder, engine="dask")
    same(encoder, model, frame, truth)


def test_dask(frame, truth):
    dd = pytest.importorskip("dask.dataframe")
    model, encoder = unfitted()
    source = dd.from_pandas(frame, npartitions=4, sort=False)
    labelens.fit(model, source, label="y", encoder=encoder)
    same(encoder, model, frame, truth)
    Z = labelens.transform(model, source, encoder=encoder)
    np.testing.assert_allclose(np.asarray(Z), truth[2], atol=1e-10)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.slow
def test_spark(frame, truth, tmp_path):
    pytest.importorskip("pyspark")
    if not (shutil.which("java") or "JAVA_HOME" in os.environ):
        pytest.skip("needs Java 17")
    from engines.kill_spark import session

    spark = session("local[2,4]")
    try:
        for i in range(3):
            frame[i * N // 3 : (i + 1) * N // 3].to_parquet(
                tmp_path / f"{i}.parquet", coerce_timestamps="us"
            )
        rows = spark.read.parquet(str(tmp_path)).drop("__index_level_0__")
        model, encoder = unfitted()
        labelens.spark.fit(model, rows, label="y", encoder=encoder)
        same(encoder, model, frame, truth)
        placed = labelens.spark.transform(model, rows, encoder=encoder)
        Z = [row.embedding for row in sorted(placed.select("row", "embedding").collect())]
        np.testing.assert_allclose(Z, truth[2], atol=1e-10)
        with pytest.raises(ValueError, match=r"'pair' holds map.*no encoder reads"):
            labelens.spark.fit(
                model, spark.sql("select map('a', 1) as pair, 'u' as y"), label="y",
                encoder=TableEncoder(),
            )  # fmt: skip
    finally:
        spark.stop()


def test_saved_models_and_pipelines(frame, truth, tmp_path):
    model, encoder, Z = truth
    labelens.save(model, tmp_path / "m", table=encoder)
    again, loaded = labelens.persist.load_with_table(tmp_path / "m")
    assert loaded.columns_ == encoder.columns_
    X = frame.drop(columns="y")
    assert (again.transform(loaded.frame(X)) == Z).all()
    for row in (0, 17, N - 1):  # alone as in its table
        alone = again.transform(loaded.frame(X.iloc[[row]]))
        np.testing.assert_allclose(alone, Z[[row]], atol=1e-10)
    with pytest.raises(ValueError, match="loaded from a model"):
        loaded.partial_fit(X)
    pipe = make_pipeline(TableEncoder("median", text=True), SupervisedPCA(2, scale="standard"))
    np.testing.assert_allclose(pipe.fit_transform(X, frame["y"]), Z, atol=1e-10)
