"""The methods that `quality.py` compares, and how peers are tuned.

Every peer gets the columns as they are and standardized, UMAP also two values of `n_neighbors`. The
best setting is chosen on the training rows alone, by the same rule for all: 15-NN accuracy (10-NN
R², micro-F1), in 5 folds of up to FOLD_ROWS training rows, and on a held-out fifth of at most
TUNING_ROWS of them if there are more. Then it is fitted on all training rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.preprocessing import FunctionTransformer, LabelBinarizer, OneHotEncoder

import labelens
from quality_measures import criterion, predictions, standardizer

NCA_ROWS = 3000
NCA_ITERATIONS = 50  # at most; the default
TEXT_COMPONENTS = 300
FOLD_ROWS = 1000
TUNING_ROWS = 8000  # as many as `labelens.select` compares its candidates on
SLICES = 10
FOREST_TREES = 100
KINDS = ("classes", "numbers", "multilabel")


@dataclass
class Fitted:
    """Training rows as they are embedded, a function for others, and what it took."""

    train: Any
    transform: Callable[[Any], Any]
    seconds: float
    cpu: float  # seconds of all threads, which other programs of the machine change little
    tuning: float = 0.0  # seconds, of the choice between settings
    setting: str = ""


# Ours ------------------------------------------------------------------------------------------


def _select(X: Any, y: NDArray[Any], kind: Any, k: int, seed: int) -> Fitted:
    start, cpu = perf_counter(), process_time()
    chosen = labelens.select(X, y, n_components=k, task=kind, random_state=seed)
    took, cpu = perf_counter() - start, process_time() - cpu
    transform = chosen.estimator.transform
    method = chosen.table[0]["method"]
    settings = ", ".join(f"{name}={value}" for name, value in chosen.params.items())
    return Fitted(transform(X), transform, took, cpu, setting=f"{method} {settings}".strip())


def _atlas(X: Any, y: NDArray[Any], kind: Any, k: int, seed: int) -> Fitted:
    start, cpu = perf_counter(), process_time()
    atlas = labelens.Atlas(random_state=seed).fit(X, y)
    took, cpu = perf_counter() - start, process_time() - cpu
    return Fitted(atlas.transform(X), atlas.transform, took, cpu)


@dataclass(frozen=True)
class Ours:
    """A method of labelens, for which labels and which numbers of components."""

    fit: Callable[[Any, NDArray[Any], Any, int, int], Fitted]  # of X, y, their kind, k and the seed
    kinds: tuple[str, ...] = KINDS
    sizes: tuple[int, ...] | None = None  # None: any


SELECT = "labelens.select"
OURS: dict[str, Ours] = {
    SELECT: Ours(_select),
    "labelens.Atlas": Ours(_atlas, kinds=("classes",), sizes=(2,)),
}


# Peers -----------------------------------------------------------------------------------------


class SIR:
    """Sliced inverse regression (Li, 1991), of slices with equally many rows."""

    def __init__(self, k: int) -> None:
        self.k = k

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> SIR:
        self.mean = X.mean(axis=0)
        slices = np.array_split(np.argsort(y, kind="stable"), SLICES)
        means = np.array([X[rows].mean(axis=0) - self.mean for rows in slices])
        between = means.T @ (means * [[len(rows) / len(y)] for rows in slices])
        total = np.cov(X.T, bias=True)
        total += 1e-9 * np.trace(total) / len(total) * np.eye(len(total))  # for constant columns
        self.axes = linalg.eigh(between, total)[1][:, ::-1][:, : self.k]
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        return (X - self.mean) @ self.axes


class ForestScaling:
    """Classical multidimensional scaling of random-forest proximities (Breiman, 2001).

    The proximity of two rows is the share of trees in which they have a leaf in common: an inner
    product of indicators of leaves. So the scaling is their PCA, which also places new rows.
    """

    def __init__(self, k: int, kind: str, **options: Any) -> None:
        forest = RandomForestRegressor if kind == "numbers" else RandomForestClassifier
        self.forest = forest(FOREST_TREES, random_state=0, n_jobs=-1, **options)
        self.leaves = OneHotEncoder(handle_unknown="ignore", dtype=np.float32)
        self.scaling = PCA(k, svd_solver="arpack", random_state=0)

    def fit(self, X: Any, y: NDArray[Any]) -> ForestScaling:
        leaves = self.leaves.fit_transform(self.forest.fit(X, y).apply(X))
        self.scaling.fit(leaves)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        return self.scaling.transform(self.leaves.transform(self.forest.apply(X)))


@dataclass(frozen=True)
class Peer:
    """How to make it for k components, for which labels, and how much it is given."""

    make: Callable[..., Any]  # of k, the kind of labels, and a setting
    kinds: tuple[str, ...] = KINDS
    settings: tuple[dict[str, Any], ...] = ({},)
    indicators: bool = False  # it takes classes as indicators
    takes_sparse: bool = False
    max_rows: int | None = None
    below_classes: bool = False  # it has at most n_classes - 1 components
    keeps_size: bool = False  # it has k components also where X has fewer columns


def _lda(k: int, kind: str, **options: Any) -> Any:
    return LinearDiscriminantAnalysis(n_components=k, **options)


def _shrunk_lda(k: int, kind: str) -> Any:
    return _lda(k, kind, solver="eigen", shrinkage="auto")


def _nca(k: int, kind: str) -> Any:
    return NeighborhoodComponentsAnalysis(k, random_state=0, max_iter=NCA_ITERATIONS)


def _umap(k: int, kind: str, **options: Any) -> Any:
    import umap

    metric = {"classes": "categorical", "numbers": "euclidean", "multilabel": "jaccard"}[kind]
    return umap.UMAP(n_components=k, target_metric=metric, **options)


RAW, UMAP, FOREST = "raw columns", "supervised UMAP", "random forest + MDS"

PEERS: dict[str, Peer] = {
    RAW: Peer(lambda k, kind: FunctionTransformer(accept_sparse=True), takes_sparse=True),
    "PCA": Peer(lambda k, kind: PCA(k, random_state=0), takes_sparse=True),
    "LDA": Peer(_lda, kinds=("classes",), below_classes=True),
    "shrunk LDA": Peer(_shrunk_lda, kinds=("classes",), below_classes=True),
    "PLS": Peer(lambda k, kind: PLSRegression(k, scale=False), indicators=True),
    "NCA": Peer(_nca, kinds=("classes",), max_rows=NCA_ROWS),
    "SIR": Peer(lambda k, kind: SIR(k), kinds=("numbers",)),
    FOREST: Peer(
        ForestScaling,
        settings=({"min_samples_leaf": 1}, {"min_samples_leaf": 5}),
        takes_sparse=True,
        keeps_size=True,
    ),
    UMAP: Peer(_umap, settings=({"n_neighbors": 15}, {"n_neighbors": 50}), takes_sparse=True),
}

BUDGET = [
    "`labelens.select(X, y, n_components=k, task=kind, random_state=seed)` without other options: "
    "it is told what y is, as the peers are. Its own cross-validation uses the training rows "
    "alone, by the mean of 1-NN and 15-NN accuracy (10-NN R², micro-F1); its time includes it.",
    "Peers: columns as they are and standardized (2 settings). Supervised UMAP: also `n_neighbors` "
    "of 15 and 50, random forest: also `min_samples_leaf` of 1 and 5 (4 settings). The choice is "
    "made on the training rows, by 15-NN accuracy (10-NN R², micro-F1): in 5 folds of up to "
    f"{FOLD_ROWS:,} training rows, else on a held-out fifth of at most {TUNING_ROWS:,} of them. "
    "Other parameters are the defaults.",
    f"NCA is fitted on at most {NCA_ROWS:,} rows, with at most {NCA_ITERATIONS} iterations. LDA "
    "has at most n_classes - 1 components, also where k is larger. PLS of classes is PLS-DA "
    f"(PLSRegression on indicators). SIR has {SLICES} slices.",
    "Text: raw columns, PCA and supervised UMAP take the sparse rows, the other peers "
    f"{TEXT_COMPONENTS} components of TruncatedSVD.",
    "Supervised UMAP has no `random_state` here, because with one it uses a single thread. Its "
    '`target_metric` is "euclidean" for numbers and "jaccard" for label sets.',
    f"Random forest + MDS: classical scaling of the proximities of {FOREST_TREES} trees, which "
    "is a PCA of indicators of their leaves. PHATE of proximities has no embedding of new rows.",
]


def peers(kind: str) -> dict[str, Peer]:
    return {name: peer for name, peer in PEERS.items() if kind in peer.kinds}


def fit_peer(peer: Peer, X: Any, y: NDArray[Any], kind: str, k: int, seed: int) -> Fitted:
    """Choose among the settings on the training rows, and fit the best on all of them."""
    start = perf_counter()
    candidates = list(product((False, True), peer.settings))
    scores: list[list[float]] = [[] for _ in candidates]
    for train, held_out in _tuning_rows(y, kind, seed):
        for found, candidate in zip(scores, candidates, strict=True):
            try:
                model = _fitted(peer, X[train], y[train], kind, k, seed, *candidate)
                Z = model.transform(X[held_out])
                score = predictions(kind, model.train, y[train], Z, y[held_out])
                found.append(score[criterion(kind)])
            except (ValueError, np.linalg.LinAlgError) as error:
                print(f"  {candidate} counts as the worst: {error}", flush=True)
                found.append(-np.inf)
    best = candidates[int(np.argmax([np.mean(found) for found in scores]))]
    tuning = perf_counter() - start
    model = _fitted(peer, X, y, kind, k, seed, *best)
    scaled = ["standardized"] if best[0] else []
    told = [f"{name}={value}" for name, value in best[1].items()]
    model.tuning, model.setting = tuning, ", ".join(scaled + told)
    return model


def _tuning_rows(
    y: NDArray[Any], kind: str, seed: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Folds of few rows, and one of a sample of many."""
    folds = (StratifiedKFold if kind == "classes" else KFold)(5, shuffle=True, random_state=seed)
    if len(y) <= FOLD_ROWS:
        yield from folds.split(np.zeros(len(y)), y)
    else:
        some = np.random.default_rng(seed).permutation(len(y))[:TUNING_ROWS]
        train, held_out = next(iter(folds.split(some, y[some])))
        yield some[train], some[held_out]


def _fitted(
    peer: Peer, X: Any, y: NDArray[Any], kind: str, k: int, seed: int, scaled: bool, setting: Any
) -> Fitted:
    """Fit with one setting; the time is of the fit and of the preparation of the columns."""
    start, cpu = perf_counter(), process_time()
    steps: list[Callable[[Any], Any]] = []
    if sparse.issparse(X) and not peer.takes_sparse:
        steps.append(TruncatedSVD(TEXT_COMPONENTS, random_state=0).fit(X).transform)
        X = steps[-1](X)
    if scaled:
        steps.append(standardizer(X).transform)
        X = steps[-1](X)
    some: Any = slice(None)
    if peer.max_rows is not None and X.shape[0] > peer.max_rows:
        some = np.sort(np.random.default_rng(seed).permutation(X.shape[0])[: peer.max_rows])
    labels = y
    if kind == "classes":
        labels = np.unique(y, return_inverse=True)[1]
        if peer.indicators:
            labels = LabelBinarizer().fit_transform(labels)
        if peer.below_classes:
            k = min(k, len(np.unique(y)) - 1)
    model = peer.make(k if peer.keeps_size else min(k, X.shape[1]), kind, **setting)
    model.fit(X[some], labels[some])
    took, cpu = perf_counter() - start, process_time() - cpu

    def transform(rows: Any) -> Any:
        for step in steps:
            rows = step(rows)
        return model.transform(rows)

    train = model.embedding_ if hasattr(model, "embedding_") else model.transform(X)
    return Fitted(train, transform, took, cpu)
