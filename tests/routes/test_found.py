"""Cases that the differential test has found, each in its smallest form."""

import numpy as np
import pytest
from scipy import sparse

import labelens
from labelens import KernelSupervisedPCA, SupervisedPCA, SupervisedRandomProjection
from labelens._core.kernels import Kernel
from labelens._core.maps.nystroem import Nystroem
from routes import ways
from routes.cases import Case
from routes.checking import check_route
from routes.labels import draw_labels
from routes.taking import ROUTES


def test_class_weights_count_for_the_label_gamma_of_streams(rng):
    X, y = rng.normal(size=(80, 3)), np.repeat([0, 1, 2], [50, 20, 10])
    model = SupervisedPCA(2, label_kernel="rbf", class_weight="balanced")
    wanted = model.fit(X, y).components_
    np.testing.assert_array_equal(labelens.fit(model, X, label=y).components_, wanted)


@pytest.mark.parametrize("scale", ["minmax", "standard"])
def test_scaled_rows_far_from_zero_keep_their_digits(rng, scale):
    y = np.arange(200) % 3
    X = np.round(rng.normal(size=(200, 4)) * 64) / 64 + y[:, None]  # exact after the shift, too
    model = SupervisedPCA(2, scale=scale, shrinkage="auto")
    near = model.fit(X, y).components_
    far = model.fit(X + 2.0**30, y)
    np.testing.assert_allclose(far.components_, near, atol=1e-12 * np.abs(near).max())
    moved = sparse.csr_array(X + 2.0**30)  # of a model that was fitted on dense rows
    np.testing.assert_allclose(
        far.transform(moved), far.transform(X + 2.0**30), rtol=1e-6, atol=1e-6
    )


def test_one_labelled_row_gives_sparse_sums_an_origin(rng):
    y = np.arange(60) % 3
    X = np.round(rng.normal(size=(60, 4)) * 64) / 64 + y[:, None] + 2.0**30
    y[:7] = -1
    for rows in (X, sparse.csr_array(X)):
        model = SupervisedPCA(2, missing_label=-1).partial_fit(rows[:8], y[:8])
        model.partial_fit(rows[8:], y[8:])
        wanted = SupervisedPCA(2, missing_label=-1).fit(X - 2.0**30, y)
        found = model.moments_.cross.covariance[:, np.argsort(model.moments_.classes)]
        np.testing.assert_allclose(found, wanted.moments_.cross.covariance, atol=1e-13)


def test_sparse_labels_have_a_score(rng):
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, (30, 3))
    wanted = labelens.knn_score(X[:20], y[:20], X[20:], y[20:])
    train, test = sparse.csr_array(y[:20]), sparse.csr_array(y[20:])
    assert labelens.knn_score(X[:20], train, X[20:], test) == wanted


def test_hashed_labels_in_several_columns_can_be_saved(rng, tmp_path):
    X, y = rng.normal(size=(60, 3)), np.arange(120).reshape(60, 2) % 9
    model = SupervisedRandomProjection(1, label_map="gaussian", random_state=0).fit(X, y)
    labelens.save(model, tmp_path / "model.labelens")
    found = labelens.load(tmp_path / "model.labelens").transform(X)
    np.testing.assert_array_equal(found, model.transform(X))


def test_rounding_does_not_order_landmarks_that_add_the_same(rng):
    """All rows with one entry are equally far apart: gamma in its last digit orders none."""
    rows = np.eye(6)[rng.integers(0, 6, 60)]
    for gamma in rng.uniform(0.05, 2, 20):
        near = Nystroem.draw(Kernel("rbf", gamma), rows, 16, 0)
        other = Nystroem.draw(Kernel("rbf", gamma * (1 + 2e-16)), rows, 16, 0)
        np.testing.assert_array_equal(near.landmarks, other.landmarks)


def rounded_to_single(rng):
    """A batch of one row is multiplied by other code of BLAS than many rows, in float32."""
    return rng.normal(size=(9, 4)).astype(np.float32), ways.in_batches, {}


def of_large_angles(rng):
    """Angles of 1e5 have lost five digits."""
    far = 1e5 * rng.choice([-1, 1], 5)
    return rng.normal(size=(9, 5)) + far, ways.saved_between, {"shrinkage": "auto", "gamma": 0.1}


def of_dependent_landmarks(rng):
    """Landmarks in one column are nearly dependent."""
    return rng.normal(size=(1650, 1)), ways.on_dask, {"approximation": "nystroem"}


def that_hardly_vary(rng):
    """Rows so near each other, for this gamma, that the kernel is 1 less 1e-11."""
    far = 1e6 * rng.choice([-1, 1], 6)
    return rng.normal(size=(48, 6)) + far, ways.on_device, {"approximation": "nystroem"}


@pytest.mark.parametrize(
    "drawn", [rounded_to_single, of_large_angles, of_dependent_landmarks, that_hardly_vary]
)
@pytest.mark.parametrize("seed", range(4))
def test_features_as_good_as_rounding_allows(drawn, seed):
    rng = np.random.default_rng(seed)
    X, route, parameters = drawn(rng)
    if route not in ROUTES:
        pytest.skip(f"the library for {route.__name__} is not installed")
    labels = draw_labels("grades", len(X), rng)
    model = KernelSupervisedPCA(2, n_random_features=16, random_state=0)
    model.set_params(**{"approximation": "fourier", **parameters})
    check_route(Case(X, labels, np.ones(len(X), bool), None, None, model, rng), route)


def test_labels_that_one_of_several_files_lacks():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(17, 4)), draw_labels("continuous", 17, rng)
    for rows in (slice(0, 12), slice(5, 17)):
        labelled = np.ones(17, bool)
        labelled[rows] = False
        model = SupervisedPCA(2, missing_label=np.nan)
        check_route(Case(X, labels, labelled, None, None, model, rng), ways.csv_files)
