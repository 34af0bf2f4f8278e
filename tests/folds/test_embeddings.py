"""Cross-validation that shares its work, against fitting every candidate on every fold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from folds.naive import (
    FOLDS,
    assert_same_as_naive,
    assert_same_up_to_sign,
    fitted_without,
    fold_of,
    seen_by_judge,
)
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens._base.validation import check_seed
from labelens._core.labels import Unlabelled
from labelens._fit.batch import read_batch
from labelens._fit.folds import cross_validate
from labelens._fit.recipe import draw_recipe

LINEAR = SupervisedPCA, SupervisedRandomProjection
KERNEL = KernelSupervisedPCA, KernelSupervisedRandomProjection


def frozen(transformer, X):
    """One that was fitted before, and is not again."""
    return FunctionTransformer(clone(transformer).fit(X).transform)


#
# Sums are merged in another order than in a fit, which costs rounding of 1e-15 or so, times the
# condition of B(s), 1e3 to 1e4 here at shrinkage=1e-3, over the gaps between singular values:
# 1e-9 leaves two digits of room, and any wrong row, weight or parameter shows at 1e-3 and above.


# The embedding that the judge sees -------------------------------------------------------------


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
        stream = Unlabelled.of(k, check_seed(0))
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
