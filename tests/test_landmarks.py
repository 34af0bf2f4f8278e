"""approximation="falkon": all rows through landmarks, against the exact kernel and its formulas."""

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.metrics.pairwise import rbf_kernel

import labelens
from labelens import KernelSupervisedPCA, KernelSupervisedRandomProjection
from labelens._core import landmarks
from labelens._core.exact_kernel import KernelRows
from labelens._core.kernels import Kernel

METHODS = [KernelSupervisedPCA, KernelSupervisedRandomProjection]
GAMMA = 0.2


@pytest.fixture
def rows(rng):
    y = rng.integers(0, 4, 150)
    X = rng.normal(size=(150, 4))
    X[:, 0] += y
    return X, y, rng.uniform(0.5, 2, 150)


def falkon(method=KernelSupervisedPCA, **parameters):
    common = {"n_components": 2, "gamma": GAMMA, "shrinkage": 0.01, "random_state": 0}
    return method(approximation="falkon", **common | {"n_random_features": 40} | parameters)


def same_up_to_signs(Z, other, tolerance=1e-10):
    Z = Z * np.sign((Z * other).sum(axis=0))
    assert np.abs(Z - other).max() <= tolerance * np.abs(other).max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("s", [1.0, 0.5, 1e-2, 1e-3])
@pytest.mark.parametrize("labels", ["classes", "missing", "numbers", "whitened"])
def test_every_row_a_landmark_gives_the_exact_model(rows, method, s, labels):
    X, y, weight = rows
    more = {"shrinkage": s, "n_random_features": 1000}
    if labels == "missing":
        y = np.where(np.arange(len(y)) % 7 == 0, np.nan, y)
        more |= {"missing_label": np.nan, "label_kernel": "delta"}
    elif labels == "numbers":
        y, more["label_kernel"] = np.column_stack([X[:, 1] ** 2, y]), "linear"
    elif labels == "whitened":
        more["label_shrinkage"] = 0.0
    model = falkon(method, **more).fit(X, y, weight)
    exact = falkon(method, **more).set_params(approximation="exact").fit(X, y, weight)
    same_up_to_signs(model.transform(X), exact.transform(X), 1e-7)
    for name in ("dependence_", "dependence_ratio_", "singular_values_"):
        np.testing.assert_allclose(getattr(model, name), getattr(exact, name), rtol=1e-6)


@pytest.mark.parametrize("s", [0.3, 1e-2, 1e-4])
def test_few_landmarks_solve_the_normal_equations(rows, s):
    """(a K_mn M K_nm + s K_mm) alpha = K_mn beta, written out; M = D - D 1 1^T D."""
    X, y, weight = rows
    model = falkon(n_components=3, shrinkage=s, label_shrinkage=0.0).fit(X, y, weight)
    known = model._solve().rows
    K_mm, K_mn = (rbf_kernel(known, Y, gamma=GAMMA) for Y in (known, X))
    share = weight / weight.sum()
    M = np.diag(share) - np.outer(share, share)
    one_hot = np.eye(4)[y]
    beta = share[:, None] * (one_hot - share @ one_hot)
    mean = K_mn @ share
    trace = 1 - mean @ np.linalg.solve(K_mm, mean)
    a = (1 - s) * len(X) / trace
    alpha = np.linalg.lstsq(a * K_mn @ M @ K_mn.T + s * K_mm, K_mn @ beta)[0]
    fitted = K_mn.T @ alpha
    angles = linalg.subspace_angles(
        model.transform(X), linalg.orth(fitted - share @ fitted, rcond=1e-8)
    )
    assert angles.max() < 1e-5


def test_blocks_that_are_not_kept_change_nothing(rows, monkeypatch):
    X, y, weight = rows
    model = falkon(batch_size=20)
    kept = model.fit(X, y, weight).transform(X)
    monkeypatch.setattr(landmarks, "LARGEST_BLOCKS", 8 * 40 * 50)
    np.testing.assert_array_equal(model.fit(X, y, weight).transform(X), kept)


def test_float32_is_close_to_float64(rows, monkeypatch):
    X, y, weight = rows
    double = falkon().fit(X, y, weight).transform(X)
    monkeypatch.setattr(landmarks, "DOUBLE_NUMBERS", 10)
    single = falkon().fit(X, y, weight).transform(X)
    assert (single != double).any()
    same_up_to_signs(single, double, 0.02)  # conjugate gradients stop at 3e-3


@pytest.mark.parametrize(
    ("dtype", "s"), [(np.float32, 0.1), (np.float32, 1e-2), (np.float64, 0.1), (np.float64, 1e-4)]
)
def test_systems_are_solved(rng, dtype, s, monkeypatch):
    monkeypatch.setattr(landmarks, "DOUBLE_NUMBERS", 10 if dtype == np.float32 else 1 << 24)
    n, m = 900, 300
    X, weight = rng.normal(size=(n, 5)), rng.uniform(0.5, 2, n)
    made = landmarks.Landmarks(
        Kernel("rbf", 0.3), KernelRows(n, X, weight, None), rng.normal(size=(n, 2)), m, 0, 128
    )
    assert made.dtype == dtype
    L = made.lift(np.eye(m)).T  # L^-1
    K_mn, share = rbf_kernel(made.rows, X, gamma=0.3), weight / weight.sum()
    phi = L @ K_mn
    covariance = (phi * share) @ phi.T - np.outer(phi @ share, phi @ share)
    B = (1 - s) * n / made.trace * covariance + s * np.eye(m)
    columns = rng.normal(size=(m, 3))
    rest = B @ made.solve(columns, s) - columns
    assert np.linalg.norm(rest) <= (5e-3 if dtype == np.float32 else 1e-9) * np.linalg.norm(columns)


def test_more_landmarks_are_closer_to_the_exact_model(rows):
    X, y, _ = rows
    exact = falkon().set_params(approximation="exact").fit(X, y).transform(X)
    far = [
        linalg.subspace_angles(falkon(n_random_features=m).fit(X, y).transform(X), exact).max()
        for m in (5, 20, 80, 150)
    ]
    assert far == sorted(far, reverse=True)
    assert far[0] > 0.05
    assert far[-1] < 1e-6


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern", "polynomial", "linear"])
def test_sparse_rows_and_every_kernel(rows, kernel):
    X, y, _ = rows
    dense = falkon(kernel=kernel).fit(X, y).transform(X)
    sparse_rows = sparse.csr_array(X)
    again = falkon(kernel=kernel).fit(sparse_rows, y).transform(sparse_rows)
    same_up_to_signs(again, dense, 1e-5)
    exact = falkon(kernel=kernel, n_random_features=150).fit(X, y).transform(X)
    other = falkon(kernel=kernel).set_params(approximation="exact").fit(X, y).transform(X)
    same_up_to_signs(exact, other, 1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_batches_and_merges_give_the_model_of_fit(rows, method):
    X, y, weight = rows
    whole = falkon(method).fit(X, y, weight).transform(X)
    parts = falkon(method)
    for here in (slice(0, 70), slice(70, None)):
        parts.partial_fit(X[here], y[here], weight[here])
    same_up_to_signs(parts.transform(X), whole)
    left, right = (falkon(method).fit(X[i], y[i], weight[i]) for i in (slice(70), slice(70, None)))
    same_up_to_signs(left.merge(right).transform(X), whole)


@pytest.mark.filterwarnings("ignore:.*holds 40 rows of the training data")
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_files_hold_the_landmarks(rows, container, tmp_path):
    X, y, weight = rows
    X = container(X)
    model = falkon().fit(X, y, weight)
    labelens.save(model, tmp_path / "m")
    again = labelens.load(tmp_path / "m")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.dual_coef_.shape == (2, 40)
    assert labelens.persist.info(tmp_path / "m")["training_rows"] == 40
    with pytest.raises(ValueError, match="comes from a file without its moments"):
        again.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"falkon.*moments=False"):
        labelens.save(model, tmp_path / "m", moments=True)


def test_seed_draws_the_landmarks(rows):
    X, y, _ = rows
    one, same, other = (falkon(random_state=seed).fit(X, y).transform(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target_weight": 0.5}, r"target_weight=0.5 needs the covariance.*nystroem"),
        ({"shrinkage": "auto"}, r"shrinkage='auto' needs the covariance.*above 0.*nystroem"),
        ({"shrinkage": 0}, r"shrinkage=0 needs the covariance.*above 0"),
    ],
)
def test_what_needs_a_covariance_is_rejected(rows, parameters, message):
    X, y, _ = rows
    with pytest.raises(ValueError, match=message):
        falkon(**parameters).fit(X, y)


def test_labels_are_required(rows):
    with pytest.raises(ValueError, match="falkon' needs labels"):
        falkon().fit(rows[0])
    with pytest.raises(ValueError, match="Use 'nystroem'"):
        labelens.hsic(rows[0], rows[1], approximation="falkon")


def test_duplicate_rows(rows):
    X, y, _ = rows
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    model = falkon(n_random_features=450).fit(X, y)
    exact = falkon().set_params(approximation="exact").fit(X, y)
    same_up_to_signs(model.transform(X), exact.transform(X), 1e-6)


def test_bits_do_not_depend_on_threads(rows):
    from threadpoolctl import threadpool_limits

    X, y, _ = rows
    X = np.tile(X, (10, 1)) + np.linspace(0, 1, 1500)[:, None]
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = falkon(n_random_features=600, batch_size=100).fit(X, np.tile(y, 10))
            found.append(model.transform(X[:100]))
    np.testing.assert_array_equal(*found)


def test_selection_and_reports_take_it(rows):
    X, y, _ = rows
    report = labelens.approximation_report(falkon(), X, y, random_state=0, n_draws=2)
    assert "exact kernel" in report.reference
    found = labelens.select(X, y, [falkon(), falkon(shrinkage=0.5)], random_state=0)
    assert found.estimator.approximation == "falkon"
