"""Rows and labels of every kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelens import KernelSupervisedPCA, SupervisedPCA, select
from selection.choosing import quietly


def test_string_classes_and_data_frames(data):
    X, y = data
    frame, names = pd.DataFrame(X, columns=list("abcd")), np.array(["x", "y", "z"])[y]
    plain, chosen = quietly(X, y), quietly(frame, pd.Series(names))
    assert chosen.estimator.feature_names_in_.tolist() == list("abcd")
    assert chosen.estimator.classes_.tolist() == ["x", "y", "z"]
    assert chosen.score == plain.score
    as_objects = quietly(X.tolist(), names.astype(object).tolist())
    assert as_objects.score == plain.score


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_rows(blobs, make):
    X, y = np.where(blobs[0] > 3, blobs[0], 0), blobs[1]
    chosen = quietly(make(X), y)
    assert chosen.score > 0.5
    assert chosen.estimator.transform(make(X)).shape == (240, 3)
    assert "scale" not in chosen.params


def test_sparse_rows_have_the_scores_of_dense_ones(blobs):
    X, y = np.where(blobs[0] > 3, blobs[0], 0), blobs[1]
    grid = {"gamma": [0.01, 0.1], "shrinkage": [1, 0.1]}
    models = [SupervisedPCA(2), KernelSupervisedPCA(2, n_random_features=60)]
    dense, thin = (quietly(rows, y, models, grid=grid) for rows in (X, sparse.csr_array(X)))
    assert [line["score"] for line in dense.table] == pytest.approx(
        [line["score"] for line in thin.table], abs=0.01
    )


KINDS = {
    "numbers": (lambda X: X[:, 0] + X[:, 1], "10-NN R²", 2),
    "numbers in two columns": (lambda X: X[:, :2], "10-NN R²", 2),
    "multilabel": (lambda X: (X[:, :3] > 3).astype(int), "1-NN micro-F1", 3),
    "sparse multilabel": (
        lambda X: sparse.csr_array((X[:, :3] > 3).astype(int)), "1-NN micro-F1", 3
    ),
    "two columns of classes": (
        lambda X: np.column_stack([X[:, 0] > 3, (X[:, 1] > 3) * 5.0]),
        "1-NN accuracy",
        2,
    ),
    "columns that say the same": (
        lambda X: np.column_stack([X[:, 0] > 3, X[:, 0] <= 3]).astype(int) * 2,
        "1-NN accuracy",
        1,
    ),
    "bool": (lambda X: X[:, 0] > 3, "mean of 1-NN and 13-NN accuracy", 1),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scoring", ["knn", "hsic"])
def test_labels_of_every_kind(rng, kind, scoring):
    X = rng.normal(size=(80, 4)) * [1, 1, 1, 0.2] + 3
    make, metric, k = KINDS[kind]
    grid = {"gamma": [0.1, 0.5], "shrinkage": [1, 0.1]}
    chosen = quietly(X, make(X), grid=grid, scoring=scoring)
    assert chosen.metric == (metric if scoring == "knn" else "dependence")
    if chosen.params.get("label_kernel") == "linear":
        k = make(X).reshape(80, -1).shape[1]  # a component for a column of numbers
    assert chosen.estimator.transform(X).shape == (80, k)
    assert chosen.score > 0.4


def test_neighbours_have_a_say(data):
    chosen = quietly(*data, SupervisedPCA(2), n_neighbors=7)
    assert chosen.metric == "7-NN accuracy"
    assert chosen.score != quietly(*data, SupervisedPCA(2), n_neighbors=1).score
    assert 0 <= quietly(*data, SupervisedPCA(2), n_neighbors=10_000).score <= 1


def test_class_weights_of_zero_leave_rows_out(data, watched):
    X, y = data
    chosen = quietly(X, y, SupervisedPCA(1, class_weight={0: 0}))
    assert set(watched[0][1].labels) == {1, 2}
    others = quietly(X[y > 0], y[y > 0], SupervisedPCA(1))
    assert chosen.table == others.table
    assert "all 60 rows" in chosen.reason


def test_classes_with_a_single_row(data):
    X, y = data
    y = np.append(y[:-1], 7)
    assert quietly(X, y).score > 0.6


def test_five_hundred_classes(rng, watched):
    centres = rng.normal(size=(500, 5)) * 10
    y = np.arange(1500) % 500
    names = np.array([f"c{i}" for i in range(500)])[y]
    grid = {"gamma": [0.01], "scale": [None], "shrinkage": [1, 0.1]}
    chosen = quietly(centres[y] + rng.normal(size=(1500, 5)) * 0.2, names, grid=grid)
    assert chosen.score > 0.8
    # To push so many apart would take longer than all the rest.
    assert {one.label_map for one in watched[0][0] if one._solver.random_labels} == {"orthogonal"}


def test_constant_columns_do_no_harm(data):
    X, y = data
    wide = np.column_stack([X, np.ones(90), np.full(90, -7.0)])
    models, grid = [SupervisedPCA(2)], {"shrinkage": [1, 0.1, 0], "scale": [None, "standard"]}
    plain, chosen = (quietly(rows, y, models, grid=grid) for rows in (X, wide))
    assert chosen.score == pytest.approx(plain.score, abs=0.05)
    assert quietly(wide, y).score > 0.8


@pytest.mark.parametrize("scoring", ["knn", "hsic"])
def test_rows_that_are_all_equal_end_in_the_warning_of_fit(data, scoring):
    with pytest.warns(UserWarning, match="Only 0 of the 2 components carry") as told:
        chosen = select(np.ones((90, 4)), data[1], scoring=scoring, random_state=0)
    assert len(told) == 1
    assert chosen.score < 0.5


def test_float32_and_whole_numbers(data):
    X, y = data
    plain = quietly(X, y)
    assert quietly(X.astype(np.float32), y).score == pytest.approx(plain.score, abs=0.05)
    assert quietly((X * 100).astype(np.int32), y).score == pytest.approx(plain.score, abs=0.05)
