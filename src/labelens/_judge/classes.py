"""Labels and base models of maps of classes, and places of held-out rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from .._base import devices
from .._base.warn import warn_user
from .._core.class_scores import Codes
from .._core.labels import choose_kernel, read_labels
from .._core.labels.vocabulary import label_kind, number_labels
from .._core.moments import Array
from .._fit.task import Task, embedded
from .crossed import FoldEmbedding

# Up to so many rows are all held out once, in five folds; of more rows some are held out.
FEW_ROWS, FOLDS, HELD_OUT = 3000, 5, 0.2


def read_classes(
    what: str, y: Any, n_rows: int, marker: Any = None, weight: Array | None = None
) -> tuple[NDArray[Any], Codes, list[Any], Codes]:
    """The labels, the number of each one's class, the classes, sorted, and the rows that count.

    These are labelled and have a weight above zero.
    """
    if y is None:
        raise ValueError(f"{what} requires y to be passed, but the target y is None.")
    if getattr(y, "shape", ())[1:] == (1,):
        warn_user(
            "A column-vector y was passed when a 1d array was expected. "
            "Pass an array of shape (n,).",
            DataConversionWarning,
        )
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


def n_folds(n: int) -> int:
    return max(2, min(FOLDS, n // 2))


def held_out_places(model: Any, known: LabelledRows, seed: int) -> tuple[Codes, Array]:
    """Rows, and their (n, k) places by models fitted without them, in the frame of the model.

    A flexible model leaves next to nothing within the classes of its training rows; so what new
    rows look like can be learnt from held-out rows only.
    """
    n = len(known.codes)
    task = Task(known.rows, known.codes, "classes")
    if n > FEW_ROWS:
        some = task.sample(min(FEW_ROWS, int(n * HELD_OUT)), np.random.default_rng(seed))
        folds = [(np.setdiff1d(np.arange(n), some), some)]
    else:
        folds = task.folds(n_folds(n), seed)
    frame = embedded(model, known.rows)
    found = np.empty_like(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of all rows has given them already
        for train, test in folds:
            own = known.only(train).fitted(clone(model))
            found[test] = FoldEmbedding(train, test, embedded(own, known.rows)).moved_onto(frame)
    rows = np.sort(np.concatenate([test for _, test in folds]))
    return rows, found[rows]
