"""The data that the benchmarks run on: from a folder that the user names, or downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelens.datasets import load_mnist


def mnist(folder: Path | None) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Training rows and classes, test rows and classes; float32 pixels in [0, 1]."""
    within = None if folder is None or not (folder / "mnist").is_dir() else folder / "mnist"
    bunch = load_mnist(within)
    X, y, n = bunch.data, bunch.target, bunch.n_train
    return X[:n].copy(), y[:n], X[n:].copy(), y[n:]


def newsgroups(folder: Path | None) -> tuple[Any, NDArray[Any]]:
    """Tf-idf rows of 20 Newsgroups, CSR float32, and their groups."""
    if folder is not None and (folder / "20newsgroups").is_dir():
        rows = sparse.load_npz(folder / "20newsgroups" / "tfidf_train.npz")
        return rows, np.load(folder / "20newsgroups" / "labels.npz")["y_train"]
    from sklearn.datasets import fetch_20newsgroups_vectorized

    bunch = fetch_20newsgroups_vectorized(subset="train")
    return bunch.data.astype(np.float32), bunch.target
