"""`make bench-quality`: what an embedding tells of held-out labels, ours beside those of peers.

Ours is `labelens.select` with nothing but the number of components, and its time includes all that
was compared. Peers take rows as they are and standardized, and the better of the two on the test
rows stands in the table; their time is that of one fit. NCA, which takes a time of the square of
the rows, gets at most NCA_ROWS of them. UMAP is warmed up: it compiles itself first.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import umap
from scipy import sparse
from sklearn.cross_decomposition import PLSSVD, PLSRegression
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import f1_score
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import LabelBinarizer, StandardScaler

from data import (
    Split,
    california,
    ionosphere,
    letter,
    mnist_split,
    newsgroups_split,
    satellite,
    yeast,
)
from labelens import KernelSupervisedPCA, knn_score, select
from measure import machine, seconds

NCA_ROWS = 3000
NEIGHBOURS = 10  # of numbers and of label sets


@dataclass
class Result:
    data: str
    k: int
    method: str
    score: float
    seconds: float
    note: str = ""


def peers(split: Split, k: int) -> Iterator[tuple[str, Any, Any]]:
    """Name, estimator and the y that it takes."""
    labels, wide = split.y_train, sparse.issparse(split.X_train)
    if split.kind != "classes":
        yield "PCA", PCA(k), None
        yield "PLSRegression", PLSRegression(k, scale=False), labels
        return
    indicator = LabelBinarizer().fit_transform(labels)
    indicator = np.hstack([1 - indicator, indicator]) if indicator.shape[1] == 1 else indicator
    if wide:  # dense methods have no chance with so many columns: 300 of truncated SVD stand in
        yield "TruncatedSVD", TruncatedSVD(k, random_state=0), None
    else:
        yield "PCA", PCA(k, random_state=0), None
    yield "LDA", LinearDiscriminantAnalysis(n_components=k), labels
    yield "PLSSVD", PLSSVD(k, scale=False), indicator
    yield "NCA", NeighborhoodComponentsAnalysis(k, random_state=0, max_iter=50), labels
    yield "UMAP", umap.UMAP(n_components=k), np.unique(labels, return_inverse=True)[1]


def score(split: Split, Z: Any, Z_test: Any) -> float:
    if split.kind == "classes":
        return knn_score(Z, split.y_train, Z_test, split.y_test)
    if split.kind == "numbers":
        return knn_score(Z, split.y_train, Z_test, split.y_test, NEIGHBOURS)
    model = KNeighborsClassifier(NEIGHBOURS).fit(Z, split.y_train)
    return float(f1_score(split.y_test, model.predict(Z_test), average="micro"))


def views(split: Split, name: str) -> Iterator[tuple[str, Any, Any]]:
    """Rows as they are, and standardized."""
    train, test = split.X_train, split.X_test
    if sparse.issparse(train):
        if name in ("TruncatedSVD", "UMAP"):
            yield "", train, test
        else:
            reduced = TruncatedSVD(300, random_state=0).fit(train)
            yield (
                "of 300 truncated SVD components",
                reduced.transform(train),
                reduced.transform(test),
            )
        return
    yield "", train, test
    if name != "UMAP":
        scaler = StandardScaler().fit(train)
        yield "standardized", scaler.transform(train), scaler.transform(test)


def fitted(name: str, model: Any, X: Any, y: Any) -> tuple[Any, float, str]:
    some, note = slice(None), ""
    if name == "NCA" and X.shape[0] > NCA_ROWS:
        some = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:NCA_ROWS])
        note = f"on {NCA_ROWS} rows"
    start = perf_counter()
    model.fit(X[some], *([] if y is None else [y[some]]))
    return model, perf_counter() - start, note


def compare(split: Split, k: int) -> Iterator[Result]:
    start = perf_counter()
    chosen = select(
        split.X_train,
        split.y_train,
        n_components=k,
        n_neighbors=None if split.kind == "classes" else NEIGHBOURS,
        random_state=0,
    )
    took = perf_counter() - start
    Z, Z_test = (chosen.estimator.transform(X) for X in (split.X_train, split.X_test))
    yield Result(split.name, k, "labelens.select", score(split, Z, Z_test), took, chosen.reason)
    for name, _, _ in peers(split, k):
        found = []
        for view, X, X_test in views(split, name):
            ((model, y),) = [(m, y) for n, m, y in peers(split, k) if n == name]
            model, took, note = fitted(name, model, X, y)
            told = ", ".join(part for part in (view, note) if part)
            Z = model.embedding_ if name == "UMAP" else model.transform(X)
            own = score(split, Z, model.transform(X_test))
            found.append(Result(split.name, k, name, own, took, told))
        yield max(found, key=lambda one: one.score)


DATA: dict[str, tuple[Callable[..., Split], int | None, int]] = {
    # loader, components (None: min(classes - 1, columns)), splits
    "ionosphere": (ionosphere, None, 5),
    "satellite": (satellite, None, 3),
    "letter": (letter, None, 1),
    "newsgroups": (newsgroups_split, None, 1),
    "mnist": (mnist_split, None, 1),
    "california": (california, 2, 1),
    "yeast": (yeast, 13, 1),
}


def run(name: str, folder: Path | None) -> list[Result]:
    """The mean over splits, of score and time."""
    load, k, splits = DATA[name]
    rounds = []
    for seed in range(splits):
        split = load(folder, seed)
        own = k or min(len(set(split.y_train)) - 1, split.X_train.shape[1])
        rounds.append(list(compare(split, own)))
    means = []
    for same in zip(*rounds, strict=True):
        first = asdict(same[0])
        first["score"] = float(np.mean([one.score for one in same]))
        first["seconds"] = float(np.median([one.seconds for one in same]))
        means.append(Result(**first))
        print(
            f"{first['data']:14}{first['method']:18}{first['score']:.4f}"
            f"{first['seconds']:9.2f} s  {first['note']}",
            flush=True,
        )
    return means


def cost(folder: Path | None) -> dict[str, float]:
    """What a grid costs in fits: 10 widths x 4 shrinkages x 10 folds of MNIST, 1024 features."""
    split = mnist_split(folder, 0)
    model = KernelSupervisedPCA(9, gamma=0.013, shrinkage=1e-3, random_state=0)
    grid = {"gamma": 0.013 * 10 ** np.linspace(-1, 1, 10), "shrinkage": [1, 0.1, 1e-2, 1e-3]}

    model.fit(split.X_train, split.y_train)
    fits = [seconds(lambda: model.fit(split.X_train, split.y_train)) for _ in range(5)]
    found = {}
    for max_rows in (8000, len(split.y_train)):
        taken = seconds(
            lambda rows=max_rows: select(
                split.X_train, split.y_train, model, grid=grid, cv=10, max_rows=rows
            )
        )
        found[f"{max_rows:,}"] = taken / float(np.median(fits))
    for rows, ratio in found.items():
        print(f"10 widths x 4 shrinkages x 10 folds of {rows} rows: {ratio:.1f} fits")
    return found


def table(results: list[Result]) -> str:
    """Markdown: a row for each data set, best score in bold."""
    methods = list(dict.fromkeys(one.method.replace("TruncatedSVD", "PCA") for one in results))
    lines = ["| data, k | " + " | ".join(methods) + " |", "|---|" + "---|" * len(methods)]
    for name in dict.fromkeys(one.data for one in results):
        here = {
            one.method.replace("TruncatedSVD", "PCA"): one for one in results if one.data == name
        }
        best = max(one.score for one in here.values())
        cells = []
        for method in methods:
            one = here.get(method)
            if one is None:
                cells.append("")
                continue
            text = f"{one.score:.3f}"
            cells.append(
                f"{'**' + text + '**' if one.score == best else text} ({_short(one.seconds)} s)"
            )
        k = next(iter(here.values())).k
        lines.append(f"| {name}, {k} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _short(seconds: float) -> str:
    return (
        f"{seconds:.0f}"
        if seconds >= 10
        else f"{max(seconds, 0.001):.1g}"
        if seconds < 1
        else f"{seconds:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("only", nargs="*", help="data sets to run, of " + ", ".join(DATA))
    options = parser.parse_args()
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    warnings.simplefilter("ignore")
    draw = np.random.default_rng(0)
    umap.UMAP().fit(draw.normal(size=(5000, 8)), draw.integers(0, 3, 5000))
    select(draw.normal(size=(5000, 8)), draw.integers(0, 3, 5000), random_state=0)
    options.out.mkdir(parents=True, exist_ok=True)
    record = options.out / "quality.json"
    results = [Result(**one) for one in json.loads(record.read_text())] if record.exists() else []
    for name in options.only or DATA:  # what is there of other data sets stays
        found = run(name, options.data)
        results = [one for one in results if one.data != found[0].data] + found
        record.write_text(json.dumps([asdict(one) for one in results], indent=1))
    (options.out / "quality.md").write_text(table(results) + "\n")
    print(table(results))
    if not options.only or "mnist" in options.only:
        cost(options.data)


if __name__ == "__main__":
    main()
