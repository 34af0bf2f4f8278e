"""Slices and ranks of numbers, against sliced inverse regression and SciPy's ranks."""

import numpy as np
import pytest
from scipy import linalg
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import QuantileTransformer

import labelens
from labelens import KernelSupervisedPCA, SupervisedPCA, SupervisedRandomProjection
from labelens import subspace_distance as distance
from labelens._fit import first_pass
from labelens._out_of_core import plan
from labelens.label_kernels import Product, Ranked, Sliced, Sum
from oracles import delta_kernel, spca_q, top_eigenvectors

N = 600


@pytest.fixture
def data(rng):
    """Rows, correlated columns of different scales, and a skewed number."""
    X = rng.normal(size=(N, 5)) @ rng.normal(size=(5, 5)) + 3
    y = np.exp(X[:, 0] / 2) + (X[:, 1] + X[:, 2]) ** 2 / 10 + 0.1 * rng.normal(size=N)
    return X, y


def sliced_inverse_regression(X, y, weight, n_slices):
    """Li (1991): eigenvectors of the covariance of slice means against that of rows."""
    levels = np.arange(1, n_slices) / n_slices
    edges = np.quantile(y, levels, method="inverted_cdf", weights=weight)
    slice_of = np.searchsorted(edges, y)
    mean = np.average(X, axis=0, weights=weight)
    rows = np.cov(X.T, aweights=weight, ddof=0)
    between = np.zeros_like(rows)
    for number in np.unique(slice_of):
        here = slice_of == number
        off = np.average(X[here], axis=0, weights=weight[here]) - mean
        between += weight[here].sum() / weight.sum() * np.outer(off, off)
    return linalg.eigh(between, rows)[1][:, ::-1].T


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n_slices", [3, 10])
def test_slices_give_sliced_inverse_regression(rng, data, weighted, ties, n_slices):
    X, y = data
    y = np.round(y) if ties else y
    weight = rng.uniform(0.1, 3, N) if weighted else np.ones(N)
    truth = sliced_inverse_regression(X, y, weight, n_slices)
    for k in (1, 2):
        model = SupervisedPCA(k, label_kernel=Sliced(n_slices), shrinkage=0, label_shrinkage=0)
        model.fit(X, y, sample_weight=weight if weighted else None)
        assert distance(model.components_, truth[:k]) < 1e-8


def test_random_directions_of_all_slices_span_sliced_inverse_regression(rng, data):
    X, y = data
    X = np.c_[X, rng.normal(size=(N, 3))]
    truth = sliced_inverse_regression(X, y, np.ones(N), 4)
    model = SupervisedRandomProjection(3, label_kernel=Sliced(4), shrinkage=0, random_state=0)
    assert distance(model.fit(X, y).components_, truth[:3]) < 1e-8
    # One component for each but one of the slices: nothing of L is lost.
    U = clone(model).set_params(shrinkage=1).fit(X, y).components_.T
    L = delta_kernel((rankdata(y) - 1) * 4 // N)
    np.testing.assert_allclose(U @ U.T, spca_q(X, L) / N**2, atol=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_ranks_are_those_of_scipy(rng, data, weighted):
    X, y = data
    y = np.where(y < np.quantile(y, 0.2), y.min(), y)  # ties
    times = rng.integers(1, 4, N) if weighted else np.ones(N, dtype=int)
    again = np.repeat(np.arange(N), times)
    ranks = (rankdata(y[again]) - 0.5) / len(again)
    L = rbf_kernel(ranks[:, None], gamma=12)
    truth, _ = top_eigenvectors(spca_q(X[again], L), 2)
    model = SupervisedPCA(2, label_kernel="ranked").fit(X, y, sample_weight=times)
    assert distance(model.components_, truth) < 1e-10
    np.testing.assert_allclose(model.label_kernel_.ranks(y[again]), ranks, atol=1e-14)


@pytest.mark.parametrize("kernel", ["ranked", Ranked(600), "sliced", Sliced(3)], ids=repr)
@pytest.mark.parametrize("model", [SupervisedPCA(2, shrinkage=0.1), KernelSupervisedPCA(2)])
def test_increasing_transformations_change_nothing(data, kernel, model):
    X, y = data
    model = clone(model).set_params(label_kernel=kernel, random_state=0)
    plain = clone(model).fit(X, y).transform(X)
    other = clone(model).fit(X, np.exp(y / 2) - 3).transform(X)
    np.testing.assert_allclose(other, plain, atol=1e-10 * np.abs(plain).max())
    normal = clone(model).set_params(label_kernel="rbf").fit(X, y).transform(X)
    assert distance(normal.T, plain.T) > 1e-3


def test_few_quantiles_are_close_to_all(data):
    """F is linear in between: no rank is off by more than the weight between two quantiles."""
    X, y = data
    y = np.round(y, 1)
    kernel = SupervisedPCA(1, label_kernel=Ranked(21)).fit(X, y).label_kernel_
    assert len(kernel.quantiles) <= 21
    assert kernel.quantiles[0] == y.min()
    assert kernel.quantiles[-1] == y.max()
    assert np.abs(kernel.ranks(y) - (rankdata(y) - 0.5) / N).max() < 1 / 20


def test_given_quantiles_are_those_of_scikit_learn(rng):
    """Evenly spaced levels, and the middle one of equal quantiles."""
    y = np.round(rng.exponential(size=(300, 1)), 1)
    transform = QuantileTransformer(n_quantiles=30).fit(y)
    kernel = Ranked(quantiles=transform.quantiles_[:, 0])
    asked = np.r_[transform.quantiles_[1:-1, 0], -5, 50]  # it puts the ends at 0 and 1
    truth = transform.transform(asked[:, None])[:, 0]
    truth[-2:] = kernel.levels[0], kernel.levels[-1]
    np.testing.assert_allclose(kernel.ranks(asked), truth, atol=1e-12)


@pytest.mark.parametrize("scale", [1, 0.1, 1 / 3, 1e9])
def test_equal_weights_are_no_weights(data, scale):
    X, y = data
    for kernel in (Sliced(10), Sliced(7), Ranked(), Ranked(50)):
        model = SupervisedPCA(1, label_kernel=kernel)
        plain = clone(model).fit(X, y).label_kernel_
        weighted = clone(model).fit(X, y, sample_weight=np.full(N, scale)).label_kernel_
        for name in ("edges", "quantiles", "levels"):
            mine, other = (getattr(k, name, None) for k in (plain, weighted))
            assert (mine is None) == (other is None)
            if mine is not None:
                np.testing.assert_allclose(other, mine, rtol=1e-12)


# Batches and merges ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Sliced(5), Ranked()], ids=repr)
def test_batches_keep_the_quantiles_of_the_first(data, kernel):
    X, y = data
    model = SupervisedPCA(2, label_kernel=kernel, shrinkage=0.1)
    stream = clone(model).partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    first = clone(model).fit(X[:200], y[:200]).label_kernel_
    assert stream.label_kernel_ == first
    whole = clone(model).set_params(label_kernel=first).fit(X, y)
    np.testing.assert_allclose(stream.components_, whole.components_, atol=1e-10)


@pytest.mark.parametrize("kernel", [Sliced(5), Ranked()], ids=repr)
def test_models_with_the_same_quantiles_merge(data, kernel):
    X, y = data
    model = SupervisedPCA(2, label_kernel=kernel)
    one, two = (clone(model).fit(X[s], y[s]) for s in (slice(300), slice(300, None)))
    with pytest.raises(ValueError, match=r"label maps differ.*pass the label_kernel_ of one"):
        one.merge(two)
    two = clone(model).set_params(label_kernel=one.label_kernel_).fit(X[300:], y[300:])
    whole = clone(model).set_params(label_kernel=one.label_kernel_).fit(X, y)
    np.testing.assert_allclose(one.merge(two).components_, whole.components_, atol=1e-10)


@pytest.mark.parametrize("kernel", ["sliced", "ranked"])
def test_streams_take_quantiles_from_a_sample_of_all_labels(rng, monkeypatch, kernel):
    """The numbers of the first rows are smaller than all others."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", 1)
    X, y = rng.normal(size=(5000, 3)), np.arange(5000.0)
    X[:, 0] += y / 1000
    whole = SupervisedPCA(1, label_kernel=kernel).fit(X, y)
    stream = labelens.fit(SupervisedPCA(1, label_kernel=kernel), X, label=y)
    assert stream.label_kernel_ == whole.label_kernel_
    monkeypatch.setattr(first_pass, "SAMPLE_ROWS", 1024)
    sampled = labelens.fit(SupervisedPCA(1, label_kernel=kernel), X, label=y)
    assert sampled.label_kernel_ != whole.label_kernel_
    assert distance(sampled.components_, whole.components_) < 0.05
    with pytest.raises(ValueError, match="the label kernel requires a first pass"):
        labelens.fit(SupervisedPCA(1, label_kernel=kernel), iter([(X[:99], y[:99])]))
    once = iter([(X[:2000], y[:2000]), (X[2000:], y[2000:])])
    known = SupervisedPCA(1, label_kernel=whole.label_kernel_)
    assert distance(labelens.fit(known, once).components_, whole.components_) < 1e-10


def test_numbers_outside_of_the_first_batch_have_the_rank_of_its_ends(data):
    X, y = data
    kernel = SupervisedPCA(1, label_kernel="ranked").fit(X, y).label_kernel_
    ends = kernel.ranks([-1e300, y.min(), y.max(), 1e300])
    np.testing.assert_allclose(ends, [0.5 / N, 0.5 / N, 1 - 0.5 / N, 1 - 0.5 / N], rtol=1e-12)
    slices = Sliced(edges=[1, 2]).features(np.array([-1e300, 1, 1.5, 2, 2.5, 1e300]))
    assert slices.argmax(axis=1).tolist() == [0, 0, 1, 1, 2, 2]


# Corners -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["sliced", "ranked"])
@pytest.mark.parametrize("method", [SupervisedPCA, SupervisedRandomProjection])
def test_one_number_has_no_components(rng, kernel, method):
    X = rng.normal(size=(40, 3))
    with pytest.warns(UserWarning, match="Only 0 of the 1 components"):
        method(1, label_kernel=kernel).fit(X, np.full(40, 2.5))


def test_many_equal_numbers_make_fewer_slices(data):
    X, y = data
    zeros = np.where(np.arange(N) % 4 < 3, 0.0, y - y.min() + 1)
    model = SupervisedPCA(1, label_kernel=Sliced(10)).fit(X, zeros)
    assert model.label_kernel_.n_slices == 4  # 7.5 of 10 levels are those of zero
    assert model.label_kernel_.edges[0] == 0
    model = SupervisedPCA(1, label_kernel=Sliced(10)).fit(X, -zeros)
    assert model.label_kernel_.edges[-1] < 0  # no slice is empty
    assert model.label_kernel_.n_slices == len(model.label_kernel_.edges) + 1


def test_strings_are_kernels_without_arguments(data):
    X, y = data
    for name, kernel in (("sliced", Sliced()), ("ranked", Ranked())):
        mine = SupervisedPCA(2, label_kernel=name).fit(X, y)
        np.testing.assert_array_equal(
            mine.components_, SupervisedPCA(2, label_kernel=kernel).fit(X, y).components_
        )


def test_random_fourier_features_of_ranks(data):
    X, y = data
    model = SupervisedRandomProjection(
        3, label_kernel="ranked", label_map="fourier", random_state=0
    )
    plain = clone(model).fit(X, y).components_
    np.testing.assert_allclose(clone(model).fit(X, np.exp(y / 2)).components_, plain, rtol=1e-10)
    wide = clone(model).set_params(label_gamma=1e-9).fit(X, y).components_
    assert np.abs(wide).max() < 1e-3 * np.abs(plain).max()


@pytest.mark.parametrize("kernel", [Sliced(4), Ranked()], ids=repr)
def test_whole_numbers_and_gaps(data, kernel):
    X, y = data
    whole = np.round(y).astype(int)
    model = SupervisedPCA(2, label_kernel=kernel, missing_label=np.nan)
    plain = clone(model).fit(X, whole).components_
    np.testing.assert_array_equal(clone(model).fit(X, whole.astype(float)).components_, plain)
    gaps = np.where(np.arange(N) < 300, whole, np.nan)
    some = clone(model).fit(X[:300], whole[:300])
    gapped = clone(model).fit(X, gaps)
    assert gapped.label_kernel_ == some.label_kernel_
    np.testing.assert_allclose(gapped.components_, some.components_, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Sliced(1), ValueError, "n_slices must be an integer >= 2"),
        (lambda: Sliced(2.5), TypeError, "n_slices must be an integer"),
        (lambda: Sliced(edges=[1, 1]), ValueError, "edges must be finite numbers that increase"),
        (lambda: Sliced(edges=[1, np.nan]), ValueError, "edges must be finite"),
        (lambda: Sliced(edges=["a"]), TypeError, "edges must be a sequence of numbers"),
        (lambda: Sliced(edges=3.0), TypeError, "edges must be a sequence of numbers"),
        (lambda: Ranked(1), ValueError, "n_quantiles must be an integer >= 2"),
        (lambda: Ranked(quantiles=[2, 1]), ValueError, "quantiles must be .* not decrease"),
        (lambda: Ranked(quantiles=[]), ValueError, "quantiles is empty"),
        (lambda: Ranked(levels=[0, 1]), ValueError, "pass quantiles too"),
        (lambda: Ranked(quantiles=[1, 2], levels=[0.5]), ValueError, "each of the 2 quantiles"),
        (lambda: Ranked(quantiles=[1, 2], levels=[0, 2]), ValueError, "a number from 0 to 1"),
    ],
)
def test_kernels_that_mean_nothing(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("kernel", [Sliced(4), Ranked()], ids=repr)
def test_labels_that_do_not_fit(data, kernel):
    X, y = data
    name, model = type(kernel).__name__, SupervisedPCA(1, label_kernel=kernel)
    with pytest.raises(ValueError, match=f"{name} takes one column of numbers, and y has 2; com"):
        clone(model).fit(X, np.c_[y, y])
    with pytest.raises(TypeError, match=f"label_kernel='{name}' needs numbers, and row 0 of y is"):
        clone(model).fit(X, np.where(y > 1, "a", "b"))
    with pytest.raises(ValueError, match="Input y contains NaN at row 3"):
        clone(model).fit(X, np.where(np.arange(N) == 3, np.nan, y))
    fitted = clone(model).partial_fit(X[:300], y[:300])
    with pytest.raises(TypeError, match=f"label_kernel='{name}' needs numbers"):
        fitted.partial_fit(X[300:], np.where(y > 1, "a", "b")[300:])
    with pytest.raises(ValueError, match="y has 2 columns, and 1 in the batches before"):
        fitted.partial_fit(X[300:], np.c_[y, y][300:])


def test_columns_may_have_slices_and_ranks(data):
    X, y = data
    Y = np.c_[y, np.arange(N) % 5]
    for kernel in (Sum("sliced", "ranked"), Product("ranked", "delta")):
        assert SupervisedPCA(2, label_kernel=kernel).fit(X, Y).label_kernel_ == kernel
