"""The map of numbers: the prediction, and what varies at one level."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelens import KernelSupervisedPCA, SupervisedPCA, ValueMap, load, save
from labelens._judge.value_map import interpolation
from labelens.persist import container, info
from labelens.persist.packing import packed

LINEAR = SupervisedPCA(1, shrinkage=0.1, label_kernel="linear")


@parametrize_with_checks([ValueMap(LINEAR)])
@pytest.mark.filterwarnings("ignore:Only . of the . components:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def turning():
    """A number, and a large variation whose direction turns with it."""
    rng = np.random.default_rng(0)
    level, other = rng.uniform(-2, 2, 900), rng.normal(size=900)
    angle = level * np.pi / 8
    X = np.column_stack([level, 2 * other * np.cos(angle), 2 * other * np.sin(angle)])
    X = np.column_stack([X, 0.2 * rng.normal(size=(900, 2))]) + 0.1 * rng.normal(size=(900, 5))
    return X, level + 0.05 * rng.normal(size=900), other


def test_the_axes_are_the_number_and_the_variation_at_its_level(turning):
    X, y, other = turning
    value_map = ValueMap(LINEAR, random_state=0).fit(X[:700], y[:700])
    Z = value_map.transform(X[700:])
    # Measured: 0.99 and 0.94.
    assert np.corrcoef(Z[:, 0], y[700:])[0, 1] > 0.97
    assert abs(np.corrcoef(Z[:, 1], other[700:])[0, 1]) > 0.85
    np.testing.assert_allclose(value_map.predict(X[700:]), Z[:, 0])
    # One direction for all levels has less of it.
    flat = ValueMap(LINEAR, random_state=0).fit(X[:50], y[:50])
    assert len(flat.levels_) == 1 < len(value_map.levels_)


def test_the_second_axis_changes_smoothly(turning):
    X, y, _ = turning
    value_map = ValueMap(LINEAR, random_state=0).fit(X, y)
    path = np.repeat(X[:1], 400, axis=0)
    path[:, 0] = np.linspace(-2, 2, 400)
    steps = np.abs(np.diff(value_map.transform(path)[:, 1]))
    assert steps.max() < 0.05 * np.ptp(value_map.transform(X)[:, 1])


def test_weights_interpolate_between_levels():
    found = interpolation(np.array([0.0, 1.0, 3.0]), np.array([-1.0, 0.25, 2.0, 9.0]))
    np.testing.assert_allclose(found, [[1, 0, 0], [0.75, 0.25, 0], [0, 0.5, 0.5], [0, 0, 1]])


def test_noise_has_a_score_of_nothing(rng):
    X, y = rng.normal(size=(150, 100)), rng.normal(size=150)
    value_map = ValueMap(SupervisedPCA(1, shrinkage=0.01), random_state=0).fit(X, y)
    assert value_map.heldout_score_ < 0.1
    np.testing.assert_array_equal(value_map.heldout_rows_, np.arange(150))


def test_neighbours_help_where_numbers_bend(rng):
    X = rng.uniform(-1, 1, size=(800, 1))
    y = np.sin(4 * X[:, 0])
    bent = ValueMap(SupervisedPCA(1), random_state=0).fit(X, y)
    assert bent.heldout_score_ > 0.95


def test_intervals_hold_the_stated_share_of_new_rows():
    X, y = make_friedman1(3000, noise=1.0, random_state=0)
    value_map = ValueMap(LINEAR, random_state=0).fit(X[:1000], y[:1000])
    predicted, intervals = value_map.predict_interval(X[1000:], [0.5, 0.9])
    np.testing.assert_array_equal(predicted, value_map.predict(X[1000:]))
    assert intervals.shape == (2000, 2, 2)
    inside = (intervals[:, 0] <= y[1000:, None]) & (y[1000:, None] <= intervals[:, 1])
    # Of 1000 held-out and 2000 new rows: standard errors of 0.02 and 0.012.
    np.testing.assert_allclose(inside.mean(axis=0), [0.5, 0.9], atol=0.05)


def test_intervals_have_the_width_of_errors_of_held_out_rows(rng):
    X = rng.normal(size=(19, 3))
    y = X[:, 0] + rng.normal(size=19)
    value_map = ValueMap(SupervisedPCA(1), random_state=0).fit(X, y)
    errors = np.abs(y - value_map.heldout_embedding_[:, 0])
    predicted, intervals = value_map.predict_interval(X, [0.9, 0.95, 0.96])
    widths = (intervals[:, 1] - intervals[:, 0]) / 2
    # With 19 errors and a new one, 90 % are the smallest 18 of 20, and 95 % all 19.
    np.testing.assert_allclose(widths[:, 0], np.sort(errors)[17])
    np.testing.assert_allclose(widths[:, 1], errors.max())
    assert np.isinf(widths[:, 2]).all()
    np.testing.assert_allclose(intervals[:, :, 0].mean(axis=1), predicted)
    with pytest.raises(ValueError, match="confidence_level"):
        value_map.predict_interval(X, 1.1)


def test_detail_is_the_size_of_the_second_axis(turning):
    X, y, _ = turning
    one, half = (ValueMap(LINEAR, detail=d, random_state=0).fit(X, y) for d in (1, 0.5))
    np.testing.assert_allclose(one.transform(X) * [1, 0.5], half.transform(X))


def test_sparse_rows_and_rows_without_labels(turning):
    X, y, _ = turning
    X = np.where(X > 0, X, 0)
    some = y.copy()
    some[::7] = np.nan
    value_map = ValueMap(LINEAR, missing_label=np.nan, random_state=0)
    labelled = np.flatnonzero(~np.isnan(some))
    same = clone(value_map).fit(sparse.csr_array(X[labelled]), y[labelled])
    value_map.fit(sparse.csr_array(X), some)
    np.testing.assert_array_equal(value_map.heldout_rows_, labelled)
    np.testing.assert_allclose(value_map.transform(X), same.transform(sparse.csr_array(X)))


def test_few_and_many_rows(rng):
    few = ValueMap(random_state=0).fit(rng.normal(size=(6, 2)), np.arange(6.0))
    assert np.isfinite(few.heldout_embedding_).all()
    X = rng.normal(size=(4000, 3))
    many = ValueMap(LINEAR, random_state=0).fit(X, X[:, 0])
    assert len(many.heldout_rows_) == 800
    assert many.heldout_score_ > 0.99


@pytest.mark.parametrize(
    "base", [LINEAR, KernelSupervisedPCA(2, label_kernel="rbf", random_state=0)]
)
def test_files_give_the_same_bits(base, turning, tmp_path):
    X, y, _ = turning
    frame = pd.DataFrame(X[:200], columns=list("abcde"))
    value_map = ValueMap(base, detail=0.5, random_state=0).set_output(transform="pandas")
    value_map.fit(frame, y[:200])
    save(value_map, tmp_path / "map.labelens")
    same = load(tmp_path / "map.labelens")
    pd.testing.assert_frame_equal(same.transform(frame), value_map.transform(frame))
    np.testing.assert_array_equal(same.predict(frame), value_map.predict(frame))
    for one, other in zip(
        same.predict_interval(frame), value_map.predict_interval(frame), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    assert same.heldout_score_ == value_map.heldout_score_
    assert same.get_params()["detail"] == 0.5
    assert info(tmp_path / "map.labelens")["value_map"]["detail"] == 0.5


@pytest.mark.parametrize(
    ("field", "value"), [("detail", -1.0), ("size", -1.0), ("random_state", -1), ("selected", 3)]
)
def test_forged_facts_are_rejected(field, value, turning, tmp_path):
    X, y, _ = turning
    header, arrays = packed(ValueMap(LINEAR, random_state=0).fit(X[:100], y[:100]), False)
    header["value_map"][field] = value
    container.write(tmp_path / "map.labelens", header, arrays)
    with pytest.raises(ValueError, match="cannot be loaded"):
        load(tmp_path / "map.labelens")


def test_real_data():
    X, y = load_diabetes(return_X_y=True)
    assert ValueMap(LINEAR, random_state=0).fit(X, y).heldout_score_ > 0.4


def test_without_an_estimator_the_base_is_selected(turning):
    X, y, _ = turning
    assert ValueMap(random_state=0).fit(X[:150], y[:150]).heldout_score_ > 0.8


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({"detail": -1}, np.arange(20.0), "detail"),
        ({}, np.array(list("ab") * 10), "For classes, use Atlas"),
        ({}, np.zeros((20, 2)), "one column of numbers"),
    ],
)
def test_what_is_rejected(parameters, y, message, rng):
    with pytest.raises(ValueError, match=message):
        ValueMap(LINEAR, **parameters).fit(rng.normal(size=(20, 3)), y)
