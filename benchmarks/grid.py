"""The cost of a grid of `labelens.select`, in fits: `python benchmarks/grid.py --data FOLDER`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from data import mnist
from labelens import KernelSupervisedPCA, select
from measure import seconds


def cost(folder: Path | None) -> dict[str, float]:
    """10 values of gamma x 4 shrinkages x 10 folds of MNIST, 1024 features."""
    X, y, _, _ = mnist(folder)
    model = KernelSupervisedPCA(9, gamma=0.013, shrinkage=1e-3, random_state=0)
    grid = {"gamma": 0.013 * 10 ** np.linspace(-1, 1, 10), "shrinkage": [1, 0.1, 1e-2, 1e-3]}

    model.fit(X, y)
    fit = float(np.median([seconds(lambda: model.fit(X, y)) for _ in range(5)]))
    found = {}
    for rows in (8000, len(y)):
        taken = seconds(lambda most=rows: select(X, y, model, grid=grid, cv=10, max_rows=most))
        found[f"{rows:,}"] = taken / fit
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    for rows, ratio in cost(parser.parse_args().data).items():
        print(f"10 values of gamma x 4 shrinkages x 10 folds of {rows} rows: {ratio:.1f} fits")


if __name__ == "__main__":
    main()
