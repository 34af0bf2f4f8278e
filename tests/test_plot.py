"""Plots: what they draw, on which Axes, and what they refuse."""

import io
import time

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import ShuffleSplit

from conftest import read_only
from labelens import (
    KernelSupervisedPCA,
    SupervisedPCA,
    SupervisedRandomProjection,
    Wheel,
    approximation_report,
    cross_embed,
    permutation_report,
    plot,
    stability_report,
)
from labelens.plot.canvas import COLOURS, MARKERS, extents, look, shown

HOSTILE = ["$x_1$", "$\\frac{", "<script>", "_hidden", "", " \n\t", "a\x00b", "%d {} \\n", "µ Ж 日",
           "long " * 500]  # fmt: skip


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def fitted(iris):
    return SupervisedPCA(2, scale="minmax").fit(*iris)


@pytest.fixture(autouse=True)
def _nothing_leaks():
    before = plt.get_fignums()
    yield
    assert plt.get_fignums() == before


def rendered(ax, kind="svg"):
    """The bytes of the picture: drawing is where bad text or colours would fail."""
    stream = io.BytesIO()
    ax.figure.savefig(stream, format=kind)
    return stream.getvalue()


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


DRAW = {
    "scatter": lambda model, X, y, ax: plot.scatter(model.transform(X), y, ax=ax),
    "scree": lambda model, X, y, ax: plot.scree(model, ax=ax),
    "loadings": lambda model, X, y, ax: plot.loadings(model, ax=ax),
    "biplot": lambda model, X, y, ax: plot.biplot(model, X, y, ax=ax),
    "gamma_curve": lambda model, X, y, ax: plot.gamma_curve(X, y, gammas=[0.1, 1], cv=2, ax=ax),
    "wheel": lambda model, X, y, ax: plot.wheel(X, y, estimator=Wheel(model), ax=ax),
    "cross_embedding": lambda model, X, y, ax: plot.cross_embedding(
        cross_embed(model, X, y, random_state=0), y,
        axes=None if ax is None else (ax, Figure().subplots()),
    )[0],
    "permutation": lambda model, X, y, ax: plot.permutation(
        permutation_report(model, X, y, n_permutations=19, random_state=0), ax=ax
    ),
    "approximation": lambda model, X, y, ax: plot.approximation(
        approximation_report(
            KernelSupervisedPCA(n_random_features=32), X, y, n_draws=2, random_state=0
        ), ax=ax,
    ),
    "stability": lambda model, X, y, ax: plot.stability(
        stability_report(model, X, y, n_resamples=2, random_state=0), ax=ax
    ),
}  # fmt: skip


def test_every_plot_is_tested():
    assert sorted(DRAW) == sorted(plot.__all__)


@pytest.mark.parametrize("name", DRAW)
def test_draws_on_the_axes_given_or_makes_some(name, fitted, iris):
    given = Figure().subplots()
    assert DRAW[name](fitted, *iris, given) is given
    made = DRAW[name](fitted, *iris, None)
    assert made is not given
    for ax in (given, made):
        assert ax.has_data()
        rendered(ax)
    with pytest.raises(TypeError, match="one matplotlib Axes, got Figure"):
        DRAW[name](fitted, *iris, Figure())


def test_settings_are_left_alone(fitted, iris):
    before = dict(matplotlib.rcParams)
    for draw in DRAW.values():
        draw(fitted, *iris, None)
    assert dict(matplotlib.rcParams) == before


# Scatter -----------------------------------------------------------------------------------------


def test_a_hundred_classes_look_different():
    looks = [look(i) for i in range(100)]
    assert len(set(looks[:10])) == len({colour for colour, _ in looks[:10]}) == 10
    assert len(set(looks)) == len(COLOURS) * len(MARKERS) == 100


def test_training_rows_are_hollow_and_test_rows_solid(rng):
    Z, y = read_only(rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30))
    test = np.arange(60) % 3 == 0
    ax = plot.scatter(Z, y, test=test)
    hollow = [c for c in ax.collections if len(c.get_facecolors()) == 0]
    assert sum(len(c.get_offsets()) for c in hollow) == 40
    assert sum(len(c.get_offsets()) for c in ax.collections) == 60
    assert legend_texts(ax) == ["a", "b", "training row", "test row"]


def test_names_stand_for_sorted_labels(rng):
    ax = plot.scatter(rng.normal(size=(9, 3)), np.arange(9) % 3, names=["x", "y", "z"])
    assert legend_texts(ax) == ["x", "y", "z"]


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
@pytest.mark.parametrize("columns", [1, 2])
def test_text_from_data_is_drawn_as_it_is(rng, columns):
    y = np.array(HOSTILE, dtype=object)[np.arange(60) % len(HOSTILE)]
    ax = plot.scatter(rng.normal(size=(60, columns)), y)
    texts = ax.get_legend().get_texts() if columns == 2 else ax.get_yticklabels()
    assert sorted(text.get_text() for text in texts) == sorted(map(shown, HOSTILE))
    assert not any(text.get_parse_math() for text in texts)
    assert all(0 < len(text.get_text()) <= 24 for text in texts)
    assert b"<script>" not in rendered(ax)


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
def test_text_of_other_plots_is_drawn_as_it_is(rng):
    y = np.array(HOSTILE, dtype=object)[np.arange(80) % len(HOSTILE)]
    X = pd.DataFrame(rng.normal(size=(80, len(HOSTILE))), columns=HOSTILE)
    model = SupervisedPCA(2).fit(X, y)
    bars, arrows = plot.loadings(model), plot.biplot(model, X, y, n_features=10)
    wheel = plot.wheel(X, y, estimator=Wheel(SupervisedPCA(shrinkage=0.1)))
    many = plot.scatter(X, np.array([f"$_{{{i}" for i in range(80)]))
    for ax in (bars, arrows, wheel, many):
        assert not any(text.get_parse_math() for text in ax.texts if text.get_text())
        rendered(ax)
    assert sorted(text.get_text() for text in wheel.texts) == sorted(map(shown, HOSTILE))


def test_many_classes_are_named_where_they_are(rng):
    y = np.arange(600) % 30
    Z = 10 * rng.normal(size=(30, 2))[y] + rng.normal(size=(600, 2))
    ax = plot.scatter(Z, y)
    assert ax.get_legend() is None
    assert 15 < len(ax.texts) <= 30
    assert ax.get_title("right") == f"{len(ax.texts)} of 30 classes are named"
    for text in ax.texts:
        mine = Z[y == int(text.get_text())]
        np.testing.assert_allclose(text.get_position(), np.median(mine, axis=0))


@pytest.mark.parametrize("columns", [1, 2])
def test_five_thousand_classes(rng, columns):
    y = rng.permutation(np.arange(15_000) % 5000)
    start = time.perf_counter()
    ax = plot.scatter(rng.normal(size=(15_000, columns)), y)
    rendered(ax, "png")
    assert time.perf_counter() - start < 10
    assert len(ax.texts) <= 60


@pytest.mark.parametrize("columns", [1, 2])
def test_continuous_labels(rng, columns):
    Z, y = rng.normal(size=(50, columns)), rng.normal(size=50)
    ax = plot.scatter(Z, y, test=np.arange(50) < 9)
    if columns == 2:
        (bar,) = (other for other in ax.figure.axes if other is not ax)
        assert bar.get_ylim() == (y.min(), y.max())
    else:
        assert len(ax.figure.axes) == 1
        assert ax.get_ylabel() == "y"
    rendered(ax)


@pytest.mark.parametrize("y", [None, "classes", "continuous"])
def test_past_a_hundred_thousand_rows_it_is_a_density(rng, y):
    Z = rng.normal(size=(100_001, 2))
    y = {None: None, "classes": Z[:, 0] > 0, "continuous": Z[:, 0]}[y]
    ax = plot.scatter(Z, y, test=Z[:, 1] > 0)
    assert not ax.collections
    (image,) = ax.images
    assert ax.get_title("right") == "density of 100,001 rows, training and test alike"
    pixels = image.get_array()
    assert (pixels[..., 3] > 0).sum() > 10_000
    if y is not None:
        left, right = pixels[150, 75, :3], pixels[150, 225, :3]
        assert np.abs(left - right).max() > 0.2
    assert len(plot.scatter(Z[:100_000]).collections) == 1


def test_a_million_rows_take_seconds(rng):
    Z, y = rng.normal(size=(1_000_000, 2)), rng.integers(0, 12, 1_000_000)
    start = time.perf_counter()
    rendered(plot.scatter(Z, y), "png")
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize("Z", [
    np.zeros((5, 2)), np.ones((5, 1)), np.arange(5.0), np.zeros((1, 2)), [[1, 2], [3, 4]],
    np.array([[1e300, 0], [-1e300, 1e-300]]), np.column_stack([np.arange(5.0), np.full(5, 1e-17)]),
])  # fmt: skip
@pytest.mark.parametrize("labelled", [True, False])
def test_degenerate_embeddings(Z, labelled):
    ax = plot.scatter(Z, ["a"] * len(Z) if labelled else None)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    assert left < right
    assert low != high
    rendered(ax)


def test_constant_continuous_labels():
    rendered(plot.scatter(np.arange(8.0).reshape(4, 2), np.full(4, 0.5)))


def test_what_scatter_refuses(rng):
    Z, y = rng.normal(size=(6, 2)), np.arange(6) % 2
    with pytest.raises(ValueError, match="Z holds nan at row 3, column 1"):
        plot.scatter(np.where(np.arange(12).reshape(6, 2) == 7, np.nan, Z))
    with pytest.raises(ValueError, match="table of real numbers"):
        plot.scatter([["a", "b"]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        plot.scatter(Z, y[:5])
    with pytest.raises(ValueError, match="y has 2 columns"):
        plot.scatter(Z, Z)
    with pytest.raises(ValueError, match="boolean mask with an entry for each of the 6 rows"):
        plot.scatter(Z, y, test=[0, 5])
    with pytest.raises(ValueError, match="3 names for 2 classes"):
        plot.scatter(Z, y, names=["a", "b", "c"])
    for labels in (None, Z[:, 0]):
        with pytest.raises(ValueError, match="names are those of"):
            plot.scatter(Z, labels, names=["a"])


# Components --------------------------------------------------------------------------------------


def test_scree_shows_dependence(fitted):
    ax = plot.scree(fitted)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], fitted.dependence_ratio_)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.cumsum(fitted.dependence_ratio_))
    (right,) = ax.child_axes
    ax.figure.draw_without_rendering()
    total = fitted.dependence_[0] / fitted.dependence_ratio_[0]
    np.testing.assert_allclose(right.get_ylim()[1], 1.05 * total)


def test_scree_of_pca_shows_variance(iris):
    assert plot.scree(SupervisedPCA(2).fit(iris[0])).get_ylabel() == "share of the variance"


@pytest.mark.filterwarnings("ignore:Only 0 of the 1 components:UserWarning")
def test_what_scree_refuses(iris):
    X, _ = iris
    with pytest.raises(ValueError, match="fitted without labels and keeps no variances"):
        plot.scree(SupervisedRandomProjection(2, random_state=0).fit(X))
    with pytest.raises(TypeError, match="PCA has no dependence_"):
        plot.scree(PCA().fit(X))
    with pytest.raises(ValueError, match="No component of this SupervisedPCA depends"):
        plot.scree(SupervisedPCA(1).fit(np.ones((4, 2)), [0, 0, 1, 1]))


def test_loadings_are_the_strongest_weights(fitted, iris):
    ax = plot.loadings(fitted, 1, n_features=3)
    weights = fitted.components_[1]
    strongest = np.argsort(-np.abs(weights))[:3]
    np.testing.assert_array_equal([bar.get_width() for bar in ax.patches], weights[strongest])
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == list(iris[0].columns[strongest])
    assert ax.get_xlabel() == "weight in component 1, columns scaled to [0, 1]"
    plain = plot.loadings(PCA(2).fit(iris[0].to_numpy()), n_features=99)
    assert plain.get_yticklabels()[0].get_text() == "column 2"
    assert len(plain.patches) == 4


def test_arrows_point_where_features_move_rows(fitted, iris):
    ax = plot.biplot(fitted, *iris, components=(1, 0), n_features=4)
    arrows = [text for text in ax.texts if not text.get_text()]
    tips = np.array([arrow.xy for arrow in arrows])
    found = np.arctan2(*tips.T)
    truth = np.arctan2(*fitted.components_[[1, 0]])
    np.testing.assert_allclose(np.sort(found), np.sort(truth))
    assert (tips[:, 0] > ax.get_xlim()[0]).all()
    assert (tips[:, 0] < ax.get_xlim()[1]).all()
    assert ax.get_xlabel() == "component 1"


def test_what_loadings_and_biplot_refuse(fitted, iris):
    kernel = KernelSupervisedPCA(2, n_random_features=16, random_state=0).fit(*iris)
    for draw in (plot.loadings, lambda model: plot.biplot(model, *iris)):
        with pytest.raises(TypeError, match="no weights for input features"):
            draw(kernel)
        with pytest.raises(TypeError, match="Wheel has no components_"):
            draw(Wheel())
    with pytest.raises(ValueError, match="no component 2: the estimator has 2"):
        plot.loadings(fitted, 2)
    with pytest.raises(ValueError, match="no component 1: the estimator has 1"):
        plot.biplot(SupervisedPCA(1).fit(*iris), *iris)
    with pytest.raises(ValueError, match="components must be 2 numbers"):
        plot.biplot(fitted, *iris, components=(0, 1, 1))


# Gamma -------------------------------------------------------------------------------------------


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


# Wheel -------------------------------------------------------------------------------------------


def test_wheel_is_fitted_on_training_rows_alone(data):
    X, y = data
    test = np.arange(90) >= 60
    ax = plot.wheel(X, y, test=test, estimator=Wheel(SupervisedPCA(shrinkage=0.1)))
    model = Wheel(SupervisedPCA(shrinkage=0.1)).fit(X[:60], y[:60])
    drawn = np.concatenate([c.get_offsets() for c in ax.collections])
    truth = model.transform(X)
    np.testing.assert_allclose(drawn[np.lexsort(drawn.T)], truth[np.lexsort(truth.T)])
    assert legend_texts(ax) == ["training row", "test row"]


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


@pytest.mark.parametrize(
    ("points", "limits"),
    [
        ([[0, 0], [10, 0]], [[-0.4, 10.4], [-5.4, 5.4]]),
        ([[0, 1e-17], [10, -1e-17]], [[-0.4, 10.4], [-5.4, 5.4]]),
        ([[3, 4], [3, 4]], [[2.46, 3.54], [3.46, 4.54]]),
        ([[0, 0], [10, 0.1]], [[-0.4, 10.4], [-0.004, 0.104]]),
    ],
)
def test_flat_embeddings_get_room(points, limits):
    np.testing.assert_allclose(extents(np.array(points, float)), limits, atol=1e-12)


# Trust -------------------------------------------------------------------------------------------


def drawn_points(ax):
    points = np.concatenate([c.get_offsets() for c in ax.collections])
    return points[np.lexsort(points.T)]


@pytest.mark.parametrize("columns", [1, 2])
def test_both_pictures_have_one_frame(iris, columns):
    X, y = iris
    crossed = cross_embed(SupervisedPCA(columns), X, y, random_state=0)
    left, right = plot.cross_embedding(crossed, y, names=["a", "b", "c"])
    assert left.get_xlim() == right.get_xlim()
    assert left.get_ylim() == right.get_ylim()
    for ax, Z in ((left, crossed.fitted), (right, crossed.Z)):
        np.testing.assert_allclose(np.sort(drawn_points(ax)[:, 0]), np.sort(Z[:, 0]))
    if columns == 2:
        assert left.get_legend() is None
        assert legend_texts(right) == ["a", "b", "c"]
    rendered(left)


def test_lines_stand_where_the_scores_are(iris):
    report = permutation_report(SupervisedPCA(2), *iris, n_permutations=19, random_state=0)
    ax = plot.permutation(report)
    at = [line.get_xdata()[0] for line in ax.lines]
    assert at == [report.score, report.training_score]
    counts = [bar.get_height() for bar in ax.patches]
    assert sum(counts) == 2 * 19
    assert ax.get_title("left") == "evidence: p = 0.05"


def test_the_ring_is_at_half_the_error(iris):
    model = KernelSupervisedPCA(n_random_features=32)
    report = approximation_report(model, *iris, random_state=0)
    ax = plot.approximation(report)
    ring = ax.lines[-1].get_xydata()[0]
    np.testing.assert_allclose(ring, [report.features_for_half, report.kernel_error / 2])
    assert f"{report.features_for_half:,}" in [text.get_text() for text in ax.get_xticklabels()]
    with pytest.raises(ValueError, match="No kernel was approximated"):
        plot.approximation(approximation_report(SupervisedPCA(), *iris))


def test_stability_without_seeds(iris):
    report = stability_report(PCA(2, random_state=0), *iris, n_resamples=3, random_state=0)
    assert legend_texts(plot.stability(report)) == ["other rows", "other seeds"]
    report = stability_report(LinearDiscriminantAnalysis(), *iris, n_resamples=3, random_state=0)
    ax = plot.stability(report)
    assert legend_texts(ax) == ["other rows"]
    shown = np.sort(ax.lines[0].get_ydata())
    np.testing.assert_allclose(shown, np.sort(report.rows.found, axis=None))
