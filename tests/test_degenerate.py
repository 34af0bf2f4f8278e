"""Too many components, deficient ranks, odd weights, extreme sizes: corners of the mathematics."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.gaussian_process.kernels import Matern
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import oracles
from conftest import read_only
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    hsic,
    hsic_test,
    subspace_distance,
)
from labelens._core.moments import Scatter, Spread


@pytest.mark.parametrize("shrinkage", [1.0, 0.1])
def test_too_many_components_warn_and_stay_finite(blobs, shrinkage):
    X, y = blobs
    for kind in (SupervisedPCA, SupervisedRandomProjection):
        with pytest.warns(UserWarning, match=r"Only 3 of the 6 .* 4 classes .* target_weight"):
            Z = kind(6, shrinkage=shrinkage, random_state=0).fit(X, y).transform(X)
        assert np.isfinite(Z).all()
        more = kind(6, target_weight=0.8, shrinkage=shrinkage, random_state=0).fit(X, y)
        assert np.linalg.matrix_rank(more.transform(X)) == 6


def test_more_components_than_columns(blobs):
    X, y = blobs
    with pytest.warns(UserWarning, match="Only 1 of the 3"):
        model = SupervisedPCA(3).fit(X[:, :1], y)
    assert model.transform(X[:, :1]).shape == (240, 3)
    np.testing.assert_array_equal(model.components_[1:], 0)


def test_constant_rows_give_zeros(blobs):
    X = read_only(np.full((20, 3), 7.25))
    for kind in (SupervisedPCA, SupervisedRandomProjection, KernelSupervisedPCA):
        with pytest.warns(UserWarning, match="Only 0 of the 1"):
            model = kind(1, random_state=0).fit(X, np.arange(20) % 2)
        np.testing.assert_allclose(model.transform(X), 0, atol=1e-12)


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
    with pytest.raises(ValueError, match="a single class"):
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


@pytest.mark.parametrize("marker", [-1, np.nan, 9.5])
def test_missing_labels_count_for_variance_only(blobs, marker):
    X, y = blobs
    hidden = np.where(np.arange(240) % 3, y, marker)
    labelled = np.arange(240) % 3 != 0
    model = SupervisedPCA(2, missing_label=marker, label_kernel="delta").fit(X, hidden)
    only = SupervisedPCA(2).fit(X[labelled], y[labelled])
    np.testing.assert_allclose(model.components_, only.components_, atol=1e-12)
    mixed = SupervisedPCA(2, missing_label=marker, label_kernel="delta", target_weight=0.5)
    Q, C = oracles.spca_q(X[labelled], oracles.delta_kernel(y[labelled])), oracles.covariance(X)
    truth, _ = oracles.top_eigenvectors(Q / np.trace(Q) + C / np.trace(C), 2)
    assert subspace_distance(mixed.fit(X, hidden).components_, truth) < 1e-10


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


@pytest.mark.parametrize("approximation", ["nystroem", "exact"])
def test_sparse_rows_far_from_zero_are_pointed_out_where_distances_lose_digits(rng, approximation):
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    wide = np.hstack([X, np.zeros((60, 1100))])
    model = KernelSupervisedPCA(
        2, approximation=approximation, gamma=0.1, n_random_features=20, random_state=0
    )
    for rows in (sparse.csr_array(wide), wide + 1e6, sparse.csr_array(X + 1e6)):
        model.fit(rows, y)  # dense rows and those of few columns are shifted
    wide[:, :4] += 1e6
    with pytest.warns(UserWarning, match=r"sparse rows have errors of about .* dense rows"):
        model.fit(sparse.csr_array(wide), y)


def test_sparse_rows_that_the_kernel_cannot_tell_apart_give_no_component(rng):
    """gamma="scale" is of all entries: of columns near 1e8 and -1e8 distances are rounding."""
    X, y = rng.normal([1e8, -1e8], size=(45, 2)), np.arange(45) % 3
    model = KernelSupervisedPCA(2, approximation="exact")
    with pytest.warns(UserWarning, match="carries information|carry information"):
        Z = model.fit_transform(sparse.csr_array(X), y)
    assert (Z == 0).all()


def test_constant_rows_in_batches_have_components_of_zero(rng):
    """Without labels each batch leaves a rounding of a rounding in the sketch."""
    X, weight = np.full((14, 1), -0.65029216, np.float32), rng.uniform(1, 3, size=14)
    model = SupervisedRandomProjection(4, scale="minmax", random_state=3)
    for some in np.split(np.arange(14), [3, 4, 9]):
        model.partial_fit(X[some], sample_weight=weight[some])
    with pytest.warns(UserWarning, match="carr"):
        assert (model.components_ == 0).all()
