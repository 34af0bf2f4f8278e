"""Random features against the kernels that scikit-learn computes, over many seeds."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import hadamard
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Matern
from sklearn.kernel_approximation import Nystroem as SklearnNystroem
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from labelens import KernelSupervisedPCA
from labelens._base import jit
from labelens._core.kernels import Kernel, make_kernel, settle_gamma
from labelens._core.labels import make_label_map
from labelens._core.maps import make_feature_map
from labelens._core.maps.orthogonal import pays
from labelens._core.maps.structured import Structured
from labelens._core.moments import Spread

GAMMA = 0.3
TRUTH = {
    "rbf": (make_kernel("rbf", GAMMA, None), lambda X: rbf_kernel(X, gamma=GAMMA)),
    "laplacian": (
        make_kernel("laplacian", GAMMA, None),
        lambda X: laplacian_kernel(X, gamma=GAMMA),
    ),
    "polynomial": (
        make_kernel("poly", GAMMA, {"degree": 2}),
        lambda X: polynomial_kernel(X, degree=2, gamma=GAMMA, coef0=1),
    ),
}
for nu in (0.5, 1.5, 2.5):
    TRUTH[f"matern {nu}"] = (
        make_kernel("matern", GAMMA, {"nu": nu}),
        lambda X, nu=nu: Matern(length_scale=1 / np.sqrt(2 * GAMMA), nu=nu)(X),
    )


@pytest.mark.parametrize("name", TRUTH)
def test_kernels_are_those_of_scikit_learn(rng, name):
    kernel, truth = TRUTH[name]
    X = rng.normal(size=(20, 5))
    np.testing.assert_allclose(kernel(X, X), truth(X), atol=1e-12)


@pytest.mark.parametrize(
    "n_features",
    [pytest.param(1, marks=pytest.mark.long), 7, pytest.param(12, marks=pytest.mark.long)],
)
@pytest.mark.parametrize(
    ("approximation", "name"),
    [
        (approximation, name)
        for approximation in ("fourier", "orthogonal", "fastfood")
        for name in TRUTH
        if name != "polynomial" and (approximation, name) != ("fastfood", "laplacian")
    ],
)
def test_random_features_are_unbiased(rng, name, approximation, n_features):
    """The mean over seeds is within five standard errors of the kernel, entry by entry."""
    kernel, truth = TRUTH[name]
    X = rng.normal(size=(5, 3))
    draws = []
    for seed in range(1500):
        F = make_feature_map(approximation, kernel, X, n_features, seed)(X)
        assert F.shape == (5, n_features)
        draws.append(F @ F.T)
    error = np.mean(draws, axis=0) - truth(X)
    assert (np.abs(error) < 5 * np.std(draws, axis=0) / np.sqrt(len(draws)) + 1e-9).all()


def test_a_missing_phase_would_be_noticed(rng):
    """cos(w.x) without phase or sine is what the test above must not let through."""
    X = rng.normal(size=(5, 3))
    draws = []
    for seed in range(1500):
        frequencies = np.random.default_rng(seed).normal(size=(3, 12)) * np.sqrt(2 * GAMMA)
        F = np.cos(X @ frequencies) * np.sqrt(2 / 12)
        draws.append(F @ F.T)
    error = np.mean(draws, axis=0) - rbf_kernel(X, gamma=GAMMA)
    assert (np.abs(error) > 5 * np.std(draws, axis=0) / np.sqrt(len(draws))).any()


@pytest.mark.parametrize("approximation", ["fourier", "orthogonal"])
def test_no_worse_than_rbfsampler(rng, approximation):
    X = rng.normal(size=(60, 20))
    K = rbf_kernel(X, gamma=0.02)

    def error(features):
        return np.sqrt(np.mean((features @ features.T - K) ** 2))

    ours = [
        error(make_feature_map(approximation, Kernel("rbf", 0.02), X, 256, seed)(X))
        for seed in range(20)
    ]
    theirs = [
        error(RBFSampler(gamma=0.02, n_components=256, random_state=seed).fit_transform(X))
        for seed in range(20)
    ]
    assert np.mean(ours) < np.mean(theirs)


def test_orthogonal_frequencies_are_orthogonal_in_groups():
    phi = make_feature_map("orthogonal", Kernel("rbf", 0.5), np.zeros((1, 6)), 24, 0)
    for group in (phi.frequencies[:, :6], phi.frequencies[:, 6:]):
        inner = group.T @ group
        np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-12)


def test_tensor_sketch_estimates_the_polynomial_kernel(rng):
    kernel, truth = TRUTH["polynomial"]
    X = rng.normal(size=(5, 4))
    draws = [
        F @ F.T for F in (make_feature_map("orthogonal", kernel, X, 64, s)(X) for s in range(300))
    ]
    error = np.mean(draws, axis=0) - truth(X)
    assert (np.abs(error) < 5 * np.std(draws, axis=0) / np.sqrt(300)).all()


@pytest.mark.parametrize("name", TRUTH)
def test_nystroem_is_exact_with_every_row_a_landmark(rng, name):
    kernel, truth = TRUTH[name]
    X = rng.normal(size=(25, 5))
    F = make_feature_map("nystroem", kernel, X, 100, 0)(X)
    np.testing.assert_allclose(F @ F.T, truth(X), atol=1e-9)


def test_nystroem_with_the_landmarks_of_scikit_learn(rng):
    X = rng.normal(size=(50, 4))
    ours = make_feature_map("nystroem", Kernel("rbf", GAMMA), X, 12, 0)
    theirs = SklearnNystroem(gamma=GAMMA, n_components=12).fit(ours.landmarks + ours.origin)
    np.testing.assert_allclose(
        ours(X) @ ours(X).T, theirs.transform(X) @ theirs.transform(X).T, atol=1e-10
    )


@pytest.mark.parametrize("layout", [np.ascontiguousarray, sparse.csr_array])
def test_every_landmark_of_the_linear_kernel_is_a_direction(rng, layout):
    phi = make_feature_map(
        "nystroem", Kernel("linear", None), layout(rng.normal(size=(60, 9))), 5, 0
    )
    assert phi.n_features == 5


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("shrinkage", [1.0, 0.1, 1e-3])
def test_rounding_does_not_choose_the_landmarks(d, shrinkage):
    """Of few columns the kernel has a small rank; the number of features sets the shrinkage."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 400)
        X = rng.normal(size=(400, d)) + y[:, None]
        model = KernelSupervisedPCA(
            2, approximation="nystroem", random_state=seed, shrinkage=shrinkage, gamma=1.0
        )
        first = model.fit_transform(X, y)
        second = model.set_params(gamma=1 + 1e-12).fit_transform(X, y)
        np.testing.assert_allclose(first, second, atol=1e-6 * np.abs(first).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["rbf", "matern", "linear"])
@pytest.mark.parametrize("approximation", ["nystroem", "exact"])
def test_the_layout_of_rows_changes_no_bit(rng, approximation, kernel, dtype):
    X, y = (rng.normal(size=(1500, 37)) + 3).astype(dtype), rng.integers(0, 3, 1500)
    model = KernelSupervisedPCA(
        2, kernel=kernel, gamma=0.01, approximation=approximation, random_state=0
    ).set_params(n_random_features=64)
    Z = model.fit(X, y).transform(X)
    fortran = np.asfortranarray(X)
    np.testing.assert_array_equal(model.transform(fortran), Z)
    np.testing.assert_array_equal(model.fit(fortran, y).transform(X), Z)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize("size", [1, 2, 4, 8, 64, 128])
def test_chain_is_a_product_of_hadamard_matrices(rng, monkeypatch, size, permuted, compiled):
    monkeypatch.setattr(jit, "_small", lambda *_: not compiled)
    d = max(1, size - size // 3)
    X, wanted = rng.normal(size=(70, d)), max(1, size // 2)
    diagonals, lengths = rng.normal(size=(3, size)), rng.normal(size=wanted)
    permutations = np.stack([rng.permutation(size) for _ in range(3)])
    truth = np.pad(X, ((0, 0), (0, size - d)))
    for diagonal, permutation in zip(diagonals, permutations, strict=True):
        truth = (truth[:, permutation] if permuted else truth) * diagonal @ hadamard(size)
    found = np.zeros((70, wanted + 2))
    order = permutations if permuted else permutations[:0]
    jit.hadamard_chain(X, diagonals, order, lengths, found, 1)
    np.testing.assert_allclose(found[:, 1:-1], truth[:, :wanted] * lengths, atol=1e-9)
    assert not found[:, [0, -1]].any()


@pytest.mark.parametrize("n", [1, 15, 16, 70])
@pytest.mark.parametrize("wanted", [1, 16, 75, 128])
def test_compiled_and_plain_chains_have_the_same_bits(rng, monkeypatch, n, wanted):
    X, diagonals, lengths = rng.normal(size=(n, 100)), rng.normal(size=(3, 128)), np.ones(wanted)
    found = []
    for small in (True, False):
        monkeypatch.setattr(jit, "_small", lambda *_, small=small: small)
        found.append(np.empty((n, wanted)))
        jit.hadamard_chain(X, diagonals, np.empty((0, 128), int), lengths, found[-1], 0)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", ["rbf", "matern 0.5", "matern 2.5"])
def test_structured_orthogonal_features_are_unbiased(rng, name):
    """Directions of H D H D H D are only nearly uniform: near enough at the smallest d used."""
    kernel, truth = TRUTH[name]
    assert pays(104, 1024)
    X = rng.normal(size=(5, 104)) * np.sqrt(3 / 104)
    draws = []
    for seed in range(400):
        phi = make_feature_map("orthogonal", kernel, X, 1024, seed)
        assert isinstance(phi, Structured)
        F = phi(X)
        draws.append(F @ F.T)
    error = np.abs(np.mean(draws, axis=0) - truth(X))
    assert (error < 5 * np.std(draws, axis=0) / np.sqrt(400) + 1e-9).all()


def test_structured_error_is_below_rbfsampler(rng):
    X = rng.normal(size=(60, 200))
    K = rbf_kernel(X, gamma=0.0025)
    errors = {"ours": [], "theirs": []}
    for seed in range(10):
        F = make_feature_map("orthogonal", Kernel("rbf", 0.0025), X, 1024, seed)(X)
        G = RBFSampler(gamma=0.0025, n_components=1024, random_state=seed).fit_transform(X)
        errors["ours"].append(np.mean((F @ F.T - K) ** 2))
        errors["theirs"].append(np.mean((G @ G.T - K) ** 2))
    assert np.mean(errors["ours"]) < np.mean(errors["theirs"])


@pytest.mark.parametrize("approximation", ["fourier", "orthogonal", "fastfood", "nystroem"])
@pytest.mark.parametrize(("d", "n_features"), [(40, 10), (200, 301)])
def test_sparse_rows_give_the_same_features(approximation, d, n_features):
    X = sparse.random(30, d, density=0.2, format="csr", random_state=0)
    for rows in (X, X.toarray()):
        rows = rows.astype(np.float32)
        phi = make_feature_map(approximation, Kernel("rbf", GAMMA), rows, n_features, 3)
        assert phi(rows).dtype == np.float32
        np.testing.assert_allclose(phi(rows), phi(X.toarray()), atol=2e-6)


def test_gamma_rules(rng):
    X = rng.normal(size=(200, 5)) * [1, 2, 3, 4, 5] + 10
    scale = settle_gamma(make_kernel("rbf", "scale", None), X, Spread.of(X), 0).gamma
    assert scale == pytest.approx(1 / (5 * X.var()), rel=1e-12)
    median = settle_gamma(make_kernel("rbf", "median", None), X, Spread.of(X), 0).gamma
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)[np.triu_indices(200, 1)]
    assert median == pytest.approx(1 / (2 * np.median(distances) ** 2), rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("approximation", ["fourier", "orthogonal", "fastfood", "nystroem"])
def test_order_of_memory_changes_no_bit_of_a_last_block_of_one_row(rng, approximation, dtype):
    X, y = (rng.normal(size=(1025, 4)) + 1e3).astype(dtype), np.arange(1025) % 3
    model = KernelSupervisedPCA(
        1, approximation=approximation, gamma=0.1, n_random_features=6, random_state=0
    )
    wanted = clone(model).fit(X, y).moments_.cross.covariance
    found = clone(model).fit(np.asfortranarray(X), y).moments_.cross.covariance
    np.testing.assert_array_equal(found, wanted)


def test_a_last_batch_of_one_row_has_the_labels_of_one_fit(rng):
    Y = rng.normal([0, 1, 1e3], size=(200, 3))
    labels = make_label_map(Y, None, "rbf", 0.1, 2, None, 0)
    together = labels.encode(Y, np.arange(200)).features
    for i in range(200):
        alone = labels.encode(Y[i : i + 1], np.array([i])).features
        np.testing.assert_array_equal(alone[0], together[i])


def test_median_distance_of_rows_far_from_zero_is_the_same_if_they_are_sparse(rng):
    X = rng.normal(size=(60, 4)) + 1e6
    kernel, spread = make_kernel("rbf", "median", {}), Spread.of(X)
    wanted = settle_gamma(kernel, X, spread, 0).gamma
    assert abs(settle_gamma(kernel, sparse.csr_array(X), spread, 0).gamma / wanted - 1) < 1e-9


def test_median_distance_of_mostly_equal_rows_is_zero_however_they_are_scaled(rng):
    kernel, most = make_kernel("rbf", "median", {}), np.arange(60) < 50
    for _ in range(50):
        X = np.where(most[:, None], rng.normal(size=3), rng.normal(size=(60, 3)))
        assert settle_gamma(kernel, X, Spread.of(X), 0).gamma == 1
