"""Embeddings: classes, numbers, density, and what is refused."""

import time

import numpy as np
import pytest

from conftest import read_only
from labelens import plot
from labelens.plot.canvas import COLOURS, MARKERS, extents, look, shown
from plot.pictures import HOSTILE, legend_texts, rendered


def test_a_hundred_classes_look_different():
    looks = [look(i) for i in range(100)]
    assert len(set(looks[:10])) == len({colour for colour, _ in looks[:10]}) == 10
    assert len({colour for colour, _ in looks}) == len(COLOURS) >= 20
    assert len(set(looks)) == 100
    assert {marker for _, marker in looks} == set(MARKERS)


def test_components_are_numbered_as_in_files_and_have_the_same_unit(rng):
    """z1 and z2 are components 1 and 2; a circle is drawn as one."""
    angle = np.linspace(0, 6.28, 50)
    Z = np.column_stack([np.cos(angle), 0.1 * np.sin(angle)])
    ax = plot.scatter(Z, np.arange(50) % 3)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("component 1", "component 2")
    rendered(ax)
    corner, across, up = ax.transData.transform([[0, 0], [1, 0], [0, 1]])
    np.testing.assert_allclose(across[0] - corner[0], up[1] - corner[1])
    assert ax.texts


def test_names_lie_on_no_other(rng):
    means = rng.normal(size=(12, 2))
    y = np.arange(600) % 12
    ax = plot.scatter(means[y] + 0.1 * rng.normal(size=(600, 2)), [f"class {c}" for c in y])
    rendered(ax)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) >= 8
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_training_rows_are_hollow_and_test_rows_solid(rng):
    Z, y = read_only(rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30))
    test = np.arange(60) % 3 == 0
    ax = plot.scatter(Z, y, test=test)
    hollow = [c for c in ax.collections if len(c.get_facecolors()) == 0]
    assert sum(len(c.get_offsets()) for c in hollow) == 40
    assert sum(len(c.get_offsets()) for c in ax.collections) == 60
    assert legend_texts(ax) == ["a", "b", "training row", "held-out row"]


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


@pytest.mark.parametrize(("wide", "up"), [(8.0, 1.0), (1.0, 1.0), (1.0, 5.0)])
def test_rows_fill_the_axes_that_have_one_unit(rng, wide, up):
    """No empty bands: the box has the shape of the data."""
    ax = plot.scatter(rng.uniform(size=(300, 2)) * [wide, up])
    rendered(ax, "png")
    box = ax.get_window_extent()
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    assert box.width / (right - left) == pytest.approx(box.height / (high - low), rel=1e-6)
    assert max(wide / (right - left), up / (high - low)) > 0.85
    shape = box.height / box.width
    assert shape == pytest.approx(np.clip(up / wide, 0.4, 2.5), rel=0.05)
    if up <= wide:  # the figure too
        assert box.width / ax.figure.bbox.width > 0.7
        assert box.height / ax.figure.bbox.height > 0.5


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
