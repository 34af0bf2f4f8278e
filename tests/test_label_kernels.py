"""Label kernels as values, their corners, and what they are good for."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, normalize

from conftest import SHARED_DATA
from label_cases import (
    LETTERS,
    PARENTS,
    PATHS,
    RATINGS,
    RIGHT_ORDER,
    SETS,
    SIMILAR,
    SIZES,
    N,
    draw,
    rows_of_all,
)
from labelens import SupervisedPCA, SupervisedRandomProjection, label_kernels, subspace_distance
from labelens.label_kernels import (
    Cyclic,
    Jaccard,
    Ordinal,
    Precomputed,
    Product,
    Ranked,
    Sliced,
    Sum,
    Tree,
)
from oracles import spca_q, top_eigenvectors

ALL = [
    Tree(),
    Tree(":"),
    Tree(parents=PARENTS),
    Ordinal(),
    Ordinal(RIGHT_ORDER),
    Jaccard(),
    Cyclic(24),
    Cyclic(24, 4),
    Cyclic(12),
    Precomputed(SIMILAR),
    Precomputed(np.eye(2)),
    Sum("delta", Cyclic(24)),
    Product("delta", Cyclic(24)),
    Sum("delta", Cyclic(12)),
    Sliced(),
    Sliced(5),
    Sliced(edges=[1, 2.5]),
    Ranked(),
    Ranked(50),
    Ranked(quantiles=[0, 1, 1, 3]),
    Ranked(quantiles=[0, 1, 3], levels=[0, 0.5, 0.9]),
]


@pytest.fixture
def rows(rng):
    return rows_of_all(rng)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_kernels_are_values(kernel):
    """Cloned, copied, pickled, set, shown and compared as scikit-learn does with parameters."""
    model = SupervisedPCA(label_kernel=kernel)
    assert clone(model).label_kernel == kernel
    assert clone(model).get_params()["label_kernel"] == kernel
    assert SupervisedPCA().set_params(label_kernel=kernel).label_kernel is kernel
    assert type(kernel).__name__ in repr(model)
    for same in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert same == kernel
        assert repr(same) == repr(kernel)
        assert hash(same) == hash(kernel)
    assert [other for other in ALL if other == kernel] == [kernel]
    assert kernel != "tree"
    with pytest.raises(AttributeError):
        kernel.period = 3


def test_separators_of_several_letters_leave_names_alone():
    """They are taken off the ends of a path as a whole, not letter by letter."""
    classes = ["a-", "a", " - a - b - ", "b"]
    shared = [[1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 2, 0], [0, 0, 0, 1]]
    np.testing.assert_array_equal(Tree(" - ").between(classes), shared)
    assert Tree("and").path("dana") == (("dana",),)


def test_a_parent_that_is_missing_makes_a_root():
    missing = [None, np.nan, pd.NA, pd.NaT]
    table = pd.Series(["root", *missing], index=list("abcde"), dtype=object)
    assert Tree(parents=table).parents == {"a": "root"} | dict.fromkeys("bcde")


def test_public_names():
    assert sorted(label_kernels.__all__) == label_kernels.__all__
    for name in label_kernels.__all__:
        assert getattr(label_kernels, name).__doc__


def test_a_grid_of_kernels(rows):
    pipe = make_pipeline(SupervisedPCA(2), KNeighborsRegressor(5))
    grid = {"supervisedpca__label_kernel": ["delta", Ordinal(), Precomputed(np.eye(6))]}
    search = GridSearchCV(pipe, grid, cv=3).fit(rows, RATINGS)
    assert search.best_params_["supervisedpca__label_kernel"] in grid["supervisedpca__label_kernel"]


def test_a_precomputed_identity_is_the_delta_kernel(blobs):
    X, y = blobs
    found = SupervisedPCA(2, label_kernel=Precomputed(np.eye(4))).fit(X, y)
    truth = SupervisedPCA(2, label_kernel="delta").fit(X, y)
    np.testing.assert_allclose(found.components_, truth.components_, atol=1e-12)
    np.testing.assert_allclose(found.dependence_, truth.dependence_)
    np.testing.assert_array_equal(found.classes_, truth.classes_)


def test_columns_of_deltas_are_the_delta_kernel_of_columns(blobs):
    X, y = blobs
    Y = np.c_[y, y > 1].astype(int)
    found = SupervisedPCA(2, label_kernel=Sum("delta", "delta")).fit(X, Y).components_
    truth = SupervisedPCA(2, label_kernel="delta").fit(X, Y).components_
    np.testing.assert_allclose(found, truth, atol=1e-12)


def test_far_from_the_origin_no_digit_is_lost(rng):
    """Centring after the product is allowed only where labels of that length permit it."""
    X = np.round((rng.normal(size=(N, 6)) + RATINGS[:, None]) * 2**20) / 2**20
    model = SupervisedPCA(2, label_kernel="ordinal")
    near = clone(model).fit(X, RATINGS).transform(X)
    far = clone(model).fit(X + 1e8, RATINGS).transform(X + 1e8)
    np.testing.assert_allclose(far, near, atol=1e-11)


@pytest.mark.parametrize("model", [SupervisedPCA(1), SupervisedRandomProjection(1)], ids=repr)
@pytest.mark.parametrize("far", [0.0, 1e9])
def test_rounding_is_no_component(rng, model, far):
    X = np.repeat(rng.normal(size=(30, 4)) + far, 3, axis=0)
    y = np.tile([0, 1, 2], 30)
    with pytest.warns(UserWarning, match="Only 0 of the 1 components"):  # the same in every class
        clone(model).set_params(label_kernel="ordinal").fit(X, y)


@pytest.mark.parametrize("model", [SupervisedPCA(1), SupervisedRandomProjection(1)], ids=repr)
def test_what_cancels_within_groups_is_no_component(rng, model):
    """Classes that differ, in groups that do not; the first rows are where the means are."""
    grouped = Precomputed(np.kron(np.eye(2), np.ones((2, 2))))
    halves = rng.normal(size=(2, 50, 4)) + 3
    parts = [part for half in halves for part in (half, -rng.permutation(half))]
    X, y = np.vstack([np.zeros((3, 4)), *parts]), np.repeat(range(4), [53, 50, 50, 50])
    with pytest.warns(UserWarning, match="Only 0 of the 1 components"):
        clone(model).set_params(label_kernel=grouped).fit(X, y)


def test_a_cycle_of_one_harmonic_is_a_circle(rows):
    """Two directions, which random vectors keep; hours long past are as good as any."""
    hours = (np.arange(N) * 7) % 24
    spectral = SupervisedPCA(2, label_kernel=Cyclic(24, harmonics=1)).fit(rows, hours)
    late = hours + 24 * 2.0**40
    direct = SupervisedRandomProjection(2, label_kernel=Cyclic(24, harmonics=1), random_state=0)
    direct.fit(rows, late)
    assert subspace_distance(direct.components_, spectral.components_) < 1e-10
    Q = direct.components_.T @ direct.components_
    np.testing.assert_allclose(np.trace(Q), np.sum(spectral.singular_values_**2), rtol=1e-10)


def test_ordered_categoricals_keep_their_order(rows):
    y = draw(SIZES)
    ordered = pd.Series(pd.Categorical(y, categories=RIGHT_ORDER, ordered=True))
    model = SupervisedPCA(2, label_kernel="ordinal").fit(rows, ordered)
    assert model.label_kernel_ == Ordinal(RIGHT_ORDER)
    truth = SupervisedPCA(2, label_kernel=Ordinal(RIGHT_ORDER)).fit(rows, y)
    np.testing.assert_array_equal(model.transform(rows), truth.transform(rows))
    unordered = pd.Series(pd.Categorical(y, categories=RIGHT_ORDER))
    sorted_ = SupervisedPCA(2, label_kernel="ordinal").fit(rows, unordered)
    assert sorted_.label_kernel_ == Ordinal()
    assert subspace_distance(sorted_.components_, truth.components_) > 1e-3
    frame = pd.DataFrame({"letter": LETTERS, "size": ordered})
    both = SupervisedPCA(2, label_kernel=Sum("delta", "ordinal")).fit(rows, frame)
    named = Sum("delta", Ordinal(RIGHT_ORDER))
    truth = SupervisedPCA(2, label_kernel=named).fit(rows, np.c_[LETTERS, y])
    np.testing.assert_allclose(both.components_, truth.components_, atol=1e-12)


def test_sets_may_be_sparse_and_are_classes(rows):
    dense = SupervisedPCA(2, label_kernel="jaccard").fit(rows, SETS)
    thin = SupervisedPCA(2, label_kernel="jaccard").fit(rows, sparse.csr_matrix(SETS))
    np.testing.assert_array_equal(thin.transform(rows), dense.transform(rows))
    sets = {tuple(np.flatnonzero(members).tolist()) for members in SETS}
    assert set(dense.classes_) == sets
    assert () in sets


def test_text_labels_through_a_vectorizer(rng):
    """Words that two labels share make them alike; later batches use the words of the first."""
    titles = np.array(
        ["senior data engineer", "data engineer", "data scientist", "head nurse", "nurse", "chef"]
    )
    y = titles[np.arange(180) % 6]
    X = rng.normal(size=(180, 6)) + rng.normal(size=(6, 6))[np.arange(180) % 6]
    words = TfidfVectorizer().fit(y).transform(y).toarray()
    truth, _ = top_eigenvectors(spca_q(X, words @ words.T), 2)
    model = SupervisedPCA(2, label_kernel=TfidfVectorizer())
    assert subspace_distance(clone(model).fit(X, y).components_, truth) < 1e-10
    assert subspace_distance(clone(model).fit(X, pd.Series(y)).components_, truth) < 1e-10
    first = CountVectorizer()  # whose weights do not depend on the batch
    whole = SupervisedPCA(2, label_kernel=first).fit(X, y).components_
    parts = SupervisedPCA(2, label_kernel=first)
    for start in range(0, 180, 60):
        parts.partial_fit(X[start : start + 60], y[start : start + 60].tolist())
    np.testing.assert_allclose(parts.components_, whole, atol=1e-12)
    parts.partial_fit(X[:1], ["an unheard of job"])
    short = make_pipeline(CountVectorizer(), TruncatedSVD(3, random_state=0))
    assert SupervisedPCA(2, label_kernel=short).fit(X, y).transform(X).shape == (180, 2)


def test_a_missing_label_is_left_out(rows):
    y = np.where(np.arange(N) % 4 == 0, "?", draw(PATHS))
    known = y != "?"
    found = SupervisedPCA(2, label_kernel="tree", missing_label="?").fit(rows, y).components_
    truth = SupervisedPCA(2, label_kernel="tree").fit(rows[known], y[known]).components_
    np.testing.assert_allclose(found, truth, atol=1e-12)


def test_class_weight_goes_with_class_kernels(rows):
    found = SupervisedPCA(2, label_kernel="ordinal", class_weight={1: 3}).fit(rows, RATINGS)
    weight = np.where(RATINGS == 1, 3.0, 1.0)
    truth = SupervisedPCA(2, label_kernel="ordinal").fit(rows, RATINGS, weight)
    np.testing.assert_allclose(found.components_, truth.components_, atol=1e-12)


def test_no_more_components_than_the_kernel_has(rows):
    """Two groups of classes, all alike within: one direction."""
    groups = Precomputed(np.kron(np.eye(2), np.ones((2, 2))), classes=list("abcd"))
    y = draw(list("abcd"))
    with pytest.warns(UserWarning, match="Only 1 of the 2 components"):
        model = SupervisedPCA(2, label_kernel=groups).fit(rows, y)
    truth = SupervisedPCA(1).fit(rows, np.isin(y, ["a", "b"]))
    assert subspace_distance(model.components_[:1], truth.components_) < 1e-10
    with pytest.warns(UserWarning, match="Only 0 of the 1 components"):
        SupervisedPCA(1, label_kernel=Precomputed(np.full((5, 5), 0.1), range(1, 6))).fit(
            rows, RATINGS
        )


def test_grades_pay_where_rows_are_few():
    """Deciles of the diabetes target from 120 rows: 0.1 to 0.2 of a decile nearer than classes.

    From 300 rows on there is next to no difference.
    """
    X, target = load_diabetes(return_X_y=True)
    X = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    decile = np.searchsorted(np.quantile(target, np.arange(1, 10) / 10), target)
    gains = []
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:120], order[120:]
        errors = []
        for kernel in ("delta", "ordinal"):
            model = SupervisedPCA(1, label_kernel=kernel, scale="standard")
            Z = model.fit(X[train], decile[train]).transform(X)
            guess = KNeighborsRegressor(10).fit(Z[train], decile[train]).predict(Z[test])
            errors.append(np.abs(guess - decile[test]).mean())
        gains.append(errors[0] - errors[1])
    assert np.mean(gains) > 0.1
    assert np.mean(np.array(gains) > 0) >= 0.8


def test_hours_pay_where_the_day_goes_round():
    """The hour from noisy rows: 1.6 hours off, classes 2.6."""
    errors = {"delta": [], "cyclic": []}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        hour = rng.integers(0, 24, 600)
        angle = 2 * np.pi * hour / 24
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        signal = np.column_stack([circle, np.cos(2 * angle), np.sin(2 * angle)])
        X = signal @ rng.normal(size=(4, 30)) / 2 + rng.normal(size=(600, 30))
        for name, kernel in (("delta", "delta"), ("cyclic", Cyclic(period=24))):
            Z = SupervisedPCA(2, label_kernel=kernel).fit(X[:300], hour[:300]).transform(X)
            guess = KNeighborsRegressor(10).fit(Z[:300], circle[:300]).predict(Z[300:])
            off = np.abs(np.arctan2(guess[:, 1], guess[:, 0]) * 12 / np.pi - hour[300:]) % 24
            errors[name].append(np.minimum(off, 24 - off).mean())
    assert (np.array(errors["cyclic"]) < np.array(errors["delta"]) - 0.3).all()
    assert np.mean(errors["cyclic"]) < 1.8


def test_branches_pay_where_the_branch_matters():
    """Newsgroups by name, 3 components: the right branch 0.70 (classes 0.62), but the right group
    0.305 (classes 0.312): the components tell branches apart first.
    """
    folder = SHARED_DATA / "20newsgroups"
    if not folder.is_dir():
        pytest.skip(f"needs the newsgroups in {folder.relative_to(folder.parents[3])}")
    X, X_test = (sparse.load_npz(folder / f"tfidf_{part}.npz") for part in ("train", "test"))
    labels = np.load(folder / "labels.npz", allow_pickle=False)
    names = labels["class_names"].astype(str)
    y, y_test = names[labels["y_train"]], names[labels["y_test"]]

    def branch(groups):
        return np.array([group.split(".")[0] for group in groups])

    found = {}
    for name, kernel in (("delta", "delta"), ("tree", Tree(separator="."))):
        model = SupervisedPCA(3, label_kernel=kernel).fit(X, y)
        Z, Z_test = normalize(model.transform(X)), normalize(model.transform(X_test))
        found[name] = KNeighborsClassifier(15).fit(Z, y).predict(Z_test)
    right = {name: (branch(guess) == branch(y_test)).mean() for name, guess in found.items()}
    exact = {name: (guess == y_test).mean() for name, guess in found.items()}
    assert right["tree"] > right["delta"] + 0.05
    assert exact["tree"] > exact["delta"] - 0.02
