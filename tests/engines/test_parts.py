"""Fits of rows in parts, whatever the engine: the tree, the first look, and equality with `fit`."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from conftest import read_only
from engines.here import Here, assert_same_bits, cut
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    subspace_distance,
)
from labelens._engines.parts import Refused, merge_by_tasks, merge_in_tree
from labelens._fit import first_pass
from labelens._fit.driver import fit_rows

N, D = 5000, 6
SRP, KSRP = SupervisedRandomProjection, KernelSupervisedRandomProjection
MODELS = [
    SupervisedPCA(2),
    SRP(2, random_state=0),
    SRP(2, target_weight=0.5, random_state=0),  # a sketch: rows are numbered
    SRP(2, label_map="gaussian", random_state=0),
    SupervisedPCA(2, target_weight=0.5, shrinkage=0.1, scale="minmax"),
    SupervisedPCA(2, shrinkage="auto", scale="standard"),
    SupervisedPCA(2, class_weight="balanced"),
    SupervisedPCA(2, class_weight={0: 0.0, 1: 2.0}),
    SRP(2, target_weight=0.5, class_weight={0: 0.0, 1: 2.0}, random_state=0),
    SupervisedPCA(n_components="auto", random_state=0),
    KernelSupervisedPCA(2, n_random_features=64, random_state=0),
    KSRP(2, gamma="median", n_random_features=64, random_state=0),
    KSRP(2, gamma=0.1, scale="minmax", n_random_features=64, random_state=0),
    KSRP(2, approximation="nystroem", n_random_features=64, random_state=0),
    KSRP(2, approximation="fourier", gamma=0.1, n_random_features=64, random_state=0),
]
ENDS = [700, 700, 1724, 2748, 2749, 4000, N]  # an empty part, one row, and others of any size


@pytest.fixture
def rows(rng):
    y = rng.permutation(np.arange(N) % 4)
    X = rng.normal(size=(N, D)) + np.eye(4, D)[y] * [3, 2, 1.5, 1, 1, 1]
    return read_only(X, y)


def fitted(model, parts):
    model = clone(model)
    fit_rows(model, Here(parts))
    return model


def assert_close(model, other, tolerance=1e-12):
    """Components span the same, and are the same numbers."""
    assert model.n_samples_seen_ == other.n_samples_seen_
    scale = np.abs(other.components_).max()
    np.testing.assert_allclose(
        model.components_ / scale, other.components_ / scale, rtol=0, atol=tolerance
    )
    assert subspace_distance(model.components_.T, other.components_.T) < 1e-7


# The tree ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(1, 40))
def test_both_ways_to_write_the_tree_down_are_the_same(n):
    def merge(a, b):
        return f"({a} {b})"

    leaves = [str(i) for i in range(n)]
    tree = merge_in_tree(iter(leaves), merge)
    assert merge_by_tasks(leaves, lambda *some: merge_in_tree(some, merge)) == tree
    assert tree.replace("(", "").replace(")", "").split() == leaves
    # As deep as a tree of pairs has to be, and no deeper.
    assert max(tree[:i].count("(") - tree[:i].count(")") for i in range(len(tree))) == (
        (n - 1).bit_length()
    )


def test_parts_without_rows_and_refused_ones_in_the_tree():
    def add(a, b):
        return a + b

    assert merge_in_tree([None, None, 3, None, 4], add) == 7
    assert merge_in_tree([None, None], add) is None
    assert merge_in_tree([], add) is None
    wrong = [Refused(ValueError, "first"), Refused(ValueError, "second")]
    assert merge_in_tree([1, None, wrong[0], 2, wrong[1], 3], add) is wrong[0]


def test_only_a_few_partials_are_held(rng):
    alive = most = 0

    class Held:
        def __init__(self):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

    merge_in_tree((Held() for _ in range(1000)), lambda a, b: Held())
    assert most <= 10 + 3


# Models ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_one_part_has_the_bits_of_fit(model, rows):
    assert_same_bits(fitted(model, [rows]), clone(model).fit(*rows))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_part_in_chunks_has_the_bits_of_fit(model, rows):
    chunked, whole = fitted(model, [cut([1024, 3072, N], *rows)]), clone(model).fit(*rows)
    # Blocks are counted without the rows that have no weight, from each chunk on.
    same = assert_close if isinstance(model.class_weight, dict) else assert_same_bits
    same(chunked, whole)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_many_parts_are_the_model_of_all_rows(model, rows):
    assert_close(fitted(model, cut(ENDS, *rows)), clone(model).fit(*rows))


@pytest.mark.parametrize("target_weight", [1.0, 0.5])
def test_weights(rng, rows, target_weight):
    weight = np.round(rng.exponential(size=N))  # some of them zero
    weight[1724:2748] = 0  # and all of a part
    model = SRP(2, target_weight=target_weight, random_state=0)
    whole = clone(model).fit(*rows, sample_weight=weight)
    assert_same_bits(fitted(model, [(*rows, weight)]), whole)
    assert_close(fitted(model, cut(ENDS, *rows, weight)), whole)
    model = SupervisedPCA(2, class_weight="balanced")
    whole = clone(model).fit(*rows, sample_weight=weight)
    assert_close(fitted(model, cut(ENDS, *rows, weight)), whole)


@pytest.mark.parametrize(
    "labels",
    [
        lambda y, rng: None,
        lambda y, rng: np.array(["b", "a", "é", "c"])[y],
        lambda y, rng: y + rng.normal(size=N),
        lambda y, rng: np.column_stack([y == 0, y > 0, y == 2]).astype(int),
        lambda y, rng: np.column_stack([y, rng.integers(0, 5, N)]),
    ],
    ids=["none", "text", "regression", "multilabel", "columns"],
)
@pytest.mark.parametrize("model", [SupervisedPCA(2), SRP(2, random_state=0)], ids=repr)
def test_labels(model, labels, rows, rng):
    X, y = rows
    y = labels(y, rng)
    whole = clone(model).fit(X, y)
    assert_same_bits(fitted(model, [(X, y)]), whole)
    assert_close(fitted(model, cut(ENDS, X, y)), whole)


def test_classes_that_the_first_rows_do_not_have(rows):
    X, y = rows
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    model = fitted(SupervisedPCA(2), cut(ENDS, X, y))
    np.testing.assert_array_equal(model.classes_, [0, 1, 2, 3])
    assert_close(model, SupervisedPCA(2).fit(X, y))


def test_labels_that_begin_late(rows):
    X, y = rows[0], rows[1].copy()
    y[:2800] = -1
    model = SRP(2, missing_label=-1, target_weight=0.5, random_state=0)
    whole = clone(model).fit(X, y)
    assert_same_bits(fitted(model, [(X, y)]), whole)
    assert_close(fitted(model, cut(ENDS, X, y)), whole)


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_other_numbers(rows, dtype):
    X, y = (100 * rows[0]).astype(dtype), rows[1]
    assert_close(fitted(SupervisedPCA(2), cut(ENDS, X, y)), SupervisedPCA(2).fit(X, y))


def test_sparse_rows(rows):
    X, y = sparse.csr_array(np.where(rows[0] > 1, rows[0], 0)), rows[1]
    for model in (SupervisedPCA(2), SRP(2, target_weight=0.5, random_state=0)):
        assert_close(fitted(model, cut(ENDS, X, y)), clone(model).fit(X, y))
    model = KSRP(2, gamma="median", n_random_features=64, random_state=0)
    assert_close(fitted(model, cut(ENDS, X, y)), clone(model).fit(X, y))


@pytest.mark.parametrize(
    "model",
    [
        SupervisedPCA(2),
        SupervisedPCA(2, target_weight=0.5, shrinkage=0.1),
        SRP(2, target_weight=0.5, random_state=0),
    ],
    ids=repr,
)
def test_means_a_billion_times_the_spread(model, rows):
    """Exactly representable after the shift, so the model of the rows about zero is the oracle."""
    X, y = np.round(rows[0] * 2**20) / 2**20, rows[1]
    moved = fitted(model, cut(ENDS, X + 2.0**30, y))
    assert_close(moved, clone(model).fit(X, y))


def test_a_sample_is_the_same_however_parts_are_cut(rows, monkeypatch):
    monkeypatch.setattr(first_pass, "SAMPLE_ROWS", 1100)
    model = KSRP(2, gamma=0.1, approximation="nystroem", n_random_features=64, random_state=0)
    few, many = fitted(model, cut([2000, N], *rows)), fitted(model, cut(ENDS, *rows))
    assert few._recipe.phi.same_as(many._recipe.phi)
    assert_close(few, many)


# Refusals ----------------------------------------------------------------------------------------


def test_what_is_wrong_is_said_with_the_part(rows):
    X, y = rows
    model = SupervisedPCA(2).fit(X, y)
    before = model.components_
    broken = X.copy()
    broken[1730, 2] = np.nan
    with pytest.raises(ValueError, match=r"In rows 0 to 1023 of part 3 of the list: .* row 6, col"):
        fit_rows(model, Here(cut(ENDS, broken, y)))
    assert model.components_ is before
    parts = cut(ENDS, X, y)
    parts[3] = (parts[3][0][:, :4], parts[3][1])
    with pytest.raises(ValueError, match="part 3 of the list: X has 4 features, but SupervisedPCA"):
        fit_rows(model, Here(parts))
    parts[3] = (X[:10], y[:9])
    with pytest.raises(ValueError, match=r"part 3 of the list: .*10 rows, 9 labels"):
        fit_rows(model, Here(parts))

    class Strict(FunctionTransformer):
        def transform(self, y):
            b"\xff".decode()

    words = "part 0 of the list: 'utf-8' codec can't decode"
    with pytest.raises(ValueError, match=words) as caught:
        fit_rows(SupervisedPCA(2, label_kernel=Strict()), Here([(X, y)]))
    assert type(caught.value) is ValueError  # theirs takes five arguments
    with pytest.raises(ValueError, match="There are no rows in the list"):
        fit_rows(model, Here([(X[:0], y[:0])] * 3))
    with pytest.raises(ValueError, match="use approximation='nystroem' or random features"):
        fit_rows(KSRP(2, approximation="exact"), Here([(X, y)]))
