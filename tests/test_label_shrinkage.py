"""Whitened labels: LDA and CCA for every number of components."""

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.cross_decomposition import CCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import labelens
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    label_kernels,
    subspace_distance,
)
from labelens._base import devices

SPECTRAL = (SupervisedPCA, KernelSupervisedPCA)
DIRECT = (SupervisedRandomProjection, KernelSupervisedRandomProjection)
WHITE = {"shrinkage": 0.0, "label_shrinkage": 0.0}


@pytest.fixture
def unbalanced(rng):
    """Five classes of very different sizes in six columns: X, y."""
    y = rng.choice(5, size=900, p=[0.55, 0.25, 0.12, 0.06, 0.02])
    return rng.normal(size=(5, 6))[y] * [3, 2, 1, 1, 1, 1] + rng.normal(size=(900, 6)), y


@pytest.fixture
def targets(rng):
    """Six columns and four correlated targets in different units: X, Y."""
    X = rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6)) + 5
    Y = X[:, :4] * [3, 1, 0.5, 0.2] + rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4)) * 2
    return X, Y * [1, 1e-9, 1e4, 1] + [0, 1e-7, 0, 1e3]


def root_inverse(matrix):
    values, vectors = linalg.eigh(matrix)
    keep = values > values[-1] * 1e-10
    return vectors[:, keep] / np.sqrt(values[keep]) @ vectors[:, keep].T


def centred(values, weight=None):
    return values - np.average(values, axis=0, weights=weight)


def covariance(left, right, weight=None):
    share = np.full(len(left), 1 / len(left)) if weight is None else weight / weight.sum()
    return (centred(left, weight) * share[:, None]).T @ centred(right, weight)


def canonical(X, Y, k, weight=None):
    """(k, d): canonical directions of X, by the SVD of the whitened cross-covariance."""
    Y = Y / Y.std(axis=0)
    left = root_inverse(covariance(X, X, weight))
    cross = left @ covariance(X, Y, weight) @ root_inverse(covariance(Y, Y, weight))
    return (left @ linalg.svd(cross)[0][:, :k]).T


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("solver", ["eigen", "svd"])
def test_classes_give_discriminant_analysis_for_every_k(unbalanced, k, solver):
    X, y = unbalanced
    model = SupervisedPCA(k, **WHITE).fit(X, y)
    lda = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    assert subspace_distance(model.components_, lda.scalings_[:, :k].T) < 1e-10


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_numbers_give_canonical_correlation_for_every_k(targets, k):
    X, Y = targets
    model = SupervisedPCA(k, label_kernel="linear", **WHITE).fit(X, Y)
    assert subspace_distance(model.components_, canonical(X, Y, k)) < 1e-9
    cca = CCA(k, scale=False, max_iter=20000, tol=1e-20).fit(X, Y / Y.std(axis=0))
    assert subspace_distance(model.components_, cca.x_rotations_.T) < 1e-8


def test_sample_weights_and_missing_labels(targets, rng):
    X, Y = targets
    weight = rng.uniform(0.5, 2, len(X))
    model = SupervisedPCA(2, label_kernel="linear", **WHITE).fit(X, Y, sample_weight=weight)
    assert subspace_distance(model.components_, canonical(X, Y, 2, weight)) < 1e-9
    some = Y.copy()
    some[::3] = np.nan
    model = SupervisedPCA(2, label_kernel="linear", label_shrinkage=0, missing_label=np.nan)
    model.fit(X, some)
    kept = np.arange(len(X)) % 3 > 0
    other = SupervisedPCA(2, label_kernel="linear", label_shrinkage=0).fit(X[kept], Y[kept])
    assert subspace_distance(model.components_, other.components_) < 1e-10


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("shrinkage", [0.2, 1.0])
@pytest.mark.parametrize("t", [0.6, 1.0])
def test_between_the_ends_it_is_the_formula(targets, s, shrinkage, t):
    X, Y = targets
    Y = Y / Y.std(axis=0) * [1, 2, 3, 4]
    C, B = covariance(Y, Y), covariance(X, X)
    S = (1 - s) * C * 4 / np.trace(C) + s * np.eye(4)
    A = (cross := covariance(X, Y)) @ linalg.inv(S) @ cross.T
    if t < 1:
        A = t * A / np.trace(A) + (1 - t) * B / np.trace(B)
    values, vectors = linalg.eigh(A, (1 - shrinkage) * B * 6 / np.trace(B) + shrinkage * np.eye(6))
    model = SupervisedPCA(
        2, label_kernel="linear", target_weight=t, shrinkage=shrinkage, label_shrinkage=s
    ).fit(X, Y)
    assert subspace_distance(model.components_, vectors[:, :-3:-1].T) < 1e-9
    np.testing.assert_allclose(model.singular_values_**2, values[:-3:-1], rtol=1e-9)


def test_several_columns_of_classes_are_one_indicator(unbalanced, rng):
    X, y = unbalanced
    both = np.c_[y, (y + rng.integers(0, 2, len(y))) % 3]
    indicator = np.hstack([np.eye(5)[both[:, 0]], np.eye(3)[both[:, 1]]])
    model = SupervisedPCA(3, **WHITE).partial_fit(X[:5], both[:5]).partial_fit(X[5:], both[5:])
    other = SupervisedPCA(3, label_kernel="linear", **WHITE).fit(X, indicator)
    assert subspace_distance(model.components_, other.components_) < 1e-9


def test_similar_classes_and_the_delta_kernel_agree_on_whitened_labels(unbalanced):
    X, y = unbalanced
    models = [SupervisedPCA(2, label_kernel=k, **WHITE).fit(X, y) for k in ("delta", "ordinal")]
    assert subspace_distance(*(model.components_ for model in models)) < 1e-10


@pytest.mark.parametrize("method", DIRECT)
@pytest.mark.parametrize("label_map", ["orthogonal", "spread"])
def test_random_methods_lose_nothing_with_a_component_for_every_direction(
    unbalanced, method, label_map
):
    X, y = unbalanced
    own = {"kernel": "linear"} if method._kernelised else {}
    model = method(4, label_map=label_map, random_state=3, **own, **WHITE).fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert subspace_distance(model.components_, lda.scalings_[:, :4].T) < 1e-9
    # With all of them the random method has the singular values of the spectral one.
    if label_map == "orthogonal" and not method._kernelised:
        plain = method(4, random_state=3, label_shrinkage=0.0).fit(X, y)
        spectral = SupervisedPCA(4, label_shrinkage=0.0).fit(X, y)
        np.testing.assert_allclose(plain.singular_values_, spectral.singular_values_, rtol=1e-9)


@pytest.mark.parametrize("method", SPECTRAL[1:] + DIRECT[1:])
@pytest.mark.parametrize("labels", ["classes", "columns", "numbers"])
@pytest.mark.parametrize("s", [0.0, 0.4])
def test_exact_kernels_see_the_same_labels(unbalanced, targets, method, labels, s):
    """The linear kernel, once by its features and once without."""
    X, y = unbalanced
    y = np.c_[y, y % 2] if labels == "columns" else y
    X, y = targets if labels == "numbers" else (X, y)
    kind = "linear" if labels == "numbers" else "auto"
    models = [
        method(
            2, kernel="linear", approximation=a, label_kernel=kind, label_shrinkage=s,
            random_state=0,
        ).fit(X, y)
        for a in ("exact", "orthogonal")
    ]  # fmt: skip
    ours, theirs = (model.transform(X) for model in models)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-8 * np.abs(theirs).max())


def label_sets(unbalanced, targets):
    X, y = unbalanced
    several = (X, np.c_[y, y % 3 + 10])
    rows, values = targets
    number = {"label_kernel": "linear"}
    yield "classes", X, y, {}
    yield "columns", *several, {}
    yield "numbers", rows, values, number
    yield "waves", rows, values[:, 0], {"label_kernel": "rbf", "label_gamma": 0.1}
    yield "sets", rows, sparse.csr_array((values > values.mean(axis=0)).astype(int)), number
    yield "similar", X, y, {"label_kernel": label_kernels.Ordinal(order=tuple(range(5)))}
    yield "hashed", X, y, {"label_map": "gaussian"}


@pytest.fixture(params=[SupervisedPCA, SupervisedRandomProjection])
def method(request):
    return request.param


@pytest.fixture(params=["classes", "columns", "numbers", "waves", "sets", "similar", "hashed"])
def fitted(request, unbalanced, targets, method):
    """X, y, how to make a model for them, and whether another is the one of all rows."""
    X, y, own = next(
        rest for name, *rest in label_sets(unbalanced, targets) if name == request.param
    )
    if request.param == "hashed" and method is SupervisedPCA:
        pytest.skip("vectors of classes are for random methods")

    def fresh():
        return method(2, label_shrinkage=0.2, shrinkage=0.1, random_state=0, **own)

    whole = fresh().fit(X, y)

    def close(other):
        ours, theirs = (np.abs(np.asarray(m.components_)) for m in (other, whole))
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9 * theirs.max())

    return X, y, fresh, close


def test_batches_files_and_merging(fitted, tmp_path):
    X, y, fresh, close = fitted
    close(fresh().partial_fit(X[:7], y[:7]).partial_fit(X[7:], y[7:]))
    half = fresh().partial_fit(X[:100], y[:100])
    labelens.save(half, tmp_path / "half", moments=True)
    close(labelens.load(tmp_path / "half").merge(fresh().partial_fit(X[100:], y[100:])))
    close(labelens.fit(fresh(), [(X[a : a + 90], y[a : a + 90]) for a in range(0, len(X), 90)]))
    whole = fresh().fit(X, y)
    labelens.save(whole, tmp_path / "whole")
    loaded = labelens.load(tmp_path / "whole")
    np.testing.assert_array_equal(loaded.components_, whole.components_)


def test_rows_on_a_device(fitted, monkeypatch):
    X, y, fresh, close = fitted
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(devices, "_in_host_memory", lambda array: False)
    close(fresh().fit(torch.asarray(X), y))


def test_rows_of_dask(fitted):
    X, y, fresh, close = fitted
    dask_array = pytest.importorskip("dask.array")
    if sparse.issparse(y):
        pytest.skip("labels of dask are dense")
    close(fresh().fit(dask_array.from_array(X, (90, 6)), dask_array.from_array(y, 90)))


def test_folds_and_candidates_take_it(unbalanced):
    X, y = unbalanced
    grid = {"label_shrinkage": [1.0, 0.0], "shrinkage": [0.5]}
    chosen = labelens.select(X, y, [SupervisedPCA(1)], grid=grid, cv=3, random_state=0)
    assert {one["label_shrinkage"] for one in chosen.table} == {0.0, 1.0}
    assert len({one["score"] for one in chosen.table}) == 2


def test_components_beyond_chance_are_those_of_whitened_labels(targets):
    X, Y = targets
    model = SupervisedPCA("auto", label_kernel="linear", random_state=0, **WHITE).fit(X, Y)
    assert model.n_components_ == 4


def test_labels_as_they_are_cost_nothing(targets):
    X, Y = targets
    assert SupervisedPCA(2, label_kernel="linear").fit(X, Y).moments_.labels is None
    assert SupervisedPCA(1, label_shrinkage=0).fit(X, Y[:, 0] > 1).moments_.labels is None


def test_models_of_other_labels_do_not_merge(unbalanced):
    model, other = (SupervisedPCA(2, label_shrinkage=s).fit(*unbalanced) for s in (0.0, 1.0))
    with pytest.raises(ValueError, match=r"label_shrinkage is 0\.0 and 1\.0"):
        model.merge(other)


@pytest.mark.parametrize("value", [-0.1, 1.1, "auto", None, np.nan])
def test_values_out_of_range(unbalanced, value):
    with pytest.raises((TypeError, ValueError), match="label_shrinkage"):
        SupervisedPCA(2, label_shrinkage=value).fit(*unbalanced)


def test_too_many_label_features(rng):
    Y = sparse.random_array((30, 10_001), density=0.01, format="csr", random_state=rng)
    with pytest.raises(ValueError, match=r"10001 label features.*label_shrinkage=1"):
        SupervisedPCA(2, label_kernel="linear", label_shrinkage=0).fit(rng.normal(size=(30, 3)), Y)
