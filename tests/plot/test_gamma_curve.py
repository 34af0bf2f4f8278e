"""Accuracy by the width of the kernel."""

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from labelens import SupervisedPCA, plot


def test_gamma_curve_finds_the_width_and_the_control_does_not(rng):
    X = rng.uniform(-1, 1, size=(160, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ax = plot.gamma_curve(X, y, cv=2, random_state=0)
    real, control, best = (line.get_xydata() for line in ax.lines)
    assert len(real) == len(control) == 9
    assert best[0, 1] == real[:, 1].max() > 0.8
    assert abs(control[:, 1].mean() - 0.5) < 0.1
    again = plot.gamma_curve(X, y, cv=2, random_state=0)
    np.testing.assert_array_equal(again.lines[0].get_xydata(), real)


def test_gamma_curve_of_continuous_labels(rng):
    X = rng.normal(size=(80, 3))
    split = ShuffleSplit(2, random_state=0)
    ax = plot.gamma_curve(X, np.sin(X[:, 0]), gammas=[1, 0.1], cv=split, random_state=0)
    assert ax.get_ylabel() == "held-out 5-NN R²"
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0.1, 1])


def test_what_gamma_curve_refuses(data):
    X, y = data
    with pytest.raises(TypeError, match="SupervisedPCA has no parameter gamma"):
        plot.gamma_curve(X, y, estimator=SupervisedPCA())
    with pytest.raises(ValueError, match="gamma must be a number > 0"):
        plot.gamma_curve(X, y, gammas=[0.0])
    with pytest.raises(ValueError, match="gammas is empty"):
        plot.gamma_curve(X, y, gammas=[])
    with pytest.raises(ValueError, match="y is None"):
        plot.gamma_curve(X, None)
