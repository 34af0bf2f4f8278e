"""What test_arrays.py runs on the host and test_gpu.py on a card."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)

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
    KernelSupervisedPCA(2, random_state=0, approximation="exact", label_shrinkage=0.1),
    KernelSupervisedPCA(2, random_state=0, n_random_features=40, gamma="median"),
    KernelSupervisedPCA("auto", random_state=0, n_random_features=40, gamma="auto"),
]
