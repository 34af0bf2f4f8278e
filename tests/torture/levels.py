"""Noise of many kinds: 5 % of it may be taken for evidence, by chance, and no more.

Each case draws data sets in which labels say nothing of the rows, and counts how often a judge
finds evidence. More than 999 of 1000 judges at the level of 5 % would find is a fault.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import binom
from sklearn.base import BaseEstimator, TransformerMixin

from labelens import KernelSupervisedPCA, SupervisedPCA, hsic_test, permutation_report

LONG, SHORT, LEVEL = 200, 8, 0.05
N = 60


# Noise: (X, y) ----------------------------------------------------------------------------------


def classes(draw):
    return draw.normal(size=(N, 8)), draw.integers(0, 3, N)


def rare(draw):
    """A class of 5 % of the rows."""
    return draw.normal(size=(N, 8)), draw.permutation(np.repeat([0, 1, 2], [N - 15, 12, 3]))


def numbers(draw):
    return draw.normal(size=(N, 8)), draw.standard_cauchy(size=N)


def several_classes(draw):
    return draw.normal(size=(N, 8)), draw.integers(0, 3, (N, 2)) * [1, 10]


def several_numbers(draw):
    """One column follows the other, and neither the rows."""
    first = draw.normal(size=N)
    return draw.normal(size=(N, 8)), np.column_stack([first, first + draw.normal(size=N) + 1000])


def indicators(draw):
    return draw.normal(size=(N, 8)), (draw.uniform(size=(N, 4)) < 0.3).astype(int)


def copies(draw):
    """Every row four times, as its label."""
    X, y = classes(draw)
    return np.repeat(X[: N // 2], 4, axis=0), np.repeat(y[: N // 2], 4)


def drawn_again(draw):
    """Rows drawn with replacement, as in a bootstrap sample or where rare classes are repeated."""
    X, y = rare(draw)
    some = draw.integers(0, N, 2 * N)
    return X[some], y[some]


def few_values(draw):
    """Rows that are equal by chance, with labels of their own."""
    return draw.integers(0, 2, (N, 3)).astype(float), draw.integers(0, 3, N)


class Cross(TransformerMixin, BaseEstimator):
    """Supervised PCA of labels as numbers, in microseconds."""

    def fit(self, X, y):
        y = y.reshape(len(y), -1)
        self.components_ = np.linalg.svd(X.T @ (y - y.mean(axis=0)))[0][:, :2]
        return self

    def transform(self, X):
        return X @ self.components_


# Judges: whether there is evidence ---------------------------------------------------------------


def counts(model, weight=None, missing=False):
    """n_components="auto"; `weight` is a function of X, y and a generator."""

    def judge(X, y, draw, seed):
        given = None if weight is None else weight(X, y, draw)
        if missing:  # as unlabelled rows often are, unlike the others
            y = np.where(X[:, 0] + draw.normal(size=len(X)) > 0.5, -1, y)
            model.set_params(missing_label=-1)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model.set_params(n_components="auto", random_state=seed).fit(X, y, given)
        return not any("shuffled" in str(one.message) for one in told)

    return judge


def reports(model):
    def judge(X, y, draw, seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = permutation_report(
                model, X, y, n_permutations=19, cv=2, max_rows=240, random_state=seed
            )
        return report.evidence

    return judge


def tests(X, y, draw, seed):
    return hsic_test(X, y, n_permutations=39, random_state=seed).pvalue <= LEVEL


def by_label(X, y, draw):
    return np.array([1, 8, 16])[y]


def by_row(X, y, draw):
    return np.exp(X[:, 0])


def by_neither(X, y, draw):
    return draw.exponential(size=len(X))


AUTO = {
    "classes": (classes, SupervisedPCA()),
    "a rare class": (rare, SupervisedPCA()),
    "numbers": (numbers, SupervisedPCA(label_kernel="rbf")),
    "several columns of classes": (several_classes, SupervisedPCA()),
    "several columns of numbers": (several_numbers, SupervisedPCA()),
    "indicators": (indicators, SupervisedPCA()),
    "copies": (copies, SupervisedPCA()),
    "rows drawn again": (drawn_again, SupervisedPCA()),
    "few values": (few_values, SupervisedPCA()),
    "balanced classes": (rare, SupervisedPCA(class_weight="balanced")),
    "weighted classes, whitened": (
        rare, SupervisedPCA(class_weight={0: 1, 1: 8, 2: 16}, shrinkage=0.1)
    ),
    "balanced classes, kernel": (rare, KernelSupervisedPCA(
        n_random_features=32, class_weight="balanced", scale="standard"
    )),
    "weights by label": (rare, SupervisedPCA(), by_label),
    "weights by row": (rare, SupervisedPCA(), by_row),
    "weights by neither": (rare, SupervisedPCA(class_weight="balanced"), by_neither),
    "weights by number": (
        numbers, SupervisedPCA(label_kernel="rbf"), lambda X, y, draw: np.exp(np.tanh(y))
    ),
    "unlabelled rows": (classes, SupervisedPCA(), None, True),
    "unlabelled rows, balanced": (rare, SupervisedPCA(class_weight="balanced"), None, True),
    "a chosen gamma": (classes, KernelSupervisedPCA(n_random_features=32, gamma="auto")),
}  # fmt: skip
REPORTED = {
    "classes": (classes, Cross()),
    "a rare class, balanced": (rare, SupervisedPCA(2, class_weight="balanced")),
    "several columns of classes": (several_classes, Cross()),
    "several columns of numbers": (several_numbers, Cross()),
    "copies": (copies, Cross()),
    "rows drawn again": (drawn_again, Cross()),
}
TESTED = (classes, rare, numbers, several_classes, several_numbers, indicators, copies,
          drawn_again, few_values)  # fmt: skip


def cases():
    for name, (make, *how) in AUTO.items():
        yield f"n_components='auto', {name}", make, counts(*how)
    for name, (make, model) in REPORTED.items():
        yield f"permutation_report, {name}", make, reports(model)
    for make in TESTED:
        yield f"hsic_test, {make.__name__.replace('_', ' ')}", make, tests


def run(tally):
    sets = LONG if tally.long else SHORT
    most = int(binom.ppf(0.999, sets, LEVEL))
    for name, make, judge in cases():
        found = 0
        for seed in range(sets):
            draw = np.random.default_rng([seed, sets])
            found += bool(judge(*make(draw), draw, seed))
        if tally.long:
            print(f"    {name:<52} {found:>3} of {sets}, at most {most}", flush=True)
        fault = f"evidence in {found} of {sets} sets of noise, and {most} are allowed"
        tally.check(name, fault if found > most else None)
