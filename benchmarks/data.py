"""The data that the benchmarks run on: from a folder that the user names, or downloaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import train_test_split

from labelens.datasets import load_ionosphere, load_mnist


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


# Splits for the comparison of embeddings -------------------------------------------------------


@dataclass(frozen=True)
class Split:
    name: str
    kind: str  # "classes", "numbers" or "multilabel"
    X_train: Any
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]


def _random_split(name: str, kind: str, X: Any, y: NDArray[Any], seed: int) -> Split:
    """A quarter of the rows for testing."""
    train, test = train_test_split(
        np.arange(len(y)),
        test_size=0.25,
        random_state=seed,
        stratify=y if kind == "classes" else None,
    )
    return Split(name, kind, X[train], y[train], X[test], y[test])


def _table(folder: Path | None, file: str, openml: str, label: str) -> tuple[Any, Any]:
    """Columns and labels of a CSV file of the folder, or of OpenML."""
    import pandas as pd
    from sklearn.datasets import fetch_openml

    if folder is not None and (folder / file).is_file():
        frame = pd.read_csv(folder / file)
        return frame.drop(columns=label), frame[label]
    bunch = fetch_openml(openml, version=1, as_frame=True)
    return bunch.data, bunch.target


def letter(folder: Path | None, seed: int) -> Split:
    X, y = _table(folder, "letter.csv.gz", "letter", "lettr")
    return _random_split("Letter", "classes", X.to_numpy(float), y.to_numpy(str), seed)


def satellite(folder: Path | None, seed: int) -> Split:
    X, y = _table(folder, "satellite.csv.gz", "satimage", "classes")
    return _random_split("Satellite", "classes", X.to_numpy(float), y.to_numpy(str), seed)


def california(folder: Path | None, seed: int) -> Split:
    X, y = _table(folder, "california_housing.csv.gz", "california_housing", "median_house_value")
    numbers = X.select_dtypes("number")
    rows = numbers.fillna(numbers.median()).to_numpy(float)
    return _random_split("California", "numbers", rows, y.to_numpy(float) / 1e5, seed)


def ionosphere(folder: Path | None, seed: int) -> Split:
    X, y = load_ionosphere(return_X_y=True)
    return _random_split("Ionosphere", "classes", X, y, seed)


def mnist_split(folder: Path | None, seed: int) -> Split:
    return Split("MNIST", "classes", *mnist(folder))


def newsgroups_split(folder: Path | None, seed: int) -> Split:
    if folder is not None and (folder / "20newsgroups").is_dir():
        here = folder / "20newsgroups"
        labels = np.load(here / "labels.npz")
        train, test = (sparse.load_npz(here / f"tfidf_{part}.npz") for part in ("train", "test"))
        return Split("20 Newsgroups", "classes", train, labels["y_train"], test, labels["y_test"])
    from sklearn.datasets import fetch_20newsgroups_vectorized

    train, test = (fetch_20newsgroups_vectorized(subset=part) for part in ("train", "test"))
    return Split("20 Newsgroups", "classes", train.data, train.target, test.data, test.target)


def yeast(folder: Path | None, seed: int) -> Split:
    if folder is not None and (folder / "yeast.npz").is_file():
        arrays = np.load(folder / "yeast.npz")
        return Split(
            "Yeast", "multilabel", *(arrays[n] for n in ("X_train", "Y_train", "X_test", "Y_test"))
        )
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml("yeast", version=4, as_frame=True)
    X, Y = bunch.data.to_numpy(float), (bunch.target == "TRUE").to_numpy(np.uint8)
    return Split("Yeast", "multilabel", X[:1500], Y[:1500], X[1500:], Y[1500:])
