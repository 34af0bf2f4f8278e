"""Atlases of the explorer: those of the estimator, live sliders, honest places of training rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import labelens
from explorer.answers import unpack
from explorer.asking import ask, saved, wish
from labelens.explorer import arranged, session
from labelens.explorer.answers import overview, picture
from labelens.explorer.explored import bundled, from_arrays, script
from labelens.explorer.server import Explorer
from labelens.explorer.session import Session
from labelens.explorer.sessions import Sessions, session_of
from labelens.explorer.view import ControlState

ATLAS = ControlState(map="atlas", shrinkage=0.1)


def test_classes_open_on_an_atlas():
    names = {"Digits": "atlas", "XOR": "components", "Diabetes": "components"}
    for name, wanted in names.items():
        assert Session(bundled()[name]()).default().map == wanted
    names = np.array([f"class {i % 300}" for i in range(900)])
    many = Session(from_arrays(np.random.default_rng(0).normal(size=(900, 3)), names))
    assert many.default().map == "components"
    assert unpack(overview(many))[0]["labels"][0]["noMap"]["atlas"].startswith(
        "Atlas maps show at most"
    )
    with pytest.raises(ValueError, match="at most 200 classes"):
        many.fit(replace(many.default(), map="atlas"))


@pytest.mark.parametrize(
    "changes",
    [{}, {"detail": 0.3, "temperature": 0.5}, {"method": "kspca", "features": 64},
     {"method": "srp"}],
    ids=str,
)  # fmt: skip
def test_it_is_the_atlas_of_its_script(digits, changes):
    view = replace(ATLAS, **changes)
    fit = digits.fit(view)
    X, y = load_digits(return_X_y=True)
    names = {"X": X, "y": y}
    exec(script(digits.material, view, digits.estimator(view)), names)
    np.testing.assert_allclose(fit.model.anchors_, names["model"].anchors_, atol=1e-6)
    assert fit.model.temperature_ == names["model"].temperature_
    np.testing.assert_allclose(fit.Z, names["Z"][digits.order], atol=1e-4)
    honest = fit.honest[0]
    held = names["model"].heldout_embedding_
    np.testing.assert_allclose(honest[: digits.n_train], held, atol=1e-4)
    np.testing.assert_array_equal(honest[digits.n_train :], fit.Z[digits.n_train :])


def test_detail_and_temperature_fit_nothing(monkeypatch):
    digits = Session(from_arrays(*load_digits(return_X_y=True)))
    first = digits.fit(ATLAS)
    monkeypatch.setattr(arranged, "held_out_places", None)  # whoever arranges again fails
    again = digits.fit(replace(ATLAS, detail=0.0))
    spread = [np.std(one.Z[digits.values[0] == 3], axis=0).sum() for one in (first, again)]
    assert spread[1] < 0.8 * spread[0]
    hot = digits.fit(replace(ATLAS, temperature=5.0))
    assert np.abs(hot.Z).mean() < np.abs(first.Z).mean()
    with pytest.raises(TypeError):
        digits.fit(replace(ATLAS, shrinkage=0.2))


def test_it_predicts_better_than_two_components(digits):
    plain = digits.fit(replace(ATLAS, map="components")).scores
    found = digits.fit(ATLAS).scores
    assert found["heldout"] > plain["heldout"] + 0.2
    assert found["shuffled"] < 0.2


def test_honest_places_are_drawn_unless_fitted_ones_are_wanted(digits):
    fit = digits.fit(ATLAS)
    for shuffled in (False, True):
        own, crossed = (
            unpack(picture(digits, fit, [0, 1], shuffled, one)) for one in (True, False)
        )
        assert (own[0]["honest"], crossed[0]["honest"]) == (False, True)
        wanted = fit.chance if shuffled else fit.Z
        np.testing.assert_allclose(own[1][0].reshape(-1, 2), wanted, atol=1e-6)
        model = fit.control if shuffled else fit.model
        radii = np.array(own[0]["radii"])
        np.testing.assert_allclose(radii, 0.85 * model.radii_)
        low, high = np.transpose(own[0]["frame"])
        assert (model.anchors_ - radii[:, None] >= low).all()
        assert (model.anchors_ + radii[:, None] <= high).all()
        np.testing.assert_allclose(crossed[1][0].reshape(-1, 2), fit.honest[shuffled], atol=1e-6)
    # Honest training rows are as good as held-out ones, fitted ones look better.
    flexible = digits.fit(replace(ATLAS, method="kspca", features=1024, shrinkage=0.001))
    labels, n = digits.values[0], digits.n_train
    classes = KNeighborsClassifier(10)
    fitted, honest = (
        cross_val_score(classes, Z[:n], labels[:n]).mean() for Z in (flexible.Z, flexible.honest[0])
    )
    assert fitted > honest + 0.01
    assert "honest" not in unpack(picture(digits, digits.fit(ControlState()), [0, 1], False))[0]


def test_of_many_rows_some_arrange_it(monkeypatch):
    monkeypatch.setattr(arranged, "ARRANGED", 300)
    monkeypatch.setattr(arranged, "POOL", 500)
    some = Session(from_arrays(*load_digits(return_X_y=True)))
    fit = some.fit(ATLAS)
    placed = np.isfinite(fit.honest[0][: some.n_train]).all(axis=1)
    assert placed.sum() == 300
    assert np.isfinite(fit.Z).all()
    assert fit.scores["heldout"] > 0.8
    monkeypatch.setattr(session, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(session, "SAMPLE", 400)
    for name, value in (("MOST_KNOWN", 300), ("MOST_ASKED", 200)):
        monkeypatch.setattr(session, name, value)
    large = Session(from_arrays(*load_digits(return_X_y=True)))
    header, (flat, which) = unpack(
        picture(large.sample, large.sample.fit(ATLAS), [0, 1], False, False)
    )
    assert header["rough"] == len(large.sample.X)
    assert len(flat) == 2 * len(which)


def test_a_saved_atlas_loads(iris, tmp_path):
    status, _, body = ask(iris, "save", "POST", saved("model", map="atlas", shrinkage=0.1))
    assert status == 200
    (tmp_path / "model.labelens").write_bytes(body)
    model = labelens.load(tmp_path / "model.labelens")
    assert list(model.feature_names_in_) == list("abcd")
    assert model.predict_proba(pd.DataFrame(np.zeros((2, 4)), columns=list("abcd"))).shape == (2, 3)
    status, _, body = ask(iris, "save", "POST", saved("report", map="atlas", shrinkage=0.1))
    assert status == 200
    assert b"<html" in body
    status, _, body = ask(iris, "save", "POST", saved("embedding", map="atlas", shrinkage=0.1))
    assert status == 200
    assert len(body.splitlines()) == 151
    assert ask(iris, "fit", "POST", wish(map="atlas") | {"fitted": 1})[0] == 400


def test_the_sliders_and_the_fitted_view(page):
    explorer = Explorer(Sessions(bundled())).start()
    try:
        page.look(explorer.url)
        assert page.run("return explorer.panes[0].title.textContent") == "SPCA atlas"
        assert float(page.accuracy()) > 0.85
        assert page.run("return !document.getElementById('atlas-fields').hidden")
        assert page.text("temperature-says").startswith("chosen by held-out rows: 0.")
        assert page.text("pale").endswith("fitted without them")
        honest = page.places()
        page.run("document.getElementById('fitted').click()")
        page.still()
        assert page.text("pale") == "training rows, as fitted"
        own = page.places()
        # A class lies in its disc, as drawn.
        middle, radius = page.run(
            "const { picture, frames } = explorer.panes[0];"
            "return [picture.anchors[3].map((v, j) => (v - frames[j][0]) / frames[j][1]),"
            "  picture.radii[3] / frames[0][1]]"
        )
        codes = np.array(page.run("return Array.from(explorer.colours.own)"))
        apart = np.linalg.norm(own[codes == 3] - middle, axis=1)
        assert np.mean(apart < 1.1 * radius) > 0.8
        trained = page.run("return explorer.trained")
        assert np.abs(own - honest)[:trained].max() > 0.05
        np.testing.assert_allclose(own[trained:], honest[trained:], atol=1e-6)
        assert "fitted=1" in page.driver.current_url
        page.driver.refresh()
        page.wait("document.documentElement.dataset.ready === 'yes'", 60)
        page.still()
        np.testing.assert_allclose(page.places(), own, atol=1e-6)
        page.choose("detail-slide", 0.2)
        assert page.run("return explorer.panes[0].picture.view.detail") == 0.2
        assert np.abs(page.places() - own).max() > 0.02
        page.choose("temperature-slide", 0)
        assert page.run("return explorer.panes[0].picture.temperature") == 1
        page.choose("map", "components")
        assert page.run("return document.getElementById('atlas-fields').hidden")
        assert page.run("return document.getElementById('fitted-label').hidden")
        page.choose("data", 4)
        page.wait("explorer.overview.name === 'XOR' && explorer.panes[0].picture")
        page.still()
        assert page.run("return explorer.panes[0].picture.view.map") == "components"
        assert page.errors() == []
    finally:
        explorer.stop()


def test_a_search_keeps_the_atlas(page):
    explorer = Explorer(session_of(from_arrays(*load_digits(return_X_y=True)))).start()
    try:
        page.look(explorer.url)
        before = float(page.accuracy())
        page.run("document.getElementById('search').click()")
        said = "document.getElementById('search-said').textContent"
        page.wait(f"{said}.startsWith('The best of')", 200)
        page.still()
        assert page.run("return explorer.panes[0].picture.view.map") == "atlas"
        assert float(page.accuracy()) > before
    finally:
        explorer.stop()
