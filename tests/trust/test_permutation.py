"""Shuffled labels: what an embedding scores where there is nothing to find."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import kstest
from sklearn.datasets import load_diabetes, make_multilabel_classification
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, f1_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from labelens import SupervisedPCA, cross_embed, permutation_report
from labelens._fit.task import Task
from trust.noise import Means, noise


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
    assert "predicts held-out rows" in report.verdict


@pytest.mark.parametrize("cv", [3, pytest.param(KFold(3), marks=pytest.mark.long)])
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
