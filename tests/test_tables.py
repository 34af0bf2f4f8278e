"""Files of columns: what is read, what is picked, and what is said about the rest."""

import gzip
import signal

import numpy as np
import pandas as pd
import pyarrow
import pytest

from labelens import tables
from labelens._engines.sources import open_source


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "width": [1.0, 2.0, 3.0, 4.0],
            "count": [1, 2, 3, 4],
            "wet": [True, False, True, False],
            "colour": ["red", "blue", "red", "<b>"],
            "when": pd.to_datetime(["2020-01-01"] * 4),
            "species": ["a", "b", "a", "b"],
        }
    )


# Files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["csv", "csv.gz", "tsv", "parquet", "parquet.gz", "feather", "arrow"]
)
def test_every_kind_of_file_reads_the_same(tmp_path, frame, kind):
    path, plain = tmp_path / f"data.{kind}", frame.drop(columns="when")
    if kind.startswith(("csv", "tsv")):
        text = plain.to_csv(index=False, sep="\t" if kind == "tsv" else ",").encode()
        path.write_bytes(gzip.compress(text) if kind.endswith("gz") else text)
    elif kind.startswith("parquet"):
        content = plain.to_parquet()
        path.write_bytes(gzip.compress(content) if kind.endswith("gz") else content)
    else:
        plain.to_feather(path)
    shares = []
    found = tables.read(path, progress=shares.append)
    pd.testing.assert_frame_equal(found, plain, check_dtype=False)
    assert shares[-1] == 1


def test_arrays_and_labels_beside_them(tmp_path, rng):
    X, y = rng.normal(size=(5, 3)), np.arange(5) % 2
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    found = tables.read(tmp_path / "X.npy", tmp_path / "y.npy")
    assert list(found.columns) == ["x0", "x1", "x2", "label"]
    np.testing.assert_array_equal(found["label"], y)
    np.savez(tmp_path / "both.npz", X=X, y=y, other=np.zeros(9))
    assert list(tables.read(tmp_path / "both.npz").columns) == ["x0", "x1", "x2", "y"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "no file"),
        ("a.csv", b"", "empty"),
        ("a.csv", b"x,y\n", "no rows"),
        ("a.docx", b"PK", "none of the kinds"),
        ("a.parquet", b"not parquet", "cannot be read"),
        ("a.npy", b"\x93NUMPY garbage", "cannot be read"),
        ("a.npz", b"PK\x03\x04", "cannot be read"),
        ("a.csv", b"x,y\n1,2\n1,2,3\n", "line 3 has 3 values where 2 are expected"),
        ("a.csv", b"x,y,x\n1,2,3\n", "two columns called 'x'"),
        ("a.csv.gz", b"x,y\n1,2\n", "not gzipped; rename it"),
    ],
)
def test_unreadable_files_are_named(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises((ValueError, FileNotFoundError), match=message) as error:
        tables.read(tmp_path / name)
    assert name in str(error.value)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_separators_are_seen(tmp_path, frame, separator, encoding):
    plain = frame.drop(columns="when").rename(columns={"width": "width, or so; perhaps"})
    plain["note"] = ["two\nlines", 'a "quoted" one', "1,5 or 2,5", "; | \t ,"]
    plain.to_csv(tmp_path / "data.csv", sep=separator, index=False, encoding=encoding)
    found = tables.read(tmp_path / "data.csv")
    pd.testing.assert_frame_equal(found, plain, check_dtype=False)


def test_numbers_with_a_comma(tmp_path):
    text = "a;b;c;d\n1,5;1,5;x;7\n-2;1.5;y,z;\n1e3;2,5 m;;8,25\n"
    (tmp_path / "data.csv").write_text(text)
    found = tables.read(tmp_path / "data.csv")
    assert found["a"].tolist() == [1.5, -2, 1000]
    assert found["b"].tolist() == ["1,5", "1.5", "2,5 m"]
    assert found["c"].tolist()[:2] == ["x", "y,z"]
    np.testing.assert_array_equal(found["d"], [7, np.nan, 8.25])
    assert tables.read(tmp_path / "data.csv")["a"].dtype == float


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8"])
def test_encodings_are_seen(tmp_path, encoding):
    (tmp_path / "data.csv").write_bytes("größe,y\n1,é\n2,ü\n".encode(encoding))
    found = tables.read(tmp_path / "data.csv")
    assert found.columns.tolist() == ["größe", "y"]
    assert found["y"].tolist() == ["é", "ü"]


@pytest.mark.parametrize("name", ["data.txt", "data.dat"])
def test_columns_apart_by_spaces(tmp_path, name):
    (tmp_path / name).write_text("# made by a program\n a   b  c\n 1.5 x  2\n# half\n-2   y 30\n")
    found = tables.read(tmp_path / name)
    assert found.to_dict("list") == {"a": [1.5, -2], "b": ["x", "y"], "c": [2, 30]}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("5.1,3.5,Iris-setosa\n4.9,3.0,Iris-virginica\n", ["x0", "x1", "x2"]),
        ("3,1,4\n1,5,9\n", ["x0", "x1", "x2"]),
        ("0,1,2\n1,5,9\n", ["0", "1", "2"]),
        ("1990,1991,country\n1,5,x\n", ["1990", "1991", "country"]),
    ],
)
def test_files_without_names(tmp_path, text, names):
    (tmp_path / "data.csv").write_text(text)
    found = tables.read(tmp_path / "data.csv")
    assert found.columns.tolist() == names
    assert len(found) == (2 if names[0] == "x0" else 1)


@pytest.mark.parametrize(
    "kind", ["csv.zip", "csv.bz2", "csv.zst", "jsonl", "jsonl.gz", "json", "xlsx"]
)
def test_packed_files_lines_and_sheets(tmp_path, frame, kind):
    plain, path = frame.drop(columns="when"), tmp_path / f"data.{kind}"
    if kind == "xlsx":
        pytest.importorskip("openpyxl")
        plain.to_excel(path, index=False)
    elif kind == "csv.zst":
        with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
            file.write(plain.to_csv(index=False).encode())
    elif kind.startswith("json"):
        plain.to_json(path, orient="records", lines=kind != "json")
    else:
        plain.to_csv(path, index=False)
    pd.testing.assert_frame_equal(tables.read(path), plain, check_dtype=False)


def test_images_and_given_splits(tmp_path, rng):
    X, y = rng.normal(size=(6, 2, 2)), np.arange(6) % 2
    np.savez(tmp_path / "faces.npz", X=X, y=y)
    found = tables.read(tmp_path / "faces.npz")
    assert found.columns.tolist() == ["x0", "x1", "x2", "x3", "y"]
    np.testing.assert_array_equal(found.iloc[:, :4], X.reshape(6, 4))
    np.savez(tmp_path / "split.npz", x_train=X[:4], y_train=y[:4], x_test=X[4:], y_test=y[4:])
    pd.testing.assert_frame_equal(tables.read(tmp_path / "split.npz"), found)


def test_a_very_long_line_of_names(tmp_path):
    names = [f"a rather long name of a column, number {i}" for i in range(5000)]
    row = pd.DataFrame(np.zeros((1, 5000)), columns=names)
    row.to_csv(tmp_path / "data.csv", index=False)
    row.to_csv(tmp_path / "data.csv.gz", index=False)
    for name in ("data.csv", "data.csv.gz"):
        assert list(tables.read(tmp_path / name).columns) == names


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        tables.read(tmp_path)


@pytest.mark.parametrize(
    ("asked", "told"),
    [("irs.csv", r"irs.csv\. Did you mean iris\.csv\?$"), ("x/y.csv", r"y\.csv\.$")],
)
def test_a_file_that_is_not_there(tmp_path, asked, told):
    (tmp_path / "iris.csv").touch()
    with pytest.raises(FileNotFoundError, match=told):
        tables.read(tmp_path / asked)


@pytest.mark.parametrize("call", [1, 2])
def test_stopped_while_reading(tmp_path, frame, call):
    """Ctrl-C is no error of the file, wherever it comes."""
    frame.to_csv(tmp_path / "data.csv", index=False)
    calls = iter(range(1, 100))

    def told(share):
        if next(calls) == call:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        tables.read(tmp_path / "data.csv", progress=told)


def test_no_pickle_is_loaded(tmp_path):
    np.save(tmp_path / "bad.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"bad\.npy cannot be read"):
        tables.read(tmp_path / "bad.npy")


def test_of_a_file_of_labels_nothing_is_a_feature(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((5, 2)))
    pd.DataFrame({"a": range(5), "b": range(5)}).to_csv(tmp_path / "y.csv", index=False)
    found = tables.read(tmp_path / "X.npy", tmp_path / "y.csv", ["b"])
    assert list(found.columns) == ["x0", "x1", "b"]
    with pytest.raises(ValueError, match=r"no column 'x1'. It has 'a', 'b'"):
        tables.read(tmp_path / "X.npy", tmp_path / "y.csv", ["x1"])


def test_labels_of_another_length(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((5, 2)))
    np.save(tmp_path / "y.npy", np.zeros(4))
    with pytest.raises(ValueError, match=r"labels has 4 rows, the data 5"):
        tables.read(tmp_path / "X.npy", tmp_path / "y.npy")


# Columns -------------------------------------------------------------------------------------


def test_numbers_stay_categories_are_coded_dates_are_told(frame):
    table = tables.pick(frame, ["species"])
    coded = ["colour=<b>", "colour=blue", "colour=red"]
    assert table.names[:6] == ["width", "count", "wet", *coded]
    np.testing.assert_array_equal(table.X[:, 2], [1, 0, 1, 0])
    np.testing.assert_array_equal(table.X[:, 5], [1, 0, 1, 0])
    assert table.labels.tolist() == ["a", "b", "a", "b"]
    assert any("One-hot encoded: 'colour' (3 values)" in note for note in table.notes)
    assert any("Dates, as days and cycles: 'when'" in note for note in table.notes)
    assert table.names[6:8] == ["when", "when year sin"]


def test_features_and_drop(frame):
    assert tables.pick(frame, ["species"], features=["count", "width"]).names == ["count", "width"]
    assert "width" not in tables.pick(frame, ["species"], drop=["width"]).names


@pytest.mark.parametrize(("wrong", "near"), [("specis", "species"), ("COLOUR", "colour")])
def test_a_mistyped_column_gets_a_suggestion(frame, wrong, near):
    with pytest.raises(ValueError, match=f"no column '{wrong}'. Did you mean .*'{near}'"):
        tables.pick(frame, [wrong])


def test_a_column_unlike_any_lists_what_there_is(frame):
    with pytest.raises(ValueError, match=r"There are 'width', 'count'"):
        tables.pick(frame, ["zzzzqqqq"])


def test_text_with_many_values_is_hashed(frame):
    long = pd.DataFrame({"x": [1.5] * 60, "name": [f"person {i}" for i in range(60)]})
    assert tables.pick(long, []).names == ["x"]
    assert "Left out, text with many values" in tables.pick(long, []).notes[0]
    assert tables.pick(long, [], features=["x", "name"]).names[1] == "name#0"
    table = tables.pick(long, [], text=True)
    assert table.names[:2] == ["x", "name#0"]
    assert "hashed letter triples: 'name'" in table.notes[0]


def test_text_dates_are_dates():
    frame = pd.DataFrame({"x": [1, 2], "day": ["2020-01-02", "2021-03-04"]})
    assert tables.pick(frame).names[:2] == ["x", "day"]


def test_missing_values_are_filled_or_left_out(frame):
    frame.loc[[0, 2], "width"] = np.nan
    frame.loc[1, "colour"] = None
    dropped = tables.pick(frame, ["species"], impute="drop")
    assert dropped.labels.tolist() == ["b"]
    filled = tables.pick(frame, ["species"], impute="mean")
    np.testing.assert_array_equal(filled.X[:, 0], [3, 2, 3, 4])
    assert np.isfinite(filled.X).all()


@pytest.mark.parametrize("impute", ["mean", "median", "drop"])
def test_a_column_without_any_value_is_left_out(frame, impute):
    frame["empty"] = np.nan
    table = tables.pick(frame, ["species"], impute=impute)
    assert "empty" not in table.names
    assert "Left out, without any value: 'empty'." in table.notes


def test_infinity_is_named(frame):
    frame["width"] = [1, np.inf, 2, 3]
    with pytest.raises(ValueError, match="'width' holds infinity"):
        tables.pick(frame, ["species"])


def test_rows_without_a_label_are_left_out(frame):
    frame.loc[0, "species"] = None
    table = tables.pick(frame, ["species"])
    assert len(table.X) == 3
    assert "1 rows without a label" in table.notes[0]
    frame["species"] = None
    with pytest.raises(ValueError, match="No row has a label"):
        tables.pick(frame, ["species"])


def test_a_date_is_no_label(frame):
    with pytest.raises(ValueError, match="'when' is a date"):
        tables.pick(frame, ["when"])


def test_nothing_left_to_use(frame):
    with pytest.raises(ValueError, match=r"No column is left.*all are labels"):
        tables.pick(frame[["species"]], ["species"])
    with pytest.raises(ValueError, match=r"No column is left.*'when' .without any value"):
        tables.pick(frame[["species"]].assign(when=None), ["species"])


def test_several_labels(frame):
    assert tables.pick(frame, ["width", "count"]).labels.shape == (4, 2)


def test_new_rows_are_aligned_by_name(frame):
    names = tables.pick(frame.drop(columns="when"), ["species"]).names
    new = frame.iloc[[1, 0]][["colour", "wet", "count", "width"]].copy()
    new["colour"] = ["green", "red"]
    table = tables.align(new, names)
    assert table.X.tolist() == [[2, 2, 0, 0, 0, 0], [1, 1, 1, 0, 0, 1]]
    assert "colour=green" in table.notes[-1]
    with pytest.raises(ValueError, match="no column 'width'"):
        tables.align(new.drop(columns="width"), names)


def test_levels_and_columns_may_have_equals_signs():
    frame = pd.DataFrame({"rule": ["x=1", "x=2"], "a=b": ["u", "v"], "kind": [0, 1]})
    table = tables.pick(frame, ["kind"])
    assert table.names == ["rule=x=1", "rule=x=2", "a=b=u", "a=b=v"]
    assert (tables.align(frame, table.names).X == table.X).all()


def test_levels_that_are_known_are_seen_whatever_else_is_there():
    """As numbers, among more levels than a category has, or with gaps."""
    names = ["room=1", "room=A"]
    assert tables.align(pd.DataFrame({"room": [2, 1]}), names).X.tolist() == [[0, 0], [1, 0]]
    many = pd.DataFrame({"room": [str(i) for i in range(60)]})
    assert tables.align(many, names).X.sum(axis=0).tolist() == [1, 0]
    gaps = tables.align(pd.DataFrame({"room": ["A", None, "A"]}), names, impute="drop")
    assert gaps.X.tolist() == [[0, 1], [0, 1]]


def test_numbers_that_are_text_elsewhere():
    """Never zero: read as the numbers that they are, or refused by row."""
    text = pd.DataFrame({"width": ["1", "2.5"], "none": [None, None]})
    assert tables.align(text, ["width"]).X.tolist() == [[1], [2.5]]
    with pytest.raises(ValueError, match=r"Values are missing .'none' 2"):
        tables.align(text, ["width", "none"])
    with pytest.raises(ValueError, match=r"Values are missing .'width' 1"):
        tables.align(pd.DataFrame({"width": ["1", "wide"]}), ["width"])


def test_a_feature_named_twice_is_one(frame):
    assert tables.pick(frame, ["species"], features=["count", "count"]).names == ["count"]


# Writing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_no_formula_reaches_a_spreadsheet(tmp_path, text):
    frame = pd.DataFrame({text: [text, "plain"], "z1": [-1.5, 2.0]})
    tables.write(frame, tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv", skipinitialspace=False)
    assert found.columns[0].startswith("'")
    assert found.iloc[0, 0].startswith("'")
    assert found.iloc[1, 0] == "plain"
    assert found["z1"].tolist() == [-1.5, 2.0]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"a\rb,c\r1,2\n", "line of column names"),
        ("a.npz", b"PK\x03\x04" + bytes(60), "cannot be read"),
        ("a.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8',\n", "cannot be read"),
        ("a.csv.gz", b"\x1f\x8b\x08\x00" + bytes(30), "cannot be read"),
    ],
)
def test_broken_bytes_are_a_sentence(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=words):
        tables.read(tmp_path / name)


def test_an_archive_under_the_name_of_an_array(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((3, 2)))
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.ones((3, 2)))
    (tmp_path / "b.npy").rename(tmp_path / "b.npz")
    for name, words in (("a.npy", "several arrays; call it .npz"), ("b.npz", "call it .npy")):
        for read in (tables.read, open_source):
            with pytest.raises(ValueError, match=words):
                read(tmp_path / name)


def test_integers_too_long_for_a_type(tmp_path):
    """They stay Python's, which are no text with commas."""
    (tmp_path / "a.csv").write_text("a;b\n" + "3" * 40 + ";1,5\n" + "4" * 40 + ";2\n")
    assert tables.read(tmp_path / "a.csv")["b"].tolist() == [1.5, 2.0]
