"""`make bench`: labelens against its peers and against what the machine allows, in one process.

Every line is a ratio of two times taken in turns. "Must reach" is what we ask of ourselves; a line
that misses it says so.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSSVD
from sklearn.decomposition import PCA, IncrementalPCA, KernelPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from data import mnist, newsgroups
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    knn_score,
)
from measure import machine, seconds
from memory import peak_of_fit
from paper import literal
from publish import Printed
from table import Table, in_seconds, markdown

K = 9  # components
GAMMA = 0.02  # of the RBF kernel on MNIST
MEGABYTE = 1 << 20


def run(folder: Path | None, peers: bool) -> Table:
    table = Table()
    X, y, X_test, y_test = mnist(folder)
    print(f"MNIST {X.shape[0]} x {X.shape[1]} {X.dtype}, {K} components")
    linear(table, X, y, peers)
    many_classes(table, X, y)
    kernels(table, X, y, peers)
    exact_kernel(table, X, y)
    transforms(table, X, y)
    sparse_rows(table, folder)
    memory(table, X, y)
    the_paper(table, X, y)
    if peers:
        subsets(table, X, y)
        accuracy(table, X, y, X_test, y_test)
    imports(table)
    return table


def linear(table: Table, X: Any, y: Any, peers: bool) -> None:
    table.section("Linear fits, everything included: validation, label encoding, solving")
    srp = SupervisedRandomProjection(K, random_state=0)
    spca = SupervisedPCA(K)
    total = lambda: X.sum(axis=0)  # noqa: E731
    table.compare(
        "SRP fit", "X.sum(axis=0)", lambda: srp.fit(X, y), total, turns=31, floor=True, goal=1.5
    )
    table.compare(
        "SPCA fit", "X.sum(axis=0)", lambda: spca.fit(X, y), total, turns=31, floor=True, goal=2
    )
    # What the paper leaves out: from class sums the exact method costs what the random one does.
    pair = (lambda: spca.fit(X, y)), (lambda: srp.fit(X, y))
    table.compare("SPCA fit, by class sums", "SRP fit", *pair, turns=31, floor=True)
    for scale in ("minmax", "standard"):
        scaled = SupervisedRandomProjection(K, random_state=0, scale=scale)
        job = (lambda m=scaled: m.fit(X, y)), total
        table.compare(f"SRP fit, scale={scale!r}", "X.sum(axis=0)", *job, turns=9, floor=True)
    if not peers:
        return
    one_hot = np.eye(10, dtype=np.float32)[y]
    rivals: list[tuple[str, Callable[[], object], float | None, int]] = [
        ("PCA(randomized)", lambda: PCA(K, svd_solver="randomized", random_state=0).fit(X), 60, 3),
        ("PLSSVD", lambda: PLSSVD(K).fit(X, one_hot), 40, 3),
        (
            "PLSSVD(scale=False), same space",
            lambda: PLSSVD(K, scale=False).fit(X, one_hot),
            None,
            3,
        ),
        ("LDA(svd)", lambda: LinearDiscriminantAnalysis(solver="svd").fit(X, y), 300, 2),
        ("PCA(covariance_eigh)", lambda: PCA(K, svd_solver="covariance_eigh").fit(X), None, 3),
        ("IncrementalPCA", lambda: IncrementalPCA(K).fit(X), None, 1),
        ("LDA(eigen, shrinkage)", lambda: lda_eigen().fit(X, y), None, 1),
    ]
    for name, rival, goal, turns in rivals:
        for method, model in (("SRP fit", srp), ("SPCA fit", spca)):
            ours = lambda m=model: m.fit(X, y)  # noqa: E731
            table.compare(method, name, ours, rival, turns=turns, goal=goal)


def many_classes(table: Table, X: Any, y: Any) -> None:
    table.section("1000 classes instead of 10 (drawn at random)")
    many = np.random.default_rng(0).integers(0, 1000, len(y))
    for name, model in (
        ("SRP", SupervisedRandomProjection(K, random_state=0)),
        ("SPCA", SupervisedPCA(K)),
    ):
        job = (lambda m=model: m.fit(X, many)), (lambda m=model: m.fit(X, y))
        table.compare(f"{name} fit, 1000 classes", "10 classes", *job, turns=11, floor=True, goal=2)


def kernels(table: Table, X: Any, y: Any, peers: bool) -> None:
    table.section(
        "Kernel fits with 1024 features, gamma included, and the features alone of others"
    )

    def ksrp(approximation: str) -> Any:
        return KernelSupervisedRandomProjection(
            K, approximation=approximation, n_random_features=1024, random_state=0
        )

    sampler = RBFSampler(n_components=1024, gamma="scale", random_state=0)
    features = lambda: sampler.fit_transform(X)  # noqa: E731
    for approximation, goal in (("orthogonal", 0.3), ("fastfood", None), ("fourier", None)):
        model = ksrp(approximation)
        job = (lambda m=model: m.fit(X, y)), features
        table.compare(
            f"KSRP fit, {approximation}",
            "RBFSampler features",
            *job,
            turns=5,
            floor=True,
            goal=goal,
        )
    for approximation in ("orthogonal", "fastfood", "fourier"):
        error = kernel_error(X, approximation)
        limit = 1.0 if approximation == "orthogonal" else None
        name = f"squared kernel error of {approximation} over RBFSampler's, 20 seeds"
        table.figure(name, error, "x", limit)
    if not peers:
        return
    nystroem = Nystroem(gamma=GAMMA, n_components=1024, random_state=0)
    model = KernelSupervisedRandomProjection(
        K, approximation="nystroem", n_random_features=1024, gamma=GAMMA, random_state=0
    )
    job = (lambda: model.fit(X, y)), (lambda: nystroem.fit_transform(X))
    table.compare("KSRP fit, nystroem", "Nystroem features", *job, turns=1)


def kernel_error(X: Any, approximation: str) -> float:
    """Mean squared error of the kernel between 300 rows, over that of RBFSampler."""
    rows = X[np.random.default_rng(0).permutation(len(X))[:300]]
    truth, errors = rbf_kernel(rows.astype(float), gamma=GAMMA), np.zeros(2)
    for seed in range(20):
        model = KernelSupervisedRandomProjection(
            2, approximation=approximation, n_random_features=1024, gamma=GAMMA, random_state=seed
        )
        model.fit(rows, np.arange(300) % 3)
        ours = model._recipe.features(rows)
        theirs = RBFSampler(n_components=1024, gamma=GAMMA, random_state=seed).fit_transform(rows)
        errors += [np.mean((F @ F.T - truth) ** 2) for F in (ours, theirs)]
    return float(errors[0] / errors[1])


def exact_kernel(table: Table, X: Any, y: Any) -> None:
    table.section("The exact kernel, without a matrix of all pairs")
    model = KernelSupervisedPCA(K, approximation="exact", gamma=GAMMA)
    some, labels = X[:20000], y[:20000]

    def gemm() -> None:
        for start in range(0, len(some), 1024):
            some[start : start + 1024] @ some.T

    job = (lambda: model.fit(some, labels)), gemm
    table.compare(
        "exact KSPCA fit, 20000 rows", "X @ X.T in blocks", *job, turns=2, floor=True, goal=0.7
    )
    table.figure("exact KSPCA fit, all of MNIST", seconds(lambda: model.fit(X, y)), "s")


def transforms(table: Table, X: Any, y: Any) -> None:
    table.section("transform of all rows")
    model = SupervisedPCA(K).fit(X, y)
    projector = np.ascontiguousarray(model.components_.T.astype(np.float32))
    job = (lambda: model.transform(X)), (lambda: X @ projector)
    table.compare("SPCA transform", "X @ U", *job, turns=15, floor=True, goal=1.2)
    pca = PCA(K, svd_solver="covariance_eigh").fit(X)
    job = (lambda: model.transform(X)), (lambda: pca.transform(X))
    table.compare("SPCA transform", "PCA transform", *job, turns=9)
    kernel = KernelSupervisedRandomProjection(K, gamma=GAMMA, random_state=0).fit(X, y)
    sampler = RBFSampler(n_components=1024, gamma=GAMMA, random_state=0).fit(X)
    job = (lambda: kernel.transform(X)), (lambda: sampler.transform(X))
    table.compare("KSRP transform", "RBFSampler transform", *job, turns=3)


def sparse_rows(table: Table, folder: Path | None) -> None:
    table.section("20 Newsgroups, tf-idf, CSR, 19 components")
    try:
        X, y = newsgroups(folder)
    except OSError as error:
        print(f"skipped: {error}")
        return
    model = SupervisedRandomProjection(19, random_state=0)
    job = (lambda: model.fit(X, y)), (lambda: X.sum(axis=0))
    table.compare("SRP fit", "X.sum(axis=0)", *job, turns=31, floor=True, goal=3)
    svd = lambda: TruncatedSVD(19, random_state=0).fit(X)  # noqa: E731
    table.compare("SRP fit", "TruncatedSVD", lambda: model.fit(X, y), svd, turns=3, goal=30)


def memory(table: Table, X: Any, y: Any) -> None:
    table.section("Peak memory above X")
    random, exact = dict(random_state=0), dict(approximation="exact", gamma=GAMMA)
    for name, method, parameters, n, goal in (
        ("SRP fit", "SupervisedRandomProjection", random, None, 64),
        ("SPCA fit", "SupervisedPCA", {}, None, 64),
        ("KSRP fit, 1024 features", "KernelSupervisedRandomProjection", random, None, 300),
        ("exact KSPCA fit, 20000 rows", "KernelSupervisedPCA", exact, 20000, 300),
        ("exact KSPCA fit, all rows", "KernelSupervisedPCA", exact, None, None),
    ):
        used = peak_of_fit(method, dict(n_components=K) | parameters, X[:n], y[:n])
        table.figure(name, None if used is None else used / MEGABYTE, "MB", goal)


def the_paper(table: Table, X: Any, y: Any) -> None:
    table.section("The paper's formulas as written, with n x n matrices")
    rows, labels, draw = X[:2000].astype(np.float64), y[:2000], np.random.default_rng(0)
    sigma = 1 / np.sqrt(2 * GAMMA)

    def spca() -> None:
        literal.spca(rows, literal.delta_kernel(labels), K)

    def srp() -> None:
        literal.srp(rows, literal.label_features(labels, K, draw))

    def kspca() -> None:
        literal.kspca(rbf_kernel(rows, gamma=GAMMA), literal.delta_kernel(labels), K)

    def ksrp() -> None:
        features = literal.fourier_features(rows, sigma, 1000, draw)
        literal.ksrp(features, literal.label_features(labels, K, draw))

    random = dict(random_state=0)
    kernel = dict(gamma=GAMMA, n_random_features=1000, random_state=0)
    for name, written, model, turns in (
        ("SPCA", spca, SupervisedPCA(K), 3),
        ("SRP", srp, SupervisedRandomProjection(K, **random), 3),
        ("KSPCA (exact)", kspca, KernelSupervisedPCA(K, approximation="exact", gamma=GAMMA), 1),
        ("KSRP", ksrp, KernelSupervisedRandomProjection(K, **kernel), 3),
    ):
        ours = lambda m=model: m.fit(rows, labels)  # noqa: E731
        table.compare(f"{name} fit, 2000 rows", "the formula", ours, written, turns=turns)


def subsets(table: Table, X: Any, y: Any) -> None:
    table.section("Peers that take a subset")
    kernel = dict(gamma=GAMMA, random_state=0)
    few, some, more = 2000, 4000, 4000
    ksrp, spca = KernelSupervisedRandomProjection(K, **kernel), SupervisedPCA(K)
    kspca = KernelSupervisedPCA(K, approximation="exact", gamma=GAMMA)
    nca = NeighborhoodComponentsAnalysis(K, random_state=0, max_iter=30)
    pairs: list[tuple[str, Any, str, Callable[[], object], int]] = [
        ("SPCA fit", spca, "NCA (30 iterations)", lambda: nca.fit(X[:few], y[:few]), few),
        (
            "exact KSPCA fit",
            kspca,
            "KernelPCA",
            lambda: KernelPCA(K, kernel="rbf", gamma=GAMMA).fit(X[:some]),
            some,
        ),
        ("KSRP fit", ksrp, "supervised UMAP", lambda: umap().fit(X[:more], y[:more]), more),
    ]
    umap().fit(X[:more], y[:more])  # its loops are compiled
    for name, model, against, rival, n in pairs:
        ours = lambda m=model, n=n: m.fit(X[:n], y[:n])  # noqa: E731
        table.compare(f"{name}, {n} rows", against, ours, rival)


def lda_eigen() -> Any:
    """Without shrinkage it fails on columns that are constant."""
    return LinearDiscriminantAnalysis(solver="eigen", shrinkage=1e-3)


def umap() -> Any:
    from umap import UMAP

    return UMAP(n_components=K, random_state=0, n_jobs=1)


def accuracy(table: Table, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    """What the times buy: test rows classified by the nearest fitted row, in 9 dimensions."""
    table.section(f"1-NN accuracy on the 10000 test rows, {K} components")
    kernel = dict(gamma=GAMMA, random_state=0)
    wide = dict(n_random_features=4096, shrinkage=1e-3)
    for name, model, n in models_to_score(kernel, wide):
        rows, labels = (X, y) if n is None else (X[:n], y[:n])
        taken = seconds(lambda m=model, r=rows, c=labels: m.fit(r, c))
        score = knn_score(
            model.transform(rows), labels, model.transform(X_test), y_test, n_neighbors=1
        )
        where = "" if n is None else f", fitted on {n} rows"
        table.figure(f"{name}{where} ({in_seconds(taken)})", score, "")


def models_to_score(
    kernel: dict[str, Any], wide: dict[str, Any]
) -> Iterator[tuple[str, Any, int | None]]:
    yield "SRP", SupervisedRandomProjection(K, random_state=0), None
    yield "SPCA", SupervisedPCA(K), None
    yield "KSRP, 1024 features", KernelSupervisedRandomProjection(K, **kernel), None
    yield "KSPCA, 1024 features", KernelSupervisedPCA(K, **kernel), None
    yield "KSPCA, 4096 features, shrinkage=1e-3", KernelSupervisedPCA(K, **kernel, **wide), None
    yield "PCA", PCA(K, random_state=0), None
    yield "LDA(eigen, shrinkage=1e-3)", lda_eigen(), None
    yield (
        "NCA (30 iterations)",
        NeighborhoodComponentsAnalysis(K, max_iter=30, random_state=0),
        2000,
    )
    yield "KernelPCA", KernelPCA(K, kernel="rbf", gamma=GAMMA), 4000
    yield "supervised UMAP", umap(), 4000


def imports(table: Table) -> None:
    table.section("Starting Python and importing")
    job = (
        lambda code=code: subprocess.run([sys.executable, "-c", code], check=True)
        for code in ("from labelens import *", "import sklearn.decomposition")
    )
    table.compare("import labelens", "sklearn.decomposition", *job, turns=7, floor=True, goal=1.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with mnist/ and 20newsgroups/")
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--no-peers", action="store_true", help="only our own jobs and the floors")
    arguments = parser.parse_args()
    start, about = time.perf_counter(), machine()
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    warnings.simplefilter("ignore")  # peers' opinions on convergence are not what is measured
    table = run(arguments.data, peers=not arguments.no_peers)
    missed = [line["job"] for line in table.lines if line["reached"] is False]
    print(f"\n{len(missed)} missed" + (f": {', '.join(missed)}" if missed else ""))
    print(f"{time.perf_counter() - start:.0f} s in all")
    arguments.out.mkdir(parents=True, exist_ok=True)
    target = arguments.out / "bench.json"
    target.write_text(json.dumps({"machine": about, "lines": table.lines}, indent=1) + "\n")
    print(f"written to {target}")
    if not arguments.no_peers:
        print("\nAs tables for the page:\n")
        say = Printed()
        say(markdown(about, table.lines))
        say.keep("bench", about)


if __name__ == "__main__":
    main()
