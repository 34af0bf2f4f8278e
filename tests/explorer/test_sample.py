"""Many rows: the first answer of a kernel fit is that of a sample; and the search for settings."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from explorer.answers import unpack
from explorer.asking import ask, wish
from labelens.explorer import finding, session
from labelens.explorer.answers import picture
from labelens.explorer.explored import from_arrays
from labelens.explorer.server import Explorer
from labelens.explorer.session import Session
from labelens.explorer.sessions import session_of
from labelens.explorer.view import ControlState, RejectedError


@pytest.fixture
def large(monkeypatch):
    """The digits, as if they were many."""
    for name, value in dict(MOST_AT_ONCE=1000, SAMPLE=400, MOST_KNOWN=300, MOST_ASKED=200).items():
        monkeypatch.setattr(session, name, value)
    return Session(from_arrays(*load_digits(return_X_y=True), "digits"))


def test_a_sample_is_part_of_the_rows(large):
    part = large.sample
    assert 400 < len(part.X) < 1100
    np.testing.assert_array_equal(part.X, load_digits().data[part.order])
    np.testing.assert_array_equal(part.values[0], load_digits().target[part.order])
    np.testing.assert_array_equal(part.labels[0].codes, part.values[0])
    assert large.trained[part.order[: part.n_train]].all()
    assert not large.trained[part.order[part.n_train :]].any()
    # Scores are of the same rows.
    for name in ("known", "asked"):
        own, all_ = getattr(part, name), getattr(large, name)
        np.testing.assert_array_equal(part.order[own], large.order[all_])
    assert large.sample is part


def test_the_first_answer_is_close_to_the_second(large):
    view = replace(ControlState(), method="kspca", components=4, features=256)
    first, second = (one.fit(view, exact=False) for one in (large.sample, large))
    assert abs(first.scores["heldout"] - second.scores["heldout"]) < 0.1
    header, (Z, which) = unpack(picture(large.sample, first, [0, 1], False))
    assert header["rough"] == len(large.sample.X)
    rows = large.X[large.drawn[which]]
    np.testing.assert_allclose(
        Z.reshape(-1, 2), first.model.transform(rows)[:, :2], atol=1e-4 * np.abs(Z).max()
    )
    header, arrays = unpack(picture(large, second, [0, 1], False))
    assert header["rough"] is None
    assert len(arrays) == 1


def test_the_page_gets_both(page, monkeypatch):
    for name, value in dict(MOST_AT_ONCE=1000, SAMPLE=400, MOST_KNOWN=300, MOST_ASKED=200).items():
        monkeypatch.setattr(session, name, value)
    served = Explorer(session_of(from_arrays(*load_digits(return_X_y=True), "digits"))).start()
    try:
        page.look(served.url)
        page.run(
            "window.shown = []; const pane = explorer.panes[0]; const { show } = pane;"
            "pane.show = (picture, ms) => { show.call(pane, picture, ms); window.shown.push(["
            "picture.rough, pane.scatter.to.filter((v) => v > 100).length]); }"
        )
        page.choose("method", "kspca")
        page.wait("window.shown.length >= 2")
        page.still()
        (rough, away), (whole, none) = page.run("return window.shown")
        assert rough > 400
        assert 0 < away < 2 * 1797
        assert (whole, none) == (None, 0)
        assert page.errors() == []
    finally:
        served.stop()


def test_linear_fits_are_of_all_rows(large, monkeypatch):
    served = Explorer(session_of(from_arrays(*load_digits(return_X_y=True), "digits"))).start()
    try:
        for changes, rough in (({}, False), ({"method": "kspca"}, True)):
            status, _, body = ask(served, "fit", "POST", wish(turn=2 + rough, **changes))
            assert status == 200
            assert (unpack(body)[0]["rough"] is not None) == rough
        asked = wish(turn=9, method="kspca") | {"rough": False}
        assert unpack(ask(served, "fit", "POST", asked)[2])[0]["rough"] is None
    finally:
        served.stop()


def test_settings_are_chosen_by_training_rows(digits, monkeypatch):
    seen = []

    def select(X, y, *about, **more):
        seen.append((X, y))
        return original(X, y, *about, **more)

    original = finding.select
    monkeypatch.setattr(finding, "select", select)
    monkeypatch.setattr(finding, "ROWS", 300)
    found = finding.find(digits, ControlState(), 0)
    trained = digits.X[: digits.n_train]
    for X, y in seen:
        assert len(X) == 300
        where = [np.flatnonzero((trained == row).all(axis=1))[0] for row in X[:20]]
        np.testing.assert_array_equal(digits.values[0][where], y[:20])
    view = replace(ControlState(), **found["change"])
    better, first = (digits.fit(one).scores["heldout"] for one in (view, ControlState()))
    assert better > first + 0.05
    assert found["compared"] == 12
    with pytest.raises(RejectedError, match="stage"):
        finding.find(digits, ControlState(), 4)


def test_the_gamma_that_is_found_is_the_one_that_was_compared(digits, monkeypatch):
    monkeypatch.setattr(finding, "ROWS", 300)
    found = finding.find(digits, ControlState(), 2)
    assert found["change"]["gamma"] == pytest.approx(0.3) or found["change"]["gamma"] == 1
    assert found["change"]["method"] == "kspca"


def test_the_button_finds_settings_and_stops(opened):
    first = float(opened.accuracy())
    opened.run("document.getElementById('search').click()")
    opened.wait("document.querySelector('#jobs button')")
    opened.run("document.querySelector('#jobs button').click()")
    opened.wait("document.getElementById('search-said').textContent === 'Cancelled.'")
    assert float(opened.accuracy()) == first
    opened.run("document.getElementById('search').click()")
    opened.wait("document.getElementById('search-said').textContent.startsWith('The best of')", 120)
    opened.still()
    assert float(opened.accuracy()) > first + 0.1


def test_many_settings_are_warned_of(opened):
    told = "return explorer.panes[0].told.textContent"
    for share in range(2, 21):
        opened.run(f"explorer.panes[0].change({{ target_weight: {share / 20} }})")
        opened.still()
        assert "You have compared" not in opened.run(told)
    opened.run("explorer.panes[0].change({ shrinkage: 0.5 })")
    opened.still()
    assert "You have compared" in opened.run(told)
