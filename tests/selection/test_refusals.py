"""What `select` refuses, told in a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA

from labelens import SupervisedPCA
from selection.choosing import quietly


def with_cell(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


FAULTS = {
    "no labels": (lambda X, y: dict(y=None), ValueError, "y is None. Pass the labels"),
    "one class": (lambda X, y: dict(y=y * 0), ValueError, "y has a single class, 0"),
    "one row of a class": (
        lambda X, y: dict(y=np.arange(90) // 89), ValueError, "outside fold . cannot be fitted"
    ),
    "NaN": (lambda X, y: dict(X=with_cell(X, np.nan)), ValueError, "NaN at row 3, column 2"),
    "infinity": (lambda X, y: dict(X=with_cell(X, -np.inf)), ValueError, "inf.* row 3, column 2"),
    "NaN in a frame": (
        lambda X, y: dict(X=pd.DataFrame(with_cell(X, np.nan), columns=list("abcd"))),
        ValueError,
        "NaN at row 3, column 'c'",
    ),
    "too large": (lambda X, y: dict(X=X * 1e200), ValueError, "squares overflow .* Scale X down"),
    "y of another length": (lambda X, y: dict(y=y[1:]), ValueError, "90 rows, 89 labels"),
    "no label": (
        lambda X, y: dict(estimators=SupervisedPCA(missing_label=2)),
        ValueError,
        r"Row 2 of y has no label \(missing_label=2\)",
    ),
    "too few rows": (
        lambda X, y: dict(X=X[:8], y=y[:8]), ValueError, "8 rows are too few for cv=5 folds; pass"
    ),
    "too few of max_rows": (
        lambda X, y: dict(max_rows=10, cv=8), ValueError, "10 rows are too few .* a larger max_rows"
    ),
    "cv": (lambda X, y: dict(cv=1), ValueError, "cv must be an integer >= 2, got 1"),
    "max_rows": (lambda X, y: dict(max_rows=3), ValueError, "max_rows must be an integer >= 10"),
    "n_neighbors": (lambda X, y: dict(n_neighbors=0), ValueError, "n_neighbors must be an integer"),
    "scoring": (lambda X, y: dict(scoring="f1"), ValueError, "'knn' or 'hsic', got 'f1'"),
    "n_components": (lambda X, y: dict(n_components=0), ValueError, "n_components must be an int"),
    "n_components is no number": (
        lambda X, y: dict(n_components=["two"]), TypeError, "n_components must be an integer"
    ),
    "no n_components": (
        lambda X, y: dict(n_components=[]), ValueError, "values of n_components is empty"
    ),
    "n_components twice": (
        lambda X, y: dict(n_components=2, grid={"n_components": [3]}), ValueError, "named twice"
    ),
    "unknown name": (
        lambda X, y: dict(grid={"gama": [1]}), ValueError, "grid names 'gama', .* they have .*gamma"
    ),
    "name of others": (
        lambda X, y: dict(estimators=SupervisedPCA(), grid={"gamma": [1]}),
        ValueError,
        "grid names 'gamma', which none of the estimators has; they have batch_size",
    ),
    "empty list": (lambda X, y: dict(grid={"gamma": []}), ValueError, "values of gamma is empty"),
    "bad value": (
        lambda X, y: dict(grid={"shrinkage": [0.1, 2]}), ValueError, "shrinkage must be .*, got 2"
    ),
    "bad type": (lambda X, y: dict(grid={"gamma": ["x"]}), ValueError, "gamma must be .* got 'x'"),
    "no dict": (lambda X, y: dict(grid=["gamma"]), TypeError, "grid must be a dict"),
    "another library": (
        lambda X, y: dict(estimators=[SupervisedPCA(), PCA()]),
        TypeError,
        r"methods of labelens, such as SupervisedPCA\(\), got PCA",
    ),
    "a class": (lambda X, y: dict(estimators=SupervisedPCA), TypeError, "such as SupervisedPCA"),
    "no estimators": (lambda X, y: dict(estimators=[]), ValueError, "estimators is an empty list"),
    "weights in the grid": (
        lambda X, y: dict(estimators=SupervisedPCA(), grid={"class_weight": [None, "balanced"]}),
        ValueError,
        "class_weight is None and 'balanced'",
    ),
    "different weights": (
        lambda X, y: dict(estimators=[SupervisedPCA(), SupervisedPCA(class_weight={0: 2})]),
        ValueError,
        "class_weight is None and {0: 2}",
    ),
    "different markers": (
        lambda X, y: dict(estimators=SupervisedPCA(), grid={"missing_label": [-1]}),
        ValueError,
        "missing_label is None and -1",
    ),
    "parameters at odds": (
        lambda X, y: dict(grid={"shrinkage": [0], "target_weight": [0]}),
        ValueError,
        "nothing to find",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told_in_a_sentence(data, fault):
    make, error, sentence = FAULTS[fault]
    X, y = data
    with pytest.raises(error, match=sentence) as told:
        quietly(**dict(X=X, y=y) | make(X, y))
    assert type(told.value) is error  # and not one that only an estimator raises
    assert str(told.value).endswith(".")


def test_a_marker_that_is_not_equal_to_itself(data):
    X, y = data
    templates = [SupervisedPCA(shrinkage=s, missing_label=float("nan")) for s in (1, 0.1)]
    assert len(quietly(X, y.astype(float), templates).table) == 2
