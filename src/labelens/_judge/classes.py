"""Labels and base models of maps of classes, and places of held-out rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import DataConversionWarning

from .._base import devices
from .._base.optional import require
from .._base.page import DocumentationLink
from .._base.types import MatrixLike
from .._base.validation import check_is_fitted, check_number, check_rows
from .._base.warn import warn_user
from .._core.class_scores import Codes
from .._core.labels import choose_kernel, read_labels
from .._core.labels.vocabulary import label_kind, number_labels
from .._core.moments import Array
from .._fit.fitted import embed_rows
from .._fit.projection import Projection
from .._fit.task import Task, embedded
from .crossed import FoldEmbedding, fold_embeddings

# Up to so many rows are all held out once, in five folds; of more rows some are kept, and a share
# of these is held out.
FEW_ROWS, FOLDS, HELD_OUT, MOST_KEPT = 3000, 5, 0.2, 15_000
ALWAYS = 5  # rows of a class that are kept in any case


class RowMap(DocumentationLink, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A map that places rows in few dimensions, by their labels."""

    _n_features_out = 2
    _fitted = "anchors_"  # an attribute of fitted maps

    def transform(self, X: MatrixLike) -> NDArray[Any]:
        """Place rows on the map.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2), or (n_samples, 3) for a sphere
            float32 if X is, else float64; of the library and the device of X.
        """
        rows, places = self._placed(X)
        places = places.astype(np.float32 if devices.is_single(rows) else np.float64)
        return devices.shown_at(places, devices.place_of(X))

    def _placed(self, X: Any) -> tuple[Any, Array]:
        """The rows, and their places on the host."""
        raise NotImplementedError

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, self._fitted)
        return check_rows(self, X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def method_of(estimator: Any, what: str) -> Projection:
    """The fitted method, or that of a fitted map; `what` takes them."""
    if not isinstance(estimator, Projection | RowMap):
        raise TypeError(
            f"{what} takes one of the four methods or a map (Atlas, ValueMap, Wheel), got "
            f"{type(estimator).__name__}."
        )
    if isinstance(estimator, Projection):
        check_is_fitted(estimator, "moments_")
        return estimator
    check_is_fitted(estimator, "estimator_")
    base: Any = vars(estimator)["estimator_"]
    if not isinstance(base, Projection):
        raise TypeError(
            f"The base model of this {type(estimator).__name__} is {type(base).__name__}, and "
            f"{what} takes maps of the four methods. Call the transform of the map."
        )
    return base


def embed_chunk(estimator: Any, X: Any, check_columns: bool = True) -> NDArray[Any]:
    """(n, d) -> (n, k); without `check_columns` X has the columns of the model, unnamed."""
    if isinstance(estimator, Projection):
        return embed_rows(estimator, X, check_columns)
    if not check_columns and hasattr(estimator, "feature_names_in_"):
        X = X.toarray() if hasattr(X, "toarray") else X
        X = require("pandas", extra="cli").DataFrame(X, columns=estimator.feature_names_in_)
    return np.asarray(estimator.transform(X))


def check_temperature(temperature: Any) -> None:
    if not isinstance(temperature, str):
        check_number(temperature, "temperature", 0, open_low=True)
    elif temperature != "auto":
        raise ValueError(f"temperature must be 'auto' or a number > 0, got {temperature!r}.")


def warn_of_column(y: Any) -> None:
    if getattr(y, "shape", ())[1:] == (1,):
        warn_user(
            "A column-vector y was passed when a 1d array was expected. "
            "Pass an array of shape (n,).",
            DataConversionWarning,
        )


def read_classes(
    what: str, y: Any, n_rows: int, marker: Any = None, weight: Array | None = None
) -> tuple[NDArray[Any], Codes, list[Any], Codes]:
    """The labels, the number of each one's class, the classes, sorted, and the rows that count.

    These are labelled and have a weight above zero.
    """
    if y is None:
        raise ValueError(f"{what} requires y to be passed, but the target y is None.")
    warn_of_column(y)
    labels, labelled = read_labels(y, n_rows, marker)
    which = np.flatnonzero(labelled)
    if weight is not None:
        labels, which = labels[weight[which] > 0], which[weight[which] > 0]
    if labels.ndim != 1 or choose_kernel(labels) != "delta":
        raise ValueError(
            f"{what} has an anchor for each class, so y must be one column of classes. Unknown "
            "label type: "
            + ("several columns." if labels.ndim != 1 else "continuous; cut it into bins first.")
        )
    classes, codes = number_labels(labels, label_kind(labels[0]), np.arange(len(labels)))
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {classes[0]!r}; at least two are required.")
    return labels, codes, classes, which


def with_components(model: Any, n_classes: int, n_features: int, seed: int | None) -> Any:
    """A clone with a component less than there are classes, and with the seed if it has none."""
    model = clone(model)
    parameters = model.get_params(deep=False)
    if "n_components" in parameters:
        width = parameters.get("n_random_features", n_features)
        model.set_params(n_components=min(n_classes - 1, width))
    if seed is not None and parameters.get("random_state", seed) is None:
        model.set_params(random_state=seed)
    return model


class LabelledRows:
    """Labelled rows."""

    def __init__(self, rows: Any, labels: Any, codes: Codes, weight: Any, c: int) -> None:
        self.rows, self.labels, self.codes, self.c = rows, labels, codes, c
        self.given = weight
        self.weight = np.ones(len(codes)) if weight is None else weight

    def only(self, which: Codes) -> LabelledRows:
        given = None if self.given is None else self.given[which]
        rows = devices.rows_at(self.rows, which)
        return LabelledRows(rows, self.labels[which], self.codes[which], given, self.c)

    def fitted(self, model: Any) -> Any:
        """A clone that is fitted, unless the model is already."""
        if hasattr(model, "n_features_in_"):
            return model
        weight = {} if self.given is None else {"sample_weight": self.given}
        return clone(model).fit(self.rows, self.labels, **weight)


@dataclass(frozen=True)
class KeptRows:
    """The distinct labelled rows with the smallest hashes, in their order.

    Which rows these are does not depend on the order of all rows, nor on the parts that they come
    in. Copies of a row are one row with their weight.
    """

    rows: Any
    labels: Any
    weight: Array
    hashes: NDArray[np.uint64]
    first: Codes  # number of the row, or of its first copy

    @classmethod
    def of(cls, rows: Any, labels: Any, weight: Array | None) -> KeptRows:
        """All rows, to be reduced."""
        n = len(labels)
        weight = np.ones(n) if weight is None else weight
        return cls(rows, labels, weight, hashes(rows, labels), np.arange(n))

    def reduced(self) -> tuple[KeptRows, KeptRows]:
        """These rows, and the others."""
        _, first, which = np.unique(self.hashes, return_index=True, return_inverse=True)
        one = self.only(first, np.bincount(which, self.weight).astype(np.float64))
        here = (np.arange(len(first)) < MOST_KEPT) | (one.rank_in_class() < ALWAYS)
        return one.only(np.flatnonzero(here)), one.only(np.flatnonzero(~here))

    def only(self, which: Codes, weight: Array | None = None) -> KeptRows:
        weight = self.weight[which] if weight is None else weight
        one = self.rows[which], self.labels[which], weight, self.hashes[which], self.first[which]
        return KeptRows(*one)

    def merge(self, other: KeptRows) -> KeptRows:
        stack = sparse.vstack if sparse.issparse(self.rows) else np.concatenate
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        both, *others = pairs
        rows: Any = stack(both)
        rows = sparse.csr_array(rows) if sparse.issparse(rows) else rows
        return KeptRows(rows, *map(np.concatenate, others))

    def rank_in_class(self) -> Codes:
        codes = number_labels(self.labels, label_kind(self.labels[0]), np.arange(len(self.labels)))
        order = np.argsort(codes[1], kind="stable")
        starts = np.searchsorted(codes[1][order], np.arange(len(codes[0])))
        ranks = np.empty(len(order), dtype=np.intp)
        ranks[order] = np.arange(len(order)) - starts[codes[1][order]]
        return ranks

    def held_out(self) -> Codes:
        """The first of all, and of every class, but no more than half of a class."""
        ranks = self.rank_in_class()
        codes = number_labels(self.labels, label_kind(self.labels[0]), np.arange(len(ranks)))[1]
        half = np.bincount(codes)[codes] // 2
        first = np.arange(len(ranks)) < int(HELD_OUT * len(ranks))
        return np.flatnonzero((first | (ranks < ALWAYS)) & (ranks < half))


def hashes(rows: Any, labels: Any) -> NDArray[np.uint64]:
    """(n,) of the numbers and the label of each row."""
    if sparse.issparse(rows):
        rows = sparse.csr_array(rows, dtype=np.float64, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        rows.sort_indices()
        ends, columns = rows.indptr.tolist(), rows.indices.astype(np.int64)
        parts = [columns[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in pairwise(ends)]
    else:
        parts = [row.tobytes() for row in np.asarray(rows, dtype=np.float64) + 0.0]  # no -0.0
    texts = (str(label).encode() for label in labels.tolist())
    digests = (
        blake2b(part, digest_size=8, key=text[:64]).digest()
        for part, text in zip(parts, texts, strict=True)
    )
    return np.frombuffer(b"".join(digests), dtype="<u8")


def n_folds(n: int) -> int:
    return max(2, min(FOLDS, n // 2))


def held_out_folds(task: Task, seed: int) -> list[tuple[Codes, Codes]]:
    """Training and held-out rows: every row is held out once, or, of many rows, some are."""
    if task.n <= FEW_ROWS:
        return task.folds(n_folds(task.n), seed)
    some = task.sample(min(FEW_ROWS, int(task.n * HELD_OUT)), np.random.default_rng(seed))
    return [(np.setdiff1d(np.arange(task.n), some), some)]


def unseen_places(model: Any, task: Task, frame: Array, seed: int) -> tuple[Codes, Array]:
    """Rows, and their places by models fitted without them, in the frame of the model of all."""
    folds = held_out_folds(task, seed)
    places = np.empty(frame.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of all rows has given them already
        for part in fold_embeddings(model, task, folds):
            places[part.test] = part.moved_onto(frame)
    some = np.sort(np.concatenate([test for _, test in folds]))
    return some, places[some]


def held_out_places(model: Any, known: LabelledRows, seed: int) -> tuple[Codes, Array]:
    """Rows, and their (n, k) places by models fitted without them, in the frame of the model.

    A flexible model leaves next to nothing within the classes of its training rows; so what new
    rows look like can be learnt from held-out rows only.
    """
    folds = Task(known.rows, known.codes, "classes").folds(n_folds(len(known.codes)), seed)
    frame = embedded(model, known.rows)
    found = np.empty_like(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of all rows has given them already
        for train, test in folds:
            own = known.only(train).fitted(clone(model))
            found[test] = FoldEmbedding(train, test, embedded(own, known.rows)).moved_onto(frame)
    return np.arange(len(found)), found


def places_without(model: Any, own: Any, rows: Any, held_out: Codes) -> Array:
    """(m, k) places of held-out rows by a model fitted without them, in the frame of the model."""
    train = np.setdiff1d(np.arange(rows.shape[0]), held_out)
    part = FoldEmbedding(train, held_out, embedded(own, rows))
    return part.moved_onto(embedded(model, rows))
