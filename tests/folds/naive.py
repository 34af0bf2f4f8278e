"""What the judge is shown, and the naive way: every candidate fitted on every fold."""

from __future__ import annotations

from itertools import count
from threading import Lock

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from labelens._fit.batch import read_batch
from labelens._fit.folds import cross_validate

FOLDS = 4


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
