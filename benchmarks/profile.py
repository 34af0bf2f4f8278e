"""`make bench-profile`: where the time of a fit goes, and what our choices rest on.

The figures behind "What is missed, and why" in docs/benchmarks.md and behind the notes in
docs/decisions.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import svds
from threadpoolctl import threadpool_limits

from data import mnist, newsgroups
from labelens import KernelSupervisedPCA, SupervisedPCA, SupervisedRandomProjection
from labelens._core.kernels import make_kernel
from labelens._core.maps.base import feature_generator
from labelens._core.maps.fourier import Fourier
from labelens._core.maps.orthogonal import _structured, n_groups, padded_size
from labelens._core.moments import ClassSums
from labelens._core.solvers import _lanczos
from measure import machine, seconds, settle


def report(what: str, job: Callable[[], object], turns: int = 9) -> float:
    settle(job)
    taken = statistics.median(seconds(job) for _ in range(turns))
    print(f"{what:72}{taken * 1e3:9.2f} ms", flush=True)
    return taken


def class_sums(X: Any, y: Any) -> None:
    many = np.random.default_rng(0).integers(0, 1000, len(y))
    for c, labels in ((10, y), (1000, many)):
        codes = labels[:, None].astype(np.intp)
        report(f"class sums of MNIST, {c} classes", lambda k=codes, c=c: ClassSums.of(X, k, c))
    thin = np.ascontiguousarray(X[:, 200:204])
    model = SupervisedRandomProjection(3, random_state=0)
    report("SRP fit of 60000 rows with 4 columns: what a call costs", lambda: model.fit(thin, y))
    spca = SupervisedPCA(9).fit(X, many)
    covariance = spca.moments_.cross.covariance
    with threadpool_limits(1):
        report("1000 classes: full SVD", lambda: linalg.svd(covariance, full_matrices=False), 3)
        start = np.random.default_rng(0).standard_normal(min(covariance.shape))
        report("1000 classes: Lanczos", lambda: svds(covariance, 9, ncv=40, v0=start))
        report("1000 classes: Lanczos and the proof", lambda: _lanczos(covariance, 9))
        report("1000 classes: C_xy C_xy^T", lambda: covariance @ covariance.T)


def covariance_of_features(X: Any, y: Any) -> None:
    """C_xx of 4096 features in float64, and its factor: the part of a fit that products take."""
    model = KernelSupervisedPCA(
        9, n_random_features=4096, shrinkage=1e-3, gamma=0.02, random_state=0
    ).fit(X[:2048], y[:2048])
    block = model._recipe.features(X[:8192]).astype(np.float64)
    matrix = block.T @ block + np.eye(block.shape[1])
    product = report("F^T F of 8192 rows with 4096 features", lambda: block.T @ block, 3)
    factor = report("Cholesky of C_xx, 4096 x 4096", lambda: np.linalg.cholesky(matrix), 3)
    fit = report("KSPCA fit, 4096 features, shrinkage 1e-3", lambda: model.fit(X, y), 1)
    print(f"fit over its products: {fit / (product * len(X) / len(block) + factor):.2f}")


def sparse_sums(folder: Path | None) -> None:
    X, y = newsgroups(folder)
    rows, codes = sparse.csr_array(X), np.unique(y, return_inverse=True)[1][:, None]
    c = int(codes.max()) + 1
    sums = ClassSums.of(rows, codes, c)
    mixing = np.random.default_rng(0).standard_normal((c, 19))
    print(f"{c} classes x {X.shape[1]} columns, {sums.sums.nbytes / 1e6:.1f} MB of moments")
    report("20 Newsgroups: class sums", lambda: ClassSums.of(rows, codes, c))
    report("20 Newsgroups: 19 components of them", lambda: sums.times(mixing))


def products(X: Any, y: Any) -> None:
    """What a threaded product leaves behind, and whether it gives the same bits."""
    model = SupervisedPCA(9).fit(X, y)
    U = np.ascontiguousarray(model.components_.T.astype(np.float32))
    report("transform, by itself", lambda: model.transform(X))
    X @ U
    after = [seconds(lambda: model.transform(X)) for _ in range(8)]
    print(
        "transform, one after the other, after X @ U: "
        + ", ".join(f"{t * 1e3:.0f}" for t in after)
        + " ms"
    )
    draw, differ, tried = np.random.default_rng(0), 0, 0
    for dtype in (np.float32, np.float64):
        for n in (1, 7, 100, 1000, 5000, 60001):
            for d in (5, 64, 784):
                for k in (1, 2, 9, 33):
                    A = draw.standard_normal((n, d)).astype(dtype)
                    B = draw.standard_normal((d, k)).astype(dtype)
                    with threadpool_limits(1):
                        one = A @ B
                    for threads in (2, 3, 4):
                        with threadpool_limits(threads):
                            differ += not np.array_equal(one, A @ B)
                        tried += 1
    print(f"products whose bits change with the number of threads: {differ} of {tried}")


def transforms() -> None:
    """How many steps of a matrix product a transformed number costs (maps/orthogonal.py)."""
    draw, kernel = np.random.default_rng(0), make_kernel("rbf", 0.1, None)
    for dtype in (np.float32, np.float64):
        costs = []
        for d, p in ((64, 1024), (128, 1024), (512, 1024), (784, 1024), (784, 4096), (1025, 2048)):
            X = draw.standard_normal((1024, d)).astype(dtype)
            fast = _structured(kernel, d, p, feature_generator(0))
            dense = Fourier.draw(kernel, d, p, 0).frequencies.astype(dtype)
            with threadpool_limits(1):
                ours = statistics.median(seconds(lambda f=fast, X=X: f.angles(X)) for _ in range(9))
                theirs = statistics.median(seconds(lambda W=dense, X=X: X @ W) for _ in range(9))
            numbers = n_groups(d, p) * padded_size(d)
            costs.append(round(ours / numbers / (theirs / (d * p / 2))))
        print(f"cost of a transformed number in steps of a product, {dtype.__name__}: {costs}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with mnist/ and 20newsgroups/")
    folder = parser.parse_args().data
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    X, y, *_ = mnist(folder)
    class_sums(X, y)
    covariance_of_features(X, y)
    sparse_sums(folder)
    products(X, y)
    transforms()


if __name__ == "__main__":
    main()
