"""Labels as they come: no value changed, no gap overlooked, the right row named."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from labelens import SupervisedPCA, hsic


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([2**63, 2**63 + 1, -1], 3),
        ([2**53, 2**53 + 1, 1.0], 3),
        (["a", "a\0", "b"], 3),
        ([b"a", b"a\0", b"b"], 3),
        ([1, 1.0, 2], 2),
        ([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1), datetime.date(2020, 1, 1)], 2),
        (pd.Series(["x", "y", "x"], dtype="string"), 2),
        (pd.Series([1, 2, 1], dtype="Int64"), 2),
        (pd.Series(["x", "y", "x"], dtype="category"), 2),
        (pd.Series([True, False, True], dtype="boolean"), 2),
        (pl.Series(["x", "y", "x"]), 2),
        (np.array(["2020-01-01", "2021-01-01", "2020-01-01"], dtype="datetime64[D]"), 2),
    ],
)
def test_no_label_is_changed(labels, classes):
    model = SupervisedPCA(1).partial_fit(np.arange(6.0).reshape(3, 2) ** 2, labels)
    assert len(model.classes_) == classes


@pytest.mark.parametrize(
    "labels",
    [
        [True, 2, 3],
        [True, 1, 0],
        np.array([True, 1, 0], dtype=object),
        [1, "1", 2],
        [["a", 1], [1, 2], ["b", 3]],
    ],
)
def test_mixed_types_are_refused(labels):
    with pytest.raises(TypeError, match="mixed types: the label of row"):
        SupervisedPCA(1).fit(np.eye(3), labels)


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["x", pd.NA, "y"], dtype="string"),
        pd.Series([1, pd.NA, 2], dtype="Int64"),
        pd.Series([True, pd.NA, False], dtype="boolean"),
        np.array(["2020", "NaT", "2021"], dtype="datetime64[Y]"),
        ["x", None, "y"],
        [0.5, np.nan, 1.5],
    ],
)
def test_gaps_are_named_or_marked(labels):
    X = np.array([[0.0, 1], [5, 5], [2, 0]])
    with pytest.raises(ValueError, match="NaN at row 1"):
        SupervisedPCA(1).fit(X, labels)
    marked = SupervisedPCA(1, missing_label=np.nan).fit(X, labels)
    assert marked.n_samples_seen_ == 3
    assert np.isfinite(marked.transform(X)).all()


def test_a_gap_is_no_marker():
    labels = np.array(["x", pd.NA, "?", "y"], dtype=object)
    X = np.array([[0.0, 1], [5, 5], [1, 1], [2, 0]])
    with pytest.raises(ValueError, match="NaN at row 1"):
        SupervisedPCA(1, missing_label="?").fit(X, labels)
    kept = SupervisedPCA(1, missing_label="?").fit(X[[0, 2, 3]], labels[[0, 2, 3]])
    assert kept.classes_.tolist() == ["x", "y"]


def test_rows_are_numbered_as_the_user_numbers_them(data):
    X = data[0]
    y = np.array(["a", "b", "unknown"] * 30, dtype=object)
    y[50] = 7
    weight = np.ones(90)
    weight[:10] = 0
    with pytest.raises(TypeError, match="label of row 50 is 7"):
        SupervisedPCA(1, missing_label="unknown").fit(X, y, sample_weight=weight)


def test_missing_in_one_column_only(data):
    X, y = data
    Y = np.c_[y, y]
    Y[4, 1] = -1
    with pytest.raises(ValueError, match=r"Row 4 .* missing_label=-1 in column 1"):
        SupervisedPCA(1, missing_label=-1).fit(X, Y)
    with pytest.raises(ValueError, match="sparse y"):
        SupervisedPCA(1, missing_label=-1).fit(X, sparse.csr_matrix(Y))


def test_objects_that_are_numbers_are_numbers(data):
    X, y = data
    assert SupervisedPCA(1).fit(X, (y + 0.5).astype(object)).label_kernel_ == "rbf"
    frame = pd.DataFrame({"a": y > 0, "b": y > 1}).astype({"a": "boolean"})
    assert SupervisedPCA(1).fit(X, frame).label_kernel_ == "linear"


def test_whole_floats_first_and_parts_later(data):
    X, y = data
    model = SupervisedPCA(1).partial_fit(X, y.astype(float))
    with pytest.raises(ValueError, match=r"label_kernel='auto' took whole .* row 2 .* 0.5.*'rbf'"):
        model.partial_fit(X[:3], [1.0, 2.0, 0.5])
    SupervisedPCA(1, label_kernel="delta").partial_fit(X, y * 1.0).partial_fit(X[:2], [0.5, 1.0])


def test_labels_far_apart_are_told_apart(rng):
    """A fixed grid of frequencies would take labels one period apart for equal."""
    y = np.tile([0.0, 1.0], 150) + 1e-3 * rng.normal(size=300)
    X = rng.normal(size=(300, 3))
    X[:, 0] += 3 * np.round(y)
    for gamma in ((2 * np.pi / (7.5 / 128)) ** 2 / 2, 1e6):
        model = SupervisedPCA(1, label_kernel="rbf", label_gamma=gamma, random_state=0).fit(X, y)
        truth = hsic(X, y, kernel="linear", label_kernel="rbf", label_gamma=gamma)
        tolerance = 1e-9 if gamma < 1e5 else 0.3  # past 4096 frequencies they are random
        whole = model.dependence_[0] / model.dependence_ratio_[0]
        assert whole == pytest.approx(truth, rel=tolerance)
    model = SupervisedPCA(1, label_gamma=0.5).partial_fit(X, y)
    with pytest.raises(ValueError, match="label of row 1, 1000, is too far"):
        model.partial_fit(X[:2], [0.5, 1000.0])


def test_sparse_labels(data):
    X, y = data
    Y = sparse.csr_matrix(np.eye(3)[y])
    dense = SupervisedPCA(2, label_kernel="linear").fit(X, np.eye(3)[y]).components_
    np.testing.assert_allclose(SupervisedPCA(2).fit(X, Y).components_, dense, atol=1e-12)
    rbf = SupervisedPCA(2, label_kernel="rbf", random_state=0)
    np.testing.assert_allclose(
        rbf.fit(X, Y).components_, rbf.fit(X, np.eye(3)[y]).components_, atol=1e-12
    )
    with pytest.raises(TypeError, match="'delta' takes classes in a dense y"):
        SupervisedPCA(2, label_kernel="delta").fit(X, Y)
