"""Dask arrays: the model of one machine, whatever the chunks."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import labelens
from engines.here import assert_same_bits, cut
from engines.on_dask.cluster import ENDS, KSRP, MODELS, SIZES, SRP, D, N, assert_close, one_machine
from labelens import SupervisedPCA
from labelens._base import devices
from labelens._engines import on_dask
from labelens._fit import device

dask = pytest.importorskip("dask", reason='needs pip install "labelens[dask]"')
distributed = pytest.importorskip("distributed", reason='needs pip install "labelens[dask]"')
import dask.array as da  # noqa: E402
import pandas as pd  # noqa: E402


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
    monkeypatch.setattr(on_dask, "_computed", lambda *a: asked.append(a[1]) or compute(*a))
    X, y = (da.from_array(a, chunks=(SIZES, *a.shape[1:])) for a in rows)
    assert_same_bits(clone(MODELS[4]).fit(X, y), one_machine(MODELS[4], *rows))
    steps = [{key for key in graph if str(key).startswith("step-")} for graph in asked]
    assert [len(some) for some in steps] == [0 if little else 1] * len(asked)
    assert len(asked) == 3  # first rows, their spread, moments


def test_a_part_is_one_task(client, rows, monkeypatch):
    """What makes its rows and labels is in that task, unless another part needs it too."""
    asked, compute = [], on_dask._computed
    monkeypatch.setattr(on_dask, "_computed", lambda *a: asked.append(a[1]) or compute(*a))
    origin = dask.delayed(np.zeros)(D)
    made = dask.delayed(lambda X, y, origin: (X + origin, y), nout=2)
    pairs = [made(*part, origin) for part in cut(ENDS, *rows)]
    X = da.concatenate(
        [da.from_delayed(p[0], (n, D), float) for p, n in zip(pairs, SIZES, strict=True)]
    )
    y = da.concatenate(
        [da.from_delayed(p[1], (n,), int) for p, n in zip(pairs, SIZES, strict=True)]
    )
    model = SupervisedPCA(2).fit(X, y)
    assert_same_bits(model, one_machine(SupervisedPCA(2), *rows))
    assert len(asked[-1]) == len(SIZES) + len(["the origin", "the merge"])
    model = SupervisedPCA(2).fit(*dask.persist(X, y))
    assert_same_bits(model, one_machine(SupervisedPCA(2), *rows))
    assert len(asked[-1]) == len(SIZES) + len(["the merge"])


def test_chunks_of_columns_and_of_labels_are_made_to_fit(client, rows):
    X, y = rows
    found = SupervisedPCA(2).fit(da.from_array(X, chunks=(SIZES, 2)), da.from_array(y, chunks=999))
    expected = one_machine(SupervisedPCA(2), X, y)
    assert_same_bits(found, expected)
    for labels in (y, y.tolist(), pd.Series(y)):
        found = SupervisedPCA(2).fit(unknown(da.from_array(X, chunks=(SIZES, D))), labels)
        assert_same_bits(found, expected)


def test_parts_that_a_filter_has_emptied(client, rows, tmp_path):
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
    for name in ("Z.parquet", "Z.npy"):
        with pytest.raises(ValueError, match="There are no rows in the dask"):
            labelens.transform(found, whole[nothing], tmp_path / name)
        assert not (tmp_path / name).exists()


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


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_chunks_on_a_device_are_summed_up_there(rows, monkeypatch, tmp_path, model):
    """On threads: workers would not know of the simulated device."""
    torch = pytest.importorskip("torch")
    monkeypatch.setitem(dask.config.config, "scheduler", "threads")
    X, y = (a.copy() for a in rows)
    truth = clone(model).fit(X, y)
    monkeypatch.setattr(devices, "_in_host_memory", lambda array: False)
    seen, summarize = [], device.summarize
    monkeypatch.setattr(device, "summarize", lambda r, b, m: seen.append(b) or summarize(r, b, m))
    lazily, labels = (
        da.from_array(a, chunks=(SIZES, *a.shape[1:])).map_blocks(torch.asarray) for a in (X, y)
    )
    for given in (y, labels):
        assert_close(clone(model).fit(lazily, given), truth)
    assert sorted(len(batch.rows) for batch in seen) == sorted([*SIZES, *SIZES])
    assert {type(batch.rows) for batch in seen} == {torch.Tensor}
    assert isinstance(truth.transform(lazily).blocks[0].compute(), torch.Tensor)
    Z = np.load(labelens.transform(truth, lazily, tmp_path / "Z.npy"))
    np.testing.assert_allclose(Z, truth.transform(X), rtol=0, atol=1e-10)


def test_means_a_billion_times_the_spread(client, rows):
    X, y = np.round(rows[0] * 2**20) / 2**20, rows[1]
    lazily = da.from_array(X + 2.0**30, chunks=(SIZES, D))
    found = SupervisedPCA(2).fit(lazily, da.from_array(y, chunks=N))
    assert_close(found, SupervisedPCA(2).fit(X, y))


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
