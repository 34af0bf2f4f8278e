"""The cross-moment of rows and classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _jit
from .._threads import in_order, one_blas_thread
from .common import BLOCK_ROWS, Array, Rows
from .cross import CrossMoment


@dataclass(frozen=True)
class ClassSums:
    """The cross-moment with one-hot labels, kept as sums over classes about one origin.

    Adding rows then touches only their own classes, and a class never seen before is a new row.
    Several columns of classes share one numbering, so every row is counted once for each.
    """

    columns: int  # of classes
    origin: Array  # (p,)
    class_weight: Array  # (c,)
    sums: Array  # (c, p)  sum over the rows of each class of w_i (x_i - origin)

    @classmethod
    def of(
        cls,
        left: Rows,
        codes: NDArray[np.intp],
        n_classes: int,
        weight: Array | None = None,
        which: NDArray[np.intp] | None = None,
    ) -> ClassSums:
        """(n, p) rows and the (n, m) class numbers of their m label columns; see `add`."""
        if sparse.issparse(left):
            origin = np.zeros(left.shape[1])
        else:
            # The middle of the first three: close to the data even if one of them is not, and a
            # constant column is about itself to the last bit.
            three = np.sort(left[:3].astype(np.float64), axis=0)
            origin = three[len(three) // 2].copy()
        nothing = np.zeros((n_classes, len(origin)))
        empty = cls(codes.shape[1], origin, np.zeros(n_classes), nothing)
        return empty.add(left, codes, weight, which, reuse=True)

    @property
    def weight(self) -> float:
        return float(self.class_weight.sum()) / self.columns

    def add(
        self,
        left: Rows,
        codes: NDArray[np.intp],
        weight: Array | None = None,
        which: NDArray[np.intp] | None = None,
        reuse: bool = False,
    ) -> ClassSums:
        """Go on with more rows: those of `left`, or the rows `which` of it, that codes belong to.

        Rows are added up in blocks of BLOCK_ROWS rows of `left`, class by class; so batches that
        end on a multiple of it may follow each other or be one, and no bit changes.
        """
        which = np.arange(len(codes)) if which is None else which
        class_weight = self.class_weight.copy()
        sums = self.sums if reuse else self.sums.copy()
        for column in range(self.columns):
            here = np.ascontiguousarray(codes[:, column])
            class_weight += np.bincount(
                here, None if weight is None else weight[which], minlength=len(class_weight)
            )
            _add_class_sums(left, here, which, weight, self.origin, sums)
        return replace(self, class_weight=class_weight, sums=sums)

    def merge(self, other: ClassSums, reuse: bool = False) -> ClassSums:
        """Add class by class; both number their classes alike (see `numbered`)."""
        shift = other.origin - self.origin
        present = np.flatnonzero(other.class_weight)
        sums = self.sums if reuse else self.sums.copy()
        moved = other.sums[present]
        if shift.any():
            moved = moved + np.outer(other.class_weight[present], shift)
        sums[present] += moved
        return replace(self, class_weight=self.class_weight + other.class_weight, sums=sums)

    def numbered(self, position: NDArray[np.intp], n_classes: int) -> ClassSums:
        """The same sums where class i has become class position[i] of n_classes."""
        if n_classes == len(position) and np.array_equal(position, np.arange(n_classes)):
            return self
        class_weight = np.zeros(n_classes)
        sums = np.zeros((n_classes, self.sums.shape[1]))
        class_weight[position], sums[position] = self.class_weight, self.sums
        return replace(self, class_weight=class_weight, sums=sums)

    def cross(self) -> CrossMoment:
        """As the cross-moment with the one-hot matrix, (p, c)."""
        weight, total = self.weight, self.sums.sum(axis=0) / self.columns
        frequency = self.class_weight / weight
        return CrossMoment(
            weight,
            self.origin,
            total / weight,
            np.zeros_like(frequency),
            frequency,
            np.ascontiguousarray((self.sums - np.outer(frequency, total)).T),
        )


def _add_class_sums(
    left: Rows, codes: Any, which: Any, weight: Array | None, origin: Array, sums: Array
) -> None:
    weights = np.empty(0) if weight is None else weight
    if sparse.issparse(left):
        _jit.sparse_class_sums(left, which, codes, weights, sums)
        return
    # Runs of one class within one block, their rows in order.
    block = which // BLOCK_ROWS
    order = _stable_order(codes, len(sums))
    order = order[_stable_order(block[order], int(block[-1]) + 1)]
    codes, block = codes[order], block[order]
    new = (codes[1:] != codes[:-1]) | (block[1:] != block[:-1])
    starts = np.concatenate([[0], np.flatnonzero(new) + 1, [len(order)]])
    order, classes = which[order], codes[starts[:-1]]
    n, p = left.shape
    if left.flags.c_contiguous:

        def add_columns(first: int, last: int) -> None:
            _jit.class_sums(left, order, starts, classes, weights, origin, sums, first, last)

        if n <= BLOCK_ROWS:
            add_columns(0, p)
            return
        # Columns are shared out among the threads, so that each sum is made by one of them.
        with one_blas_thread() as threads:
            width = max(64, -(-p // threads))
            slabs = range(0, p, width)
            for _ in in_order(lambda first: add_columns(first, min(first + width, p)), slabs):
                pass
        return
    # Other layouts a block at a time, its rows made contiguous: the same runs, the same bits.
    block_of_run = block[starts[:-1]]
    for number in range(-(-n // BLOCK_ROWS)):
        a, b = np.searchsorted(block_of_run, [number, number + 1])
        here = slice(number * BLOCK_ROWS, (number + 1) * BLOCK_ROWS)
        local = order[starts[a] : starts[b]] - here.start
        w = weights[here] if weights.size else weights
        rows = np.ascontiguousarray(left[here])
        runs = (local, starts[a : b + 1] - starts[a], classes[a:b])
        _jit.class_sums(rows, *runs, w, origin, sums, 0, p)


def _stable_order(numbers: NDArray[np.intp], bound: int) -> NDArray[np.intp]:
    """Stable argsort of numbers below `bound`; NumPy sorts 16 bits by counting, in O(n)."""
    return np.argsort(numbers.astype(np.uint16) if bound <= 1 << 16 else numbers, kind="stable")
