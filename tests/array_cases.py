"""What test_arrays.py runs on the host and test_gpu.py on a card."""

from dataclasses import fields, is_dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import labelens
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens._base import devices

ELSEWHERE = ("cuda", "mps", "xpu", "cupy", "dpnp")
METHODS = [
    SupervisedPCA,
    SupervisedRandomProjection,
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
]


def on_the_host(check):
    return not any(name in repr(check.keywords) for name in ELSEWHERE)


def is_array_check(check):
    while hasattr(check, "func"):
        check = check.func
    return "array_api" in check.__name__


def array_checks(wanted):
    for method in METHODS:
        for estimator, check in estimator_checks_generator(method()):
            if is_array_check(check) and wanted(check):
                spelled = " ".join(map(str, check.keywords.values()))
                yield pytest.param(estimator, check, id=f"{method.__name__} {spelled}")


def distance(A, B):
    """The sine of the largest angle between two spans of columns."""
    left, right = (np.linalg.qr(Z.astype(np.float64) - Z.mean(0))[0] for Z in (A, B))
    return np.linalg.norm(left - right @ (right.T @ left), 2)


def named(model):
    changed = {k: v for k, v in model.get_params().items() if v != type(model)().get_params()[k]}
    return f"{type(model).__name__} {changed}"


# Methods with parameters that go different ways ---------------------------------------------------

LINEAR = [
    SupervisedPCA(2),
    SupervisedPCA(5, target_weight=0.5),
    SupervisedPCA(2, shrinkage=0.1),
    SupervisedPCA(2, shrinkage=0.1, label_shrinkage=0.1),
    SupervisedPCA(2, shrinkage="auto", scale="standard"),
    SupervisedPCA(4, target_weight=0.7, shrinkage=0.2, scale="minmax"),
    SupervisedPCA(1, target_weight=0.7, shrinkage=0.2),
    SupervisedRandomProjection(2, random_state=0),
    SupervisedRandomProjection(2, random_state=0, label_map="gaussian"),
    SupervisedRandomProjection(5, random_state=0, target_weight=0.6),
    SupervisedRandomProjection(2, random_state=0, shrinkage=0.1, scale="minmax"),
]
KERNEL = [
    *(
        method(2, random_state=0, n_random_features=61, approximation=approximation)
        for method in (KernelSupervisedPCA, KernelSupervisedRandomProjection)
        for approximation in ("fourier", "orthogonal", "fastfood", "nystroem", "exact")
    ),
    *(
        KernelSupervisedPCA(2, random_state=0, approximation="exact", kernel=kernel)
        for kernel in ("laplacian", "matern", "polynomial", "linear")
    ),
    KernelSupervisedPCA(2, random_state=0, n_random_features=40, kernel="polynomial"),
    KernelSupervisedPCA(2, random_state=0, n_random_features=40, shrinkage=0.01, scale="standard"),
    KernelSupervisedPCA(2, approximation="exact", shrinkage=0.1),
    KernelSupervisedPCA(
        2, random_state=0, n_random_features=40, approximation="falkon", shrinkage=0.1
    ),
    KernelSupervisedPCA(2, random_state=0, approximation="exact", label_shrinkage=0.1),
    KernelSupervisedPCA(2, random_state=0, n_random_features=40, gamma="median"),
    KernelSupervisedPCA("auto", random_state=0, n_random_features=40, gamma="auto"),
]

# Everything public that takes rows ----------------------------------------------------------------

# What makes a call small, where a function has such a parameter.
SMALL = {
    "n_permutations": 19, "n_resamples": 3, "n_draws": 2, "random_state": 0, "estimators":
    [SupervisedPCA(2), KernelSupervisedPCA(2, approximation="exact")],
    "grid": {"gamma": [0.01, 0.1], "shrinkage": [1e-2]},
}  # fmt: skip
ESTIMATOR = {"approximation_report": SupervisedRandomProjection(2), None: SupervisedPCA(2)}
CLASS = {"Atlas": SupervisedPCA(2), "Wheel": SupervisedPCA(2)}
# Two matrices, or a model first.
OTHERWISE = {
    "knn_score": lambda f, X, y: f(X, y, X, y),
    "subspace_distance": lambda f, X, y: f(X[:2, :], X[1:3, :]),
    "transform": lambda f, X, y: _through_a_file(f, SupervisedPCA(2).fit(X, y), X),
    "importances": lambda f, X, y: f(SupervisedPCA(2).fit(X, y), X, y),
    "fit": lambda f, X, y: f(SupervisedPCA(2), X, label=y),
}
CANNOT = {"explore": "needs an array in host memory"}


def public_calls():
    """Name and call of everything public that takes rows."""
    for name in labelens.__all__:
        one = getattr(labelens, name)
        if name in OTHERWISE:
            yield name, partial(OTHERWISE[name], one)
        elif hasattr(one, "fit"):
            yield name, partial(_fit_and_transform, one, CLASS.get(name))
        elif "X" in (names := signature(one).parameters):
            given = {key: value for key, value in SMALL.items() if key in names}
            if "estimator" in names:
                given["estimator"] = ESTIMATOR.get(name, ESTIMATOR[None])
            yield name, lambda X, y, one=one, given=given: one(X=X, y=y, **given)


def _through_a_file(transform, model, X):
    with TemporaryDirectory() as folder:
        return np.load(transform(model, X, Path(folder) / "Z.npy"))


def _fit_and_transform(method, estimator, X, y):
    parameters = {"random_state": 0} if "random_state" in signature(method).parameters else {}
    return method(**parameters, **({"estimator": estimator} if estimator else {})).fit(X, y), X


def compared(known, found, place):
    """Assert that what a call gave for rows of NumPy and of another library says the same."""
    if isinstance(known, tuple):  # a fitted model and rows
        Z = found[0].transform(found[1])
        assert devices.place_of(Z) == place
        assert distance(known[0].transform(known[1]), devices.host(Z)) < 1e-6
    elif hasattr(known, "transform"):
        assert type(found) is type(known)
    elif is_dataclass(known):
        for field in fields(known):
            compared(getattr(known, field.name), getattr(found, field.name), place)
    elif isinstance(known, (float, np.ndarray)):
        np.testing.assert_allclose(devices.host(found), known, rtol=1e-6, atol=1e-6)
    elif not isinstance(known, (dict, list)):
        assert found == known
