"""Which labels are probably wrong?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import KDTree
from scipy.special import ndtr, softmax
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from .._base import devices
from .._base.optional import require
from .._base.types import LabelsLike, MatrixLike, RandomState
from .._base.validation import check_number, check_rows, check_seed
from .._core.class_scores import Codes
from .._core.labels.vocabulary import as_class_array, label_kind, number_labels
from .._core.left_one_out import predicted_by_others
from .._core.moments import Array
from .._fit.task import Kind, Task
from ..methods import SupervisedPCA

__all__ = ["label_issues"]

FEWEST_ROWS = 10
# The most certain rows of a predicted class, by this share, estimate how many labels are wrong.
SUREST, FEWEST_SURE, PRIOR = 0.25, 20, 10.0
POWERS = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0)  # of predictions, to be probabilities
LEAST = 0.02  # prediction
CALIBRATED_ROWS = 5000
# Near-duplicates: this much closer than neighbours usually are. Outliers: robust standard scores.
NEAR, FAR, PROJECTED, CANDIDATES, REFERENCES = 1e-3, 5.0, 6, 8, 1000


def label_issues(
    X: MatrixLike,
    y: LabelsLike,
    *,
    false_discovery_rate: float = 0.1,
    task: Kind | None = None,
    random_state: RandomState | None = None,
) -> Any:
    """Find labels that are probably wrong, and rank all rows by label quality.

    Every row is predicted by kernel ridge regression on all other rows. A label is suspect if the
    predictions make another one more probable.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Numbers without gaps.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Classes, numbers or a multilabel indicator.
    false_discovery_rate : float, default=0.1
        The share of flagged labels that may be right.
    task : {"classes", "numbers", "multilabel"}, default=None
        What y is; None decides as `labelens.select` does.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks.

    Returns
    -------
    pandas.DataFrame
        A line for each label, in the order of the rows. `row` is its position, `label` the column
        of y (if y has several). `given_label`, `predicted_label`, `label_quality` (from 0 to 1,
        low is suspect) and `is_label_issue` are as in cleanlab. `near_duplicate` is the position
        of a nearly equal row with another label, -1 if there is none. `is_outlier` marks rows far
        from all others, whose predictions mean little.

    See Also
    --------
    labelens.permutation_report : whether the labels depend on the rows at all.

    Notes
    -----
    For classes, predictions are powers of regressions on one-hot labels, normalized. The rows that
    are predicted with the largest margins show how often a class is labelled as another, and Bayes'
    rule gives the probability that a label is right. The quality is the mean of that and of the
    margin, the difference between the predictions of the given class and of the best other one,
    from 0 to 1. Flags are the lowest qualities for which the mean probability of a right label is
    at most `false_discovery_rate`. Classes that overlap strongly look like wrong labels: where two
    classes cannot be told apart by any row, more flags are right labels than stated.

    For numbers the quality is the two-sided p-value of the residual, in robust standard deviations
    of residuals, and the flags are those of Benjamini and Hochberg. Labels in several columns are
    judged one column at a time.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import label_issues
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[3, 60]] = 2, 0
    >>> issues = label_issues(X, y, random_state=0)
    >>> issues.sort_values("label_quality").row[:2].tolist()
    [3, 60]
    """
    pandas = require("pandas", extra="cli")
    check_number(false_discovery_rate, "false_discovery_rate", 0, 1, open_low=True)
    rows, seed = devices.host(check_rows(None, X, reset=True)), check_seed(random_state)
    known = Task.of(SupervisedPCA(), X, y, task)
    if known.n < FEWEST_ROWS:
        raise ValueError(f"X has {known.n} rows; label_issues needs at least {FEWEST_ROWS}.")
    if not sparse.issparse(rows):
        rows = np.ascontiguousarray(rows)  # the same digits for arrays and frames
    labels = known.dense_labels()
    columns = [labels] if labels.ndim == 1 else list(labels.T)
    near, outlier = _oddities(rows, columns, seed)
    parts = []
    for number, (column, twins) in enumerate(
        zip(_judged(rows, columns, known.kind, seed), near, strict=True)
    ):
        predicted, quality, right = column
        order = np.argsort(quality, kind="stable")
        flags = np.zeros(known.n, dtype=bool)
        flags[order[: _how_many(quality[order], right, order, false_discovery_rate)]] = True
        part: dict[str, Any] = {"row": np.arange(known.n)}
        if len(columns) > 1:
            part["label"] = np.full(known.n, number)
        part |= dict(given_label=columns[number], predicted_label=predicted, label_quality=quality)
        part |= dict(is_label_issue=flags, near_duplicate=twins, is_outlier=outlier)
        parts.append(pandas.DataFrame(part))
    frame = pandas.concat(parts).sort_values("row", kind="stable")
    return frame.reset_index(drop=True)


Judged = tuple[NDArray[Any], Array, Array | None]  # predictions, quality, P(right) if known


def _judged(rows: Any, columns: list[NDArray[Any]], kind: str, seed: int) -> list[Judged]:
    if kind == "numbers":
        given = np.column_stack(columns).astype(np.float64)
        scale = np.maximum(given.std(axis=0), 1e-300)
        predicted = predicted_by_others(rows, (given - given.mean(axis=0)) / scale, seed)
        predicted = predicted * scale + given.mean(axis=0)
        apart = np.abs(given - predicted)
        apart /= np.maximum(1.4826 * np.median(apart, axis=0), 1e-300)
        return [(p, q, None) for p, q in zip(predicted.T, 2 * ndtr(-apart).T, strict=True)]
    read = [number_labels(one, label_kind(one[0]), np.arange(len(one))) for one in columns]
    ends = np.cumsum([len(classes) for classes, _ in read])
    targets = np.hstack([np.eye(len(classes))[codes] for classes, codes in read])
    found: list[Judged] = []
    predictions = predicted_by_others(rows, targets, seed)
    for (classes, codes), scores in zip(
        read, np.split(predictions, ends[:-1], axis=1), strict=True
    ):
        if len(classes) == 1:
            if len(columns) == 1:
                raise ValueError(
                    f"y has one class only, {classes[0]!r}; at least two are required."
                )
            found.append((as_class_array(classes)[codes], np.ones(len(codes)), np.ones(len(codes))))
            continue
        right = _probability_right(scores, codes)
        own = scores[np.arange(len(codes)), codes]
        others = scores.copy()
        others[np.arange(len(codes)), codes] = -np.inf
        margin = np.clip(own - others.max(axis=1), -1, 1)
        quality = (right + (margin + 1) / 2) / 2
        found.append((as_class_array(classes)[scores.argmax(axis=1)], quality, right))
    return found


def _probability_right(scores: Array, codes: Codes) -> Array:
    """(n, c) predictions without the own label -> (n,) the probability that this label is right.

    With p the probabilities of the true class and T[a, b] how often class a is labelled as b,
    P(right) = p_y T[y, y] / sum_a p_a T[a, y]. The powers of predictions that serve as p are those
    under which the given labels are the most likely.
    """
    mixing = _mislabelling(scores, codes)
    logs = np.log(np.maximum(scores, LEAST))
    step = -(-len(codes) // CALIBRATED_ROWS)

    def given(power: float, some: slice) -> tuple[Array, Array]:
        p, y = softmax(power * logs[some], axis=1), codes[some]
        whole = (p * mixing.T[y]).sum(axis=1)
        return p[np.arange(len(y)), y] * mixing[y, y], np.maximum(whole, 1e-300)

    likelihoods = [np.log(given(power, slice(None, None, step))[1]).sum() for power in POWERS]
    own, whole = given(POWERS[int(np.argmax(likelihoods))], slice(None))
    return own / whole


def _mislabelling(scores: Array, codes: Codes) -> Array:
    """T, (c, c), from the labels of the rows whose predictions have the largest margins."""
    c = scores.shape[1]
    best = np.partition(scores, c - 2, axis=1)[:, -2:]
    predicted, margin = scores.argmax(axis=1), best[:, 1] - best[:, 0]
    counts = np.zeros((c, c))
    order = np.lexsort((-margin, predicted))
    for members in np.split(order, np.cumsum(np.bincount(predicted, minlength=c))[:-1]):
        if len(members):
            sure = members[: max(int(np.ceil(SUREST * len(members))), FEWEST_SURE)]
            counts[predicted[members[0]]] = np.bincount(codes[sure], minlength=c)
    wrong = 1 - np.trace(counts) / counts.sum()
    usual = np.full((c, c), wrong / (c - 1))
    np.fill_diagonal(usual, 1 - wrong)
    return (counts + PRIOR * usual) / (counts.sum(axis=1, keepdims=True) + PRIOR)


def _how_many(quality: Array, right: Array | None, order: Codes, rate: float) -> int:
    """How many of the lowest qualities are flagged."""
    ranks = np.arange(1, len(order) + 1)
    if right is None:  # Benjamini and Hochberg (1995)
        few = quality <= rate * ranks / len(order)
    else:
        few = np.cumsum(right[order]) <= rate * ranks
    return int(ranks[few].max(initial=0))


def _oddities(
    rows: Any, columns: list[NDArray[Any]], seed: int
) -> tuple[list[Codes], NDArray[np.bool_]]:
    """For each column the near-duplicate with another label, or -1; and whether rows are far off.

    Rows in up to six random directions: what is near there is compared in all columns.
    """
    n, d = rows.shape
    draw = np.random.default_rng(seed)
    scaled = StandardScaler(with_mean=False).fit_transform(rows)
    references = scaled[np.sort(draw.permutation(n)[:REFERENCES])]
    apart = _second_nearest(scaled, references)
    usual = float(np.median(apart))
    logs = np.log(np.maximum(apart, 1e-12 + 1e-6 * usual))
    above = logs - np.median(logs)
    outlier = above > FAR * max(1.4826 * float(np.median(np.abs(above))), 1e-12)
    directions = draw.normal(size=(d, min(d, PROJECTED)))
    low = scaled @ (directions / np.linalg.norm(directions, axis=0))
    reach = NEAR * usual + 1e-12
    _, near = KDTree(low).query(low, min(CANDIDATES, n), distance_upper_bound=reach)
    twins = [np.full(n, -1, dtype=np.intp) for _ in columns]
    for places in near.T[::-1]:
        which = np.flatnonzero(places < n)
        gap = scaled[which] - scaled[places[which]]
        squares = gap.multiply(gap) if sparse.issparse(gap) else np.square(gap)
        which = which[np.asarray(squares.sum(axis=1)).ravel() <= reach**2]
        for column, found in zip(columns, twins, strict=True):
            other = which[column[which] != column[places[which]]]
            found[other] = places[other]
    return twins, outlier


def _second_nearest(scaled: Any, references: Any) -> Array:
    """(n,) distances to the second nearest reference, so that a row is not its own."""
    found, k = np.empty(scaled.shape[0]), min(1, references.shape[0] - 1)
    for start in range(0, len(found), 1024):
        distances = euclidean_distances(scaled[start : start + 1024], references)
        found[start : start + 1024] = np.partition(distances, k, axis=1)[:, k]
    return found
