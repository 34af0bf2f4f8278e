"""What label kernels refuse, by name and before it takes minutes."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from label_cases import HOURS, LETTERS, PARENTS, RATINGS, SETS, SIMILAR, draw, rows_of_all
from labelens import SupervisedPCA, SupervisedRandomProjection
from labelens._core.labels import columns, similarity
from labelens.label_kernels import Cyclic, Ordinal, Precomputed, Product, Sum, Tree


@pytest.fixture
def rows(rng):
    return rows_of_all(rng)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Tree(""), TypeError, "separator must be a string, not empty"),
        (lambda: Tree(parents=["a"]), TypeError, "parents must be a dict or a Series"),
        (lambda: Tree(parents={"a": "b", "b": "a"}), ValueError, "a cycle at 'a'"),
        (lambda: Ordinal("abc"), TypeError, "order must be a sequence of labels"),
        (lambda: Ordinal(["a", "b", "a"]), ValueError, "order has 'a' twice"),
        (lambda: Cyclic(0), ValueError, "period must be a number > 0"),
        (lambda: Cyclic(24, 0), ValueError, "harmonics must be an integer >= 1"),
        (lambda: Precomputed([[1, 2, 3]]), ValueError, r"square matrix, got shape \(1, 3\)"),
        (lambda: Precomputed([[1, 0.5], [0, 1]]), ValueError, "0 and 1 is 0.5 one way and 0"),
        (
            lambda: Precomputed([[1, 2], [2, 1]]),
            ValueError,
            "smallest eigenvalue is -1; adding 1 to the diagonal",
        ),
        (lambda: Precomputed(np.eye(2), ["a"]), ValueError, "name each of the 2 rows"),
        (lambda: Precomputed(np.eye(2), ["a", "a"]), ValueError, "name each of the 2 rows"),
        (lambda: Precomputed([[np.nan]]), ValueError, "not finite"),
        (lambda: Precomputed(SIMILAR.rename(index={"a": "z"})), ValueError, "index and columns"),
        (lambda: Sum("delta"), TypeError, "Sum takes one kernel for each column of y"),
        (lambda: Product("delta", "jaccard"), ValueError, "'jaccard' cannot be the kernel of one"),
        (lambda: Sum("delta", Sum("delta", "rbf")), ValueError, "cannot be the kernel of one"),
        (lambda: Sum("delta", 3), TypeError, "3 is neither a label kernel"),
    ],
)
def test_kernels_that_mean_nothing(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("kernel", "y", "error", "words"),
    [
        (
            "tree",
            RATINGS,
            TypeError,
            "the class 1 is of type int; .*Tree.parents=",
        ),
        ("tree", np.where(RATINGS > 1, "a", "/"), ValueError, "class '/' is an empty path"),
        (Tree(parents=PARENTS), LETTERS, ValueError, "class 'a' is not a node"),
        (Ordinal([1, 2, 3, 4]), RATINGS, ValueError, r"class 5 is not in the order .* 1, 2, 3, 4"),
        (Precomputed(SIMILAR), draw("abd"), ValueError, "class 'd' is not among those .* 'a', 'b'"),
        ("ordinal", np.c_[RATINGS, RATINGS], ValueError, "one column of classes, and y has 2"),
        (Cyclic(24), np.c_[HOURS, HOURS], ValueError, "one column of numbers, and y has 2"),
        (Cyclic(24), LETTERS, TypeError, "label_kernel='Cyclic' needs numbers"),
        ("linear", RATINGS.astype("M8[ns]"), TypeError, "needs numbers, .* is np.datetime64"),
        ("rbf", RATINGS.astype("m8[s]"), TypeError, "needs numbers, .* is np.timedelta64"),
        ("jaccard", RATINGS, ValueError, "values 0 and 1"),
        ("jaccard", LETTERS, TypeError, "needs numbers"),
        (Sum("delta", "rbf"), LETTERS, ValueError, "2 kernels, .* and y has 1 column"),
        (Sum("delta", "rbf"), sparse.csr_matrix(SETS), ValueError, "3 columns and is sparse"),
        (Sum("delta", "rbf"), np.c_[LETTERS, LETTERS], TypeError, "'rbf' needs numbers"),
        ("hierarchy", LETTERS, ValueError, "'ordinal', 'tree', 'jaccard', an object of"),
    ],
)
def test_labels_that_do_not_fit(rows, kernel, y, error, words):
    with pytest.raises(error, match=words):
        SupervisedPCA(1, label_kernel=kernel).fit(rows, y)


def test_new_classes_in_sums_are_refused_by_name(rows):
    model = SupervisedPCA(1, label_kernel=Sum("delta", "linear"))
    y = pd.DataFrame({"a": LETTERS, "b": RATINGS})
    model.partial_fit(rows, y)
    before = model.components_
    with pytest.raises(ValueError, match=r"class 'd' in column 0 .* not in the first batch"):
        model.partial_fit(rows[:2], pd.DataFrame({"a": ["a", "d"], "b": [1, 2]}))
    np.testing.assert_array_equal(model.components_, before)


def test_new_sets_and_classes_may_come_but_no_new_columns(rows):
    model = SupervisedPCA(1, label_kernel="jaccard").partial_fit(rows, SETS)
    with pytest.raises(ValueError, match="y has 2 columns, and 3 in the batches before"):
        model.partial_fit(rows, SETS[:, :2])


@pytest.mark.parametrize("label_map", ["fourier", "spread"])
@pytest.mark.parametrize("kernel", ["ordinal", Cyclic(5), Sum("delta", "delta")], ids=repr)
def test_label_maps_of_other_kernels_are_refused(rows, label_map, kernel):
    y = np.c_[RATINGS, RATINGS] if isinstance(kernel, Sum) else RATINGS
    model = SupervisedRandomProjection(2, label_map=label_map, label_kernel=kernel)
    with pytest.raises(ValueError, match=f"label_map='{label_map}'.*label_kernel is"):
        model.fit(rows, y)


def test_what_would_take_minutes_is_refused(rows, monkeypatch):
    monkeypatch.setattr(similarity, "MOST_CLASSES", 4)
    with pytest.raises(ValueError, match="for 4 classes at most, and there are 5"):
        SupervisedPCA(1, label_kernel="ordinal").fit(rows, RATINGS)
    monkeypatch.setattr(columns, "MOST_FEATURES", 14)
    with pytest.raises(ValueError, match="has 15 label features, and 14 are the most"):
        SupervisedPCA(1, label_kernel=Product("delta", Cyclic(24))).fit(
            rows, pd.DataFrame({"a": LETTERS, "b": HOURS})
        )


def test_merging_needs_the_same_kernel(rows):
    model = SupervisedPCA(1, label_kernel="ordinal").fit(rows, RATINGS)
    for other in ("delta", Ordinal([1, 2, 3, 4, 5])):
        with pytest.raises(ValueError, match="label maps differ"):
            model.merge(SupervisedPCA(1, label_kernel=other).fit(rows, RATINGS))
    model.merge(SupervisedPCA(1, label_kernel=Ordinal()).fit(rows, RATINGS))
