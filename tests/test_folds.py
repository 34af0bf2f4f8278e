"""Cross-validation that shares its work, against fitting every candidate on every fold."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import count, product
from math import ceil, log2
from threading import Lock

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch
from sklearn.model_selection import KFold
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from conftest import read_only
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    folds,
    recipe,
)
from labelens._validation import check_seed
from labelens.batch import read_batch
from labelens.folds import cross_validate, passes_of, without_each
from labelens.labels import Unlabelled
from labelens.maps import fourier
from labelens.moments import BLOCK_ROWS
from labelens.recipe import draw_recipe, summarize

LINEAR = SupervisedPCA, SupervisedRandomProjection
KERNEL = KernelSupervisedPCA, KernelSupervisedRandomProjection
FOLDS = 4


@pytest.fixture
def rows(rng):
    """Four classes in seven columns, of well separated strengths: X, y."""
    y = rng.permutation(np.arange(200) % 4)
    centres = np.diag([3.0, 2.0, 1.2, 0.6])[:, [0, 1, 2, 3, 3, 3, 3]] * [1, 1, 1, 1, 0, 0, 0]
    X = (centres[y] + rng.normal(size=(200, 7))) * np.logspace(-0.5, 0.5, 7) + 2
    return read_only(X, y)


def fold_of(n, folds=FOLDS):
    fold = np.empty(n, dtype=np.intp)
    for f, (_, test) in enumerate(KFold(folds, shuffle=True, random_state=0).split(np.zeros(n))):
        fold[test] = f
    return fold


def seen_by_judge(estimators, X, y, fold, weigh=None):
    """{(estimator, fold): (n, k) embedding of all rows}, by what the judge is shown."""
    batch = read_batch(clone(weigh or estimators[0]), X, y, None, True, True)
    number, lock, shown = count(), Lock(), {}

    def judge(Z, f):
        with lock:
            ticket = next(number)
        shown[ticket] = f, np.array(Z, dtype=float)
        return ticket

    tickets = cross_validate(estimators, batch, fold, np.arange(len(fold)), judge)
    assert sorted(tickets.ravel()) == list(range(tickets.size))  # every cell was judged once
    for i, f in np.ndindex(tickets.shape):
        assert shown[int(tickets[i, f])][0] == f
    return {(i, f): shown[int(tickets[i, f])][1] for i, f in np.ndindex(tickets.shape)}


def fitted_without(estimator, X, y, held, weight=None):
    """The naive way."""
    train = np.flatnonzero(~held)
    weight = None if weight is None else weight[train]
    return clone(estimator).fit(X[train], y[train], sample_weight=weight).transform(X)


def frozen(transformer, X):
    """One that was fitted before, and is not again."""
    return FunctionTransformer(clone(transformer).fit(X).transform)


def assert_same_up_to_sign(ours, naive, tolerance):
    """Column by column, relative to the largest entry of the column.

    The signs of components are a convention that looks at their largest entries, of which two may
    be equal up to rounding.
    """
    assert ours.shape == naive.shape
    for a, b in zip(ours.T, naive.T, strict=True):
        size = np.abs(b).max()
        assert min(np.abs(a - b).max(), np.abs(a + b).max()) <= tolerance * size


def assert_same_as_naive(estimators, X, y, tolerance=1e-9, naive=None, rows=None, weight=None):
    """All estimators in one call, so that all sharing is at work; `naive` are their stand-ins."""
    fold = fold_of(X.shape[0])
    shown = seen_by_judge(estimators, X, y, fold)
    for (i, f), Z in shown.items():
        expected = fitted_without(
            (naive or estimators)[i], X if rows is None else rows, y, fold == f, weight
        )
        try:
            assert_same_up_to_sign(Z, expected, tolerance)
        except AssertionError:
            raise AssertionError(f"{estimators[i]} differs in fold {f}") from None


# The embedding that the judge sees -------------------------------------------------------------
#
# Sums are merged in another order than in a fit, which costs rounding of 1e-15 or so, times the
# condition of B(s), 1e3 to 1e4 here at shrinkage=1e-3, over the gaps between singular values:
# 1e-9 leaves two digits of room, and any wrong row, weight or parameter shows at 1e-3 and above.


def test_linear_methods(rows):
    X, y = rows
    estimators = [
        SupervisedPCA(k, shrinkage=s, target_weight=t, scale=scale)
        for s, t, scale, k in product(
            [1, 0.1, 1e-3, 0, "auto"], [1, 0.5], [None, "standard", "minmax"], [1, 3]
        )
        if not (s == "auto" and scale is not None)  # scaled by all rows: below
    ]
    assert_same_as_naive(estimators, X, y)


def test_random_linear_methods(rows):
    X, y = rows
    estimators = [
        SupervisedRandomProjection(k, shrinkage=s, label_map=labels, scale=scale, random_state=3)
        for s, labels, scale, k in product(
            [1, 0.1, "auto"],
            ["orthogonal", "spread", "gaussian", "fourier"],
            [None, "minmax"],
            [2, 3],
        )
        if not (s == "auto" and scale is not None)
    ]
    assert_same_as_naive(estimators, X, y)


@pytest.mark.parametrize(
    ("kernel", "approximation"),
    [
        *product(["rbf", "laplacian", "matern"], ["orthogonal", "fourier"]),
        *product(["rbf", "matern"], ["fastfood"]),
    ],
)
def test_kernel_methods(rows, kernel, approximation):
    X, y = rows
    common = dict(kernel=kernel, approximation=approximation, n_random_features=51)
    estimators = [
        KernelSupervisedPCA(k, gamma=gamma, shrinkage=s, target_weight=t, **common, random_state=1)
        for gamma, s, t, k in product([0.01, 0.2], [1, 0.1, 1e-3, "auto"], [1, 0.5], [1, 3])
    ]
    estimators += [
        KernelSupervisedRandomProjection(
            2, gamma=gamma, shrinkage=s, label_map=labels, **common, random_state=1
        )
        for gamma, s, labels in product([0.01, 0.2], [1, 0.1], ["orthogonal", "spread", "gaussian"])
    ]
    assert_same_as_naive(estimators, X, y)


def test_rules_for_gamma_look_at_all_rows(rows):
    X, y = rows
    rules = {"scale": 1 / (X.shape[1] * X.var()), "median": 1 / (2 * np.median(pdist(X)) ** 2)}
    common = dict(n_random_features=40, random_state=0)
    gammas = ["median", 0.1, "scale"]
    assert_same_as_naive(
        [KernelSupervisedPCA(3, gamma=gamma, **common) for gamma in gammas],
        X,
        y,
        naive=[KernelSupervisedPCA(3, gamma=rules.get(g, g), **common) for g in gammas],
    )


@pytest.mark.parametrize("scaler", [StandardScaler, MinMaxScaler])
def test_kernel_methods_and_ledoit_wolf_are_scaled_by_all_rows(rows, scaler):
    X, y = rows
    scale = {StandardScaler: "standard", MinMaxScaler: "minmax"}[scaler]
    plain = [
        KernelSupervisedPCA(3, gamma=0.1, n_random_features=40, random_state=0),
        KernelSupervisedPCA(3, gamma=0.1, n_random_features=40, random_state=0, shrinkage=0.01),
        SupervisedPCA(3, shrinkage="auto"),
        SupervisedRandomProjection(3, shrinkage="auto", random_state=0),
    ]
    scaled = [clone(one).set_params(scale=scale) for one in plain]
    assert_same_as_naive(scaled, X, y, naive=plain, rows=scaler().fit_transform(X))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_nystroem_takes_landmarks_from_all_rows(rows, kernel):
    """As many landmarks as rows: whichever are drawn first, they are all of them.

    scikit-learn whitens by another root of the same matrix, which rotates the features, and no
    method can tell.
    """
    X, y = rows[0][:120], rows[1][:120]
    gammas = [0.5, 2.0] if kernel == "rbf" else [0.2, 0.5]  # where K is well conditioned
    common = dict(kernel=kernel, n_random_features=len(X), random_state=0)

    def landmarks(gamma):
        return frozen(Nystroem(kernel=kernel, gamma=gamma, n_components=len(X)), X)

    some = list(product(gammas, [1, 0.1, 1e-3], [1, 0.5]))
    assert_same_as_naive(
        [
            KernelSupervisedPCA(
                3, gamma=g, shrinkage=s, target_weight=t, approximation="nystroem", **common
            )
            for g, s, t in some
        ],
        X,
        y,
        1e-7,  # another 1e2 to 1e3 from the condition of K
        [
            KernelSupervisedPCA(3, shrinkage=s, target_weight=t, approximation=landmarks(g))
            for g, s, t in some
        ],
    )


def test_transformers_are_fitted_on_all_rows(rows):
    X, y = rows
    sketch = PolynomialCountSketch(n_components=60, random_state=0)
    two = FunctionTransformer(lambda some: np.hstack([some, some**2]))  # cannot be pickled
    some = [(method, t, s) for method in KERNEL for t in (sketch, two) for s in (1, 0.1)]
    assert_same_as_naive(
        [method(2, approximation=t, shrinkage=s, random_state=0) for method, t, s in some],
        X,
        y,
        naive=[
            method(2, approximation=frozen(t, X), shrinkage=s, random_state=0)
            for method, t, s in some
        ],
    )


def test_balanced_classes_are_counted_over_all_rows(rows):
    X, y = rows
    y = np.where(y == 3, 2, y)
    plain = [
        SupervisedPCA(2, shrinkage=0.1),
        SupervisedRandomProjection(2, random_state=0),
        KernelSupervisedPCA(2, gamma=0.1, n_random_features=40, random_state=0),
    ]
    balanced = [clone(one).set_params(class_weight="balanced") for one in plain]
    weight = compute_sample_weight("balanced", y)
    assert_same_as_naive(balanced, X, y, naive=plain, weight=weight)


def test_a_dict_of_class_weights_is_that_of_the_fit(rows):
    X, y = rows
    weigh = dict(class_weight={0: 3.0, 1: 0.5})
    assert_same_as_naive([SupervisedPCA(2, shrinkage=s, **weigh) for s in (1, 0.1)], X, y)


def test_float32_rows(rows):
    X, y = rows[0].astype(np.float32), rows[1]
    kernels = [
        KernelSupervisedPCA(2, gamma=g, shrinkage=s, n_random_features=40, random_state=0)
        for g in (0.3, 0.02)
        for s in (1, 0.1)
    ]
    # Angles of one gamma are made from those of another: eps = 1e-7, times their size of 10.
    assert_same_as_naive([*kernels, SupervisedPCA(2), SupervisedPCA(2, shrinkage=0.1)], X, y, 1e-4)


def test_sparse_rows(rows):
    X, y = sparse.csr_array(np.maximum(rows[0] - 2, 0)), rows[1]
    kernels = [
        KernelSupervisedPCA(2, gamma=g, n_random_features=40, random_state=0) for g in (0.3, 0.02)
    ]
    linear = [
        SupervisedPCA(2, shrinkage=s, scale=scale) for s in (1, 0.1) for scale in (None, "minmax")
    ]
    assert_same_as_naive([*kernels, *linear], X, y)


LABELS = {
    "numbers": (lambda X: X[:, 0] + X[:, 1] ** 2, dict(label_gamma=0.3)),
    "numbers in two columns": (lambda X: X[:, :2] ** 2, dict(label_gamma=0.3)),
    "multilabel": (lambda X: (X[:, :3] > X[:, :3].mean(axis=0)).astype(int), {}),
    "two columns of classes": (lambda X: np.digitize(X[:, :2], [1, 2, 3]), {}),
    "an order": (lambda X: np.digitize(X[:, 1], [1, 2, 3]), dict(label_kernel="ordinal")),
    "strings": (
        lambda X: np.array(list("abcd"), dtype=object)[np.digitize(X[:, 1], [1, 2, 3])],
        {},
    ),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(rows, kind):
    X = rows[0]
    make, labels = LABELS[kind]
    labels = labels | dict(random_state=0)
    estimators = [method(2, shrinkage=s, **labels) for method in LINEAR for s in (1, 0.1)]
    estimators.append(KernelSupervisedPCA(1, gamma=0.1, n_random_features=30, **labels))
    assert_same_as_naive(estimators, X, make(X))


@pytest.mark.parametrize("method", [SupervisedRandomProjection, KernelSupervisedRandomProjection])
def test_a_sketch_of_the_covariance_has_a_vector_for_every_row(rows, method):
    """U = B^-1 (sqrt(t) C_xy R / |C_xy| + sqrt(1 - t) C_xg / sqrt(tr C_xx)), written out.

    Rows are numbered fold after fold: in each fold anew, rows in the same place of two folds would
    share their vector, and their covariance would count as variance.
    """
    X, y = rows
    t, s, sizes = 0.5, 0.1, (3, 2)
    models = [method(k, target_weight=t, shrinkage=s, random_state=0) for k in sizes]
    if method is KernelSupervisedRandomProjection:
        models = [one.set_params(gamma=0.1, n_random_features=30) for one in models]
    fold = fold_of(len(X))
    shown = seen_by_judge(models, X, y, fold)
    recipe = draw_recipe(models[0], read_batch(clone(models[0]), X, y, None, True, True))
    features, one_hot = recipe.features(X), np.eye(4)[y]
    place = np.empty(len(X), dtype=int)
    place[np.argsort(fold, kind="stable")] = np.arange(len(X))
    for (i, k), f in product(enumerate(sizes), range(FOLDS)):
        stream = Unlabelled.for_rows(X[:BLOCK_ROWS], k, check_seed(0))
        vectors = stream.vectors(0, len(X), None)[place]
        train = fold != f
        mean, n = features[train].mean(axis=0), train.sum()
        centred, labels = features[train] - mean, one_hot[train] - one_hot[train].mean(axis=0)
        cross, covariance = centred.T @ labels / n, centred.T @ centred / n
        sketch = centred.T @ vectors[train] / np.sqrt(n)
        supervised = cross @ recipe.psi.mixing((0, 1, 2, 3), 4, k) / np.linalg.norm(cross)
        directions = np.sqrt(t) * supervised + np.sqrt(1 - t) * sketch / np.sqrt(covariance.trace())
        p = len(covariance)
        ridge = (1 - s) * covariance * p / covariance.trace() + s * np.eye(p)
        U = np.linalg.solve(ridge, directions)
        np.testing.assert_allclose(shown[i, f], (features - mean) @ U, rtol=0, atol=1e-9)


def test_rows_that_are_not_judged_are_fitted_all_the_same(rows):
    X, y = rows
    fold, judged = fold_of(len(X)), np.arange(5, 200, 7)
    batch = read_batch(SupervisedPCA(), X, y, None, True, True)
    model, shown = SupervisedPCA(2, shrinkage=0.1), {}

    def judge(Z, f):
        shown[f] = Z
        return 0.0

    cross_validate([model], batch, fold, judged, judge)
    for f in range(FOLDS):
        naive = fitted_without(model, X, y, fold == f)[judged]
        assert_same_up_to_sign(shown[f], naive, 1e-9)


# What labels of held-out rows can do -----------------------------------------------------------


@pytest.mark.parametrize("f", range(FOLDS))
def test_no_label_of_a_held_out_row_is_used(rows, rng, f):
    X, y = rows
    fold = fold_of(len(X))
    estimators = [
        SupervisedPCA(2, shrinkage=0.1, scale="standard"),
        SupervisedPCA(2, shrinkage="auto", scale="standard"),
        SupervisedRandomProjection(2, random_state=0, label_map="spread", target_weight=0.5),
        SupervisedRandomProjection(2, random_state=0, label_map="gaussian"),
        KernelSupervisedPCA(2, gamma="median", n_random_features=40, random_state=0),
        KernelSupervisedPCA(2, approximation="nystroem", scale="minmax", random_state=0),
    ]
    other = y.copy()
    other[fold == f] = rng.permutation(np.append(other[fold == f][1:], 0))
    assert (other != y).sum() > 20
    before, after = (seen_by_judge(estimators, X, labels, fold) for labels in (y, other))
    for i in range(len(estimators)):
        np.testing.assert_array_equal(before[i, f], after[i, f])
        for elsewhere in set(range(FOLDS)) - {f}:  # lest the labels should not count at all
            assert np.abs(before[i, elsewhere] - after[i, elsewhere]).max() > 1e-3


def test_a_class_that_only_held_out_rows_have_is_unknown_to_the_model(rows):
    X, y = rows
    fold = fold_of(len(X))
    other = np.where(fold == 1, 99, y)
    estimators = [SupervisedPCA(2, shrinkage=0.1), SupervisedRandomProjection(2, random_state=0)]
    before, after = (seen_by_judge(estimators, X, labels, fold) for labels in (y, other))
    for i in range(2):
        np.testing.assert_array_equal(before[i, 1], after[i, 1])


def test_numbers_of_held_out_rows_in_another_order_are_the_same(rows, rng):
    """`label_gamma=None` takes the variance of all labels, so their values must stay."""
    X, y = rows[0], rows[0][:, 0] + rows[0][:, 1]
    fold, other = fold_of(len(X)), y.copy()
    other[fold == 2] = rng.permutation(other[fold == 2])
    models = [SupervisedPCA(2), KernelSupervisedPCA(2, n_random_features=40, random_state=0)]
    before, after = (seen_by_judge(models, X, labels, fold) for labels in (y, other))
    for i in range(2):
        np.testing.assert_allclose(before[i, 2], after[i, 2], rtol=0, atol=1e-10)


# Moments of all folds but one ------------------------------------------------------------------


def parts_of(m, rng):
    X, y = rng.normal(size=(12 * m, 3)) + 5, rng.integers(6, size=12 * m)
    model = SupervisedPCA(2, shrinkage="auto", scale="standard")
    batch = read_batch(clone(model), X, y, None, True, True)
    recipe = draw_recipe(model.set_params(scale=None), batch)
    made = []
    for f in range(m):
        part = batch.take(np.arange(12 * f, 12 * f + 12))
        made.append(summarize(recipe, part, recipe.encode(part)))
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

    count_calls(folds, "summarize", lambda recipe, batch, *_: batch.rows.shape[0])
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
    assert counted["summarize"] == 10 * len(X)
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
    assert counted["summarize"] == len(X)


def test_a_covariance_is_made_only_where_one_is_wanted(rows, monkeypatch):
    wanted = []

    def asked(recipe, batch, right):
        wanted.append(recipe.scatter)
        return summarize(recipe, batch, right)

    monkeypatch.setattr(folds, "summarize", asked)
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
    assert counted["summarize"] == len(X) * len(set(passes))


# What cannot be done ---------------------------------------------------------------------------


def test_the_exact_kernel_is_refused(rows):
    with pytest.raises(ValueError, match="use approximation='nystroem' with as many"):
        seen_by_judge([KernelSupervisedPCA(2, approximation="exact")], *rows, fold_of(200))


def test_a_fold_that_leaves_one_class_is_named(rows):
    X = rows[0]
    y = (fold_of(200) == 2).astype(int)
    with pytest.raises(ValueError, match=r"outside fold 2 cannot be fitted: Only one class .* 0"):
        seen_by_judge([SupervisedPCA(1)], X, y, fold_of(200))


@pytest.mark.parametrize("wanting", [dict(shrinkage=0.1), dict(target_weight=0.5)])
def test_a_covariance_beyond_memory_is_refused_whoever_wants_it(rows, wanting, monkeypatch):
    monkeypatch.setattr("labelens.recipe.LARGEST_SCATTER", 8 * 6**2)
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
