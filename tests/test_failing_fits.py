"""A call that fails leaves a fitted estimator as it was."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

import labelens
from labelens import Atlas, KernelSupervisedPCA, SupervisedPCA, ValueMap, Wheel

# Every public estimator: one that is added must be tried here too.
PUBLIC = [
    value
    for value in (getattr(labelens, name) for name in labelens.__all__)
    if isinstance(value, type) and issubclass(value, BaseEstimator)
]


class Fails(SupervisedPCA):
    """Embeds rows of five columns only, and finds that out late."""

    def transform(self, X):
        if X.shape[1] != 5:
            raise OSError("Something else has gone wrong.")
        return super().transform(X)


MODELS = {method.__name__: lambda m=method: m(random_state=0) for method in PUBLIC} | {
    "exact": lambda: KernelSupervisedPCA(approximation="exact"),
    "auto": lambda: KernelSupervisedPCA("auto", gamma="auto", random_state=0),
    "wheel that embeds": lambda: Wheel(Fails()),
    # Without an estimator they compare many: what is tried here is the fit itself.
    "Atlas": lambda: Atlas(SupervisedPCA(), random_state=0),
    "ValueMap": lambda: ValueMap(SupervisedPCA(), random_state=0),
}


@pytest.fixture
def rows(rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 5))
    X[:, :3] += 3 * np.eye(3)[y]
    return X, y


def bad_calls(X, y):
    """Arguments that fail at once, and some that fail late."""
    wide = np.hstack([X, X])
    hole = X.copy()
    hole[-1, -1] = np.nan
    return {
        "NaN in other columns": (np.hstack([hole, X]), y),
        "NaN": (hole, y),
        "too large": (wide * 1e300, y),
        "one class": (wide, np.zeros(60, dtype=int)),
        "too few labels": (wide, y[:-1]),
        "labels of many kinds": (wide, np.array([1, "a", 2.5] * 20, dtype=object)),
        "broken rows": (sparse.csr_array((np.ones(60), np.full(60, 9), np.arange(61))), y[:3]),
        "no rows": (X[:0], y[:0]),
    }


def failed(model, name, arguments):
    """Whether a call fails, and whether all is as it was then."""
    before = dict(vars(model))
    try:
        getattr(model, name)(*arguments)
    except Exception:
        after = vars(model)
        assert after.keys() == before.keys(), name
        assert all(after[key] is before[key] for key in before), name
        return True
    return False


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_a_call_that_fails_changes_nothing(rows, name):
    X, y = rows
    some = 0
    for what in ("fit", "partial_fit"):
        for arguments in bad_calls(X, y).values():
            model = MODELS[name]().fit(X, y)
            if hasattr(model, what):
                shown = model.transform(X)
                if failed(model, what, arguments):
                    some += 1
                    np.testing.assert_array_equal(model.transform(X), shown)
    assert some >= 5
    if hasattr(model, "merge"):
        model = MODELS[name]().fit(X, y)
        assert failed(model, "merge", [MODELS[name]().fit(np.hstack([X, X]), y)])
        assert failed(model, "merge", [MODELS[name]()])


def test_a_wheel_with_wrong_parameters_turns_as_before(rows):
    X, y = rows
    wheel = Wheel(random_state=0).fit(X, y)
    shown = wheel.transform(X)
    wheel.set_params(temperature=-1)
    assert failed(wheel, "fit", (np.hstack([X, X]), y))
    np.testing.assert_array_equal(wheel.transform(X), shown)
    wheel.set_params(temperature="auto", estimator=Fails())
    assert failed(wheel, "fit", (np.hstack([X, X]), y))
    np.testing.assert_array_equal(wheel.transform(X), shown)
