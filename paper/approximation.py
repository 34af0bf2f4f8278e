"""What is random, against what it stands for: Claim 1, the data kernel, and PCA where L = I."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel

from labelens._core.kernels import make_kernel
from labelens._core.maps import make_feature_map
from labelens.methods import SupervisedPCA, SupervisedRandomProjection

from .lab import Lab, Task, quiet

COMPONENTS = (1, 2, 3, 5, 7, 9, 12, 20, 40)
FEATURES = (32, 64, 128, 256, 512, 1024, 2048, 4096)


def claim_tasks(lab: Lab) -> Iterator[Task]:
    """Claim 1 on scikit-learn's digits: ten classes, at hand everywhere."""
    for label_map in ("orthogonal", "gaussian", "fourier"):
        yield Task(f"claim1/{label_map}", partial(_claim, lab, label_map))


def _claim(lab: Lab, label_map: str) -> list[dict[str, Any]]:
    X, y = load_digits(return_X_y=True)
    records = []
    for k in COMPONENTS:
        with quiet():
            exact = SupervisedPCA(min(k, 9)).fit(X, y)
            # Z_1 scaled by Sigma^(1/2): the singular values of C_xy are the roots of Q's.
            wanted = exact.transform(X) * exact.singular_values_
            for seed in range(lab.seed, lab.seed + (5 if lab.quick else 20)):
                model = SupervisedRandomProjection(k, label_map=label_map, random_state=seed)
                residual = procrustes_residual(model.fit(X, y).transform(X), wanted)
                found = dict(dataset="digits", label_map=label_map, k=k, seed=seed, n_classes=10)
                records.append(found | dict(residual=residual))
    return records


def procrustes_residual(Z: Any, wanted: Any) -> float:
    """What is left of one embedding after the best rotation and scale of the other; 0 to 1."""
    Z, wanted = (A - A.mean(axis=0) for A in (Z, wanted))
    sizes = np.linalg.norm(Z), np.linalg.norm(wanted)
    if not all(sizes):
        return 1.0
    left, _, right = np.linalg.svd(wanted.T @ Z, full_matrices=False)
    turned = Z @ (right.T @ left.T)
    # Not 1 - overlap^2, which would lose half of the digits.
    overlap = np.sum(turned * wanted) / sizes[0] ** 2
    return float(np.linalg.norm(wanted - overlap * turned) / sizes[1])


def kernel_tasks(lab: Lab) -> Iterator[Task]:
    for dataset in ("Ionosphere", "Sonar"):
        for approximation in ("fourier", "orthogonal", "fastfood", "nystroem"):
            name = f"kernel_error/{dataset}/{approximation}"
            yield Task(name, partial(_kernel_error, lab, dataset, approximation))


def _kernel_error(lab: Lab, dataset: str, approximation: str) -> list[dict[str, Any]]:
    rows = lab.split(dataset).unit_rows[0]
    kernel = make_kernel("rbf", 0.5, None)
    truth, records = rbf_kernel(rows, gamma=0.5), []
    for n_features in FEATURES:
        if approximation == "nystroem" and n_features > len(rows):
            break  # there are no more landmarks
        for seed in range(lab.seed, lab.seed + (3 if lab.quick else 10)):
            phi = make_feature_map(approximation, kernel, rows, n_features, seed)
            assert phi is not None
            features = phi(rows)
            error = float(np.sqrt(np.mean((features @ features.T - truth) ** 2)))
            found = dict(dataset=dataset, approximation=approximation, n_features=n_features)
            records.append(found | dict(seed=seed, error=error))
    return records


def unlabelled_tasks(lab: Lab) -> Iterator[Task]:
    yield Task("unlabelled/digits", partial(_unlabelled, lab))


def _unlabelled(lab: Lab) -> list[dict[str, Any]]:
    """The share of variance in the span of the components: randomized PCA and PCA."""
    X, _ = load_digits(return_X_y=True)
    centred, records = X - X.mean(axis=0), []
    total = float(np.sum(centred**2))
    for k in (1, 2, 5, 10, 20, 40):
        captured = float(PCA(k, svd_solver="full").fit(X).explained_variance_ratio_.sum())
        records.append(dict(k=k, seed=0, method="PCA", captured=captured))
        for seed in range(lab.seed, lab.seed + (5 if lab.quick else 20)):
            model = SupervisedRandomProjection(k, random_state=seed).fit(X)
            basis = np.linalg.qr(model.components_.T)[0]
            captured = float(np.sum((centred @ basis) ** 2)) / total
            found = dict(k=k, seed=seed, method="SRP without labels")
            records.append(found | dict(captured=captured))
    return records
