"""Exact answers, and how far random features are from them."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    approximation_report,
)
from labelens._core.maps import make_feature_map


@pytest.mark.parametrize(
    ("approximation", "gamma", "rate"),
    [("fourier", 1e-3, 0.5), ("orthogonal", 1e-3, 0.57), ("nystroem", 3e-4, 0.93)],
)
def test_kernel_error_is_halved_by_that_many_features(approximation, gamma, rate, digits):
    """The promise is kept: with `features_for_half` features the error is half of what it was."""
    X, y = digits[0][:600], digits[1][:600]
    model = KernelSupervisedPCA(3, gamma=gamma, approximation=approximation, n_random_features=64)
    report = approximation_report(model, X, y, random_state=0)
    assert report.rate == pytest.approx(rate, abs=0.06)
    more = model.set_params(n_random_features=report.features_for_half)
    finer = approximation_report(more, X, y, random_state=1)
    assert 0.42 < finer.kernel_error / report.kernel_error < 0.58
    assert 0 < report.kernel_error_se < 0.1 * report.kernel_error
    assert ("in theory" in str(report)) == (approximation != "nystroem")


def test_kernel_error_by_the_formula(data, monkeypatch):
    X, y = data
    drawn = []

    def make(*arguments):
        drawn.append((arguments, make_feature_map(*arguments)))
        return drawn[-1][1]

    monkeypatch.setattr("labelens._judge.approximation.make_feature_map", make)
    monkeypatch.setattr("labelens._fit.task.in_order", map)
    model = KernelSupervisedPCA(2, gamma=0.3, n_random_features=32)
    report = approximation_report(model, X, y, n_draws=3, random_state=0)
    np.testing.assert_array_equal(report.n_features, [16, 32, 64])
    known = drawn[0][0][2]
    other = np.array([row for row in X.tolist() if row not in known.tolist()])
    K = rbf_kernel(other, gamma=0.3)
    errors = []
    for _, phi in drawn:
        features = phi(other)
        errors.append(np.sqrt(np.sum((features @ features.T - K) ** 2) / np.sum(K**2)))
    np.testing.assert_allclose(np.reshape(errors, (3, 3)), report.kernel_errors)


@pytest.mark.parametrize("knobs", [{}, {"target_weight": 0.5}, {"ridge": 1e-3}], ids=str)
def test_more_features_come_closer_to_the_exact_answer(knobs, iris):
    """In theory to a quarter of the distance, with 16 times as many."""
    X, y = iris
    angles = []
    for p in (48, 768):
        own = dict(knobs)
        if ridge := own.pop(
            "ridge", None
        ):  # what is added to C_xx, over its trace: s / (1 - s) / p
            own["shrinkage"] = ridge * p / (1 + ridge * p)
        model = KernelSupervisedPCA(2, gamma=0.3, n_random_features=p, **own)
        report = approximation_report(model, X, y, random_state=0)
        angles.append(report.angles[:, 0].mean())
        assert report.reference.endswith("kernel" if not knobs else "landmarks at every row")
    assert angles[1] < 0.4 * angles[0]
    assert report.dependence.mean() == pytest.approx(1, abs=0.02)


def test_shrinkage_by_ledoit_and_wolf_is_compared_too(iris):
    model = KernelSupervisedPCA(2, gamma=0.3, shrinkage="auto")
    report = approximation_report(model, *iris, random_state=0)
    assert report.reference.endswith("landmarks at every row")
    assert report.dependence.mean() == pytest.approx(1, abs=0.1)


def test_landmarks_at_every_row_are_exact(iris):
    X, y = iris
    model = KernelSupervisedPCA(2, approximation="nystroem", n_random_features=150)
    report = approximation_report(model, X, y, random_state=0)
    assert report.reference == "KernelSupervisedPCA with the exact kernel"
    assert report.angles.max() < 1e-5
    np.testing.assert_allclose(report.dependence, 1)
    assert report.features_for_half is None
    assert "every row is a landmark already" in str(report)


def test_random_projections_beside_supervised_pca(digits):
    X, y = digits
    few = approximation_report(SupervisedRandomProjection(4), X, y, random_state=0)
    assert few.reference == "SupervisedPCA"
    assert few.angles[:, 0].mean() > 0.5
    assert 0.7 < few.dependence.mean() < 0.99
    assert few.features_for_half is None
    assert "features" not in str(few)
    all_of_them = approximation_report(SupervisedRandomProjection(9), X, y, random_state=0)
    assert all_of_them.angles.max() < 1e-6
    np.testing.assert_allclose(all_of_them.dependence, 1)
    kernel = approximation_report(
        KernelSupervisedRandomProjection(9, kernel="linear"), X, y, random_state=0
    )
    assert kernel.reference == "KernelSupervisedPCA with the same features"
    assert kernel.angles.max() < 1e-6


@pytest.mark.parametrize(
    "estimator",
    [
        SupervisedPCA(2),
        KernelSupervisedPCA(2, approximation="exact"),
        KernelSupervisedPCA(2, kernel="linear"),
        KernelSupervisedPCA(2, approximation=RBFSampler()),
    ],
)
def test_nothing_to_approximate(estimator, iris):
    report = approximation_report(estimator, *iris, random_state=0)
    assert "approximates no kernel" in str(report)
    assert (report.kernel_error, report.kernel_error_se, report.rate) == (0, 0, None)
    assert not report.angles.any()
    assert (report.dependence == 1).all()


def test_what_approximation_report_refuses(iris):
    X, y = iris
    with pytest.raises(TypeError, match="PCA has no exact counterpart"):
        approximation_report(PCA(2), X, y)
    with pytest.raises(ValueError, match="n_draws must be an integer >= 2"):
        approximation_report(SupervisedPCA(), X, y, n_draws=1)
