"""Choosing among candidates: what is chosen, how it is told, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import FunctionTransformer

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    select,
    selection,
)
from labelens.candidates import METHODS, SHRINKAGES, WIDTHS, what_varies
from labelens.datasets import make_xor
from labelens.folds import passes_of
from labelens.selection import _lean
from labelens.task import Task

KERNEL_METHODS = "KernelSupervisedPCA", "KernelSupervisedRandomProjection"


@pytest.fixture
def watched(monkeypatch):
    """The (estimators, batch, fold, judged, scores) of every round."""
    rounds, cross_validate = [], selection.cross_validate

    def watching(estimators, batch, fold, judged, judge):
        scores = cross_validate(estimators, batch, fold, judged, judge)
        rounds.append((estimators, batch, fold, judged, scores))
        return scores

    monkeypatch.setattr(selection, "cross_validate", watching)
    return rounds


def quietly(*args, **options):
    """select, with any warning an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return select(*args, random_state=0, **options)


# What is chosen --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_xor_takes_a_kernel(seed):
    X, y = make_xor(random_state=seed)
    chosen = select(X, y, random_state=seed)
    assert type(chosen.estimator).__name__ in KERNEL_METHODS
    fresh, truth = make_xor(random_state=100 + seed)
    judge = KNeighborsClassifier(1).fit(chosen.estimator.transform(X), y)
    assert judge.score(chosen.estimator.transform(fresh), truth) > 0.95
    linear = [line["score"] for line in chosen.table if line["method"] not in KERNEL_METHODS]
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
    assert "best of many is a little too good" in select.__doc__


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
    chosen = select(X, y, model, cv=3, scoring=scoring, random_state=0)
    seed = chosen.estimator.random_state
    scores = []
    for train, test in Task.of(model, X, y).folds(3, seed):
        own = clone(_lean(model, 90, 60, 90)).fit(X[train], y[train])
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
    assert chosen.error == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3), abs=1e-9)


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
    names = ["shrinkage", "scale", "gamma"]
    lines = [(line["method"], *(line[name] for name in names)) for line in chosen.table]
    assert len(set(lines)) == len(lines)
    kernels = [line for line in chosen.table if line["method"] == "KernelSupervisedPCA"]
    assert len(kernels) == len(WIDTHS) * len(SHRINKAGES) * 2
    assert {line["scale"] for line in kernels} == {None, "standard"}
    # Those of the last round before those of the heats, by score within each.
    keys = [(line["folds"], line["score"]) for line in chosen.table]
    assert keys == sorted(keys, key=lambda key: (-key[0], -key[1]))
    assert {folds for folds, _ in keys} == {2, 5}
    assert set(chosen.params) == {name for name in names if hasattr(chosen.estimator, name)}


def test_the_text_says_what_and_why(blobs):
    chosen = select(*blobs, random_state=0)
    best, text = chosen.table[0], str(chosen)
    start = f"{best['method']} with "
    assert chosen.reason.startswith(start)
    assert f"has the best held-out 1-NN accuracy, {best['score']:.4f} ± " in chosen.reason
    assert "in 5 folds of all 240 rows" in chosen.reason
    for name, value in chosen.params.items():
        if value is not None:
            shown = f"{value:.4g}" if isinstance(value, float) else value
            assert f"{name}={shown}" in chosen.reason
    lines = text.splitlines()
    assert lines[0] == chosen.reason
    assert lines[2].split() == list(best)
    assert len(lines) == 3 + 10 + 1
    assert lines[-1] == f"... and {len(chosen.table) - 10} more in `table`"
    where = lines[2].index("score")  # columns stand under their names
    assert {line[where:].split()[0] for line in lines[3:-1]} == {
        f"{line['score']:.4f}" for line in chosen.table[:10]
    }
    assert repr(chosen).startswith(f"Selection of {start}")
    assert f"the best of {len(chosen.table)}: 1-NN accuracy" in repr(chosen)
    assert max(map(len, lines[1:])) < 120


def test_a_rival_from_the_heats_is_told_as_such(data):
    chosen = select(*data, random_state=0)
    rival = next(line for line in chosen.table if line["method"] != chosen.table[0]["method"])
    told = chosen.reason.split("; ")[1]
    assert told.startswith(rival["method"])
    assert (" in 2 folds of 90 rows." in told) == (rival["folds"] == 2)


def test_one_candidate_has_no_rival(data):
    chosen = select(*data, SupervisedPCA(2), random_state=0)
    assert chosen.params == {}
    assert chosen.reason.endswith("in 5 folds of all 90 rows.")
    assert chosen.reason.startswith("SupervisedPCA has the best")


# Which rows and candidates ---------------------------------------------------------------------


def test_candidates_are_compared_on_max_rows_only(blobs, watched):
    X, y = blobs
    chosen = select(X, y, max_rows=60, random_state=0)
    assert [batch.rows.shape[0] for _, batch, *_ in watched] == [60, 60]
    assert {line["rows"] for line in chosen.table} == {60}
    assert "5 folds of 60 of the 240 rows" in chosen.reason
    assert chosen.estimator.n_samples_seen_ == 240
    for _, batch, fold, *_ in watched:
        assert np.bincount(batch.labels).tolist() == [15] * 4  # classes in proportion
        assert (np.bincount(fold) > 0).all()
        rows = {row.tobytes() for row in batch.rows}
        assert rows <= {row.tobytes() for row in X}


def test_heats_have_fewer_rows_and_the_better_half_goes_on(watched, monkeypatch):
    monkeypatch.setattr(selection, "HEAT_ROWS", 100)
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(600, 4)), np.arange(600) % 3
    chosen = select(X, y, random_state=0)
    (everyone, batch, fold, *_, scores), (some, whole, folds, *_) = watched
    assert (batch.rows.shape[0], whole.rows.shape[0]) == (200, 600)
    assert (fold.max(), folds.max()) == (1, 4)
    assert len(some) <= len(everyone) / 2
    assert len(set(passes_of(everyone))) > len(set(passes_of(some))) == selection.MOST_PASSES
    assert len(chosen.table) == len(everyone)
    assert sum(line["rows"] == 600 for line in chosen.table) == len(some)
    # Of those that stayed behind none was better than the best that went on.
    left = max(line["score"] for line in chosen.table if line["rows"] == 200)
    assert left <= scores.mean(axis=1).max()


def test_few_candidates_meet_no_heat(data, watched):
    grid = {"shrinkage": [1, 0.1, 0.01]}
    chosen = select(*data, SupervisedPCA(2), grid=grid, random_state=0)
    assert len(watched) == 1
    assert {line["folds"] for line in chosen.table} == {5}


def test_two_folds_of_few_rows_are_not_run_twice(blobs, watched):
    select(*blobs, cv=2, random_state=0)
    assert len(watched) == 1


def test_every_fold_has_rows_to_judge(watched, monkeypatch):
    monkeypatch.setattr(selection, "JUDGED_ROWS", 100)
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(600, 2)), np.arange(600) % 2
    for cv in (2, 100):
        select(X, y, SupervisedPCA(1), cv=cv, random_state=0)
    (*_, judged, scores), (_, _, many, more, each) = watched
    assert len(judged) == 100
    assert (np.bincount(many[more], minlength=100) > 0).all()
    assert np.isfinite(scores).all()
    assert np.isfinite(each).all()


def test_defaults_try_what_the_dimensions_ask_for(blobs):
    """Four classes have three directions: past them comes variance, short of them two solvers."""
    table = select(*blobs, n_components=[2, 3, 5], random_state=0).table
    tried = {(line["method"], line["n_components"], line["target_weight"]) for line in table}
    spectral = {"SupervisedPCA", "KernelSupervisedPCA"}
    direct = {"SupervisedRandomProjection", "KernelSupervisedRandomProjection"}
    assert tried == (
        {(method, 2, 1.0) for method in spectral | direct}
        | {(method, 3, 1.0) for method in spectral}
        | {(method, 5, t) for method in spectral for t in (0.9, 0.5)}
    )


def test_linear_methods_have_no_more_dimensions_than_columns(data):
    table = select(*data, n_components=[2, 9], random_state=0).table
    assert {line["n_components"] for line in table if line["method"] == "SupervisedPCA"} == {2}
    assert {line["n_components"] for line in table if line["method"] in KERNEL_METHODS} == {2, 9}


def test_a_grid_changes_the_default_one(data):
    grid = {"gamma": [0.5, "median"], "shrinkage": [0.2], "scale": ["minmax"]}
    chosen = select(*data, grid=grid, random_state=0)
    lines = [(line["method"], line["gamma"]) for line in chosen.table]
    assert sorted(lines, key=str) == [
        ("KernelSupervisedPCA", "median"),
        ("KernelSupervisedPCA", 0.5),
        ("SupervisedPCA", None),
    ]
    assert (chosen.estimator.shrinkage, chosen.estimator.scale) == (0.2, "minmax")


def test_an_estimator_is_not_varied_in_what_it_lacks(data):
    models = [SupervisedPCA(2), KernelSupervisedPCA(2, n_random_features=50)]
    table = select(*data, models, grid={"gamma": [0.1, 1, 1.0]}, random_state=0).table
    assert sorted((line["method"], line["gamma"] or 0) for line in table) == [
        ("KernelSupervisedPCA", 0.1),
        ("KernelSupervisedPCA", 1),  # each once
        ("SupervisedPCA", 0),
    ]


def test_templates_are_neither_fitted_nor_changed(data):
    template = KernelSupervisedPCA(2, random_state=np.random.RandomState(5))
    before = template.random_state.get_state()[1].copy()
    chosen = select(*data, template, grid={"shrinkage": [1, 0.1]}, random_state=0)
    np.testing.assert_array_equal(template.random_state.get_state()[1], before)
    assert not hasattr(template, "moments_")
    assert set(vars(template)) == set(template.get_params())
    # A generator would draw other features whenever it is asked, so it is asked once.
    assert isinstance(chosen.estimator.random_state, int)


def test_the_seed_reaches_transformers(data):
    def model():
        return KernelSupervisedPCA(2, approximation=RBFSampler(n_components=30))

    first, second = (
        select(*data, model(), grid={"shrinkage": [1, 0.1]}, random_state=0) for _ in range(2)
    )
    assert first.table == second.table
    np.testing.assert_array_equal(*(one.estimator.transform(data[0]) for one in (first, second)))
    grid = {"approximation": [RBFSampler(n_components=30), RBFSampler(n_components=40)]}
    by_grid = [select(*data, KernelSupervisedPCA(2), grid=grid, random_state=0) for _ in range(2)]
    assert by_grid[0].score == by_grid[1].score
    assert by_grid[0].estimator.approximation.random_state is not None


def test_seeds_of_estimators_stay(data):
    models = [SupervisedRandomProjection(2, random_state=seed) for seed in (7, 8)]
    chosen = select(*data, models, random_state=0)
    assert {line["random_state"] for line in chosen.table} == {7, 8}


# What stands for a candidate on fewer rows -----------------------------------------------------


def ridge_of(shrinkage):
    """What is added to C_xx, in units of its mean variance."""
    return shrinkage / (1 - shrinkage)


@pytest.mark.parametrize("shrinkage", [1e-6, 0.1, 0.9, 0.999999])
@pytest.mark.parametrize("n", [4, 1000, 10**6])
def test_the_ridge_of_n_rows_is_kept(shrinkage, n):
    lean = _lean(SupervisedPCA(shrinkage=shrinkage), min(n, 1000), min(n, 1000) // 2, n)
    assert 0 < shrinkage < lean.shrinkage <= 1
    factor = n / (min(n, 1000) // 2)
    assert ridge_of(lean.shrinkage) == pytest.approx(ridge_of(shrinkage) * factor, rel=1e-6)


@pytest.mark.parametrize("shrinkage", [0, 1, "auto"])
def test_ends_and_rules_stay(shrinkage):
    assert _lean(SupervisedPCA(shrinkage=shrinkage), 100, 50, 1000).shrinkage == shrinkage


@pytest.mark.parametrize("wanted", [1, 255, 256, 257, 5000])
@pytest.mark.parametrize("sampled", [10, 1024, 10_000])
def test_fewer_rows_get_fewer_features_and_never_more(wanted, sampled):
    lean = _lean(KernelSupervisedPCA(n_random_features=wanted), sampled, sampled // 2, 10**5)
    assert lean.n_random_features == min(wanted, max(256, sampled // 4))


def test_features_that_are_not_drawn_do_not_count():
    """The trace over p is what a ridge is measured in, so p has to be the p there is."""
    own = FunctionTransformer()
    for same in (
        KernelSupervisedPCA(approximation=own, n_random_features=4000, shrinkage=0.1),
        KernelSupervisedPCA(kernel="linear", n_random_features=4000, shrinkage=0.1),
    ):
        lean = _lean(same, 1000, 1000, 1000)
        assert lean.n_random_features == 4000
        assert lean.shrinkage == pytest.approx(0.1)
    # 1000 rows have 1000 landmarks at most, of which 256 are a quarter.
    greedy = KernelSupervisedPCA(approximation="nystroem", n_random_features=4000, shrinkage=0.1)
    assert ridge_of(_lean(greedy, 1000, 1000, 1000).shrinkage) == pytest.approx(
        ridge_of(0.1) * 256 / 1000
    )


# Data of every kind ----------------------------------------------------------------------------


def test_string_classes_and_data_frames(data):
    X, y = data
    frame, names = pd.DataFrame(X, columns=list("abcd")), np.array(["x", "y", "z"])[y]
    plain, chosen = quietly(X, y), quietly(frame, pd.Series(names))
    assert chosen.estimator.feature_names_in_.tolist() == list("abcd")
    assert chosen.estimator.classes_.tolist() == ["x", "y", "z"]
    assert chosen.score == plain.score
    as_objects = quietly(X.tolist(), names.astype(object).tolist())
    assert as_objects.score == plain.score


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_rows(blobs, make):
    X, y = np.where(blobs[0] > 3, blobs[0], 0), blobs[1]
    chosen = quietly(make(X), y)
    assert chosen.score > 0.5
    assert chosen.estimator.transform(make(X)).shape == (240, 3)
    assert "scale" not in chosen.params


def test_sparse_rows_have_the_scores_of_dense_ones(blobs):
    X, y = np.where(blobs[0] > 3, blobs[0], 0), blobs[1]
    grid = {"gamma": [0.01, 0.1], "shrinkage": [1, 0.1]}
    models = [SupervisedPCA(2), KernelSupervisedPCA(2, n_random_features=60)]
    dense, thin = (quietly(rows, y, models, grid=grid) for rows in (X, sparse.csr_array(X)))
    assert [line["score"] for line in dense.table] == pytest.approx(
        [line["score"] for line in thin.table], abs=0.01
    )


KINDS = {
    "numbers": (lambda X: X[:, 0] + X[:, 1], "5-NN R²", 2),
    "numbers in two columns": (lambda X: X[:, :2], "5-NN R²", 2),
    "multilabel": (lambda X: (X[:, :3] > 3).astype(int), "1-NN micro-F1", 3),
    "sparse multilabel": (
        lambda X: sparse.csr_array((X[:, :3] > 3).astype(int)), "1-NN micro-F1", 3
    ),
    "two columns of classes": (
        lambda X: np.column_stack([X[:, 0] > 3, (X[:, 1] > 3) * 5.0]),
        "1-NN accuracy",
        2,
    ),
    "columns that say the same": (
        lambda X: np.column_stack([X[:, 0] > 3, X[:, 0] <= 3]).astype(int) * 2,
        "1-NN accuracy",
        1,
    ),
    "bool": (lambda X: X[:, 0] > 3, "1-NN accuracy", 1),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scoring", ["knn", "hsic"])
def test_labels_of_every_kind(rng, kind, scoring):
    X = rng.normal(size=(80, 4)) * [1, 1, 1, 0.2] + 3
    make, metric, k = KINDS[kind]
    grid = {"gamma": [0.1, 0.5], "shrinkage": [1, 0.1]}
    chosen = quietly(X, make(X), grid=grid, scoring=scoring)
    assert chosen.metric == (metric if scoring == "knn" else "dependence")
    assert chosen.estimator.transform(X).shape == (80, k)
    assert chosen.score > 0.4


def test_neighbours_have_a_say(data):
    chosen = quietly(*data, SupervisedPCA(2), n_neighbors=7)
    assert chosen.metric == "7-NN accuracy"
    assert chosen.score != quietly(*data, SupervisedPCA(2)).score
    assert 0 <= quietly(*data, SupervisedPCA(2), n_neighbors=10_000).score <= 1


def test_class_weights_of_zero_leave_rows_out(data, watched):
    X, y = data
    chosen = quietly(X, y, SupervisedPCA(1, class_weight={0: 0}))
    assert set(watched[0][1].labels) == {1, 2}
    others = quietly(X[y > 0], y[y > 0], SupervisedPCA(1))
    assert chosen.table == others.table
    assert "all 60 rows" in chosen.reason


def test_classes_with_a_single_row(data):
    X, y = data
    y = np.append(y[:-1], 7)
    assert quietly(X, y).score > 0.6


def test_five_hundred_classes(rng, watched):
    centres = rng.normal(size=(500, 5)) * 10
    y = np.arange(1500) % 500
    names = np.array([f"c{i}" for i in range(500)])[y]
    grid = {"gamma": [0.01], "scale": [None], "shrinkage": [1, 0.1]}
    chosen = quietly(centres[y] + rng.normal(size=(1500, 5)) * 0.2, names, grid=grid)
    assert chosen.score > 0.8
    # To push so many apart would take longer than all the rest.
    assert {one.label_map for one in watched[0][0] if one._solver.mixes} == {"orthogonal"}


def test_constant_columns_do_no_harm(data):
    X, y = data
    wide = np.column_stack([X, np.ones(90), np.full(90, -7.0)])
    models, grid = [SupervisedPCA(2)], {"shrinkage": [1, 0.1, 0], "scale": [None, "standard"]}
    plain, chosen = (quietly(rows, y, models, grid=grid) for rows in (X, wide))
    assert chosen.score == pytest.approx(plain.score, abs=0.05)
    assert quietly(wide, y).score > 0.8


@pytest.mark.parametrize("scoring", ["knn", "hsic"])
def test_rows_that_are_all_equal_end_in_the_warning_of_fit(data, scoring):
    with pytest.warns(UserWarning, match="Only 0 of the 2 components carry") as told:
        chosen = select(np.ones((90, 4)), data[1], scoring=scoring, random_state=0)
    assert len(told) == 1
    assert chosen.score < 0.5


def test_float32_and_whole_numbers(data):
    X, y = data
    plain = quietly(X, y)
    assert quietly(X.astype(np.float32), y).score == pytest.approx(plain.score, abs=0.05)
    assert quietly((X * 100).astype(np.int32), y).score == pytest.approx(plain.score, abs=0.05)


# What is refused -------------------------------------------------------------------------------


def with_cell(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


FAULTS = {
    "no labels": (lambda X, y: dict(y=None), ValueError, "y is None: there are no labels"),
    "one class": (lambda X, y: dict(y=y * 0), ValueError, "Only one class has been seen, 0"),
    "one row of a class": (
        lambda X, y: dict(y=np.arange(90) // 89), ValueError, "outside fold . cannot be fitted"
    ),
    "NaN": (lambda X, y: dict(X=with_cell(X, np.nan)), ValueError, "NaN at row 3, column 2"),
    "infinity": (lambda X, y: dict(X=with_cell(X, -np.inf)), ValueError, "inf.* row 3, column 2"),
    "NaN in a frame": (
        lambda X, y: dict(X=pd.DataFrame(with_cell(X, np.nan), columns=list("abcd"))),
        ValueError,
        "NaN at row 3, column 'c'",
    ),
    "too large": (lambda X, y: dict(X=X * 1e200), ValueError, "squares overflow .* Scale X down"),
    "y of another length": (lambda X, y: dict(y=y[1:]), ValueError, "90 rows, 89 labels"),
    "no label": (
        lambda X, y: dict(estimators=SupervisedPCA(missing_label=2)),
        ValueError,
        r"Row 2 of y has no label \(missing_label=2\)",
    ),
    "too few rows": (
        lambda X, y: dict(X=X[:8], y=y[:8]), ValueError, "8 rows are too few for cv=5 folds; pass"
    ),
    "too few of max_rows": (
        lambda X, y: dict(max_rows=10, cv=8), ValueError, "10 rows are too few .* a larger max_rows"
    ),
    "cv": (lambda X, y: dict(cv=1), ValueError, "cv must be an integer >= 2, got 1"),
    "max_rows": (lambda X, y: dict(max_rows=3), ValueError, "max_rows must be an integer >= 10"),
    "n_neighbors": (lambda X, y: dict(n_neighbors=0), ValueError, "n_neighbors must be an integer"),
    "scoring": (lambda X, y: dict(scoring="f1"), ValueError, "'knn' or 'hsic', got 'f1'"),
    "n_components": (lambda X, y: dict(n_components=0), ValueError, "n_components must be an int"),
    "n_components is no number": (
        lambda X, y: dict(n_components=["two"]), TypeError, "n_components must be an integer"
    ),
    "no n_components": (
        lambda X, y: dict(n_components=[]), ValueError, "nothing to try for n_components"
    ),
    "n_components twice": (
        lambda X, y: dict(n_components=2, grid={"n_components": [3]}), ValueError, "named twice"
    ),
    "unknown name": (
        lambda X, y: dict(grid={"gama": [1]}), ValueError, "grid names 'gama', .* they have .*gamma"
    ),
    "name of others": (
        lambda X, y: dict(estimators=SupervisedPCA(), grid={"gamma": [1]}),
        ValueError,
        "grid names 'gamma', which none of the estimators has; they have batch_size",
    ),
    "empty list": (lambda X, y: dict(grid={"gamma": []}), ValueError, "nothing to try for gamma"),
    "bad value": (
        lambda X, y: dict(grid={"shrinkage": [0.1, 2]}), ValueError, "shrinkage must be .*, got 2"
    ),
    "bad type": (lambda X, y: dict(grid={"gamma": ["x"]}), ValueError, "gamma must be .* got 'x'"),
    "no dict": (lambda X, y: dict(grid=["gamma"]), TypeError, "grid must be a dict"),
    "another library": (
        lambda X, y: dict(estimators=[SupervisedPCA(), PCA()]),
        TypeError,
        r"methods of labelens, such as SupervisedPCA\(\), got PCA",
    ),
    "a class": (lambda X, y: dict(estimators=SupervisedPCA), TypeError, "such as SupervisedPCA"),
    "no estimators": (lambda X, y: dict(estimators=[]), ValueError, "estimators is an empty list"),
    "the exact kernel": (
        lambda X, y: dict(estimators=KernelSupervisedPCA(approximation="exact")),
        ValueError,
        "use approximation='nystroem'",
    ),
    "weights in the grid": (
        lambda X, y: dict(estimators=SupervisedPCA(), grid={"class_weight": [None, "balanced"]}),
        ValueError,
        "class_weight is None and 'balanced'",
    ),
    "different weights": (
        lambda X, y: dict(estimators=[SupervisedPCA(), SupervisedPCA(class_weight={0: 2})]),
        ValueError,
        "class_weight is None and {0: 2}",
    ),
    "different markers": (
        lambda X, y: dict(estimators=SupervisedPCA(), grid={"missing_label": [-1]}),
        ValueError,
        "missing_label is None and -1",
    ),
    "parameters at odds": (
        lambda X, y: dict(grid={"shrinkage": [0], "target_weight": [0]}),
        ValueError,
        "nothing to find",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told_in_a_sentence(data, fault):
    make, error, sentence = FAULTS[fault]
    X, y = data
    with pytest.raises(error, match=sentence) as told:
        quietly(**dict(X=X, y=y) | make(X, y))
    assert type(told.value) is error  # and not one that only an estimator raises
    assert str(told.value).endswith(".")


def test_a_default_grid_may_vary_what_any_method_has(data):
    for method in METHODS.values():
        for name in method().get_params():
            if name not in ("class_weight", "missing_label"):
                value = getattr(method(), name)
                quietly(*data, method(2), grid={name: [2 if name == "n_components" else value]})


def test_direct_methods_are_tried_where_dimensions_are_few(data, watched):
    chosen = quietly(*data, n_components=1)
    assert {one.label_map for one in watched[0][0] if one._solver.mixes} == {"spread"}
    assert {line["method"] for line in chosen.table} == {
        *KERNEL_METHODS, "SupervisedPCA", "SupervisedRandomProjection"
    }  # fmt: skip
    direct = KernelSupervisedRandomProjection(1, label_map="spread")
    assert quietly(*data, direct, grid={"gamma": [0.1, 1]}).score > 0.5
