"""Many classes on a circle."""

import matplotlib
import numpy as np
import pytest

from labelens import SupervisedPCA, Wheel, plot
from labelens.plot.canvas import COLOURS
from plot.pictures import legend_texts, rendered


def test_wheel_is_fitted_on_training_rows_alone(data):
    X, y = data
    test = np.arange(90) >= 60
    ax = plot.wheel(X, y, test=test, estimator=Wheel(SupervisedPCA(shrinkage=0.1)))
    model = Wheel(SupervisedPCA(shrinkage=0.1)).fit(X[:60], y[:60])
    drawn = np.concatenate([c.get_offsets() for c in ax.collections])
    truth = model.transform(X)
    np.testing.assert_allclose(drawn[np.lexsort(drawn.T)], truth[np.lexsort(truth.T)])
    assert legend_texts(ax) == ["training row", "held-out row"]


def test_new_rows_on_a_fitted_wheel(data):
    X, y = data
    model = Wheel(SupervisedPCA(shrinkage=0.1)).fit(X, y)
    some = y[:20] > 0  # a class is missing, and the others keep their colours
    ax = plot.wheel(X[:20][some], y[:20][some], estimator=model, names=["a", "b", "c"])
    assert sorted(text.get_text() for text in ax.texts) == ["a", "b", "c"]
    colours = {tuple(c.get_facecolors()[0, :3]) for c in ax.collections}
    assert colours == {tuple(matplotlib.colors.to_rgb(COLOURS[i])) for i in (1, 2)}
    with pytest.raises(ValueError, match="no anchor for the class 7"):
        plot.wheel(X[:2], [1, 7], estimator=model)


def test_wheel_of_many_classes(rng):
    y = np.arange(1200) % 300
    X = 3 * rng.normal(size=(300, 6))[y] + rng.normal(size=(1200, 6))
    ax = plot.wheel(X, y, estimator=Wheel(SupervisedPCA(shrinkage=0.1)))
    assert ax.get_title("right") == "100 of 300 classes are named"
    assert len(ax.texts) == 100
    rendered(ax)


def test_what_wheel_refuses(data):
    X, y = data
    with pytest.raises(TypeError, match=r"pass Wheel\(estimator\)"):
        plot.wheel(X, y, estimator=SupervisedPCA())
    with pytest.raises(ValueError, match="none to fit the wheel on"):
        plot.wheel(X, y, test=np.ones(90, dtype=bool))
