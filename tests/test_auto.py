"""What "auto" comes to."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits

import labelens
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    knn_score,
)
from labelens._fit.folds import cross_validate
from labelens.datasets import make_spirals, make_xor

ALL = (
    SupervisedPCA,
    SupervisedRandomProjection,
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
)


def planted(seed, n=400, d=30, classes=6):
    """Classes that differ in two directions."""
    draw = np.random.default_rng(seed)
    X, y = draw.normal(size=(n, d)), draw.integers(0, classes, n)
    X[:, 0] += 2 * np.cos(y)
    X[:, 1] += 2 * np.sin(y)
    return X, y


@pytest.mark.parametrize("method", ALL)
def test_as_many_components_as_the_labels_steer(method):
    counts = []
    for seed in range(8):
        X, y = planted(seed)
        model = method("auto", random_state=seed).fit(X, y)
        counts.append(model.n_components_)
        assert model.transform(X).shape == (len(X), model.n_components_)
        assert model.get_params()["n_components"] == "auto"
    # Six points of a circle differ in five directions of a kernel's features.
    kernelised = method in (KernelSupervisedPCA, KernelSupervisedRandomProjection)
    assert 2 <= np.median(counts) <= (5 if kernelised else 2)
    assert max(counts) <= (5 if kernelised else 3)


def alarms(make, count=60):
    """How many of so many sets of noise n_components="auto" takes for something."""
    found = 0
    for seed in range(count):
        model, X, y, weight = make(np.random.default_rng(seed))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model.set_params(random_state=seed).fit(X, y, sample_weight=weight)
        found += not any("shuffled" in str(one.message) for one in told)
    return found


def skewed(draw):
    return draw.normal(size=(80, 12)), draw.choice(3, 80, p=[0.85, 0.1, 0.05])


def weighted_by_label(draw):
    X, y = skewed(draw)
    return SupervisedPCA("auto"), X, y, np.array([1, 8, 16])[y]


def weighted_by_number(draw):
    X, y = draw.normal(size=(80, 12)), draw.normal(size=80)
    return SupervisedPCA("auto", label_kernel="rbf"), X, y, np.exp(y)


def weighted_by_row(draw):
    X, y = skewed(draw)
    return SupervisedPCA("auto"), X, y, np.exp(X[:, 0])


NOISE = {
    "plain": lambda draw: (SupervisedPCA("auto"), *skewed(draw), None),
    "balanced": lambda draw: (SupervisedPCA("auto", class_weight="balanced"), *skewed(draw), None),
    "dict": lambda draw: (
        SupervisedPCA("auto", class_weight={0: 1, 1: 8, 2: 16}, shrinkage=0.5), *skewed(draw), None
    ),
    "both": lambda draw: (
        SupervisedPCA("auto", class_weight="balanced"), *skewed(draw), draw.exponential(size=80)
    ),
    "by label": weighted_by_label,
    "by number": weighted_by_number,
    "by row": weighted_by_row,
}  # fmt: skip


IN_BRIEF = ("plain", "balanced", "by number", "by row")


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=() if k in IN_BRIEF else pytest.mark.long) for k in NOISE]
)
def test_noise_has_no_components_beyond_chance(kind):
    """One in twenty at most is taken for something, whatever rows weigh; the others are told."""
    assert alarms(NOISE[kind]) <= binom.ppf(0.999, 60, 0.05)


def test_weighted_rows_keep_what_is_there():
    X, y = planted(0)
    for weight in (np.array([1, 2, 3, 4, 5, 6])[y], np.exp(X[:, 5]), None):
        model = SupervisedPCA("auto", class_weight="balanced", random_state=0)
        assert 2 <= model.fit(X, y, sample_weight=weight).n_components_ <= 3


def test_the_number_of_components_is_that_of_the_rule():
    """Written out: singular values of C_xy against those of 19 shuffles."""
    X, y = planted(3)
    model = SupervisedPCA("auto", random_state=0).fit(X, y)
    draw = np.random.default_rng(1)

    def strengths(labels):
        hot = np.eye(6)[labels]
        return np.linalg.svd((X - X.mean(0)).T @ (hot - hot.mean(0)), compute_uv=False)[:5]

    null = np.max([strengths(draw.permutation(y)) for _ in range(200)], axis=0)
    own = strengths(y)
    clear = (own > 1.3 * null) | (own < null / 1.3)  # where 19 and 200 shuffles agree
    assert clear[:2].all()
    assert (own > null)[:2].all()
    assert model.n_components_ == 2 or not clear[2]
    fixed = SupervisedPCA(model.n_components_).fit(X, y)
    assert np.array_equal(fixed.components_, model.components_)


def test_unlabelled_rows_and_weights_take_part_in_neither():
    X, y = planted(0)
    marked = np.where(np.arange(len(y)) % 5 == 0, -1, y)
    model = SupervisedPCA("auto", missing_label=-1, random_state=0).fit(X, marked)
    assert 1 <= model.n_components_ <= 3


def test_several_columns_of_classes_have_their_directions_together():
    draw = np.random.default_rng(0)
    y = draw.integers(0, 4, (600, 2))
    X = np.hstack([np.eye(4)[y[:, 0]], np.eye(4)[y[:, 1]]]) + 0.3 * draw.normal(size=(600, 8))
    assert SupervisedPCA("auto", random_state=0).fit(X, y).n_components_ == 6


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern"])
@pytest.mark.parametrize("approximation", ["orthogonal", "nystroem", "exact"])
def test_width_that_shows_a_spiral(kernel, approximation):
    """The width of "scale" is far too large for two spirals, and "auto" finds that out."""
    X, y = make_spirals(n_samples=600, random_state=0)
    rows = np.random.default_rng(0).permutation(600)
    train, test = rows[:400], rows[400:]
    shrinkage = 1 if approximation == "exact" else 1e-3
    scores = {}
    for gamma in ("scale", "auto"):
        model = KernelSupervisedPCA(
            1,
            kernel=kernel,
            gamma=gamma,
            approximation=approximation,
            shrinkage=shrinkage,
            random_state=0,
        ).fit(X[train], y[train])
        Z = model.transform(X)
        scores[gamma] = knn_score(Z[train], y[train], Z[test], y[test])
    assert scores["auto"] > 0.85
    assert scores["auto"] >= scores["scale"] - 0.02


def test_width_of_numbers_and_of_several_columns():
    X, y = load_diabetes(return_X_y=True)
    assert KernelSupervisedPCA(gamma="auto", random_state=0).fit(X, y).gamma_ > 0
    X, y = make_xor(random_state=0)
    both = np.column_stack([y, y[::-1]])
    assert KernelSupervisedPCA(gamma="auto", random_state=0).fit(X, both).gamma_ > 0


@pytest.mark.parametrize("k", [8, 12, 30])
def test_many_components_of_few_held_out_rows_say_something(monkeypatch, k):
    """As many components as held-out rows have any labels for a linear function of them."""
    seen = []

    def watched(*arguments):
        seen.append(cross_validate(*arguments))
        return seen[-1]

    monkeypatch.setattr("labelens._fit.auto.cross_validate", watched)
    found = []
    for seed in range(8):
        X, y = make_spirals(n_samples=36, noise=0.02, random_state=seed)
        model = KernelSupervisedPCA(
            k, gamma="auto", target_weight=0.9, n_random_features=128, random_state=seed
        )
        scale = clone(model).set_params(gamma="scale").fit(X, y).gamma_
        found.append(model.fit(X, y).gamma_ / scale)
    means = np.array(seen).mean(axis=2)
    assert means.max() < 0.999
    assert np.ptp(means, axis=1).min() > 0.05  # widths differ
    assert np.median(found) > 1  # spirals are narrow


def test_widths_that_are_equal_come_to_scale():
    """Folds of two rows have one direction, which labels depend on in any case."""
    for seed in range(6):
        X, y = np.random.default_rng(seed).normal(size=(6, 3)), np.arange(6) % 2
        model = KernelSupervisedPCA(1, gamma="auto", random_state=seed)
        scale = clone(model).set_params(gamma="scale").fit(X, y).gamma_
        assert model.fit(X, y).gamma_ == scale


@pytest.mark.parametrize("scale", [None, "standard"])
@pytest.mark.parametrize("n_components", [1, "auto"])
def test_unlabelled_rows_count_for_the_width_by_any_route(n_components, scale):
    """They are part of the spread of the columns, in a fit and in a stream."""
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(90, 3)), np.arange(90) % 2
    X[:, 0] += y
    X[45:] *= 20
    y[45:] = -1
    for gamma in ("scale", "auto"):
        model = KernelSupervisedPCA(
            n_components, gamma=gamma, scale=scale, missing_label=-1, random_state=0
        )
        streamed = labelens.fit(clone(model), X, label=y)
        assert model.fit(X, y).gamma_ == streamed.gamma_
        assert model.n_components_ == streamed.n_components_


def test_a_seed_settles_everything():
    X, y = load_digits(return_X_y=True)
    first, again = (
        KernelSupervisedRandomProjection("auto", gamma="auto", random_state=1).fit(X, y)
        for _ in range(2)
    )
    assert first.gamma_ == again.gamma_
    assert first.n_components_ == again.n_components_
    assert np.array_equal(first.transform(X[:20]), again.transform(X[:20]))
    numbers = clone(first).set_params(gamma=first.gamma_, n_components=first.n_components_)
    assert np.array_equal(numbers.fit(X, y).transform(X[:20]), first.transform(X[:20]))


def test_the_first_batch_settles_it_for_a_stream():
    X, y = planted(0)
    model = SupervisedPCA("auto", random_state=0).partial_fit(X[:200], y[:200])
    count = model.n_components_
    model.partial_fit(X[200:], y[200:])
    assert model.transform(X).shape[1] == count


def test_saved_models_hold_the_number(tmp_path):
    X, y = planted(0)
    model = KernelSupervisedPCA("auto", gamma="auto", random_state=0).fit(X, y)
    for moments in (False, True):
        labelens.save(model, tmp_path / f"{moments}.labelens", moments=moments)
        known = labelens.load(tmp_path / f"{moments}.labelens")
        assert known.n_components == model.n_components_
        assert known.gamma_ == model.gamma_
        assert np.array_equal(known.transform(X), model.transform(X))


def test_without_labels_there_is_nothing_to_settle_by():
    X, y = planted(0)
    with pytest.raises(
        ValueError, match=r"n_components='auto' needs labels, and y is None; pass a number"
    ):
        SupervisedPCA("auto").fit(X)
    with pytest.raises(ValueError, match=r"gamma='auto' .* a number, 'scale' or 'median'"):
        KernelSupervisedPCA(gamma="auto").fit(X)
    with pytest.raises(ValueError, match="n_components must be one of 'auto' or an integer"):
        SupervisedPCA("many").fit(X, y)
    with pytest.raises(ValueError, match="gamma='auto' is chosen by fit only"):
        labelens.hsic(X, y, gamma="auto")


def test_models_that_came_to_different_numbers_do_not_merge():
    first = SupervisedPCA("auto", random_state=0).fit(*planted(0))
    X, y = planted(1)
    X[:, 2] += 3 * (y == 5)
    other = SupervisedPCA("auto", random_state=0).fit(X, y)
    assert first.n_components_ != other.n_components_
    with pytest.raises(ValueError, match="n_components is 2 and 3"):
        first.merge(other)
