"""Scores of an embedding."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from labelens import SupervisedPCA, permutation_report, select
from labelens._fit.task import score


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_numbers_are_scored_as_scikit_learn_scores_them(rng, columns):
    """Every column about its own mean, whatever lies between the columns."""
    for offset in (0, 1000, 1e6):
        truth = rng.normal(size=(50, columns)) * 10.0 ** rng.integers(-3, 3, columns)
        truth += offset * np.arange(columns)
        guesses = truth + rng.normal(size=truth.shape)
        assert score(guesses, truth, True) == r2_score(truth, guesses)
        assert score(guesses[:, 0], truth[:, 0], True) == r2_score(truth[:, 0], guesses[:, 0])


def test_constant_columns_count_as_in_scikit_learn(rng):
    truth = np.column_stack([np.full(20, 7.0), rng.normal(size=20)])
    for guesses in (truth, truth + rng.normal(size=truth.shape)):
        assert score(guesses, truth, True) == r2_score(truth, guesses)
    assert score(truth[:1], truth[:1], True) == 0.0  # one row has no variance


def test_columns_far_apart_are_no_evidence(rng):
    """The distance between two columns is nothing that an embedding has explained."""
    X, y = rng.normal(size=(90, 3)), rng.normal([0, 1000], size=(90, 2))
    chosen = select(X, y, SupervisedPCA(2), random_state=0)
    assert chosen.metric == "10-NN R²"
    assert chosen.score < 0.1
    report = permutation_report(SupervisedPCA(2), X, y, n_permutations=19, random_state=0)
    assert report.score < 0.1
    assert report.null_score.max() < 0.3
