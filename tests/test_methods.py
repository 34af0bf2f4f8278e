"""The four methods against formulas that someone else wrote: the paper, scikit-learn, SciPy."""

import numpy as np
import pytest
import scipy.linalg
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.cross_decomposition import PLSSVD
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    subspace_distance,
)
from oracles import (
    constraint,
    covariance,
    delta_kernel,
    gram,
    hsic,
    kspca_embedding,
    objective,
    spca_q,
    srp_components,
    top_eigenvectors,
)

# The composition grid: label sets with the n x n label kernel that each of them means.
LABELS = {
    "classes": (lambda X, y: y, delta_kernel),
    "strings": (lambda X, y: np.array(list("abcd"))[y], delta_kernel),
    "linear": (lambda X, y: X[:, :2] + 0.5 * y[:, None] + 0.25, lambda Y: Y @ Y.T),
    "multilabel": (lambda X, y: (X[:, :3] > X[:, :3].mean(axis=0)).astype(int), lambda Y: Y @ Y.T),
    "two columns of classes": (lambda X, y: np.c_[y, (X[:, 1] > 3) + 2], delta_kernel),
    "continuous": (
        lambda X, y: np.sin(X[:, 3]) + y,
        lambda v: rbf_kernel(v[:, None], gamma=1 / v.var()),
    ),
    "transformer": (lambda X, y: y.astype(float), delta_kernel),
}
KERNELS = {"linear": "linear", "transformer": OneHotEncoder(), "continuous": "rbf"}
SCALERS = {None: FunctionTransformer(), "minmax": MinMaxScaler(), "standard": StandardScaler()}


def labels_of(name, X, y):
    make, kernel = LABELS[name]
    Y = make(X, y)
    return Y, kernel(Y)


@pytest.mark.parametrize("scale", SCALERS)
@pytest.mark.parametrize("shrinkage", [1.0, 0.3])
@pytest.mark.parametrize("target_weight", [1.0, 0.4])
@pytest.mark.parametrize("labels", LABELS)
def test_spectral_is_the_generalised_eigenproblem(blobs, labels, target_weight, shrinkage, scale):
    X, y = blobs
    Y, L = labels_of(labels, X, y)
    model = SupervisedPCA(
        2,
        label_kernel=KERNELS.get(labels, "auto"),
        target_weight=target_weight,
        shrinkage=shrinkage,
        scale=scale,
    ).fit(X, Y)
    scaled = SCALERS[scale].fit_transform(X)
    truth, _ = top_eigenvectors(
        objective(scaled, L, target_weight), 2, metric=constraint(scaled, shrinkage)
    )
    assert subspace_distance(model.components_, truth) < 1e-10
    for found, true in zip(model.components_, truth, strict=True):
        assert subspace_distance(found[None], true[None]) < 1e-8  # one by one, not only the span
    Z = (scaled - scaled.mean(axis=0)) @ model.components_.T
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-10 * np.abs(Z).max())


@pytest.mark.parametrize("scale", SCALERS)
@pytest.mark.parametrize("label_map", ["orthogonal", "gaussian"])
@pytest.mark.parametrize("labels", LABELS)
def test_direct_is_x_h_psi(blobs, labels, label_map, scale):
    """U = X H Psi^T with Psi = (factor of L) R; for k >= rank L, U U^T = Q (Claim 1)."""
    X, y = blobs
    Y, L = labels_of(labels, X, y)
    k = 300 if labels == "continuous" else 8
    model = SupervisedRandomProjection(
        k,
        label_kernel=KERNELS.get(labels, "auto"),
        label_map=label_map,
        scale=scale,
        random_state=0,
    )
    with pytest.warns(UserWarning, match="components carry information"):
        model.fit(X, Y)
    scaled = SCALERS[scale].fit_transform(X)
    U, n = model.components_.T, len(X)
    if label_map == "orthogonal":
        np.testing.assert_allclose(U @ U.T, spca_q(scaled, L) / n**2, atol=1e-12 * np.sum(U**2))
    # Whatever R is, the components lie in the span of X H Psi^T.
    span, values = top_eigenvectors(spca_q(scaled, L), 7)
    outside = U - span[values > 1e-12 * values[0]].T @ (span[values > 1e-12 * values[0]] @ U)
    assert np.abs(outside).max() < 1e-10 * np.abs(U).max()


def test_hashed_vectors_before_the_reduction_are_the_same_as_after(blobs):
    X, y = blobs
    model = SupervisedRandomProjection(2, label_map="gaussian", random_state=3).fit(X, y)
    psi = model._recipe.psi.encode(y, np.arange(len(y))).features
    truth = srp_components(X, psi) / len(X)
    np.testing.assert_allclose(model.components_, truth, atol=1e-13)


def test_fourier_label_map_is_the_paper_to_the_letter(blobs):
    """Random Fourier features of an RBF on the labels, sigma_Y = 1e-10: near enough to delta."""
    X, y = blobs
    grams = []
    for seed in range(400):
        model = SupervisedRandomProjection(3, label_map="fourier", random_state=seed).fit(X, y)
        grams.append(model.components_.T @ model.components_)
    true = spca_q(X, delta_kernel(y)) / len(X) ** 2
    error = np.abs(np.mean(grams, axis=0) - true)
    assert (error < 5 * np.std(grams, axis=0) / np.sqrt(len(grams))).all()


@pytest.mark.parametrize("k", [3, 5])
def test_claim_1(blobs, k):
    """The SRP embedding is Sigma^(1/2) Z_1 up to a rotation, for every seed."""
    X, y = blobs
    spca = SupervisedPCA(3).fit(X, y)
    Z1 = spca.transform(X) * spca.singular_values_
    for seed in range(5):
        srp = SupervisedRandomProjection(k, random_state=seed)
        if k > 3:
            with pytest.warns(UserWarning, match="target_weight"):
                srp.fit(X, y)
        else:
            srp.fit(X, y)
        found, true = gram(srp.transform(X)), gram(Z1)
        assert np.abs(found - true).max() < 1e-10 * np.abs(true).max()
        np.testing.assert_allclose(srp.singular_values_[:3], spca.singular_values_, rtol=1e-10)


def test_supervised_pca_is_plssvd_on_one_hot_labels(blobs):
    X, y = blobs
    pls = PLSSVD(3, scale=False).fit(X, np.eye(4)[y])
    assert subspace_distance(SupervisedPCA(3).fit(X, y).components_, pls.x_weights_.T) < 1e-10


@pytest.mark.parametrize("given", [True, False])
def test_target_weight_0_is_pca(blobs, given):
    X, y = blobs
    model = SupervisedPCA(3, target_weight=0).fit(X, y if given else None)
    pca = PCA(3, svd_solver="full").fit(X)
    np.testing.assert_allclose(model.components_, pca.components_, atol=1e-10)
    np.testing.assert_allclose(model.transform(X), pca.transform(X), atol=1e-9)
    np.testing.assert_allclose(model.singular_values_ * np.sqrt(240), pca.singular_values_)
    if not given:
        np.testing.assert_allclose(model.dependence_ratio_, pca.explained_variance_ratio_)


def test_shrinkage_0_is_lda(blobs):
    X, y = blobs
    lda = LinearDiscriminantAnalysis().fit(X, y)
    model = SupervisedPCA(3, shrinkage=0).fit(X, y)
    assert subspace_distance(model.components_, lda.scalings_.T) < 1e-10


def test_shrinkage_0_with_singular_covariance_is_still_lda(blobs):
    X, y = blobs
    doubled = np.c_[X, X[:, :2], np.ones(240)]
    model = SupervisedPCA(3, shrinkage=0).fit(doubled, y)
    np.testing.assert_allclose(
        gram(model.transform(doubled)) * 10 / 7,
        gram(SupervisedPCA(3, shrinkage=0).fit(X, y).transform(X))
        * (np.trace(covariance(doubled)) / np.trace(covariance(X))),
        rtol=1e-6,
        atol=1e-8,
    )


def test_shrinkage_0_with_linear_labels_is_cca(blobs):
    X, _ = blobs
    Y = X[:, :2] @ [[1, 2], [0, 1]] + np.random.default_rng(0).normal(size=(240, 2))
    whiten = [scipy.linalg.inv(scipy.linalg.sqrtm(covariance(A))).real for A in (X, Y)]
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    u, _, _ = np.linalg.svd(whiten[0] @ Xc.T @ Yc @ whiten[1])
    model = SupervisedPCA(2, shrinkage=0, label_kernel="linear").fit(X, Y)
    assert subspace_distance(model.components_, (whiten[0] @ u[:, :2]).T) < 1e-10


def test_shrinkage_auto_is_ledoit_wolf(blobs):
    X, y = blobs
    for scale, scaler in SCALERS.items():
        model = SupervisedPCA(2, shrinkage="auto", scale=scale).fit(X, y)
        scaled = scaler.fit_transform(X)
        assert model.shrinkage_ == pytest.approx(ledoit_wolf_shrinkage(scaled), rel=1e-9)


def test_direct_sketch_has_second_moment_a(blobs):
    """Over seeds, U U^T is A(t): the randomized PCA of the paper is the case t = 0."""
    X, y = blobs
    for t, labels in ((0.4, y), (0.0, None)):
        draws = []
        for seed in range(600):
            model = SupervisedRandomProjection(3, target_weight=t, random_state=seed)
            U = model.fit(X, labels).components_.T
            draws.append(U @ U.T)
        true = objective(X, delta_kernel(y), t)
        if labels is None:
            true = covariance(X)
        error = np.abs(np.mean(draws, axis=0) - true)
        assert (error < 5 * np.std(draws, axis=0) / np.sqrt(len(draws))).all()


def test_direct_with_shrinkage_solves_with_b(blobs):
    X, y = blobs
    plain = SupervisedRandomProjection(3, random_state=0).fit(X, y)
    shrunk = SupervisedRandomProjection(3, shrinkage=0.2, random_state=0).fit(X, y)
    B = constraint(X, 0.2) / (np.trace(covariance(X)) / 7)
    np.testing.assert_allclose(shrunk.components_ @ B, plain.components_, atol=1e-10)


def test_dependence_is_hsic(blobs):
    X, y = blobs
    L = delta_kernel(y)
    for parameters in ({}, {"shrinkage": 0.2}, {"scale": "minmax"}):
        model = SupervisedPCA(2, **parameters)
        model.fit(X, y)
        scaled = X if model.scale is None else MinMaxScaler().fit_transform(X)
        basis = np.linalg.qr(model.components_.T)[0]
        Z = scaled @ basis
        assert model.dependence_.sum() == pytest.approx(hsic(Z @ Z.T, L))
        assert model.dependence_[0] == pytest.approx(hsic(np.outer(Z[:, 0], Z[:, 0]), L))
        share = hsic(Z @ Z.T, L) / hsic(scaled @ scaled.T, L)
        assert model.dependence_ratio_.sum() == pytest.approx(share)
    srp = SupervisedRandomProjection(3, random_state=0).fit(X, y)
    assert srp.dependence_.sum() == pytest.approx(SupervisedPCA(3).fit(X, y).dependence_.sum())


# Kernels ----------------------------------------------------------------------------------------

GAMMA = 0.05
EXACT = {
    "rbf": ({}, lambda X: rbf_kernel(X, gamma=GAMMA)),
    "laplacian": ({}, lambda X: laplacian_kernel(X, gamma=GAMMA)),
    "matern": (
        {"kernel_params": {"nu": 2.5}},
        lambda X: Matern(length_scale=1 / np.sqrt(2 * GAMMA), nu=2.5)(X),
    ),
    "polynomial": (
        {"kernel_params": {"degree": 2, "coef0": 2}},
        lambda X: polynomial_kernel(X, degree=2, gamma=GAMMA, coef0=2),
    ),
    "linear": ({}, linear_kernel),
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("kernel", EXACT)
def test_exact_kspca_is_the_paper_with_its_n_by_n_matrices(blobs, kernel, labels):
    X, y = blobs
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Y, L = labels_of(labels, X, y)
    params, make = EXACT[kernel]
    model = KernelSupervisedPCA(
        2,
        kernel=kernel,
        gamma=GAMMA,
        approximation="exact",
        label_kernel=KERNELS.get(labels, "auto"),
        batch_size=64,
        **params,
    ).fit(X, Y)
    truth = kspca_embedding(make(X), L, 2)
    found = model.transform(X)
    assert subspace_distance(found.T, truth.T) < 1e-8  # eig of a nonsymmetric matrix is no better
    np.testing.assert_allclose(np.abs(found), np.abs(truth), atol=1e-7 * np.abs(truth).max())
    ours, whole = model.dependence_, hsic(make(X), L)
    np.testing.assert_allclose(ours / whole, model.dependence_ratio_)


def test_exact_ksrp_is_psi_h_k(blobs):
    X, y = blobs
    K, n = rbf_kernel(X, gamma=GAMMA), len(X)
    model = KernelSupervisedRandomProjection(
        2, gamma=GAMMA, approximation="exact", label_map="gaussian", random_state=1
    ).fit(X, y)
    psi = model._recipe.psi.encode(y, np.arange(len(y))).features
    H = np.eye(n) - 1 / n
    np.testing.assert_allclose(model.transform(X), H @ K @ H @ psi / n, atol=1e-12)


def test_exact_methods_agree_up_to_rotation(blobs):
    """Claim 1 for the kernel methods."""
    X, y = blobs
    spca = KernelSupervisedPCA(3, gamma=GAMMA, approximation="exact").fit(X, y)
    srp = KernelSupervisedRandomProjection(3, gamma=GAMMA, approximation="exact").fit(X, y)
    true = gram(spca.transform(X) * spca.singular_values_)
    np.testing.assert_allclose(gram(srp.transform(X)), true, atol=1e-10 * np.abs(true).max())


def test_a_callable_is_the_kernel_it_computes(blobs):
    X, y = blobs[0][:60], blobs[1][:60]
    models = [
        KernelSupervisedPCA(2, kernel=kernel, gamma=GAMMA, approximation="exact").fit(X, y)
        for kernel in ("rbf", lambda a, b: np.exp(-GAMMA * np.sum((a - b) ** 2)))
    ]
    np.testing.assert_allclose(models[0].transform(X), models[1].transform(X), atol=1e-10)


def test_exact_kernel_on_the_linear_kernel_is_the_linear_method(blobs):
    X, y = blobs
    exact = KernelSupervisedPCA(3, kernel="linear", approximation="exact").fit(X, y).transform(X)
    features = KernelSupervisedPCA(3, kernel="linear").fit(X, y).transform(X)
    linear = SupervisedPCA(3).fit(X, y).transform(X)
    np.testing.assert_allclose(np.abs(exact), np.abs(linear), atol=1e-9)
    np.testing.assert_allclose(features, linear, atol=1e-12)


@pytest.mark.parametrize("scale", [None, "standard"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_wide_rows_are_projected(rng, k, dtype, scale):
    y = rng.integers(6, size=2500)
    X = (rng.normal(size=(6, 150))[y] + rng.normal(size=(2500, 150)) + 5).astype(dtype)
    model = SupervisedPCA(k, scale=scale).fit(X, y)
    rows = X.astype(np.float64)
    rows = rows / rows.std(axis=0) if scale else rows
    wanted = (rows - rows.mean(axis=0)) @ model.components_.T
    Z = model.transform(X)
    assert Z.dtype == dtype
    assert Z.shape == (2500, k)
    np.testing.assert_allclose(Z, wanted, atol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("scale", ["minmax", "standard"])
@pytest.mark.parametrize("approximation", ["orthogonal", "exact"])
def test_kernel_methods_scale_first(blobs, approximation, scale):
    X, y = blobs
    scaled = SCALERS[scale].fit_transform(X)
    for gamma in ("scale", "median"):
        params = {"gamma": gamma, "approximation": approximation, "random_state": 0}
        fused = KernelSupervisedPCA(2, scale=scale, **params).fit(X, y)
        plain = KernelSupervisedPCA(2, **params).fit(scaled, y)
        assert fused.gamma_ == pytest.approx(plain.gamma_, rel=1e-12)
        np.testing.assert_allclose(fused.transform(X), plain.transform(scaled), atol=1e-10)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        SupervisedPCA(2, shrinkage=0.1),
        SupervisedRandomProjection(2, random_state=0),
        KernelSupervisedPCA(2, approximation="exact", shrinkage=0.1),
        KernelSupervisedRandomProjection(2, random_state=0),
    ],
    ids=repr,
)
def test_factors_multiply_the_columns(blobs, model, as_sparse):
    X, y = blobs
    factors = np.linspace(0.1, 2, X.shape[1])
    scaled, rows = X * factors, sparse.csr_array(X) if as_sparse else X
    fused = clone(model).set_params(scale=factors).fit(rows, y)
    plain = clone(model).fit(sparse.csr_array(scaled) if as_sparse else scaled, y)
    np.testing.assert_allclose(fused.transform(rows), plain.transform(scaled), atol=1e-9)
    if hasattr(fused, "gamma"):
        fused.set_params(gamma=0.1)
    first, second = clone(fused).partial_fit(rows[:99], y[:99]), clone(fused)
    first.merge(second.partial_fit(rows[99:], y[99:]))
    np.testing.assert_allclose(first.transform(rows), fused.fit(rows, y).transform(rows), atol=1e-9)


def test_inverse_transform_is_least_squares(blobs):
    X, y = blobs
    for model in (
        SupervisedPCA(3),
        SupervisedPCA(3, scale="standard", shrinkage=0.5),
        SupervisedPCA(3, scale="minmax", shrinkage="auto"),
        SupervisedRandomProjection(3, random_state=0, scale="minmax"),
    ):
        Z = model.fit(X, y).transform(X)
        back = model.inverse_transform(Z)
        np.testing.assert_allclose(model.transform(back), Z, atol=1e-9)  # Z = P(P^-1 Z)
        scaled = SCALERS[model.scale].fit_transform(X)
        U = model.components_
        centred = scaled - scaled.mean(axis=0)
        best = centred @ U.T @ np.linalg.pinv(U).T + scaled.mean(axis=0)
        found = SCALERS[model.scale].fit(X).transform(back)
        np.testing.assert_allclose(found, best, atol=1e-9)
    pca = PCA(3).fit(X)
    Z = pca.transform(X)
    ours = SupervisedPCA(3).fit(X)
    np.testing.assert_allclose(ours.inverse_transform(Z), pca.inverse_transform(Z), atol=1e-9)


# Weights and seeds --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        SupervisedPCA(2),
        SupervisedPCA(2, scale="standard"),
        SupervisedPCA(2, target_weight=0.5, shrinkage="auto", scale="standard"),
        SupervisedRandomProjection(2, shrinkage=0.5, scale="minmax", random_state=0),
        KernelSupervisedPCA(2, scale="standard", random_state=0),
        KernelSupervisedPCA(2, approximation="exact"),
        KernelSupervisedRandomProjection(2, random_state=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("labels", ["classes", "continuous"])
def test_a_weight_is_a_repetition(blobs, rng, model, labels):
    X, y = blobs
    Y, _ = labels_of(labels, X, y)
    weight = rng.integers(0, 4, 240)
    weighted = model.fit(X, Y, sample_weight=weight).transform(X)
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight)).transform(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9 * np.abs(repeated).max())


def test_random_state_decides(blobs):
    X, y = blobs
    for kind in (SupervisedRandomProjection, KernelSupervisedPCA):
        first, same, other = (kind(2, random_state=s).fit(X, y).transform(X) for s in (0, 0, 1))
        np.testing.assert_array_equal(first, same)
        assert not np.allclose(first, other)
