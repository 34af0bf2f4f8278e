"""`label_issues`: planted mistakes are found, and what is said of them holds."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs
from sklearn.linear_model import Ridge

from labelens import label_issues
from labelens._core.left_one_out import LeftOneOut


def test_rows_left_out_are_predicted_as_by_a_fit_without_them(rng):
    X, Y, ridge = rng.normal(size=(30, 6)), rng.normal(size=(30, 2)), 0.03
    (found,) = LeftOneOut.of(X)(Y, [ridge])
    for i in range(30):
        others = np.arange(30) != i
        model = Ridge(ridge * 30).fit(X[others], Y[others])
        assert found[i] == pytest.approx(model.predict(X[[i]])[0], rel=1e-9)


@pytest.fixture(scope="module")
def noisy_digits():
    X, y = load_digits(return_X_y=True)
    draw, given = np.random.default_rng(0), y.copy()
    bad = draw.permutation(len(y))[:180]
    given[bad] = (y[bad] + draw.integers(1, 10, 180)) % 10
    return X, y, given


def test_flipped_labels_are_flagged_at_the_stated_rate(noisy_digits):
    X, y, given = noisy_digits
    for rate in (0.05, 0.2):
        issues = label_issues(X, given, false_discovery_rate=rate, random_state=0)
        flags, bad = issues.is_label_issue.to_numpy(), given != y
        assert abs(bad[flags].mean() - (1 - rate)) < 0.06
        assert bad[flags].sum() > 0.85 * bad.sum()
    assert (issues.predicted_label[bad] == y[bad]).mean() > 0.95
    assert issues.label_quality.between(0, 1).all()


def test_clean_labels_get_few_flags():
    X, y = make_blobs(500, 5, centers=3, random_state=0)
    assert label_issues(X, y, random_state=0).is_label_issue.sum() <= 2


def test_classes_of_text_sparse_rows_and_frames(noisy_digits):
    import pandas as pd

    X, _, given = noisy_digits
    X, given = X[:400], given[:400]
    names = np.array([f"digit {d}" for d in range(10)])[given]
    plain = label_issues(X, given, random_state=0)
    named = label_issues(pd.DataFrame(X).rename(columns=str), names, random_state=0)
    assert named.given_label.tolist() == names.tolist()
    np.testing.assert_allclose(plain.label_quality, named.label_quality, atol=1e-6)
    few = label_issues(sparse.csr_array(X), given, random_state=0)
    assert np.corrcoef(few.label_quality, plain.label_quality)[0, 1] > 0.9


def test_numbers_far_from_their_predictions(rng):
    X = rng.uniform(size=(400, 3))
    y = np.sin(4 * X[:, 0]) + X[:, 1] + 0.05 * rng.normal(size=400)
    y[[5, 77, 300]] += 1.5, -1.5, 2.0
    issues = label_issues(X, y, false_discovery_rate=0.2, random_state=0)
    flagged = set(issues.row[issues.is_label_issue])
    assert {5, 77, 300} <= flagged
    assert len(flagged) <= 8


def test_columns_of_labels_are_judged_one_by_one(rng):
    X = rng.normal(size=(400, 4))
    Y = (X[:, :2] > 0).astype(int)
    sure = np.flatnonzero(np.abs(X[:, 1]) > 1)[:10]
    Y[sure, 1] = 1 - Y[sure, 1]
    issues = label_issues(X, Y, random_state=0)
    assert list(issues.columns[:2]) == ["row", "label"]
    assert len(issues) == 800
    wrong = issues[issues.is_label_issue]
    assert set(wrong.row[wrong.label == 1]) >= set(sure)


def test_near_duplicates_with_other_labels_and_outliers(rng):
    X, y = make_blobs(300, 4, centers=2, random_state=0)
    X, y = np.vstack([X, X[:2] + 1e-6, X.mean(axis=0) + 300]), np.r_[y, 1 - y[0], y[1], 0]
    issues = label_issues(X, y, random_state=0)
    assert issues.near_duplicate[issues.near_duplicate >= 0].to_dict() == {0: 300, 300: 0}
    assert issues.row[issues.is_outlier].tolist() == [302]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((5, 2)), [0, 1, 0, 1, 0], "5 rows"),
        (np.ones((20, 2)), np.zeros(20, int), "one class only"),
        (np.full((20, 2), np.nan), np.arange(20) % 2, "NaN"),
        (np.ones((20, 2)), np.arange(19) % 2, "19"),
    ],
)
def test_what_cannot_be_judged(X, y, message):
    with pytest.raises(ValueError, match=message):
        label_issues(X, y)
