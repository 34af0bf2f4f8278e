"""Classes as hashed Gaussian vectors: for vocabularies that are huge or never end.

The moment is (p, k) however many classes there are, no worker needs to know those of another, and
no list of them is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..moments import FirstClasses
from .encoded import EncodedLabels, LabelMap
from .onehot import encode_classes, kinds_of
from .vocabulary import hashed_normals


@dataclass(frozen=True)
class HashedLabels(LabelMap):
    kinds: tuple[str, ...]
    automatic: bool
    k: int
    seed: int
    kernel: str = "delta"
    decisive = ("kinds", "k", "seed")

    @classmethod
    def for_labels(cls, y: Any, automatic: bool, k: int, seed: int) -> HashedLabels:
        return cls(kinds_of(y), automatic, k, seed)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        classes, codes = encode_classes(y, self.kinds, self.automatic, rows)
        vectors = hashed_normals(list(classes), self.k, self.seed) / np.sqrt(self.k)
        known = FirstClasses.of(self._in_turn(classes), self.k + len(self.kinds))
        return EncodedLabels(known, features=vectors[codes].sum(axis=1))

    def _in_turn(self, classes: tuple[Any, ...]) -> Iterable[Any]:
        """The first class of every column, then the second, so that no column goes without."""
        if len(self.kinds) == 1:
            return classes
        columns = [[c for c in classes if c[0] == j] for j in range(len(self.kinds))]
        return (c for turn in zip_longest(*columns) for c in turn if c is not None)

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        return np.eye(width, k)  # mixed already
