"""All that is kept of the data, in one piece."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._base import devices
from .class_sums import ClassSums
from .common import Array
from .cross import CrossMoment
from .scatter import Scatter
from .spread import Spread


@dataclass(frozen=True)
class Moments:
    """Everything a solver may ask for; a part that no solver of the method asks for is None.

    `classes` lists the class labels in the order in which they were first seen; it numbers the
    rows of `cross` where that is `ClassSums`.
    """

    n_samples: int
    classes: tuple[Any, ...] | None = None
    cross: CrossMoment | ClassSums | None = None  # rows and labels, labelled rows only
    scatter: Scatter | None = None  # rows and rows
    sketch: CrossMoment | None = None  # rows and one random vector a row
    spread: Spread | None = None  # columns
    labels: Scatter | None = None  # labels and labels, unless the weights of classes give it
    nuisance: Moments | None = None  # rows and nuisance, with classes of its own

    def finite(self) -> bool:
        """Whether no sum has overflowed; the diagonal of C_xx bounds the rest of it."""
        # A value that is not finite in a class is not finite in the sum over classes either.
        with np.errstate(over="ignore", invalid="ignore"):
            cross = self.cross.offset_left if isinstance(self.cross, ClassSums) else self.cross
        parts = [cross.comoment if isinstance(cross, CrossMoment) else cross]
        if self.scatter is not None:
            parts.append(devices.diagonal(self.scatter.comoment))
        if self.sketch is not None:
            parts.append(self.sketch.comoment)
        if self.spread is not None:
            parts.append(self.spread.squares)
        if self.labels is not None:
            parts.append(np.diagonal(self.labels.comoment))
        others = self.nuisance is None or self.nuisance.finite()
        return others and all(part is None or np.isfinite(part).all() for part in parts)

    def to(self, place: Any) -> Moments:
        """With C_xx, the only one that is large, in that place."""
        if self.scatter is None:
            return self
        comoment = devices.moved_to(place, self.scatter.comoment)
        return replace(self, scatter=replace(self.scatter, comoment=comoment))

    def rotated(self, rotation: Array) -> Moments:
        """With the vectors of all rows in the sketch multiplied by a rotation."""
        assert self.sketch is not None
        return replace(self, sketch=self.sketch.rotated(rotation))

    def merge(self, other: Moments, reuse: bool = False) -> Moments:
        mine, theirs = self, other
        classes = other.classes if self.classes is None else self.classes
        if self.classes is not None and other.classes is not None:
            classes, position = union_of_classes(self.classes, other.classes)
            mine = self.numbered(np.arange(len(self.classes)), classes)
            theirs = other.numbered(position, classes)
        return Moments(
            self.n_samples + other.n_samples,
            classes,
            *(
                _merged(getattr(mine, part), getattr(theirs, part), reuse)
                for part in ("cross", "scatter", "sketch", "spread", "labels", "nuisance")
            ),
        )

    def numbered(self, position: NDArray[np.intp], classes: tuple[Any, ...]) -> Moments:
        """Where class i has become class position[i] of these."""
        if not isinstance(self.cross, ClassSums):
            return self
        n = len(classes)
        labels = None if self.labels is None else self.labels.numbered(position, n)
        return replace(self, classes=classes, cross=self.cross.numbered(position, n), labels=labels)


def _merged(mine: Any, other: Any, reuse: bool) -> Any:
    if mine is None:
        return other
    if other is None:
        # A copy, so that a later merge with reuse does not overwrite the arrays of `self`.
        return mine if reuse else deepcopy(mine)
    return mine.merge(other, reuse)


class FirstClasses(tuple[Any, ...]):
    """At most `most` of the classes: enough to know the rank of C_xy, where no more is asked."""

    most: int

    @classmethod
    def of(cls, classes: Iterable[Any], most: int) -> FirstClasses:
        first = cls(islice(classes, most))
        first.most = most
        return first


def union_of_classes(mine: tuple, other: tuple) -> tuple[tuple, NDArray[np.intp]]:
    """All classes, mine first, and where each of the other's stands among them."""
    if mine == other:
        return mine, np.arange(len(mine))
    number = {label: i for i, label in enumerate(mine)}
    position = np.array([number.setdefault(label, len(number)) for label in other], dtype=np.intp)
    classes = tuple(number)
    if isinstance(mine, FirstClasses):
        classes = FirstClasses.of(classes, mine.most)
    return classes, position
