"""`n_nonzero`: which columns are chosen where several are as good."""

import numpy as np
import pytest
from sklearn.feature_selection import f_classif

from labelens import SupervisedPCA, SupervisedRandomProjection


@pytest.fixture
def rows(rng):
    """Three classes; columns 0, 3 and 4 are copies but for their unit and their offset."""
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 6)) + np.eye(3, 6)[y] * [4, 1, 1, 0, 0, 0]
    X[:, 3], X[:, 4] = 7.3 * X[:, 0] + 1e5, X[:, 0] / 3 - 11
    return X, y


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("method", [SupervisedPCA, SupervisedRandomProjection])
def test_of_equal_columns_the_first_are_chosen_in_any_order_of_rows(rows, rng, m, method):
    X, y = rows
    equal = [0, 3, 4]
    rest = np.argsort(-f_classif(X, y)[0])  # the equal ones first
    wanted = sorted([*equal, *(j for j in rest if j not in equal)][:m])
    for _ in range(5):
        order = rng.permutation(120)
        model = method(1, n_nonzero=m, scale="standard", random_state=0).fit(X[order], y[order])
        assert np.flatnonzero(np.abs(model.components_).sum(axis=0)).tolist() == wanted
        again = method(1, n_nonzero=m, scale="standard", random_state=0).fit(X, y)
        np.testing.assert_allclose(model.transform(X), again.transform(X), atol=1e-9)


def test_columns_that_are_all_copies_have_a_component(rng):
    y = np.arange(60) % 2
    X = (rng.normal(size=60) + y)[:, None] * [1.0, 3.0, 0.7]
    model = SupervisedPCA(1, n_nonzero=2, scale="standard").fit(X, y)
    assert np.abs(model.components_).round(6).tolist() == [[0.707107, 0.707107, 0.0]]
