"""Fits that are killed, memory that is promised, and embeddings written a chunk at a time."""

import errno
import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path
from time import sleep

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

import labelens
from labelens import (
    Atlas,
    KernelSupervisedPCA,
    SupervisedPCA,
    SupervisedRandomProjection,
    ValueMap,
    Wheel,
)
from labelens._base import devices
from labelens._core import gram, landmarks
from labelens._engines.sources import open_source
from labelens._out_of_core import checkpoint, plan, progress

MODELS = [
    SupervisedRandomProjection(2, target_weight=0.5, random_state=0),
    KernelSupervisedPCA(
        2, n_random_features=32, scale="minmax", class_weight="balanced", random_state=0
    ),
    KernelSupervisedPCA("auto", gamma="auto", n_random_features=32, random_state=0),
]
N, D = 20 * 1024 + 77, 5


@pytest.fixture
def table(tmp_path, rng):
    """Text labels in three parquet files; the glob."""
    y = rng.integers(0, 4, N)
    X = (rng.normal(size=(N, D)) + 2 * np.eye(4, D)[y]).astype(np.float32)
    columns = {f"x{j}": X[:, j] for j in range(D)} | {"y": np.array(list("abcd"))[y]}
    for i, here in enumerate((slice(0, 7000), slice(7000, 15000), slice(15000, None))):
        part = {name: column[here] for name, column in columns.items()}
        parquet.write_table(pa.table(part), tmp_path / f"{i}.parquet", row_group_size=1500)
    return str(tmp_path / "*.parquet")


@pytest.fixture
def eager(monkeypatch):
    """Chunks of one block, and a checkpoint and a word after each."""
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    for name in ("CHUNK_BYTES", "KERNEL_CHUNK_BYTES", "KERNEL_BLOCKS"):
        monkeypatch.setattr(plan, name, 1)
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)


def saved(model, path):
    labelens.save(model, path, moments=True)
    return path.read_bytes()


class Killed(BaseException):
    """As good as kill -9: nobody catches it."""


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_killed_fit_goes_on(table, tmp_path, eager, model):
    state = tmp_path / "state"
    whole = saved(labelens.fit(clone(model), table, label="y"), tmp_path / "whole.labelens")
    rows = []

    def told(done, total, _):
        rows.append(done)
        assert total == N
        if len(rows) in (3, 7, 8):
            raise Killed

    for _ in range(3):
        with pytest.raises(Killed):
            labelens.fit(clone(model), table, label="y", checkpoint=state, progress=told)
        assert state.exists()
    found = labelens.fit(clone(model), table, label="y", checkpoint=state, progress=told)
    assert not state.exists()
    assert saved(found, tmp_path / "found.labelens") == whole


SCRIPT = """
import sys, labelens
from labelens._out_of_core import checkpoint, plan
plan.CHUNK_BYTES = 1
checkpoint.SECONDS, checkpoint.SHARE = 0.0, float("inf")
model = labelens.SupervisedRandomProjection(2, target_weight=0.5, random_state=0)
labelens.fit(model, sys.argv[1], label="y", checkpoint=sys.argv[2])
labelens.save(model, sys.argv[3], moments=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kills", [3, pytest.param(5, marks=pytest.mark.long)])
def test_kill_9_at_any_moment(table, tmp_path, rng, kills):
    model = labelens.fit(MODELS[0], table, label="y")
    expected = saved(model, tmp_path / "expected.labelens")
    state, found = tmp_path / "state", tmp_path / "found.labelens"
    command = [sys.executable, "-c", SCRIPT, table, str(state), str(found)]
    killed = went_on = 0
    for _ in range(kills):
        before = stamp_of(state)
        process = subprocess.Popen(command)
        while stamp_of(state) == before and process.poll() is None:
            sleep(0.001)  # libraries are being loaded
        sleep(rng.uniform(0, 0.03))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
        killed += 1
        went_on += before is not None
    subprocess.run(command, check=True)
    assert killed >= 2
    assert went_on >= 1
    assert found.read_bytes() == expected
    assert not state.exists()


def stamp_of(path):
    return path.stat().st_mtime_ns if path.exists() else None


def interrupted(table, state, model=None, label="y"):
    def told(done, *_):
        if done > 3000:
            raise Killed

    with pytest.raises(Killed):
        labelens.fit(clone(model or MODELS[0]), table, label=label, checkpoint=state, progress=told)


def test_checkpoints_of_other_fits(table, tmp_path, eager):
    state = tmp_path / "state"
    interrupted(table, state)
    other = SupervisedRandomProjection(3, random_state=0)
    with pytest.raises(ValueError, match="left by a fit with other method and parameters"):
        labelens.fit(other, table, label="y", checkpoint=state)
    with pytest.raises(ValueError, match="left by a fit with other files and columns"):
        labelens.fit(clone(MODELS[0]), table, label="y", features=["x0", "x1"], checkpoint=state)
    one = Path(table).parent / "1.parquet"
    os.utime(one, ns=(1, 1))
    with pytest.raises(ValueError, match="left by a fit with other files and columns, or they"):
        labelens.fit(clone(MODELS[0]), table, label="y", checkpoint=state)
    labelens.save(labelens.fit(clone(MODELS[0]), table, label="y"), state)
    with pytest.raises(ValueError, match="cannot be continued from: it is a model"):
        labelens.fit(clone(MODELS[0]), table, label="y", checkpoint=state)
    state.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="cannot be continued from"):
        labelens.fit(clone(MODELS[0]), table, label="y", checkpoint=state)


def test_a_state_is_no_model(table, tmp_path, eager):
    interrupted(table, tmp_path / "state")
    with pytest.raises(ValueError, match="unfinished"):
        labelens.load(tmp_path / "state")


def test_an_error_loses_nothing(table, tmp_path, eager, rng):
    """A file that turns out to be bad: mend it, and the fit goes on (if nothing else changed)."""
    state = tmp_path / "state"
    last = Path(table).parent / "2.parquet"
    good = last.read_bytes()
    stamp = last.stat().st_mtime_ns
    last.write_bytes(good[:4] + b"\xff" * 200 + good[204:])  # the first page, not the footer
    os.utime(last, ns=(stamp, stamp))
    with pytest.raises(ValueError, match=r"2\.parquet cannot be read"):
        labelens.fit(clone(MODELS[0]), table, label="y", checkpoint=state)
    last.write_bytes(good)
    os.utime(last, ns=(stamp, stamp))
    started = []
    found = labelens.fit(
        clone(MODELS[0]),
        table,
        label="y",
        checkpoint=state,
        progress=lambda n, *_: started.append(n),
    )
    assert started[0] > 14 * 1024
    whole = labelens.fit(clone(MODELS[0]), table, label="y")
    assert saved(found, tmp_path / "a.labelens") == saved(whole, tmp_path / "b.labelens")


def test_a_checkpoint_that_cannot_be_written(table, tmp_path, eager, monkeypatch, rng):
    with pytest.raises(FileNotFoundError, match=r"There is no folder .* for the checkpoint"):
        labelens.fit(clone(MODELS[0]), table, label="y", checkpoint=tmp_path / "no" / "state")
    array = rng.normal(size=(10, 2))
    with pytest.raises(ValueError, match="checkpoint needs a source that is there again"):
        labelens.fit(SupervisedPCA(1), array, checkpoint=tmp_path / "state")

    state = tmp_path / "state"
    interrupted(table, state)
    before = state.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device\. The one before is still there"):
        labelens.fit(clone(MODELS[0]), table, label="y", checkpoint=state)
    assert state.read_bytes() == before
    assert not list(tmp_path.glob(".labelens-*"))


def test_a_folder_that_is_read_only(table, tmp_path, monkeypatch):
    def closed(path, *_):
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "touch", closed)  # root may write anywhere
    with pytest.raises(OSError, match="cannot be written: Read-only file system"):
        labelens.fit(clone(MODELS[0]), table, label="y", checkpoint=tmp_path / "state")


# Memory ------------------------------------------------------------------------------------------

PEAK = """
import sys
import labelens, pyarrow.parquet
from labelens import fit  # which loads the rest
def peak():  # not ru_maxrss, which begins with that of the parent
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
before = peak()
labelens.fit(labelens.SupervisedRandomProjection(2, random_state=0), sys.argv[1],
             label=sys.argv[2], memory=sys.argv[3])
print(peak() - before)
"""


def peak_of(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, arguments)],
        env=os.environ | {"OMP_NUM_THREADS": "2"},  # each thread takes memory
        check=True,
        capture_output=True,
    )
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/status")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_memory_is_a_promise(tmp_path, rng, kind):
    """Files of 64 and 256 MB with 240 MB: the peak keeps to it, and is flat."""
    block = rng.normal(size=(1 << 14, 128)).astype(np.float32)
    labels = np.arange(len(block)) % 10
    peaks = []
    for times in (8, 32):
        path = tmp_path / f"{times}.{kind}"
        if kind == "npy":
            np.save(path, np.tile(block, (times, 1)))
            np.save(tmp_path / "y.npy", np.tile(labels, times))
            label = tmp_path / "y.npy"
        else:
            part = pa.table({f"x{j}": block[:, j] for j in range(128)} | {"y": labels})
            with parquet.ParquetWriter(path, part.schema) as writer:
                for _ in range(times):
                    writer.write_table(part)
            label = "y"
        peaks.append(peak_of(path, label, "240MB"))
    assert max(peaks) < 240e6
    assert peaks[1] < peaks[0] + 24e6


def test_memory_that_is_not_enough(table):
    with pytest.raises(ValueError, match=r"memory='1MB' is not enough: this fit needs \d+ MB"):
        labelens.fit(clone(MODELS[0]), table, label="y", memory="1MB")
    wide = KernelSupervisedPCA(2, n_random_features=8192, shrinkage=0.1)
    with pytest.raises(ValueError, match=r"needs \d,\d{3} MB"):
        labelens.fit(wide, table, label="y", memory="512MB")
    for bad in ("much", "512 apples", -1, True, "1.5.2MB", float("inf")):
        with pytest.raises(ValueError, match="memory must be a number of bytes"):
            labelens.fit(clone(MODELS[0]), table, label="y", memory=bad)
    assert plan.as_bytes("0.5 GiB") == 1 << 29
    assert plan.as_bytes("512MB") == plan.as_bytes(512_000_000) == 512_000_000
    assert plan.as_bytes(np.int64(1 << 30)) == 1 << 30


# Embeddings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["npy", "parquet", "csv"])
def test_transform_into_a_file(table, tmp_path, kind, monkeypatch):
    for name in ("CHUNK_BYTES", "KERNEL_CHUNK_BYTES", "KERNEL_BLOCKS"):
        monkeypatch.setattr(plan, name, 1)
    model = labelens.fit(SupervisedPCA(2), table, label="y")
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / f"Z.{kind}"
    assert labelens.transform(model, table, out) == out
    parts = [parquet.read_table(file) for file in sorted(tmp_path.glob("?.parquet"))]
    frame = pa.concat_tables(parts)
    Z = model.transform(frame.drop_columns("y").to_pandas())
    if kind == "npy":
        found = np.load(out)
        assert found.dtype == Z.dtype == np.float32
    else:
        read = parquet.read_table if kind == "parquet" else csv.read_csv
        found = read(out).to_pandas()
        assert list(found.columns) == ["z1", "z2"]
        found = found.to_numpy()
    if kind == "csv":
        assert np.allclose(found, Z, rtol=1e-6)
    else:
        assert np.array_equal(found, Z)


def test_transform_leaves_no_torn_file(table, tmp_path, rng):
    model = labelens.fit(SupervisedPCA(2), table, label="y")
    out = tmp_path / "Z.npy"
    out.write_bytes(b"older")
    with pytest.raises(Killed):
        labelens.transform(model, table, out, progress=lambda *_: (_ for _ in ()).throw(Killed))
    assert out.read_bytes() == b"older"
    with pytest.raises(ValueError, match=r"out must end in \.npy, \.parquet, \.csv"):
        labelens.transform(model, table, tmp_path / "Z.txt")
    with pytest.raises(ValueError, match="has 4 columns, and the model was fitted on 5"):
        labelens.transform(model, rng.normal(size=(10, 4)), out)
    parquet.write_table(pa.table({f"x{j}": [1.0] for j in range(4)}), tmp_path / "few.parquet")
    with pytest.raises(ValueError, match="has no column 'x4'"):
        labelens.transform(model, tmp_path / "few.parquet", out)
    assert sorted(p.name for p in tmp_path.glob(".labelens*")) == []


KEPT = [
    dict(approximation="exact"),
    dict(approximation="exact", shrinkage=0.3),
    dict(approximation="exact", shrinkage="auto"),
    dict(approximation="exact", shrinkage=0.0),
    dict(approximation="exact", shrinkage=0.3, target_weight=0.5),
    dict(approximation="exact", shrinkage=0.3, kernel="polynomial"),
    dict(approximation="falkon", shrinkage=0.3, n_random_features=600),
    dict(approximation="falkon", shrinkage=0.3, n_random_features=600, kernel="polynomial"),
    dict(approximation="nystroem", shrinkage=0.3, n_random_features=600),
]


@pytest.mark.parametrize("parameters", KEPT, ids=str)
def test_the_plan_has_room_for_all_that_is_made(tmp_path, rng, monkeypatch, parameters):
    """NumPy's arrays of a fit, as tracemalloc counts them, against the plan without libraries."""
    monkeypatch.setattr(gram, "DOUBLE_ROWS", 500)
    monkeypatch.setattr(gram, "FEW", 300)
    monkeypatch.setattr(landmarks, "DOUBLE_NUMBERS", 1 << 18)
    n = 1500
    np.save(tmp_path / "X.npy", rng.normal(size=(n, 8)))
    np.save(tmp_path / "y.npy", np.arange(n) % 4)
    source = open_source(tmp_path / "X.npy", tmp_path / "y.npy")
    model = KernelSupervisedPCA(2, random_state=0, **parameters)
    labelens.fit(clone(model), tmp_path / "X.npy", label=tmp_path / "y.npy")  # loads and compiles
    tracemalloc.start()
    try:
        labelens.fit(model, tmp_path / "X.npy", label=tmp_path / "y.npy")
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    rows = plan.chunk_rows(model, source, None)
    planned = plan._to_fit(model, source, False) + min(rows, n) * (source.copies + 1) * 64
    assert planned / 5 < used < planned * 1.1


def test_eigenvectors_that_have_no_room(rng, monkeypatch):
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 3
    monkeypatch.setattr(devices, "free_bytes", lambda place: 4 * 8 * 300**2)
    KernelSupervisedPCA(2, approximation="exact", shrinkage=0.3).fit(X, y)
    with pytest.raises(ValueError, match="300 x 300 kernel matrix and its eigenvectors"):
        KernelSupervisedPCA(2, approximation="exact", shrinkage=0.0).fit(X, y)


MAPS = [
    Atlas(SupervisedPCA(shrinkage=0.1), random_state=0),
    Wheel(KernelSupervisedPCA(n_random_features=32, random_state=0)),
    ValueMap(SupervisedPCA(1, label_kernel="linear"), random_state=0),
]


@pytest.mark.parametrize("model", MODELS[:2] + MAPS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("named", [True, False])
def test_files_through_methods_and_maps(tmp_path, rng, eager, model, named):
    """One chunk, several, and a dask collection give what transform gives."""
    y = np.arange(2500) % 4
    X = rng.normal(size=(2500, D)) + 2 * np.eye(4, D)[y]
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(D)])
    rows = frame if named else X
    fitted = clone(model).fit(rows[:600], y[:600]).set_output(transform="pandas")
    wanted = fitted.transform(rows)
    frame.to_parquet(tmp_path / "rows.parquet")
    np.save(tmp_path / "rows.npy", X)
    for source in ("rows.parquet", "rows.npy"):
        if named or source == "rows.npy":
            out = labelens.transform(fitted, tmp_path / source, tmp_path / "Z.npy", memory="1GB")
            np.testing.assert_allclose(np.load(out), wanted, atol=1e-12)
    out = labelens.transform(fitted, X, tmp_path / "Z.parquet")
    assert pd.read_parquet(out).shape == wanted.shape
    dask = pytest.importorskip("dask.dataframe")
    collection = dask.from_pandas(frame, npartitions=3)
    collection = collection if named else collection.to_dask_array(lengths=True)
    plain = fitted.set_output(transform="default")
    np.testing.assert_allclose(labelens.transform(plain, collection).compute(), wanted, atol=1e-12)


def test_what_cannot_go_through_files(rng, tmp_path):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    for model, message in (
        (PCA(2).fit(X), "four methods or a map"),
        (Atlas(PCA(2)).fit(X, y), "base model of this Atlas is PCA, and labelens"),
    ):
        with pytest.raises(TypeError, match=message):
            labelens.transform(model, X, tmp_path / "Z.npy")
    with pytest.raises(NotFittedError):
        labelens.transform(Atlas(), X, tmp_path / "Z.npy")


@pytest.mark.parametrize("approximation", ["exact", "orthogonal"])
def test_memory_of_a_transform_is_not_that_of_the_fit(rng, tmp_path, approximation):
    X, y = rng.normal(size=(500, 4)), np.arange(500) % 3
    model = KernelSupervisedPCA(
        2, approximation=approximation, shrinkage=0.3, n_random_features=4096, random_state=0
    ).fit(X[:, :4], y)
    more = tmp_path / "more.csv"
    pd.DataFrame(np.tile(X, (40, 1))).to_csv(more, index=False, header=list("abcd"))
    labelens.transform(model, more, tmp_path / "Z.npy", memory="500MB")
    assert len(np.load(tmp_path / "Z.npy")) == 20_000
    with pytest.raises(ValueError, match=r"this transform needs \d+ MB"):
        labelens.transform(model, more, tmp_path / "Z.npy", memory="50MB")
