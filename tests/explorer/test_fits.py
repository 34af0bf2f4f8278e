"""The explorer's fits: those of the library, judged on rows that they have not seen."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from threadpoolctl import threadpool_info, threadpool_limits

from explorer.answers import unpack
from labelens import SupervisedPCA, tables
from labelens._fit.solution import Solved
from labelens._judge.trial import held_out
from labelens.explorer import space
from labelens.explorer.answers import describe, overview, pack, picture
from labelens.explorer.explored import from_arrays, from_file, script
from labelens.explorer.rows import column, row
from labelens.explorer.session import Session
from labelens.explorer.view import ControlState, RejectedError
from labelens.report.colouring import LIMIT


def material():
    return from_arrays(*load_digits(return_X_y=True), "digits")


VIEWS = [
    {},
    {"method": "pca", "components": 3},
    {"method": "spca", "shrinkage": 0.01, "scale": "minmax", "components": 9},
    {"method": "spca", "target_weight": 0.4, "shrinkage": 0.2, "components": 4},
    {"method": "spca", "label_shrinkage": 0.2, "shrinkage": 0.2, "components": 4},
    {"method": "srp", "seed": 3},
    {"method": "srp", "target_weight": 0.5, "seed": 7, "scale": "none", "components": 5},
    {"method": "srp", "target_weight": 0.5, "shrinkage": 0.5, "components": 3},
    {"method": "kspca", "features": 128, "scale": "minmax"},
    {"method": "kspca", "features": 64, "gamma": 3.0, "shrinkage": 0.05, "target_weight": 0.7},
    {"method": "kspca", "kernel": "laplacian", "features": 64, "scale": "none"},
    {"method": "kspca", "kernel": "polynomial", "features": 64},
    {"method": "kspca", "kernel": "linear"},
    {"method": "ksrp", "kernel": "matern", "features": 64, "seed": 5, "components": 4},
    {"method": "ksrp", "features": 64, "target_weight": 0.6, "seed": 2},
    {"map": "wheel", "shrinkage": 0.1},
]


@pytest.mark.parametrize("written", [True, False], ids=["features kept", "features made anew"])
@pytest.mark.parametrize("changes", VIEWS, ids=str)
def test_a_view_is_the_fit_of_its_script(digits, changes, written, monkeypatch):
    """By the estimator alone, told nothing but the rows of the training part."""
    if not written:
        monkeypatch.setattr(space, "LARGEST", 0)
        digits = Session(material())
    view = replace(ControlState(), **changes)
    fit = digits.fit(view)
    names = {}
    X, y = load_digits(return_X_y=True)
    names |= {"X": X, "y": y}
    exec(script(digits.material, view, digits.estimator(view)), names)
    wanted = names["Z"][digits.order]
    np.testing.assert_allclose(fit.Z, wanted, atol=2e-6 * np.abs(wanted).max())
    known, asked = digits.known, digits.asked
    judge = KNeighborsClassifier(1).fit(wanted[known], y[digits.order][known])
    truth = judge.score(wanted[asked], y[digits.order][asked])
    assert fit.scores["heldout"] == pytest.approx(truth, abs=0.005)  # of equal distances


@pytest.mark.parametrize("shuffled", [False, True], ids=["own labels", "shuffled labels"])
def test_rows_without_a_score_are_embedded_along_the_drawn_axes_only(shuffled, monkeypatch):
    products, embed_several = [], space.embed_several

    def counted(recipe, several, rows):
        products.append(len(rows) * sum(len(one.solution.components) for one in several))
        return embed_several(recipe, several, rows)

    monkeypatch.setattr(space, "embed_several", counted)
    session = Session(material())
    fit = session.fit(ControlState(components=9, shrinkage=0.1))
    body = picture(session, fit, [7, 2], shuffled)
    scored = len(session.known) + len(session.asked)
    assert products == [2 * 9 * scored, 2 * len(session.X)]
    Z = (fit.chance if shuffled else fit.Z)[session.drawn_places]
    drawn = unpack(body)[1][0].reshape(-1, 2)
    np.testing.assert_allclose(drawn, Z[:, [7, 2]], atol=1e-6 * np.abs(Z).max())


KNOBS = [
    {"target_weight": 0.0},
    {"target_weight": 0.3},
    {"target_weight": 0.95, "components": 12},
    {"shrinkage": 0.0},
    {"shrinkage": 1e-4, "components": 4},
    {"shrinkage": 0.0, "target_weight": 0.6},
    {"shrinkage": 0.02, "target_weight": 0.6, "components": 40},
    {"method": "pca", "shrinkage": 0.3},
    {"method": "srp", "shrinkage": 0.3, "target_weight": 0.5, "components": 3},
]


@pytest.mark.parametrize("changes", KNOBS, ids=str)
@pytest.mark.parametrize("scale", ["none", "standard", "minmax"])
def test_knobs_that_share_one_decomposition(wide, scale, changes):
    """The spectrum of the scatter stands for what each estimator decomposes for itself."""
    view = replace(ControlState(), scale=scale, **changes)
    fit, train = wide.fit(view), slice(wide.n_train)
    for labels, Z in [(wide.values[0], fit.Z), (wide.values[0][wide.shuffle], fit.chance)]:
        alone = wide.estimator(view).fit(wide.X[train], labels[train])
        wanted = alone.transform(wide.X)
        np.testing.assert_allclose(Z, wanted, atol=2e-6 * np.abs(wanted).max())


@pytest.fixture(scope="module")
def wide():
    """Columns enough for Lanczos; the last two follow from others."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 5, 1200)
    X = rng.normal(size=(5, 180))[y] + rng.normal(size=(1200, 180)) * np.geomspace(0.3, 4, 180)
    session = Session(from_arrays(np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]]), y))
    session.warm()
    assert len(session._spaces["linear"]._spectra) == 3
    return session


@pytest.mark.parametrize("changes", [{}, {"target_weight": 0.5}, {"method": "ksrp"}], ids=str)
@pytest.mark.parametrize("shrinkage", [1.0, 0.05, 1e-3])
def test_single_precision_is_for_the_eye_only(rng, shrinkage, changes):
    """It cannot be seen, it is said, and what is saved has none of it."""
    y = rng.integers(0, 4, 9000)
    X = (rng.normal(size=(4, 20))[y] + rng.normal(size=(9000, 20))).astype(np.float32)
    session = Session(from_arrays(X, y))
    options = {"method": "kspca", "features": 128, "shrinkage": shrinkage} | changes
    view = replace(ControlState(), **options)
    seen, saved = session.fit(view, exact=False), session.fit(view)
    train = slice(session.n_train)
    alone = session.estimator(view).fit(session.X[train], session.values[0][train])
    Z, size = alone.transform(session.X), np.abs(alone.transform(session.X)).max()
    np.testing.assert_allclose(seen.Z, Z, atol=1e-4 * size)
    np.testing.assert_allclose(saved.Z, Z, atol=2e-6 * size)
    exact = alone.components_
    off = [np.abs(fit.model.components_ - exact).max() for fit in (seen, saved)]
    assert off[1] <= 1e-9 * np.abs(exact).max()
    rough = shrinkage < 1 or (options["method"] == "kspca" and view.target_weight < 1)
    assert seen.exact is not rough
    assert any("single precision" in note for note in seen.notes) is rough
    assert bool(off[0] > 1e-9 * np.abs(exact).max()) is rough
    assert saved.exact
    assert not any("single" in note for note in saved.notes)
    assert session.fit(view, exact=False) is saved


@pytest.mark.parametrize("shrinkage", [0.0, 1e-4])
def test_small_shrinkage_is_never_in_single_precision(rng, shrinkage):
    y = rng.integers(0, 4, 900)
    X = (rng.normal(size=(4, 20))[y] + rng.normal(size=(900, 20))).astype(np.float32)
    session = Session(from_arrays(X, y))
    options = {"method": "kspca", "features": 64, "shrinkage": shrinkage}
    assert session.fit(replace(ControlState(), **options), exact=False).exact


def test_the_control_is_the_same_fit_on_shuffled_labels(digits):
    view = replace(ControlState(), shrinkage=0.1, components=4)
    fit, own = digits.fit(view), digits.values[0]
    mixed = own[digits.shuffle]
    assert sorted(mixed) == sorted(own)
    assert (mixed != own).mean() > 0.8
    train = slice(digits.n_train)
    model = digits.estimator(view).fit(digits.X[train], mixed[train])
    Z = model.transform(digits.X)
    np.testing.assert_allclose(fit.chance, Z, atol=1e-9)
    judge = KNeighborsClassifier(1).fit(Z[digits.known], mixed[digits.known])
    assert fit.scores["shuffled"] == pytest.approx(
        judge.score(Z[digits.asked], mixed[digits.asked]), abs=0.005
    )
    assert fit.scores["heldout"] > 0.8 > 0.3 > fit.scores["shuffled"]


def test_numbers_as_labels():
    X, y = load_diabetes(return_X_y=True)
    session = Session(from_arrays(X, y))
    assert session.labels[0].continuous
    fit = session.fit(replace(ControlState(), method="kspca", features=64, shrinkage=0.1))
    assert fit.model.label_kernel_ == "rbf"
    judge = KNeighborsRegressor(5).fit(fit.Z[session.known], y[session.order][session.known])
    truth = judge.score(fit.Z[session.asked], y[session.order][session.asked])
    assert fit.scores["heldout"] == pytest.approx(truth, abs=0.02)
    assert fit.scores["majority"] is None
    header, (values, mixed) = unpack(pack(*column(session, 0)))
    assert header["kind"] == "numbers"
    np.testing.assert_allclose(np.sort(values), np.sort(mixed))
    with pytest.raises(ValueError, match="continuous"):
        session.fit(replace(ControlState(), map="wheel"))


def test_numbers_in_pieces(rng, monkeypatch):
    """Sums of labels that are waves, a few rows at a time and only once."""
    monkeypatch.setattr(space, "PIECE", 1024)
    X = rng.normal(size=(6000, 5))
    y = X[:, 0] + rng.normal(size=6000)
    session = Session(from_arrays(X, y))
    for changes in ({}, {"method": "srp", "seed": 3}, {"method": "kspca", "features": 64}):
        view = replace(ControlState(), **changes)
        train = slice(session.n_train)
        model = session.estimator(view).fit(session.X[train], session.values[0][train])
        np.testing.assert_array_equal(session.fit(view).model.components_, model.components_)
    monkeypatch.setattr(space, "summarize", None)
    session.fit(replace(ControlState(), seed=9))
    session.fit(replace(ControlState(), method="srp", seed=9))


@pytest.mark.parametrize("unit", [0.0, 1e-200])
def test_what_is_done_ahead_complains_of_nothing(rng, unit):
    """The fit that asks for it does; a thread of its own would write to the terminal."""
    session = Session(from_arrays(unit * rng.normal(size=(60, 3)), np.arange(60) % 2))
    session.warm()


def test_sums_are_made_once(digits, monkeypatch):
    """A move of shrinkage, target weight or scaling reads no row."""
    session = Session(material())
    view = ControlState()
    session.fit(view)
    session.warm()

    def refuse(*_):
        raise AssertionError("the rows are read once more")

    monkeypatch.setattr(space, "summarize", refuse)
    monkeypatch.setattr(space.Scatter, "around", refuse)
    for changes in (
        {"shrinkage": 0.3},
        {"target_weight": 0.2},
        {"components": 5},
        {"scale": "none"},
    ):
        session.fit(replace(view, **changes))
    with pytest.raises(AssertionError):
        session.fit(replace(view, method="kspca"))


def test_a_space_that_was_overwritten_is_not_used(digits):
    """Buffers of features are used again: older fits must not see the new ones."""
    session = Session(material())
    first = session.fit(replace(ControlState(), method="kspca", features=64, gamma=0.5))
    before = first.control.transform(session.X)
    for gamma in (1.5, 2.5, 3.5):
        session.fit(replace(ControlState(), method="kspca", features=64, gamma=gamma))
    np.testing.assert_allclose(first.chance, before)


def test_more_rows_than_are_drawn(rng):
    n = LIMIT + 2000
    y = np.concatenate([np.zeros(n - 7, int), np.ones(7, int)])
    X = rng.normal(size=(n, 3)).astype(np.float32) + y[:, None]
    session = Session(from_arrays(X, y))
    header, (rows, _) = unpack(overview(session))
    assert len(rows) == LIMIT == len(set(rows.tolist()))
    assert {0, 1} == set(y[rows].tolist())
    assert "a sample of 200,000 of" in header["notes"][-1]
    fit = session.fit(ControlState())
    assert fit.model.n_samples_seen_ == session.n_train == n - header["rows"] // 4 - (n % 4 > 0)
    _, (flat,) = unpack(picture(session, fit, [0, 1], False))
    wanted = fit.model.transform(X[rows])
    np.testing.assert_allclose(flat.reshape(-1, 2), wanted, atol=1e-5)
    assert session.embed_all(fit).shape == (n, 2)
    trained = header["drawnTrained"]
    assert session.trained[rows[:trained]].all()
    assert not session.trained[rows[trained:]].any()


def test_the_split_is_that_of_trial(digits):
    _, y = load_digits(return_X_y=True)
    np.testing.assert_array_equal(~digits.trained, held_out(y, len(y), 0))
    np.testing.assert_array_equal(digits.values[0], y[digits.order])


@pytest.mark.parametrize("classes", [2, 5000])
def test_few_and_very_many_classes(classes, rng):
    n = max(600, 4 * classes)
    codes = np.arange(n) % classes
    y = np.array([f"class {c}" for c in codes])
    X = rng.normal(size=(classes, 20))[codes] + 0.3 * rng.normal(size=(n, 20))
    session = Session(from_arrays(X, y))
    fit = session.fit(session.default())
    assert np.isfinite(fit.Z).all()
    assert fit.scores["heldout"] > 3 / classes or classes == 2
    header, (codes, _) = unpack(pack(*column(session, 0)))
    assert len(header["names"]) == classes
    np.testing.assert_array_equal(np.array(header["names"])[codes], y[session.order])
    if classes == 2:
        assert session.default().target_weight == 0.9
        assert not fit.notes


def test_what_carries_no_information_is_said(digits):
    fit = digits.fit(replace(ControlState(), components=12))
    assert "Only 9 of the 12 components" in fit.notes[0]


def test_gamma_too_large(digits):
    single = Session(from_arrays(load_digits().data.astype(np.float32), load_digits().target))
    for session, kernel, gamma in [(digits, "polynomial", 1e200), (single, "rbf", 1e90)]:
        view = replace(ControlState(), method="kspca", kernel=kernel, gamma=gamma, features=64)
        with pytest.raises(ValueError, match=r"Sums over the rows overflow|too large to draw"):
            session.fit(view)
        assert session.fit(replace(view, gamma=1.0)).Z.shape == (1797, 2)


def test_a_group_against_pandas():
    wine = load_wine()
    session = Session(from_arrays(wine.data, wine.target))
    rng = np.random.default_rng(0)
    inside = rng.random(len(session.drawn)) < 0.3
    told = describe(
        session, np.packbits(inside, bitorder="little").tobytes(), session.labels[0], False
    )
    frame = pd.DataFrame(session.X[session.drawn], columns=session.material.names)
    labels = pd.Series(session.values[0][session.drawn])
    assert told["size"] == inside.sum()
    assert told["heldout"] == (inside & (session.drawn >= session.n_train)).sum()
    shares = labels[inside].value_counts(normalize=True)
    for one in told["classes"]:
        assert one["share"] == pytest.approx(shares[int(one["name"])])
        assert one["overall"] == pytest.approx((labels == int(one["name"])).mean())
    effect = (frame[inside].mean() - frame[~inside].mean()) / frame.std(ddof=0)
    best = effect.abs().sort_values(ascending=False).index[: len(told["features"])]
    assert [one["name"] for one in told["features"]] == list(best)
    for one in told["features"]:
        assert one["effect"] == pytest.approx(effect[one["name"]])
        assert one["group"] == pytest.approx(frame.loc[inside, one["name"]].mean())
        assert one["others"] == pytest.approx(frame.loc[~inside, one["name"]].mean())
    everyone = np.packbits(np.ones(len(inside), bool), bitorder="little").tobytes()
    assert describe(session, everyone, session.labels[0], False)["features"] == []
    most = np.packbits(~inside, bitorder="little").tobytes()
    other = describe(session, most, session.labels[0], False)["features"]
    assert other[0]["effect"] == pytest.approx(-told["features"][0]["effect"])


def test_a_group_of_shuffled_labels(digits):
    inside = digits.values[0][digits.shuffle][digits.drawn] == 3
    bits = np.packbits(inside, bitorder="little").tobytes()
    told = describe(digits, bits, digits.labels[0], shuffled=True)
    assert [one["name"] for one in told["classes"]] == ["3"]


@pytest.mark.parametrize("bits", [b"", b"\0" * 225, b"\1" * 224])
def test_a_group_that_is_none(digits, bits):
    with pytest.raises(RejectedError):
        describe(digits, bits, digits.labels[0], False)


def test_a_row_in_words(tmp_path):
    frame = pd.DataFrame({"name": ["a", "b"] * 20, "x": np.arange(40.0), "kind": [0, 1] * 20})
    frame.to_csv(tmp_path / "some.csv", index=False)
    path = tmp_path / "some.csv"
    session = Session(from_file(tables.read(path), path, ["kind"]))
    for i in range(40):
        facts = dict(row(session, i)["facts"])
        own = int(facts["Row"])
        assert facts["Part"] == ("training" if session.trained[own] else "held out")
        assert (facts["name"], float(facts["x"])) == (frame.name[own], frame.x[own])
        assert facts["kind"] == str(frame.kind[own])


def test_blas_has_one_thread_in_all_of_a_move(digits, monkeypatch):
    """Threads of BLAS that have worked spin for a while, and take the cores of the row blocks."""
    seen = set()

    def recorded(plain):
        def made(self):
            seen.update(
                one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"
            )
            return plain(self)

        return property(made)

    for name in ("centre", "projector"):
        monkeypatch.setattr(Solved, name, recorded(vars(Solved)[name]._function))
    with threadpool_limits(2, "blas"):
        digits.fit(ControlState(target_weight=0.123))
        assert seen == {1}
        seen.clear()
        model = SupervisedPCA(2).fit(digits.X, digits.values[0])
        model.transform(digits.X)
        assert seen == {1}


def test_a_mean_of_zero_is_zero(rng):
    """Means of groups are made of the mean of all rows, whose rounding must not be shown."""
    X = np.column_stack([rng.normal(size=90), np.arange(90) % 9 == 0, rng.normal(size=90) + 1e9])
    session = Session(from_arrays(X, np.arange(90) % 2))
    inside = session.X[session.drawn, 1] == 0
    bits = np.packbits(inside, bitorder="little").tobytes()
    told = describe(session, bits, session.labels[0], False)["features"]
    groups = {one["name"]: one["group"] for one in told}
    assert groups["x1"] == 0
    assert groups["x2"] == pytest.approx(session.X[session.drawn][inside, 2].mean(), rel=1e-12)
