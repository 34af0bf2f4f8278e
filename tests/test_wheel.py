"""The wheel: anchors, places, and what they are worth on held-out rows."""

import datetime
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelens._judge.wheel
from conftest import read_only
from labelens import KernelSupervisedPCA, SupervisedPCA, Wheel, knn_score
from labelens._judge.wheel import _anchors
from labelens.label_kernels.base import plain

LINEAR = SupervisedPCA(shrinkage=1e-3, scale="minmax")


@parametrize_with_checks([Wheel()])
@pytest.mark.filterwarnings("ignore:Only . of the . components:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = read_only(*load_digits(return_X_y=True))
    return train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)


def held_out(model, X_train, X_test, y_train, y_test):
    model.fit(X_train, y_train)
    return knn_score(model.transform(X_train), y_train, model.transform(X_test), y_test)


def test_ten_classes_in_two_dimensions(digits):
    plain = held_out(SupervisedPCA(2, scale="minmax"), *digits)
    kernel = held_out(KernelSupervisedPCA(2, scale="minmax", random_state=0), *digits)
    # Measured: 0.583, 0.619, 0.946, 0.967.
    assert max(plain, kernel) < 0.7
    assert held_out(Wheel(LINEAR), *digits) > 0.92
    assert held_out(Wheel(random_state=0), *digits) > 0.95


def test_shuffled_labels_show_nothing(digits, rng):
    X_train, X_test, y_train, y_test = digits
    shuffled = rng.permutation(y_train)
    assert held_out(Wheel(random_state=0), X_train, X_test, shuffled, y_test) < 0.2


def test_anchors_are_on_the_circle_and_rows_within(digits):
    X_train, X_test, y_train, _ = digits
    wheel = Wheel(random_state=0).fit(X_train, y_train)
    np.testing.assert_allclose(np.linalg.norm(wheel.anchors_, axis=1), 1)
    np.testing.assert_allclose(wheel.anchors_[0], [-1, 0], atol=1e-15)
    angles = np.sort(np.arctan2(*wheel.anchors_.T))
    np.testing.assert_allclose(np.diff(angles), 2 * np.pi / 10)
    assert (np.linalg.norm(wheel.transform(X_test), axis=1) <= 1 + 1e-12).all()
    assert list(wheel.get_feature_names_out()) == ["wheel0", "wheel1"]


def test_the_same_every_time_and_in_any_batch(digits):
    X_train, X_test, y_train, _ = digits
    wheel = Wheel(random_state=3).fit(X_train, y_train)
    placed = wheel.transform(X_test)
    again = Wheel(random_state=3).fit(X_train, y_train)
    np.testing.assert_array_equal(again.transform(X_test), placed)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(wheel)).transform(X_test), placed)
    batches = [wheel.transform(X_test[i : i + 7]) for i in range(0, len(X_test), 7)]
    np.testing.assert_allclose(np.concatenate(batches), placed, atol=1e-9)


def test_training_rows_are_as_sure_as_they_are_right(rng):
    y = np.arange(900) % 3
    X = rng.normal(size=(900, 2)) + 1.5 * np.eye(3, 2)[y]
    wheel = Wheel(SupervisedPCA()).fit(X, y)
    # In the plane of three anchors the probabilities can be read off the places.
    corners = np.vstack([wheel.anchors_.T, np.ones(3)])
    points = wheel.transform(X)
    probability = np.linalg.solve(corners, np.column_stack([points, np.ones(900)]).T)
    accuracy = (probability.argmax(axis=0) == y).mean()
    assert 0.5 < accuracy < 0.9
    assert probability.max(axis=0).mean() == pytest.approx(accuracy, abs=1e-6)


def test_temperature_by_hand(data):
    X, y = data
    cold, hot = (Wheel(LINEAR, temperature=t).fit(X, y) for t in (1e-6, 1e9))
    assert cold.temperature_ == 1e-6
    np.testing.assert_allclose(np.linalg.norm(cold.transform(X), axis=1), 1)
    np.testing.assert_allclose(hot.transform(X), 0, atol=1e-6)


def test_confused_classes_are_side_by_side():
    truth = np.random.default_rng(0).permutation(30)  # the hidden order around a circle
    place = np.argsort(truth)
    hops = np.abs(place[:, None] - place)
    anchors = _anchors(np.exp(-np.minimum(hops, 30 - hops) / 3.0))
    found = np.argsort(-np.arctan2(anchors[:, 1], anchors[:, 0]))
    steps = np.abs(np.diff(place[found], append=place[found[0]]))
    assert set(np.minimum(steps, 30 - steps)) == {1}


def test_classes_in_turn_are_all_looked_at(rng, monkeypatch):
    """Of many rows some are enough, but not those of every fourth class alone."""
    hidden, y = rng.permutation(8), np.arange(4000) % 8
    angle = 2 * np.pi * hidden[y] / 8
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(size=(4000, 2)) / 2
    monkeypatch.setattr(labelens._judge.wheel, "BLOCK_NUMBERS", 4000 * 8 // 4)
    anchors = Wheel(SupervisedPCA()).fit(X, y).anchors_
    found = hidden[np.argsort(-np.arctan2(anchors[:, 1], anchors[:, 0]))]
    assert set(np.abs(np.diff(found, append=found[0]))) == {1, 7}


@pytest.mark.parametrize("c", [2, 3, 4])
def test_few_classes(rng, c):
    y = np.arange(60) % c
    wheel = Wheel(LINEAR).fit(rng.normal(size=(60, 5)) + 3 * np.eye(4, 5)[y], y)
    np.testing.assert_allclose(wheel.anchors_.sum(axis=0), 0, atol=1e-15)


LABELS = {
    "int": [3, -1, 7],
    "str": ["b", "", "<a>"],
    "bytes": [b"x", b"y", b"z"],
    "bool": [True, False, True],
    "whole float": [1.0, 2.0, 5.0],
    "date": [datetime.date(2024, m, 1) for m in (1, 2, 3)],
    "datetime64": list(np.array(["2024-01", "2024-02", "2025-01"], dtype="datetime64[M]")),
    "tuple": [("a", 1), ("b", 2), ("c", 3)],
    "large int": [2**70, 2**71, 5],
}


@pytest.mark.parametrize("kind", LABELS)
def test_every_type_of_label(data, kind):
    X, codes = data
    y = np.empty(len(codes), dtype=object)
    y[:] = [LABELS[kind][code] for code in codes]
    if kind == "datetime64":
        y = np.array(LABELS[kind])[codes]
    wheel = Wheel(LINEAR).fit(X, y)
    assert set(wheel.classes_.tolist()) == set(map(plain, LABELS[kind]))
    points = wheel.transform(X)
    own = wheel.anchors_[[wheel.classes_.tolist().index(label) for label in list(y)]]
    assert np.linalg.norm(points - own, axis=1).mean() < 1


def test_other_embeddings(digits):
    pipe = make_pipeline(StandardScaler(), PCA(20))
    assert held_out(Wheel(pipe), *digits) > 0.85
    assert pipe.steps[1][1].n_components == 20
    model = Wheel(PCA(2)).fit(digits[0], digits[2])
    assert model.estimator_.n_components_ == 9


def test_sparse_rows(digits):
    X_train, X_test, y_train, _ = digits
    dense = Wheel(random_state=0).fit(X_train, y_train).transform(X_test)
    wheel = Wheel(random_state=0).fit(sparse.csr_array(X_train), y_train)
    np.testing.assert_allclose(wheel.transform(sparse.csr_array(X_test)), dense, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Only 0 of the 2 components:UserWarning")
def test_rows_that_say_nothing_lie_in_the_middle():
    X = np.ones((30, 4))
    np.testing.assert_allclose(Wheel().fit(X, np.arange(30) % 3).transform(X), 0, atol=1e-15)


def test_errors(data):
    X, y = data
    with pytest.raises(ValueError, match="cut it into bins"):
        Wheel().fit(X, y + 0.5)
    with pytest.raises(ValueError, match="several columns"):
        Wheel().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="one class only, 1"):
        Wheel().fit(X, np.ones(90, dtype=int))
    with pytest.raises(ValueError, match="temperature must be"):
        Wheel(temperature="cold").fit(X, y)
    with pytest.raises(ValueError, match="temperature must be"):
        Wheel(temperature=0.0).fit(X, y)
