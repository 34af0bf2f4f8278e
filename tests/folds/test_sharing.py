"""What folds share, what that costs, and what cannot be shared."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import product
from math import ceil, log2

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from folds.naive import FOLDS, fold_of, seen_by_judge
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens._core.maps import fourier
from labelens._fit import folds, recipe
from labelens._fit.batch import read_batch
from labelens._fit.device import add_up
from labelens._fit.folds import passes_of, without_each
from labelens._fit.recipe import draw_recipe

# Moments of all folds but one ------------------------------------------------------------------


def parts_of(m, rng):
    X, y = rng.normal(size=(12 * m, 3)) + 5, rng.integers(6, size=12 * m)
    model = SupervisedPCA(2, shrinkage="auto", scale="standard")
    batch = read_batch(clone(model), X, y, None, True, True)
    recipe = draw_recipe(model.set_params(scale=None), batch)
    made = []
    for f in range(m):
        part = batch.take(np.arange(12 * f, 12 * f + 12))
        made.append(add_up(recipe, part, None))
    return made


def by_class(moments):
    order = np.argsort(moments.classes)
    return moments.cross.numbered(np.argsort(order), len(order)).covariance


@pytest.mark.parametrize("m", range(2, 12))
def test_without_each_is_the_merge_of_all_others(m, rng):
    parts = parts_of(m, rng)
    found = list(without_each(parts))
    assert len(found) == m
    for i, ours in enumerate(found):
        naive = reduce(lambda a, b: a.merge(b), parts[:i] + parts[i + 1 :])
        assert ours.n_samples == naive.n_samples == 12 * (m - 1)
        assert set(ours.classes) == set(naive.classes)
        np.testing.assert_allclose(by_class(ours), by_class(naive), atol=1e-13)
        for name in ("covariance", "cubic", "quartic"):
            mine, theirs = getattr(ours.scatter, name), getattr(naive.scatter, name)
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)


def test_parts_are_left_as_they_are(rng):
    parts = parts_of(5, rng)
    before = [part.scatter.comoment.copy() for part in parts]
    for _ in without_each(parts):
        pass
    for part, comoment in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part.scatter.comoment, comoment)


@pytest.mark.parametrize("m", range(2, 33))
def test_without_each_merges_m_log_m_times(m):
    class Part:
        merges = 0

        def merge(self, other):
            Part.merges += 1
            return Part()

    assert len(list(without_each([Part() for _ in range(m)]))) == m
    assert Part.merges <= m * ceil(log2(m))


# What it costs ---------------------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch):
    """How many rows were summarized, solved how often, and which draws were made."""
    seen = Counter()

    def count_calls(module, name, size=lambda *args: 1):
        function = getattr(module, name)

        def counting(*args, **kwargs):
            seen[name] += size(*args)
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, counting)

    count_calls(folds, "add_up", lambda recipe, batch, *_: batch.rows.shape[0])
    count_calls(folds, "solve")
    count_calls(folds, "draw_recipe")
    count_calls(fourier, "radial_scale")
    count_calls(recipe, "make_feature_map")
    return seen


def test_a_row_is_read_once_for_every_gamma(rows, counted):
    X, y = rows
    gammas, shrinkages = np.logspace(-2, 1, 10), [1, 0.1, 0.01, "auto"]
    estimators = [
        KernelSupervisedPCA(k, gamma=g, shrinkage=s, n_random_features=30, random_state=0)
        for g, s, k in product(gammas, shrinkages, [1, 2, 3])
    ]
    estimators += [
        KernelSupervisedRandomProjection(2, gamma=g, n_random_features=30, random_state=0)
        for g in gammas
    ]
    seen_by_judge(estimators, X, y, fold_of(len(X), 10))
    assert counted["add_up"] == 10 * len(X)
    assert counted["solve"] == 10 * 10 * (4 + 1)  # folds, gammas, solvers: the sizes are shared
    assert counted["make_feature_map"] == counted["radial_scale"] == counted["draw_recipe"] == 1


def test_linear_methods_read_the_rows_once(rows, counted):
    X, y = rows
    estimators = [
        SupervisedPCA(2, shrinkage=s, target_weight=t, scale=scale)
        for s, t, scale in product([1, 0.1, 0.01], [1, 0.9, 0.5], [None, "standard", "minmax"])
    ]
    estimators.append(SupervisedRandomProjection(2))
    for one in estimators:
        one.random_state = 0
    seen_by_judge(estimators, X, y, fold_of(len(X), 10))
    assert counted["add_up"] == len(X)


def test_a_covariance_is_made_only_where_one_is_wanted(rows, monkeypatch):
    wanted = []

    def asked(recipe, batch, before):
        wanted.append(recipe.scatter)
        return add_up(recipe, batch, before)

    monkeypatch.setattr(folds, "add_up", asked)
    plain = [KernelSupervisedPCA(2, gamma=g, random_state=0) for g in (0.1, 1)]
    seen_by_judge(plain, *rows, fold_of(200))
    assert wanted == [False] * (2 * FOLDS)
    wanted.clear()
    seen_by_judge([*plain, clone(plain[1]).set_params(shrinkage=0.1)], *rows, fold_of(200))
    assert sorted(wanted) == [False] * FOLDS + [True] * FOLDS


def test_passes_are_counted_as_they_are_made(rows, counted):
    X, y = rows
    own = FunctionTransformer(lambda some: some)
    estimators = [
        SupervisedPCA(2, random_state=0),
        SupervisedPCA(1, shrinkage=0.1, scale="standard", random_state=0),
        SupervisedRandomProjection(2, random_state=0),
        SupervisedRandomProjection(2, label_map="gaussian", random_state=0),  # labels drawn first
        SupervisedRandomProjection(2, target_weight=0.5, random_state=0),  # a sketch
        SupervisedPCA(2, shrinkage="auto", scale="standard", random_state=0),  # rows are scaled
        KernelSupervisedPCA(2, n_random_features=20, random_state=0),
        KernelSupervisedPCA(2, n_random_features=20, random_state=0, shrinkage=0.1),
        KernelSupervisedPCA(2, n_random_features=20, random_state=1),
        KernelSupervisedPCA(2, n_random_features=21, random_state=0),
        KernelSupervisedPCA(2, n_random_features=20, random_state=0, gamma=1),
        KernelSupervisedPCA(2, n_random_features=20, random_state=0, gamma=1.0),
        KernelSupervisedPCA(2, approximation=own, random_state=0),
        KernelSupervisedPCA(2, approximation=own, random_state=0, shrinkage=0.1),
    ]
    passes = passes_of(estimators)
    assert passes == [0, 0, 0, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 8]
    seen_by_judge(estimators, X, y, fold_of(len(X)))
    assert counted["add_up"] == len(X) * len(set(passes))


# What cannot be done ---------------------------------------------------------------------------


def test_a_fold_that_leaves_one_class_is_named(rows):
    X = rows[0]
    y = (fold_of(200) == 2).astype(int)
    with pytest.raises(
        ValueError, match=r"outside fold 2 cannot be fitted: y has a single class, 0"
    ):
        seen_by_judge([SupervisedPCA(1)], X, y, fold_of(200))


@pytest.mark.parametrize("wanting", [dict(shrinkage=0.1), dict(target_weight=0.5)])
def test_a_covariance_beyond_memory_is_refused_whoever_wants_it(rows, wanting, monkeypatch):
    monkeypatch.setattr("labelens._base.devices.free_bytes", lambda place: 4 * 8 * 6**2)
    with pytest.raises(ValueError, match="needs the 7 x 7 covariance"):
        seen_by_judge([SupervisedPCA(1), SupervisedPCA(1, **wanting)], *rows, fold_of(200))
    seen_by_judge([SupervisedPCA(1)], *rows, fold_of(200))


def test_sums_that_overflow_are_refused(rows):
    squares = FunctionTransformer(lambda some: some * 1e200)
    model = KernelSupervisedPCA(2, approximation=squares, shrinkage=0.1, random_state=0)
    with pytest.raises(ValueError, match="overflow: X is too large"):
        seen_by_judge([model], *rows, fold_of(200))


def test_an_embedding_that_overflows_is_refused(rows):
    X = (rows[0] * 1e37).astype(np.float32)
    with pytest.raises(ValueError, match="overflow: X is too large"):
        seen_by_judge([SupervisedRandomProjection(2, random_state=0)], X, rows[1], fold_of(200))


# Batches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("marker", [None, 3])
def test_some_rows_of_a_batch_are_the_batch_of_some_rows(rows, rng, marker):
    X, y = rows
    model = SupervisedPCA(class_weight={0: 2.0}, missing_label=marker)
    whole = read_batch(clone(model), X, y, None, True, True)
    which = np.sort(rng.choice(200, 60, replace=False))
    part, naive = whole.take(which), read_batch(clone(model), X[which], y[which], None, True, True)
    for name in ("rows", "weight", "labelled", "labels", "label_weight"):
        np.testing.assert_array_equal(getattr(part, name), getattr(naive, name))
    np.testing.assert_array_equal(part.numbers, which[naive.numbers])  # known by their old names
