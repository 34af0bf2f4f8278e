"""The exact kernel with a covariance: every shrinkage and target weight, against all landmarks."""

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

import labelens
from labelens import KernelSupervisedPCA, KernelSupervisedRandomProjection
from labelens._base import devices
from labelens._core import gram
from labelens._core.kernels import Kernel

METHODS = [KernelSupervisedPCA, KernelSupervisedRandomProjection]
GAMMA = 0.2


@pytest.fixture
def rows(rng):
    y = rng.integers(0, 4, 150)
    X = rng.normal(size=(150, 4))
    X[:, 0] += y
    return X, y, rng.uniform(0.5, 2, 150)


def pair(method, X, y, weight=None, **parameters):
    parameters = {"n_components": 2, "gamma": GAMMA, "random_state": 0} | parameters
    exact = method(approximation="exact", **parameters)
    landmarks = method(approximation="nystroem", n_random_features=len(X), **parameters)
    return exact.fit(X, y, weight), landmarks.fit(X, y, weight)


def same_up_to_signs(Z, other, tolerance=1e-10):
    Z = Z * np.sign((Z * other).sum(axis=0))
    assert np.abs(Z - other).max() <= tolerance * np.abs(other).max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("t", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("s", [1.0, 0.5, 1e-2, 1e-3, "auto"])
@pytest.mark.parametrize("labels", ["classes", "missing", "numbers", "whitened", "none"])
def test_equals_landmarks_at_every_row(rows, method, t, s, labels):
    X, y, weight = rows
    more = {"shrinkage": s, "target_weight": t}
    if labels == "missing":
        y = np.where(np.arange(len(y)) % 7 == 0, np.nan, y)
        more |= {"missing_label": np.nan, "label_kernel": "delta"}
    elif labels == "numbers":
        y = y * 1.5 + X[:, 1] / 3
    elif labels == "whitened":
        more["label_shrinkage"] = 0.0
    elif labels == "none":
        y = None
    exact, landmarks = pair(method, X, y, weight, **more)
    # Label features of numbers have singular values without end. Those of C_xy come from its
    # squares, so the ones below 1e-8 of the largest are left out.
    tolerance = 1e-10 if labels != "numbers" or t < 1 else 2e-6
    same_up_to_signs(exact.transform(X), landmarks.transform(X), tolerance)
    for name in ("dependence_", "dependence_ratio_", "singular_values_"):
        expected = getattr(landmarks, name)
        np.testing.assert_allclose(
            getattr(exact, name), expected, rtol=max(tolerance, 1e-8), atol=1e-9, equal_nan=True
        )
    assert exact.shrinkage_ == pytest.approx(landmarks.shrinkage_, rel=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_without_shrinkage_the_linear_kernel_is_lda(rows, k):
    X, y, _ = rows
    model = KernelSupervisedPCA(
        k, kernel="linear", shrinkage=0, label_shrinkage=0, approximation="exact"
    ).fit(X, y)
    lda = LinearDiscriminantAnalysis(n_components=k).fit(X, y)
    angles = linalg.subspace_angles(model.transform(X), lda.transform(X))
    assert angles.max() < 1e-6


def test_without_labels_it_is_kernel_pca(rows):
    X = rows[0]
    ours = KernelSupervisedPCA(3, gamma=GAMMA, approximation="exact").fit(X).transform(X)
    same_up_to_signs(ours, KernelPCA(3, kernel="rbf", gamma=GAMMA).fit_transform(X))


def test_shrinkage_is_the_ridge_of_kernel_regression(rows):
    """The span of the fitted class scores: KernelRidge on the centred kernel with that alpha."""
    X, y, _ = rows
    s, n = 0.05, len(X)
    model = KernelSupervisedPCA(3, gamma=GAMMA, shrinkage=s, approximation="exact").fit(X, y)
    H = np.eye(n) - 1 / n
    K = H @ rbf_kernel(X, gamma=GAMMA) @ H
    alpha = s / (1 - s) * np.trace(K) / n
    one_hot = np.eye(4)[y]
    ridge = KernelRidge(alpha=alpha, kernel="precomputed").fit(K, one_hot - one_hot.mean(axis=0))
    scores = ridge.predict(K)
    angles = linalg.subspace_angles(model.transform(X), linalg.orth(scores, rcond=1e-8))
    assert angles.max() < 1e-7


@pytest.mark.parametrize("method", METHODS)
def test_float32_matrix_is_corrected(rows, method, monkeypatch):
    X, y, weight = rows
    parameters = dict(gamma=GAMMA, shrinkage=1e-3, approximation="exact", random_state=0)
    double = method(2, **parameters).fit(X, y, weight).transform(X)
    monkeypatch.setattr(gram, "DOUBLE_ROWS", 10)
    monkeypatch.setattr(gram, "FEW", 10)
    single = method(2, **parameters).fit(X, y, weight).transform(X)
    assert (single != double).any()
    same_up_to_signs(single, double, 1e-3)  # entries err by 6e-8, which B^-1 multiplies by 1 / s


def test_systems_are_solved_to_float64_whatever_the_matrix(rng, monkeypatch):
    X, weight = rng.normal(size=(700, 3)), rng.uniform(0.5, 2, 700)
    for rows, few in ((10, 10), (10, 4096), (8192, 10), (8192, 4096)):
        monkeypatch.setattr(gram, "DOUBLE_ROWS", rows)
        monkeypatch.setattr(gram, "FEW", few)
        made = gram.Gram(Kernel("rbf", 0.5), X, weight, 100, None)
        dense = np.array(made.matrix, dtype=np.float64)
        dense = np.triu(dense, 1) + np.triu(dense, 1).T + np.diag(made.diagonal)
        columns = rng.normal(size=(700, 3))
        ridge = 1e-4 * made.trace / 700
        expected = np.linalg.solve(dense + ridge * np.eye(700), columns)
        np.testing.assert_allclose(made.times(columns), dense @ columns, atol=1e-14)
        assert np.abs(made.solve(columns, ridge) - expected).max() <= 1e-7 * np.abs(expected).max()
        # The factor below the diagonal leaves the matrix above it alone.
        np.testing.assert_allclose(made.times(columns), dense @ columns, atol=1e-14)


def test_matrix_follows_its_definition(rng):
    X, weight = rng.normal(size=(130, 3)) + 1e6, rng.uniform(0.5, 2, 130)
    made = gram.Gram(Kernel("rbf", 0.5), X, weight, 50, None)
    D = weight / weight.sum()
    H = np.eye(130) - D
    K = rbf_kernel(X - 1e6, gamma=0.5)
    expected = np.sqrt(np.outer(D, D)) * (H @ K @ H.T)
    np.testing.assert_allclose(made.matrix, expected, atol=1e-11)
    np.testing.assert_allclose(made.diagonal, np.diag(expected), atol=1e-11)
    np.testing.assert_allclose(made.mean, K @ D, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*holds .* rows of the training data")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("t", [1.0, 0.5])
def test_batches_merges_and_files_give_the_model_of_fit(rows, method, t, tmp_path):
    X, y, weight = rows
    y = np.where(np.arange(len(y)) % 7 == 0, np.nan, y)
    model = method(
        2, gamma=GAMMA, shrinkage=0.01, target_weight=t, approximation="exact", random_state=0,
        missing_label=np.nan, label_kernel="delta",
    )  # fmt: skip
    whole = type(model)(**model.get_params()).fit(X, y, weight).transform(X)
    parts = type(model)(**model.get_params())
    for here in (slice(0, 3), slice(3, 70), slice(70, None)):
        parts.partial_fit(X[here], y[here], weight[here])
    same_up_to_signs(parts.transform(X), whole)
    labelens.save(parts, tmp_path / "m", moments=True)
    again = labelens.load(tmp_path / "m")
    np.testing.assert_array_equal(again.transform(X), parts.transform(X))
    again.partial_fit(X[:5], y[:5], weight[:5])
    parts.partial_fit(X[:5], y[:5], weight[:5])
    same_up_to_signs(again.transform(X), parts.transform(X))
    if method is KernelSupervisedPCA:
        left, right = (
            type(model)(**model.get_params()).fit(X[i], y[i], weight[i])
            for i in (slice(0, 60), slice(60, None))
        )
        same_up_to_signs(left.merge(right).transform(X), whole)


def test_sparse_rows(rows):
    X, y, _ = rows
    model = KernelSupervisedPCA(2, gamma=GAMMA, shrinkage=0.01, approximation="exact")
    dense = model.fit(X, y).transform(X)
    same_up_to_signs(model.fit(sparse.csr_array(X), y).transform(sparse.csr_array(X)), dense)


def test_too_many_rows_are_rejected(rows, monkeypatch):
    X, y, _ = rows
    monkeypatch.setattr(devices, "free_bytes", lambda place: 8 * 100**2)
    model = KernelSupervisedPCA(2, shrinkage=0.1, approximation="exact")
    with pytest.raises(
        ValueError, match=r"150 x 150 kernel matrix .* the host has .* free.*nystroem"
    ):
        model.fit(X, y)
    KernelSupervisedPCA(2, approximation="exact").fit(X, y)


def test_bits_do_not_depend_on_threads(rows, monkeypatch):
    from threadpoolctl import threadpool_limits

    X, y, _ = rows
    monkeypatch.setattr(gram, "FEW", 100)
    X = np.tile(X, (10, 1)) + np.linspace(0, 1, 1500)[:, None]
    model = KernelSupervisedPCA(2, gamma=GAMMA, shrinkage=0.1, approximation="exact")
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(model.fit(X, np.tile(y, 10)).transform(X[:100]))
    np.testing.assert_array_equal(*found)
