"""Dask frames, and files that workers read."""

import numpy as np
import pytest
from sklearn.base import clone

import labelens
from engines.here import assert_same_bits
from engines.on_dask.cluster import KSRP, D, N, assert_close
from labelens import SupervisedPCA
from labelens._engines import ranges

dask = pytest.importorskip("dask", reason='needs pip install "labelens[dask]"')
distributed = pytest.importorskip("distributed", reason='needs pip install "labelens[dask]"')
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

# Frames ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("categorical", [False, True])
def test_frames(client, frame, categorical):
    if categorical:
        frame["label"] = frame["label"].astype("category")
    lazily = dd.from_pandas(frame, npartitions=4, sort=False)
    whole = SupervisedPCA(2).fit(frame.drop(columns="label"), frame["label"])
    found = SupervisedPCA(2).fit(lazily.drop(columns="label"), lazily["label"])
    assert_close(found, whole)
    assert found.feature_names_in_.tolist() == list("abcdef")
    assert found.classes_.tolist() == whole.classes_.tolist() == sorted(whole.classes_)
    again = labelens.fit(SupervisedPCA(2), lazily, label="label")
    assert_same_bits(again, found)
    some = labelens.fit(SupervisedPCA(2), lazily, label="label", features=["b", "d", "f"])
    assert_close(some, SupervisedPCA(2).fit(frame[["b", "d", "f"]], frame["label"]))
    Z = found.transform(lazily.drop(columns="label"))
    assert isinstance(Z, da.Array)
    assert (Z.shape[1], Z.dtype) == (2, np.float64)
    expected = found.transform(frame.drop(columns="label"))
    np.testing.assert_allclose(Z.compute(), expected, rtol=0, atol=1e-12)


def test_small_parquet_files_keep_rows_and_labels_together(client, frame, tmp_path):
    """Dask reads several small files as one partition if few columns are wanted: of y, not of X."""
    for number, part in enumerate(np.array_split(np.arange(len(frame)), 4)):
        frame.iloc[part].to_parquet(tmp_path / f"{number}.parquet")
    lazily = dd.read_parquet(tmp_path)
    X, y = lazily.drop(columns="label"), lazily["label"]
    assert len(y.to_delayed()) < len(X.to_delayed())
    whole = SupervisedPCA(2).fit(frame.drop(columns="label"), frame["label"])
    assert_close(SupervisedPCA(2).fit(X, y), whole)
    assert_close(labelens.fit(SupervisedPCA(2), lazily, label="label"), whole)


def test_frames_that_do_not_fit(client, frame):
    lazily = dd.from_pandas(frame, npartitions=4, sort=False)
    X, y = lazily.drop(columns="label"), lazily["label"]
    with pytest.raises(ValueError, match=r"\(4 partitions\) with y \(3 partitions\): chunk sizes"):
        SupervisedPCA(2).fit(X, dd.from_pandas(frame["label"], npartitions=3, sort=False))
    short = y.map_partitions(lambda part: part.iloc[1:], meta=("label", object))
    with pytest.raises(ValueError, match="There are 1250 rows and 1249 labels in part 0 of the"):
        SupervisedPCA(2).fit(X, short)
    with pytest.raises(ValueError, match="5000 rows in the dask frame, 4999 in y"):
        SupervisedPCA(2).fit(X, frame["label"].iloc[1:])
    with pytest.raises(ValueError, match="no column 'labels'; it has 'a', 'b'"):
        labelens.fit(SupervisedPCA(2), lazily, label="labels")
    with pytest.raises(ValueError, match="X is not numeric: row 0, column 'label' holds"):
        SupervisedPCA(2).fit(lazily, y)
    model = SupervisedPCA(2).fit(X, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(X.rename(columns={"a": "A"}))


# Files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy"])
@pytest.mark.parametrize(
    "model", [SupervisedPCA(2), KSRP(2, n_random_features=64, random_state=0)], ids=repr
)
def test_workers_read_files(client, frame, tmp_path, monkeypatch, kind, model):
    monkeypatch.setattr(ranges, "PART_BYTES", 1024 * D * 8)
    monkeypatch.chdir(tmp_path)  # where the workers are not
    label, labels = "label", frame["label"]
    for number, start in enumerate(range(0, N, 2500)):
        some = frame.iloc[start : start + 2500]
        if kind == "parquet":
            some.to_parquet(f"{number}.parquet", row_group_size=700)
        elif kind == "csv":
            some.to_csv(f"{number}.csv", index=False)
        else:
            np.save(f"{number}.npy", some.drop(columns="label").to_numpy())
    if kind == "npy":
        label = labels.to_numpy(dtype=str)
    here = labelens.fit(clone(model), f"*.{kind}", label=label)
    there = labelens.fit(clone(model), f"*.{kind}", label=label, engine="dask")
    assert_close(there, here)
    assert there.classes_.tolist() == here.classes_.tolist()
    np.testing.assert_array_equal(*(getattr(m, "feature_names_in_", 0) for m in (here, there)))


def test_files_are_cut_where_row_groups_begin(frame, tmp_path):
    from labelens._engines.sources import open_source

    path = tmp_path / "rows.parquet"
    frame.to_parquet(path, row_group_size=700)
    source = open_source(path, "label")
    assert list(source.cuts()) == [1024, 2048, 3072, 4096]  # 700, 1400, 2100, 2800, 3500, 4200
    parts = ranges.ranges_of(source, 1 << 20)
    assert [(part.start, part.stop) for part in parts] == [(0, N)]
    pieces = [ranges.Range(source, a, b, 2048) for a, b in ((0, 3072), (3072, N))]
    X = np.concatenate([chunk.X.copy() for piece in pieces for chunk in piece.chunks()])
    y = np.concatenate(
        [chunk.y.values for piece in pieces for chunk in piece.chunks(features=False)]
    )
    np.testing.assert_array_equal(X, frame.drop(columns="label").to_numpy())
    np.testing.assert_array_equal(y, frame["label"])
