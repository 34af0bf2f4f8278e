"""What candidates with the same exact kernel share, and that sharing changes no score."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut

from folds.naive import FOLDS, assert_same_as_naive, fold_of, seen_by_judge
from labelens import KernelSupervisedPCA, KernelSupervisedRandomProjection, cross_embed
from labelens._core import gram
from labelens._core.labels import sphere
from labelens._fit import folds, solution
from labelens._fit.task import nearest
from labelens._judge import crossed

EXACT = dict(approximation="exact", gamma=0.3, random_state=0)


@pytest.fixture
def classes(rng):
    X, y = rng.normal(size=(200, 6)), np.arange(200) % 8
    X[:, 0] += y
    return X, y


def test_one_matrix_and_one_factor_serve_both_solvers_and_all_label_kernels(rng, monkeypatch):
    X = rng.normal(size=(160, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=160)
    made = {"matrices": 0, "factors": 0}
    fill, factor = gram.Gram._fill, gram.Gram._make_factor

    def filled(self, *args):
        made["matrices"] += 1
        return fill(self, *args)

    def factored(self, ridge):
        made["factors"] += 1
        return factor(self, ridge)

    monkeypatch.setattr(gram.Gram, "_fill", filled)
    monkeypatch.setattr(gram.Gram, "_make_factor", factored)
    estimators = [
        method(1, shrinkage=s, label_kernel=kernel, **EXACT)
        for method in (KernelSupervisedPCA, KernelSupervisedRandomProjection)
        for s in (1.0, 0.1, 0.01)
        for kernel in ("rbf", "linear")
    ]
    seen_by_judge(estimators, X, y, fold_of(160))
    assert made["matrices"] == FOLDS
    assert made["factors"] <= FOLDS * 2 * 2  # folds, shrinkages below 1, label kernels


def test_class_vectors_serve_every_shrinkage(classes, monkeypatch):
    calls = []

    def counted(means, k):
        calls.append(k)
        return sphere.class_code(means, k)

    monkeypatch.setattr(solution, "class_code", counted)
    estimators = [
        KernelSupervisedRandomProjection(3, label_map="spread", shrinkage=s, **EXACT)
        for s in (1.0, 0.1, 0.01, 0.001)
    ]
    seen_by_judge(estimators, *classes, fold_of(200))
    assert len(calls) == FOLDS


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern"])
def test_what_is_shared_is_what_each_fit_has(classes, kernel):
    shared = EXACT | {"kernel": kernel}
    estimators = [
        method(k, shrinkage=s, target_weight=t, **shared)
        for method, k, s, t in (
            (KernelSupervisedPCA, 4, 1.0, 1.0),
            (KernelSupervisedPCA, 4, 0.1, 1.0),
            (KernelSupervisedPCA, 4, 0.01, 1.0),
            (KernelSupervisedPCA, 3, 0.1, 0.5),
            (KernelSupervisedRandomProjection, 7, 0.1, 1.0),
            (KernelSupervisedRandomProjection, 7, 1.0, 1.0),
        )
    ]
    assert_same_as_naive(estimators, *classes, tolerance=2e-3)  # values of a kernel are float32


@pytest.mark.parametrize(("n", "k"), [(40, 3), (1000, 15), (1003, 15), (1003, 1)])
def test_neighbours_by_groups_are_the_nearest(rng, n, k):
    known, asked = rng.normal(size=(n, 9)), rng.normal(size=(50, 9))
    distances = np.linalg.norm(asked[:, None] - known, axis=2)
    np.testing.assert_array_equal(nearest(known, asked, k), np.argsort(distances, axis=1)[:, :k])


# Models without some rows, by the factor of all of them -------------------------------------------


def left_out(model, X, y, monkeypatch, cv):
    """What `cross_embed` gives by one factor, and by a fit for every fold."""
    found = cross_embed(model, X, y, cv=cv, random_state=0)
    monkeypatch.setattr(crossed, "embedded_without", lambda *_: None)
    return found, cross_embed(model, X, y, cv=cv, random_state=0)


@pytest.mark.parametrize("method", [KernelSupervisedPCA, KernelSupervisedRandomProjection])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
@pytest.mark.parametrize("s", [0.1, 0.001])
def test_held_out_rows_by_the_factor_are_those_of_fits(classes, method, kernel, s, monkeypatch):
    model = method(4, shrinkage=s, approximation="exact", kernel=kernel, gamma=0.1)
    found, fits = left_out(model, *classes, monkeypatch, 10)
    np.testing.assert_allclose(found.Z, fits.Z, atol=1e-7 * np.abs(fits.Z).max())


def test_singular_systems_are_solved_by_eigenvectors(classes, monkeypatch):
    model = KernelSupervisedPCA(3, shrinkage=1e-16, approximation="exact", kernel="linear")
    found, fits = left_out(model, *classes, monkeypatch, 10)
    np.testing.assert_allclose(found.Z, fits.Z, atol=1e-6 * np.abs(fits.Z).max())


def test_no_model_is_fitted_for_every_row_left_out(classes, monkeypatch):
    X, y = classes[0][:60], classes[1][:60]
    model = KernelSupervisedPCA(3, shrinkage=0.01, approximation="exact", gamma=0.1)
    fits, fit = [], KernelSupervisedPCA.fit
    with monkeypatch.context() as patched:
        patched.setattr(
            KernelSupervisedPCA, "fit", lambda self, *rows: fits.append(1) or fit(self, *rows)
        )
        found = cross_embed(model, X, y, cv=LeaveOneOut())
    assert len(fits) == 1
    _, refitted = left_out(model, X, y, monkeypatch, LeaveOneOut())
    np.testing.assert_allclose(found.Z, refitted.Z, atol=1e-7 * np.abs(refitted.Z).max())


@pytest.mark.parametrize(
    "changes",
    [
        {"gamma": "scale"},
        {"scale": "standard"},
        {"class_weight": "balanced"},
        {"shrinkage": 1.0},
        {"target_weight": 0.5},
        {"approximation": "nystroem"},
    ],
)
def test_models_that_depend_on_their_rows_are_fitted(classes, changes):
    parameters = dict(shrinkage=0.1, approximation="exact", gamma=0.1, random_state=0) | changes
    stay = [np.arange(100), np.arange(50, 200)]
    assert folds.embedded_without(KernelSupervisedPCA(3, **parameters), *classes, stay) is None
