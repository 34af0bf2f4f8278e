"""What of an embedding is real: held-out pictures, shuffled labels, exact answers, other rows."""

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, sparse
from scipy.spatial.distance import cdist, pdist
from scipy.stats import kstest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes, load_digits, load_iris, make_multilabel_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, f1_score, r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import read_only
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    approximation_report,
    cross_embed,
    permutation_report,
    stability_report,
)
from labelens.maps import make_feature_map
from labelens.task import Task, basis, principal_angles


class Means(TransformerMixin, BaseEstimator):
    """Inner products with the means of classes: overfits as SupervisedPCA does, in microseconds."""

    def fit(self, X, y):
        self.means_ = np.array([X[y == c].mean(axis=0) for c in np.unique(y)])
        return self

    def transform(self, X):
        return X @ self.means_.T


class Turned(Means):
    """The same, turned, mirrored and moved at random, differently at every fit."""

    def transform(self, X):
        draw = np.random.default_rng(int(abs(self.means_.sum()) * 1e6))
        k = len(self.means_)
        return super().transform(X) @ linalg.qr(draw.normal(size=(k, k)))[0] + draw.normal(size=k)


def noise(seed, n=60, d=200, classes=5):
    """Rows and labels that have nothing to do with each other."""
    draw = np.random.default_rng(seed)
    return read_only(draw.normal(size=(n, d)), draw.permutation(np.arange(n) % classes))


def nearest_is_alike(Z, y):
    distances = cdist(Z, Z)
    np.fill_diagonal(distances, np.inf)
    return np.mean(y[distances.argmin(axis=1)] == y)


def chance(y):
    """How often another row is of the same class."""
    counts = np.unique(y, return_counts=True)[1]
    return np.sum(counts * (counts - 1)) / (len(y) * (len(y) - 1))


@pytest.fixture(scope="module")
def iris():
    return read_only(*load_iris(return_X_y=True))


@pytest.fixture(scope="module")
def digits():
    return read_only(*load_digits(return_X_y=True))


# Held-out pictures -------------------------------------------------------------------------------


def test_rows_of_a_fold_do_not_know_their_labels(rng):
    """Other labels for the rows of one fold leave these rows where they are, but for a turn."""
    X, y = noise(1)
    folds = list(KFold(4).split(X))
    other = y.copy()
    test = folds[2][1]
    other[test] = rng.permutation(5)[y[test]]
    one, two = (cross_embed(SupervisedPCA(3), X, labels, cv=folds) for labels in (y, other))
    np.testing.assert_allclose(pdist(one.Z[test]), pdist(two.Z[test]))
    assert not np.allclose(pdist(one.fitted[test]), pdist(two.fitted[test]), rtol=0.01)
    np.testing.assert_array_equal(np.flatnonzero(one.fold == 2), test)


@pytest.mark.parametrize("estimator", [SupervisedPCA(2), SupervisedPCA(4, shrinkage=0.1)])
def test_noise_is_separated_as_fitted_and_not_when_held_out(estimator):
    """Over seeds: rows of a fold are alike as often as chance has it, neither more nor less."""
    beyond_chance, whole, fitted = [], [], []
    for seed in range(80):
        X, y = noise(seed)
        crossed = cross_embed(estimator, X, y, random_state=seed)
        for fold in range(5):
            mine = crossed.fold == fold
            alike = nearest_is_alike(crossed.Z[mine], y[mine])
            beyond_chance.append(alike - chance(y[mine]))
        whole.append(nearest_is_alike(crossed.Z, y))
        fitted.append(nearest_is_alike(crossed.fitted, y))
    error = np.std(beyond_chance) / np.sqrt(len(beyond_chance))
    assert abs(np.mean(beyond_chance)) < 4 * error < 0.06
    assert np.mean(fitted) > 0.7
    # Across folds traces of the labels remain (docs/decisions/0011): small ones.
    assert abs(np.mean(whole) - chance(np.arange(60) % 5)) < 0.04


def test_folds_are_moved_onto_one_picture(iris):
    X, y = iris
    plain, turned = (cross_embed(model, X, y, random_state=0) for model in (Means(), Turned()))
    np.testing.assert_allclose(pdist(turned.Z), pdist(plain.Z), rtol=1e-6)
    np.testing.assert_allclose(pdist(turned.fitted), pdist(plain.fitted), rtol=1e-6)


def test_moved_by_the_best_rotation_of_the_training_rows(iris):
    X, y = iris
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    crossed = cross_embed(SupervisedPCA(2), X, y, cv=[(train, test), (test, train)])
    own = SupervisedPCA(2).fit(X[train], y[train])
    frame = SupervisedPCA(2).fit_transform(X, y)
    mine, there = own.transform(X[train]), frame[train]
    # Procrustes by the formula: with A^T B = U S V^T the rotation is U V^T.
    u, _, vt = np.linalg.svd((mine - mine.mean(0)).T @ (there - there.mean(0)))
    wanted = (own.transform(X[test]) - mine.mean(0)) @ u @ vt + there.mean(0)
    np.testing.assert_allclose(crossed.Z[test], wanted, atol=1e-12)
    np.testing.assert_allclose(crossed.fitted, frame, atol=1e-12)


ESTIMATORS = [
    SupervisedPCA(2),
    SupervisedRandomProjection(2),
    KernelSupervisedPCA(2, n_random_features=64),
    KernelSupervisedPCA(2, approximation="exact"),
    KernelSupervisedRandomProjection(2, n_random_features=64),
    LinearDiscriminantAnalysis(n_components=2),
    PCA(2),
    make_pipeline(StandardScaler(), SupervisedPCA(2)).set_output(transform="pandas"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_real_structure_stays_where_it_was(estimator, iris):
    X, y = iris
    crossed = cross_embed(estimator, X, y, random_state=0)
    assert crossed.Z.shape == crossed.fitted.shape == (150, 2)
    assert sorted(np.unique(crossed.fold)) == [0, 1, 2, 3, 4]
    scale = crossed.fitted.std()
    assert np.abs(crossed.Z - crossed.fitted).mean() < 0.1 * scale
    again = cross_embed(estimator, X, y, random_state=0)
    np.testing.assert_array_equal(crossed.Z, again.Z)


def test_tables_and_labels_of_all_kinds(iris, rng):
    X, y = iris
    wanted = cross_embed(SupervisedPCA(2), X, y, random_state=0).Z
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(150)[::-1])
    for table, labels in [
        (frame, pd.Series(y, index=frame.index)),
        (X.tolist(), y.tolist()),
        (sparse.coo_array(X), y),
        (frame, names),
    ]:
        Z = cross_embed(SupervisedPCA(2), table, labels, random_state=0).Z
        np.testing.assert_allclose(Z, wanted, atol=1e-9)
    numbers, both = X[:, 0] + 0.1 * rng.normal(size=150), X[:, :2] + 0.01
    for labels in (numbers, both, np.eye(3, dtype=int)[y], np.column_stack([y, y // 2 + 1])):
        crossed = cross_embed(SupervisedPCA(1), X, labels, random_state=0)
        assert crossed.Z.shape == (150, 1)
        assert abs(np.corrcoef(crossed.Z[:, 0], crossed.fitted[:, 0])[0, 1]) > 0.99
    assert cross_embed(PLSRegression(2), X, numbers, random_state=0).Z.shape == (150, 2)


def test_rows_in_the_order_of_their_labels_are_mixed(rng):
    X = np.sort(rng.normal(size=(60, 1)), axis=0)
    fold = cross_embed(PCA(1), X, X[:, 0], cv=3, random_state=0).fold
    for number in range(3):
        assert 20 < np.flatnonzero(fold == number).mean() < 40
    y = np.repeat([0, 1], [50, 10])
    fold = cross_embed(PCA(1), X, y, random_state=0).fold
    np.testing.assert_array_equal(np.bincount(fold[y == 1]), 2)


def test_what_cross_embed_refuses(iris):
    X, y = iris
    with pytest.raises(ValueError, match="y is None"):
        cross_embed(SupervisedPCA(), X, None)
    with pytest.raises(ValueError, match="every row needs one place"):
        cross_embed(SupervisedPCA(), X, y, cv=ShuffleSplit(3, random_state=0))
    with pytest.raises(ValueError, match=r"Row 50 of y has no label \(missing_label=1\)"):
        cross_embed(SupervisedPCA(missing_label=1), X, y)
    with pytest.raises(ValueError, match="2 components were fitted on all rows and 1 on those of"):
        cross_embed(LinearDiscriminantAnalysis(), X, y, cv=KFold(3))
    with pytest.raises(ValueError, match="cv must be an integer >= 2"):
        cross_embed(SupervisedPCA(), X, y, cv=1)


# Shuffled labels ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_noise_gives_no_evidence(seed):
    X, y = noise(seed)
    report = permutation_report(SupervisedPCA(4), X, y, n_permutations=39, random_state=seed)
    assert report.training_score > 0.9
    assert report.null_training_score.mean() > 0.9
    assert not report.evidence
    assert "no evidence" in report.verdict
    assert "no evidence" in str(report)


def test_iris_gives_evidence(iris):
    report = permutation_report(SupervisedPCA(2), *iris, n_permutations=39, random_state=0)
    assert report.evidence
    assert report.pvalue == report.score_pvalue == report.dependence_pvalue == 1 / 40
    assert "no evidence" not in str(report)
    assert "holds for rows it has not seen" in report.verdict


@pytest.mark.parametrize("cv", [3, KFold(3)])
def test_p_values_of_noise_are_uniform(cv):
    reports = []
    for seed in range(150):
        X, y = noise(seed, n=24, d=12, classes=3)
        reports.append(
            permutation_report(Means(), X, y, n_permutations=19, cv=cv, random_state=seed)
        )
    for name in ("pvalue", "score_pvalue", "dependence_pvalue"):
        values = np.array([getattr(report, name) for report in reports])
        for level in (0.05, 0.1, 0.25, 0.5):
            error = np.sqrt(level * (1 - level) / len(values))
            assert np.mean(values <= level) < level + 3 * error, (name, level)
    # Without ties a p-value is uniform on 1/20 ... 1: with a part of a step taken off, on [0, 1].
    off = np.random.default_rng(0).uniform(size=len(reports)) / 20
    spread = [report.dependence_pvalue for report in reports] - off
    assert kstest(spread, "uniform").pvalue > 1e-3


def test_p_values_count_shuffles(iris):
    X, y = iris
    report = permutation_report(PCA(1), X[::5], y[::5], n_permutations=19, random_state=0)
    for name in ("score", "dependence"):
        null, own = getattr(report, f"null_{name}"), getattr(report, name)
        wanted = (1 + np.sum(null > own - 1e-12)) / 20
        assert getattr(report, f"{name}_pvalue") == pytest.approx(wanted)
    table = np.column_stack([[report.score, *report.null_score],
                             [report.dependence, *report.null_dependence]]).round(12)  # fmt: skip
    p = np.array([[np.mean(column >= value) for value in column] for column in table.T])
    assert report.pvalue == pytest.approx(np.mean(p.min(axis=0) <= p[:, 0].min() + 1e-12))


def test_score_is_that_of_neighbours_in_a_pipeline(iris):
    """The oracle is scikit-learn's: embed and predict in one pipeline, cross-validated."""
    X, y = iris
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    model = SupervisedPCA(2)
    report = permutation_report(model, X, y, cv=cv, n_permutations=19, random_state=0)
    guesses = cross_val_predict(make_pipeline(model, KNeighborsClassifier(1)), X, y, cv=cv)
    assert report.score == pytest.approx(accuracy_score(y, guesses))
    assert report.metric == "1-NN accuracy"
    near = KNeighborsClassifier(1).fit(model.fit_transform(X, y), y).kneighbors()[1][:, 0]
    assert report.training_score == pytest.approx(np.mean(y[near] == y))

    X, y = load_diabetes(return_X_y=True)
    cv = KFold(5, shuffle=True, random_state=0)
    report = permutation_report(model, X, y + 0.5, cv=cv, n_permutations=19, random_state=0)
    guesses = cross_val_predict(make_pipeline(model, KNeighborsRegressor(5)), X, y + 0.5, cv=cv)
    assert report.score == pytest.approx(r2_score(y + 0.5, guesses))
    assert report.metric == "5-NN R²"
    assert report.evidence

    X, y = make_multilabel_classification(100, random_state=0)
    report = permutation_report(model, X, y, cv=cv, n_permutations=19, random_state=0)
    guesses = cross_val_predict(make_pipeline(model, KNeighborsClassifier(1)), X, y, cv=cv)
    assert report.score == pytest.approx(f1_score(y, guesses, average="micro"))
    assert report.metric == "1-NN micro-F1"
    thin = permutation_report(
        model, X, sparse.csr_array(y), cv=cv, n_permutations=19, random_state=0
    )
    assert thin.score == pytest.approx(report.score)


def test_dependence_is_explained_label_variance(iris):
    X, y = iris
    report = permutation_report(SupervisedPCA(2), X, y, n_permutations=19, random_state=3)
    Z = cross_embed(SupervisedPCA(2), X, y, random_state=3).Z
    one_hot = np.eye(3)[y]
    share = LinearRegression().fit(Z, one_hot).predict(Z)
    wanted = r2_score(one_hot, share, multioutput="variance_weighted")
    assert report.dependence == pytest.approx(wanted)
    measure = Task.of(None, X, y).dependence(0)
    assert measure(Z @ [[3.0, 1.0], [0.0, 0.1]] + 7) == pytest.approx(wanted)
    assert measure(one_hot) == pytest.approx(1)
    assert measure(np.ones((150, 2)) * 0.1) == 0


def test_whole_numbers_with_as_many_values_as_rows_are_numbers(rng):
    y = rng.permutation(300)
    X = np.column_stack([y + rng.normal(size=300), rng.normal(size=300)])
    model = SupervisedPCA(1, label_kernel="rbf")
    report = permutation_report(model, X, y, n_permutations=19, random_state=0)
    assert report.metric == "5-NN R²"
    assert report.evidence
    assert report.dependence_pvalue == 1 / 20


def test_verdict_names_what_is_above_chance(rng):
    """Neighbours hardly notice a small shift in one of 30 columns; the dependence does."""
    y = np.arange(800) % 2
    X = rng.normal(size=(800, 30))
    X[:, 0] += 0.35 * y
    report = permutation_report(SupervisedPCA(1), X, y, n_permutations=39, random_state=0)
    assert report.dependence_pvalue < report.score_pvalue
    assert report.evidence
    assert f"held-out dependence is {report.dependence:.3f}" in report.verdict


def test_many_rows_are_sampled_and_the_report_says_so(rng):
    y = np.repeat(["rare", "common"], [300, 2700])
    X = rng.normal(size=(3000, 3)) + 2.0 * (y == "rare")[:, None]
    report = permutation_report(
        SupervisedPCA(1), X, y, n_permutations=19, max_rows=200, random_state=0
    )
    assert report.evidence
    assert "a sample of 200 of 3,000 rows" in str(report)
    task = Task.of(None, X, y)
    for _ in range(20):
        chosen = task.sample(200, rng)
        assert len(np.unique(chosen)) == 200
        assert 19 <= np.sum(y[chosen] == "rare") <= 21
    counts = np.bincount(np.concatenate([task.sample(300, rng) for _ in range(400)]))
    assert counts.min() > 10  # 40 on average: every row has its chance
    assert counts.max() < 80


def test_few_shuffles_are_refused(iris):
    with pytest.raises(ValueError, match="n_permutations must be an integer >= 19"):
        permutation_report(SupervisedPCA(), *iris, n_permutations=9)


def test_warnings_come_once(iris):
    X, y = iris
    with pytest.warns(UserWarning, match="Only 2 of the 3 components") as caught:
        permutation_report(SupervisedPCA(3), X, y, n_permutations=19, cv=3, random_state=0)
    assert len(caught) == 4  # of the model of all rows, and of three folds; none of the shuffles


# Exact answers -----------------------------------------------------------------------------------


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

    monkeypatch.setattr("labelens.trust.approximation.make_feature_map", make)
    monkeypatch.setattr("labelens.task.in_order", map)
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
    assert "nothing to approximate" in str(report)
    assert (report.kernel_error, report.kernel_error_se, report.rate) == (0, 0, None)
    assert not report.angles.any()
    assert (report.dependence == 1).all()


def test_what_approximation_report_refuses(iris):
    X, y = iris
    with pytest.raises(TypeError, match="PCA has no exact counterpart"):
        approximation_report(PCA(2), X, y)
    with pytest.raises(ValueError, match="n_draws must be an integer >= 2"):
        approximation_report(SupervisedPCA(), X, y, n_draws=1)


# Other rows and other seeds ----------------------------------------------------------------------


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
