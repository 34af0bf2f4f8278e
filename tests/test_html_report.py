"""The page about one embedding: what it says, that text stays text, and that it is sealed."""

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

import report_contents as make
from conftest import read_only
from labelens import Atlas, KernelSupervisedPCA, SupervisedPCA
from labelens._base.page import plain
from labelens.report import write_report
from labelens.report.colouring import (
    FAMILIES,
    MOST_GROUPS,
    OTHER,
    families,
    read_colouring,
    read_column,
    stratified,
)  # fmt: skip
from labelens.report.columns import as_text, words_of
from labelens.report.evidence import advice, interpret, interval
from labelens.report.page import embed
from labelens.report.scatter import narrowest


class Page(HTMLParser):
    """Elements with their attributes, and the text outside scripts and styles."""

    def __init__(self, markup):
        super().__init__()
        self.elements, self.words, self.raw = [], [], {}
        self.inside = None
        self.feed(markup)
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self.inside = (tag, dict(attributes).get("id"))

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.inside = None

    def handle_data(self, data):
        if self.inside is None:
            self.words.append(data)
        else:
            self.raw.setdefault(self.inside, []).append(data)

    def spec(self):
        return json.loads("".join(self.raw["script", "spec"]))


def page_of(tmp_path, contents):
    path = tmp_path / "report.html"
    write_report(path, contents)
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    path = tmp_path_factory.mktemp("digits") / "report.html"
    contents = make.make_contents()
    write_report(path, contents)
    return contents, path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    write_report(path, make.make_hostile())
    return path.read_text(encoding="utf-8")


def unpack(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), dtype="<" + packed["type"])


def test_data_arrive_as_they_were(digits):
    contents, markup = digits
    spec = Page(markup).spec()
    assert len(spec["components"]) == 5
    rows, trained = unpack(spec["rows"]), spec["trained"]
    assert not contents.test[rows[:trained]].any()
    assert contents.test[rows[trained:]].all()
    assert sorted(rows) == list(range(len(contents.Z)))
    for j, packed in enumerate(spec["components"]):
        np.testing.assert_array_equal(unpack(packed), contents.Z[rows, j].astype(np.float32))
    label, pixel, _ = spec["columns"]
    names = np.array(label["names"])[unpack(label["values"])]
    np.testing.assert_array_equal(names, contents.labels["digit"].values[rows].astype(str))
    np.testing.assert_array_equal(unpack(pixel["values"]), contents.hover["pixel 20"][rows])


def test_everything_is_on_the_page(digits):
    contents, markup = digits
    page = Page(markup)
    for text in (contents.title, contents.command, *contents.notes, "SupervisedPCA", "0.985"):
        assert text in page.text
    headings = [tag for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == "h1"
    assert headings.count("h1") == 1
    assert ("html", {"lang": "en"}) in page.elements
    labelled = [a for tag, a in page.elements if tag == "svg" and a.get("role") == "img"]
    assert len(labelled) == 2
    assert all(a["aria-label"] for a in labelled)


def test_nothing_is_loaded_from_outside(digits):
    page = Page(digits[1])
    for tag, attributes in page.elements:
        assert not {"src", "srcset", "srcdoc", "data", "action", "poster"} & set(attributes), tag
        assert tag not in ("link", "base", "iframe", "object", "embed", "img")
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "#").startswith("#")
    styles = "".join(page.raw["style", None])
    assert "url(" not in styles
    assert "@import" not in styles
    [policy] = [a["content"] for _, a in page.elements if "http-equiv" in a]
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    scripts = policy.partition("script-src")[2].partition(";")[0]
    assert "unsafe-inline" not in scripts
    assert "http" not in policy
    assert "*" not in policy


def test_every_label_has_its_place(tmp_path):
    contents = make.make_several()
    page = page_of(tmp_path, contents)
    digits, sizes = page.spec()["columns"][:2]
    assert (digits["name"], sizes["name"]) == ("digit", make.HOSTILE[3])
    shown = np.array(sizes["names"])[unpack(sizes["values"])]
    rows = unpack(page.spec()["rows"])
    np.testing.assert_array_equal(shown, contents.labels[make.HOSTILE[3]].values[rows])
    for text in (
        "Held-out 1-NN accuracy, mean of 2 labels",
        "Of 525 held-out rows",
        "“small” predicted as “<b>large</b>” (60)",
        "worse than the raw columns",
        f"Where the classes of {make.HOSTILE[3]} lie",
    ):
        assert text in page.text
    assert [a["value"] for tag, a in page.elements if tag == "option"][:2] == ["0", "1"]
    regions = [a["aria-label"] for _, a in page.elements if a.get("role") == "region"]
    assert len(regions) == len(set(regions))
    assert "img" not in {tag for tag, _ in page.elements}


def test_same_contents_same_bytes(tmp_path):
    pages = []
    for name in ("a.html", "b.html"):
        write_report(tmp_path / name, make.make_contents())
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_hostile_text_is_text(hostile, digits):
    page, harmless = Page(hostile), Page(digits[1])
    kinds = {tag for tag, _ in page.elements}
    assert kinds <= {tag for tag, _ in harmless.elements}
    assert sum(tag == "script" for tag, _ in page.elements) == 2
    assert sum(tag == "style" for tag, _ in page.elements) == 1
    assert not [a for _, a in page.elements for name in a if name.startswith("on")]
    for text in make.HOSTILE:
        shown = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
        assert " ".join(shown.split()) in page.text, text
    assert set(page.spec()["columns"][0]["names"]) == set(make.HOSTILE)


def test_json_cannot_leave_its_element():
    text = embed(make.HOSTILE)
    assert not set("<>&\u2028\u2029\x00") & set(text)
    assert json.loads(text) == make.HOSTILE


def test_a_sample_is_stratified_and_keeps_every_class():
    codes = np.repeat([0, 1, 2, 3], [60_000, 30_000, 9_999, 1])
    rows = stratified(codes, limit=1000)
    assert len(rows) == 1000 == len(set(rows.tolist()))
    assert (np.diff(rows) > 0).all()
    np.testing.assert_allclose(np.bincount(codes[rows]), [600, 300, 100, 1], atol=2)
    np.testing.assert_array_equal(rows, stratified(codes, limit=1000))
    np.testing.assert_array_equal(stratified(codes[:50], limit=50), np.arange(50))


@pytest.mark.parametrize("limit", [3, 7, 50, 99])
def test_a_sample_has_the_size_asked_for(limit, rng):
    codes = rng.integers(6, size=100)
    rows = stratified(codes, limit)
    assert len(rows) == limit
    if limit >= 6:
        assert set(codes[rows]) == set(codes)


def test_a_sample_is_told_with_its_numbers(tmp_path):
    page = page_of(tmp_path, make.make_large(n=200_300))
    assert "a sample of 200,000 of 200,300 rows" in page.text
    spec = page.spec()
    rows = unpack(spec["rows"])
    assert len(rows) == 200_000
    assert rows.max() > 200_000
    assert len(np.unique(unpack(spec["columns"][0]["values"]))) == 40


def test_many_classes_share_a_group(tmp_path):
    contents = make.make_many_classes(c=300, n=2000)
    page = page_of(tmp_path, contents)
    [spec] = page.spec()["columns"]
    assert (len(spec["shown"]), spec["other"]) == (MOST_GROUPS, OTHER)
    assert sorted(set(spec["families"])) == list(range(FAMILIES))
    assert len(spec["families"]) == 300
    assert len(spec["names"]) == 300
    assert "The 300 classes have colours in 16 families" in page.text
    assert "60 most confused of 300 classes" in page.text


def test_families_are_of_close_classes(rng):
    """Forty classes around sixteen places: those of one place are one family."""
    place = np.arange(40) % 16
    rows = 20 * np.eye(16)[place] + 0.1 * rng.normal(size=(40, 16))
    codes = np.repeat(np.arange(40), 5)
    found = families(codes, np.repeat(rows, 5, axis=0) + rng.normal(size=(200, 16)), 41)
    pairs = {(p, f) for p, f in zip(place, found, strict=False)}
    assert len(pairs) == len({f for _, f in pairs}) == 16
    assert np.bincount(found[:40]).argmax() == 0


def read_classes(values):
    return read_colouring("y", values, continuous=False)


def test_classes_in_the_order_people_expect():
    assert read_classes([10, 9, 100]).names == ["9", "10", "100"]
    assert read_classes(np.array(["10", "b", "9", "a"])).names == ["9", "10", "a", "b"]
    assert read_classes(["x", None, float("nan")]).names == ["(missing)", "x"]
    classes = read_classes(np.array([2.5, np.nan, 2.5]))
    assert [classes.names[c] for c in classes.codes] == ["2.5", "(missing)", "2.5"]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1, 2.5, float("nan")], None),
        ([1, "a", None], ["1", "a", "(missing)"]),
        ([2**60, 1, 2], [str(2**60), "1", "2"]),
        ([True, False, True], ["True", "False", "True"]),
        ([[1], [1, 2], []], ["[1]", "[1, 2]", "[]"]),
        (pd.Series(["a", pd.NA, "b"]), ["a", "(missing)", "b"]),
        (pd.to_datetime(pd.Series(["2024-01-02", None, "2024-01-03"])), None),
        (pd.Categorical(["u", "v", "u"]), ["u", "v", "u"]),
        (np.array([b"x", b"y", b"z"]), ["b'x'", "b'y'", "b'z'"]),
    ],
)
def test_columns_of_any_type(values, shown):
    column = read_column("name", values)
    json.dumps(column.head())
    if shown is not None:
        assert sorted(column.names[c] for c in column.codes) == sorted(shown)
        assert [column.names[c] for c in column.codes] == shown


def test_values_keep_what_a_reader_sees():
    whole = np.array([2.0**30 + 1, np.nan, 3])
    np.testing.assert_array_equal(narrowest(whole), whole)
    assert narrowest(np.array([0.1, 2.5, np.nan])).dtype == np.float32
    assert narrowest(np.array([0.1, 1e300])).dtype == np.float64
    assert narrowest(np.array([0, 7])).dtype == np.uint8


def test_a_page_of_many_rows_is_light(tmp_path):
    """10,000 rows, 16 components and 8 columns beside them: below 1.5 MB."""
    rng = np.random.default_rng(0)
    n = 10_000
    path = tmp_path / "report.html"
    contents = make.make_contents(
        Z=rng.normal(size=(n, 16)), test=rng.random(n) < 0.3, labels=rng.integers(10, size=n),
        hover={f"column {j}": rng.normal(size=n) for j in range(8)},
    )  # fmt: skip
    write_report(path, contents)
    assert path.stat().st_size < 1.5e6


def test_long_values_are_cut():
    assert as_text("x" * 300, 200) == "x" * 200 + "…"
    assert words_of(["a", "b", "a"])[0] == ["a", "b"]


BASE = dict(
    heldout=0.9, train=0.92, raw=0.9, majority=0.2, shuffled=0.15, metric="1-NN accuracy"
)  # fmt: skip


R2 = {"metric": "k-NN R^2", "majority": None}


@pytest.mark.parametrize(
    ("changes", "n", "grade", "words"),
    [
        ({}, 500, "Strong", "about as good as the raw columns (0.900)."),
        ({"heldout": 0.827, "raw": 0.923}, 52, "Strong", "this is a tie"),
        (R2 | {"heldout": 0.6, "raw": 0.6}, 90, "Moderate", "this is a tie"),
        (R2 | {"heldout": 0.6, "raw": 0.6}, 9000, "Moderate", "about as good"),
        ({"heldout": 0.16}, 500, "Chance", "no better than chance"),
        ({"heldout": 0.4, "shuffled": 0.3, "majority": 0.1}, 20, "Chance", "shuffled labels 0.300"),
        ({"heldout": 0.4, "shuffled": 0.3, "raw": 0.4}, 5000, "Weak", "about as good"),
        ({"heldout": 0.6, "train": 0.6}, 500, "Moderate", "worse than the raw columns"),
        ({"heldout": 0.9, "majority": 0.9}, 500, "Chance", "largest class 0.900"),
        ({"raw": 0.5}, 500, "Strong", "better than the raw columns"),
        ({"raw": None}, 500, "Strong", "(95 % interval 0.871 to 0.923), largest class 0.200."),
        ({"heldout": 0.6, "train": 1.0}, 500, "Moderate", "a sign of overfitting"),
        ({"heldout": None}, 0, "Not measured", "No rows were held out"),
        ({"shuffled": None}, 500, "Strong", "shuffled labels were not tried"),
        ({"heldout": 0.712, "majority": 0.538, "shuffled": 0.519}, 52, "Moderate", "0.578 to"),
        ({"heldout": 0.65, "majority": 0.538, "shuffled": 0.519}, 52, "Chance", "0.538."),
        (R2 | {"heldout": 0.03, "shuffled": -1}, 9, "Chance", "R² of the mean 0.000"),
        (R2 | {"heldout": 0.6, "raw": 0.3}, 90, "Moderate", "better than the raw columns"),
    ],
)
def test_the_grade_follows_the_rule(changes, n, grade, words):
    verdict = interpret(BASE | changes, n)
    assert verdict.grade == grade
    assert words in verdict.sentence
    assert verdict.sentence.endswith(".")
    assert "columns do not" not in verdict.sentence


def test_shuffled_labels_are_shown_beside(tmp_path):
    contents = make.make_contents()
    Z = contents.Z.copy()
    Z[:100] = np.nan  # rows without a place
    control = Z[:, ::-1], contents.labels["digit"].values[::-1]
    page = page_of(tmp_path, make.make_contents(Z=Z, control=control))
    assert any(a.get("src", "").startswith("data:image/png") for _, a in page.elements)
    with pytest.raises(ValueError, match="control has shape"):
        make.make_contents(control=(Z[1:], control[1]))


def test_intervals_hold_what_they_promise(rng):
    """Of accuracies and of squared correlations, about 95 of 100 intervals hold the truth."""
    truth, n, inside = 0.8, 60, 0
    for score in rng.binomial(n, truth, 2000) / n:
        low, high = interval({"metric": "1-NN accuracy", "heldout": score}, n)
        inside += low <= truth <= high
    assert 0.93 < inside / 2000 < 0.98
    inside = 0
    for _ in range(2000):
        x = rng.normal(size=n)
        y = 0.8 * x + 0.6 * rng.normal(size=n)
        low, high = interval(R2 | {"heldout": np.corrcoef(x, y)[0, 1] ** 2}, n)
        inside += low <= 0.64 <= high
    assert 0.92 < inside / 2000 < 0.98


def test_the_next_thing_to_try():
    linear, kernel = SupervisedPCA(), KernelSupervisedPCA()
    assert "--method kspca" in advice("Chance", linear)
    assert "--method kspca" in advice("Chance", Atlas(linear))
    assert "--shrinkage 0.01" in advice("Moderate", kernel)
    fitted = Atlas()
    fitted.estimator_ = KernelSupervisedPCA(shrinkage=0.001)
    assert "--gamma auto" in advice("Weak", fitted)
    assert "Cross-validation chose" in advice("Moderate", fitted, chosen=True)
    assert advice("Strong", linear) == advice("Not measured", linear, chosen=True) == ""


def test_missing_parts_are_told(tmp_path):
    class Model:
        pass

    scores = dict.fromkeys(BASE) | {"metric": "1-NN accuracy"}
    page = page_of(
        tmp_path,
        make.make_contents(
            model=Model(), scores=scores, confusion=None, gamma_curve=None, notes=(), hover={}
        ),
    )
    for told in (
        "has no components_",
        "There are no held-out predictions",
        "Not measured: held-out rows, training rows, raw columns, largest class",
        "not measured",
    ):
        assert told in page.text
    ids = {about.get("id") for _, about in page.elements}
    assert "loadings" in ids
    assert not {"scree", "gamma", "checks", "control"} & ids


def test_an_atlas_has_its_discs(tmp_path):
    X, y = load_digits(return_X_y=True)
    y = y + 5  # names go by their numbers: 9 before 10
    model = Atlas(SupervisedPCA(shrinkage=0.1), detail=0.5, random_state=0).fit(X[:900], y[:900])
    contents = make.make_contents(model=model, Z=model.transform(X), labels=y.astype(str))
    page = page_of(tmp_path, contents)
    assert page.spec()["columns"][0]["names"] == [str(c) for c in range(5, 15)]
    np.testing.assert_allclose(np.array(page.spec()["discs"])[:, :2], model.anchors_)
    np.testing.assert_allclose(np.array(page.spec()["discs"])[:, 2], model.radii_ / 2)
    assert "the axes have no meaning" in page.text
    assert page_of(tmp_path, make.make_contents()).spec()["discs"] == []


def test_continuous_labels_and_kernels(tmp_path):
    contents = make.make_continuous()
    [(name, label)] = contents.labels.items()
    values = label.values.copy()
    values[:3] = np.nan
    page = page_of(tmp_path, replace(contents, labels={name: replace(label, values=values)}))
    assert "A kernel method has weights of its kernel features" in page.text
    assert "confusion" not in {about.get("id") for _, about in page.elements}
    assert "Largest class" not in page.text
    assert np.isnan(unpack(page.spec()["columns"][0]["values"])).sum() == 3


def test_odd_embeddings(tmp_path):
    contents = make.make_contents()
    Z = contents.Z.copy()
    Z[5] = np.nan
    Z[6] = 1e300
    page = page_of(tmp_path, make.make_contents(Z=Z))
    assert "Rows without finite coordinates are not drawn: 2." in page.text
    page = page_of(tmp_path, make.make_contents(Z=np.full_like(Z, np.nan)))
    assert "No row has finite coordinates" in page.text
    wide = np.tile(contents.Z, (1, 20))
    page = page_of(tmp_path, make.make_contents(Z=wide))
    assert "The first 50 of 100 components" in page.text
    page = page_of(tmp_path, make.make_contents(gamma_curve=dict(
        gammas=[0.1], mean=[0.5], std=[0.0], shuffled_mean=[0.5])))  # fmt: skip
    assert "at gamma = 0.1" in page.text
    with pytest.warns(UserWarning, match="carry information"):
        model = SupervisedPCA(3).fit(np.eye(4), [0, 0, 1, 1])
    assert "no information on labels" in page_of(tmp_path, make.make_contents(model=model)).text


def test_nothing_given_is_changed(tmp_path):
    contents = make.make_contents()
    counts = contents.labels["digit"].confusion[1]
    read_only(contents.Z, contents.test, contents.hover["pixel 20"], counts)
    write_report(tmp_path / "new" / "report.html", contents)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Z": np.zeros(3)}, r"shape \(rows, components\)"),
        ({"labels": [1, 2]}, "label 'digit' has 2 values, but Z has 1797 rows"),
        ({"hover": {"age": [1]}}, "hover column 'age' has 1 values"),
        ({"hover": {str(i): np.zeros(1797) for i in range(9)}}, "at most 8"),
        ({"test": np.zeros(1797)}, "must be booleans"),
        ({"scores": {"heldout": 1.0}}, "exactly these keys: heldout, train"),
        ({"scores": BASE | {"metric": "F1"}}, "The metric 'F1' is none of"),
        ({"confusion": (["a"], np.zeros((2, 2)))}, "1 class names, but counts of shape"),
        ({"gamma_curve": {"gammas": [1]}}, "gamma_curve must have exactly these keys"),
        ({"continuous": True, "labels": ["a"] * 1797}, "labels must be numbers"),
    ],
)
def test_bad_contents(changes, message):
    with pytest.raises(ValueError, match=message):
        make.make_contents(**changes)


def test_bad_labels():
    contents = make.make_contents()
    with pytest.raises(ValueError, match="labels is empty"):
        replace(contents, labels={})
    label = contents.labels["digit"]
    other = replace(label, scores=dict(label.scores) | {"metric": "k-NN R^2"})
    with pytest.raises(ValueError, match="different metrics"):
        replace(contents, labels={"a": label, "b": other})


def test_a_failed_write_leaves_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("labelens._base.files.os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(path, make.make_contents())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_numbers_have_the_digits_that_people_read():
    assert plain({"score": 0.7307692307692307, "gamma": 1e-10}) == "score 0.730769, gamma 1e-10"
    assert plain([-0.0, True, 3]) == "0, yes, 3"
