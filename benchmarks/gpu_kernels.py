"""Kernel methods on a GPU whose cost grows with the rows squared, or with the landmarks squared."""

from __future__ import annotations

import time
from typing import Any

import torch
from sklearn.base import clone

from gpu_times import by_clock, header, on_gpu, products, row, say
from labelens import KernelSupervisedPCA, select

# gamma and shrinkage of the exact kernel on MNIST.
GAMMA, SHRINKAGE = 0.02, 1e-4


def accuracy(model: Any, X: Any, y: Any, test: Any, labels: Any, k: int = 1) -> float:
    """Share of test rows whose nearest training row has their label."""
    known, asked = model.transform(X).float(), model.transform(test).float()
    labels = torch.as_tensor(labels, device="cuda")
    right = 0
    for start in range(0, len(asked), 1000):
        places = torch.cdist(asked[start : start + 1000], known).topk(k, largest=False).indices
        guesses = y[places].mode(dim=1).values
        right += int((guesses == labels[start : start + 1000]).sum())
    return right / len(asked)


def judged(job: str, model: Any, X: Any, y: Any, test: tuple[Any, Any], bar: str) -> None:
    """Seconds of the first and of the best fit, memory, and held-out accuracy."""
    times = []
    for _ in range(2):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        torch.cuda.synchronize()
        start = time.perf_counter()
        fitted = clone(model).fit(X, y)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
        peak = (torch.cuda.max_memory_allocated() - before) / 1e9
        if times[0] > 20:
            break
    score = accuracy(fitted, X, y, *test)
    say(f"| {job} | {times[0]:.2f} | {min(times):.2f} | {score:.4f} | {bar} | {peak:.1f} |")


def seconds_header(title: str) -> None:
    say(f"\n### {title}\n")
    say("| job | s, first | s, best | 1-NN accuracy | goal | GB beyond X |")
    say("|---|---|---|---|---|---|")


def nystroem(X: Any, y: Any, test: tuple[Any, Any]) -> None:
    header("Landmarks, MNIST, shrinkage 1e-3")
    for m in (4096, 8192):
        model = KernelSupervisedPCA(
            9, approximation="nystroem", n_random_features=m, shrinkage=1e-3, gamma=GAMMA,
            random_state=0,
        )  # fmt: skip
        landmarks, whitening = X[:m].double(), torch.rand(m, m, device="cuda").double()

        def its_products(landmarks: Any = landmarks, whitening: Any = whitening) -> None:
            for part in X.split(8192):
                features = (part.double() @ landmarks.T) @ whitening
                features.T @ features

        floor = on_gpu(its_products, 3)
        ours = by_clock(lambda model=model: clone(model).fit(X, y), 3)
        row(f"KSPCA fit, {m} landmarks", ours, "its products in float64", floor, "2.0")
        score = accuracy(clone(model).fit(X, y), X, y, *test)
        say(f"| its held-out accuracy, 1-NN | {score:.4f} | | | | | |")


def exact_shrunk(X: Any, y: Any, test: tuple[Any, Any]) -> None:
    seconds_header("Exact kernel with shrinkage, and falkon, MNIST, 9 components")
    for shrinkage in (1e-3, SHRINKAGE):
        model = KernelSupervisedPCA(
            9, approximation="exact", gamma=GAMMA, shrinkage=shrinkage, random_state=0
        )
        judged(f"exact, shrinkage {shrinkage:g}", model, X, y, test, "4 s, 0.987")
    for m in (10_000, 20_000):
        model = KernelSupervisedPCA(
            9, approximation="falkon", gamma=GAMMA, shrinkage=SHRINKAGE, n_random_features=m,
            random_state=0,
        )  # fmt: skip
        judged(f"falkon, {m} landmarks", model, X, y, test, "")


def shifted(X: Any, y: Any, n: int) -> tuple[Any, Any]:
    """MNIST and copies that are moved by a pixel."""
    images = X.reshape(-1, 28, 28)
    moved = [torch.roll(images, (a, b), (1, 2)) for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    rows = torch.cat([images, *moved]).reshape(-1, 784)[:n].contiguous()
    return rows, y.repeat(5)[:n].contiguous()


def many_rows(X: Any, y: Any, test: tuple[Any, Any], generated: Any) -> None:
    seconds_header("Kernel matrix larger than GPU memory")
    rows, labels = shifted(X, y, 200_000)
    model = KernelSupervisedPCA(
        9, approximation="exact", gamma=GAMMA, shrinkage=1e-3, random_state=0
    )
    judged("exact, 200,000 x 784, MNIST and shifts", model, rows, labels, test, "60 s")
    del rows, labels
    torch.cuda.empty_cache()
    rows, labels = generated(1_010_000, 784)
    held = rows[1_000_000:], labels[1_000_000:]
    model = KernelSupervisedPCA(
        9, approximation="falkon", n_random_features=50_000, shrinkage=1e-3, random_state=0
    )
    job = "falkon, 1,000,000 x 784 simulated, 50,000 landmarks"
    judged(job, model, rows[:1_000_000], labels[:1_000_000], held, "60 s")


def choice(X: Any, y: Any, test: tuple[Any, Any]) -> None:
    seconds_header("`select`, MNIST, 9 components")
    times = []
    with products(None):
        for _ in range(2):
            start = time.perf_counter()
            found = select(X, y, n_components=9, random_state=0)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
    score = accuracy(found.estimator, X, y, *test)
    say(f"| select(X, y) | {times[0]:.2f} | {min(times):.2f} | {score:.4f} | 2 s, 0.975 | |")
    say(f"\nIt chose `{' '.join(str(found.estimator).split())}`.")
