"""What the experiments share: data as the paper has it, the methods, and the choice of sigma_X."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA, KernelPCA
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler

from labelens._base.threads import cached_property
from labelens.datasets import (
    load_ionosphere,
    load_mnist,
    load_sonar,
    make_spirals,
    make_xor,
    train_test_rows,
)
from labelens.methods import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)

METHODS = ("SPCA", "SRP", "KSPCA", "KSRP")
LITERAL = ", sigma_Y = 1e-10"  # random features of that RBF kernel on the labels, as written
EXACT_KSRP = "KSRP, exact K"  # "we can use the actual kernel K instead of an approximate"
K_X = 1000  # random features of the data kernel, as in the paper
TARGET_WEIGHT = 0.9  # where more than c - 1 components are asked for
FOLDS = 10


@dataclass(frozen=True)
class Split:
    """Training and test rows; `scale` is how the methods bring columns to [0, 1], if need be."""

    name: str
    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]
    scale: str | None = "minmax"

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.y_train))

    @cached_property
    def unit_rows(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Training and test rows in [0, 1]."""
        if self.scale is None:
            return self.X_train, self.X_test
        scaler = MinMaxScaler().fit(self.X_train)
        return scaler.transform(self.X_train), scaler.transform(self.X_test)


@dataclass(frozen=True)
class Lab:
    """One reproduction: its seed, its size, and where MNIST is."""

    seed: int = 0
    quick: bool = False
    data: Path | None = None

    @property
    def runs(self) -> int:
        return 2 if self.quick else 30

    @property
    def mnist_runs(self) -> int:
        return 2 if self.quick else 5

    @cached_property
    def mnist(self) -> Any:
        """A Bunch; FileNotFoundError where there is none."""
        if self.data is None:
            return load_mnist()
        within = self.data / "mnist"
        return load_mnist(within if within.is_dir() else self.data)

    def split(self, name: str, run: int = 0) -> Split:
        """Fresh rows or a fresh 70/30 split in every run; MNIST has its own."""
        seed = self.seed * 1000 + run
        if name == "MNIST":
            X, y, n = self.mnist.data, self.mnist.target, self.mnist.n_train
            return Split(name, X[:n], y[:n], X[n:], y[n:], scale=None)  # pixels / 255
        make = {"XOR": make_xor, "Spirals": make_spirals, "Spirals, not scaled": make_spirals}
        load = {"Sonar": load_sonar, "Ionosphere": load_ionosphere}
        X, y = make[name](random_state=seed) if name in make else load[name](return_X_y=True)
        train, test = train_test_rows(len(X), seed)
        scale = None if name.endswith("not scaled") else "minmax"
        return Split(name, X[train], y[train], X[test], y[test], scale)


def make_method(
    method: str, k: int, split: Split, gamma: float | None, seed: int, target_weight: float = 1.0
) -> Any:
    """A method with the paper's settings: delta label kernel, k_x = 1000, the exact K for KSPCA."""
    common: dict[str, Any] = dict(n_components=k, scale=split.scale, target_weight=target_weight)
    kernel: dict[str, Any] = dict(gamma=gamma, n_random_features=K_X, random_state=seed)
    if method == "SPCA":
        return SupervisedPCA(**common)
    if method == "SRP":
        return SupervisedRandomProjection(**common, random_state=seed)
    if method.endswith(LITERAL):
        model = make_method(method.removesuffix(LITERAL), k, split, gamma, seed, target_weight)
        return model.set_params(label_map="fourier")
    if method == "KSPCA":
        # Beyond the labels there is variance, which the exact kernel has no features for.
        approximation = "exact" if target_weight == 1 else "orthogonal"
        return KernelSupervisedPCA(approximation=approximation, **common, **kernel)
    if method.startswith("KSRP"):
        approximation = "exact" if method == EXACT_KSRP else "fourier"
        return KernelSupervisedRandomProjection(approximation=approximation, **common, **kernel)
    scaler = MinMaxScaler() if split.scale else "passthrough"
    if method == "PCA":
        return make_pipeline(scaler, PCA(k))
    return make_pipeline(scaler, KernelPCA(k, kernel="rbf", gamma=gamma))


def choose_gamma(method: str, k: int, split: Split, lab: Lab, seed: int) -> float | None:
    """1 / (2 sigma_X^2) by 10-fold cross-validation of 1-NN, around the median distance.

    On 1000 rows at most. Labels choose the width for kernel PCA too, as they do in the paper.
    """
    if not method.startswith("K"):
        return None
    some = np.random.default_rng(seed).permutation(len(split.X_train))[:1000]
    rows, labels = split.unit_rows[0][some], split.y_train[some]
    distances = euclidean_distances(rows[:300])[np.triu_indices(len(rows[:300]), 1)]
    choices = 2.0 ** np.arange(-3, 6, 2 if lab.quick else 1) / (2 * np.median(distances) ** 2)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    k = k if method == "KPCA" else min(k, split.n_classes - 1)
    model = make_method(method, k, split, 1.0, seed)
    chain = Pipeline([("embedding", model), ("1-NN", KNeighborsClassifier(1))])
    name = "embedding__kernelpca__gamma" if method == "KPCA" else "embedding__gamma"
    # Two processes: the rows are few, so threads would have nothing to share.
    search = GridSearchCV(chain, {name: choices}, cv=folds, n_jobs=2, refit=False)
    return float(search.fit(split.X_train[some], labels).best_params_[name])


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warning that two classes span one direction: the experiments ask for more."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Only .* components carry information")
        yield


@dataclass(frozen=True)
class Task:
    """A piece of an experiment that is done or not; its name starts with the experiment's."""

    name: str
    run: Callable[[], list[dict[str, Any]]]


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and the seconds it took."""
    start = perf_counter()
    result = function()
    return result, perf_counter() - start
