"""CSV is read in one way: as one file by `tables`, and cut into several by `sources`."""

import gzip

import numpy as np
import pandas as pd
import pytest

import labelens
from labelens import SupervisedPCA, tables
from labelens._engines.sources import open_source
from labelens.tables import text

# Rows of cells under the names x, y, label and note, and what they mean.
MESSY = {
    "decimal commas": ("|", ["1,5|2|a|", "-2|1e3|b|x", " 7 |,5|a|y,z"]),
    "tabs": ("\t", ["1\t2.5\t1\t", "2\t3,5\t0\tx", "3\t4\t1\ty"]),
    "missing labels": (",", ["1,2,NA,", "2,3,,x", "3,4,1.5,y", "4,5,2,z"]),
    "missing text": (";", ["1;2;a;", "2;3;n/a;x", "3;4;<NA>;y", '4;5;"b;c";z']),
    "quoted": (",", ['"1",2,"two\nlines",', '2,"3","a ""quoted"" one",x', '3,4,"a, b",y']),
    "not only numbers": (",", ["1,2,1,", "2,3,1.5,x", "3,4,one,y"]),
    "truth": (",", ["1,2,true,", "2,3,FALSE,x", "3,4,,y", "4,5,True,z"]),
    "dates": (",", ["1,2,2020-01-02,", "2,3,2021-03-04,x", "3,4,,y"]),
    "long numbers": (",", [f"{i},2,{'7' * 30}{i % 2},x" for i in range(4)]),
    "unsigned numbers": (",", [f"{i},2,1844674407370955161{i % 2},x" for i in range(4)]),
    "hexadecimal": (",", ["1,2,0x10,", "2,3,16,x", "3,4,0x10,y"]),
    "blank lines": (",", ["1,2,a,", "", "2,3,b,x", "3,4,a,y", ""]),
    "a blank line first": (",", ["1,2,a,", "2,3,b,x", "3,4,a,y"]),
    "spaces": (",", [" 1 , 2,a ,", "2,+3 , b,x", "3,.5,a,y"]),
}


def written(folder, separator, rows, sizes, ending):
    """The rows, cut into files of these sizes, in the encodings and line ends that there are."""
    head, folder = separator.join(["x", "y", "label", "note"]), folder / str(len(sizes))
    folder.mkdir()
    at = 0
    for number, size in enumerate(sizes):
        end = "\r\n" if number % 2 else "\n"
        blank = [""] * (rows == MESSY["a blank line first"][1])
        content = end.join([*blank, head, *rows[at : at + size], ""]).encode("utf-8-sig")
        content = gzip.compress(content) if ending.endswith("gz") else content
        (folder / f"{number}.{ending}").write_bytes(content)
        at += size
    return folder


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("kind", MESSY)
def test_several_files_are_read_as_one(tmp_path, kind, ending):
    separator, rows = MESSY[kind]
    whole = written(tmp_path, separator, rows, [len(rows)], ending)
    parts = written(tmp_path, separator, rows, [1] * len(rows), ending)
    frame = tables.read(whole / f"0.{ending}")
    for folder in (whole, parts):
        source = open_source(f"{folder}/*.{ending}", "label", ["x", "y"])
        (chunk,) = source.chunks(100)
        np.testing.assert_array_equal(chunk.X, frame[["x", "y"]].to_numpy(float))
        labels = pd.Series(chunk.y.values)
        gaps = labels.isna()
        np.testing.assert_array_equal(gaps, frame["label"].isna())
        assert labels[~gaps].astype(str).tolist() == _shown(frame["label"], labels)


def _shown(column, labels):
    """The labels of a frame as text, in the type that the others have."""
    found = column.dropna()
    found = found.dt.date if found.dtype.kind == "M" else found
    return found.astype(labels.dtype if labels.dtype.kind == "f" else object).astype(str).tolist()


def test_types_of_columns(tmp_path):
    (tmp_path / "a.csv").write_text(
        ";whole;real;truth;day;moment;name;none;long\n"
        "0;1;1,5;True;2020-01-02;2020-01-02T10:00;a;;" + "1" * 30 + "\n"
        "1;-2;1;false;2021-03-04;2021-03-04 11:30;1;NA;" + "2" * 30 + "\n"
    )
    found = tables.read(tmp_path / "a.csv")
    kinds = {name: found[name].dtype.kind for name in found}
    assert kinds.pop("name") == kinds.pop("long")
    assert kinds == {
        "Unnamed: 0": "i", "whole": "i", "real": "f", "truth": "b", "day": "M", "moment": "M",
        "none": "f",
    }  # fmt: skip
    assert found["real"].tolist() == [1.5, 1.0]
    assert found["name"].tolist() == ["a", "1"]
    assert found["long"].tolist() == ["1" * 30, "2" * 30]


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (["", "1", "2"], "int64"),
        (["1", "1.5", "2"], "double"),
        (["1", str(2**63), ""], "uint64"),
        (["1", "one", ""], "string"),
        (["true", "1", ""], "string"),
        (["2020-01-01", "2020-01-01 10:00", ""], "timestamp[us]"),
        (["", "NA", "null"], "null"),
    ],
)
def test_labels_have_the_type_of_all_files(tmp_path, labels, wanted):
    for number, label in enumerate(labels):
        (tmp_path / f"{number}.csv").write_text(f"x,label\n{number},{label}\n")
    source = open_source(f"{tmp_path}/*.csv", "label")
    assert {str(file.schema.field("label").type) for file in source._files} == {wanted}


def test_a_file_without_labels_among_others(tmp_path, rng):
    X, y = rng.normal(size=(60, 3)), np.repeat([0.0, 1, 2], 20)
    y[:20] = np.nan
    for number in range(3):
        here = slice(20 * number, 20 * number + 20)
        frame = pd.DataFrame(X[here], columns=list("abc")).assign(label=y[here])
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    model = SupervisedPCA(1, missing_label=np.nan)
    expected = model.fit(X, y).components_
    found = labelens.fit(model, f"{tmp_path}/*.csv", label="label").components_
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_cell_that_does_not_fit_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 1 << 10)
    (tmp_path / "a.csv").write_text("x,label\n" + "1,0\n" * 1000 + "two,0\n")
    source = open_source(tmp_path / "a.csv", "label")
    with pytest.raises(ValueError, match=r"a\.csv cannot be read: the column 'x' .* later two"):
        list(source.chunks(100))
    assert tables.read(tmp_path / "a.csv")["x"].tolist()[-2:] == ["1", "two"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x,y\n1,2\n1,2,3\n", "line 3 has 3 values where 2 are expected"),
        (b"x,y\n1,2\n1\n", "line 3 has 1 values where 2 are expected"),
        (b"x,y\n1,\x81\xff\n", "neither UTF-8 nor cp1252"),
        (b"", "it is empty"),
        (b"x,y,x\n1,2,3\n", "two columns called 'x'"),
    ],
)
def test_both_say_what_is_wrong_with_a_file(tmp_path, content, words):
    (tmp_path / "a.csv").write_bytes(content)

    def in_chunks(path):
        return list(open_source(path, "y").chunks(100))

    for read in (tables.read, in_chunks):
        with pytest.raises(ValueError, match=words) as error:
            read(tmp_path / "a.csv")
        assert "a.csv" in str(error.value)


@pytest.mark.parametrize("blanks", [0, 1 << 17])
def test_both_read_text_that_is_not_utf8(tmp_path, blanks, monkeypatch):
    content = f"é,y\n1,a\n{' ' * blanks}2,bé\n"
    (tmp_path / "a.csv").write_bytes(content.encode("cp1252"))
    found = tables.read(tmp_path / "a.csv")
    assert found["é"].tolist() == [1, 2]
    assert found["y"].tolist() == ["a", "bé"]
    assert found.attrs["notes"] == ["a.csv is not UTF-8 and was read as cp1252."]
    (chunk,) = open_source(tmp_path / "a.csv", "y").chunks(100)
    assert chunk.X.tolist() == [[1], [2]]
    assert chunk.y.values.tolist() == ["a", "bé"]
    if blanks:  # after the bytes that are looked at
        monkeypatch.setattr(text, "LOOKED_AT", 1 << 16)
        (tmp_path / "a.csv").write_bytes(content.replace("é,y", "x,y").encode("cp1252"))
        for read in (tables.read, lambda path: list(open_source(path, "y").chunks(100))):
            with pytest.raises(ValueError, match="later bytes are not; save it as UTF-8"):
                read(tmp_path / "a.csv")
