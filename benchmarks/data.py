"""The data that the benchmarks run on: from a folder that the user names, or downloaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder

from labelens.datasets import load_ionosphere, load_mnist, load_sonar


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
    bunch = datasets.fetch_20newsgroups_vectorized(subset="train")
    return bunch.data.astype(np.float32), bunch.target


# Splits for the comparison of embeddings -------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """Held-out rows."""

    X: Any
    y: NDArray[Any]


@dataclass(frozen=True)
class Split:
    """Training rows and held-out rows, the latter in one part, or in five for a single split."""

    kind: str  # "classes", "numbers" or "multilabel"
    X: Any
    y: NDArray[Any]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class DataSet:
    """A public or simulated data set, and the way in which it is split."""

    kind: str
    load: Callable[[Path | None, int], Any]  # of the folder and the seed
    n_splits: int = 5
    note: str = ""
    own_test: bool = False  # load returns X, y of the training rows, and X, y of the test rows
    frame: bool = False  # X is a data frame with categories and gaps

    def split(self, folder: Path | None, seed: int) -> Split:
        if self.own_test:
            X, y, X_test, y_test = self.load(folder, seed)
            folds = StratifiedKFold(5) if self.kind == "classes" else KFold(5)
            parts = (rows for _, rows in folds.split(np.zeros(len(y_test)), y_test))
            return Split(self.kind, X, y, tuple(Part(X_test[r], y_test[r]) for r in parts))
        X, y = self.load(folder, seed)
        train, test = train_test_split(
            np.arange(len(y)),
            test_size=0.25,
            random_state=seed,
            stratify=y if self.kind == "classes" else None,
        )
        if self.frame:
            encoder = _encoder(X).fit(X.iloc[train])
            X = encoder.transform(X)
        return Split(self.kind, X[train], y[train], (Part(X[test], y[test]),))


def _encoder(frame: Any) -> Any:
    """Medians for gaps of numbers, and the commonest value for those of categories, one-hot."""
    numbers = frame.select_dtypes("number").columns
    categories = [name for name in frame.columns if name not in set(numbers)]
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (SimpleImputer(strategy="median"), numbers),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot), categories),
    )


def _bundled(name: str, folder: Path | None, seed: int) -> tuple[Any, Any]:
    """A set that comes with scikit-learn or with labelens."""
    load = {"sonar": load_sonar, "ionosphere": load_ionosphere}.get(name)
    X, y = (load or getattr(datasets, f"load_{name}"))(return_X_y=True)
    return X, y


def _csv(
    file: str, label: str, openml: str | None, folder: Path | None, drop: tuple[str, ...] = ()
) -> tuple[Any, Any]:
    """Columns and labels of a CSV file of the folder, or of OpenML."""
    import pandas as pd

    if folder is not None and (folder / file).is_file():
        frame = pd.read_csv(folder / file)
    elif openml is not None:
        bunch = datasets.fetch_openml(openml, version=1, as_frame=True)
        frame, label = bunch.data.assign(label=bunch.target), "label"
    else:
        raise FileNotFoundError(f"{file} is not in the data folder ({folder}); pass --data FOLDER.")
    return frame.drop(columns=[label, *drop]), frame[label]


def _classes(
    file: str, label: str, openml: str | None, folder: Path | None, seed: int, first: int = 0
) -> tuple[Any, Any]:
    X, y = _csv(file, label, openml, folder)
    return X.to_numpy(float)[:, first:], y.to_numpy(str)


def _numbers(file: str, folder: Path | None, seed: int) -> tuple[Any, Any]:
    X, y = _csv(f"regression/{file}.csv.gz", "target", None, folder)
    return X.to_numpy(float), y.to_numpy(float)


def _california(folder: Path | None, seed: int) -> tuple[Any, Any]:
    file = "california_housing.csv.gz"
    X, y = _csv(file, "median_house_value", "california_housing", folder)
    return X.select_dtypes("number"), y.to_numpy(float) / 1e5


def _mixed(
    file: str, label: str, drop: tuple[str, ...], kind: type, folder: Path | None, seed: int
) -> tuple[Any, Any]:
    X, y = _csv(f"mixed/{file}.csv", label, None, folder, drop)
    return X, y.to_numpy(kind)


def _mnist(folder: Path | None, seed: int) -> Any:
    return mnist(folder)


def _some_mnist(folder: Path | None, seed: int) -> tuple[Any, Any]:
    X, y, _, _ = mnist(folder)
    some = np.random.default_rng(seed).permutation(len(y))[:10_000]
    return X[some], y[some]


def _few_letters(folder: Path | None, seed: int) -> tuple[Any, Any]:
    """Some rows of each of the 26 classes."""
    X, y = _classes("letter.csv.gz", "lettr", "letter", folder, seed)
    some, _ = train_test_split(np.arange(len(y)), train_size=40 * 26, random_state=seed, stratify=y)
    return X[some], y[some]


def _few_mnist(folder: Path | None, seed: int) -> tuple[Any, Any]:
    """Fewer rows than columns."""
    X, y = _some_mnist(folder, seed)
    return X[:600], y[:600]


FOUR_GROUPS = ("alt.atheism", "comp.graphics", "sci.space", "talk.religion.misc")


def _newsgroups(groups: tuple[str, ...] | None, folder: Path | None, seed: int) -> Any:
    """Tf-idf rows of 20 Newsgroups, or of some groups, split by date as published."""
    found: list[Any] = []
    for subset in ("train", "test"):
        if folder is not None and (folder / "20newsgroups").is_dir():
            here = folder / "20newsgroups"
            X, labels = sparse.load_npz(here / f"tfidf_{subset}.npz"), np.load(here / "labels.npz")
            y, names = labels[f"y_{subset}"], labels["class_names"]
        else:
            bunch = datasets.fetch_20newsgroups_vectorized(subset=subset)
            X, y, names = bunch.data, bunch.target, np.array(bunch.target_names)
        rows = np.isin(names[y], groups or names)
        found += [X[rows], y[rows]]
    return found


def _text_embedding(folder: Path | None, seed: int) -> Any:
    """20 Newsgroups in 300 dense columns: directions of truncated SVD, rows of unit length."""
    X, y, X_test, y_test = _newsgroups(None, folder, seed)
    model = make_pipeline(TruncatedSVD(300, random_state=0), Normalizer()).fit(X)
    return model.transform(X), y, model.transform(X_test), y_test


def _yeast(folder: Path | None, seed: int) -> Any:
    if folder is not None and (folder / "yeast.npz").is_file():
        arrays = np.load(folder / "yeast.npz")
        return [arrays[name] for name in ("X_train", "Y_train", "X_test", "Y_test")]
    bunch = datasets.fetch_openml("yeast", version=4, as_frame=True)
    X, Y = bunch.data.to_numpy(float), (bunch.target == "TRUE").to_numpy(np.uint8)
    return X[:1500], Y[:1500], X[1500:], Y[1500:]


def _waveform(folder: Path | None, seed: int) -> tuple[Any, Any]:
    """Breiman et al. (1984): mixtures of two of three triangular waves, and noise."""
    draw, at = np.random.default_rng(seed), np.arange(1, 22)
    waves = np.maximum(6 - np.abs(at - np.array([[11], [15], [7]])), 0)
    y, share = draw.integers(0, 3, 2000), draw.uniform(size=(2000, 1))
    pairs = np.array([[0, 1], [0, 2], [1, 2]])[y]
    mixed = share * waves[pairs[:, 0]] + (1 - share) * waves[pairs[:, 1]]
    return mixed + draw.normal(size=mixed.shape), y


def _madelon(folder: Path | None, seed: int) -> tuple[Any, Any]:
    """In the manner of Madelon (Guyon, 2003), with 100 columns and not 500.

    The classes have 8 corners each of a cube in 5 dimensions. With 16 each, as in Madelon,
    `make_classification` separates them by a plane.
    """
    made = dict(n_informative=5, n_redundant=15, n_clusters_per_class=8, flip_y=0.01)
    return datasets.make_classification(2600, 100, class_sep=2.0, random_state=seed, **made)


def _friedman(folder: Path | None, seed: int) -> tuple[Any, Any]:
    return datasets.make_friedman1(1000, 10, noise=1.0, random_state=seed)


TITANIC = ("name", "ticket", "cabin")  # text and numbers that nearly every passenger has alone
SIMULATED = "simulated"

DATA: dict[str, DataSet] = {
    **{
        name: DataSet("classes", partial(_bundled, name))
        for name in ("iris", "wine", "sonar", "ionosphere", "breast_cancer", "digits")
    },
    "vehicle": DataSet("classes", partial(_classes, "classes/vehicle.csv.gz", "class", None)),
    "vowel": DataSet(
        "classes",
        partial(_classes, "classes/vowel.csv.gz", "class", None, first=3),
        note="without the numbers of part, speaker and sex",
    ),
    "penguins": DataSet(
        "classes", partial(_mixed, "penguins", "species", (), str), frame=True, note="one-hot"
    ),
    "titanic": DataSet(
        "classes",
        partial(_mixed, "titanic", "survived", TITANIC, int),
        frame=True,
        note="one-hot; without name, ticket and cabin",
    ),
    "mpg_origin": DataSet(
        "classes", partial(_mixed, "mpg", "origin", ("name",), str), frame=True, note="without name"
    ),
    "optdigits": DataSet("classes", partial(_classes, "classes/optdigits.csv.gz", "class", None)),
    "satellite": DataSet(
        "classes", partial(_classes, "satellite.csv.gz", "classes", "satimage"), n_splits=3
    ),
    "letter": DataSet("classes", partial(_classes, "letter.csv.gz", "lettr", "letter"), n_splits=3),
    "newsgroups4": DataSet(
        "classes",
        partial(_newsgroups, FOUR_GROUPS),
        n_splits=1,
        own_test=True,
        note=", ".join(FOUR_GROUPS),
    ),
    "newsgroups": DataSet("classes", partial(_newsgroups, None), n_splits=1, own_test=True),
    "text_embedding": DataSet(
        "classes",
        _text_embedding,
        n_splits=1,
        own_test=True,
        note="20 Newsgroups, 300 components of TruncatedSVD, rows of unit length",
    ),
    "few_letters": DataSet("classes", _few_letters, note="40 rows of each class of letter"),
    "few_mnist": DataSet("classes", _few_mnist, note="600 of its training rows"),
    "mnist10k": DataSet("classes", _some_mnist, n_splits=3, note="10,000 of its training rows"),
    "mnist": DataSet("classes", _mnist, n_splits=1, own_test=True),
    "waveform": DataSet("classes", _waveform, note=SIMULATED),
    "madelon100": DataSet("classes", _madelon, note=f"{SIMULATED}, like Madelon"),
    "yeast": DataSet("multilabel", _yeast, n_splits=1, own_test=True),
    "diabetes": DataSet("numbers", partial(_bundled, "diabetes")),
    "boston": DataSet("numbers", partial(_numbers, "bostonHousing")),
    "concrete": DataSet("numbers", partial(_numbers, "concrete")),
    "energy": DataSet("numbers", partial(_numbers, "energy")),
    "wine_quality": DataSet(
        "numbers", partial(_numbers, "wine-quality-red"), note="red; grades from 3 to 8"
    ),
    "mpg": DataSet(
        "numbers", partial(_mixed, "mpg", "mpg", ("name",), float), frame=True, note="without name"
    ),
    "kin8nm": DataSet("numbers", partial(_numbers, "kin8nm"), n_splits=3),
    "power_plant": DataSet("numbers", partial(_numbers, "power-plant"), n_splits=3),
    "california": DataSet("numbers", _california, n_splits=3, frame=True),
    "friedman1": DataSet("numbers", _friedman, note=f"{SIMULATED}, 5 of 10 columns matter"),
}
