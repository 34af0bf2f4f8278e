"""Fits on a GPU, compared with floors of the same run and with torch's PCA.

    python benchmarks/gpu.py --data DIR

needs torch with CUDA; CuPy and cuML are measured where they are installed. Floors are timed with
events on the GPU, fits by the clock from the call to the last result, validation included; both
after a warm-up, medians. Memory is the most that torch held during a fit beyond X itself.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

import gpu_kernels
import labelens
from data import mnist
from gpu_times import by_clock, header, on_gpu, products, row, say
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens._core.maps import structured
from measure import machine

CLASSES = 10
GAMMA = 0.02  # of the RBF kernel on MNIST


def fit(model: Any, X: Any, y: Any) -> Callable[[], object]:
    mine = clone(model)
    return lambda: mine.fit(X, y)


def generated(n: int, d: int) -> tuple[Any, Any]:
    """Rows around ten centres, made on the GPU."""
    draw = torch.Generator(device="cuda").manual_seed(0)
    y = torch.randint(0, CLASSES, (n,), device="cuda", generator=draw)
    centres = torch.rand(CLASSES, d, device="cuda", generator=draw)
    X = torch.rand(n, d, device="cuda", generator=draw)
    step = 1 << 20
    for start in range(0, n, step):
        X[start : start + step] += centres[y[start : start + step]]
    return X, y


def linear(name: str, X: Any, y: Any, bar: str, host_labels: bool = False) -> None:
    read = on_gpu(lambda: X.sum())
    lowrank = on_gpu(lambda: torch.pca_lowrank(X, 9), 3)
    for model in (SupervisedRandomProjection(9, random_state=0), SupervisedPCA(9)):
        short = "".join(c for c in type(model).__name__ if c.isupper())
        ours = by_clock(fit(model, X, y))
        row(f"{short} fit, {name}", ours, "one read of X", read, bar)
        row(f"{short} fit, {name}", ours, "torch.pca_lowrank(X, 9)", lowrank)
        if host_labels:
            ours = by_clock(fit(model, X, y.cpu().numpy()))
            row(f"{short} fit, {name}, labels on the host", ours, "one read of X", read)


def random_features(name: str, X: Any, y: Any) -> None:
    floors = {}
    for columns in (1024, 512):
        weights = torch.randn(X.shape[1], columns, device="cuda")
        out = torch.empty(len(X), columns, device="cuda")
        floors[None, columns] = on_gpu(lambda w=weights, out=out: torch.mm(X, w, out=out), 3)
        with products("tf32"):
            floors["tf32", columns] = on_gpu(lambda w=weights, out=out: torch.mm(X, w, out=out), 5)
        del out
    for precision in ("tf32", None):
        whole, half = floors[precision, 1024], floors[precision, 512]
        kind, bar = ("TF32", "2.0") if precision else ("float32", "")
        for gamma in (0.01, "scale"):
            model = KernelSupervisedRandomProjection(
                9, n_random_features=1024, gamma=gamma, precision=precision, random_state=0
            )
            ours = by_clock(fit(model, X, y), 5)
            job = f"KSRP fit, {name}, 1024 features, gamma={gamma!r}"
            row(job, ours, f"{kind} product with 1024 columns", whole, bar)
            row(job, ours, f"{kind} product with the 512 frequencies", half)


def exact(X: Any, y: Any) -> None:
    def plain() -> None:
        step = 8192
        for a in range(0, len(X), step):
            for b in range(0, len(X), step):
                (X[a : a + step] @ X[b : b + step].T).exp_()

    for precision in (None, "tf32"):
        with products(precision):
            floor = on_gpu(plain, 3)
        model = KernelSupervisedPCA(9, approximation="exact", gamma=0.01, precision=precision)
        kind = "TF32" if precision else "float32"
        ours = by_clock(fit(model, X, y), 5)
        row(f"exact KSPCA fit, MNIST, {kind}", ours, "X X^T in blocks, and exp", floor, "1.0")


def floors_of_features(X: Any, p: int) -> tuple[dict[str | None, float], float]:
    """Milliseconds of the products by their precision, and of Cholesky in float64."""
    weights = torch.randn(X.shape[1], p // 2, device="cuda")
    features = torch.randn(len(X), p, device="cuda")
    matrix, floors = (features.T @ features).double(), {}
    for precision in (None, "tf32"):
        with products(precision):
            floors[precision] = on_gpu(lambda: (X @ weights, features.T @ features), 3)
    return floors, on_gpu(lambda: torch.linalg.cholesky(matrix), 3)


def many_features(X: Any, y: Any, test: tuple[Any, Any] | None) -> None:
    p = 8192
    floors, factor = floors_of_features(X, p)
    for precision, floor in floors.items():
        model = KernelSupervisedPCA(
            9, n_random_features=p, shrinkage=1e-3, gamma=GAMMA, precision=precision,
            random_state=0,
        )  # fmt: skip
        ours = by_clock(fit(model, X, y), 3)
        kind = "TF32" if precision else "float32"
        job = f"KSPCA fit, MNIST, {p} features, shrinkage 1e-3, {kind}"
        row(job, ours, "its products", floor, "1.3" if precision else "")
        row(job, ours, "products, and Cholesky in float64", floor + factor)
        if test is not None:
            model.fit(X, y)
            known, asked = (model.transform(rows).cpu().numpy() for rows in (X, test[0]))
            neighbours = KNeighborsClassifier(1).fit(known, y.cpu().numpy())
            score = (neighbours.predict(asked) == test[1]).mean()
            say(f"| its held-out accuracy, 1-NN, k = 9, {kind} | {score:.4f} | | | | 0.97 | |")


def copy_rates(rows: Any) -> tuple[float, float]:
    """GB/s from pinned memory to the GPU, and from other memory."""
    other = torch.from_numpy(rows)
    pinned, there = other.pin_memory(), torch.empty(rows.shape, device="cuda")
    fast = on_gpu(lambda: there.copy_(pinned, non_blocking=True))
    return rows.nbytes / fast / 1e6, rows.nbytes / on_gpu(lambda: other.to("cuda"), 3) / 1e6


def streamed(n: int, d: int) -> None:
    X = np.random.default_rng(0).random((n, d), dtype=np.float32)
    y = np.random.default_rng(1).integers(0, CLASSES, n)
    rate, slow = copy_rates(X[:500_000])
    say(f"\nHost to device: {rate:.1f} GB/s from pinned memory, {slow:.1f} from other memory.\n")
    say("| job | GB/s | of pinned | of other memory | goal | GB on the GPU |")
    say("|---|---|---|---|---|---|")
    models = {
        "SRP": SupervisedRandomProjection(9, random_state=0),
        "SPCA": SupervisedPCA(9),
        "KSRP, 1024 features, TF32": KernelSupervisedRandomProjection(
            9, n_random_features=1024, gamma=0.01, precision="tf32", random_state=0
        ),
    }
    own = torch.empty(X.shape, pin_memory=True)
    own.copy_(torch.from_numpy(X))
    for name, model in models.items():
        for memory, rows in (("other", X), ("pinned", own)):
            ms, peak = by_clock(
                lambda model=model, rows=rows: labelens.fit(
                    clone(model), rows, label=y, device="cuda"
                ),
                3,
            )
            speed = X.nbytes / ms / 1e6
            say(
                f"| {name}, {n:,} x {d}, {memory} memory | {speed:.1f} | {speed / rate:.2f} | "
                f"{speed / slow:.2f} | 0.8 | {peak:.2f} |"
            )


def transforms() -> None:
    say("\n### Structured frequencies: a product with all of them, or transforms\n")
    say("| columns | float32 product ms | transforms | TF32 product | transforms |")
    say("|---|---|---|---|---|")
    before = structured.TRANSFORMED_FROM
    for d in (512, 1024, 2048, 4096, 8192):
        X = torch.rand(1 << 16, d, device="cuda")
        found = []
        for precision in (None, "tf32"):
            for start in (1 << 30, 1):
                structured.TRANSFORMED_FROM = (start, start)
                model = KernelSupervisedRandomProjection(
                    2, approximation="fastfood", n_random_features=2 * d, gamma=1e-3,
                    precision=precision, random_state=0,
                ).fit(X[:4096], torch.arange(4096) % 3)  # fmt: skip
                with products(precision):
                    found.append(on_gpu(lambda m=model, X=X: m._recipe.phi.angles(X), 3))
        say(f"| {d} | " + " | ".join(f"{ms:.2f}" for ms in found) + " |")
    structured.TRANSFORMED_FROM = before


def distance(A: Any, B: Any) -> float:
    """The sine of the largest angle between the spans of two sets of columns."""
    left, right = (np.linalg.qr(Z.astype(np.float64) - Z.mean(0))[0] for Z in (A, B))
    return float(np.linalg.norm(left - right @ (right.T @ left), 2))


def agreement(X: Any, y: Any) -> None:
    say("\n### Agreement with NumPy\n\nDistance of the embedding's span from that of NumPy:\n")
    libraries: dict[str, Callable[[Any], Any]] = {
        "torch, CPU": torch.asarray,
        "torch, CUDA": lambda a: torch.asarray(a, device="cuda"),
    }
    if find_spec("cupy"):
        import cupy

        libraries["CuPy"] = cupy.asarray
    say("| method | dtype | " + " | ".join(libraries) + " |")
    say("|---|---|" + "---|" * len(libraries))
    models = {
        "SPCA": SupervisedPCA(9),
        "SPCA, shrinkage 0.1, target weight 0.5": SupervisedPCA(
            9, shrinkage=0.1, target_weight=0.5
        ),
        "SRP": SupervisedRandomProjection(9, random_state=0),
        "KSPCA": KernelSupervisedPCA(9, random_state=0),
        "KSPCA, Nyström": KernelSupervisedPCA(9, approximation="nystroem", random_state=0),
        "KSPCA, exact": KernelSupervisedPCA(9, approximation="exact"),
        "KSRP": KernelSupervisedRandomProjection(9, random_state=0),
    }
    for name, model in models.items():
        for dtype in (np.float64, np.float32):
            rows = X.astype(dtype)
            known = clone(model).fit(rows, y).transform(rows)
            found = []
            for put in libraries.values():
                there = put(rows)
                Z = clone(model).fit(there, y).transform(there)
                Z = Z.get() if hasattr(Z, "get") else Z.cpu().numpy()
                found.append(f"{distance(known, Z):.1e}")
            say(f"| {name} | {np.dtype(dtype).name} | " + " | ".join(found) + " |")


def host_times(X: Any, y: Any) -> None:
    say("\n### The same fits on the CPU\n")
    say("| job | ms |\n|---|---|")
    for name, model in {
        "SRP": SupervisedRandomProjection(9, random_state=0),
        "SPCA": SupervisedPCA(9),
        "KSRP, 1024 features": KernelSupervisedRandomProjection(
            9, n_random_features=1024, gamma=0.01, random_state=0
        ),
    }.items():
        times = []
        for _ in range(4):
            start = time.perf_counter()
            clone(model).fit(X, y)
            times.append(1e3 * (time.perf_counter() - start))
        say(f"| {name} fit, {X.shape[0]:,} x {X.shape[1]} | {statistics.median(times[1:]):.4g} |")


def other_libraries(n: int) -> None:
    X, y = generated(n, 784)
    if find_spec("cupy"):
        import cupy

        read = on_gpu(lambda: X.sum())
        rows, labels = cupy.from_dlpack(X), cupy.from_dlpack(y)
        for model in (SupervisedRandomProjection(9, random_state=0), SupervisedPCA(9)):
            short = "".join(c for c in type(model).__name__ if c.isupper())
            ms, _ = by_clock(
                lambda m=model: (clone(m).fit(rows, labels), cupy.cuda.Device().synchronize())
            )
            row(f"{short} fit, {n:,} x 784, CuPy", (ms, 0.0), "one read of X", read)
    if find_spec("cuml"):
        import cuml

        for peer in (cuml.PCA(9), cuml.TruncatedSVD(9)):
            ms, peak = by_clock(lambda p=peer: p.fit(X), 3)
            say(f"| cuML {type(peer).__name__}(9), {n:,} x 784 | {ms:.3g} | | | | | {peak:.2f} |")
    else:
        say("\ncuML is not installed here.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with mnist/; simulated rows of its shape without it")
    parser.add_argument("--only", nargs="*", default=None, help="parts, by their names")
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.fp32_precision = "ieee"
    facts = machine() | {"torch": torch.__version__, "CUDA": torch.version.cuda}
    facts["processor"] = f"{torch.cuda.get_device_name()}, {facts['cores']} cores"
    names = "date", "labelens", "numpy", "scikit-learn", "torch", "CUDA"
    print(facts["processor"] + "".join(f", {name} {facts[name]}" for name in names))
    test = None
    if arguments.data:
        rows, labels, test_rows, test_labels = mnist(Path(arguments.data))
        X = torch.asarray(rows, device="cuda")
        y = torch.asarray(labels.astype(np.int64), device="cuda")
        test = torch.asarray(test_rows, device="cuda"), test_labels
        shape = "MNIST"
    else:
        X, y = generated(70_000, 784)
        test = X[60_000:], y[60_000:].cpu().numpy()
        X, y = X[:60_000], y[:60_000]
        shape = "60,000 x 784"

    def small() -> None:
        header(f"{shape}")
        linear(shape, X, y, "3 ms", host_labels=True)
        exact(X, y)
        many_features(X, y, test)

    def large() -> None:
        header("1,000,000 x 784, made on the GPU")
        X, y = generated(1_000_000, 784)
        linear("1M x 784", X, y, "3", host_labels=True)
        random_features("1M x 784", X, y)
        other_libraries(1_000_000)

    def larger() -> None:
        header("10,000,000 x 256, made on the GPU")
        X, y = generated(10_000_000, 256)
        linear("10M x 256", X, y, "")
        random_features("10M x 256", X, y)

    def stream() -> None:
        say("\n### 10,000,000 x 256, from the host's memory")
        streamed(10_000_000, 256)

    def agree() -> None:
        agreement(X[:20_000].cpu().numpy(), y[:20_000].cpu().numpy())

    def processor() -> None:
        host_times(X.cpu().numpy(), y.cpu().numpy())

    def kernels() -> None:
        gpu_kernels.nystroem(X, y, test)
        gpu_kernels.exact_shrunk(X, y, test)
        gpu_kernels.choice(X, y, test)
        gpu_kernels.many_rows(X, y, test, generated)

    parts = {
        "small": small, "kernels": kernels, "large": large, "larger": larger, "stream": stream,
        "transforms": transforms, "agree": agree, "processor": processor,
    }  # fmt: skip
    for name, part in parts.items():
        if arguments.only is None or name in arguments.only:
            part()
            torch.cuda.empty_cache()
    if arguments.data and arguments.only is None:
        say.keep("gpu", facts)


if __name__ == "__main__":
    main()
