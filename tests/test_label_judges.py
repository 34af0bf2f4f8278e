"""Everything that judges an embedding takes the classes that `fit` takes."""

import datetime
from decimal import Decimal
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

from labelens import (
    KernelSupervisedPCA,
    SupervisedPCA,
    approximation_report,
    cross_embed,
    knn_score,
    permutation_report,
    select,
    stability_report,
)
from labelens._judge.trial import try_out

N = 90
NUMBER = np.arange(N) % 3
KERNEL = KernelSupervisedPCA(2, n_random_features=32, random_state=0)


def objects(labels):
    box = np.empty(3, dtype=object)
    box[:] = labels
    return box[NUMBER]


# Every type stands for 0, 1, 2 in this order.
CLASSES = {
    "datetime64": np.datetime64("2024-01-01") + NUMBER,
    "nanoseconds": (np.datetime64("2024-01-01") + NUMBER).astype("M8[ns]"),
    "date": objects([datetime.date(2024, 1, 1 + i) for i in range(3)]),
    "timedelta64": NUMBER.astype("m8[s]"),
    "Decimal": objects([Decimal("0.0"), Decimal("0.1"), Decimal("0.2")]),
    "bytes": np.array([b"a", b"b", b"c\xff"])[NUMBER],
    "bytes as objects": objects([b"a", b"b\0", b"c\xff"]),
    "above int64": objects([2**63, 2**63 + 1, 2**63 + 2]),
    "above uint64": objects([2**70, 2**70 + 1, 2**70 + 2]),
    "time": objects([datetime.time(i) for i in range(3)]),
}
JUDGES = {
    "cross_embed": lambda X, y: cross_embed(SupervisedPCA(2), X, y, random_state=0).fitted,
    "permutation_report": lambda X, y: (
        permutation_report(SupervisedPCA(2), X, y, n_permutations=19, random_state=0).null_score
    ),
    "select": lambda X, y: select(X, y, cv=2, random_state=0).score,
    "gamma": lambda X, y: clone(KERNEL).set_params(gamma="auto").fit(X, y).components_,
    "n_components": lambda X, y: SupervisedPCA("auto", random_state=0).fit(X, y).components_,
    "stability_report": lambda X, y: (
        stability_report(SupervisedPCA(2), X, y, n_resamples=4, random_state=0).rows.angles
    ),
    "approximation_report": lambda X, y: approximation_report(KERNEL, X, y, random_state=0).angles,
    "knn_score": lambda X, y: knn_score(X[:60], y[:60], X[60:], y[60:]),
    "try_out": lambda X, y: try_out(SupervisedPCA(2), X, y, 0).each[0].confusion[1],
}


X = np.random.default_rng(20240611).normal(size=(N, 5))
X[:, 0] += 2 * NUMBER
X.flags.writeable = False


@cache
def of_numbers(judge):
    return judge(X, NUMBER)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
@pytest.mark.parametrize("labels", CLASSES.values(), ids=CLASSES)
def test_every_type_of_class_is_judged_alike(judge, labels):
    np.testing.assert_array_equal(judge(X, labels), of_numbers(judge))
