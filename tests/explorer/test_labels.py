"""Suspect labels: found, gone through, corrected, and saved to a table of their own."""

import json
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits

from explorer.asking import ask
from labelens.explorer import correcting
from labelens.explorer.correcting import corrected_file, suspects
from labelens.explorer.explored import from_arrays, from_file
from labelens.explorer.server import Explorer
from labelens.explorer.session import Session
from labelens.explorer.sessions import session_of
from labelens.explorer.view import RejectedError


def mislabelled(kind=int):
    X, y = load_digits(return_X_y=True)
    y, draw = y.copy(), np.random.default_rng(0)
    wrong = draw.choice(len(y), 30, replace=False)
    y[wrong] = (y[wrong] + draw.integers(1, 10, size=30)) % 10
    return X, np.array([kind(label) for label in y]), wrong


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file with wrong labels, a gap, a column of text and one that is left out."""
    X, y, wrong = mislabelled(lambda label: f"digit {label}")
    frame = pd.DataFrame(X[:, 2:62], columns=[f"p{j}" for j in range(60)]).assign(digit=y)
    frame["place"] = np.where(np.arange(len(y)) % 3, "=here", "there, or not")
    frame.loc[7, "digit"] = None
    path = tmp_path_factory.mktemp("labels") / "digits.csv"
    frame.to_csv(path, index=False)
    return path, wrong


@pytest.fixture(scope="module")
def session(table):
    from labelens import tables

    path, _ = table
    return Session(from_file(tables.read(path), path, ["digit"]))


def test_suspects_are_the_wrong_labels(session, table):
    _, wrong = table
    found = suspects(session, 0)
    rows = [session.numbers[session.drawn[one["row"]]] for one in found["suspects"]]
    assert len(set(rows[:20]) & set(wrong)) >= 18
    assert [one["quality"] for one in found["suspects"]] == sorted(
        one["quality"] for one in found["suspects"]
    )
    truth = load_digits().target
    right = [
        one["text"] == f"digit {truth[row]}"
        for one, row in zip(found["suspects"], rows, strict=True)
    ]
    assert np.mean(right[:20]) > 0.8
    shown = 1796 - len(session.untouched)
    assert f"{len(rows)} of {shown:,} labels are flagged" in found["sentence"]
    assert found["sentence"].endswith("Untouched rows are left out.")
    assert not np.isin(
        session.drawn[[one["row"] for one in found["suspects"]]], session.untouched
    ).any()
    names = session.labels[0].names
    assert all(names[int(one["predicted"])] == one["text"] for one in found["suspects"])


def test_of_many_rows_a_sample_is_judged(session, monkeypatch):
    monkeypatch.setattr(correcting, "MOST_JUDGED", 300)
    found = suspects(session, 0)
    assert "in a sample of 300 rows" in found["sentence"]
    monkeypatch.setattr(correcting, "MOST_JUDGED", 20_000)
    everywhere = {one["row"] for one in suspects(session, 0)["suspects"]}
    assert len(everywhere & {one["row"] for one in found["suspects"]}) >= 2


def row_of(session, number):
    return int(np.flatnonzero(session.numbers[session.drawn] == number)[0])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_corrected_table_is_the_one_read_but_for_the_changes(session, table, kind):
    path, wrong = table
    before = path.read_bytes()
    names, truth = session.labels[0].names, load_digits().target
    changes = [[row_of(session, i), names.index(f"digit {truth[i]}")] for i in wrong if i != 7]
    body = corrected_file(session, 0, changes, kind)
    assert path.read_bytes() == before
    read = pd.read_csv if kind == "csv" else pd.read_parquet
    old, new = pd.read_csv(path), read(BytesIO(body))
    new["place"] = new["place"].str.lstrip("'")  # which spreadsheets would take for a formula
    assert new.columns.tolist() == old.columns.tolist()
    changed = np.flatnonzero((old.digit != new.digit).to_numpy() & old.digit.notna().to_numpy())
    assert sorted(changed) == sorted(i for i in wrong if i != 7)
    assert (new.digit[wrong] == [f"digit {truth[i]}" for i in wrong]).sum() >= 29
    assert pd.isna(new.digit[7])
    pd.testing.assert_frame_equal(new.drop(columns="digit"), old.drop(columns="digit"))


def test_numbers_and_arrays():
    X, y = load_diabetes(return_X_y=True)
    session = Session(from_arrays(X, np.where(np.arange(442) == 3, 3000.0, y)))
    found = suspects(session, 0)["suspects"][0]
    assert found["row"] == row_of(session, 3)
    assert 50 < found["predicted"] < 400
    assert found["text"] == f"{found['predicted']:.4g}"
    body = corrected_file(session, 0, [[row_of(session, 3), 12.25]], "parquet")
    frame = pd.read_parquet(BytesIO(body))
    assert frame.y[3] == 12.25
    np.testing.assert_array_equal(np.delete(frame.y.to_numpy(), 3), np.delete(y, 3))
    np.testing.assert_array_equal(frame.drop(columns="y").to_numpy(), X)
    counts = Session(from_arrays(pd.DataFrame(X).assign(n=np.arange(442) + 5), "n"))
    for value, kind in ((7, "i"), (7.5, "f")):
        body = corrected_file(counts, 0, [[row_of(counts, 3), value]], "parquet")
        found = pd.read_parquet(BytesIO(body)).n
        assert (found[3], found.dtype.kind) == (value, kind)
    with pytest.raises(RejectedError, match="at least 20"):
        suspects(Session(from_arrays(X[:12], y[:12])), 0)


@pytest.mark.parametrize(
    "changes", [[], None, [[0]], [[0, 99]], [[-1, 0]], [[1e9, 0]], [[0, "1"]], [[0, 0.5]], "x"],
    ids=str,
)  # fmt: skip
def test_changes_are_read_strictly(session, changes):
    explorer = Explorer(session_of(session_material())).start()
    try:
        asked = {"data": 0, "label": 0, "changes": changes, "format": "csv"}
        status, _, body = ask(explorer, "labels", "POST", asked)
        assert status == 400, body
        assert json.loads(body)["error"]
        good = asked | {"changes": [[0, 1]]}
        assert ask(explorer, "labels", "POST", good)[0] == 200
        for wrong in ({"label": 5}, {"format": "exe"}, {"data": 9}):
            assert ask(explorer, "labels", "POST", good | wrong)[0] == 400
        assert ask(explorer, "labels", "POST", good, Origin="http://evil.test")[0] == 403
    finally:
        explorer.stop()


def session_material():
    return from_arrays(np.arange(40.0).reshape(20, 2), np.arange(20) % 2)


def test_labels_are_corrected_on_the_page(page):
    X, y, wrong = mislabelled(lambda label: f"<b>{label}")
    explorer = Explorer(session_of(from_arrays(X, {"digit": y}, "digits"))).start()
    try:
        page.look(explorer.url)
        page.run("document.getElementById('suspects').click()")
        page.wait("explorer.picked >= 0 && !document.getElementById('stepping').hidden", 60)
        many = page.run("return explorer.ringed.length")
        assert many > 20
        shown = "return explorer.rowNumbers[explorer.picked]"
        first = page.run(shown)
        given, taken = page.run(
            "return ['keep', 'take'].map((id) => document.getElementById(id).textContent)"
        )
        assert given == f"Keep {y[first]}"
        page.run("document.getElementById('take').click()")
        page.wait(f"explorer.rowNumbers[explorer.picked] !== {first}")
        second = page.run(shown)
        page.run("document.getElementById('keep').click()")
        page.wait(f"explorer.rowNumbers[explorer.picked] !== {second}")
        assert page.text("suspects-said").endswith(f"2 of {many} decided.")
        page.key("[")
        page.wait(f"explorer.rowNumbers[explorer.picked] === {second}")
        # Any row can be corrected, suspect or not.
        other = int(np.setdiff1d(np.arange(50), wrong)[0])
        page.run("explorer.pick(explorer.rowNumbers.indexOf(arguments[0]))", other)
        assert page.run("return document.getElementById('take').hidden")
        page.choose("other-class", 3)
        assert "→ <b>3" in page.text("given")
        assert page.text("corrections") == "2 corrected "
        page.run("document.getElementById('save-labels').click()")
        page.wait("document.getElementById('corrections').textContent.includes('saved')")
        from explorer.test_page_saving import downloaded

        new = pd.read_csv(downloaded(page, "corrected.csv"))
        changed = np.flatnonzero(new.digit.to_numpy() != y)
        assert sorted(changed) == sorted([first, other])
        assert new.digit[first] == taken.removeprefix("Change to ")
        assert new.digit[other] == "<b>3"
        # A session keeps the corrections.
        page.run("document.getElementById('save-session').click()")
        told = downloaded(page, "session.json")
        assert (
            sorted(one[0] for one in json.loads(told.read_text())["labels"][0]) == changed.tolist()
        )
        page.look(explorer.url)
        assert page.run("return document.getElementById('saving-labels').hidden")
        page.driver.find_element("id", "open-session").send_keys(str(told))
        page.wait("document.getElementById('corrections').textContent.startsWith('2 corrected')")
        page.run("explorer.pick(explorer.rowNumbers.indexOf(arguments[0]))", other)
        assert "→ <b>3" in page.text("given")
        # Asked for before there is a picture.
        page.run("explorer.compare(); document.getElementById('suspects').click()")
        page.still()
        assert page.errors() == []
    finally:
        explorer.stop()
