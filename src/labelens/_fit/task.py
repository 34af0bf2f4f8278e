"""Rows with labels, cut into folds and samples, and what an embedding of them is worth."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils import _safe_indexing, indexable

from .._base import devices
from .._base.threads import in_order
from .._base.validation import as_frame, check_number
from .._core.labels import choose_kernel, make_label_map, read_labels
from .._core.labels.vocabulary import label_kind, number_labels
from .._core.moments import Array
from .._core.neighbours import nearest

Rows = NDArray[np.intp]
Kind = Literal["classes", "numbers", "multilabel"]
KINDS = ("classes", "numbers", "multilabel")
# Whole numbers with more values than this are numbers, unless they number classes.
MOST_CODES = 100
ROWS_OF_A_CODE = 10
METRICS = {"classes": "accuracy", "numbers": "R²", "multilabel": "micro-F1"}


@dataclass(frozen=True, eq=False)
class Task:
    """A table, as the user passed it, with a label for each of its rows."""

    X: Any
    labels: Any  # (n,) or (n, m), or CSR
    kind: str  # one of KINDS
    groups: Any = None  # (n,): rows of one group are held out together
    nuisance: Any = None  # (n,) or (n, m), that of `fit`

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        kind: Kind | None = None,
        groups: Any = None,
        nuisance: Any = None,
    ) -> Task:
        if y is None:
            raise ValueError("y is None. Pass the labels of all rows of X.")
        (X,) = indexable(as_frame(X))
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        marker = getattr(estimator, "missing_label", None)
        labels, labelled = read_labels(y, n, marker)
        if not labelled.all():
            raise ValueError(
                f"Row {int(np.argmin(labelled))} of y has no label (missing_label={marker!r}). "
                "Pass only the labelled rows."
            )
        if groups is not None and len(groups) != n:
            raise ValueError(f"groups has {len(groups)} values, and X has {n} rows.")
        codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        if nuisance is not None:
            (nuisance,) = indexable(nuisance)
            if len(nuisance) != n:
                raise ValueError(f"nuisance has {len(nuisance)} values, and X has {n} rows.")
        return cls(X, labels, task_kind(labels, kind), codes, nuisance)

    @property
    def n(self) -> int:
        return int(self.labels.shape[0])

    def rows(self, which: Rows) -> Any:
        """Some rows of X, in the table's own kind."""
        if devices.on_device(self.X):
            return devices.rows_at(self.X, which)
        return _safe_indexing(self.X, which)

    def only(self, which: Rows) -> Task:
        """The task of some rows; all of them, in order, are the task itself."""
        if len(which) == self.n and (np.diff(which) == 1).all():
            return self
        groups = None if self.groups is None else self.groups[which]
        rows, labels = self.rows(which), self.labels[which]
        return Task(rows, labels, self.kind, groups, **self._aside(which))

    def fit(self, model: Any, which: Rows | None = None, labels: Any = None) -> Any:
        """A clone of the model, fitted on some rows; with other labels, if there are any."""
        which = np.arange(self.n) if which is None else which
        some = self.only(which)
        return clone(model).fit(
            some.X, some.labels if labels is None else labels, **self._aside(which)
        )

    def _aside(self, which: Rows) -> dict[str, Any]:
        """Not every model has the parameter."""
        return {} if self.nuisance is None else {"nuisance": _safe_indexing(self.nuisance, which)}

    def sample(self, size: int, draw: np.random.Generator) -> Rows:
        """At most `size` rows, in order, with classes in proportion."""
        order = draw.permutation(self.n)
        if self.kind == "classes" and self.labels.ndim == 1:
            _, codes = np.unique(spelled(self.labels), return_inverse=True)
            order = order[np.argsort(codes[order], kind="stable")]
        size = min(size, self.n)
        # Every n/size-th row of rows in the order of their classes.
        return np.sort(order[(np.arange(size) * self.n + draw.integers(self.n)) // size % self.n])

    def splits(self, cv: Any, seed: int) -> list[tuple[Rows, Rows]]:
        """Training and held-out rows of each split of `cv`."""
        stratified = self.kind == "classes" and self.labels.ndim == 1
        if isinstance(cv, (int, np.integer)):
            check_number(cv, "cv", 2, integer=True)
            # A class with fewer rows than folds is missing in some folds.
            stratified = (
                stratified and np.unique(spelled(self.labels), return_counts=True)[1].min() >= cv
            )
            if self.groups is not None:
                if (count := len(np.unique(self.groups))) < cv:
                    raise ValueError(f"groups has {count} values, fewer than the {cv} folds.")
                kind = StratifiedGroupKFold if stratified else GroupKFold
                cv = kind(cv, shuffle=True, random_state=seed) if stratified else kind(cv)
            else:
                cv = (StratifiedKFold if stratified else KFold)(cv, shuffle=True, random_state=seed)
        labels = self.labels
        if labels.ndim == 1 and labels.dtype.kind not in "biufU":  # which scikit-learn rejects
            labels = spelled(labels)
        splitter = check_cv(cv, labels, classifier=stratified)
        return list(splitter.split(self.X, labels, self.groups))

    def folds(self, cv: Any, seed: int) -> list[tuple[Rows, Rows]]:
        """The same, where every row is held out once."""
        folds = self.splits(cv, seed)
        times = np.bincount(np.concatenate([test for _, test in folds]), minlength=self.n)
        if (times != 1).any():
            row = int(np.argmax(times != 1))
            raise ValueError(
                f"cv holds row {row} out {times[row]} times; every row needs one place, so pass a "
                "splitter that holds each out once, such as KFold or GroupKFold."
            )
        return folds

    def fold_numbers(self, cv: Any, seed: int) -> Rows:
        """(n,) the fold in which each row is held out."""
        numbers = np.empty(self.n, dtype=np.intp)
        for number, (_, test) in enumerate(self.folds(cv, seed)):
            numbers[test] = number
        return numbers

    # Scores --------------------------------------------------------------------------------------

    @property
    def neighbours(self) -> int:
        """The number of neighbours: one for classes, several for numbers."""
        return 5 if self.kind == "numbers" else 1

    def metric(self, k: int | None = None) -> str:
        return f"{k or self.neighbours}-NN {METRICS[self.kind]}"

    def dense_labels(self) -> NDArray[Any]:
        return self.labels.toarray() if sparse.issparse(self.labels) else self.labels

    def guesses(
        self, Z: Array, labels: NDArray[Any], asked: Array | None = None, k: int | None = None
    ) -> NDArray[Any]:
        """Labels predicted from the k nearest rows of Z, of `asked` or of the rows of Z.

        Their mean for numbers, what most of them have otherwise.
        """
        k = min(k or self.neighbours, len(Z) - (asked is None))
        if asked is not None:
            places = nearest(Z, asked, k)
        else:  # one more, and the row itself goes last: others may be at the same place
            places = nearest(Z, Z, k + 1)
            itself = places == np.arange(len(Z))[:, None]
            places = np.take_along_axis(places, np.argsort(itself, kind="stable"), 1)[:, :k]
        return self.said_by(labels, places)

    def said_by(self, labels: NDArray[Any], places: Rows) -> NDArray[Any]:
        """Labels predicted from (m, k) rows, the nearest first."""
        k = places.shape[1]
        if k == 1:
            return labels[places[:, 0]]
        if self.kind == "numbers":
            return labels[places].mean(axis=1)
        if self.kind == "multilabel":
            return (labels[places].mean(axis=1) > 0.5).astype(labels.dtype)
        return _most_frequent(labels[places])

    def score(self, guesses: NDArray[Any], labels: NDArray[Any]) -> float:
        if self.kind == "multilabel":
            both, either = (guesses * labels).sum(), guesses.sum() + labels.sum()
            return float(2 * both / max(either, 1))
        return score(guesses, labels, self.kind == "numbers")

    def dependence(self, seed: int) -> Callable[[Array], float]:
        """A function of (n, k) embeddings: tr(P H L H) / tr(H L H), from 0 to 1.

        P projects on the embedding: its linear kernel once it has been whitened. So this is HSIC
        with the labels over the most that HSIC could be, and how the embedding was rotated or
        scaled makes no difference. For one column of numbers with a linear L it would be R^2.
        """
        kernel = "rbf" if self.kind == "numbers" else "auto"
        psi = make_label_map(self.labels, None, kernel, None, 1, None, seed)
        right = psi.encode(self.labels, np.arange(self.n)).dense()
        right = right - right.mean(axis=0)
        total = float(np.square(right).sum())

        def share(Z: Array) -> float:
            return float(np.square(basis(Z).T @ right).sum()) / total if total > 0 else 0.0

        return share

    def beyond_chance(self, seed: int) -> Callable[[Array], float]:
        """`dependence`, set off against chance as an adjusted R^2 is: 1 at best, 0 for noise.

        Chance is the mean over all orders of the labels: P has r of n - 1 directions. Where it has
        all of them nothing can be said, and the value is 0.
        """
        share = self.dependence(seed)

        def adjusted(Z: Array) -> float:
            chance = basis(Z).shape[1] / max(len(Z) - 1, 1)
            return (share(Z) - chance) / (1 - chance) if chance < 1 else 0.0

        return adjusted


def spelled(labels: NDArray[Any]) -> NDArray[Any]:
    """(n,) classes of any type as strings, equal ones alike."""
    classes, codes = number_labels(labels, label_kind(labels[0]), np.arange(len(labels)))
    return np.array([str(label) for label in classes])[codes]


def task_kind(labels: Any, asked: Kind | None = None) -> Kind:
    """The kind of labels, decided once on all rows by each route; `asked` overrides it.

    - several columns of 0 and 1: multilabel
    - numbers with fractions: numbers; of several columns one makes all so
    - whole numbers with more than 100 values: numbers, unless they are 0..c-1 or 1..c without a
      hole and with ten rows or more each on average, as codes of classes are
    - all others: classes
    """
    if asked is not None:
        if asked not in KINDS:
            raise ValueError(f"task must be one of {', '.join(KINDS)}, got {asked!r}.")
        if asked != "classes" and not sparse.issparse(labels) and labels.dtype.kind not in "biuf":
            raise ValueError(f"task is {asked!r}, and the labels are not numbers.")
        return asked
    if choose_kernel(labels) == "linear":
        return "multilabel"
    return "numbers" if is_continuous(labels) else "classes"


def is_continuous(labels: NDArray[Any]) -> bool:
    """Numbers rather than classes, by the rules of `task_kind`."""
    if labels.ndim == 2:
        return labels.dtype.kind in "iuf" and any(is_continuous(column) for column in labels.T)
    if choose_kernel(labels) == "rbf":
        return True
    if labels.dtype.kind not in "iuf":
        return False
    return _measure(np.unique(labels), len(labels))


def _measure(values: NDArray[Any], n: int) -> bool:
    """Whether sorted whole numbers, the values of n rows, measure something."""
    codes = values[0] in (0, 1) and values[-1] - values[0] + 1 == len(values)
    return len(values) > MOST_CODES and not (codes and n >= ROWS_OF_A_CODE * len(values))


class TaskWatch:
    """The decision of `task_kind` for labels in chunks: the same as for all labels."""

    def __init__(self) -> None:
        self._n, self._kinds = 0, set[str]()
        self._values: list[NDArray[Any]] | None = None  # of every column of whole numbers

    def look(self, labels: Any) -> None:
        """At the labels of one chunk."""
        self._n += labels.shape[0]
        self._kinds.add(choose_kernel(labels))
        if sparse.issparse(labels) or labels.dtype.kind not in "iuf":
            return
        columns = [np.unique(c) for c in (labels.T if labels.ndim == 2 else [labels])]
        known = self._values or [c[:0] for c in columns]
        self._values = [np.union1d(a, b) for a, b in zip(known, columns, strict=True)]

    @property
    def kind(self) -> Kind:
        if "rbf" in self._kinds:
            return "numbers"
        if self._kinds == {"linear"}:
            return "multilabel"
        whole = self._values if self._kinds == {"delta"} else None
        return "numbers" if any(_measure(v, self._n) for v in whole or ()) else "classes"


def score(guesses: Any, labels: Any, continuous: bool) -> float:
    """Accuracy of classes; R^2 of numbers, the mean over columns, 0 of a single row."""
    if not continuous:
        return float(np.mean(guesses == labels))
    return float(r2_score(labels, guesses)) if len(labels) > 1 else 0.0


def _most_frequent(labels: NDArray[Any]) -> NDArray[Any]:
    """(m, k) or (m, k, columns) labels, the nearest first -> the commonest of each row."""
    if labels.ndim == 3:
        return np.stack([_most_frequent(column) for column in labels.transpose(2, 0, 1)], axis=1)
    votes = (labels[:, :, None] == labels[:, None, :]).sum(axis=2)
    return labels[np.arange(len(labels)), votes.argmax(axis=1)]


def seeded(estimator: Any, seed: int, *, anew: bool = False) -> Any:
    """A clone with a number for every `random_state` that is None, or anew for every one."""
    model = clone(estimator)
    unset = {name for name, value in model.get_params().items() if anew or value is None}
    return model.set_params(**dict.fromkeys(unset.intersection(seed_names(model)), seed))


def seed_names(estimator: Any) -> list[str]:
    """Every `random_state`, that of parts of the estimator too."""
    names = estimator.get_params()
    return [name for name in names if name.rpartition("__")[2] == "random_state"]


def in_parallel(function: Callable[[Any], Any], items: Iterable[Any], rows: Any) -> list[Any]:
    """`function` of all items, in order, without warnings that the first fit has given already.

    One at a time for rows on a device, which has one queue and one setting of its precision.
    """
    in_turn = map if devices.on_device(rows) else in_order
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(in_turn(function, items))


def embedded(model: Any, X: Any) -> Array:
    """(n, k) float64 on the host, whatever table `transform` returns."""
    Z = np.asarray(devices.host(model.transform(X)), dtype=np.float64)
    return Z[:, None] if Z.ndim == 1 else Z


def basis(Z: Array) -> Array:
    """(n, k) -> (n, r): orthonormal columns that span those of Z, centred."""
    centred = Z - Z.mean(axis=0)
    lengths = linalg.norm(centred, axis=0)
    # The rest of a constant column is rounding, without a direction.
    live = lengths > 1e-12 * np.sqrt(len(Z)) * np.abs(Z).max(axis=0, initial=0)
    if not live.any():  # SciPy 1.13 rejects empty matrices
        return centred[:, :0]
    return linalg.orth(centred[:, live] / lengths[live])


def principal_angles(first: Array, second: Array) -> Array:
    """(n, k), (n, k) -> (k,) radians between the column spaces, the largest first.

    A direction that only one of them has is at a right angle, one that neither has at none.
    """
    k, bases = first.shape[1], (basis(first), basis(second))
    narrow, wide = sorted(base.shape[1] for base in bases)
    angles = np.concatenate([np.full(wide - narrow, np.pi / 2), np.zeros(k - wide + narrow)])
    if narrow:
        angles[wide - narrow : wide] = linalg.subspace_angles(*bases)
    return angles
