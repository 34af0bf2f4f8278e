"""The cross-moment of rows and classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray
from scipy import sparse

from ..._base import jit
from ..._base.threads import cached_property, one_blas_thread, side_by_side
from .common import BLOCK_ROWS, Array, Rows, far_from_zero, round_origin, stored_about

# Rows that are put in order at a time: so many bytes of them, and the order of so many blocks.
PIECE_BYTES, PIECE_BLOCKS = 1 << 28, 512
# Rows of one class in one block from which on they are added up before they join the rest.
LONG_RUN = 16
# Numbers to add up below which starting threads takes longer.
WORTH_A_THREAD = 1 << 22
# How much larger than the mean the largest share of rows may be.
UNEVEN = 1.1
# Columns below which a share reads too little of each row.
NARROWEST = 64


@dataclass(frozen=True)
class ClassSums:
    """The cross-moment with one-hot labels, kept as sums over classes about one origin.

    Adding rows then touches only their own classes, and a new class is a new row.
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
        origin: Array | None = None,
    ) -> ClassSums:
        """(n, p) rows and the (n, m) class numbers of their m label columns; see `add`."""
        if origin is None:
            # By rows with a label: those before them may be in another batch.
            some = which is not None and len(which) < left.shape[0]
            first = left[which[:BLOCK_ROWS]] if some and which is not None else left
            origin = _sparse_near(first) if sparse.issparse(left) else _near(first)
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
            if weight is None:
                class_weight += np.bincount(here, minlength=len(class_weight))
            else:  # one by one, as if the rows before had been in the same batch
                np.add.at(class_weight, here, weight[which])
            _add_class_sums(left, here, which, weight, self.origin, sums)
        return replace(self, class_weight=class_weight, sums=sums)

    def merge(self, other: ClassSums, reuse: bool = False) -> ClassSums:
        """Add class by class; both have the same numbering of classes (see `numbered`)."""
        shift = other.origin - self.origin
        sums = self.sums if reuse else self.sums.copy()
        present: Any = other.class_weight != 0
        if present.all():
            present = slice(None)  # which copies nothing
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

    def rescaled(self, factor: Array) -> ClassSums:
        """The moment of left * factor."""
        return replace(self, origin=self.origin * factor, sums=self.sums * factor)

    def only(self, which: NDArray[np.intp]) -> ClassSums:
        """The moment of some columns of left."""
        return replace(self, origin=self.origin[which], sums=self.sums[:, which])

    def without(self, Q: Array) -> ClassSums:
        """The moment of left without its part in the span of Q, (p, r) with orthonormal columns."""
        return replace(self, sums=self.sums - self.sums @ Q @ Q.T)

    # As the cross-moment of rows with the one-hot matrix (see `CrossMoment`).

    @cached_property
    def offset_left(self) -> Array:
        return self.sums.sum(axis=0) / (self.columns * self.weight)

    @property
    def offset_right(self) -> Array:
        return self.class_weight / self.weight

    @property
    def mean(self) -> tuple[Array, Array]:
        return self.origin, self.offset_left

    @property
    def covariance(self) -> Array:
        found = self.sums / self.weight
        found -= np.outer(self.offset_right, self.offset_left)
        return found.T

    def times(self, mixing: Array) -> Array:
        # sums - outer(frequency, total) is never written out: `mixing` is centred instead.
        centred = mixing - self.offset_right @ mixing / self.columns
        return (centred.T / self.weight @ self.sums).T


def _near(rows: NDArray[Any]) -> Array:
    """(n, p) -> (p,) numbers close to the rows, known before they are read.

    The middle of the first three is close even if one of them is not; it is rounded to about its
    distance from the nearer of the other two. A column that is constant is about itself to the
    last bit.
    """
    three = np.sort(rows[:3], axis=0)
    middle = three[len(three) // 2]
    if len(three) == 1:
        return round_origin(middle)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite shows in the sums
        apart = np.diff(three.astype(np.float64), axis=0).min(axis=0)
    origin = round_origin(middle, apart)
    if (same := np.flatnonzero((apart == 0) & (middle != 0))).size:
        first = rows[:BLOCK_ROWS, same]
        constant = same[(first == first[0]).all(axis=0)]
        origin[constant] = middle[constant]
    return origin


def _sparse_near(rows: Any) -> Array:
    """The same for CSR rows: zero, but for columns that are far from it in all of the first."""
    origin = np.zeros(rows.shape[1])
    columns, values = far_from_zero(rows[:BLOCK_ROWS])
    if columns.size:
        origin[columns] = _near(values)
    return origin


def _about(rows: Any, origin: Array) -> Any:
    """CSR rows minus an origin that is zero in most columns."""
    if (apart := stored_about(rows, origin)) is not None:
        return apart
    n, columns = rows.shape[0], np.flatnonzero(origin)
    starts = np.arange(n + 1) * len(columns)
    everywhere = np.tile(origin[columns], n), np.tile(columns, n), starts
    return sparse.csr_array(rows) - sparse.csr_array(everywhere, shape=rows.shape)


def _add_class_sums(
    left: Rows, codes: Any, which: Any, weight: Array | None, origin: Array, sums: Array
) -> None:
    """Add the rows `which` of `left` to the sums of their classes.

    Rows are read class by class, so that the sums at work stay in L1 however many classes there
    are. Every sum is made by one thread, in the order of the rows.
    """
    weights = np.empty(0) if weight is None else weight
    if sparse.issparse(left):
        left = _about(left, origin)
        order = _stable_order(codes, len(sums))
        classes, order = codes[order], which[order]
        _share_out(
            lambda a, b, *_: jit.sparse_class_sums(left, order[a:b], classes[a:b], weights, sums),
            classes,
            1,
            left.nnz,
            True,
        )
        return
    # A piece has to stay in memory while it is read out of order, also of a larger file; what is
    # neither rows nor columns in one piece is copied a block at a time.
    rows = _whole_columns(left)
    whole = rows.flags.c_contiguous or rows.flags.f_contiguous
    blocks = min(PIECE_BLOCKS, PIECE_BYTES // max(1, left[:BLOCK_ROWS].nbytes)) if whole else 1
    size = BLOCK_ROWS * max(1, blocks)
    for start in range(0, left.shape[0], size):
        here = slice(*np.searchsorted(which, [start, start + size]))
        if here.start == here.stop:
            continue
        if whole:
            _add_piece(rows, codes[here], which[here], weights, origin, sums)
        else:
            some = slice(start, start + size)
            copied = np.ascontiguousarray(left[some])
            _add_piece(copied, codes[here], which[here] - start, weights[some], origin, sums)


def _whole_columns(left: NDArray[Any]) -> NDArray[Any]:
    """Some rows of a Fortran array as all of its rows, of which the others are not looked at."""
    size, apart = left.itemsize, left.strides[1]
    in_pieces = left.strides[0] != size or apart % size or apart < size * left.shape[0]
    if left.flags.c_contiguous or in_pieces:
        return left
    return as_strided(left, (apart // size, left.shape[1]), writeable=False)


def _add_piece(
    rows: Any, codes: Any, which: Any, weight: Array, origin: Array, sums: Array
) -> None:
    order = _stable_order(codes, len(sums))
    classes, order = codes[order], which[order]
    starts, long = _runs(order // BLOCK_ROWS, classes)

    def add(a: int, b: int, first: int, last: int) -> None:
        some = slice(*np.searchsorted(starts, [a, b]))
        runs = starts[some.start : some.stop + 1], long[some]
        jit.class_sums(rows, order, *runs, classes, weight, origin, sums, first, last)

    p = rows.shape[1]
    _share_out(add, classes, p, len(codes) * p, rows.flags.c_contiguous)


def _runs(
    blocks: NDArray[np.intp], classes: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where runs start (and the last one ends), and which are long enough to be added up apart.

    A run is the rows of one class within one block of the grid; neighbours of the same class that
    are short are joined.
    """
    other = classes[1:] != classes[:-1]
    starts = np.concatenate([[0], np.flatnonzero(other | (blocks[1:] != blocks[:-1])) + 1])
    long = np.diff(starts, append=len(classes)) >= LONG_RUN
    apart = np.concatenate([[True], long[1:] | long[:-1] | other[starts[1:] - 1]])
    return np.append(starts[apart], len(classes)), long[apart]


def _share_out(
    add: Callable[[int, int, int, int], None],
    classes: NDArray[np.intp],
    p: int,
    work: int,
    by_rows: bool,
) -> None:
    """Call add(first row, last row, first column, last column), on all threads if it pays.

    Where the numbers of a row lie side by side, a thread gets whole classes if they can be dealt
    out evenly; otherwise, and for what threads are left, columns are shared out.
    """
    n = len(classes)
    if work < WORTH_A_THREAD:
        add(0, n, 0, p)
        return
    with one_blas_thread() as threads:
        edges = np.concatenate([[0], np.flatnonzero(classes[1:] != classes[:-1]) + 1, [n]])
        for parts in range(threads if by_rows else 1, 0, -1):
            wanted = np.arange(parts + 1) * n / parts
            cuts = edges[np.abs(edges - wanted[:, None]).argmin(axis=1)]
            if np.diff(cuts).max() <= UNEVEN * n / parts:
                break
        narrowest = NARROWEST if by_rows else 1
        slabs = min(-(-threads // parts), max(1, p // narrowest))
        columns = np.linspace(0, p, slabs + 1).astype(int)
        shares = [(*rows, *some) for rows in pairwise(cuts) for some in pairwise(columns)]
        side_by_side(lambda share: add(*share), shares, threads)


def _stable_order(numbers: NDArray[np.intp], bound: int) -> NDArray[np.intp]:
    """Stable argsort of numbers below `bound`; NumPy sorts 16 bits by counting, in O(n)."""
    return np.argsort(numbers.astype(np.uint16) if bound <= 1 << 16 else numbers, kind="stable")
