"""Cases that the differential test has found, each in its smallest form."""

import numpy as np
import pytest
from scipy import sparse

import labelens
from labelens import SupervisedPCA, SupervisedRandomProjection


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
