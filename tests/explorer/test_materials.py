"""What the explorer takes, the scripts that it writes, the messages that it reads."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import polars
import pytest

import labelens
from explorer.answers import unpack
from labelens import SupervisedPCA, Wheel, tables
from labelens.explorer.answers import overview, picture, read_axes
from labelens.explorer.explored import bundled, from_arrays, from_file, script
from labelens.explorer.rows import row
from labelens.explorer.saving import embedding_file
from labelens.explorer.session import Session
from labelens.explorer.view import ControlState, RejectedError

# Materials and scripts ---------------------------------------------------------------------------


def test_rows_keep_their_numbers(rng, tmp_path):
    """Where rows without a label, or with a gap, have been left out."""
    frame = mixed_frame(rng)
    frame.loc[[3, 7], "town"] = None
    frame.loc[[0, 9], "a"] = np.nan
    path = tmp_path / "some.csv"
    frame.to_csv(path, index=False)
    session = Session(from_file(tables.read(path), path, ["town"], impute="drop"))
    _, (numbers, _) = unpack(overview(session))
    assert sorted(numbers.tolist()) == sorted(set(range(80)) - {0, 3, 7, 9})
    for i in (0, 40, 75):
        facts = dict(row(session, i)["facts"])
        own = int(facts["Row"])
        assert own == numbers[i]
        assert facts["town"] == frame.town[own]
    saved = pd.read_csv(io.BytesIO(embedding_file(session, ControlState(), "csv")))
    assert saved["row"].tolist() == sorted(numbers.tolist())
    assert saved["label_town"].tolist() == frame.town[saved["row"]].tolist()


def mixed_frame(rng, n=80):
    return pd.DataFrame(
        {
            "a": rng.normal(size=n).round(3),
            "b": rng.integers(0, 200, n),
            "colour": rng.choice(["red", "blue"], n),
            "town": rng.choice(["x'", 'y"', "z"], n),
            "price": rng.normal(size=n),
        }
    )


@pytest.mark.parametrize("label", [0, 1])
def test_the_script_of_a_file_runs_alone(rng, tmp_path, monkeypatch, label):
    path = tmp_path / "odd 'name'.csv"
    frame = mixed_frame(rng)
    frame.to_csv(path, index=False)
    session = Session(from_file(tables.read(path), path, ["town", "price"], drop=["b"]))
    assert [one.continuous for one in session.labels] == [False, True]
    view = replace(ControlState(), label=label, method="kspca", features=32, gamma=0.5)
    names = {}
    monkeypatch.chdir(tmp_path.parent)
    exec(script(session.material, view, session.estimator(view)), names)
    Z = session.fit(view).Z
    np.testing.assert_allclose(Z, names["Z"][session.order], atol=1e-6 * np.abs(Z).max())


def test_the_scripts_of_what_is_bundled():
    for make in bundled().values():
        material = make()
        session = Session(material)
        names = {}
        exec(script(material, session.default(), session.estimator(session.default())), names)
        Z = session.fit(session.default()).Z
        np.testing.assert_allclose(Z, names["Z"][session.order], atol=1e-6 * np.abs(Z).max())


KINDS = {
    "frame and names": lambda f: (f, ["town", "price"]),
    "frame and column": lambda f: (f[["a", "b", "colour"]], f["town"]),
    "frame and column, indices that differ": lambda f: (
        f[["a", "b"]].set_index(f.index + 7),
        f.town,
    ),
    "frame and frame": lambda f: (f[["a", "b"]], f[["town", "price"]]),
    "frame and dict": lambda f: (f[["a", "b"]], {"t": f.town.tolist(), "p": f.price.tolist()}),
    "frame and array": lambda f: (f[["a", "b"]], f[["b", "price"]].to_numpy() // 1 % 2),
    "polars and names": lambda f: (polars.DataFrame(f.to_dict("list")), ["town", "price"]),
    "polars and column": lambda f: (polars.DataFrame(f[["a", "b"]].to_dict("list")), f.town),
    "array and dict": lambda f: (f[["a", "b"]].to_numpy(), {"t": f.town, "p": f.price}),
    "array and dict of one": lambda f: (f[["a", "b"]].to_numpy(), {"t": f.town.tolist()}),
    "array and frame of one": lambda f: (f[["a", "b"]].to_numpy(), f[["town"]]),
    "array": lambda f: (f[["a", "b"]].to_numpy(), f["b"].to_numpy() % 3),
    "array and a table of one": lambda f: (f[["a", "b"]].to_numpy(), f[["b"]].to_numpy() % 3),
    "array and two columns": lambda f: (
        f[["a", "b"]].to_numpy(),
        f[["b", "b"]].to_numpy() % [2, 3],
    ),
    "lists": lambda f: (f[["a", "b"]].to_numpy().tolist(), f.town.tolist()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_explore_takes(rng, kind):
    X, y = KINDS[kind](mixed_frame(rng))
    session = Session(from_arrays(X, y))
    for label in range(len(session.labels)):
        view = replace(session.default(), label=label)
        names = {"X": X, "y": y}
        exec(script(session.material, view, session.estimator(view)), names)
        Z = session.fit(view).Z
        np.testing.assert_allclose(Z, names["Z"][session.order], atol=1e-6 * np.abs(Z).max())


def test_text_labels_of_arrays_are_the_classes_of_fit(rng):
    X, y = rng.normal(size=(80, 3)), np.array(["1.5", "2.5", " ", "?"] * 20, dtype=object)
    (label,) = Session(from_arrays(X, y)).labels
    assert not label.continuous
    assert sorted(label.names) == SupervisedPCA().fit(X, y).classes_.tolist()


def test_labels_that_are_also_names_of_columns(rng):
    """Twice the same name cannot be two columns: these are labels."""
    frame = mixed_frame(rng)[["a", "b"]]
    assert list(from_arrays(frame, ["a", "b"] * 40).labels) == ["y"]
    assert list(from_arrays(frame, ["b"]).labels) == ["b"]


def test_pixels_are_kept_in_half_the_memory(rng, tmp_path):
    frame = pd.DataFrame(rng.integers(0, 255, (50, 3)), columns=list("abc")).assign(y=[0, 1] * 25)
    assert from_arrays(frame, "y").X.dtype == np.float32
    assert from_arrays(frame / 3, "y").X.dtype == np.float64
    big = frame.assign(a=frame.a + 1e9)
    assert from_arrays(big, "y").X.dtype == np.float64


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.ones((5, 2)), [0, 1, 0, 1, 0], "5 rows"),
        (np.ones((20, 2)), None, "y is None"),
        (np.full((20, 2), np.nan), [0, 1] * 10, "NaN"),
        (np.ones((20, 2)), [0, 1] * 9, "20"),
        (np.ones((20, 2)), {}, "no columns"),
        (np.ones((20, 2)), ["a"] * 20, "y has a single value, 'a'"),
    ],
)
def test_what_explore_refuses(X, y, words):
    with pytest.raises(ValueError, match=words):
        labelens.explore(X, y)


# Messages ----------------------------------------------------------------------------------------


def test_views_are_read_strictly(digits):
    good = vars(ControlState())
    assert ControlState.read(dict(good), 1) == ControlState()
    bad = [
        ("label", 1), ("label", -1), ("label", True), ("label", 0.0), ("label", "0"),
        ("method", "tsne"), ("method", ["pca"]), ("method", None),
        ("kernel", "callable"), ("gamma", 0), ("gamma", -1.0), ("gamma", float("nan")),
        ("gamma", float("inf")), ("gamma", "scale"), ("gamma", True), ("gamma", 10**400),
        ("components", 0), ("components", 1000), ("components", 2.0),
        ("target_weight", 1.1), ("target_weight", None), ("shrinkage", -0.1),
        ("label_shrinkage", 1.1),
        ("shrinkage", "auto"), ("scale", ""), ("features", 1), ("features", 10**9),
        ("seed", -1), ("seed", 2**32), ("map", 1), ("map", "sphere"), ("detail", 2),
        ("temperature", -1),
    ]  # fmt: skip
    for name, value in bad:
        with pytest.raises(RejectedError, match=name):
            ControlState.read(good | {name: value}, 1)
    for message in (
        None,
        [],
        {},
        good | {"more": 1},
        {k: v for k, v in good.items() if k != "seed"},
    ):
        with pytest.raises(RejectedError):
            ControlState.read(message, 1)


def test_axes_are_read_strictly(digits):
    view = replace(ControlState(), components=3)
    assert read_axes([2, 0], view) == [2, 0]
    assert read_axes([2, 0, 1], view) == [2, 0, 1]
    for bad in ([0], [0, 1, 2, 0], [0, 3], [0, -1], "01", None, [0, True], [0, 1.0]):
        with pytest.raises(RejectedError):
            read_axes(bad, view)
    assert read_axes([0], replace(view, components=1)) == [0]


def test_a_wheel_has_an_anchor_for_every_class(digits):
    view = replace(ControlState(), map="wheel", shrinkage=0.1)
    fit = digits.fit(view)
    assert isinstance(fit.model, Wheel)
    header, _ = unpack(picture(digits, fit, [0, 1], False))
    np.testing.assert_allclose(header["anchors"], fit.model.anchors_)
