"""The contents of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._fit.projection import Projection
from .._judge.explain import Importances

SCORES = ("heldout", "train", "raw", "majority", "shuffled")
METRICS = ("1-NN accuracy", "k-NN R^2")
CURVE = ("gammas", "mean", "std", "shuffled_mean")
MOST_COLUMNS = 8


@dataclass(frozen=True, eq=False)
class Label:
    """One column of labels, and its scores on held-out rows."""

    values: NDArray[Any]  # (n,): classes, or numbers if continuous
    scores: Mapping[str, Any]  # SCORES, each a float or None, and "metric"
    # Names, and (c, c) counts of held-out 1-NN.
    confusion: tuple[Sequence[Any], NDArray[Any]] | None = None


@dataclass(frozen=True, eq=False)
class Contents:
    """Everything the page shows; lengths and shapes are checked here, before anything is drawn."""

    title: str
    command: str  # the exact command to repeat it
    about: Mapping[str, Any]  # parameters, versions, the machine
    # (n, k): the embedding; nan for a row that no model has placed without seeing its label
    Z: NDArray[Any]
    test: NDArray[np.bool_]  # (n,): True for held-out rows
    labels: Mapping[str, Label]  # one or more, by name
    continuous: bool
    hover: Mapping[str, Sequence[Any]]  # columns of the data to show next to a point
    model: Projection  # the fitted estimator
    # (n, k), nan for rows without a place, and labels: the same with shuffled labels.
    control: tuple[NDArray[Any], NDArray[Any]] | None = None
    gamma_curve: Mapping[str, Any] | None = None  # CURVE
    importances: Importances | None = None
    checks: Mapping[str, Any] = field(default_factory=dict)  # by name: reports with a verdict
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        Z = np.asarray(self.Z)
        if Z.ndim != 2 or 0 in Z.shape or Z.dtype.kind not in "fiu":
            raise ValueError(
                f"Z is the embedding, numbers of shape (rows, components); this has shape "
                f"{Z.shape} and type {Z.dtype}."
            )
        n = len(Z)
        if not self.labels:
            raise ValueError("labels is empty; the page needs at least one.")
        lengths: dict[str, Any] = {"test": self.test}
        lengths |= {f"The label {name!r}": label.values for name, label in self.labels.items()}
        lengths |= {f"The hover column {name!r}": column for name, column in self.hover.items()}
        for name, values in lengths.items():
            if len(values) != n:
                raise ValueError(f"{name} has {len(values)} values, but Z has {n} rows.")
        if np.asarray(self.test).dtype != bool:
            raise ValueError("test must be booleans: True for held-out rows.")
        if self.control is not None and np.shape(self.control[0]) != Z.shape:
            raise ValueError(f"control has shape {np.shape(self.control[0])}, and Z has {Z.shape}.")
        if len(self.hover) > MOST_COLUMNS:
            raise ValueError(
                f"hover has {len(self.hover)} columns; choose at most {MOST_COLUMNS} of them."
            )
        for label in self.labels.values():
            _check_label(label, self.continuous)
        if len({label.scores["metric"] for label in self.labels.values()}) > 1:
            raise ValueError("The labels have different metrics; the page compares one.")
        if self.gamma_curve is not None:
            _check_keys("gamma_curve", self.gamma_curve, CURVE)
            if len({len(self.gamma_curve[key]) for key in CURVE}) > 1:
                raise ValueError("The lists of gamma_curve have different lengths.")

    @property
    def metric(self) -> str:
        """As people write it."""
        first = next(iter(self.labels.values()))
        return str(first.scores["metric"]).replace("^2", "²")


def _check_label(label: Label, continuous: bool) -> None:
    if continuous and np.asarray(label.values).dtype.kind not in "fiu":
        raise ValueError("labels must be numbers if continuous is True.")
    _check_keys("scores", label.scores, (*SCORES, "metric"))
    if label.scores["metric"] not in METRICS:
        raise ValueError(f"The metric {label.scores['metric']!r} is none of: {', '.join(METRICS)}.")
    if label.confusion is not None:
        names, counts = label.confusion
        if np.shape(counts) != (len(names), len(names)):
            raise ValueError(
                f"confusion has {len(names)} class names, but counts of shape {np.shape(counts)}."
            )


def _check_keys(name: str, given: Mapping[str, Any], expected: Sequence[str]) -> None:
    if set(given) != set(expected):
        raise ValueError(
            f"{name} must have exactly these keys: {', '.join(expected)}; it has "
            f"{', '.join(map(str, given)) or 'none'}."
        )
