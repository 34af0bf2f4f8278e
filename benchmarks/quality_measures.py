"""Measures of an embedding of held-out rows.

Accuracy says what the neighbours predict. Label-Trustworthiness and Label-Continuity (Jeon et al.,
2024, "Classes are not Clusters") compare how far apart each pair of classes is in the data and in
the embedding: the first falls where an embedding brings classes together, the second where it
pulls them apart. Trustworthiness within classes says whether rows of one class keep their
neighbours.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp
from scipy.stats import mode
from sklearn.manifold import trustworthiness
from sklearn.metrics import f1_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from data import Part, Split

NEIGHBOURS = 15  # for classes; the nearest of them is the 1-NN classifier's
NUMERIC_NEIGHBOURS = 10  # for numbers and for label sets
TRUST_NEIGHBOURS = 10
TRUST_ROWS = 2000  # at most, where there are no classes: distances take their square
SHUFFLES = 20  # as in the authors' code

MEASURES = {
    "acc1": "1-NN accuracy",
    "acc15": "15-NN accuracy",
    "r2": "10-NN R²",
    "f1": "10-NN micro-F1",
    "label_trust": "Label-Trustworthiness",
    "label_cont": "Label-Continuity",
    "trust": "trustworthiness within classes",
}


class Judge:
    """Measure embeddings of one held-out part, compared with its standardized columns.

    Tf-idf rows have a common scale already, and stay as they are.
    """

    def __init__(self, part: Part, split: Split) -> None:
        self.kind, self.y_train, self.y = split.kind, split.y, part.y
        is_text = sparse.issparse(part.X)
        self.X = part.X if is_text else standardizer(split.X).transform(part.X)
        self.apart = separability(self.X, part.y) if self.kind == "classes" else None

    def __call__(self, Z_train: Any, Z: Any) -> dict[str, float]:
        found = predictions(self.kind, Z_train, self.y_train, Z, self.y)
        if self.apart is not None:
            found |= label_measures(self.apart, separability(Z, self.y))
            found["trust"] = class_trustworthiness(self.X, Z, self.y)
        else:
            some = np.random.default_rng(0).permutation(len(self.y))[:TRUST_ROWS]
            found["trust"] = trustworthiness(
                self.X[some], _dense(Z[some]), n_neighbors=TRUST_NEIGHBOURS
            )
        return {name: float(value) for name, value in found.items()}


def standardizer(X: Any) -> StandardScaler:
    """Fit means and variances of the columns; sparse rows stay sparse and are not centred."""
    return StandardScaler(with_mean=not sparse.issparse(X)).fit(X)


# Predictions -----------------------------------------------------------------------------------


def predictions(
    kind: str, Z_train: Any, y_train: NDArray[Any], Z: Any, y: NDArray[Any]
) -> dict[str, float]:
    """Scores of nearest neighbours: two accuracies, R² (mean of the targets) or micro-F1."""
    if kind == "numbers":
        model = KNeighborsRegressor(NUMERIC_NEIGHBOURS).fit(Z_train, y_train)
        return {"r2": model.score(Z, y)}
    if kind == "multilabel":
        model = KNeighborsClassifier(NUMERIC_NEIGHBOURS).fit(Z_train, y_train)
        return {"f1": f1_score(y, model.predict(Z), average="micro")}
    classes, codes = np.unique(y_train, return_inverse=True)
    nearest = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(Z_train)
    near = codes[nearest.kneighbors(Z, return_distance=False)]
    return {
        "acc1": np.mean(classes[near[:, 0]] == y),
        "acc15": np.mean(classes[mode(near, axis=1).mode] == y),
    }


def criterion(kind: str) -> str:
    """The measure by which peers are tuned."""
    return {"classes": "acc15", "numbers": "r2", "multilabel": "f1"}[kind]


# Classes apart from each other -----------------------------------------------------------------


def separability(X: Any, y: NDArray[Any]) -> NDArray[np.float64]:
    """Between-dataset Calinski-Harabasz index of every pair of classes.

    For rows x of two classes with centroids c_1 and c_2, the centroid c of both, and s the standard
    deviation of |x - c|,

        CH = (n - 2) sum_i n_i exp(|c_i - c| / s) / sum_x exp(|x - c_(class of x)| / s),

    and with E, its mean over shuffled labels, the index is (CH - E) / (CH + 1): 0 by chance, at
    most 1. This is (f(CH) - f(E)) / (1 - f(E)) for f(a) = a / (a + 1).
    """
    draw = np.random.default_rng(0)
    pairs = combinations(np.unique(y), 2)
    return np.array(
        [_pair(X[(y == a) | (y == b)], y[(y == a) | (y == b)] == a, draw) for a, b in pairs]
    )


def _pair(X: Any, first: NDArray[np.bool_], draw: np.random.Generator) -> float:
    n, is_sparse = len(first), sparse.issparse(X)
    X = X.astype(np.float64)
    centre = np.asarray(X.mean(axis=0)).ravel()
    if not is_sparse:  # for accuracy: distances are differences of squares
        X, centre = X - centre, np.zeros_like(centre)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if is_sparse else (X**2).sum(axis=1)
    labels = np.array([first, *(draw.permutation(first) for _ in range(SHUFFLES))])

    def distances(points: NDArray[np.float64]) -> NDArray[np.float64]:
        squared = squares[:, None] - 2 * (X @ points.T) + (points**2).sum(axis=1)
        return np.sqrt(np.maximum(squared, 0)).T

    spread = distances(centre[None])[0].std()
    if spread == 0:
        return 0.0
    within, between = np.empty(labels.shape), np.empty((2, len(labels)))
    for side, members in enumerate((labels, ~labels)):
        centroids = (X.T @ members.T).T / members[0].sum()
        within = np.where(members, distances(centroids), within)
        apart = np.linalg.norm(centroids - centre, axis=1) / spread
        between[side] = apart + np.log(members[0].sum())
    index = np.log(n - 2) + logsumexp(between, axis=0) - logsumexp(within / spread, axis=1)
    chance = logsumexp(index[1:]) - np.log(SHUFFLES)
    return float((1 - np.exp(chance - index[0])) / (1 + np.exp(-index[0])))


def label_measures(data: NDArray[np.float64], embedding: NDArray[np.float64]) -> dict[str, float]:
    """Label-Trustworthiness and Label-Continuity, of the separability of pairs of classes."""
    lost = data - embedding
    return {
        "label_trust": 1 - np.maximum(lost, 0).mean(),
        "label_cont": 1 - np.maximum(-lost, 0).mean(),
    }


def class_trustworthiness(X: Any, Z: Any, y: NDArray[Any]) -> float:
    """Trustworthiness of each class by itself, and the mean of the classes.

    Classes of few rows have fewer neighbours (less than half of their rows, as scikit-learn
    demands); those of less than 5 rows do not count.
    """
    found = []
    for name in np.unique(y):
        rows = np.flatnonzero(y == name)
        if len(rows) >= 5:
            neighbours = min(TRUST_NEIGHBOURS, (len(rows) - 1) // 2)
            found.append(trustworthiness(X[rows], _dense(Z[rows]), n_neighbors=neighbours))
    return float(np.mean(found))


def _dense(Z: Any) -> Any:
    return Z.toarray() if sparse.issparse(Z) else Z
