"""Corners where a result was once wrong, or could easily be."""

import copy
import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import Matern
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from threadpoolctl import threadpool_limits

import oracles
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    hsic,
    hsic_test,
    subspace_distance,
)
from labelens.moments import Scatter, Spread
from oracles import gram


@pytest.fixture
def data(rng):
    y = np.arange(90) % 3
    return rng.normal(size=(90, 4)) + np.eye(3, 4)[y] * [3, 2, 1, 0], y


# Rows ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, bool])
@pytest.mark.parametrize("method", [SupervisedPCA, SupervisedRandomProjection])
def test_sparse_integers_are_projected_as_numbers(rng, method, dtype):
    y = np.arange(60) % 3
    X = (rng.integers(0, 3, (60, 5)) * np.eye(3, 5)[y].astype(int) * 40).astype(dtype)
    model = method(2, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        model.transform(sparse.csr_matrix(X)), model.transform(X), atol=1e-12
    )


def test_sparse_float32_keeps_its_digits(data):
    X, y = data[0].astype(np.float32) + 1000, data[1]
    model = SupervisedPCA(2).fit(X, y)
    np.testing.assert_allclose(model.transform(sparse.csr_array(X)), model.transform(X), atol=1e-5)


@pytest.mark.parametrize("scale", ["minmax", "standard"])
@pytest.mark.parametrize("approximation", ["orthogonal", "nystroem", "exact"])
def test_scaled_sparse_rows_mean_what_dense_ones_do(data, approximation, scale):
    X, y = data[0] + 5, data[1]
    model = KernelSupervisedPCA(2, scale=scale, approximation=approximation, random_state=0)
    on_sparse = clone(model).fit(sparse.csr_matrix(X), y)
    found = on_sparse.transform(sparse.csr_matrix(X))
    np.testing.assert_allclose(on_sparse.transform(X), found, atol=1e-9)
    truth = clone(model).set_params(approximation="exact").fit(X, y)
    if approximation != "orthogonal":  # with every row a landmark, exact too
        np.testing.assert_allclose(gram(found), gram(truth.transform(X)), atol=1e-8)
    with pytest.raises(ValueError, match="make a sparse X dense"):
        clone(model).fit(X, y).transform(sparse.csr_matrix(X))


def test_auto_shrinkage_scales_without_shifting(data):
    X, y = data[0] + 5, data[1]
    model = SupervisedPCA(2, shrinkage="auto", scale="standard").fit(sparse.csr_matrix(X), y)
    Z = model.transform(X)
    np.testing.assert_allclose(model.transform(sparse.csr_matrix(X)), Z, atol=1e-9)
    np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-9)
    dense = SupervisedPCA(2, shrinkage="auto", scale="standard").fit(X, y)
    np.testing.assert_allclose(dense.transform(X), Z, atol=1e-9)


def test_exact_kernel_takes_dense_and_sparse_in_turn(data):
    X, y = data
    S = sparse.csr_matrix(X)
    model = KernelSupervisedPCA(2, gamma=0.1, approximation="exact")
    truth = clone(model).fit(X, y).transform(X)
    for first, second in ((X, S), (S, X)):
        mixed = clone(model).partial_fit(first[:50], y[:50]).partial_fit(second[50:], y[50:])
        for rows in (X, S):
            np.testing.assert_allclose(mixed.transform(rows), truth, atol=1e-10)


def test_duplicate_and_unsorted_indices_are_one_matrix(data):
    X, y = data
    S = sparse.csr_matrix(X)
    twice = sparse.csr_matrix(
        (np.repeat(S.data / 2, 2), np.repeat(S.indices, 2)[:], S.indptr * 2), shape=S.shape
    )
    twice.data = twice.data.reshape(90, 8)[:, ::-1].ravel().copy()
    twice.indices = twice.indices.reshape(90, 8)[:, ::-1].ravel().copy()
    before = twice.data.copy()
    wide = sparse.csr_array(S)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for kernel in ("rbf", "laplacian", "matern"):
        model = KernelSupervisedPCA(2, kernel=kernel, gamma="median", approximation="exact")
        truth = clone(model).fit(X, y).transform(X)
        for same in (twice, wide):
            np.testing.assert_allclose(clone(model).fit(same, y).transform(same), truth, atol=1e-8)
    np.testing.assert_array_equal(twice.data, before)


@pytest.mark.parametrize("dtype", [">i4", ">i2", ">f4", ">f8", np.longdouble])
def test_foreign_numbers_keep_their_values(data, dtype):
    X, y = (data[0] * 1000).astype(dtype), data[1]
    X[:, 0] += 2**14
    native = X.astype(np.float64)
    found = SupervisedPCA(2).fit(X, y).transform(X)
    truth = SupervisedPCA(2).fit(native, y).transform(native)
    np.testing.assert_allclose(found, truth, rtol=1e-5, atol=1e-3)
    assert found.dtype == (np.float32 if dtype == ">f4" else np.float64)


def test_masked_values_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="masked"):
        SupervisedPCA(1).fit(np.ma.masked_less(X, 0), y)
    with pytest.raises(ValueError, match="masked"):
        SupervisedPCA(1).fit(X, np.ma.masked_equal(y, 1))


def test_too_large_for_float64_is_refused_and_forgotten(data):
    X, y = data
    model = SupervisedPCA(2, shrinkage=0.5).fit(X, y)
    before = model.transform(X)
    with pytest.raises(ValueError, match="overflow float64"):
        model.partial_fit(X * 1e200, y)
    np.testing.assert_array_equal(model.transform(X), before)
    with pytest.raises(ValueError, match="overflows float32"):
        SupervisedRandomProjection(2, random_state=0).fit(
            X.astype(np.float32) * np.float32(1e37), y
        ).transform(X.astype(np.float32) * np.float32(1e37))
    gaps = FunctionTransformer(lambda rows: np.where(rows < 0, np.nan, rows))
    with pytest.raises(ValueError, match="not finite"):
        KernelSupervisedPCA(1, approximation=gaps).fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "matern", "laplacian"])
@pytest.mark.parametrize("approximation", ["exact", "nystroem"])
def test_kernel_rows_far_from_zero(data, approximation, kernel):
    X, y = np.round(data[0] * 2**20) / 2**20, data[1]
    model = KernelSupervisedPCA(2, kernel=kernel, gamma=0.1, approximation=approximation)
    near = clone(model).fit(X, y).transform(X)
    far = clone(model).fit(X + 1e8, y).transform(X + 1e8)
    np.testing.assert_allclose(gram(far), gram(near), atol=1e-8 * np.abs(gram(near)).max())


def test_constant_rows_have_no_directions(rng):
    y, weight = np.arange(50) % 3, rng.uniform(1, 2, 50)
    X = np.full((50, 3), 0.1)
    for rows in (X, np.zeros((50, 3)), sparse.csr_array(X)):
        for model in (
            SupervisedPCA(1, scale="standard"),
            SupervisedRandomProjection(1, random_state=0),
            KernelSupervisedPCA(1, approximation="exact"),
            KernelSupervisedPCA(1, kernel="linear", approximation="exact"),
            KernelSupervisedRandomProjection(1, approximation="exact", random_state=0),
        ):
            with pytest.warns(UserWarning, match="Only 0 of the 1 .* do not vary with the labels"):
                model.fit(rows, y, sample_weight=weight)
            assert not np.any(np.abs(model.transform(rows)) > 1e-12)


def test_constant_sparse_column_is_not_scaled_up(data):
    X, y = np.c_[data[0], np.full(90, 0.1)], data[1]
    dense = KernelSupervisedPCA(2, scale="standard", random_state=0).fit(X, y)
    found = KernelSupervisedPCA(2, scale="standard", random_state=0).fit(sparse.csr_array(X), y)
    assert found.gamma_ == pytest.approx(dense.gamma_, rel=0.3)
    assert found._recipe.scaling.factor[-1] == 1


def test_small_columns_are_columns_too(data):
    X, y = data[0] * [1, 1e-9, 1, 1], data[1]
    lda = LinearDiscriminantAnalysis().fit(data[0], y)
    model = SupervisedPCA(2, shrinkage=0).fit(X, y)
    assert subspace_distance(model.components_ * [1, 1e-9, 1, 1], lda.scalings_.T) < 1e-9


def test_signs_do_not_depend_on_row_order(data):
    X, y = np.c_[data[0][:, 0], -data[0][:, 0]], data[1] > 0
    truth = SupervisedPCA(1).fit(X, y).components_
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(90)
        found = SupervisedPCA(1).fit(X[order], y[order]).components_
        np.testing.assert_allclose(found, truth, atol=1e-12)


# Labels -------------------------------------------------------------------------------------------


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


# Streams ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [SupervisedPCA, SupervisedRandomProjection, KernelSupervisedPCA])
def test_old_moments_stay_as_they_were(data, method):
    """The first block of the second batch has no label: its moments must not be written into."""
    X, y = data
    model = method(2, missing_label=-1, batch_size=8, random_state=0).partial_fit(X[:40], y[:40])
    old = model.moments_
    before = copy.deepcopy(old)
    later = y[40:].copy()
    later[:9] = -1
    model.partial_fit(X[40:], later)
    np.testing.assert_array_equal(old.cross.sums, before.cross.sums)
    labelled = np.r_[np.arange(40), np.arange(49, 90)]
    if method is SupervisedPCA:
        truth = SupervisedPCA(2).fit(X[labelled], y[labelled])
        np.testing.assert_allclose(model.components_, truth.components_, atol=1e-12)


@pytest.mark.parametrize("approximation", ["orthogonal", "exact"])
def test_a_batch_without_any_label(data, approximation):
    X, y = data
    model = KernelSupervisedPCA(
        2, gamma=0.1, approximation=approximation, missing_label=-1, random_state=0
    )
    model.partial_fit(X, y)
    before = model.transform(X)
    model.partial_fit(X, np.full(90, -1))
    np.testing.assert_allclose(model.transform(X), before, atol=1e-12)
    assert model.n_samples_seen_ == 180
    labels = SupervisedPCA(1, label_kernel=StandardScaler(), missing_label=-1.0)
    labels.partial_fit(X, y + 0.5).partial_fit(X, np.full(90, -1.0)).transform(X)


def test_parameters_are_those_of_the_first_batch(data):
    X, y = data
    model = SupervisedPCA(1).fit(X, y)
    before = model.transform(X)
    model.set_params(n_components=3, scale="minmax")
    np.testing.assert_array_equal(model.transform(X), before)
    with pytest.raises(ValueError, match="n_components was 1 at the first batch and is 3 now"):
        model.partial_fit(X, y)
    with pytest.warns(UserWarning, match="Only 2 of the 3"):
        assert model.fit(X, y).transform(X).shape == (90, 3)


def test_unsolved_is_not_fitted(data):
    X, y = data
    model = SupervisedPCA(1)
    with pytest.raises(AttributeError):
        model.get_feature_names_out()
    model.partial_fit(X, y * 0)
    assert not hasattr(model, "components_")
    assert "SupervisedPCA" in model._repr_html_()
    one = SupervisedPCA(1).partial_fit(X[:1], [0.5])
    with pytest.raises(ValueError, match="only one row has been seen"):
        one.transform(X)


def test_maps_are_the_same_bits_for_any_number_of_threads(rng):
    X, y = rng.normal(size=(400, 300)), np.arange(400) % 3
    for approximation in ("orthogonal", "nystroem"):
        model = KernelSupervisedPCA(2, gamma=0.01, approximation=approximation, random_state=0)
        parts = []
        for threads in (1, 2):
            with threadpool_limits(threads, user_api="blas"):
                parts.append(clone(model).partial_fit(X, y))
        parts[0].merge(parts[1])


def test_wide_sparse_blocks_do_not_depend_on_batch_size(rng):
    X = sparse.random(5000, 3000, density=0.002, format="csr", random_state=0)
    y = rng.integers(0, 3, 5000)
    found = [SupervisedPCA(2, batch_size=b).fit(X, y).components_ for b in (None, 1024, 4096)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_merging_exact_with_features_is_refused(data):
    X, y = data
    parts = [
        KernelSupervisedPCA(2, gamma=0.1, approximation=a, random_state=0).fit(X, y)
        for a in ("orthogonal", "exact")
    ]
    for first, second in (parts, parts[::-1]):
        with pytest.raises(ValueError, match="same approximation"):
            first.merge(second)


def test_transformers_merge_whatever_gamma_would_be(data):
    X, y = data
    model = KernelSupervisedPCA(2, approximation=RBFSampler(gamma=0.1, random_state=0))
    merged = clone(model).fit(X[:50], y[:50]).merge(clone(model).fit(X[50:], y[50:]))
    np.testing.assert_allclose(merged.transform(X), clone(model).fit(X, y).transform(X), atol=1e-9)


# The rest -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("total", [1e-12, 1.0, 1.5])
@pytest.mark.parametrize("approximation", ["orthogonal", "exact"])
def test_weights_may_sum_to_anything(data, approximation, total):
    X, y = data
    model = KernelSupervisedPCA(2, approximation=approximation, random_state=0)
    plain = clone(model).fit(X, y)
    light = clone(model).fit(X, y, sample_weight=np.full(90, total / 90))
    np.testing.assert_allclose(light.transform(X), plain.transform(X), atol=1e-10)
    np.testing.assert_allclose(light.dependence_ratio_, plain.dependence_ratio_, atol=1e-10)
    assert (light.dependence_ < 2 * plain.dependence_).all()


def test_variance_of_everything_equal_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match=r"target_weight=0 .* shrinkage=0 .* use shrinkage=1"):
        SupervisedPCA(1, target_weight=0, shrinkage=0).fit(X, y)
    with pytest.raises(ValueError, match=r"y=None .* shrinkage=0"):
        SupervisedPCA(1, shrinkage=0).fit(X)


def test_randomized_pca_with_labels_has_no_label_rank(data):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SupervisedRandomProjection(4, target_weight=0, random_state=0).fit(X, y)
    assert (model.singular_values_ > 0).all()
    same = SupervisedRandomProjection(4, random_state=0).fit(X)
    np.testing.assert_array_equal(same.components_, model.components_)


def test_the_warning_points_at_the_users_line(data):
    X, y = data
    lazy = SupervisedPCA(3).partial_fit(X, y)
    calls = [
        lambda: SupervisedPCA(3).fit(X, y),
        lambda: SupervisedPCA(3).fit_transform(X, y),
        lambda: lazy.transform(X),
        lambda: make_pipeline(StandardScaler(), SupervisedPCA(3)).fit(X, y),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match="target_weight") as caught:
            call()
        assert [w.filename for w in caught] == [__file__]


def test_hsic_parameters():
    X, y = np.eye(4), [0, 0, 1, 1]
    for wrong, words in (
        (dict(approximation="foo"), "approximation must be one of"),
        (dict(n_random_features=0), "n_random_features"),
        (dict(label_gamma=-1), "label_gamma"),
        (dict(kernel=np.dot, approximation="fourier"), "callable kernel"),
    ):
        with pytest.raises(ValueError, match=words):
            hsic(X, y, **wrong)
    with pytest.raises(ValueError, match="y is None"):
        hsic(X, None)


def test_hsic_of_constant_rows(rng):
    y = rng.normal(size=40)
    for kernel in ("rbf", "linear", "polynomial"):
        assert hsic_test(np.full((40, 2), 0.3), y, kernel=kernel, random_state=0).pvalue == 1.0


def test_hsic_matern_keeps_its_digits(rng):
    X = rng.normal(size=(60, 3)) + 1e4 * (np.arange(60) % 2)[:, None]
    y = rng.integers(0, 2, 60)
    truth = oracles.hsic(Matern(length_scale=1, nu=0.5)(X), oracles.delta_kernel(y))
    found = hsic(X, y, kernel="matern", gamma=0.5, kernel_params={"nu": 0.5})
    assert found == pytest.approx(truth, rel=1e-6)


# Statistics under weights, offsets and deficient ranks --------------------------------------------


@pytest.mark.parametrize("statistic", [Scatter, Spread])
@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_scatter_and_spread_merge_far_from_zero(rng, statistic, offset):
    X = rng.normal(size=(400, 3)) + offset
    parts = [statistic.of(X[i : i + 50]) for i in range(0, 400, 50)]
    total = parts[0]
    for part in parts[1:]:
        total = total.merge(part)
    exact = X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)
    truth = (exact.T @ exact if statistic is Scatter else (exact**2).sum(axis=0)).astype(float)
    found = total.comoment if statistic is Scatter else total.squares
    np.testing.assert_allclose(found, truth, atol=1e-13 * np.abs(truth).max())


def test_sparse_labels_take_weights(data, rng):
    X, y = data
    Y, weight = np.eye(3)[y], rng.uniform(1, 2, 90)
    sparse_y = SupervisedPCA(2).fit(X, sparse.csr_array(Y), sample_weight=weight)
    dense_y = SupervisedPCA(2).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(sparse_y.components_, dense_y.components_, atol=1e-12)
    assert not np.allclose(dense_y.components_, SupervisedPCA(2).fit(X, Y).components_)


def test_sparse_ledoit_wolf_is_dense_ledoit_wolf(data, rng):
    X, y, weight = data[0] ** 2, data[1], rng.uniform(1, 2, 90)
    model = SupervisedPCA(2, shrinkage="auto")
    dense = clone(model).fit(X, y, sample_weight=weight)
    parts = clone(model)
    for part in np.array_split(np.arange(90), 4):
        parts.partial_fit(sparse.csr_array(X[part]), y[part], sample_weight=weight[part])
    assert parts.shrinkage_ == pytest.approx(dense.shrinkage_, rel=1e-10)
    assert 0 < dense.shrinkage_ < 1


def test_ledoit_wolf_at_its_ends(rng):
    X = rng.normal(size=(4, 60))
    model = SupervisedPCA(1, shrinkage="auto").fit(X, [0, 1, 0, 1])
    assert model.shrinkage_ == pytest.approx(ledoit_wolf_shrinkage(X))
    with pytest.raises(ValueError, match="shrinkage='auto' needs fourth powers"):
        SupervisedPCA(1, shrinkage="auto").fit(X * 1e80, [0, 1, 0, 1])


def test_constant_rows_with_weights_and_continuous_labels(rng):
    y, weight = rng.normal(size=50), rng.uniform(1, 2, 50)
    with pytest.warns(UserWarning, match="Only 0 of the 1"):
        SupervisedPCA(1).fit(np.full((50, 3), 0.1), y, sample_weight=weight)
    with pytest.warns(UserWarning, match="Only 0 of the 1"):
        SupervisedPCA(1).fit(rng.normal(size=(50, 3)), np.full(50, 0.1), sample_weight=weight)


@pytest.mark.parametrize("seed", range(20))
def test_two_classes_have_one_direction_even_in_noise(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(200, 5)) * 10.0 ** rng.integers(-6, 6, 5), rng.integers(0, 2, 200)
    for model in (SupervisedPCA(2), KernelSupervisedPCA(2, kernel="linear", approximation="exact")):
        with pytest.warns(UserWarning, match="Only 1 of the 2"):
            assert model.fit(X, y).singular_values_[1] == 0


def test_columns_said_twice_count_once(data):
    X, y = data
    with pytest.warns(UserWarning, match="Only 1 of the 2"):
        SupervisedPCA(2, label_kernel="linear").fit(X, np.c_[y, y] * 0.5)
    doubled = np.c_[X, X]
    with pytest.warns(UserWarning, match="Only 4 of the 6"):
        model = SupervisedPCA(6, target_weight=0).fit(doubled, y)
    assert not model.components_[4:].any()
    assert np.abs(SupervisedPCA(2, shrinkage=0).fit(doubled, y).components_).max() < 1e2


def test_two_columns_of_classes_have_two_sums(data):
    X, y = data
    Y = np.c_[y, X[:, 3] > 0]
    with pytest.warns(UserWarning, match="Only 3 of the 4"):
        assert SupervisedPCA(4).fit(X, Y).singular_values_[2] > 0
    with pytest.raises(ValueError, match="Only one class"):
        SupervisedPCA(1).fit(X, np.tile([3, 4], (90, 1)))


def test_dependence_without_labels_and_past_the_rank(data):
    X, y = data
    n = len(X)
    H = np.eye(n) - 1 / n
    Z = SupervisedPCA(2).fit(X).transform(X)
    truth = np.trace(Z @ Z.T @ H @ H) / (n - 1) ** 2
    assert SupervisedPCA(2).fit(X).dependence_.sum() == pytest.approx(truth)
    with pytest.warns(UserWarning, match="Only 2 of the 4"):
        srp = SupervisedRandomProjection(4, random_state=0).fit(X, y)
    assert not srp.dependence_[2:].any()
    for approximation in ("orthogonal", "exact"):
        model = KernelSupervisedRandomProjection(2, approximation=approximation, random_state=0)
        assert np.isnan(model.fit(X).dependence_).all()


def test_exact_randomized_pca_is_the_linear_one(data):
    X = data[0]
    linear = SupervisedRandomProjection(3, random_state=0).fit(X).transform(X)
    exact = KernelSupervisedRandomProjection(
        3, kernel="linear", approximation="exact", random_state=0
    )
    np.testing.assert_allclose(exact.fit(X).transform(X), linear, atol=1e-9)


def test_exact_linear_kernel_in_float32(data):
    X, y = (data[0] + 1000).astype(np.float32), data[1]
    exact = KernelSupervisedPCA(2, kernel="linear", approximation="exact").fit(X, y)
    linear = SupervisedPCA(2).fit(X, y).transform(X)
    np.testing.assert_allclose(np.abs(exact.transform(X)), np.abs(linear), atol=1e-4)


def test_exact_kernel_takes_weights_in_batches(data, rng):
    X, y, weight = *data, rng.uniform(1, 5, 90)
    model = KernelSupervisedPCA(2, gamma=0.1, approximation="exact")
    whole = clone(model).fit(X, y, sample_weight=weight).transform(X)
    parts = clone(model)
    for part in (slice(0, 40), slice(40, 90)):
        parts.partial_fit(X[part], y[part], sample_weight=weight[part])
    np.testing.assert_allclose(parts.transform(X), whole, atol=1e-10)


def test_unlabelled_rows_count_for_the_mean_where_variance_counts(data):
    X, y = data
    hidden = np.where(np.arange(90) < 60, y, -1)
    alone = SupervisedPCA(1, missing_label=-1).fit(X, hidden)
    np.testing.assert_allclose(alone.mean_, X[:60].mean(axis=0))
    mixed = SupervisedPCA(1, missing_label=-1, target_weight=0.5).fit(X, hidden)
    np.testing.assert_allclose(mixed.mean_, X.mean(axis=0))


def test_sketch_of_scaled_rows_is_weighed_by_their_own_variance(data):
    """Over seeds, U U^T is A(t) of the scaled rows."""
    X, y = data[0] * [1, 10, 100, 1000], data[1]
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    draws = []
    for seed in range(400):
        model = SupervisedRandomProjection(2, target_weight=0.4, scale="minmax", random_state=seed)
        U = model.fit(X, y).components_.T
        draws.append(U @ U.T)
    error = np.abs(np.mean(draws, axis=0) - oracles.objective(scaled, oracles.delta_kernel(y), 0.4))
    assert (error < 5 * np.std(draws, axis=0) / np.sqrt(400)).all()


def test_merging_leaves_the_other_as_it_was(data):
    X, y = data
    first, second = SupervisedPCA(2).fit(X[:40], y[:40]), SupervisedPCA(2).fit(X[40:], y[40:])
    kept = first.moments_, second.moments_
    before = copy.deepcopy(kept)
    first.merge(second).partial_fit(X, y)
    for old, now in zip(before, kept, strict=True):
        np.testing.assert_array_equal(old.cross.sums, now.cross.sums)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(target_weight=0.5), "target_weight is 1.0 and 0.5"),
        (dict(scale="minmax"), "scale is None and 'minmax'"),
        (dict(n_components=3), "n_components is 2 and 3"),
    ],
)
def test_merging_other_parameters_is_refused(data, change, words):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = SupervisedPCA(2).set_params(**change).fit(X, y)
    with pytest.raises(ValueError, match=words):
        SupervisedPCA(2).fit(X, y).merge(other)
    with pytest.raises(ValueError, match="one was fitted with labels, the other without"):
        SupervisedPCA(2, target_weight=0.5).fit(X, y).merge(
            SupervisedPCA(2, target_weight=0.5).fit(X)
        )


@pytest.mark.parametrize("parameters", [dict(target_weight=0.5), dict(scale="standard")])
def test_overflow_of_any_statistic_is_refused(data, parameters):
    X, y = data
    model = SupervisedRandomProjection(2, random_state=0, **parameters).fit(X, y)
    with pytest.raises(ValueError, match="overflow float64"):
        model.partial_fit(X * 1e170, y)


def test_merging_other_kernels_scales_and_names_is_refused(data):
    X, y = data
    exact = KernelSupervisedPCA(2, gamma=0.1, approximation="exact")
    with pytest.raises(ValueError, match="feature maps differ"):
        clone(exact).fit(X, y).merge(clone(exact).set_params(gamma=0.2).fit(X, y))
    scaled = KernelSupervisedPCA(2, gamma=0.1, scale="minmax", random_state=0)
    with pytest.raises(ValueError, match="scale was taken from different first batches"):
        clone(scaled).fit(X, y).merge(clone(scaled).fit(X * 2, y))
    frames = [pd.DataFrame(X, columns=list(names)) for names in ("abcd", "abce")]
    with pytest.raises(ValueError, match="feature_names_in_"):
        SupervisedPCA(2).fit(frames[0], y).merge(SupervisedPCA(2).fit(frames[1], y))
    with pytest.raises(NotFittedError):
        SupervisedPCA(2).fit(X, y).merge(SupervisedPCA(2))


@pytest.mark.parametrize("approximation", [None, "exact"])
def test_randomized_pca_weighs_rows_once(data, rng, approximation):
    """Over seeds, the Gram matrix of the embedding is that of the weighted covariance."""
    X, weight = data[0][:30], rng.integers(1, 5, 30).astype(float)
    centred = X - np.average(X, axis=0, weights=weight)
    covariance = np.cov(X, rowvar=False, bias=True, aweights=weight)
    draws = []
    for seed in range(600):
        if approximation is None:
            model = SupervisedRandomProjection(2, random_state=seed)
        else:
            model = KernelSupervisedRandomProjection(
                2, kernel="linear", approximation="exact", random_state=seed
            )
        Z = model.fit(X, sample_weight=weight).transform(X)
        draws.append(Z @ Z.T)
    error = np.abs(np.mean(draws, axis=0) - centred @ covariance @ centred.T)
    assert (error < 5 * np.std(draws, axis=0) / np.sqrt(600)).all()


def test_exact_randomized_pca_in_batches(data):
    X = data[0]
    model = KernelSupervisedRandomProjection(2, gamma=0.1, approximation="exact", random_state=0)
    parts = clone(model).partial_fit(X[:64]).partial_fit(X[64:])
    start = clone(model).partial_fit(X[:64])
    assert start._recipe.noise == parts._recipe.noise
    vectors = parts._recipe.noise.vectors(0, 90, np.ones(90))
    np.testing.assert_array_equal(parts.moments_.features, vectors)
    assert parts.dual_coef_.shape == (2, 90)


def test_weights_follow_their_labels(data, rng):
    X, y, weight = data[0], data[1] + 0.5 * rng.random(90), rng.uniform(1, 9, 90)
    hidden, labelled = y.copy(), np.arange(90) % 3 > 0
    hidden[~labelled] = np.nan
    model = SupervisedPCA(2, missing_label=np.nan)
    found = clone(model).fit(X, hidden, sample_weight=weight)
    truth = clone(model).fit(X[labelled], y[labelled], sample_weight=weight[labelled])
    np.testing.assert_allclose(found.components_, truth.components_, atol=1e-12)


def test_messages_count_and_point(data):
    X, y = data[0].copy(), data[1]
    weight = np.ones(90)
    weight[3] = -1
    with pytest.raises(ValueError, match="negative at row 3"):
        SupervisedPCA(1).fit(X, y, sample_weight=weight)
    weight[3] = np.inf
    with pytest.raises(ValueError, match=r"infinity .* at row 3"):
        SupervisedPCA(1).fit(X, y, sample_weight=weight)
    X[5, 1] = X[7, 2] = X[8, 0] = np.nan
    with pytest.raises(ValueError, match=r"NaN at row 5, column 1 \(and 2 more"):
        SupervisedPCA(1).fit(X, y)
    for gamma in (np.inf, 10**400):
        with pytest.raises(ValueError, match="gamma must be a number"):
            KernelSupervisedPCA(1, gamma=gamma).fit(data[0], y)


def test_batch_size_may_change_and_float32_comes_back(data):
    X, y = data[0].astype(np.float32), data[1]
    model = SupervisedPCA(2).partial_fit(X, y).set_params(batch_size=64).partial_fit(X, y)
    assert model.inverse_transform(model.transform(X)).dtype == np.float32


@pytest.mark.parametrize("parameters", [dict(shrinkage=0.1), dict(target_weight=0.5), {}])
def test_solvers_are_the_same_bits_for_any_number_of_threads(rng, parameters):
    X, y = rng.normal(size=(700, 300)), rng.integers(0, 60, 700)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(SupervisedPCA(20, **parameters).fit(X, y).components_)
    np.testing.assert_array_equal(*found)
