"""Judgements accept the labels that `fit` accepts, in every container."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor

import labelens
from labelens import KernelSupervisedPCA, SupervisedPCA
from routes.labels import LABELS, draw_labels, respelled
from routes.test_routes import EXAMPLES

N = 60
LINEAR = SupervisedPCA(1).set_output(transform="pandas")
KERNEL = KernelSupervisedPCA(1, gamma="auto", n_random_features=8, random_state=0)
ALONE = [kind for kind in LABELS if kind not in ("mixed columns", "graded columns")]

# Name -> a number, or some, from rows and labels.
JUDGES = {
    "gamma": lambda X, y: KERNEL.fit(X, y).gamma_,
    "cross_embed": lambda X, y: labelens.cross_embed(LINEAR, X, y, random_state=0).Z,
    "permutation_report": lambda X, y: (
        labelens.permutation_report(LINEAR, X, y, n_permutations=19, random_state=0).score
    ),
    "stability_report": lambda X, y: (
        labelens.stability_report(LINEAR, X, y, n_resamples=2, random_state=0).rows.found
    ),
    "hsic_test": lambda X, y: labelens.hsic_test(X, y, n_permutations=3, random_state=0).pvalue,
    "knn_score": lambda X, y: labelens.knn_score(X, y, X, y),
    "select": lambda X, y: (
        labelens.select(X, y, [LINEAR], n_components=1, cv=3, random_state=0).score
    ),
}


def rows_and_labels(kind, seed):
    rng = np.random.default_rng(seed)
    labels = draw_labels(kind, N, rng)
    signal = labels.signal @ rng.normal(size=(labels.signal.shape[1], 3))
    return rng.normal(size=(N, 3)) + signal, labels.marked(np.ones(N, dtype=bool), None), rng


@pytest.mark.parametrize("judge", JUDGES)
@settings(EXAMPLES, max_examples=15)
@given(st.sampled_from(ALONE), st.integers(0, 99))
def test_judges_read_labels_as_fit_does(judge, kind, seed):
    X, y, rng = rows_and_labels(kind, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = JUDGES[judge](X, y)
        found = JUDGES[judge](X, respelled(y, rng))
    np.testing.assert_array_equal(found, wanted)


@settings(EXAMPLES, max_examples=30)
@given(st.sampled_from(["continuous", "targets"]), st.integers(0, 999))
def test_scores_of_numbers_are_those_of_scikit_learn(kind, seed):
    X, y, _ = rows_and_labels(kind, seed)
    train, test = slice(0, 40), slice(40, None)
    guesses = KNeighborsRegressor(5).fit(X[train], y[train]).predict(X[test])
    found = labelens.knn_score(X[train], y[train], X[test], y[test], n_neighbors=5)
    assert found == pytest.approx(r2_score(y[test], guesses), abs=1e-12)
