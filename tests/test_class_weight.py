"""Rows weighed by their class, against scikit-learn's weights passed as sample weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import recall_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.class_weight import compute_sample_weight

import labelens
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)

MODELS = [
    SupervisedPCA(2),
    SupervisedPCA(2, shrinkage=0.1, target_weight=0.5, scale="standard"),
    SupervisedRandomProjection(2, random_state=0),
    SupervisedRandomProjection(2, label_map="gaussian", random_state=0),
    KernelSupervisedPCA(2, n_random_features=32, random_state=0),
    KernelSupervisedPCA(2, approximation="exact"),
    KernelSupervisedRandomProjection(2, n_random_features=32, shrinkage=0.1, random_state=0),
]
WEIGHTS = ["balanced", {"a": 3.0, "c": 0.5}, {"a": 3, "b": 0, "c": 0.5}]


@pytest.fixture
def uneven(rng):
    """Three classes of 200, 40 and 10 rows."""
    y = np.repeat(["a", "b", "c"], [200, 40, 10])
    centres = dict(zip("abc", rng.normal(size=(3, 5)) * 2, strict=True))
    X = rng.normal(size=(250, 5)) + np.array([centres[label] for label in y])
    order = rng.permutation(250)
    return X[order], y[order]


def sklearn_weights(class_weight, y):
    if isinstance(class_weight, dict):  # what scikit-learn does for classes that are not named
        class_weight = {label: class_weight.get(label, 1.0) for label in np.unique(y)}
    return compute_sample_weight(class_weight, y)


@pytest.mark.parametrize("class_weight", WEIGHTS, ids=str)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_is_scikit_learns_sample_weight(uneven, model, class_weight):
    X, y = uneven
    if class_weight != "balanced" and 0 in class_weight.values():
        model = clone(model).set_params(n_components=1)
    found = clone(model).set_params(class_weight=class_weight).fit(X, y).transform(X)
    truth = clone(model).fit(X, y, sklearn_weights(class_weight, y)).transform(X)
    np.testing.assert_allclose(found, truth, atol=1e-12 * np.abs(truth).max())
    unweighted = clone(model).fit(X, y).transform(X)
    assert np.abs(found - unweighted).max() > 1e-3 * np.abs(unweighted).max()


@pytest.mark.parametrize("class_weight", WEIGHTS[:2], ids=str)
def test_multiplies_sample_weights_which_are_repeated_rows(uneven, rng, class_weight):
    X, y = uneven
    times = rng.integers(0, 4, len(y))
    model = SupervisedPCA(2, class_weight=class_weight, shrinkage=0.1)
    found = clone(model).fit(X, y, sample_weight=times).transform(X)
    truth = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).transform(X)
    np.testing.assert_allclose(found, truth, atol=1e-12 * np.abs(truth).max())


def test_balanced_is_as_if_every_class_had_as_many_rows(uneven):
    X, y = uneven
    times = {"a": 1, "b": 5, "c": 20}
    rows = np.repeat(np.arange(250), [times[label] for label in y])
    truth = SupervisedPCA(2).fit(X[rows], y[rows])
    found = SupervisedPCA(2, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(found.components_, truth.components_, atol=1e-13)


def test_a_class_without_weight_is_not_there(uneven):
    X, y = uneven
    model = SupervisedPCA(1, class_weight="balanced", shrinkage=0.5, target_weight=0.5)
    found = clone(model).fit(X, y, sample_weight=(y != "c") * 1.0)
    truth = clone(model).fit(X[y != "c"], y[y != "c"])
    np.testing.assert_allclose(found.components_, truth.components_, atol=1e-13)
    np.testing.assert_allclose(found.moments_.scatter.weight, (y != "c").sum())


def test_balanced_is_kept_in_a_file(uneven, tmp_path):
    X, y = uneven
    model = SupervisedPCA(2, class_weight="balanced").fit(X, y)
    labelens.save(model, tmp_path / "model.labelens", moments=True)
    loaded = labelens.load(tmp_path / "model.labelens")
    assert loaded.class_weight == "balanced"
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_rows_without_a_label_weigh_one(uneven):
    X, y = uneven
    hidden = np.where(np.arange(250) % 3 == 0, "?", y)
    known = hidden != "?"
    weight = np.ones(250)
    weight[known] = compute_sample_weight("balanced", hidden[known])
    model = SupervisedPCA(2, missing_label="?", target_weight=0.5)
    truth = clone(model).fit(X, hidden, weight).components_
    found = clone(model).set_params(class_weight="balanced").fit(X, hidden).components_
    np.testing.assert_allclose(found, truth, atol=1e-13)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_dict_streams_and_merges(uneven, model):
    X, y = uneven
    model = clone(model).set_params(class_weight={"a": 0.25, "c": 7.0})
    if "gamma" in model.get_params():
        model.set_params(gamma=0.1)
    if model.scale is not None or model.target_weight < 1:
        model.set_params(scale=None, target_weight=1.0)
    whole = clone(model).fit(X, y).transform(X)
    parts = clone(model).partial_fit(X[:90], y[:90]).partial_fit(X[90:], y[90:])
    np.testing.assert_allclose(parts.transform(X), whole, atol=1e-10)
    merged = clone(model).fit(X[:90], y[:90]).merge(clone(model).fit(X[90:], y[90:]))
    np.testing.assert_allclose(merged.transform(X), whole, atol=1e-10)


def test_balanced_neither_streams_nor_merges(uneven):
    X, y = uneven
    model = SupervisedPCA(2, class_weight="balanced")
    with pytest.raises(ValueError, match=r"partial_fit cannot know .* Pass a dict"):
        clone(model).partial_fit(X, y)
    with pytest.raises(ValueError, match="both need the same dict"):
        clone(model).fit(X, y).merge(clone(model).fit(X, y))
    weighed = SupervisedPCA(2, class_weight={"a": 2.0}).fit(X, y)
    with pytest.raises(ValueError, match=r"class_weight is {'a': 2.0} and None"):
        weighed.merge(SupervisedPCA(2).fit(X, y))
    with pytest.raises(ValueError, match=r"class_weight was .* call fit"):
        weighed.set_params(class_weight={"a": 3.0}).partial_fit(X, y)
    weighed.set_params(class_weight={"a": 2.0}).partial_fit(X, y)  # equal, though not the same


@pytest.mark.parametrize(
    ("class_weight", "labels", "error", "words"),
    [
        ("even", None, ValueError, "class_weight must be one of None, 'balanced' or a dict"),
        ({"a": -1}, None, ValueError, r"class_weight\['a'\] must be a number >= 0"),
        ({"a": np.nan}, None, ValueError, r"class_weight\['a'\] must be a number"),
        ({"A": 2.0}, None, ValueError, "'A', which is not a class of y, and does not have 'a'"),
        ({0: 2.0}, None, TypeError, r"has 0 \(number\), and the classes of y are of type str"),
        (dict.fromkeys("abc", 0), None, ValueError, "leaves no row any weight"),
        ("balanced", lambda y: np.arange(250) + 0.5, ValueError, "y is continuous; weigh its rows"),
        ("balanced", lambda y: np.c_[y == "a", y == "b"] * 1, ValueError, "has several columns"),
        ("balanced", lambda y: np.c_[y, y], ValueError, "has several columns"),
    ],
)
def test_refusals(uneven, class_weight, labels, error, words):
    X, y = uneven
    with pytest.raises(error, match=words):
        SupervisedPCA(1, class_weight=class_weight).fit(X, y if labels is None else labels(y))


def test_refuses_no_labels_at_all(uneven):
    with pytest.raises(ValueError, match="there is no y"):
        SupervisedPCA(1, class_weight="balanced").fit(uneven[0])


def test_a_class_without_rows_is_no_mistake(uneven):
    X, y = uneven
    weights = dict(a=1.0, b=2.0, c=3.0, d=4.0)
    found = SupervisedPCA(2, class_weight=weights).fit(X, y).components_
    truth = SupervisedPCA(2).fit(X, y, pd.Series(y).map(weights)).components_
    np.testing.assert_allclose(found, truth, atol=1e-13)


def test_balanced_finds_the_direction_of_a_rare_class(rng):
    """A class of 2 % apart in one column, two large ones apart in another: k = 1 must choose."""
    y = rng.choice(3, 3000, p=[0.49, 0.49, 0.02])
    X = rng.normal(size=(3000, 6))
    X[:, 0] += 1.0 * (y == 1)
    X[:, 1] += 4.0 * (y == 2)
    train = np.arange(3000) < 2000
    recall = {}
    for class_weight in (None, "balanced"):
        model = SupervisedPCA(1, class_weight=class_weight).fit(X[train], y[train])
        Z = model.transform(X)
        found = KNeighborsClassifier(15).fit(Z[train], y[train]).predict(Z[~train])
        recall[class_weight] = recall_score(y[~train], found, labels=[2], average="macro")
    assert recall[None] < 0.2
    assert recall["balanced"] > 0.7
