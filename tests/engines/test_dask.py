"""Dask: the model of one machine, whatever the chunks, and whoever dies."""

import os
import signal
import threading
import time
from uuid import uuid4

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import labelens
from conftest import read_only
from engines.here import Here, assert_same_bits, cut
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens.engines import files, on_dask
from labelens.engines.fitting import fit_parts

dask = pytest.importorskip("dask", reason='needs pip install "labelens[dask]"')
distributed = pytest.importorskip("distributed", reason='needs pip install "labelens[dask]"')
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402

SRP, KSRP = SupervisedRandomProjection, KernelSupervisedRandomProjection
N, D, SIZES = 5000, 6, (1700, 800, 1, 1475, 1024)
ENDS = np.cumsum(SIZES).tolist()
MODELS = [
    SupervisedPCA(2),
    SRP(2, target_weight=0.5, random_state=0),
    SupervisedPCA(2, target_weight=0.5, shrinkage=0.1, scale="minmax"),
    SupervisedPCA(2, class_weight="balanced"),
    KernelSupervisedPCA(2, n_random_features=64, random_state=0),
    KSRP(2, gamma="median", scale="minmax", n_random_features=64, random_state=0),
    KSRP(2, approximation="nystroem", n_random_features=64, random_state=0),
]


def local_cluster():
    return distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=50,
    )


@pytest.fixture(scope="module")
def client():
    with local_cluster() as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def rows(rng):
    y = rng.permutation(np.arange(N) % 4)
    X = rng.normal(size=(N, D)) + np.eye(4, D)[y] * [3, 2, 1.5, 1, 1, 1]
    return read_only(X, y)


@pytest.fixture
def frame(rows):
    X, y = rows
    table = pd.DataFrame(X, columns=list("abcdef"))
    table["label"] = np.array(["zero", "one", "two", "drei"])[y]
    return table


def one_machine(model, *arrays, ends=ENDS):
    model = clone(model)
    fit_parts(model, Here(cut(ends, *arrays)))
    return model


def assert_close(model, other):
    scale = np.abs(other.components_).max()
    np.testing.assert_allclose(
        model.components_ / scale, other.components_ / scale, rtol=0, atol=1e-12
    )
    assert model.n_samples_seen_ == other.n_samples_seen_


def unknown(array):
    """The same array, but nobody knows how many rows its chunks have."""
    copy = array.copy()
    copy._chunks = ((np.nan,) * len(array.chunks[0]), *array.chunks[1:])
    return copy


# Arrays ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_bits_of_one_machine_with_the_same_parts(client, model, rows, known):
    X, y = (da.from_array(a, chunks=(SIZES, *a.shape[1:])) for a in rows)
    if not known:
        X, y = unknown(X), unknown(y)
    found = clone(model).fit(X, y)
    assert_same_bits(found, one_machine(model, *rows))
    assert_close(found, clone(model).fit(*rows))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_one_chunk_has_the_bits_of_fit_and_needs_no_client(model, rows):
    X, y = (da.from_array(a, chunks=-1) for a in rows)
    assert_same_bits(clone(model).fit(X, y), clone(model).fit(*rows))


def test_the_wire_changes_no_bit(client, rows):
    """Again and again, since it is by chance that an array off the wire begins within a word."""
    X, y = (da.from_array(a, chunks=(SIZES, *a.shape[1:])) for a in rows)
    model = MODELS[-1]
    expected = one_machine(model, *rows)
    for _ in range(8):
        assert_same_bits(clone(model).fit(X, y), expected)


@pytest.mark.parametrize("little", [0, 1 << 16])
def test_a_step_goes_along_with_tasks_or_is_one(client, rows, monkeypatch, little):
    monkeypatch.setattr(on_dask, "LITTLE", little)
    asked, compute = [], on_dask._computed
    monkeypatch.setattr(on_dask, "_computed", lambda task: asked.append(task) or compute(task))
    X, y = (da.from_array(a, chunks=(SIZES, *a.shape[1:])) for a in rows)
    assert_same_bits(clone(MODELS[4]).fit(X, y), one_machine(MODELS[4], *rows))
    steps = [{str(key) for key in task.dask if str(key).startswith("step-")} for task in asked]
    assert [len(some) for some in steps] == [0 if little else 1] * len(asked)
    assert len(asked) == 3  # first rows, their spread, moments


def test_chunks_of_columns_and_of_labels_are_made_to_fit(client, rows):
    X, y = rows
    found = SupervisedPCA(2).fit(da.from_array(X, chunks=(SIZES, 2)), da.from_array(y, chunks=999))
    expected = one_machine(SupervisedPCA(2), X, y)
    assert_same_bits(found, expected)
    for labels in (y, y.tolist(), pd.Series(y)):
        found = SupervisedPCA(2).fit(unknown(da.from_array(X, chunks=(SIZES, D))), labels)
        assert_same_bits(found, expected)


def test_parts_that_a_filter_has_emptied(client, rows):
    X, y = rows
    kept = np.arange(N) >= 2501
    whole = da.from_array(X, chunks=(SIZES, D))
    mask = da.from_array(kept, chunks=(SIZES,))
    labels = da.from_array(y, chunks=(SIZES,))[mask]
    model = SRP(2, target_weight=0.5, random_state=0)
    found = clone(model).fit(whole[mask], labels)
    assert_close(found, clone(model).fit(X[kept], y[kept]))
    nothing = da.from_array(np.zeros(N, dtype=bool), chunks=(SIZES,))
    with pytest.raises(ValueError, match="There are no rows in the dask array"):
        clone(model).fit(whole[nothing], da.from_array(y, chunks=(SIZES,))[nothing])


def test_weights(client, rows, rng):
    X, y = rows
    weight = np.round(rng.exponential(size=N))
    chunked = [da.from_array(a, chunks=(SIZES, *a.shape[1:])) for a in (X, y, weight)]
    for model in (SRP(2, target_weight=0.5, random_state=0), SupervisedPCA(2)):
        found = clone(model).fit(*chunked[:2], sample_weight=chunked[2])
        assert_same_bits(found, one_machine(model, X, y, weight))
        assert_close(found, clone(model).fit(X, y, sample_weight=weight))


def test_labels_of_several_columns_real_ones_and_none(client, rows, rng):
    X, y = rows
    lazily = da.from_array(X, chunks=(SIZES, D))
    for labels in (
        np.column_stack([y == 0, y > 1, y == 2]).astype(int),
        y + rng.normal(size=N),
    ):
        chunked = da.from_array(labels, chunks=(1000, *(1,) * (labels.ndim - 1)))
        assert_close(SupervisedPCA(2).fit(lazily, chunked), SupervisedPCA(2).fit(X, labels))
    assert_close(SupervisedPCA(2).fit(lazily), SupervisedPCA(2).fit(X))
    missing = y.copy()
    missing[:2600] = -1
    model = SRP(2, missing_label=-1, target_weight=0.5, random_state=0)
    found = clone(model).fit(lazily, da.from_array(missing, chunks=500))
    assert_close(found, clone(model).fit(X, missing))


def test_classes_that_only_the_last_chunk_has(client, rows):
    X, y = rows[0], np.sort(rows[1])
    found = SupervisedPCA(2).fit(da.from_array(X, chunks=(SIZES, D)), da.from_array(y, chunks=N))
    np.testing.assert_array_equal(found.classes_, [0, 1, 2, 3])
    assert_close(found, SupervisedPCA(2).fit(X, y))


def test_sparse_chunks(client, rows):
    X, y = sparse.csr_array(np.where(rows[0] > 1, rows[0], 0)), rows[1]
    lazily = da.from_array(X.toarray(), chunks=(SIZES, D)).map_blocks(sparse.csr_matrix)
    found = SupervisedPCA(2).fit(lazily, da.from_array(y, chunks=N))
    assert_close(found, SupervisedPCA(2).fit(X, y))
    np.testing.assert_allclose(found.transform(lazily).compute(), found.transform(X))


def test_means_a_billion_times_the_spread(client, rows):
    X, y = np.round(rows[0] * 2**20) / 2**20, rows[1]
    lazily = da.from_array(X + 2.0**30, chunks=(SIZES, D))
    found = SupervisedPCA(2).fit(lazily, da.from_array(y, chunks=N))
    assert_close(found, SupervisedPCA(2).fit(X, y))


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
    with pytest.raises(ValueError, match="has 4 partitions and y 3: nobody knows which"):
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


# Transforming ------------------------------------------------------------------------------------


def test_transform_is_lazy(client, rows):
    X, y = rows
    model = KSRP(2, n_random_features=64, random_state=0).fit(X, y)
    ran = []

    def count(block):
        ran.append(len(block))
        return block

    with dask.config.set(scheduler="threads"):
        lazily = da.from_array(X, chunks=(SIZES, 4)).map_blocks(count, dtype=X.dtype, meta=X[:0])
        Z = model.transform(lazily)
        assert not ran
        assert (Z.shape, Z.chunks, Z.dtype) == ((N, 2), (SIZES, (2,)), np.float64)
        there = Z.compute()
        assert ran
    for found, (rows_of_chunk,) in zip(np.split(there, ENDS[:-1]), cut(ENDS, X), strict=True):
        np.testing.assert_array_equal(found, model.transform(rows_of_chunk))
    np.testing.assert_allclose(there, model.transform(X), rtol=0, atol=1e-14)
    single = model.transform(da.from_array(X.astype(np.float32), chunks=(SIZES, D)))
    assert single.dtype == single.compute().dtype == np.float32
    empty = da.from_array(X, chunks=(SIZES, D))[da.from_array(y > 5, chunks=(SIZES,))]
    assert model.transform(empty).compute().shape == (0, 2)


def test_fit_transform_and_files(client, rows, tmp_path):
    X, y = (da.from_array(a, chunks=(SIZES, *a.shape[1:])) for a in rows)
    model = SupervisedPCA(2)
    Z = model.fit_transform(X, y)
    assert isinstance(Z, da.Array)
    expected = Z.compute()
    np.testing.assert_allclose(expected, model.transform(rows[0]), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(labelens.transform(model, X).compute(), expected)
    out = labelens.transform(model, X, tmp_path / "Z.npy")
    np.testing.assert_array_equal(np.load(out), expected)
    with pytest.raises(ValueError, match=r"out must end in \.npy"):
        labelens.transform(model, rows[0])


# What is refused ---------------------------------------------------------------------------------


def test_refusals(client, rows):
    X, y = (da.from_array(a, chunks=(SIZES, *a.shape[1:])) for a in rows)
    model = SupervisedPCA(2).fit(X, y)
    before = model.components_
    broken = rows[0].copy()
    broken[2600, 3] = np.nan
    with pytest.raises(
        ValueError, match=r"of part 3 of the dask array: .* NaN at row 99, column 3"
    ):
        model.fit(da.from_array(broken, chunks=(SIZES, D)), y)
    assert model.components_ is before
    with pytest.raises(ValueError, match="inconsistent numbers of samples: 5000 rows in the dask"):
        model.fit(X, y[1:])
    with pytest.raises(TypeError, match="partial_fit takes a batch of rows that are here"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="use approximation='nystroem' or random features"):
        KSRP(2, approximation="exact").fit(X, y)
    with pytest.raises(ValueError, match="got a dask Array with 1 dimension"):
        model.fit(y, y)
    with pytest.raises(ValueError, match="got a dask Delayed"):
        model.fit(dask.delayed(rows[0]), y)
    with pytest.raises(ValueError, match="from_dask_array"):
        clone(model).fit(X, y).set_output(transform="pandas").transform(X)
    with pytest.raises(ValueError, match="checkpoint is for fits in this process"):
        labelens.fit(model, X, label=y, checkpoint="state")
    with pytest.raises(ValueError, match="memory cuts files into chunks"):
        labelens.fit(model, X, label=y, memory="1GB")
    with pytest.raises(ValueError, match="engine must be None or 'dask', got 'ray'"):
        labelens.fit(model, rows[0], label=rows[1], engine="ray")
    with pytest.raises(ValueError, match="batches are only here"):
        labelens.fit(model, [rows], engine="dask")


# Files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy"])
@pytest.mark.parametrize(
    "model", [SupervisedPCA(2), KSRP(2, n_random_features=64, random_state=0)], ids=repr
)
def test_workers_read_files(client, frame, tmp_path, monkeypatch, kind, model):
    monkeypatch.setattr(files, "PART_BYTES", 1024 * D * 8)
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
    from labelens.sources import open_source

    path = tmp_path / "rows.parquet"
    frame.to_parquet(path, row_group_size=700)
    source = open_source(path, "label")
    assert list(source.cuts()) == [1024, 2048, 3072, 4096]  # 700, 1400, 2100, 2800, 3500, 4200
    parts = files.ranges_of(source, 1 << 20)
    assert [(part.start, part.stop) for part in parts] == [(0, N)]
    pieces = [files.Range(source, a, b, 2048) for a, b in ((0, 3072), (3072, N))]
    X = np.concatenate([chunk.X.copy() for piece in pieces for chunk in piece.chunks()])
    y = np.concatenate([chunk.y for piece in pieces for chunk in piece.chunks(features=False)])
    np.testing.assert_array_equal(X, frame.drop(columns="label").to_numpy())
    np.testing.assert_array_equal(y, frame["label"])


# Death -------------------------------------------------------------------------------------------


def slowly(block, folder):
    (folder / uuid4().hex).touch()
    time.sleep(0.1)
    return block


@pytest.mark.parametrize(
    ("model", "blocks"),
    [
        (SupervisedPCA(2), 9),
        (KSRP(2, gamma=0.1, target_weight=0.5, n_random_features=64, random_state=0), 22),
    ],
    ids=["class sums, early", "sketch, late"],
)
def test_a_worker_is_killed(rows, model, blocks, tmp_path):
    """When so many blocks of 200 rows have been begun: six for the first rows, 25 for moments."""
    X, y = rows
    undisturbed = one_machine(model, X, y, ends=list(range(200, N + 1, 200)))
    killed, done = [], threading.Event()

    def kill(victim):
        while not done.is_set():
            if len(list(tmp_path.iterdir())) >= blocks:
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
                return
            time.sleep(0.005)

    with local_cluster() as cluster, distributed.Client(cluster) as client:
        lazily = da.from_array(X, chunks=(200, D)).map_blocks(
            slowly, folder=tmp_path, dtype=X.dtype, meta=X[:0]
        )
        victim = min(client.run(os.getpid).values())
        killer = threading.Thread(target=kill, args=(victim,))
        killer.start()
        found = clone(model).fit(lazily, da.from_array(y, chunks=200))
        done.set()
        killer.join()
    assert killed == [victim]
    # What it had begun or held was done again, so it was at work.
    assert len(list(tmp_path.iterdir())) > 6 + 25
    assert_same_bits(found, undisturbed)
