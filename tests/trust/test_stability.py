"""Other rows and other seeds: what of an embedding stays."""

import numpy as np
from scipy import linalg
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from labelens import SupervisedPCA, SupervisedRandomProjection, stability_report
from labelens._fit.task import basis, principal_angles
from trust.noise import noise


def test_seeds_turn_a_random_projection_within_its_span(digits):
    report = stability_report(SupervisedRandomProjection(9), *digits, random_state=0)
    assert report.seeds.angles.shape == report.seeds.found.shape == (20, 9)
    assert report.seeds.angles.max() < 1e-6
    np.testing.assert_allclose(report.seeds.found, 1)
    assert report.seeds.matched.mean() < 0.5
    assert report.rows.found.mean() > 0.99
    assert report.verdict == "Every component is found again with other rows and with other seeds."
    few = stability_report(SupervisedRandomProjection(2), *digits, random_state=0)
    assert not few.stable.any()
    assert "2 of 2 components may be an accident: other seeds keep" in few.verdict
    assert "component 0" not in f"{few!r} {few.verdict}"


def test_noise_is_not_stable_and_iris_is(iris):
    noisy = stability_report(SupervisedPCA(2), *noise(0), random_state=0)
    assert not noisy.stable.any()
    assert "other rows keep" in noisy.verdict
    np.testing.assert_allclose(noisy.seeds.matched, 1)  # SupervisedPCA draws nothing for classes
    report = stability_report(LinearDiscriminantAnalysis(n_components=2), *iris, random_state=0)
    assert report.seeds is None
    assert report.stable.all()
    assert "seeds" not in str(report)


def test_shares_are_those_of_a_regression(iris):
    X, y = iris
    halves = []

    class Recorded(PCA):
        def fit(self, X, y=None):
            halves.append(X)
            return super().fit(X)

    report = stability_report(Recorded(2, random_state=0), X, y, n_resamples=3, random_state=0)
    fitted = PCA(2).fit_transform(X)
    assert [len(half) for half in halves] == [150] + [75] * 3 + [150] * 3
    for i, half in enumerate(sorted(halves[1:4], key=lambda rows: -rows.sum())):
        Z = PCA(2).fit(half).transform(X)
        place = np.argmin(np.abs(report.rows.angles[:, 0] - principal_angles(fitted, Z)[0]))
        found = LinearRegression().fit(Z, fitted).predict(Z)
        wanted = r2_score(fitted, found, multioutput="raw_values")
        np.testing.assert_allclose(report.rows.found[place], wanted)
        same = [np.corrcoef(Z[:, j], fitted[:, j])[0, 1] ** 2 for j in range(2)]
        np.testing.assert_allclose(report.rows.matched[place], same)
        assert i < 3


def test_angles_of_degenerate_embeddings(rng):
    A, B = rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    wanted = linalg.subspace_angles(A - A.mean(0), B - B.mean(0))
    np.testing.assert_allclose(principal_angles(A, B), wanted)
    np.testing.assert_allclose(principal_angles(A, 5 * A[:, ::-1] + 1), 0, atol=1e-7)
    zero = np.full((30, 3), 0.1)
    np.testing.assert_array_equal(principal_angles(zero, zero), 0)
    np.testing.assert_allclose(principal_angles(A, zero), np.pi / 2)
    partly = A * [1, 1, 0]
    np.testing.assert_allclose(principal_angles(A, partly), [np.pi / 2, 0, 0], atol=1e-7)
    np.testing.assert_allclose(principal_angles(partly, partly), 0, atol=1e-7)
    assert basis(A[:, [0, 0, 1]]).shape == (30, 2)
