"""Which candidates and rows are tried, and what stands for a candidate on fewer rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import FunctionTransformer

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    select,
)
from labelens._fit.folds import passes_of
from labelens._fit.settings import is_kernel_method
from labelens._judge import comparison
from labelens._judge.candidates import METHODS
from labelens._judge.comparison import lean
from selection.choosing import KERNEL_METHODS, quietly

SRP, KSRP = SupervisedRandomProjection.__name__, KernelSupervisedRandomProjection.__name__

# Which rows and candidates ---------------------------------------------------------------------


def test_candidates_are_compared_on_max_rows_only(blobs, watched):
    X, y = blobs
    chosen = select(X, y, max_rows=60, random_state=0)
    assert {batch.rows.shape[0] for _, batch, *_ in watched} == {60}
    assert {line["rows"] for line in chosen.table} == {60}
    assert "5 folds of 60 of the 240 rows" in chosen.reason
    assert chosen.estimator.n_samples_seen_ == 240
    for _, batch, fold, *_ in watched:
        assert np.bincount(batch.labels).tolist() == [15] * 4  # classes in proportion
        assert (np.bincount(fold) > 0).all()
        rows = {row.tobytes() for row in batch.rows}
        assert rows <= {row.tobytes() for row in X}


def test_heats_have_fewer_rows_and_the_better_half_goes_on(watched, monkeypatch):
    monkeypatch.setattr(comparison, "HEAT_ROWS", 100)
    monkeypatch.setattr(comparison, "FEW_ROWS", 500)
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(600, 4)), np.arange(600) % 3
    chosen = select(X, y, random_state=0)
    (everyone, batch, fold, *_, scores), (some, whole, folds, *_) = watched
    assert (batch.rows.shape[0], whole.rows.shape[0]) == (200, 600)
    assert (fold.max(), folds.max()) == (1, 4)
    assert len(some) <= len(everyone) / 2
    most = comparison.MOST_PASSES + comparison.LINEAR_FINALISTS
    assert len(set(passes_of(everyone))) > most >= len(set(passes_of(some)))
    assert {type(one).__name__ for one in some} >= {"SupervisedPCA"}
    assert len(chosen.table) == len(everyone)
    assert sum(line["rows"] == 600 for line in chosen.table) == len(some)
    # Of those that stayed behind none was better than the best that went on.
    left = max(line["score"] for line in chosen.table if line["rows"] == 200)
    assert left <= scores.mean(axis=1).max()


@pytest.mark.parametrize("shape", ["plane", "sphere"])
def test_linear_methods_go_on_unless_they_are_far_behind(shape, watched, monkeypatch):
    monkeypatch.setattr(comparison, "HEAT_ROWS", 100)
    monkeypatch.setattr(comparison, "FEW_ROWS", 500)
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = X[:, 0] > 0 if shape == "plane" else np.square(X).sum(axis=1) > 2.4
    select(X, y, random_state=0)
    (everyone, *_, scores), (some, *_) = watched
    linear = np.array([not is_kernel_method(one) for one in everyone])
    means = scores.mean(axis=1)
    close = comparison.BEHIND * comparison.CLOSE["classes"]
    behind = means.max() - means[linear].max() > close
    assert behind == (shape == "sphere")
    assert all(map(is_kernel_method, some)) == behind
    select(X, y, n_components=[1, 2], random_state=0)  # where more components score higher
    assert not all(map(is_kernel_method, watched[-1][0]))


def test_few_candidates_meet_no_heat(data, watched):
    grid = {"shrinkage": [1, 0.1, 0.01]}
    chosen = select(*data, SupervisedPCA(2), grid=grid, random_state=0)
    assert len(watched) == 1
    assert {line["folds"] for line in chosen.table} == {5}


def test_few_rows_have_all_folds_and_finalists_more_of_them(blobs, watched):
    chosen = select(*blobs, random_state=0)
    (everyone, *_), *finals = watched
    assert len(finals) == comparison.MOST_REPEATS - 1
    assert len({one[2].tobytes() for one in watched}) == len(watched)  # no folds are run twice
    assert {one[2].max() for one in watched} == {4}
    (count,) = {len(one[0]) for one in finals}
    most = comparison.FINALISTS + comparison.LINEAR_FINALISTS
    assert count <= most + sum(map(comparison.is_untuned, everyone)) < len(everyone)
    for line in chosen.table[:count]:
        assert line["folds"] == 5 * comparison.MOST_REPEATS
    scores = [np.hstack([one[-1][i] for one in finals]) for i in range(count)]
    first = {repr(c): own for c, own in zip(everyone, watched[0][-1], strict=True)}
    means = [
        np.hstack([first[repr(c)], own]).mean() for c, own in zip(finals[0][0], scores, strict=True)
    ]
    assert sorted(means) == pytest.approx(sorted(line["score"] for line in chosen.table[:count]))


def test_neighbours_differ_in_one_step_of_gamma_or_shrinkage():
    candidates = [
        KernelSupervisedPCA(gamma=g, shrinkage=s, scale=scale)
        for scale in (None, "standard")
        for g in (0.1, 1.0, 10.0)
        for s in (1.0, 0.1)
    ]
    around = comparison.in_the_grid(candidates)
    assert around[0] == [1, 2]
    assert around[3] == [1, 2, 5]
    assert around[8] == [6, 9, 10]
    assert (
        comparison.in_the_grid([KernelSupervisedPCA(gamma=g) for g in ("scale", 1.0)]) == [[]] * 2
    )


def test_a_score_counts_half_and_those_around_it_half():
    scores = {0: np.array([0.9, 0.7]), 1: np.array([0.6]), 2: np.array([0.4])}
    around = [[1, 2], [0], []]
    first = comparison.with_neighbours(scores, [0, 1, 2], {}, around)
    assert first == pytest.approx({0: 0.4 + 0.25, 1: 0.3 + 0.4, 2: 0.4})
    # The others have dropped out: they count as if they had gained the 0.05 of those alive.
    before = {0: 0.75, 1: 0.6, 2: 0.4}
    last = comparison.with_neighbours(scores, [0], before, around)
    assert last == pytest.approx({0: 0.4 + 0.275})


def test_given_estimators_are_compared_by_their_own_scores(blobs):
    grid = {"gamma": [0.01, 0.1, 1.0], "shrinkage": None}
    chosen = select(*blobs, KernelSupervisedPCA(2), grid=grid, random_state=0)
    assert all(line["smoothed"] == line["score"] for line in chosen.table)
    by_default = select(*blobs, random_state=0)
    assert any(line["smoothed"] != line["score"] for line in by_default.table)


def test_every_fold_has_rows_to_judge(watched, monkeypatch):
    monkeypatch.setattr(comparison, "JUDGED_ROWS", 100)
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
        | {(method, 3, 1.0) for method in spectral | direct}
        | {(method, 5, t) for method in spectral for t in (0.9, 0.5)}
        | {("SupervisedPCA", k, 0.0) for k in (2, 3, 5)}  # PCA
    )


def test_linear_methods_have_no_more_dimensions_than_columns(data):
    table = select(*data, n_components=[2, 9], random_state=0).table
    assert {line["n_components"] for line in table if line["method"] == "SupervisedPCA"} == {2}
    assert {line["n_components"] for line in table if line["method"] in KERNEL_METHODS} == {2, 9}


def test_a_grid_changes_the_default_one(data):
    grid = {"gamma": [0.5, "median"], "shrinkage": [0.2], "scale": ["minmax"]}
    chosen = select(*data, grid=grid, random_state=0)
    lines = [(line["method"], line["gamma"]) for line in chosen.table]
    kernel, linear = ["KernelSupervisedPCA"] * 2, ["SupervisedPCA"] * 2  # two scales of components
    kernel, linear = [*kernel, KSRP], [*linear, SRP]
    assert sorted(lines, key=str) == sorted(
        [(name, gamma) for name in kernel for gamma in (0.5, "median")]
        + [(name, None) for name in linear * 2],  # with and without whitened labels
        key=str,
    )
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


def test_a_default_grid_may_vary_what_any_method_has(data):
    for method in METHODS.values():
        for name in method().get_params():
            if name not in ("class_weight", "missing_label"):
                value = getattr(method(), name)
                quietly(*data, method(2), grid={name: [2 if name == "n_components" else value]})


def test_direct_methods_are_tried_where_dimensions_are_few(data, watched):
    chosen = quietly(*data, n_components=1)
    assert {one.label_map for one in watched[0][0] if one._solver.random_labels} == {"spread"}
    assert {line["method"] for line in chosen.table} == {
        *KERNEL_METHODS, "SupervisedPCA", "SupervisedRandomProjection"
    }  # fmt: skip
    direct = KernelSupervisedRandomProjection(1, label_map="spread")
    assert quietly(*data, direct, grid={"gamma": [0.1, 1]}).score > 0.5


# What stands for a candidate on fewer rows -----------------------------------------------------


def ridge_of(shrinkage):
    """What is added to C_xx, in units of its mean variance."""
    return shrinkage / (1 - shrinkage)


@pytest.mark.parametrize("shrinkage", [1e-6, 0.1, 0.9, 0.999999])
@pytest.mark.parametrize("n", [4, 1000, 10**6])
def test_the_ridge_of_n_rows_is_kept(shrinkage, n):
    small = lean(SupervisedPCA(shrinkage=shrinkage), min(n, 1000), min(n, 1000) // 2, n)
    assert 0 < shrinkage < small.shrinkage <= 1
    factor = n / (min(n, 1000) // 2)
    assert ridge_of(small.shrinkage) == pytest.approx(ridge_of(shrinkage) * factor, rel=1e-6)


@pytest.mark.parametrize("shrinkage", [0, 1, "auto"])
def test_ends_and_rules_stay(shrinkage):
    assert lean(SupervisedPCA(shrinkage=shrinkage), 100, 50, 1000).shrinkage == shrinkage


@pytest.mark.parametrize("wanted", [1, 255, 256, 257, 5000])
@pytest.mark.parametrize("sampled", [10, 1024, 10_000])
def test_fewer_rows_get_fewer_features_and_never_more(wanted, sampled):
    small = lean(KernelSupervisedPCA(n_random_features=wanted), sampled, sampled // 2, 10**5)
    assert small.n_random_features == min(wanted, max(256, sampled // 4))


def test_features_that_are_not_drawn_do_not_count():
    """The trace over p is what a ridge is measured in, so p has to be the p there is."""
    own = FunctionTransformer()
    for same in (
        KernelSupervisedPCA(approximation=own, n_random_features=4000, shrinkage=0.1),
        KernelSupervisedPCA(kernel="linear", n_random_features=4000, shrinkage=0.1),
    ):
        small = lean(same, 1000, 1000, 1000)
        assert small.n_random_features == 4000
        assert small.shrinkage == pytest.approx(0.1)
    # 1000 rows have 1000 landmarks at most, of which 256 are a quarter.
    greedy = KernelSupervisedPCA(approximation="nystroem", n_random_features=4000, shrinkage=0.1)
    assert ridge_of(lean(greedy, 1000, 1000, 1000).shrinkage) == pytest.approx(
        ridge_of(0.1) * 256 / 1000
    )
