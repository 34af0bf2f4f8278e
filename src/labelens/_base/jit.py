"""Compiled loops; the only file that imports numba, and only when there is enough to gain.

`import labelens` does not import numba, and small inputs never do: `class_sums` then adds up the
same numbers in the same order with NumPy, so that the choice changes no bit.
"""

from __future__ import annotations

import sys
from functools import cache
from itertools import pairwise
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .threads import held_in_forks

# Rows that are transformed at a time: a constant, so that strides are known when compiling.
WIDTH = 16
# Below this many numbers a first call would spend its time importing numba.
WORTH_COMPILING = 1 << 20


_importing = held_in_forks(RLock())


@cache
def _numba() -> Any:
    """The module; from then on forks wait while it compiles and while LLVM is at work."""
    with _importing:
        import numba
        from llvmlite.binding import ffi
        from numba.core.compiler_lock import global_compiler_lock

        held_in_forks(global_compiler_lock)
        if hasattr(ffi.lib, "_lock"):
            held_in_forks(ffi.lib._lock)
        return numba


def get_ready(size: int) -> None:
    """Import numba if that is less work than what is ahead: this many numbers, in many calls."""
    if size >= WORTH_COMPILING:
        _numba()


def _small(size: int) -> bool:
    """Whether importing numba would take longer than the work."""
    return size < WORTH_COMPILING and "numba" not in sys.modules


def class_sums(
    rows: Any,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    long: NDArray[np.bool_],
    classes: NDArray[np.int64],
    weight: NDArray[np.float64],
    origin: NDArray[np.float64],
    sums: NDArray[np.float64],
    first: int,
    last: int,
) -> None:
    """Add w_i (rows_i - origin) to the sums of its class, (n, p) into (c, p), columns first:last.

    Rows are in C or Fortran order; the same numbers are added up in the same order either way.
    Run r is the rows order[starts[r] : starts[r + 1]], and classes[k] the class of row order[k].
    A long run is added up by itself and then to its class, so that the error grows with the square
    root of the number of runs; the rows of others go to their class one after the other. Several
    rows are read at a time. An empty `weight` means that all rows weigh one.
    """
    if _small(rows.size):
        some = slice(first, last)
        arguments = (order, starts, long, classes, weight, origin[some], sums[:, some])
        _class_sums_slowly(rows[:, some], *arguments)
        return
    if rows.dtype == bool:
        rows = rows.view(np.uint8)
    body = _class_sums_body
    if not rows.flags.c_contiguous:
        body, rows = _class_sums_by_columns_body, rows.T
    compiled = _compiled(body, rows.dtype)
    compiled(rows, order, starts, long, classes, weight, origin, sums, first, last)


def sparse_class_sums(
    rows: Any, which: Any, codes: Any, weight: NDArray[np.float64], sums: NDArray[np.float64]
) -> None:
    """The same for CSR rows about zero: row which[i] belongs to class codes[i]."""
    if _small(max(rows.nnz, 8 * len(codes))):
        for row, code in zip(which, codes, strict=True):
            here = slice(rows.indptr[row], rows.indptr[row + 1])
            w = weight[row] if weight.size else 1.0
            sums[code, rows.indices[here]] += rows.data[here] * w  # no index twice: see check_rows
        return
    data = rows.data.view(np.uint8) if rows.dtype == bool else rows.data
    compiled = _compiled(_sparse_class_sums_body, data.dtype, rows.indices.dtype)
    compiled(data, rows.indices, rows.indptr, which, codes, weight, sums)


def column_spread(
    rows: Any, weight: NDArray[np.float64], about: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Sums of w (x - about) and of w (x - about)^2, minimum and maximum of each column, (p,)."""
    if _small(rows.size):
        distance = rows - about
        weighted = distance * weight[:, None]
        fours = len(rows) // 4 * 4
        sums, squares = np.zeros((2, rows.shape[1]))
        for total, parts in ((sums, weighted), (squares, weighted * distance)):
            pairs = parts[0:fours:2] + parts[1:fours:2]
            for part in (*(pairs[0::2] + pairs[1::2]), *parts[fours:]):
                total += part
        return sums, squares, rows.min(axis=0), rows.max(axis=0)
    if rows.dtype == bool:
        rows = rows.view(np.uint8)
    sums, squares = np.zeros((2, rows.shape[1]))
    low, high = rows[0].copy(), rows[0].copy()
    compiled = _compiled(_column_spread_body, rows.dtype)
    compiled(rows, weight, about, sums, squares, low, high)
    return sums, squares, low, high


def hadamard_chain(
    rows: NDArray[Any],
    diagonals: NDArray[Any],
    permutations: NDArray[np.int64],
    lengths: NDArray[Any],
    out: NDArray[Any],
    first: int,
) -> None:
    """Permute, multiply by a diagonal and transform by H, stage after stage; then by the lengths.

    (n, d) rows, padded with zeros to D, into columns first : first + len(lengths) of `out`.
    Diagonals and permutations are (stages, D); without permutations they are (0, D). All in the
    dtype of the rows.
    """
    if not _small(rows.size) and len(rows) >= WIDTH:
        compiled = _compiled(_hadamard_chain_body, rows.dtype)
        compiled(rows, diagonals, permutations, lengths, out, first)
        return
    size = diagonals.shape[1]
    tile = np.pad(rows, ((0, 0), (0, size - rows.shape[1])))
    for stage, diagonal in enumerate(diagonals):
        if len(permutations):
            tile = tile[:, permutations[stage]]
        tile = tile * diagonal
        half = 1
        while half < size:
            pairs = tile.reshape(len(rows), -1, 2, half)
            sums, differences = pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]
            tile = np.stack([sums, differences], axis=2)
            half *= 2
        tile = tile.reshape(len(rows), size)
    out[:, first : first + len(lengths)] = tile[:, : len(lengths)] * lengths


def _class_sums_slowly(
    rows: Any, order: Any, starts: Any, long: Any, classes: Any, weight: Any, origin: Any, sums: Any
) -> None:
    for run, (a, b) in enumerate(pairwise(starts)):
        about = rows[order[a:b]] - origin
        if weight.size:
            about *= weight[order[a:b], None]
        total = sums[classes[a]]
        if not long[run]:
            for row in about:
                total += row
            continue
        tail = b - a if weight.size else (b - a) % 8
        head = about[: b - a - tail]
        pairs = head[0::2] + head[1::2]
        fours = pairs[0::2] + pairs[1::2]
        apart = np.zeros(len(origin))
        for part in (*(fours[0::2] + fours[1::2]), *about[b - a - tail :]):
            apart += part
        total += apart


def _class_sums_body(rows, order, starts, long, classes, weight, origin, sums, first, last):  # type: ignore[no-untyped-def]
    p = last - first
    run = np.empty(p)
    about = origin[first:last]
    for r in range(len(long)):
        a, b = starts[r], starts[r + 1]
        total = sums[classes[a], first:last]
        if long[r]:
            run[:] = 0.0
            into = run
        else:
            into = total
        if len(weight):
            for k in range(a, b):
                x0, w = rows[order[k], first:last], weight[order[k]]
                for j in range(p):
                    into[j] += (x0[j] - about[j]) * w
            a = b
        while long[r] and b - a >= 8:
            x0, x1 = rows[order[a], first:last], rows[order[a + 1], first:last]
            x2, x3 = rows[order[a + 2], first:last], rows[order[a + 3], first:last]
            x4, x5 = rows[order[a + 4], first:last], rows[order[a + 5], first:last]
            x6, x7 = rows[order[a + 6], first:last], rows[order[a + 7], first:last]
            for j in range(p):
                o = about[j]
                run[j] += (((x0[j] - o) + (x1[j] - o)) + ((x2[j] - o) + (x3[j] - o))) + (
                    ((x4[j] - o) + (x5[j] - o)) + ((x6[j] - o) + (x7[j] - o))
                )
            a += 8
        while not long[r] and b - a >= 4:
            x0, x1 = rows[order[a], first:last], rows[order[a + 1], first:last]
            x2, x3 = rows[order[a + 2], first:last], rows[order[a + 3], first:last]
            for j in range(p):
                o = about[j]
                start = (total[j] + (x0[j] - o)) + (x1[j] - o)
                total[j] = (start + (x2[j] - o)) + (x3[j] - o)
            a += 4
        while a < b:
            x0 = rows[order[a], first:last]
            for j in range(p):
                into[j] += x0[j] - about[j]
            a += 1
        if long[r]:
            for j in range(p):
                total[j] += run[j]


def _class_sums_by_columns_body(  # type: ignore[no-untyped-def]
    columns, order, starts, long, classes, weight, origin, sums, first, last
):
    for j in range(first, last):
        x, o = columns[j], origin[j]
        for r in range(len(long)):
            a, b = starts[r], starts[r + 1]
            total = sums[classes[a], j]
            run = 0.0 if long[r] else total
            for k in range(a, b if len(weight) else a):
                run += (x[order[k]] - o) * weight[order[k]]
            a = b if len(weight) else a
            while long[r] and b - a >= 8:
                x0, x1, x2, x3 = x[order[a]], x[order[a + 1]], x[order[a + 2]], x[order[a + 3]]
                x4, x5, x6, x7 = x[order[a + 4]], x[order[a + 5]], x[order[a + 6]], x[order[a + 7]]
                run += (((x0 - o) + (x1 - o)) + ((x2 - o) + (x3 - o))) + (
                    ((x4 - o) + (x5 - o)) + ((x6 - o) + (x7 - o))
                )
                a += 8
            for k in range(a, b):
                run += x[order[k]] - o
            sums[classes[starts[r]], j] = total + run if long[r] else run


def _sparse_class_sums_body(data, indices, indptr, order, codes, weight, sums):  # type: ignore[no-untyped-def]
    for k in range(len(order)):
        i = order[k]
        total = sums[codes[k]]
        w = weight[i] if len(weight) else 1.0
        for place in range(indptr[i], indptr[i + 1]):
            total[indices[place]] += data[place] * w


def _column_spread_body(rows, weight, about, sums, squares, low, high):  # type: ignore[no-untyped-def]
    n, p = rows.shape
    fours = n // 4 * 4
    for i in range(0, fours, 4):
        x0, x1, x2, x3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        w0, w1, w2, w3 = weight[i], weight[i + 1], weight[i + 2], weight[i + 3]
        for j in range(p):
            o = about[j]
            d0, d1, d2, d3 = x0[j] - o, x1[j] - o, x2[j] - o, x3[j] - o
            v0, v1, v2, v3 = d0 * w0, d1 * w1, d2 * w2, d3 * w3
            sums[j] += (v0 + v1) + (v2 + v3)
            squares[j] += (v0 * d0 + v1 * d1) + (v2 * d2 + v3 * d3)
            low[j] = min(low[j], min(min(x0[j], x1[j]), min(x2[j], x3[j])))
            high[j] = max(high[j], max(max(x0[j], x1[j]), max(x2[j], x3[j])))
    for i in range(fours, n):
        x0, w0 = rows[i], weight[i]
        for j in range(p):
            d0 = x0[j] - about[j]
            v0 = d0 * w0
            sums[j] += v0
            squares[j] += v0 * d0
            low[j] = min(low[j], x0[j])
            high[j] = max(high[j], x0[j])


def _hadamard_chain_body(rows, diagonals, permutations, lengths, out, first):  # type: ignore[no-untyped-def]
    n, d = rows.shape
    stages, size = diagonals.shape
    # Tiles of some rows, turned and laid flat: line j, number j of every row, starts at j * WIDTH.
    # Every step then adds and subtracts long stretches of numbers, which is what vectorises.
    tile = np.empty(size * WIDTH, dtype=rows.dtype)
    other = np.empty(size * WIDTH, dtype=rows.dtype)
    for tile_start in range(0, n, WIDTH):
        start = min(tile_start, n - WIDTH)  # the last tile is whole too, and does some rows again
        for j in range(d):
            for r in range(WIDTH):
                tile[j * WIDTH + r] = rows[start + r, j]
        tile[d * WIDTH :] = 0
        for stage in range(stages):
            if len(permutations):
                for j in range(size):
                    source = permutations[stage, j] * WIDTH
                    for r in range(WIDTH):
                        other[j * WIDTH + r] = tile[source + r]
                tile, other = other, tile
            diagonal = diagonals[stage]
            half = 1  # lines
            if size >= 4:  # the first two steps, with the diagonal
                half = 4
                for j in range(0, size, 4):
                    four = tile[j * WIDTH : (j + 4) * WIDTH]
                    w0, w1, w2, w3 = diagonal[j], diagonal[j + 1], diagonal[j + 2], diagonal[j + 3]
                    for r in range(WIDTH):
                        a, b = four[r] * w0, four[r + WIDTH] * w1
                        c, e = four[r + 2 * WIDTH] * w2, four[r + 3 * WIDTH] * w3
                        s0, s1, s2, s3 = a + b, a - b, c + e, c - e
                        four[r], four[r + WIDTH] = s0 + s2, s1 + s3
                        four[r + 2 * WIDTH], four[r + 3 * WIDTH] = s0 - s2, s1 - s3
            else:
                for j in range(size):
                    for r in range(WIDTH):
                        tile[j * WIDTH + r] *= diagonal[j]
            while 4 * half <= size:  # two steps at a time
                stretch = half * WIDTH
                for i in range(0, size * WIDTH, 4 * stretch):
                    x0, x1 = tile[i : i + stretch], tile[i + stretch : i + 2 * stretch]
                    x2 = tile[i + 2 * stretch : i + 3 * stretch]
                    x3 = tile[i + 3 * stretch : i + 4 * stretch]
                    for r in range(stretch):
                        s0, s1 = x0[r] + x1[r], x0[r] - x1[r]
                        s2, s3 = x2[r] + x3[r], x2[r] - x3[r]
                        x0[r], x1[r] = s0 + s2, s1 + s3
                        x2[r], x3[r] = s0 - s2, s1 - s3
                half *= 4
            if half < size:
                stretch = half * WIDTH
                x0, x1 = tile[:stretch], tile[stretch:]
                for r in range(stretch):
                    s0, s1 = x0[r] + x1[r], x0[r] - x1[r]
                    x0[r], x1[r] = s0, s1
        for j in range(0, len(lengths) - WIDTH + 1, WIDTH):
            for r in range(WIDTH):
                for k in range(j, j + WIDTH):
                    out[start + r, first + k] = tile[k * WIDTH + r] * lengths[k]
        for k in range(len(lengths) // WIDTH * WIDTH, len(lengths)):
            for r in range(WIDTH):
                out[start + r, first + k] = tile[k * WIDTH + r] * lengths[k]


@cache
def _compiled(body: Any, dtype: Any, index: Any = np.int64) -> Any:
    """A body for rows of a dtype, and sparse ones with indices of another."""
    numba = _numba()
    kind, places = numba.from_dtype(np.dtype(dtype)), numba.from_dtype(np.dtype(index))
    real, whole = numba.float64, numba.int64

    def read(kind: Any, dimensions: int = 1, layout: str = "C") -> Any:
        # Declared read-only, so that one compiled version serves all callers.
        return numba.types.Array(kind, dimensions, layout, readonly=True)

    def written(kind: Any, dimensions: int = 1) -> Any:
        return numba.types.Array(kind, dimensions, "C")

    numbers, reals, runs = read(whole), read(real), (read(whole), read(whole), read(numba.boolean))
    class_sums = (read(kind, 2), *runs, numbers, reals, reals, written(real, 2), whole, whole)
    spread = (read(kind, 2), reals, reals, *2 * [written(real)], *2 * [written(kind)])
    sparse = (read(kind), read(places), read(places), numbers, numbers, reals, written(real, 2))
    # Rows are turned as they are read, so their layout does not matter.
    chain = (read(kind, 2, "A"), read(kind, 2), read(whole, 2), read(kind), written(kind, 2), whole)
    arguments = {
        _class_sums_body: class_sums,
        _class_sums_by_columns_body: class_sums,
        _sparse_class_sums_body: sparse,
        _column_spread_body: spread,
        _hadamard_chain_body: chain,
    }
    signature = numba.void(*arguments[body])
    try:
        return numba.njit(signature, nogil=True, cache=True)(body)
    except RuntimeError:  # no writable folder: compile in each process
        return numba.njit(signature, nogil=True)(body)
