"""Tables that are not one local file: each gives the rows of the same table in a file."""

import io
import json
import os
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from labelens import load, tables


@pytest.fixture
def frame(rng):
    frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    return frame.assign(day="2020-01-02", y=np.where(frame["a"] > 0, "p", "q"))


def same(place, frame, sql=None):
    with tables.located(place, sql) as path:
        found = tables.read(path)
    pd.testing.assert_frame_equal(found, tables.read(frame), check_dtype=False, check_like=True)


@pytest.fixture
def plain(frame, tmp_path):
    frame.to_parquet(tmp_path / "plain.parquet")
    return tmp_path / "plain.parquet"


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "jsonl", "csv.gz"])
def test_standard_input(frame, plain, tmp_path, monkeypatch, kind):
    path = tmp_path / f"data.{kind}"
    if kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        write = {"parquet": frame.to_parquet, "arrow": frame.to_feather}
        write.get(kind, lambda path: frame.to_csv(path, index=False))(path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    with tables.located("-") as found:
        numbers = tables.read(found)[["a", "b", "y"]]
    pd.testing.assert_frame_equal(numbers, frame[["a", "b", "y"]], check_dtype=False)


def test_urls(frame, plain):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for i, part in enumerate((frame[:15], frame[15:])):
        memory.pipe(f"/bucket/{i}.parquet", part.to_parquet(index=False))
    memory.pipe("/bucket/all.csv", frame.to_csv(index=False).encode())
    same("memory://bucket/*.parquet", plain)
    pd.testing.assert_frame_equal(
        tables.read("memory://bucket/all.csv")[["a", "b", "y"]], frame[["a", "b", "y"]],
        check_dtype=False,
    )  # fmt: skip
    with pytest.raises(FileNotFoundError, match=r"no file memory://bucket/none\.csv"):
        tables.read("memory://bucket/none.csv")
    with pytest.raises(ValueError, match=r"nosuch://x/y\.csv cannot be read: Protocol"):
        tables.read("nosuch://x/y.csv")


def test_a_bucket(frame, plain, monkeypatch):
    # pip install "moto[server]" s3fs: their pins contradict constraints.txt, so no extra has them.
    moto = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in {
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        }.items():
            monkeypatch.setenv(name, value)
        bucket = s3fs.S3FileSystem(skip_instance_cache=True)
        bucket.mkdir("rows")
        bucket.pipe("rows/data.parquet", frame.to_parquet())
        same("s3://rows/data.parquet", plain)
    finally:
        server.stop()


def test_queries(frame, plain, tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    same(None, plain, "select * from 'plain.parquet'")
    with duckdb.connect("base.duckdb") as base:
        base.sql("create table rows as from 'plain.parquet'")
    same("base.duckdb", plain, "from rows")
    with pytest.raises(ValueError, match=r"--sql: Binder Error: .*nosuch"):
        same(None, plain, "select nosuch from 'plain.parquet'")
    with pytest.raises(ValueError, match="No data are named"):
        same(None, plain)


@pytest.mark.parametrize("split", [False, True])
def test_delta_tables(frame, plain, tmp_path, split):
    delta = pytest.importorskip("deltalake")
    table = pa.Table.from_pandas(frame[:30])
    by = ["y"] if split else None
    delta.write_deltalake(str(tmp_path / "table"), table, partition_by=by)
    rest = pa.Table.from_pandas(frame[30:], preserve_index=False)
    delta.write_deltalake(str(tmp_path / "table"), rest, mode="append")
    with tables.located(tmp_path / "table") as path:
        found = tables.read(path).sort_values("a", ignore_index=True)
    expected = frame.sort_values("a", ignore_index=True)
    pd.testing.assert_frame_equal(found[list(frame)], expected, check_dtype=False)


def test_data_sets_of_hugging_face(frame, plain, tmp_path):
    """As `Dataset.save_to_disk` writes them."""
    for part in ("train", "test"):
        folder = tmp_path / "set" / part
        folder.mkdir(parents=True)
        names = [f"data-{i:05}-of-00002.arrow" for i in range(2)]
        for name, rows in zip(names, (frame[:15], frame[15:]), strict=True):
            table = pa.Table.from_pandas(rows, preserve_index=False)
            with (
                pa.OSFile(str(folder / name), "wb") as file,
                pa.ipc.new_stream(file, table.schema) as writer,
            ):
                writer.write_table(table)
        state = {"_data_files": [{"filename": name} for name in names], "_indices_files": None}
        (folder / "state.json").write_text(json.dumps(state))
    same(tmp_path / "set" / "train", plain)
    (tmp_path / "set" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(ValueError, match=r"name one: .*test, .*train"):
        tables.read(tmp_path / "set")


def test_a_folder_of_files_of_one_kind(frame, plain, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    frame[:15].to_parquet(folder / "0.parquet")
    frame[15:].to_parquet(folder / "1.parquet")
    (folder / "README.md").touch()
    same(folder, plain)
    same(f"{folder}/*.parquet", plain)
    frame[15:].drop(columns="b").to_parquet(folder / "1.parquet")
    with pytest.raises(ValueError, match="only one has the column 'b'"):
        tables.read(folder)


def test_idx_files(rng, tmp_path):
    X, y = rng.integers(0, 256, (30, 4, 3)).astype(np.uint8), np.arange(30, dtype=np.uint8) % 3
    for name, array in (("train-images-idx3-ubyte", X), ("train-labels-idx1-ubyte", y)):
        head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
        (tmp_path / name).write_bytes(head + array.tobytes())
    paths = [tmp_path / "train-images-idx3-ubyte", tmp_path / "train-labels-idx1-ubyte"]
    found = tables.read(*paths)
    np.testing.assert_array_equal(found.iloc[:, :12], X.reshape(30, 12))
    np.testing.assert_array_equal(found["label"], y)
    paths[0].write_bytes(paths[0].read_bytes()[:-1])
    with pytest.raises(ValueError, match="30 x 4 x 3 values of its header"):
        tables.read(*paths)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_rows(rng, tmp_path, monkeypatch, form):
    X = sparse.random(30, 8, 0.2, format=form, random_state=0)
    sparse.save_npz(tmp_path / "X.npz", X)
    np.testing.assert_array_equal(tables.read(tmp_path / "X.npz"), X.toarray())
    monkeypatch.setattr("labelens.tables.files.MOST_DENSE", 100)
    with pytest.raises(ValueError, match="240 numbers as a table; --memory"):
        tables.read(tmp_path / "X.npz")


@pytest.fixture
def genes(rng, tmp_path):
    """Genes as rows, and labels of the samples in another order."""
    names = [f"s{i}" for i in range(40)]
    X = rng.normal(size=(40, 12)).round(3)
    ill = np.arange(40) % 2
    X[:, 0] += 4 * ill
    frame = pd.DataFrame(X, index=names, columns=[f"GENE{i}" for i in range(12)])
    meta = pd.DataFrame({"sample": names, "group": np.where(ill, "ill", "well")})
    meta.sample(frac=1, random_state=0).to_csv(tmp_path / "meta.csv", index=False)
    return frame


@pytest.mark.parametrize("written_by", ["pandas", "R"])
def test_genes_as_rows(genes, tmp_path, written_by):
    path = tmp_path / "genes.txt"
    # R writes no name for the column of names.
    genes.T.to_csv(path, sep="\t", index_label="gene" if written_by == "pandas" else False)
    found = tables.read(path, tmp_path / "meta.csv", ["group"], transpose=True)
    pd.testing.assert_frame_equal(found[genes.columns], genes, check_names=False)
    assert found["group"].tolist() == ["well", "ill"] * 20
    assert found.index.name == "sample"
    alone = tables.read(path, transpose=True)
    pd.testing.assert_frame_equal(alone, genes, check_names=False)


def test_genes_by_the_command_line(genes, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from labelens.cli.app import app

    monkeypatch.chdir(tmp_path)
    genes.T.to_csv("genes.csv", index_label="gene")
    fit = "fit genes.csv --transpose --labels meta.csv --label group --method spca"
    assert CliRunner().invoke(app, fit.split()).exit_code == 0
    assert load("model.labelens").feature_names_in_.tolist() == genes.columns.tolist()
    place = "transform model.labelens genes.csv --transpose --out z.csv"
    assert CliRunner().invoke(app, place.split()).exit_code == 0
    assert pd.read_csv("z.csv")["row"].tolist() == genes.index.tolist()
    wrong = CliRunner().invoke(app, [*fit.split(), "--memory", "1GB", "--force"])
    assert "--transpose needs all columns at once" in wrong.output
    assert os.path.exists("model.labelens")
