"""Rows as they come: containers, dtypes, scales, offsets, constants."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import FunctionTransformer

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    subspace_distance,
)
from labelens._base import devices
from labelens._core.scaling import SCALES
from oracles import gram


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
    masked = np.ma.masked_equal(y, 1)
    with pytest.raises(ValueError, match=f"row {np.argmax(masked.mask)} .*missing_label"):
        SupervisedPCA(1).fit(X, masked)


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


def within_a_word(array):
    """The same numbers as they may come over a network: beginning at any byte."""
    there = np.empty(array.nbytes + 3, np.uint8)[3:].view(array.dtype)
    there = there.reshape(array.shape, order="F" if array.flags.f_contiguous else "C")
    there[...] = array
    assert not there.flags.aligned
    return there


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [2, 800, 20_000])
def test_rows_that_begin_within_a_word(rng, n, order):
    y, weight = np.arange(n) % 2, rng.exponential(size=n)
    X = np.asarray(rng.normal(size=(n, 64)) + y[:, None], order=order)
    model, other = (
        SupervisedPCA(1).fit(change(X), y, sample_weight=change(weight))
        for change in (np.asarray, within_a_word)
    )
    np.testing.assert_array_equal(other.components_, model.components_)
    np.testing.assert_array_equal(model.transform(within_a_word(X)), model.transform(X))


# Sparse rows far from zero -----------------------------------------------------------------------


@pytest.fixture(params=["every column", "some columns", "all but one entry"])
def far(request, rng):
    """Dense rows with means of 1e7 times the spread in columns that are full, or nearly; labels."""
    y = rng.integers(0, 3, 2500)
    X = rng.normal(size=(2500, 6)) @ rng.normal(size=(6, 6)) + 2 * np.eye(3, 6)[y]
    if request.param == "every column":
        return X + 1e7, y
    X[:, 3:] *= rng.random((2500, 3)) < 0.1
    X[:, :3] += 1e7
    if request.param == "all but one entry":
        X[2400, 0] = 0  # after the first block
    return X, y


@pytest.mark.parametrize("labels", ["classes", "numbers"])
@pytest.mark.parametrize(
    "model",
    [
        SupervisedPCA(2),
        SupervisedPCA(2, shrinkage=0.01),
        SupervisedPCA(2, shrinkage="auto", scale="standard"),
        SupervisedPCA(3, target_weight=0.5, scale="standard"),
        SupervisedRandomProjection(2, target_weight=0.5, shrinkage=0.1, random_state=0),
        KernelSupervisedPCA(2, kernel="linear", shrinkage=0.01),
    ],
    ids=str,
)
def test_sparse_rows_far_from_zero_keep_their_digits(far, model, labels):
    X, y = far
    y = y if labels == "classes" else X[:, 1] - X[:, 1].mean() + y
    dense = clone(model).fit(X, y)
    rows = sparse.csr_array(X)
    whole = clone(model).fit(rows, y)
    # Rows that are scaled one by one are rounded to 1e7 eps, dense ones too.
    tolerance = 1e-9 if model.shrinkage == "auto" else 1e-10
    assert subspace_distance(whole.components_, dense.components_) < tolerance
    Z = dense.transform(X)
    np.testing.assert_allclose(whole.transform(rows), Z, atol=1e-8 * np.abs(Z).max())
    # What is not drawn from the first batch is the same in two.
    if labels == "classes" and isinstance(model, SupervisedPCA) and model.shrinkage != "auto":
        parts = clone(model).partial_fit(rows[:900], y[:900]).partial_fit(rows[900:], y[900:])
        assert subspace_distance(parts.components_, dense.components_) < 1e-10


@pytest.mark.parametrize(
    "changed",
    [
        {"approximation": "exact"},
        {"approximation": "exact", "shrinkage": 0.01},
        {"approximation": "falkon", "shrinkage": 0.01, "n_random_features": 300},
        {"approximation": "nystroem", "n_random_features": 50},
        {"approximation": "exact", "kernel": "matern"},
    ],
    ids=str,
)
def test_kernels_of_sparse_rows_far_from_zero_keep_their_digits(far, changed):
    X, y = far[0][-700:], far[1][-700:]
    model = KernelSupervisedPCA(2, gamma=0.05, random_state=0, **changed)
    Z = clone(model).fit(X, y).transform(X)
    found = clone(model).fit(sparse.csr_array(X), y)
    for rows in (sparse.csr_array(X), X):
        np.testing.assert_allclose(
            gram(found.transform(rows)), gram(Z), atol=1e-7 * np.abs(Z).max() ** 2
        )


@pytest.mark.parametrize(
    ("form", "scale"),
    [
        *((form, scale) for form in (np.asarray, sparse.csr_array) for scale in SCALES[1:]),
        ("device", "minmax"),  # which takes variances of float32 rows in float32
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_scaled_single_precision_is_summed_in_double(rng, scale, form, weighted, monkeypatch):
    y = rng.integers(0, 3, 300)
    X = ((rng.normal(size=(300, 6)) + 2 * np.eye(3, 6)[y]) * 7 + 50).astype(np.float32)
    model = SupervisedPCA(2, scale=scale, shrinkage="auto")
    weight = rng.uniform(1, 2, 300) if weighted else None
    double = clone(model).fit(X.astype(float), y, sample_weight=weight)
    if form == "device":
        monkeypatch.setattr(devices, "_in_host_memory", lambda array: False)
        form = pytest.importorskip("torch").asarray
    single = clone(model).fit(form(X), y, sample_weight=weight)
    np.testing.assert_allclose(single.shrinkage_, double.shrinkage_, rtol=1e-11)
    shown = devices.host(single.components_)
    np.testing.assert_allclose(shown, double.components_, rtol=1e-9, atol=1e-10)
