"""Orders of the labels: which rows may change places."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from labelens import SupervisedPCA, hsic_test, permutation_report
from labelens._fit.shuffles import FEWEST, shuffler
from labelens._judge.trial import try_out


@pytest.fixture
def copied(rng):
    """Forty rows, three times each, in no order."""
    order = rng.permutation(np.repeat(np.arange(40), 3))
    return rng.normal(size=(40, 4)).round(2)[order], rng.integers(0, 2, 40)[order], order


KINDS = {
    "array": np.asarray,
    "float32": np.float32,
    "sparse": sparse.csr_array,
    "columns": sparse.csc_matrix,
    "list": np.ndarray.tolist,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcd")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcd")),
    "mixed": lambda X: pd.DataFrame(X, columns=list("abcd")).assign(e="x"),
    "texts": lambda X: [str(row) for row in X],
    "whole": lambda X: (100 * X).astype(int),
}


@pytest.mark.parametrize("kind", KINDS)
def test_copies_stay_together(copied, kind, rng):
    X, y, number = copied
    shuffle = shuffler(KINDS[kind](X), y)
    for _ in range(5):
        order = shuffle(rng)
        assert np.array_equal(np.sort(order), np.arange(120))
        for group in range(40):  # all copies get the label of the copies of one row
            assert len(set(number[order[number == group]])) == 1
        assert (order != np.arange(120)).mean() > 0.8


@pytest.mark.parametrize("labels", ["U", "datetime64[D]", "O", "columns", "sparse"])
def test_labels_of_every_kind_are_compared(copied, labels, rng):
    X, y, number = copied
    if labels == "columns":
        y = np.column_stack([y, number % 3])
    else:
        y = sparse.csr_array(y[:, None]) if labels == "sparse" else y.astype(labels)
    order = shuffler(X, y)(rng)
    assert len(set(number[order[number == 0]])) == 1


def test_rows_of_one_kind_change_places_one_by_one(copied, rng):
    """Orders are those of a plain permutation: nothing changes where nothing is equal."""
    X, y, _ = copied
    plain = np.random.default_rng(1).permutation(len(X))
    for rows, labels in (
        (rng.normal(size=X.shape), y),  # no copies
        (X, np.arange(len(X))),  # with labels of their own
        (np.repeat(np.arange(FEWEST - 1), 8)[:120, None], np.repeat(np.arange(19), 8)[:120]),
    ):
        assert np.array_equal(shuffler(rows, labels)(np.random.default_rng(1)), plain)


def test_negative_zeros_and_stored_zeros_are_zeros(rng):
    X = np.zeros((60, 2))
    X[:, 1] = np.repeat(np.arange(30), 2)
    y, signed = np.repeat(np.arange(30) % 2, 2), X.copy()
    signed[::2, 0] = -0.0
    stored = sparse.csr_array(np.where(X == 0, 1, X))
    stored.data[(X == 0).ravel()] = 0
    for rows in (signed, stored):
        order = shuffler(rows, y)(rng)
        assert np.array_equal(order[::2] // 2, order[1::2] // 2)


def test_copies_of_noise_are_no_evidence():
    """With every row four times a permutation of rows finds evidence in nearly every noise."""
    found = np.zeros(3)
    for seed in range(12):
        draw = np.random.default_rng(seed)
        X, y = np.repeat(draw.normal(size=(25, 6)), 4, 0), np.repeat(draw.integers(0, 3, 25), 4)
        report = permutation_report(
            SupervisedPCA(2), X, y, n_permutations=19, cv=2, random_state=seed
        )
        scores = try_out(SupervisedPCA(2), X, y, seed).each[0].scores
        found += [
            hsic_test(X, y, n_permutations=39, random_state=seed).pvalue <= 0.05,
            report.evidence,
            scores.heldout > scores.shuffled + 0.2,
        ]
    assert found.max() <= 4  # by chance: twelve of twelve before
