"""What a held-out part says of an embedding."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelens import Atlas, KernelSupervisedPCA, SupervisedPCA, knn_score
from labelens._fit.task import is_continuous
from labelens._judge.trial import held_out, try_out

LINEAR = SupervisedPCA(2)


def test_digits_are_told_apart_and_shuffled_ones_are_not():
    X, y = load_digits(return_X_y=True)
    trial = try_out(KernelSupervisedPCA(9, shrinkage=0.01, random_state=0), X, y, 0)
    [judgement] = trial.each
    scores = judgement.scores
    assert scores.metric == "1-NN accuracy"
    assert scores.heldout > 0.95
    assert scores.raw > 0.95
    assert 0.05 < scores.shuffled < 0.2
    assert 0.08 < scores.majority < 0.12
    names, counts = judgement.confusion
    assert names == list(range(10))
    assert counts.sum() == trial.test.sum() == 450
    assert np.trace(counts) / counts.sum() == pytest.approx(scores.heldout)


def test_noise_looks_good_on_the_fitted_rows_only(rng):
    """The point of it all: 200 columns of noise, 60 rows, five classes."""
    X, y = rng.normal(size=(60, 200)), np.arange(60) % 5
    scores = try_out(SupervisedPCA(4), X, y, 0).each[0].scores
    assert scores.train > 0.9
    assert scores.heldout < 0.5


def test_the_model_has_not_seen_the_held_out_labels(rng):
    X, y = rng.normal(size=(80, 5)), np.arange(80) % 2
    trial = try_out(SupervisedPCA(1), X, y, 3)
    again = SupervisedPCA(1).fit(X[~trial.test], y[~trial.test])
    np.testing.assert_array_equal(trial.model.components_, again.components_)
    np.testing.assert_array_equal(trial.fitted, again.transform(X))
    np.testing.assert_array_equal(trial.Z[trial.test], trial.fitted[trial.test])


@pytest.mark.parametrize("model", [SupervisedPCA(4), Atlas(LINEAR, random_state=0)])
def test_places_come_from_models_that_have_not_seen_the_label(rng, model):
    X, y = rng.normal(size=(200, 150)), np.arange(200) % 5
    trial = try_out(model, X, y, 0)
    train = ~trial.test

    def separated(Z):
        labels = y[train]
        return knn_score(Z[train][::2], labels[::2], Z[train][1::2], labels[1::2])

    assert separated(trial.fitted) > separated(trial.Z) + 0.2
    assert separated(trial.Z) < 0.4
    places, mixed = trial.control
    assert sorted(mixed) == sorted(y)
    assert np.isfinite(places[trial.test]).all()
    assert np.isfinite(places[train]).all() == isinstance(model, Atlas)


def test_of_many_training_rows_some_are_placed(rng, monkeypatch):
    monkeypatch.setattr("labelens._judge.classes.FEW_ROWS", 100)
    X, y = rng.normal(size=(400, 3)), np.arange(400) % 2
    trial = try_out(SupervisedPCA(1), X, y, 0)
    placed = np.isfinite(trial.Z).all(axis=1)
    assert placed[trial.test].all()
    assert placed[~trial.test].sum() == 60


def test_numbers_are_scored_by_r2(rng):
    X = rng.normal(size=(400, 3))
    y = X @ [1.0, 2.0, 0.0] + 0.01 * rng.normal(size=400)
    trial = try_out(SupervisedPCA(1), X, y, 0)
    assert trial.continuous
    [judgement] = trial.each
    assert judgement.scores.metric == "k-NN R^2"
    assert judgement.scores.heldout > 0.95
    assert judgement.scores.shuffled < 0.2
    assert judgement.scores.majority is None
    assert judgement.confusion is None


def test_scores_are_those_of_scikit_learn(rng):
    X = rng.normal(size=(300, 6))
    for y, rival in (
        (X[:, 0] + 0.3 * rng.normal(size=300), KNeighborsRegressor(5)),
        ((X[:, 0] > 0) + 2 * (X[:, 1] > 0), KNeighborsClassifier(1)),
    ):
        trial = try_out(SupervisedPCA(2, scale="standard"), X, y, 1)
        test, Z = trial.test, trial.fitted
        raw = make_pipeline(StandardScaler(), rival).fit(X[~test], y[~test]).score(X[test], y[test])
        heldout = rival.fit(Z[~test], y[~test]).score(Z[test], y[test])
        scores = trial.each[0].scores
        assert (scores.heldout, scores.raw) == (pytest.approx(heldout), pytest.approx(raw))


def test_every_column_of_labels_is_judged_by_itself(rng):
    X = rng.normal(size=(400, 3))
    numbers = np.column_stack([X[:, 0], 1000 * rng.normal(size=400)])
    told, noise = (judgement.scores.heldout for judgement in try_out(LINEAR, X, numbers, 0).each)
    assert told > 0.8
    assert noise < 0.1
    classes = np.column_stack([np.where(X[:, 1] > 0, "up", "down"), np.arange(400) % 4])
    trial = try_out(LINEAR, X, classes.astype(object), 0)
    (told, noise), counts = zip(*((j.scores, j.confusion[1]) for j in trial.each), strict=True)
    assert told.heldout > 0.9
    assert told.majority == pytest.approx(0.5, abs=0.15)
    assert noise.heldout < 0.4
    assert noise.majority == pytest.approx(0.25, abs=0.15)
    assert [len(c) for c in counts] == [2, 4]
    for scores, c in zip((told, noise), counts, strict=True):
        assert np.trace(c) / c.sum() == pytest.approx(scores.heldout)
    assert trial.heldout == pytest.approx((told.heldout + noise.heldout) / 2)


def test_every_class_is_in_both_parts():
    y = np.repeat(["a", "b", "c"], [4, 40, 400])
    test = held_out(y, len(y), 0)
    assert set(y[test]) == set(y[~test]) == {"a", "b", "c"}
    np.testing.assert_array_equal(test, held_out(y, len(y), 0))
    assert held_out(np.arange(100).astype(str), 100, 0).sum() == 25  # one row a class


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        ([0, 1, 2], False),
        (["a", "b", "a"], False),
        ([0.5, 1.0, 2.0], True),
        ([1.0, 2.0, 1.0], False),
        (range(5000), True),
        (list(range(300)) * 30, False),
        ([[0, 1], [1, 2], [2, 0]], False),
        ([[0.5, 1.5], [1.0, 2.5], [2.0, 0.1]], True),
        ([[0.5, 1.0], [1.0, 2.0], [2.0, 1.0]], True),
        ([["a", 1.5], ["b", 2.5], ["c", 0.1]], False),
    ],
)
def test_which_labels_are_numbers(labels, wanted):
    assert is_continuous(np.array(labels)) is wanted


def test_large_data_is_judged_by_a_sample(rng, monkeypatch):
    monkeypatch.setattr("labelens._judge.trial.MOST_QUERIES", 20)
    monkeypatch.setattr("labelens._judge.trial.MOST_NEIGHBOURS", 50)
    X, y = rng.normal(size=(400, 3)), np.arange(400) % 2
    X[:, 0] += 5 * y
    trial = try_out(SupervisedPCA(1), X, y, 0)
    assert trial.sampled
    assert trial.heldout > 0.9
