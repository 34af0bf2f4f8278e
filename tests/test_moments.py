"""Statistics of blocks, merged, against one look at all rows in long double."""

import functools
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage
from threadpoolctl import threadpool_limits

from conftest import read_only
from labelens import KernelSupervisedPCA
from labelens._base import jit
from labelens._core.kernels import make_kernel, settle_gamma
from labelens._core.moments import ClassSums, CrossMoment, Moments, Scatter, Spread, class_sums
from labelens._core.spectrum import ledoit_wolf
from oracles import cross_covariance_long


def relative_error(found, true):
    true = np.asarray(true, np.longdouble)
    return float(np.max(np.abs(found - true)) / np.max(np.abs(true)))


def random_split(rng, n, parts):
    cuts = np.sort(rng.choice(np.arange(1, n), parts - 1, replace=False))
    return [slice(a, b) for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


def merge_tree(rng, parts):
    """Merge neighbours, or not neighbours, in any order until one is left."""
    parts = list(parts)
    while len(parts) > 1:
        i, j = rng.choice(len(parts), 2, replace=False)
        merged = parts[i].merge(parts[j])
        parts = [p for m, p in enumerate(parts) if m not in (i, j)] + [merged]
    return parts[0]


@pytest.mark.parametrize("offset", [1, 1e3, 1e6, 1e9])
def test_cross_moment_merges_exactly(rng, offset):
    X = rng.normal(size=(500, 6)) + offset
    Y = X[:, :2] * 0.5 + rng.normal(size=(500, 2)) + offset
    read_only(X, Y)
    true = cross_covariance_long(X, Y)
    for _ in range(20):
        order = rng.permutation(500)
        parts = [CrossMoment.of(X[order[p]], Y[order[p]]) for p in random_split(rng, 500, 9)]
        merged = merge_tree(rng, parts)
        assert relative_error(merged.covariance, true) < 1e-14
        assert relative_error(sum(merged.mean), X.astype(np.longdouble).mean(axis=0)) < 1e-15


@pytest.mark.parametrize("offset", [1, 1e3, 1e6, 1e9])
def test_class_sums_merge_exactly(rng, offset):
    codes = rng.integers(0, 5, size=(500, 1))
    X = rng.normal(size=(500, 6)) + codes + offset
    true = cross_covariance_long(X, np.eye(5)[codes[:, 0]])
    for _ in range(20):
        order = rng.permutation(500)
        parts = [ClassSums.of(X[order[p]], codes[order[p]], 5) for p in random_split(rng, 500, 9)]
        assert relative_error(merge_tree(rng, parts).covariance, true) < 1e-14


def test_first_row_far_away_costs_no_digits(rng):
    """A shared origin taken from the first row would lose nine digits here."""
    X = rng.normal(size=(300, 3)) + 1e9
    X[0] = 0.1
    Y = rng.normal(size=(300, 2))
    parts = [CrossMoment.of(X[i : i + 50], Y[i : i + 50]) for i in range(50, 300, 50)]
    merged = merge_tree(rng, [CrossMoment.of(X[:50], Y[:50]), *parts])
    assert relative_error(merged.covariance, cross_covariance_long(X, Y)) < 1e-14


def test_scatter_merges_exactly_with_its_fourth_moments(rng):
    X = rng.gamma(2, size=(300, 5)) * np.arange(1, 6) + 100
    merged = merge_tree(rng, [Scatter.of(X[p]) for p in random_split(rng, 300, 7)])
    assert relative_error(merged.covariance, cross_covariance_long(X, X)) < 1e-14
    assert ledoit_wolf(merged) == pytest.approx(ledoit_wolf_shrinkage(X), rel=1e-12)


def test_spread_merges_exactly(rng):
    X = rng.normal(size=(300, 5)) + 1e6
    merged = merge_tree(rng, [Spread.of(X[p]) for p in random_split(rng, 300, 7)])
    np.testing.assert_allclose(merged.variance, X.var(axis=0), rtol=1e-11)
    np.testing.assert_array_equal(merged.minimum, X.min(axis=0))
    np.testing.assert_array_equal(merged.maximum, X.max(axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_scatter_around_a_point_near_the_mean(rng, dtype, threads):
    """Pieces, threads, and a point that is not the mean; moments by the plain formulas."""
    X = (rng.gamma(2.0, size=(5000, 6)) * np.arange(1, 7) + 100).astype(dtype)
    X.setflags(write=False)
    near = X.mean(axis=0, dtype=np.float64) + np.array([0, 0.5, 0, -1, 0, 0])
    with threadpool_limits(threads, user_api="blas"):
        found = Scatter.around(X, near)
    d = X.astype(np.longdouble)
    d = d - d.mean(axis=0)
    squares = np.sum(d**2, axis=1)
    assert found.weight == 5000
    np.testing.assert_allclose(sum(found.mean), X.mean(axis=0, dtype=np.longdouble), rtol=1e-14)
    np.testing.assert_allclose(found.covariance, d.T @ d / 5000, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.cubic, squares @ d, rtol=1e-10)
    np.testing.assert_allclose(found.quartic, float(np.sum(squares**2)), rtol=1e-12)


def test_scatter_in_single_precision(rng):
    X = rng.normal(size=(9000, 40)).astype(np.float32) + np.float32(0.3)
    exact = np.cov(X.T.astype(float), bias=True)
    found = Scatter.around(X, X.mean(axis=0, dtype=float), np.float32)
    assert found.comoment.dtype == found.origin.dtype == np.float64
    assert 0 < np.abs(found.covariance - exact).max() < 3e-7
    np.testing.assert_allclose(sum(found.mean), X.mean(axis=0, dtype=float), atol=1e-7)


@pytest.mark.parametrize("of", [Scatter.of, Spread.of, lambda X, w: CrossMoment.of(X, X**2, w)])
def test_a_weight_is_a_repetition(rng, of):
    X, weight = rng.normal(size=(50, 4)), rng.integers(1, 4, 50)
    once, often = of(X, weight.astype(float)), of(np.repeat(X, weight, axis=0), None)
    for name, value in vars(once).items():
        np.testing.assert_allclose(value, getattr(often, name), atol=1e-12, err_msg=name)


@pytest.mark.parametrize("kind", ["cross", "classes", "scatter", "spread"])
def test_sparse_rows_give_the_same_statistics(rng, kind):
    X = sparse.random(200, 30, density=0.1, format="csr", random_state=0)
    Y, codes, w = rng.normal(size=(200, 3)), rng.integers(0, 4, (200, 1)), rng.uniform(1, 2, 200)
    of = {
        "cross": lambda A: CrossMoment.of(A, Y, w).covariance,
        "classes": lambda A: ClassSums.of(A, codes, 4, w).covariance,
        "scatter": lambda A: np.r_[Scatter.of(A, w).covariance.ravel(), Scatter.of(A, w).quartic],
        "spread": lambda A: np.r_[Spread.of(A, w).variance, Spread.of(A, w).maximum],
    }[kind]
    np.testing.assert_allclose(of(X), of(X.toarray()), atol=1e-13)


def test_sparse_labels_give_the_same_moment(rng):
    X = rng.normal(size=(100, 4))
    Y = sparse.random(100, 6, density=0.3, format="csr", random_state=1)
    dense = CrossMoment.of(X, Y.toarray()).covariance
    np.testing.assert_allclose(CrossMoment.of(X, Y).covariance, dense, atol=1e-15)
    both = CrossMoment.of(sparse.csr_matrix(X), Y).covariance
    np.testing.assert_allclose(both, dense, atol=1e-15)


def test_integers_do_not_wrap():
    X = np.full((300, 2), 250, dtype=np.uint8)
    X[::2] = 5
    assert CrossMoment.of(X, X).covariance[0, 0] == pytest.approx(122.5**2)


def test_reuse_overwrites_only_when_asked(rng):
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    first, second = CrossMoment.of(X[:30], Y[:30]), CrossMoment.of(X[30:], Y[30:])
    before = first.comoment.copy()
    kept = first.merge(second).comoment
    np.testing.assert_array_equal(first.comoment, before)
    reused = first.merge(second, reuse=True)
    np.testing.assert_array_equal(reused.comoment, kept)
    assert reused.comoment is first.comoment


def test_classes_are_matched_by_label_not_by_position(rng):
    X = rng.normal(size=(6, 2))
    parts = [
        Moments(3, ("b", "a"), ClassSums.of(X[:3], np.array([[0], [1], [0]]), 2)),
        Moments(3, ("c", "a"), ClassSums.of(X[3:], np.array([[0], [1], [1]]), 2)),
    ]
    merged = parts[0].merge(parts[1])
    assert merged.classes == ("b", "a", "c")
    one_hot = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]])
    true = cross_covariance_long(X, one_hot)
    np.testing.assert_allclose(merged.cross.covariance, true.astype(float), atol=1e-15)


@settings(max_examples=50, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 20), min_size=3, max_size=3),
    seed=st.integers(0, 2**32 - 1),
    exponent=st.integers(-150, 70),
)
def test_merge_is_associative_and_commutative(sizes, seed, exponent):
    rng = np.random.default_rng(seed)
    scale = 10.0**exponent
    a, b, c = (
        CrossMoment.of(rng.normal(size=(n, 3)) * scale, rng.normal(size=(n, 2))) for n in sizes
    )
    whole = a.merge(b).merge(c)
    for other in (a.merge(b.merge(c)), c.merge(b).merge(a)):
        np.testing.assert_allclose(
            other.comoment, whole.comoment, rtol=1e-12, atol=1e-13 * scale * sum(sizes)
        )
        np.testing.assert_allclose(sum(other.mean), sum(whole.mean), atol=1e-14 * scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, bool])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["dense", "fortran", "sparse"])
@pytest.mark.parametrize("c", [7, 60, 1000])  # long runs, some of both, short ones
def test_compiled_and_plain_class_sums_have_the_same_bits(
    rng, monkeypatch, c, kind, weighted, dtype
):
    X = rng.integers(0, 3, (2500, 5)) + (rng.normal(size=(2500, 5)) if dtype is not bool else 0)
    X = X.astype(dtype)
    if kind != "dense":
        X = np.asfortranarray(X) if kind == "fortran" else sparse.csr_array(X)
    codes = (c * rng.random((2500, 1)) ** 2).astype(int)
    weight = rng.uniform(1, 2, 2500) if weighted else None
    which = np.flatnonzero(rng.random(2500) < 0.9)
    found = []
    for small in (True, False):
        monkeypatch.setattr(jit, "_small", lambda *_, small=small: small)
        found.append(ClassSums.of(X, codes[which], c, weight, which))
    np.testing.assert_array_equal(found[0].sums, found[1].sums)
    np.testing.assert_array_equal(found[0].class_weight, found[1].class_weight)
    dense = X.toarray() if kind == "sparse" else X
    w = np.ones(2500) if weight is None else weight
    one_hot = np.eye(c)[codes[which, 0]] * w[which, None]
    truth = one_hot.T @ (dense[which] - found[0].origin)
    np.testing.assert_allclose(found[0].sums, truth, atol=1e-10)


@pytest.mark.parametrize("c", [2, 12, 300])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_class_sums_are_shared_out_without_changing_a_bit(rng, monkeypatch, kind, c):
    """Any number of threads, whole classes or columns, one piece or many."""
    X = rng.normal(size=(5000, 9)) * 10.0 ** rng.integers(-8, 8, 9)
    X = X if kind == "dense" else sparse.csr_array(X)
    codes = (c * rng.random((5000, 1)) ** 3).astype(int)  # the first class has most rows
    whole = ClassSums.of(X, codes, c)
    dense = X.toarray() if kind == "sparse" else X
    true = cross_covariance_long(dense, np.eye(c)[codes[:, 0]])
    assert relative_error(whole.covariance, true) < 1e-13
    monkeypatch.setattr(class_sums, "WORTH_A_THREAD", 0)
    monkeypatch.setattr(class_sums, "NARROWEST", 2)
    for piece in (1, 1 << 28):
        monkeypatch.setattr(class_sums, "PIECE_BYTES", piece)
        for threads in (1, 2, 3, 16):
            monkeypatch.setattr(class_sums, "one_blas_thread", lambda t=threads: nullcontext(t))
            np.testing.assert_array_equal(ClassSums.of(X, codes, c).sums, whole.sums)


def test_class_sums_are_the_cross_moment_with_one_hot_labels(rng):
    X, codes = rng.normal(size=(300, 5)) + 7, rng.integers(0, 4, (300, 2)) + np.r_[0, 4]
    weight, mixing = rng.uniform(0, 2, 300), rng.normal(size=(8, 3))
    ours = ClassSums.of(X, codes, 8, weight)
    true = CrossMoment.of(X, np.eye(8)[codes].sum(axis=1), weight)
    factor = rng.uniform(1, 2, 5)
    for found, wanted in ((ours, true), (ours.rescaled(factor), true.rescaled(factor))):
        np.testing.assert_allclose(found.covariance, wanted.covariance, atol=1e-14)
        np.testing.assert_allclose(found.times(mixing), wanted.covariance @ mixing, atol=1e-13)
        np.testing.assert_allclose(wanted.times(mixing), wanted.covariance @ mixing, atol=1e-13)
        np.testing.assert_allclose(sum(found.mean), sum(wanted.mean), rtol=1e-14)
        np.testing.assert_allclose(
            found.offset_right, wanted.origin_right + wanted.offset_right, rtol=1e-14
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, bool])
@pytest.mark.parametrize("n", [1, 7, 500])
def test_compiled_and_plain_spreads_have_the_same_bits(rng, monkeypatch, n, dtype):
    X, w = (3 * rng.normal(size=(n, 6)) + 1).astype(dtype), rng.uniform(1, 2, n)
    found = []
    for small in (True, False):
        monkeypatch.setattr(jit, "_small", lambda *_, small=small: small)
        found.append(Spread.of(X, w))
    for name in ("origin", "offset", "squares", "minimum", "maximum"):
        np.testing.assert_array_equal(*(getattr(one, name) for one in found))
    exact = X.astype(np.longdouble)
    mean = w @ exact / w.sum()
    np.testing.assert_allclose(sum(found[0].mean), mean.astype(float), atol=1e-15)
    variance = (w @ (exact - mean) ** 2 / w.sum()).astype(float)
    np.testing.assert_allclose(found[0].variance, variance, rtol=1e-13, atol=1e-28)
    np.testing.assert_array_equal(found[0].minimum, X.min(axis=0))
    np.testing.assert_array_equal(found[0].maximum, X.max(axis=0))


@pytest.mark.parametrize(
    ("dtype", "offset"),
    [(np.float32, 0), (np.float32, 9), (np.float64, 0), (np.float64, 1e3), (np.float64, 1e9)],
)
@pytest.mark.parametrize("rows", [1, 2, 3, 50])
def test_no_origin_is_a_value_of_a_row(rng, dtype, rows, offset):
    X = (rng.normal(size=(rows, 40)) + offset).astype(dtype)
    codes = np.zeros((rows, 1), dtype=np.intp)
    for moment in (
        ClassSums.of(X, codes, 1),
        Scatter.of(X),
        Spread.of(X),
        CrossMoment.of(X, X[:, :2]),
    ):
        for name in ("origin", "origin_left", "origin_right"):
            if hasattr(moment, name):
                # One in 64 numbers of a lone row in float32 is round already.
                chance = 0.1 if rows == 1 and dtype == np.float32 else 0.0
                assert np.isin(getattr(moment, name), X).mean() <= chance
    near = ClassSums.of(X, codes, 1).origin
    assert (np.abs(near - X[0]) <= 4 * np.ptp(X, axis=0) + np.abs(X[0]) * 2.0**-17).all()


def test_an_origin_of_one_row_costs_few_digits(rng):
    X, codes = rng.normal(size=(400, 3)) + 1e8, rng.integers(0, 4, (400, 1))
    true = cross_covariance_long(X, np.eye(4)[codes[:, 0]])
    total = ClassSums.of(X[:1], codes[:1], 4).add(X[1:], codes[1:])
    assert relative_error(total.covariance, true) < 1e-12
    merged = ClassSums.of(X[:1], codes[:1], 4)
    for i in range(1, 400):
        merged = merged.merge(ClassSums.of(X[i : i + 1], codes[i : i + 1], 4))
    assert relative_error(merged.covariance, true) < 1e-12


def test_a_constant_column_is_about_itself_unless_it_only_seems_so():
    X = np.full((2000, 2), 0.1)
    X[1000, 1] = 0.3
    found = ClassSums.of(X, np.arange(2000)[:, None] % 2, 2)
    assert found.origin[0] == 0.1
    assert not found.sums[:, 0].any()
    assert found.origin[1] != 0.1
    assert found.origin[1] == pytest.approx(0.1, rel=1e-4)


def test_batches_change_no_bit_where_labels_begin_late(rng):
    X, y = rng.normal(size=(5000, 6)) + 3, rng.integers(0, 3, 5000)
    y[:1500] = -1
    model = KernelSupervisedPCA(
        2, n_random_features=32, gamma=0.1, missing_label=-1, random_state=0
    )
    whole, parts = clone(model).fit(X, y), clone(model)
    for start in range(0, 5000, 2048):
        parts.partial_fit(X[start : start + 2048], y[start : start + 2048])
    for name in ("origin", "sums", "class_weight"):
        found, truth = (getattr(m.moments_.cross, name) for m in (parts, whole))
        np.testing.assert_array_equal(found, truth)


def test_constant_columns_have_no_variance_whatever_is_merged(rng):
    """What is left is the rounding of a rounding, and gamma would be its inverse."""
    for constant in 10.0 ** rng.uniform(-8, 8, size=50):
        rows = np.full((40, 2), constant)
        cuts = np.sort(rng.choice(np.arange(6, 40), 6, replace=False))
        weight = rng.uniform(0.1, 3, size=40)
        rows[:3], weight[:3] = 0.0, 0.0  # rows without weight differ
        parts = [
            Spread.of(rows[some], weight[some]) for some in np.split(np.arange(40), [5, *cuts])
        ]
        spread = functools.reduce(Spread.merge, parts)
        assert (spread.variance == 0).all()
        assert settle_gamma(make_kernel("rbf", "scale", {}), rows, spread, 0).gamma == 1
