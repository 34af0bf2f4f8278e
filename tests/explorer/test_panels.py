"""What the explorer computes on request: importances, arrows, checks, and rows in doubt."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.neighbors import KNeighborsClassifier

from explorer.asking import ask, wish
from labelens import Atlas
from labelens.explorer import panels
from labelens.explorer.explored import from_arrays
from labelens.explorer.panels import PANELS, panel
from labelens.explorer.server import Explorer
from labelens.explorer.session import Session
from labelens.explorer.sessions import session_of
from labelens.explorer.view import ControlState, RejectedError


@pytest.fixture(scope="module")
def noisy():
    """Iris with four columns of noise, whose names are told apart."""
    X, y = load_iris(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=(150, 4))
    return Session(from_arrays(np.hstack([X, noise]), y))


@pytest.fixture(scope="module")
def numbers():
    return Session(from_arrays(*load_diabetes(return_X_y=True)))


def test_importances_are_of_columns_that_matter(noisy):
    found = panel(noisy, noisy.default(), "importances", [0, 1])
    bars = {bar["name"]: bar for bar in found["bars"]}
    assert found["bars"] == sorted(found["bars"], key=lambda bar: -bar["value"])
    own, noise = (sum(bars[f"x{j}"]["value"] for j in some) for some in (range(4), range(4, 8)))
    assert own > 5 * noise
    # Shuffled labels make no difference between them.
    shuffled = [bars[f"x{j}"]["tick"] for j in range(8)]
    assert min(shuffled[4:]) > 0.02
    assert all(" ± " in bar["text"] for bar in bars.values())
    assert f" {noisy.n_train} training rows" in found["sentence"]
    frame = pd.DataFrame(np.vstack([noisy.X, noisy.X]), columns=list("abcdefgh"))
    named = Session(from_arrays(frame.assign(y=np.tile(noisy.values[0], 2)), ["y"]))
    assert {
        bar["name"] for bar in panel(named, named.default(), "importances", [0, 1])["bars"]
    } == set("abcdefgh")


def test_arrows_are_correlations(noisy):
    view = replace(noisy.default(), components=3, target_weight=0.5)
    found = panel(noisy, view, "arrows", [2, 0])
    Z = noisy.fit(view).Z
    for arrow in found["arrows"]:
        column = noisy.X[noisy.looked, int(arrow["name"][1:])]
        wanted = [np.corrcoef(column, Z[:, axis])[0, 1] for axis in (2, 0)]
        np.testing.assert_allclose(arrow["at"], wanted, atol=1e-5)
    assert found["arrows"][0]["name"] in {"x2", "x3"}
    flat = replace(noisy.default(), components=1)
    assert all(len(arrow["at"]) == 1 for arrow in panel(noisy, flat, "arrows", [0])["arrows"])


def test_reports_tell_structure_from_noise(noisy, monkeypatch):
    monkeypatch.setattr(panels, "SHUFFLES", 19)
    found = panel(noisy, noisy.default(), "permutation", [0, 1])
    assert found["sentence"].startswith("The embedding predicts held-out rows")
    X, y = np.random.default_rng(0).normal(size=(80, 6)), np.arange(80) % 2
    chance = Session(from_arrays(X, y))
    nothing = panel(chance, chance.default(), "permutation", [0, 1])
    assert nothing["sentence"].startswith("There is no evidence")
    for told, evident in ((found, True), (nothing, False)):
        assert [bar["name"].split()[1] for bar in told["bars"]] == ["1-NN", "dependence"]
        assert all((bar["value"] > bar["tick"]) == evident for bar in told["bars"])

    def shares(view):
        bars = panel(noisy, view, "stability", [0])["bars"]
        assert {bar["tick"] for bar in bars} == {0.9}
        return {bar["name"]: bar["value"] for bar in bars}

    stable = shares(noisy.default())
    assert list(stable) == [f"Component {j}, other {c}" for j in (1, 2) for c in ("rows", "seeds")]
    assert stable["Component 1, other rows"] > 0.9
    seeds = [stable[f"Component {j}, other seeds"] for j in (1, 2)]
    assert seeds == pytest.approx([1, 1])  # nothing is drawn at random
    assert (
        shares(replace(noisy.default(), method="srp", components=1))["Component 1, other seeds"]
        < 1 - 1e-6
    )


def test_rows_in_doubt_are_those_of_an_atlas(noisy):
    found = panel(noisy, noisy.default(), "conformal", [0, 1])
    n = noisy.n_train
    atlas = Atlas(noisy.estimator(noisy.default()), random_state=0)
    atlas.fit(noisy.X[:n], noisy.values[0][:n])
    held = np.flatnonzero(noisy.drawn >= n)
    sets = atlas.predict_set(noisy.X[noisy.drawn[held]], 0.9)[1][:, :, 0].sum(axis=1)
    marks = {mark["name"].split(":")[0]: mark["rows"] for mark in found["marks"]}
    assert len(noisy.untouched) == 0
    assert marks["In doubt"] == held[sets > 1].tolist()
    assert marks["No class conforms"] == held[sets == 0].tolist()
    unlike = atlas.conformity(noisy.X[noisy.drawn[held]]) < 0.01
    assert marks["Unlike the training rows"] == held[unlike].tolist()


@pytest.mark.parametrize("what", sorted(set(PANELS) - {"final"}))
@pytest.mark.parametrize(
    "changes", [{}, {"method": "kspca", "features": 64}, {"map": "wheel"}], ids=str
)
def test_every_panel_of_every_kind_of_view(noisy, numbers, what, changes, monkeypatch):
    monkeypatch.setattr(panels, "SHUFFLES", 19)
    for session in (noisy, numbers):
        view = replace(ControlState(), **changes)
        if session is numbers and (what == "conformal" or view.map != "components"):
            continue
        found = panel(session, view, what, [0, 1])
        assert json.dumps(found, allow_nan=False)
        assert found["title"]
        assert found["sentence"].endswith((".", "%"))


def test_untouched_rows_are_in_no_prediction_set(digits):
    hidden = set(np.flatnonzero(np.isin(digits.drawn, digits.untouched)).tolist())
    assert hidden
    found = panel(digits, digits.default(), "conformal", [0, 1])
    assert "Of 300 held-out rows" in found["sentence"]
    assert "Base model of the atlas: 1,347 training rows." in found["sentence"]
    assert not hidden & {row for mark in found["marks"] for row in mark["rows"]}


def test_numbers_have_no_prediction_sets(numbers):
    with pytest.raises(RejectedError, match="need classes"):
        panel(numbers, numbers.default(), "conformal", [0, 1])


def test_untouched_rows_are_scored_once():
    X, y = load_digits(return_X_y=True)
    session = Session(from_arrays(X, y))
    view = replace(ControlState(), method="kspca", features=128)
    aside = session.untouched
    assert len(aside) == 150
    assert aside.min() >= session.n_train
    assert not np.isin(aside, session.asked).any()
    assert len(session.asked) == 300
    # No score depends on them.
    before = session.fit(view).scores
    for labels in session.labels:
        labels.codes[aside] = 0
    session._begin()
    assert session.fit(view).scores["heldout"] == before["heldout"]
    session = Session(from_arrays(X, y))
    fit = session.fit(view)
    found = panel(session, view, "final", [0, 1])["sentence"]
    places = [np.searchsorted(session.looked, rows) for rows in (session.known, aside)]
    guesses = KNeighborsClassifier(1).fit(fit.Z[places[0]], y[session.order][session.known])
    wanted = guesses.score(fit.Z[places[1]], y[session.order][aside])
    assert found.startswith(f"Accuracy {wanted:.3f} (95 % interval 0.")
    assert f"other held-out rows is {fit.scores['heldout']:.3f}" in found
    assert panel(session, view, "final", [0, 1])["sentence"] == found
    again = panel(session, replace(view, method="spca"), "final", [0, 1])["sentence"]
    assert again.startswith("These rows were already scored with other settings")
    assert f"accuracy {wanted:.3f}" in again
    few = Session(from_arrays(X[:100], y[:100]))
    assert not len(few.untouched)
    with pytest.raises(RejectedError, match="Too few rows"):
        panel(few, few.default(), "final", [0, 1])


def test_untouched_rows_are_hidden_until_they_are_scored(page):
    served = Explorer(session_of(from_arrays(*load_digits(return_X_y=True)))).start()
    shown = "return explorer.panes[0].look.filter((v, i) => i % 4 === 3 && v > 0).length"
    try:
        page.look(served.url)
        assert page.run(shown) == 1797 - 150
        assert page.text("about").endswith("450 held out, 150 of them untouched")
        page.run("explorer.selectClass(() => true)")
        assert page.run("return explorer.selected.reduce((a, b) => a + b)") == 1797 - 150
        page.run("explorer.select(null)")
        page.run("document.getElementById('final').click()")
        page.wait("document.querySelector('#panel h3')?.textContent === 'Untouched rows'")
        assert page.run(shown) == 1797
        page.choose("method", "pca")
        page.run("document.getElementById('final').click()")
        page.wait("document.querySelector('#panel .hint').textContent.includes('already')")
        page.look(served.url)
        assert page.run(shown) == 1797  # they have been seen
        assert page.errors() == []
    finally:
        served.stop()


def test_messages_are_read_strictly(explorer):
    asked = {"data": 0, "view": wish()["view"], "axes": [0, 1], "what": "arrows"}
    assert ask(explorer, "panel", "POST", asked)[0] == 200
    for wrong in ({"what": "rm"}, {"what": None}, {"axes": [0, 9]}, {"axes": "01"}, {"more": 1}):
        assert ask(explorer, "panel", "POST", asked | wrong)[0] == 400
    assert ask(explorer, "panel", "POST", asked, Origin="http://evil.test")[0] == 403


def test_the_page_shows_a_panel_and_its_age(opened):
    page = opened
    page.run("document.querySelector('[data-panel=importances]').click()")
    page.wait("document.querySelectorAll('#panel .meter').length === 15")
    widths = page.run(
        "return [...document.querySelectorAll('#panel .meter i')].map((e) => e.clientWidth)"
    )
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1] > 0
    ticks = page.run(
        "return [...document.querySelectorAll('#panel .meter')].map((meter) => {"
        "const [one, tick] = [meter, meter.lastChild].map((e) => e.getBoundingClientRect());"
        "return tick.left >= one.left - 2 && tick.right <= one.right + 2"
        " && Math.abs(tick.top - one.top) < 5; })"
    )
    assert ticks == [True] * 15
    assert page.run("return document.getElementById('panel-old').hidden")
    page.choose("method", "pca")
    assert not page.run("return document.getElementById('panel-old').hidden")
    before = overlay(page)
    page.run("document.querySelector('[data-panel=arrows]').click()")
    page.wait("document.querySelector('#panel h3').textContent === 'Arrows of columns'")
    page.settle()
    assert overlay(page) > before + 300
    page.choose("scale", "none")  # another picture has no arrows until they are asked for
    left = overlay(page)
    page.run("explorer.panes[0].arrows = null; explorer.ring()")
    assert overlay(page) == left
    page.run("document.querySelector('[data-panel=conformal]').click()")
    page.wait("document.querySelectorAll('#panel button').length === 3", 60)
    some = "document.querySelector('#panel button:not(:disabled)')"
    named = page.run(f"{some}.click(); return {some}.textContent")
    page.wait("document.querySelector('#group table')")
    many = page.run("return explorer.selected.reduce((sum, one) => sum + one, 0)")
    assert named.endswith(f": {many}")


def overlay(page):
    """Pixels of the overlay that are painted."""
    return page.run(
        """
        const { overlay } = explorer.panes[0];
        const { data } = overlay.getContext("2d").getImageData(0, 0, overlay.width, overlay.height);
        let count = 0;
        for (let i = 3; i < data.length; i += 4) count += data[i] > 100;
        return count;
        """
    )
