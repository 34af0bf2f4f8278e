"""Choosing among candidates: what is chosen, and how it is told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from labelens import Atlas, KernelSupervisedPCA, SupervisedPCA, knn_score, select
from labelens._fit.task import Task
from labelens._judge import comparison
from labelens._judge.candidates import LAPLACIAN_WIDTHS, SHRINKAGES, WIDTHS, what_varies
from labelens._judge.comparison import MOST_REPEATS, lean
from labelens.datasets import make_xor
from selection.choosing import KERNEL_METHODS

# What is chosen --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_xor_takes_a_kernel(seed):
    """Or PCA, which sees the diagonal: no other linear method does."""
    X, y = make_xor(random_state=seed)
    chosen = select(X, y, random_state=seed)
    fresh, truth = make_xor(random_state=100 + seed)
    judge = KNeighborsClassifier(1).fit(chosen.estimator.transform(X), y)
    assert judge.score(chosen.estimator.transform(fresh), truth) > 0.95
    linear = [
        line["score"]
        for line in chosen.table
        if line["method"] not in KERNEL_METHODS and line["target_weight"] > 0
    ]
    assert max(linear) < 0.65 < 0.95 < chosen.score


@pytest.mark.parametrize("seed", range(3))
def test_what_lies_along_a_line_is_found_by_any(seed):
    """One of ten columns tells, and nine shout: nearest rows of X itself are at chance."""
    draw = np.random.default_rng(seed)
    y = np.arange(300) % 2
    X = draw.normal(size=(300, 10)) * 30
    X[:, 4] = y + draw.normal(size=300) * 0.15
    chosen = select(X, y, random_state=seed)
    assert chosen.score > 0.95
    assert {line["method"] for line in chosen.table} >= {"SupervisedPCA", "KernelSupervisedPCA"}


def test_noise_is_at_chance_on_fresh_rows():
    """And the score of the best of many is above what it is worth, as the docstring says."""
    told, true = [], []
    for seed in range(6):
        draw = np.random.default_rng(seed)
        X, y = draw.normal(size=(120, 5)), draw.integers(2, size=120)
        fresh, truth = draw.normal(size=(2000, 5)), draw.integers(2, size=2000)
        chosen = select(X, y, random_state=seed)
        judge = KNeighborsClassifier(1).fit(chosen.estimator.transform(X), y)
        told.append(chosen.score)
        true.append(judge.score(chosen.estimator.transform(fresh), truth))
    # 12,000 answers: a standard error of 0.005.
    assert abs(np.mean(true) - 0.5) < 0.02
    assert np.mean(told) > np.mean(true) + 0.02
    assert "The score of the best of many candidates is optimistic" in select.__doc__


def test_a_candidate_that_sees_nothing_is_last(data):
    X, y = data
    nothing = KernelSupervisedPCA(2, gamma=1e6, approximation="nystroem", random_state=0)
    chosen = select(X, y, [nothing, SupervisedPCA(2)], random_state=0)
    assert [line["method"] for line in chosen.table] == ["SupervisedPCA", "KernelSupervisedPCA"]
    assert chosen.table[1]["score"] < 0.6 < 0.8 < chosen.score


@pytest.mark.parametrize("scoring", ["knn", "hsic"])
def test_scores_are_those_of_an_independent_judge(data, scoring):
    """One candidate, refitted by hand on every fold with the ridge that stands for all rows."""
    X, y = data
    model = SupervisedPCA(2, shrinkage=0.1)
    chosen = select(X, y, model, cv=3, scoring=scoring, n_neighbors=1, random_state=0)
    seed = chosen.estimator.random_state
    scores = []
    for train, test in Task.of(model, X, y).folds(3, seed):
        own = clone(lean(model, 90, 60, 90)).fit(X[train], y[train])
        known, asked = own.transform(X[train]), own.transform(X[test])
        if scoring == "knn":
            scores.append(KNeighborsClassifier(1).fit(known, y[train]).score(asked, y[test]))
        else:  # adjusted R^2 of one-hot labels on the embedding, all columns together
            one_hot = np.eye(3)[y[test]]
            one_hot -= one_hot.mean(axis=0)
            design = np.column_stack([np.ones(len(test)), asked])
            rest = one_hot - design @ np.linalg.lstsq(design, one_hot)[0]
            unexplained = (rest**2).sum() / (one_hot**2).sum()
            scores.append(1 - unexplained * (len(test) - 1) / (len(test) - 1 - 2))
    assert chosen.score == pytest.approx(np.mean(scores), abs=1e-9)
    # Two folds of three have half of their training rows in common (Nadeau and Bengio, 2003).
    error = np.std(scores, ddof=1) * np.sqrt(1 / 3 + 1 / 2)
    assert chosen.error == pytest.approx(error, abs=1e-9)


def test_the_score_of_classes_is_the_mean_of_few_and_many_neighbours(data):
    scores = [
        select(*data, SupervisedPCA(2), n_neighbors=k, random_state=0).score for k in (1, 10, None)
    ]
    assert scores[0] != scores[1]
    assert scores[2] == pytest.approx(np.mean(scores[:2]))  # 30 rows a class


def test_dependence_has_no_liking_for_many_dimensions():
    """Of noise every dimension explains some of the labels; against chance it explains nothing."""
    means = []
    for seed in range(20):
        draw = np.random.default_rng(seed)
        X, y = draw.normal(size=(100, 12)), np.arange(100) % 2
        models = SupervisedPCA(target_weight=0.5)
        chosen = select(X, y, models, n_components=[1, 10], scoring="hsic", random_state=seed)
        line = {line["n_components"]: line["score"] for line in chosen.table}
        means.append([line[1], line[10]])
    mean, error = np.mean(means, axis=0), np.std(means, axis=0) / np.sqrt(20)
    assert (np.abs(mean) < 3 * error + 0.01).all()


def test_folds_as_small_as_the_embedding_say_nothing():
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(40, 12)), np.arange(40) % 2
    chosen = select(
        X, y, SupervisedPCA(5, target_weight=0.5), scoring="hsic", cv=10, random_state=0
    )
    assert chosen.score == 0


# How it is told --------------------------------------------------------------------------------


def test_the_estimator_is_the_best_candidate_fitted_on_all_rows(blobs):
    X, y = blobs
    chosen = select(X, y, random_state=0)
    again = clone(chosen.estimator).fit(X, y)
    np.testing.assert_array_equal(chosen.estimator.transform(X), again.transform(X))
    best = chosen.table[0]
    assert best["method"] == type(chosen.estimator).__name__
    for name, value in chosen.params.items():
        assert getattr(chosen.estimator, name) == value == best[name]
    assert chosen.score == best["score"]
    assert chosen.error == best["error"]
    assert chosen.estimator.n_samples_seen_ == len(X)


def test_the_same_seed_gives_the_same_selection(blobs):
    first, second, other = (select(*blobs, random_state=seed) for seed in (0, 0, 1))
    assert first.table == second.table
    assert first.reason == second.reason
    assert first.table != other.table
    for Z in (second.estimator.transform(blobs[0]),):
        np.testing.assert_array_equal(first.estimator.transform(blobs[0]), Z)


def test_columns_come_in_the_order_of_the_candidates():
    linear = [SupervisedPCA(shrinkage=s) for s in (1, 0.1)]
    kernels = [KernelSupervisedPCA(gamma=g) for g in (1, 0.1)]
    assert what_varies(linear + kernels) == ["shrinkage", "gamma"]
    assert what_varies(kernels + linear) == ["gamma", "shrinkage"]


def test_the_table_has_every_candidate_once_the_best_first(blobs):
    chosen = select(*blobs, random_state=0)
    names = ["target_weight", "shrinkage", "label_shrinkage", "component_scale", "scale"]
    names += ["kernel", "gamma"]
    lines = [(line["method"], *(line[name] for name in names)) for line in chosen.table]
    assert len(set(lines)) == len(lines)
    kernels = [line for line in chosen.table if line["method"] == "KernelSupervisedPCA"]
    # Both scales of components are the same where shrinkage is 1.
    assert len(kernels) == (len(WIDTHS) + len(LAPLACIAN_WIDTHS)) * (2 * len(SHRINKAGES) - 1) * 2
    assert {line["scale"] for line in kernels} == {None, "standard"}
    # Those of the last round before those of the first, by smoothed score within each.
    keys = [(line["folds"], line["smoothed"]) for line in chosen.table]
    assert keys[1:] == sorted(keys[1:], key=lambda key: (-key[0], -key[1]))
    assert {folds for folds, _ in keys} == {5, 5 * MOST_REPEATS}
    assert set(chosen.params) == {name for name in names if hasattr(chosen.estimator, name)}


def test_the_text_says_what_and_why(blobs):
    chosen = select(*blobs, random_state=0)
    best, text = chosen.table[0], str(chosen)
    start = f"{best['method']} with "
    assert chosen.reason.startswith(start)
    metric = "mean of 1-NN and 15-NN accuracy"
    others = [line for line in chosen.table if line["folds"] == best["folds"]]
    simpler = any(line["smoothed"] > best["smoothed"] for line in others)
    luckier = any(line["score"] > best["score"] for line in others)
    nearby = " with its neighbours in the grid" if luckier else ""
    why = f" has the best held-out {metric}{nearby}, "
    if simpler:
        why = " is within one standard error of the best candidate, and simpler: "
        why += f"held-out {metric} "
    assert f"{why}{best['score']:.4f} ± {best['error']:.4f}, " in chosen.reason
    assert "in 5 folds of all 240 rows, drawn 4 times" in chosen.reason
    assert "in 5 folds of all 240 rows" in chosen.reason
    for name, value in chosen.params.items():
        if value is not None:
            shown = f"{value:.4g}" if isinstance(value, float) else value
            default = value == getattr(type(chosen.estimator)(), name)
            assert (f"{name}={shown}" in chosen.reason.partition(why)[0]) != default
    lines = text.splitlines()
    assert lines[0] == chosen.reason
    names = lines[2].split()
    assert names == [name for name in best if name in names]
    for name in set(best) - {"method", "score", "error"}:
        assert (name in names) == (len({line[name] for line in chosen.table[:10]}) > 1)
    assert len(lines) == 3 + 10 + 1
    assert lines[-1] == f"... and {len(chosen.table) - 10} more in `table`"
    where = lines[2].index("score")  # columns stand under their names
    assert {line[where:].split()[0] for line in lines[3:-1]} == {
        f"{line['score']:.4f}" for line in chosen.table[:10]
    }
    assert repr(chosen).startswith(f"Selection of {start}")
    assert f"the best of {len(chosen.table)}: {metric}" in repr(chosen)
    assert max(map(len, lines[1:])) < 135


def test_a_rival_from_the_heats_is_told_as_such(data):
    chosen = select(*data, random_state=0)
    best = chosen.table[0]
    rival = next(line for line in chosen.table if line["method"] != best["method"])
    if best["smoothed"] < chosen.table[1]["smoothed"]:
        rival = chosen.table[1]
    told = chosen.reason.split("; ")[1]
    assert told.startswith(rival["method"])
    assert (" in 5 folds of 90 rows." in told) == (rival["folds"] == 5)


def test_one_candidate_has_no_rival(data):
    chosen = select(*data, SupervisedPCA(2), random_state=0)
    assert chosen.params == {}
    assert chosen.reason.endswith("in 5 folds of all 90 rows.")
    assert chosen.reason.startswith("SupervisedPCA has the best")


# The simpler within one standard error ----------------------------------------------------------


def outcome(scores, round=1):
    return comparison.Outcome(100, 4, np.array(scores), round, float(np.mean(scores)))


def leader(candidates, outcomes, kind="classes", n=100):
    labels = np.arange(n) % 2 if kind == "classes" else np.linspace(0, 1, n)
    return comparison.simpler_first([0, 1], candidates, outcomes, Task(None, labels, kind))[0]


def test_a_linear_method_wins_within_one_standard_error():
    candidates = [KernelSupervisedPCA(), SupervisedPCA()]
    close = [outcome([0.9, 0.8, 0.9, 0.8]), outcome([0.8, 0.9, 0.8, 0.88])]
    assert leader(candidates, close) == 1
    assert leader(candidates, close, n=150) == 1
    assert leader(candidates, close, n=300) == 0  # a share of the rows was compared
    worse = [outcome([0.9, 0.8, 0.9, 0.8]), outcome([0.8, 0.7, 0.81, 0.7])]
    assert leader(candidates, worse) == 0
    failing = [outcome([1.0, 1.0, 1.0, 1.0]), outcome([1.0, 1.0, 1.0, 0.5])]
    assert leader(candidates, failing) == 0
    numbers = [outcome([0.9, 0.8, 0.9, 0.8]), outcome([0.8, 0.85, 0.8, 0.85])]
    assert leader(candidates, numbers) == 0
    assert leader(candidates, numbers, "numbers") == 1
    left = [outcome([0.9, 0.8, 0.9, 0.8]), outcome([0.9, 0.9], round=0)]
    assert leader(candidates, left) == 0


def test_what_was_not_tuned_wins_within_one_standard_error():
    candidates = [SupervisedPCA(), SupervisedPCA(shrinkage="auto")]
    close = [outcome([0.9, 0.8, 0.9, 0.8]), outcome([0.8, 0.9, 0.8, 0.88])]
    assert leader(candidates, close) == 1
    worse = [outcome([0.9, 0.8, 0.9, 0.8]), outcome([0.8, 0.7, 0.81, 0.7])]
    assert leader(candidates, worse) == 0


def test_normal_classes_take_discriminant_analysis_with_estimated_shrinkage(rng):
    """Few rows of many columns of unlike spread: other choices of a good score are luck."""
    y = np.arange(90) % 3
    X = (rng.normal(size=(3, 12))[y] + rng.normal(size=(90, 12))) * np.logspace(0, 2, 12)
    chosen = select(X, y, random_state=0)
    assert chosen.params["shrinkage"] == "auto"
    assert chosen.params["component_scale"] == "within"
    assert chosen.params["scale"] == "standard"
    best, rival = chosen.table[:2]
    if rival["smoothed"] > best["smoothed"]:  # and the reason does not call it the best
        assert "is within one standard error of the best candidate, and simpler" in chosen.reason
        assert f"has {rival['score']:.4f} ± " in chosen.reason.split("; ")[1]
    wanted = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(X, y).transform(X)
    ours = chosen.estimator.transform(X)
    assert np.corrcoef(pdist(ours), pdist(wanted))[0, 1] > 0.95


def test_linear_discriminant_analysis_is_among_the_candidates():
    """Gaussian classes with one covariance, for which it is the best there is."""
    draw = np.random.default_rng(0)
    y = np.arange(400) % 3
    X = (draw.normal(size=(400, 20)) + 3 * np.eye(20)[y]) @ draw.normal(size=(20, 20))
    chosen = select(X, y, random_state=0)
    whitened = [line for line in chosen.table if line["label_shrinkage"] == 0]
    assert max(line["score"] for line in whitened) > 0.9


def test_few_components_of_many_classes_are_an_atlas():
    # In random order: its first rows are by other writers.
    X, X_new, y, y_new = train_test_split(
        *load_digits(return_X_y=True), train_size=400, random_state=0
    )
    chosen = select(X, y, n_components=2, random_state=0)
    assert isinstance(chosen.estimator, Atlas)
    assert chosen.map is chosen.estimator
    assert chosen.table[0]["method"].startswith("Atlas of ")
    assert "Atlas of" in chosen.reason
    assert repr(chosen).startswith("Selection of Atlas of")
    assert str(chosen).count("Atlas of") == 2
    # The score is one of held-out rows: new rows have about the same.
    Z = chosen.estimator.transform(X_new)
    fresh = [knn_score(chosen.estimator.transform(X), y, Z, y_new, n_neighbors=k) for k in (1, 15)]
    assert abs(np.mean(fresh) - chosen.score) < 0.03
    assert chosen.score > chosen.table[1]["score"] + 0.05
    assert select(X, y, n_components=3, random_state=0).estimator.layout == "sphere"


def test_the_map_of_a_full_embedding_is_proposed():
    X, y = load_digits(return_X_y=True)
    full = select(X[:300], y[:300], SupervisedPCA(9), random_state=0)
    assert full.map.estimator.n_components == 9
    assert not hasattr(full.map, "anchors_")
    three = y < 3
    assert select(X[three], y[three], SupervisedPCA(2), random_state=0).map is None


def test_low_effort_compares_in_two_folds(blobs):
    chosen = select(*blobs, effort="low", random_state=0)
    assert chosen.score > 0.8
    assert {line["folds"] for line in chosen.table} <= {2, 4, 6, 8}  # folds of few rows are redrawn
    with pytest.raises(ValueError, match="effort must be 'high' or 'low', got 'max'"):
        select(*blobs, effort="max")


def test_exact_candidates_have_the_scores_of_their_own_fits(data):
    """One candidate, refitted by hand on every fold, whose kernel matrix the folds share."""
    X, y = data
    for kernel in ("rbf", "laplacian", "matern", "polynomial"):
        model = KernelSupervisedPCA(
            2, kernel=kernel, gamma=0.1, shrinkage=0.1, approximation="exact", scale="standard"
        )
        chosen = select(X, y, model, cv=3, n_neighbors=1, random_state=0)
        scores = []
        for train, test in Task.of(model, X, y).folds(3, chosen.estimator.random_state):
            scaled = (X - X.mean(axis=0)) / X.std(axis=0)
            own = clone(lean(model, 90, 60, 90)).set_params(scale=None)
            own.fit(scaled[train], y[train])
            known, asked = own.transform(scaled[train]), own.transform(scaled[test])
            scores.append(KNeighborsClassifier(1).fit(known, y[train]).score(asked, y[test]))
        assert chosen.score == pytest.approx(np.mean(scores), abs=0.02)
