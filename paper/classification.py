"""Figure 2: 1-NN accuracy and fit time against the number of components.

Beyond c - 1 components the labels have nothing more to say. Three devices are shown: "plain" stops
there; "label noise" is the paper's, in its own formulas: noise is added to the labels, and the
narrow RBF kernel then tells every row from every other; "target_weight" is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import LabelEncoder

from labelens._judge.metrics import knn_score

from . import literal
from .lab import (
    EXACT_KSRP,
    K_X,
    LITERAL,
    METHODS,
    TARGET_WEIGHT,
    Lab,
    Split,
    Task,
    choose_gamma,
    make_method,
    quiet,
    timed,
)

COMPONENTS = {
    "XOR": (1, 2, 3, 5, 8, 10),
    "Sonar": (1, 2, 4, 8, 16, 32),
    "Ionosphere": (1, 2, 4, 8, 16, 32),
}
MNIST_COMPONENTS = (1, 2, 3, 5, 7, 9)
MNIST_MORE = (12, 20, 30)
# Standard deviation of the noise on labels that are whole numbers.
LABEL_NOISE = 0.1


def tasks(lab: Lab) -> Iterator[Task]:
    for run in range(lab.runs):
        for dataset in COMPONENTS:
            name = f"classification/{dataset}/{run:03}"
            yield Task(name, partial(_small, lab, dataset, run))
    for run in range(lab.runs):
        for dataset in COMPONENTS:
            name = f"classification/{dataset}{LITERAL}/{run:03}"
            yield Task(name, partial(_literal, lab, dataset, run, 1))
    yield from _mnist_tasks(lab)
    for run in range(lab.mnist_runs):
        name = f"classification/MNIST/{LITERAL}/{run:03}"
        yield Task(name, partial(_literal, lab, "MNIST", run, 9))


def _literal(lab: Lab, dataset: str, run: int, k: int) -> list[dict[str, Any]]:
    """The delta kernel by random features of a narrow RBF kernel; the exact one is above."""
    split, seed = lab.split(dataset, run), lab.seed * 1000 + run
    return [
        _fitted(
            split,
            method + LITERAL,
            "plain",
            k,
            run,
            choose_gamma(method, k, split, lab, seed),
            seed,
            1.0,
        )
        for method in ("SRP", "KSRP")
    ]


def _record(split: Split, method: str, device: str, k: int, run: int, **figures: Any) -> dict:
    return dict(dataset=split.name, method=method, device=device, k=k, run=run, **figures)


def _small(lab: Lab, dataset: str, run: int) -> list[dict[str, Any]]:
    split, seed = lab.split(dataset, run), lab.seed * 1000 + run
    records = []
    for method in METHODS:
        gamma = choose_gamma(method, 1, split, lab, seed)
        for k in COMPONENTS[dataset]:
            if k <= max(2, split.n_classes - 1):
                records.append(_fitted(split, method, "plain", k, run, gamma, seed, 1.0))
            else:
                weight = TARGET_WEIGHT
                records.append(_fitted(split, method, "target_weight", k, run, gamma, seed, weight))
        if method == "KSPCA":
            exact = partial(_fitted, split, EXACT_KSRP, "plain")
            records += [exact(k, run, gamma, seed, 1.0) for k in (1, 2)]
        more = [k for k in COMPONENTS[dataset] if k >= split.n_classes]
        records += _with_noise(split, method, more, run, gamma, seed)
    return records


def _fitted(
    split: Split,
    method: str,
    device: str,
    k: int,
    run: int,
    gamma: float | None,
    seed: int,
    target_weight: float,
) -> dict[str, Any]:
    model = make_method(method, k, split, gamma, seed, target_weight)
    with quiet():
        model.fit(split.X_train, split.y_train)  # loads and compiles
        _, seconds = timed(lambda: model.fit(split.X_train, split.y_train))
    train, test = model.transform(split.X_train), model.transform(split.X_test)
    accuracy = knn_score(train, split.y_train, test, split.y_test)
    return _record(split, method, device, k, run, accuracy=accuracy, fit_seconds=seconds)


def _with_noise(
    split: Split, method: str, ks: list[int], run: int, gamma: float | None, seed: int
) -> list[dict[str, Any]]:
    draw = np.random.default_rng(seed)
    rows, test = split.unit_rows
    numbers = LabelEncoder().fit_transform(split.y_train)
    noisy = numbers + LABEL_NOISE * draw.standard_normal(len(numbers))
    features, test_features = rows, test
    if method == "KSRP":
        assert gamma is not None
        sigma = 1 / np.sqrt(2 * gamma)
        both = literal.fourier_features(np.vstack([rows, test]), sigma, K_X, draw)
        features, test_features = both[: len(rows)], both[len(rows) :]
    elif method == "KSPCA":
        features, test_features = (rbf_kernel(a, rows, gamma=gamma) for a in (rows, test))
    if method in ("SRP", "KSRP"):

        def project(k: int) -> Any:
            return literal.srp(features, literal.label_features(noisy, k, draw))

        projectors = [timed(partial(project, k)) for k in ks]
    else:  # fewer eigenvectors are the first of more, and cost the same
        solve = literal.spca if method == "SPCA" else literal.kspca
        whole, seconds = timed(lambda: solve(features, literal.narrow_kernel(noisy), max(ks)))
        projectors = [(whole[:, :k], seconds) for k in ks]
    records = []
    for k, (projector, seconds) in zip(ks, projectors, strict=True):
        train, embedded = features @ projector, test_features @ projector
        accuracy = knn_score(train, split.y_train, embedded, split.y_test)
        figures = dict(accuracy=accuracy, fit_seconds=seconds)
        records.append(_record(split, method, "label noise", k, run, **figures))
    return records


# MNIST ---------------------------------------------------------------------------------------


def _mnist_tasks(lab: Lab) -> Iterator[Task]:
    ks = (2, 9) if lab.quick else MNIST_COMPONENTS
    for run in range(lab.mnist_runs):
        for method in ("SPCA", "SRP", "KSRP"):
            if method == "SPCA" and run:
                continue  # nothing about it is random, nor is the split
            name = f"classification/MNIST/{method}/{run:03}"
            yield Task(name, partial(_mnist, lab, method, run, ks))
    yield Task("classification/MNIST/KSPCA/000", partial(_mnist_exact, lab, "KSPCA", ks))
    if not lab.quick:
        name = f"classification/MNIST/{EXACT_KSRP}/000"
        yield Task(name, partial(_mnist_exact, lab, EXACT_KSRP, (9,)))


def _mnist(lab: Lab, method: str, run: int, ks: tuple[int, ...]) -> list[dict[str, Any]]:
    split, seed = lab.split("MNIST"), lab.seed * 1000 + run
    gamma = choose_gamma(method, 9, split, lab, seed)
    records = [_fitted(split, method, "plain", k, run, gamma, seed, 1.0) for k in ks]
    if run == 0 and not lab.quick and method != "KSRP":
        more = partial(_fitted, split, method, "target_weight")
        records += [more(k, run, gamma, seed, TARGET_WEIGHT) for k in MNIST_MORE]
    return records


def _mnist_exact(lab: Lab, method: str, ks: tuple[int, ...]) -> list[dict[str, Any]]:
    """One fit: fewer components of KSPCA are the first of more, and cost the same."""
    split = lab.split("MNIST")
    gamma = choose_gamma("KSPCA", 9, split, lab, lab.seed)
    model = make_method(method, max(ks), split, gamma, lab.seed)
    _, seconds = timed(lambda: model.fit(split.X_train, split.y_train))
    train, test = model.transform(split.X_train), model.transform(split.X_test)
    return [
        _record(
            split,
            method,
            "plain",
            k,
            0,
            accuracy=knn_score(train[:, :k], split.y_train, test[:, :k], split.y_test),
            fit_seconds=seconds,
        )
        for k in ks
    ]
