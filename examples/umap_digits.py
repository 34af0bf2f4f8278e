"""Positions of the demo's rows by supervised UMAP, written to umap_digits.npz.

    pip install "labelens[bench]" && python examples/umap_digits.py

Default parameters, the same rows and columns as the other methods of the demo.
"""

from __future__ import annotations

import platform
from time import perf_counter

import numpy as np
import sklearn
import umap
from demo import LABELS, SEED, UMAP, shuffled, split


def main() -> None:
    X_train, X_test, y_train, _ = split()
    umap.UMAP(random_state=SEED).fit(X_train[:200], y_train[:200])  # compiles
    found = {}
    for labels, y in zip(LABELS, (y_train, shuffled(y_train)), strict=True):
        start = perf_counter()
        model = umap.UMAP(random_state=SEED, n_jobs=1).fit(X_train, y)
        found[f"{labels} seconds"] = perf_counter() - start
        found[f"{labels} train"] = model.embedding_.astype(np.float32)
        found[f"{labels} test"] = model.transform(X_test).astype(np.float32)
    versions = f"umap-learn {umap.__version__}, scikit-learn {sklearn.__version__}"
    np.savez_compressed(UMAP, versions=f"{versions}, Python {platform.python_version()}", **found)


if __name__ == "__main__":
    main()
