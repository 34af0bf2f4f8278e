"""Numbers by their place in the distribution of all labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.validation import check_number
from .base import Array, LabelKernel

# Sums of weights that are closer than this are equal: they differ by rounding.
ROUNDING = 1e-12


class QuantileKernel(LabelKernel):
    """A kernel of numbers that takes quantiles from the first labels, unless it has them."""

    def settled(self, labels: Array, weight: Array | None) -> Self:
        """The same kernel with the quantiles of these labels; itself if it has some."""
        raise NotImplementedError


@dataclass(frozen=True, init=False)
class Sliced(QuantileKernel):
    """Numbers in slices of equal weight: sliced inverse regression (Li, 1991).

    L(a, b) is 1 if both numbers are in the same slice and 0 otherwise. Slices are separated by
    quantiles of the labels. `SupervisedPCA` with this kernel, `shrinkage=0` and
    `label_shrinkage=0` finds the directions of sliced inverse regression. Increasing
    transformations of the labels do not change them.

    Parameters
    ----------
    n_slices : int, default=10
        Number of slices, at most 1000. Equal labels share a slice, so there may be fewer.
    edges : sequence of float, default=None
        Increasing numbers that separate the slices; a number equal to an edge is in the slice
        below it. They replace `n_slices`. None takes quantiles of the labels, in `partial_fit`
        those of the first batch. `merge` needs models with equal edges: pass the
        `label_kernel_` of the first model to the others.

    Examples
    --------
    >>> import numpy as np
    >>> from labelens import SupervisedPCA
    >>> from labelens.label_kernels import Sliced
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> y = np.arange(100.0)
    >>> model = SupervisedPCA(2, label_kernel=Sliced(4), shrinkage=0, label_shrinkage=0)
    >>> model.fit(X, y).label_kernel_
    Sliced(n_slices=4, edges=(24.0, 49.0, 74.0))
    """

    n_slices: int = 10
    edges: tuple[float, ...] | None = None

    def __init__(self, n_slices: int = 10, edges: ArrayLike | None = None) -> None:
        found = None if edges is None else _increasing(edges, "edges")
        count = n_slices if found is None else len(found) + 1
        check_number(count, "n_slices", 2 if found is None else 1, 1000, integer=True)
        object.__setattr__(self, "n_slices", count)
        object.__setattr__(self, "edges", found)

    @property
    def takes_labels(self) -> bool:
        return self.edges is None

    def settled(self, labels: Array, weight: Array | None) -> Self:
        if self.edges is not None:
            return self
        values, sums = _distribution(labels, weight)
        edges = np.unique(values[_quantiles(sums, self.n_slices)[1:-1]])
        # Nothing is above the largest number.
        return replace(self, edges=tuple(edges[edges < values[-1]]))

    def features(self, labels: Array) -> Array:
        """(n,) -> (n, n_slices): 1 in the slice of the number, 0 elsewhere."""
        assert self.edges is not None
        return np.eye(self.n_slices)[np.searchsorted(self.edges, labels)]


@dataclass(frozen=True, init=False, repr=False)
class Ranked(QuantileKernel):
    """Numbers by their rank, for skewed labels: the RBF kernel of their quantile transform.

    L(a, b) = exp(-label_gamma (F(a) - F(b))^2), where F is the distribution function of the
    labels: the share of rows with a smaller label, and half of those with an equal label. With at
    most `n_quantiles` distinct labels, increasing transformations of the labels do not change the
    model. With more, F is linear between quantiles. `label_gamma=None` means 12, one over the
    variance of ranks without ties.

    Parameters
    ----------
    n_quantiles : int, default=1000
        The largest number of labels at which F is stored, between 2 and 10000.
    quantiles : sequence of float, default=None
        Numbers that do not decrease, at which F is stored; they replace `n_quantiles`. None takes
        them from the labels, in `partial_fit` from the first batch. `merge` needs models with
        equal quantiles: pass the `label_kernel_` of the first model to the others.
    levels : sequence of float, default=None
        The values of F at the quantiles, increasing. None spaces them evenly from 0 to 1, and
        equal quantiles get the mean of theirs.

    Examples
    --------
    >>> from labelens.label_kernels import Ranked
    >>> Ranked(quantiles=[0, 1, 100]).ranks([0, 0.5, 10, 1000]).round(3).tolist()
    [0.0, 0.25, 0.545, 1.0]
    """

    n_quantiles: int = 1000
    quantiles: tuple[float, ...] | None = None
    levels: tuple[float, ...] | None = None

    def __init__(
        self,
        n_quantiles: int = 1000,
        quantiles: ArrayLike | None = None,
        levels: ArrayLike | None = None,
    ) -> None:
        found = shares = None
        if quantiles is not None:
            found, shares = _levelled(quantiles, levels)
            n_quantiles = max(2, len(found))
        elif levels is not None:
            raise ValueError("levels are those of quantiles; pass quantiles too.")
        check_number(n_quantiles, "n_quantiles", 2, 10_000, integer=True)
        values = {"n_quantiles": n_quantiles, "quantiles": found, "levels": shares}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        if self.quantiles is None:
            return f"Ranked(n_quantiles={self.n_quantiles})"
        low, high = self.quantiles[0], self.quantiles[-1]
        return f"Ranked(quantiles=<{len(self.quantiles)} from {low:g} to {high:g}>)"

    @property
    def takes_labels(self) -> bool:
        return self.quantiles is None

    def settled(self, labels: Array, weight: Array | None) -> Self:
        if self.quantiles is not None:
            return self
        values, sums = _distribution(labels, weight)
        levels = (sums - np.diff(sums, prepend=0) / 2) / sums[-1]
        if len(values) > self.n_quantiles:
            kept = np.unique(_quantiles(sums, self.n_quantiles - 1))
            values, levels = values[kept], levels[kept]
        return replace(self, quantiles=tuple(values), levels=tuple(levels))

    def ranks(self, labels: ArrayLike) -> Array:
        """(n,) -> (n,): F, constant outside of the quantiles."""
        assert self.quantiles is not None
        assert self.levels is not None
        return np.interp(np.asarray(labels), self.quantiles, self.levels)


def _distribution(labels: Array, weight: Array | None) -> tuple[Array, Array]:
    """The distinct numbers in order, and the weight at each and below it."""
    values, place = np.unique(labels, return_inverse=True)
    return values, np.cumsum(np.bincount(place, weight)).astype(np.float64)


def _quantiles(sums: Array, parts: int) -> NDArray[np.intp]:
    """(parts + 1,): which numbers are the quantiles 0 / parts, 1 / parts, ..., parts / parts."""
    wanted = np.arange(parts + 1) / parts * (sums[-1] * (1 - ROUNDING))
    return np.searchsorted(sums, wanted)


def _levelled(quantiles: Any, levels: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Quantiles, each once, and their levels."""
    if levels is not None:
        found, shares = _increasing(quantiles, "quantiles"), _increasing(levels, "levels")
        if len(found) != len(shares) or not found or not 0 <= shares[0] <= shares[-1] <= 1:
            raise ValueError(
                f"levels must be a number from 0 to 1 for each of the {len(found)} quantiles."
            )
        return found, shares
    given = _increasing(quantiles, "quantiles", strictly=False)
    if not given:
        raise ValueError("quantiles is empty; pass at least one number.")
    values, place = np.unique(given, return_inverse=True)
    means = np.bincount(place, np.linspace(0, 1, len(given))) / np.bincount(place)
    return tuple(values.tolist()), tuple(means.tolist())


def _increasing(numbers: Any, name: str, strictly: bool = True) -> tuple[float, ...]:
    found = np.asarray(numbers)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iuf"):
        raise TypeError(f"{name} must be a sequence of numbers, got {numbers!r}.")
    found = found.astype(np.float64)
    steps = np.diff(found)
    wrong = (steps <= 0) if strictly else (steps < 0)
    if not np.isfinite(found).all() or wrong.any():
        how = "increase" if strictly else "not decrease"
        raise ValueError(f"{name} must be finite numbers that {how}, got {numbers!r}.")
    return tuple(found.tolist())
