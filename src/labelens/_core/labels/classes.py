"""Classes, as a one-hot matrix or as hashed vectors.

Several columns of them make L the number of columns that agree; a class is then the pair
(column, label).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..moments import FirstClasses
from .encoded import EncodedLabels, LabelMap, random_generator, spread_evenly
from .numbered import NumberedLabels
from .reading import check_decision
from .vocabulary import check_kind, hashed_normals, label_kind, number_labels

# The paper's stand-in for the delta kernel: an RBF on the labels with sigma_Y = 1e-10 (section 3).
PAPER_GAMMA = 1 / (2 * 1e-10**2)


@dataclass(frozen=True)
class OneHotLabels(LabelMap):
    """A one-hot matrix: the exact factor of the delta kernel."""

    kinds: tuple[str, ...]  # the kind of label in each column
    automatic: bool  # "auto" took the labels for classes
    mix: str | None  # "orthogonal" | "spread" | "fourier" | None (spectral methods)
    seed: int
    gamma: float | None
    kernel: str = "delta"
    decisive = ("kinds",)

    @classmethod
    def for_labels(
        cls, y: Any, automatic: bool, mix: str | None, seed: int, gamma: float | None
    ) -> OneHotLabels:
        kinds = kinds_of(y)
        if mix in ("fourier", "spread") and len(kinds) > 1:
            raise ValueError(
                f"label_map={mix!r} takes one column of classes, and y has {len(kinds)}; use "
                "label_map='orthogonal' or 'gaussian'."
            )
        if mix == "spread":
            seed = 0  # nothing about it is random
        return cls(kinds, automatic, mix, seed, gamma)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        classes, codes = encode_classes(y, self.kinds, self.automatic, rows)
        return EncodedLabels(classes, codes)

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        assert classes is not None
        if self.mix == "fourier":
            return self._literal(classes, k)
        # "spread" too, where k is so large that nothing is lost.
        vectors = hashed_normals(list(classes), k, self.seed)
        # The one-hot columns of C_xy sum to zero (column by column of y): what a vector says
        # along them is lost, so put nothing there.
        several = len(self.kinds) > 1
        column = np.array([label[0] if several else 0 for label in classes])
        for j in range(len(self.kinds)):
            vectors[column == j] -= vectors[column == j].mean(axis=0)
        rank = width - len(self.kinds)
        return spread_evenly(vectors) * np.sqrt(max(1.0, rank / k))

    def _literal(self, classes: tuple[Any, ...], k: int) -> NDArray[np.float64]:
        """Random Fourier features of an RBF kernel on the label values, as in the paper.

        Arguments are near 1e11: float64 keeps five digits behind the point, float32 none.
        """
        numeric = self.kinds[0] in ("number", "bool")
        values = np.array(classes if numeric else range(len(classes)), dtype=np.float64)
        draw = random_generator(self.seed, "label frequencies")
        gamma = PAPER_GAMMA if self.gamma is None else self.gamma
        frequency = draw.standard_normal(k) * np.sqrt(2 * gamma)
        phase = draw.uniform(0, 2 * np.pi, k)
        return np.cos(np.outer(values, frequency) + phase) * np.sqrt(2 / k)


@dataclass(frozen=True)
class HashedLabels(LabelMap):
    """Hashed Gaussian vectors: for vocabularies that are huge or never end.

    The moment is (p, k) however many classes there are, no worker needs to know those of another,
    and no list of them is kept.
    """

    kinds: tuple[str, ...]
    automatic: bool
    k: int
    seed: int
    kernel: str = "delta"
    decisive = ("kinds", "k", "seed")

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        classes, codes = encode_classes(y, self.kinds, self.automatic, rows)
        vectors = hashed_normals(list(classes), self.k, self.seed) / np.sqrt(self.k)
        known = FirstClasses.of(self._in_turn(classes), self.k + len(self.kinds))
        return EncodedLabels(known, features=vectors[codes].sum(axis=1))

    def _in_turn(self, classes: tuple[Any, ...]) -> Iterable[Any]:
        """The first class of each column, then the second, so that each column has some."""
        if len(self.kinds) == 1:
            return classes
        columns = [[c for c in classes if c[0] == j] for j in range(len(self.kinds))]
        return (c for turn in zip_longest(*columns) for c in turn if c is not None)

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        return np.eye(width, k)  # mixed already


def kinds_of(y: Any) -> tuple[str, ...]:
    """The kind of label in each column of y, by its first row."""
    if sparse.issparse(y):
        raise TypeError(
            "label_kernel='delta' takes classes in a dense y; a sparse y is a multilabel "
            "indicator, for which there is label_kernel='linear'."
        )
    if isinstance(y, NumberedLabels):
        return (label_kind(0),)
    return tuple(label_kind(label) for label in (y[0] if y.ndim == 2 else y[:1]))


def encode_classes(
    y: Any, kinds: tuple[str, ...], automatic: bool, rows: NDArray[np.intp]
) -> tuple[tuple[Any, ...], NDArray[np.intp]]:
    """(n,) or (n, m) -> the classes in order and the (n, m) numbers of the rows'."""
    if isinstance(y, NumberedLabels):
        labels = y.distinct.tolist()
        check_kind(labels[0], kinds[0], "the first label")
        return tuple(labels), y.codes[:, None]
    columns = y[:, None] if y.ndim == 1 else y
    if columns.shape[1] != len(kinds):
        raise ValueError(
            f"y has {columns.shape[1]} columns, and {len(kinds)} in the batches before."
        )
    if automatic:
        check_decision("delta", columns, rows)
    classes: list[Any] = []
    codes = np.empty(columns.shape, dtype=np.intp)
    for j, kind in enumerate(kinds):
        labels, numbers = number_labels(columns[:, j], kind, rows)
        codes[:, j] = numbers + len(classes)
        classes += [(j, label) for label in labels] if len(kinds) > 1 else labels
    return tuple(classes), codes
