"""A cluster of two workers; models and rows of a size that they share."""

import numpy as np
from sklearn.base import clone

from engines.here import Here, cut
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens._fit.driver import fit_rows

SRP, KSRP = SupervisedRandomProjection, KernelSupervisedRandomProjection
N, D, SIZES = 5000, 6, (1700, 800, 1, 1475, 1024)
ENDS = np.cumsum(SIZES).tolist()
MODELS = [
    SupervisedPCA(2),
    SRP(2, target_weight=0.5, random_state=0),
    SupervisedPCA(2, target_weight=0.5, shrinkage=0.1, scale="minmax"),
    SupervisedPCA(2, class_weight="balanced"),
    KernelSupervisedPCA(2, n_random_features=64, random_state=0),
    KSRP(2, gamma="median", scale="minmax", n_random_features=64, random_state=0),
    KSRP(2, approximation="nystroem", n_random_features=64, random_state=0),
]


def local_cluster():
    import distributed

    return distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=50,
    )


def one_machine(model, *arrays, ends=ENDS):
    model = clone(model)
    fit_rows(model, Here(cut(ends, *arrays)))
    return model


def assert_close(model, other):
    scale = np.abs(other.components_).max()
    np.testing.assert_allclose(
        model.components_ / scale, other.components_ / scale, rtol=0, atol=1e-12
    )
    assert model.n_samples_seen_ == other.n_samples_seen_
