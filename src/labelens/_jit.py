"""Compiled loops; the only file that imports numba, and only when there is enough to gain.

`import labelens` does not import numba, and small inputs never do: `class_sums` then adds up the
same numbers in the same order with NumPy, so that the choice changes no bit.
"""

from __future__ import annotations

import sys
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Below this many numbers a first call would spend its time importing numba.
WORTH_COMPILING = 1 << 20


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
    compiled = _compiled_class_sums(rows.dtype)
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
    compiled = _compiled_sparse_class_sums(data.dtype, rows.indices.dtype)
    compiled(data, rows.indices, rows.indptr, which, codes, weight, sums)


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
    if not _small(rows.size):
        _compiled_hadamard_chain(rows.dtype)(rows, diagonals, permutations, lengths, out, first)
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


def _sparse_class_sums_body(data, indices, indptr, order, codes, weight, sums):  # type: ignore[no-untyped-def]
    for k in range(len(order)):
        i = order[k]
        total = sums[codes[k]]
        w = weight[i] if len(weight) else 1.0
        for place in range(indptr[i], indptr[i + 1]):
            total[indices[place]] += data[place] * w


def _hadamard_chain_body(rows, diagonals, permutations, lengths, out, first):  # type: ignore[no-untyped-def]
    n, d = rows.shape
    stages, size = diagonals.shape
    # Tiles of 64 rows, turned so that the innermost loop runs over rows: that is what vectorises.
    width = 64
    tile = np.empty((size, width), dtype=rows.dtype)
    other = np.empty((size, width), dtype=rows.dtype)
    for start in range(0, n, width):
        count = min(width, n - start)
        for j in range(size):
            for r in range(width):
                tile[j, r] = 0
        for j in range(d):
            for r in range(count):
                tile[j, r] = rows[start + r, j]
        for stage in range(stages):
            if len(permutations):
                for j in range(size):
                    source, target = tile[permutations[stage, j]], other[j]
                    for r in range(width):
                        target[r] = source[r]
                tile, other = other, tile
            for j in range(size):
                line, scale = tile[j], diagonals[stage, j]
                for r in range(width):
                    line[r] *= scale
            half = 1
            while 4 * half <= size:  # two steps at a time
                for i in range(0, size, 4 * half):
                    for j in range(i, i + half):
                        a, b = tile[j], tile[j + half]
                        c, e = tile[j + 2 * half], tile[j + 3 * half]
                        for r in range(width):
                            s0, s1 = a[r] + b[r], a[r] - b[r]
                            s2, s3 = c[r] + e[r], c[r] - e[r]
                            a[r], b[r] = s0 + s2, s1 + s3
                            c[r], e[r] = s0 - s2, s1 - s3
                half *= 4
            if half < size:
                for j in range(half):
                    a, b = tile[j], tile[j + half]
                    for r in range(width):
                        s0 = a[r]
                        a[r] = s0 + b[r]
                        b[r] = s0 - b[r]
        for j in range(len(lengths)):
            line, scale = tile[j], lengths[j]
            for r in range(count):
                out[start + r, first + j] = line[r] * scale


@cache
def _compiled_hadamard_chain(dtype: Any) -> Any:
    from numba import from_dtype, int64, types

    real = from_dtype(dtype)
    lines, table = _read_only(real, 1), _read_only(real, 2)
    places, out = _read_only(int64, 2), types.Array(real, 2, "C")
    return _compile(_hadamard_chain_body, table, table, places, lines, out, int64)


@cache
def _compiled_class_sums(dtype: Any) -> Any:
    from numba import boolean, float64, from_dtype, int64, types

    # Declared read-only, so that one compiled version serves all callers.
    rows, numbers = _read_only(from_dtype(dtype), 2), _read_only(int64, 1)
    reals, sums = _read_only(float64, 1), types.Array(float64, 2, "C")
    flags = _read_only(boolean, 1)
    arguments = (rows, numbers, numbers, flags, numbers, reals, reals, sums, int64, int64)
    return _compile(_class_sums_body, *arguments)


@cache
def _compiled_sparse_class_sums(data: Any, index: Any) -> Any:
    from numba import float64, from_dtype, int64, types

    values, places = _read_only(from_dtype(data), 1), _read_only(from_dtype(index), 1)
    numbers, reals = _read_only(int64, 1), _read_only(float64, 1)
    sums = types.Array(float64, 2, "C")
    return _compile(_sparse_class_sums_body, values, places, places, numbers, numbers, reals, sums)


def _read_only(dtype: Any, dimensions: int) -> Any:
    from numba import types

    return types.Array(dtype, dimensions, "C", readonly=True)


def _compile(body: Any, *arguments: Any) -> Any:
    import numba

    signature = numba.void(*arguments)
    try:
        return numba.njit(signature, nogil=True, cache=True)(body)
    except RuntimeError:  # no folder that can be written to: compile anew in every process
        return numba.njit(signature, nogil=True)(body)
