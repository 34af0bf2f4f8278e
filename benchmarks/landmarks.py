"""Landmarks on MNIST: accuracy, time and memory of "falkon", compared with the exact kernel.

    python benchmarks/landmarks.py FOLDER [--landmarks 1000 2000] [--exact 10000]

reads the MNIST files in FOLDER and prints a table. Every fit has a process of its own, for its peak
of memory. All use 60,000 training rows and 9 components, but "exact", which uses some of the rows;
accuracy is that of k-nearest neighbours of the 10,000 test rows among the rows of the fit.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from labelens import KernelSupervisedPCA
from labelens.datasets import load_mnist
from measure import machine

GAMMA, SHRINKAGE = 0.02, 1e-4  # gamma is about 2 / the median squared distance


def measured(folder: str, approximation: str, count: int) -> dict[str, Any]:
    """One fit; times are in seconds, the peak in GB."""
    digits = load_mnist(folder)
    X, y, n = digits.data.astype(np.float32, copy=False), digits.target, digits.n_train
    test, truth = X[n:], y[n:]
    here = np.arange(n)
    if approximation == "exact":
        here = np.random.default_rng(0).permutation(n)[:count]
    model = KernelSupervisedPCA(
        9, gamma=GAMMA, shrinkage=SHRINKAGE, approximation=approximation, n_random_features=count,
        random_state=0,
    )  # fmt: skip
    start = time.perf_counter()
    Z = model.fit(X[here], y[here]).transform(test)
    fit = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    known = model.transform(X[here])
    accuracy = {k: KNeighborsClassifier(k).fit(known, y[here]).score(Z, truth) for k in (1, 15)}
    return {"one": accuracy[1], "fifteen": accuracy[15], "seconds": fit, "peak": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument(
        "--landmarks", type=int, nargs="*", default=[1000, 2000, 5000, 10000, 20000]
    )
    parser.add_argument("--exact", type=int, nargs="*", default=[10000, 20000])
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.folder, options.one[0], int(options.one[1]))))
        return
    facts = machine() | {"gamma": GAMMA, "shrinkage": SHRINKAGE}
    print(", ".join(f"{name}: {value}" for name, value in facts.items()), "\n")
    print(
        "| approximation | landmarks or rows | 1-NN | 15-NN | fit, transform of test rows | peak |"
    )
    print("|---|---|---|---|---|---|")
    jobs = [("falkon", m) for m in options.landmarks] + [("exact", n) for n in options.exact]
    for name, count in jobs:
        command = [sys.executable, __file__, options.folder, "--one", name, str(count)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        print(
            f"| {name} | {count:,} | {found['one']:.4f} | {found['fifteen']:.4f} | "
            f"{found['seconds']:.1f} s | {found['peak']:.1f} GB |",
            flush=True,
        )


if __name__ == "__main__":
    main()
