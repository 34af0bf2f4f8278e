"""What an estimator keeps from call to call: moments, parameters, maps, and what may be merged."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import labelens
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens._core.kernels import Kernel


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


def test_parameters_stay_the_same_in_a_pickle(data):
    """NaN comes back as another NaN, and a number may be written anew."""
    X, y = data[0], data[1].astype(float)
    y[::5] = np.nan
    model = SupervisedPCA(np.int64(2), label_kernel="delta", missing_label=float("nan"))
    model = pickle.loads(pickle.dumps(model.partial_fit(X, y)))
    model.set_params(n_components=np.int64(2)).partial_fit(X, y)
    assert model.n_samples_seen_ == 180
    with pytest.raises(ValueError, match="missing_label was nan at the first batch and is 0 now"):
        model.set_params(missing_label=0).partial_fit(X, data[1])


def test_unsolved_is_not_fitted(data):
    X, y = data
    model = SupervisedPCA(1)
    with pytest.raises(AttributeError):
        model.get_feature_names_out()
    model.partial_fit(X, y * 0)
    assert not hasattr(model, "components_")
    assert "SupervisedPCA" in model._repr_html_()
    one = SupervisedPCA(1).partial_fit(X[:1], [0.5])
    with pytest.raises(ValueError, match="needs at least two rows"):
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


@pytest.mark.parametrize("approximation", ["exact", "fourier", "nystroem"])
def test_wide_sparse_rows_make_no_larger_blocks_of_what_is_dense(monkeypatch, rng, approximation):
    X = sparse.random_array((3000, 5000), density=0.001, format="csr", random_state=rng)
    model = KernelSupervisedPCA(
        2, gamma=0.1, approximation=approximation, n_random_features=32, random_state=0
    )
    made, kernel = [], Kernel.__call__
    monkeypatch.setattr(
        Kernel, "__call__", lambda self, A, B: made.append(A.shape[0]) or kernel(self, A, B)
    )
    model.fit(X, rng.integers(0, 3, 3000)).transform(X)
    assert model._recipe.block == 1024
    assert max(made, default=0) <= 1024


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
    whole = clone(model).fit(X)
    np.testing.assert_allclose(parts.dual_coef_, whole.dual_coef_, atol=1e-10)
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


# Nothing of a fit before -------------------------------------------------------------------------


def _on_torch(model, X, y):
    model.fit(pytest.importorskip("torch").asarray(X), y)


def _on_dask(model, X, y):
    dask_array = pytest.importorskip("dask.array")
    model.fit(dask_array.from_array(X, (30, X.shape[1])), dask_array.from_array(y, 30))


def _as_a_frame(model, X, y):
    model.fit(pd.DataFrame(X, columns=list("abcd")[: X.shape[1]]), y)


FITS = {
    "rows": lambda model, X, y: model.fit(X, y),
    "frame": _as_a_frame,
    "torch": _on_torch,
    "stream": lambda model, X, y: labelens.fit(model, X, label=y),
    "batches": lambda model, X, y: labelens.fit(model, [(X, y)]),
    "dask": _on_dask,
}


@pytest.mark.parametrize("first", FITS)
@pytest.mark.parametrize("then", FITS)
def test_a_fit_starts_from_a_clean_slate(data, first, then):
    X, y = data
    model = SupervisedPCA(2).set_output(transform="pandas")
    FITS[first](model, X, y)
    assert model.components_.shape == (2, 4)
    FITS[then](model, X[:, :3], y)
    fresh = SupervisedPCA(2).set_output(transform="pandas")
    FITS[then](fresh, X[:, :3], y)
    assert vars(model).keys() == vars(fresh).keys()
    assert type(model.components_) is type(fresh.components_)
    np.testing.assert_array_equal(model.components_, fresh.components_)
    assert model.n_features_in_ == 3
    names = [getattr(m, "feature_names_in_", np.zeros(0)).tolist() for m in (model, fresh)]
    assert names[0] == names[1]


@pytest.mark.parametrize("then", FITS)
def test_a_fit_that_fails_leaves_the_one_before(data, then):
    X, y = data
    model = SupervisedPCA(2).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="class"):
        FITS[then](model, X[:, :3], np.zeros(90, dtype=int))
    assert vars(model) == before
