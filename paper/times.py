"""Fit times three ways, and how they grow: the paper's Table 1, measured.

"Formulas as written" are the paper's, with n x n matrices, everything included. "The authors'
clock" stops before the last product, X H Psi^T for SRP and KSRP: it times the random features
alone. "labelens" is a whole `fit`, validation included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.extmath import randomized_svd

from . import literal
from .lab import K_X, METHODS, Lab, Split, Task, make_method, quiet, timed

WRITTEN, AUTHORS, OURS = "formulas as written", "the authors' clock", "labelens"
GAMMA = 0.05
REPEATS = 7
LONG = 0.2  # seconds


def _rows(n: int, d: int, c: int = 10) -> tuple[Any, Any]:
    """Rows of c classes that overlap."""
    draw = np.random.default_rng([n, d])
    y = draw.integers(0, c, n)
    return draw.normal(size=(c, d))[y] / 2 + draw.normal(size=(n, d)), y


def _as_written(method: str, X: Any, y: Any, k: int, clock: str) -> Callable[[], object]:
    draw, sigma = np.random.default_rng(0), 1 / np.sqrt(2 * GAMMA)
    stop = clock == AUTHORS

    def srp() -> object:
        psi = literal.label_features(y, k, draw)
        return psi if stop else literal.srp(X, psi)

    def ksrp() -> object:
        phi, psi = literal.fourier_features(X, sigma, K_X, draw), literal.label_features(y, k, draw)
        return psi if stop else literal.ksrp(phi, psi)

    def randomized() -> object:
        H = literal.centring(len(X))
        return randomized_svd(X.T @ H @ literal.delta_kernel(y) @ H @ X, k, random_state=0)

    return {
        "SPCA": lambda: literal.spca(X, literal.delta_kernel(y), k),
        "SPCA, randomized SVD": randomized,
        "SRP": srp,
        "KSPCA": lambda: literal.kspca(rbf_kernel(X, gamma=GAMMA), literal.delta_kernel(y), k),
        "KSRP": ksrp,
    }[method]


def _ours(method: str, X: Any, y: Any, k: int) -> Callable[[], object]:
    split = Split("", X, y, X, y, scale=None)
    return lambda: make_method(method, k, split, GAMMA, 0).fit(X, y)


def _job(method: str, way: str, n: int, d: int, k: int) -> Callable[[], object]:
    # With k classes or fewer there would be nothing left to find.
    X, y = _rows(n, d, max(10, k + 1))
    return _ours(method, X, y, k) if way == OURS else _as_written(method, X, y, k, way)


def _seconds(job: Callable[[], object]) -> list[float]:
    """Some times, without the first, which loads and compiles; few of a job that takes long."""
    with quiet():
        first = timed(job)[1]
        if first > 10 * LONG:
            return [first]
        return [timed(job)[1] for _ in range(1 if first > LONG else REPEATS)]


def tasks(lab: Lab) -> Iterator[Task]:
    """Three ways."""
    for n in (250, 500, 1000) if lab.quick else (250, 500, 1000, 2000):
        for method in (*METHODS, "SPCA, randomized SVD"):
            name = f"times/{n}/{method}"
            yield Task(name, partial(_three_ways, method, n))


def _three_ways(method: str, n: int) -> list[dict[str, Any]]:
    ways = [WRITTEN]
    if method in ("SRP", "KSRP"):
        ways.append(AUTHORS)
    if method in METHODS:
        ways.append(OURS)
    return [
        dict(method=method, n=n, way=way, seconds=seconds)
        for way in ways
        for seconds in _seconds(_job(method, way, n, 100, 9))
    ]


def complexity_tasks(lab: Lab) -> Iterator[Task]:
    """Sizes large enough for the growth to show over what every call costs."""
    written: dict[str, tuple[int, ...]] = dict(
        n=(1000, 2000, 4000), d=(100, 200, 400, 800), k=(2, 8, 32)
    )
    ours: dict[str, tuple[int, ...]] = dict(
        n=(50000, 100000, 200000), d=(100, 200, 400, 800), k=(2, 8, 32)
    )
    if lab.quick:
        written["n"], ours["n"] = (300, 600, 1200), (20000, 40000, 80000)
    for way, sizes in ((WRITTEN, written), (OURS, ours)):
        for variable, values in sizes.items():
            for method in METHODS:
                name = f"complexity/{way}/{variable}/{method}"
                yield Task(name, partial(_growth, method, way, variable, values))


def _growth(method: str, way: str, variable: str, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    # The exact kernel of ours is quadratic in n: smaller sizes show it as well.
    few = way == OURS and method == "KSPCA"
    base = dict(n=500 if way == WRITTEN else 4000 if few else 20000, d=100, k=8)
    records = []
    for size in sizes:
        at = base | {variable: size // 20 if few and variable == "n" else size}
        for seconds in _seconds(_job(method, way, at["n"], at["d"], at["k"])):
            found = dict(method=method, way=way, variable=variable)
            records.append(found | dict(size=at[variable], seconds=seconds))
    return records
