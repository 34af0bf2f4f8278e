"""What the explorer tells of rows: pictures, neighbours, columns left out, files of a group."""

import io
import zlib

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from sklearn.datasets import load_digits

from explorer.asking import ask
from labelens.explorer.explored import from_arrays, from_file
from labelens.explorer.images import checked, pictures, png
from labelens.explorer.rows import column, column_names, neighbours, row
from labelens.explorer.saving import rows_file
from labelens.explorer.server import Explorer
from labelens.explorer.session import Session
from labelens.explorer.sessions import session_of
from labelens.explorer.view import RejectedError

DOT = png(np.zeros((1, 1), dtype=np.uint8))


def test_pixels_are_a_picture(digits):
    place = 17
    body, kind = digits.pictured(place)
    assert kind == "image/png"
    shade = imread(io.BytesIO(body))
    assert shade.shape == (8, 8)
    np.testing.assert_allclose(shade.ravel() * 16, digits.X[place], atol=0.07)


@pytest.mark.parametrize("kind", ["noise", "spectrum", "negative", "oblong"])
def test_other_columns_are_no_picture(kind, rng):
    X = np.abs(rng.normal(size=(300, 64)))
    X = {
        "noise": X,
        "spectrum": X.cumsum(axis=1),
        "negative": load_digits().data[:300] - 8,
        "oblong": load_digits().data[:300, :60],
    }[kind]
    assert pictures(X, {}, np.arange(300), None) is None


@pytest.mark.parametrize("wrap", [bytes, lambda body: {"bytes": body, "path": None}])
def test_a_column_of_bytes_is_a_picture(wrap):
    other = png(np.full((2, 2), 9, dtype=np.uint8))
    values = [wrap(DOT), wrap(other)] * 2
    look = pictures(np.zeros((4, 2)), {"image": values}, np.array([3, 0, 2, 1]), None)
    assert [look(place)[0] for place in range(4)] == [other, DOT, DOT, other]


def test_only_pictures_are_sent():
    for body in (b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"GIF", b"", b"<html>"):
        with pytest.raises(RejectedError, match="no image"):
            checked(body)
    with pytest.raises(RejectedError, match="4 MB"):
        checked(DOT + bytes(4_000_000))


def test_paths_stay_in_the_folder_of_the_data(tmp_path):
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(DOT)
    (folder / "deep" / "one.png").write_bytes(DOT)
    (folder / "text.png").write_text("root:x:0:0")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "dir.png").mkdir()
    names = ["deep/one.png", "../secret.png", str(tmp_path / "secret.png"), "link.png", "text.png",
             "none.png", "dir.png", "a\0.png"]  # fmt: skip
    look = pictures(np.zeros((8, 2)), {"file": names}, np.arange(8), folder)
    assert look(0) == (DOT, "image/png")
    for place in range(1, 8):
        with pytest.raises(RejectedError, match=r"image file of this row|This row has no image"):
            look(place)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A file with a text and a number that are left out, and pictures beside it."""
    folder = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    frame["kind"] = np.where(frame["a"] > 0, "up", "down")
    frame["left"] = np.arange(60) * 10
    frame["who"] = [f"person {i}" for i in range(60)]
    frame["file"] = [f"{i % 2}.png" for i in range(60)]
    for i in range(2):
        (folder / f"{i}.png").write_bytes(png(np.full((3, 3), 100 * i, dtype=np.uint8)))
    path = folder / "people.csv"
    frame.to_csv(path, index=False)
    return frame, Session(from_file(frame, path, ["kind"], features=list("abcd")))


def test_columns_that_were_left_out_can_be_looked_at(people):
    frame, session = people
    names = column_names(session)
    assert names == ["kind", *"abcd", "left", "who", "file"]
    own = session.numbers[session.drawn]
    head, (values, mixed) = column(session, names.index("left"))
    assert head["kind"] == "numbers"
    np.testing.assert_array_equal(values, frame["left"].values[own])
    np.testing.assert_array_equal(mixed, values)
    head, (codes, _) = column(session, names.index("who"))
    assert [head["names"][c] for c in codes] == frame["who"].values[own].tolist()
    facts = dict(row(session, 5)["facts"])
    assert set(names) <= set(facts)
    assert facts["who"] == frame["who"][own[5]]


def test_neighbours_are_those_of_the_columns(people):
    _, session = people
    rows = session.X[session.drawn]
    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    far = np.sqrt(np.square(scaled - scaled[7]).sum(axis=1))
    found = neighbours(session, 7)["neighbours"]
    assert [one["row"] for one in found] == np.argsort(far)[1:11].tolist()
    np.testing.assert_allclose([one["distance"] for one in found], np.sort(far)[1:11], rtol=1e-6)


def test_rows_of_a_group_are_saved(people):
    frame, session = people
    marks = np.arange(60) % 3 == 0
    found = pd.read_csv(io.BytesIO(rows_file(session, marks, "csv")))
    own = np.sort(session.numbers[session.drawn[marks]])
    assert found["row"].tolist() == own.tolist()
    for name in ("a", "left", "who"):
        assert found[name].tolist() == pytest.approx(frame[name].values[own].tolist())
    assert (found["label_kind"] == frame["kind"].values[own]).all()
    assert (found["part"] == np.where(session.trained[own], "train", "test")).all()


def test_requests_about_rows():
    X, y = load_digits(return_X_y=True)
    explorer = Explorer(session_of(from_arrays(X, y, "digits"))).start()
    try:
        status, headers, body = ask(explorer, "data/0/image/3")
        assert (status, headers["content-type"]) == (200, "image/png")
        assert headers["x-content-type-options"] == "nosniff"
        assert zlib.decompress(body[body.index(b"IDAT") + 4 : -16])
        assert ask(explorer, "data/0/near/3")[0] == 200
        for path in ("image/1797", "near/1797", "column/65"):
            assert ask(explorer, f"data/0/{path}")[0] == 400
        bits = np.packbits(np.arange(1797) == 3, bitorder="little").tobytes()
        assert ask(explorer, "data/0/rows/csv", "POST", bits)[2].count(b"\n") == 2
        assert ask(explorer, "data/0/rows/exe", "POST", bits)[0] == 400
        assert ask(explorer, "data/0/rows/csv", "POST", b"\0")[0] == 400
        for path in ("data/0/image/3", "data/0/near/3", "data/0/rows/csv"):
            assert ask(explorer, path, host="evil.test")[0] == 403
            assert ask(explorer, path, Origin="http://evil.test")[0] == 403
    finally:
        explorer.stop()
    iris = session_of(from_arrays(X[:, :3], y, "three"))
    explorer = Explorer(iris).start()
    try:
        assert ask(explorer, "data/0/image/3")[0] == 400
    finally:
        explorer.stop()
