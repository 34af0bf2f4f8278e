"""What is refused, in which words, and that a refusal leaves the estimator as it was."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler

import labelens
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    hsic,
)

METHODS = [
    SupervisedPCA(1),
    SupervisedRandomProjection(1, random_state=0),
    KernelSupervisedPCA(1, random_state=0, n_random_features=32),
    KernelSupervisedRandomProjection(1, random_state=0, approximation="exact"),
]


def good():
    rng = np.random.default_rng(0)
    return rng.normal(size=(12, 3)), np.arange(12) % 2


def with_value(array, place, value, dtype=None):
    array = array.astype(dtype or array.dtype)
    array[place] = value
    return array


X0, Y0 = good()
FRAME = pd.DataFrame(X0, columns=["height", "width", "depth"])
SPARSE = sparse.csr_matrix(with_value(X0, (5, 2), np.nan))

# name: X, y, sample_weight, the error, and what it must say
CASES = {
    "nan": (with_value(X0, (4, 1), np.nan), Y0, None, ValueError, "NaN at row 4, column 1"),
    "inf": (with_value(X0, (4, 1), np.inf), Y0, None, ValueError, "infinity .* row 4, column 1"),
    "nan in a frame": (
        FRAME.mask(FRAME.iloc[7, 2] == FRAME), Y0, None, ValueError, "row 7, column 'depth'",
    ),
    "nan in sparse": (SPARSE, Y0, None, ValueError, "NaN at row 5, column 2"),
    "nan in y": (X0, with_value(Y0, 3, np.nan, float), None, ValueError, "y contains NaN at row 3"),
    "inf in y": (X0, with_value(Y0, 3, np.inf, float), None, ValueError, "infinity .* at row 3"),
    "None in y": (X0, ["a", None] * 6, None, ValueError, r"NaN at row 1 \(None\)"),
    "names twice": (
        FRAME.set_axis(["a", "b", "a"], axis=1), Y0, None, ValueError, "two columns named 'a'",
    ),
    "no columns in a frame": (FRAME[[]], Y0, None, ValueError, "0 feature"),
    "empty": (X0[:0], Y0[:0], None, ValueError, "0 sample"),
    "no columns": (X0[:, :0], Y0, None, ValueError, "0 feature"),
    "mixed labels": (X0, [1, "a"] * 6, None, TypeError, "mixed types: the label of row 1 is 'a'"),
    "unhashable": (X0, np.array([{}] * 12), None, TypeError, r"row 0 .*(not hashable|\(dict\))"),
    "lengths": (X0, Y0[:11], None, ValueError, "12 rows, 11 labels"),
    "complex": (X0 * 1j, Y0, None, ValueError, "Complex data not supported"),
    "complex y": (X0, Y0 * 1j, None, ValueError, "Complex data not supported"),
    "objects": (
        with_value(X0, (2, 1), "x", object), Y0, None, ValueError, "row 2, column 1 holds 'x'",
    ),
    "text column": (
        FRAME.assign(width="wide"), Y0, None, ValueError, "column 'width' holds 'wide'",
    ),
    "dates": (FRAME.assign(depth=pd.Timestamp(0)), Y0, None, (TypeError, ValueError), "depth"),
    "negative weight": (X0, Y0, -np.ones(12), ValueError, "negative at row 0"),
    "zero weights": (X0, Y0, np.zeros(12), ValueError, "at least one non-zero"),
    "nan weight": (X0, Y0, np.full(12, np.nan), ValueError, "NaN or infinity .* at row 0"),
    "masked weight": (
        X0, Y0, np.ma.masked_equal(np.arange(12.0), 3), ValueError, "is a masked array",
    ),
    "one dimension": (X0[:, 0], Y0, None, ValueError, "2D array"),
    "y with three": (X0, np.zeros((12, 2, 2)), None, ValueError, "one or two dimensions"),
}  # fmt: skip


def broken(**parts):
    """X0 as CSR, with arrays that nobody has checked."""
    made = sparse.csr_array(X0)
    for name, values in parts.items():
        setattr(made, name, np.asarray(values, np.int32))
    return made


BROKEN = {
    "beyond": broken(indices=np.full(36, 10**6)),
    "negative": broken(indices=np.full(36, -1)),
    "starts go back": broken(indptr=[0, 36, *range(30, 41)]),
    "starts too late": broken(indptr=np.arange(13) * 3 + 1),
    "starts too far": broken(indptr=np.arange(13) * 10**6),
    "too few starts": broken(indptr=[0, 3]),
}
BEYOND = sparse.csc_array((12, 3))
BEYOND.indices, BEYOND.data = np.full(4, 10**6, np.int32), np.ones(4)
BEYOND.indptr = np.array([0, 1, 2, 4], np.int32)
BROKEN["columns beyond"] = BEYOND


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("model", METHODS, ids=lambda m: type(m).__name__)
def test_sparse_matrices_that_point_outside_of_themselves(model, name):
    """Compiled loops would follow, and crash or read what is not theirs."""
    X, y = BROKEN[name], good()[1]
    for use in (
        lambda: clone(model).fit(X, y),
        lambda: clone(model).fit(*good()).transform(X),
        lambda: clone(model).set_params(label_kernel="linear").fit(good()[0], X),
        lambda: hsic(X, y),
    ):
        with pytest.raises(ValueError, match=r"is a broken CS[RC] matrix"):
            use()
    coo = sparse.coo_array(good()[0])
    coo.coords = (coo.coords[0], coo.coords[1] + 7)
    with pytest.raises(ValueError, match="broken COO matrix"):
        clone(model).fit(coo, y)


@pytest.mark.parametrize("gamma", ["scale", "median", 1.0])
def test_rows_too_large_to_be_squared(gamma):
    X, y = good()
    for approximation in ("exact", "nystroem"):
        model = KernelSupervisedPCA(1, approximation=approximation, gamma=gamma)
        with pytest.raises(ValueError, match=r"overflows? float64: X .* too large.* Scale"):
            model.fit(X * 1e200, y)
    linear = SupervisedPCA(1)
    np.testing.assert_allclose(
        linear.fit(X * 1e200, y).transform(X * 1e200) / 1e200, SupervisedPCA(1).fit_transform(X, y)
    )


def test_what_is_refused_in_the_end_does_not_warn_on_the_way(recwarn):
    X, y = good()
    with pytest.raises(ValueError, match="sample_weight is too large"):
        SupervisedPCA(1).fit(X, y, sample_weight=np.full(12, 1e308))
    with pytest.raises(ValueError, match="embedding of these rows overflows"):
        SupervisedRandomProjection(1, random_state=0).fit_transform(X * 1e160, y)
    far = sparse.csr_array(X + 1e12)  # no digits are left: variances may come out below zero
    SupervisedPCA(1, shrinkage=0.1).fit(far, y)
    assert not [str(one.message) for one in recwarn if one.category is RuntimeWarning]


@pytest.mark.parametrize("gamma", ["scale", "median", "auto"])
def test_rows_too_small_to_be_squared(gamma):
    """One over a variance that has all but vanished would be infinite."""
    X, y = good()
    model = KernelSupervisedPCA(1, gamma=gamma, random_state=0).fit(X * 1e-156, y)
    assert 0.01 <= model.gamma_ <= 100 if gamma == "auto" else model.gamma_ == 1
    assert np.isfinite(model.transform(X * 1e-156)).all()


@pytest.mark.parametrize(
    "parameters", [{"n_components": "auto"}, {"scale": "standard", "shrinkage": "auto"}]
)
def test_what_is_looked_at_twice_names_its_columns_too(parameters):
    """Before anything else is said about such rows."""
    X = FRAME.mask(FRAME.iloc[7, 2] == FRAME)
    with pytest.raises(ValueError, match="NaN at row 7, column 'depth'"):
        SupervisedPCA(**parameters).fit(X, good()[1])


def state(model):
    return {name: id(value) for name, value in vars(model).items()}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("model", METHODS, ids=lambda m: type(m).__name__)
def test_refused_and_left_as_it_was(model, case):
    X, y, weight, error, words = CASES[case]
    rows, labels = good()
    first = FRAME if isinstance(X, pd.DataFrame) else rows
    for fitted in (clone(model), clone(model).fit(first, labels)):
        before = state(fitted)
        for method in (fitted.fit, fitted.partial_fit):
            with pytest.raises(error, match=words):
                method(X, y, sample_weight=weight)
            assert state(fitted) == before


@pytest.mark.parametrize("model", METHODS, ids=lambda m: type(m).__name__)
def test_fit_needs_two_rows_and_two_classes(model):
    X, y = good()
    with pytest.raises(ValueError, match="n_samples = 1"):
        clone(model).fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="y has a single class, 'a'"):
        clone(model).fit(X, ["a"] * 12)
    fitted = clone(model).fit(X, y)
    with pytest.raises(ValueError, match="y has a single class"):
        fitted.fit(X, np.zeros(12))
    fitted.transform(X)


@pytest.mark.parametrize("model", METHODS, ids=lambda m: type(m).__name__)
def test_later_batches_must_look_like_the_first(model):
    _, y = good()
    model = clone(model).partial_fit(FRAME, y)
    before = model.transform(FRAME)
    refused = [
        (FRAME[["height", "depth"]], y, ValueError, "width"),
        (FRAME.rename(columns={"width": "girth"}), y, ValueError, "girth"),
        (FRAME, y.astype(str), TypeError, "label of row 0 is '0' .* of type number"),
        (FRAME, None, ValueError, "missing_label"),
        (FRAME, np.c_[y, y], ValueError, "y has 2 columns"),
    ]
    for batch, labels, error, words in refused:
        with pytest.raises(error, match=words):
            model.partial_fit(batch, labels)
    np.testing.assert_array_equal(model.transform(FRAME), before)
    for bad, words in ((FRAME[["height"]], "width"), (FRAME * np.nan, "NaN at row 0, .*'height'")):
        with pytest.raises(ValueError, match=words):
            model.transform(bad)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        (dict(n_components=0), ValueError, "n_components must be an integer >= 1, got 0"),
        (dict(n_components=1.5), TypeError, "n_components must be an integer"),
        (dict(n_components=True), TypeError, "n_components"),
        (dict(gamma=0), ValueError, "gamma must be a number > 0"),
        (dict(gamma=-1.0), ValueError, "gamma"),
        (dict(gamma=np.nan), ValueError, "gamma"),
        (dict(gamma=None), TypeError, "gamma"),
        (dict(gamma="wide"), ValueError, "'scale', 'median' or 'auto'"),
        (dict(kernel="sigmoid"), ValueError, "'rbf', 'laplacian', 'matern'"),
        (dict(kernel="matern", kernel_params={"nu": 1}), ValueError, "0.5, 1.5 or 2.5"),
        (dict(kernel_params={"degree": 2}), ValueError, "'rbf' kernel may hold nothing"),
        (dict(approximation="rff"), ValueError, "approximation must be one of 'fourier'"),
        (dict(approximation=3), TypeError, "scikit-learn transformer"),
        (dict(n_random_features=0), ValueError, "n_random_features"),
        (dict(target_weight=1.1), ValueError, "target_weight must be a number >= 0 and <= 1"),
        (dict(shrinkage=-0.1), ValueError, "shrinkage"),
        (dict(shrinkage="lw"), ValueError, "'auto' or a number from 0 to 1"),
        (dict(scale="robust"), ValueError, "None, 'minmax', 'standard' or a factor for each"),
        (dict(scale=3.0), ValueError, "None, 'minmax', 'standard' or a factor for each"),
        (dict(scale=[1, np.nan, 2]), ValueError, "one finite number above 0 for each column"),
        (dict(scale=(1, 0, 2)), ValueError, "one finite number above 0 for each column"),
        (dict(scale=[[1, 2]]), ValueError, "one finite number above 0 for each column"),
        (dict(scale=["1", "2"]), ValueError, "one finite number above 0 for each column"),
        (dict(scale=[1.0] * 7), ValueError, r"scale has 7 factors, and X has \d columns"),
        (dict(label_map="random"), ValueError, "'orthogonal', 'spread', 'gaussian', 'fourier'"),
        (dict(label_kernel="gauss"), ValueError, "'auto', 'delta', 'linear', 'rbf'"),
        (dict(label_gamma=0), ValueError, "label_gamma"),
        (dict(batch_size=0), ValueError, "batch_size"),
        # Pairs that mean nothing: both are named, and so is the way out.
        (dict(kernel=np.dot), ValueError,
         r"callable kernel .*\(approximation='orthogonal'\); use approximation='exact'"),
        (dict(kernel="laplacian", approximation="fastfood"), ValueError,
         r"approximation='fastfood' .* 'laplacian' .* use approximation='orthogonal'"),
        (dict(label_map="fourier", label_kernel="linear"), ValueError,
         r"label_map='fourier' .* label_kernel is 'linear'; use label_map='orthogonal'"),
    ],
)  # fmt: skip
def test_parameters(parameters, error, words):
    X, y = good()
    model = KernelSupervisedRandomProjection(**{"n_components": 1} | parameters)
    with pytest.raises(error, match=words):
        model.fit(X, y)
    assert set(vars(model)) == set(model.get_params(deep=False))


def test_sparse_pairs():
    X, y = sparse.csr_matrix(good()[0]), good()[1]
    with pytest.raises(
        ValueError, match=r"scale='minmax' with kernel='polynomial' .* MaxAbsScaler"
    ):
        KernelSupervisedPCA(1, kernel="polynomial", scale="minmax").fit(X, y)
    with pytest.raises(ValueError, match=r"scale='minmax' with this transformer"):
        KernelSupervisedPCA(1, approximation=RBFSampler(), scale="minmax").fit(X, y)
    wide = sparse.csr_matrix((12, 500_000))
    with pytest.raises(ValueError, match=r"shrinkage=0.5 .* 500000 x 500000 covariance .*GiB"):
        SupervisedPCA(1, shrinkage=0.5).fit(wide, y)
    with pytest.raises(ValueError, match=r"y=None needs"):
        SupervisedPCA(1).fit(wide)


def test_label_kernels_that_need_numbers():
    X, y = good()
    for kernel in ("linear", "rbf"):
        with pytest.raises(
            TypeError, match=rf"label_kernel='{kernel}' needs numbers, .*'0'.*'delta'"
        ):
            SupervisedPCA(1, label_kernel=kernel).fit(X, y.astype(str))
    with pytest.raises(ValueError, match="y has no labels: every value is missing_label=-1"):
        SupervisedPCA(1, missing_label=-1).partial_fit(X, np.full(12, -1))


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        ([[1, 2]] * 12, ValueError, r"a single class in each of its columns, \(1, 2\)"),
        ((i % 2 for i in range(12)), TypeError, r"y is a generator, .*pass list\(y\)"),
        ({"a", "b"}, TypeError, "y is a set, and must be an array or a list"),
        ([[1], [1, 2]] * 6, TypeError, r"row 0 of y is \[1\] \(list\), .*labels in every row"),
    ],
    ids=["constant", "generator", "set", "ragged"],
)
def test_labels_in_odd_containers(labels, error, words):
    with pytest.raises(error, match=words):
        SupervisedPCA(1).fit(good()[0], labels)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (["1", "2"] * 6, r"sample_weight has '1' \(str\) at row 0; every weight must be a number"),
        ([1, None] * 6, r"sample_weight has None \(NoneType\) at row 1"),
        ((1 for _ in range(12)), "sample_weight is a generator; pass an array or a list"),
    ],
    ids=["strings", "None", "generator"],
)
def test_weights_that_are_no_numbers(weight, words):
    with pytest.raises(TypeError, match=words):
        SupervisedPCA(1).fit(*good(), sample_weight=weight)


def test_tables_of_arrow_are_frames():
    X, y = good()
    names = [f"x{j}" for j in range(X.shape[1])]
    table = pa.table(dict(zip(names, np.asarray(X).T, strict=True)))
    expected = SupervisedPCA(1).fit(X, y).components_
    whole = labelens.fit(SupervisedPCA(1), table.append_column("y", pa.array(y)), label="y")
    parts = labelens.fit(SupervisedPCA(1), [(table[:5], y[:5]), (table[5:], y[5:])])
    for model in (SupervisedPCA(1).fit(table, y), whole, parts):
        np.testing.assert_array_equal(model.components_, expected)
        assert model.feature_names_in_.tolist() == names
        assert model.transform(table).shape == (len(y), 1)
    for batch in table.to_batches():
        SupervisedPCA(1).fit(batch, y)


def test_inverse_transform_of_the_wrong_shape():
    X, y = good()
    with pytest.raises(ValueError, match="2 columns, and the embedding has 1 component"):
        SupervisedPCA(1).fit(X, y).inverse_transform(np.zeros((3, 2)))


def test_interrupted_fit_keeps_the_old_model(monkeypatch):
    import labelens._fit.summarize

    X, y = good()
    model = SupervisedPCA(1).fit(X, y)
    before = model.transform(X)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(labelens._fit.summarize, "summarize", interrupt)
    for method in (model.fit, model.partial_fit):
        with pytest.raises(KeyboardInterrupt):
            method(X + 1, y)
    np.testing.assert_array_equal(model.transform(X), before)


def test_the_callers_array_cannot_change_an_exact_model():
    X, y = good()
    model = KernelSupervisedPCA(1, approximation="exact").fit(X, y)
    before = model.transform(X.copy())
    kept = X.copy()
    X[:] = 0
    np.testing.assert_array_equal(model.transform(kept), before)


def test_hsic_refuses_too():
    X, y = good()
    with pytest.raises(ValueError, match="NaN at row 1, column 0"):
        hsic(with_value(X, (1, 0), np.nan), y)
    with pytest.raises(ValueError, match="12 rows, 3 labels"):
        hsic(X, y[:3])
    with pytest.raises(ValueError, match="at least two"):
        hsic(X[:1], y[:1])
