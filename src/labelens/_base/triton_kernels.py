"""Kernels for GPUs; the only file that imports Triton, which comes with torch for CUDA.

Each reads what it is given once, where torch's own functions read it two to four times or write
down what is only wanted to be added up. Sums are float32 over a few rows and float64 over all.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

# Classes that a program keeps in registers: with more, torch's own product is faster.
MOST_CLASSES = 32
# Rows and columns of a tile, rows that are added up in float32, and rows of a program: the fastest
# on an H200 of those tried.
ROWS, COLUMNS, SHORT, CHUNK = 16, 64, 256, 2048
TILE = dict(height=ROWS, width=COLUMNS, short=SHORT, chunk=CHUNK)
# Rows whose mean the others are about.
CENTRE = 16
# Sine and cosine of the hardware: between -pi and pi they are accurate enough for float32 sums.
_sine, _cosine = libdevice.fast_sinf, libdevice.fast_cosf
if triton.knobs.runtime.interpret:  # on the host, which has none of them

    @triton.jit
    def _sine(x):
        return tl.sin(x)

    @triton.jit
    def _cosine(x):
        return tl.cos(x)


def takes(rows: Any) -> bool:
    """Whether these are rows for the kernels, which count numbers of a chunk in 32 bits."""
    if rows.dtype != torch.float32 or rows.ndim != 2:
        return False
    return bool(rows.stride(1) == 1 and CHUNK * rows.stride(0) < 1 << 31)


def class_sums(
    rows: Any,
    codes: Any,
    n_classes: int,
    weight: Any = None,
    waves: bool = False,
    centred: bool = False,
) -> Any:
    """(n, p) float32 rows and (n,) class numbers -> (c, p + 1) sums, float64.

    They are sums of w_i x_i and, in the last column, of w_i. With `waves` they are sums of
    w_i cos(x_i), then of w_i sin(x_i). With `centred` they are about the mean of some rows,
    rounded as by `round_origin`, which comes as one row more at the end. A number that is none of
    the c is no class.
    """
    n, p = rows.shape
    width = (2 if waves else 1) * p + 1
    chunks, padded = triton.cdiv(n, CHUNK), max(16, triton.next_power_of_2(n_classes))
    sums = torch.empty((chunks, n_classes + 1, width), dtype=torch.float64, device=rows.device)
    with torch.cuda.device(rows.device):
        _class_sums[(chunks, triton.cdiv(p, COLUMNS))](
            rows,
            codes,
            rows if weight is None else weight,  # what is not there is not read
            sums,
            n,
            p,
            rows.stride(0),
            codes.stride(0),
            n_classes,
            weighted=weight is not None,
            waves=waves,
            centred=centred,
            classes=padded,
            sample=CENTRE,
            **TILE,
            num_warps=4 if waves else 2,
            num_stages=3,
        )
    return sums[:, : n_classes + centred].sum(0)


def column_sums(rows: Any, weight: Any, origin: Any) -> tuple[Any, Any, Any]:
    """(n, p) float32 rows -> (2, p) float64 sums of w_i (x_i - origin) and of their squares.

    And the (p,) minima and maxima of x_i.
    """
    n, p = rows.shape
    chunks = triton.cdiv(n, CHUNK)
    found = torch.empty((chunks, 4, p), dtype=torch.float64, device=rows.device)
    with torch.cuda.device(rows.device):
        _column_sums[(chunks, triton.cdiv(p, COLUMNS))](
            rows,
            rows if weight is None else weight,
            rows if origin is None else origin,
            found,
            n,
            p,
            rows.stride(0),
            weighted=weight is not None,
            moved=origin is not None,
            **TILE,
            num_warps=4,
        )
    return found[:, :2].sum(0), found[:, 2].amin(0), found[:, 3].amax(0)


@triton.jit
def _class_sums(
    rows,
    codes,
    weight,
    sums,
    n,
    p,
    stride,
    apart,
    n_classes,
    weighted: tl.constexpr,
    waves: tl.constexpr,
    centred: tl.constexpr,
    classes: tl.constexpr,
    sample: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
    short: tl.constexpr,
    chunk: tl.constexpr,
):
    """A product with one-hot labels that are never written down."""
    here, slab = tl.program_id(0).to(tl.int64), tl.program_id(1)
    column, number = slab * width + tl.arange(0, width), tl.arange(0, classes)
    inside = column < p
    total = tl.zeros((classes, width), tl.float64)
    sines = tl.zeros((classes, width), tl.float64)
    heavy = tl.zeros((classes,), tl.float64)
    if centred:
        some_rows = tl.arange(0, sample).to(tl.int64) * n // sample
        places = rows + some_rows[:, None] * stride + column[None, :]
        centre = tl.sum(tl.load(places, mask=inside[None, :], other=0.0), axis=0) / sample
        # Its first 18 bits: model files contain it, and must not contain values of rows.
        centre = (centre.to(tl.int32, bitcast=True) & -64).to(tl.float32, bitcast=True)
    # From here on rows are counted within the chunk, in 32 bits.
    left = tl.minimum(n - here * chunk, chunk).to(tl.int32)
    rows += here * chunk * stride
    codes += here * chunk * apart
    weight += here * chunk
    for first in range(0, chunk, short):
        some = tl.zeros((classes, width), tl.float32)
        some_sines = tl.zeros((classes, width), tl.float32)
        weighs = tl.zeros((classes,), tl.float32)
        for start in range(0, short, height):
            row = first + start + tl.arange(0, height)
            there = row < left
            place = rows + row[:, None] * stride + column[None, :]
            x = tl.load(place, mask=there[:, None] & inside[None, :], other=0.0)
            code = tl.load(codes + row * apart, mask=there, other=0)
            mine = (code[None, :] == number[:, None]) & there[None, :]
            one_hot = mine.to(tl.float32)
            if weighted:
                one_hot *= tl.load(weight + row, mask=there, other=0.0)[None, :]
            if centred:
                x -= centre[None, :]
            if waves:
                turns = tl.floor(x * 0.15915494309189535 + 0.5)
                x = (x - turns * 6.28125) - turns * 0.0019353071795864769
                some_sines = tl.dot(one_hot, _sine(x), some_sines, input_precision="ieee")
                x = _cosine(x)
            some = tl.dot(one_hot, x, some, input_precision="ieee")
            if slab == 0:
                weighs += tl.sum(one_hot, axis=1)
        total += some
        if waves:
            sines += some_sines
        if slab == 0:
            heavy += weighs
    whole = 2 * p + 1 if waves else p + 1
    there = number < n_classes
    inside = inside[None, :]
    line = sums + (here * (n_classes + 1) + number) * whole
    tl.store(line[:, None] + column[None, :], total, mask=there[:, None] & inside)
    if waves:
        tl.store(line[:, None] + p + column[None, :], sines, mask=there[:, None] & inside)
    if slab == 0:
        tl.store(line + whole - 1, heavy, mask=there)
    if centred:  # once in all
        line = sums + (here * (n_classes + 1) + n_classes) * whole
        once = tl.where(here == 0, centre, 0.0)
        tl.store(line + column, once, mask=column < p)


@triton.jit
def _column_sums(
    rows,
    weight,
    origin,
    found,
    n,
    p,
    stride,
    weighted: tl.constexpr,
    moved: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
    short: tl.constexpr,
    chunk: tl.constexpr,
):
    here, slab = tl.program_id(0).to(tl.int64), tl.program_id(1)
    column = slab * width + tl.arange(0, width)
    inside = column < p
    total = tl.zeros((width,), tl.float64)
    squares = tl.zeros((width,), tl.float64)
    low = tl.full((height, width), float("inf"), tl.float32)
    high = tl.full((height, width), float("-inf"), tl.float32)
    centre = tl.load(origin + column, mask=inside, other=0.0) if moved else 0.0
    left = tl.minimum(n - here * chunk, chunk).to(tl.int32)
    rows += here * chunk * stride
    weight += here * chunk
    for first in range(0, chunk, short):
        some = tl.zeros((height, width), tl.float32)
        some_squares = tl.zeros((height, width), tl.float32)
        for start in range(0, short, height):
            row = first + start + tl.arange(0, height)
            there = (row < left)[:, None] & inside[None, :]
            x = tl.load(rows + row[:, None] * stride + column[None, :], mask=there, other=0.0)
            low = tl.minimum(low, tl.where(there, x, float("inf")))
            high = tl.maximum(high, tl.where(there, x, float("-inf")))
            if moved:
                x = tl.where(there, x - centre[None, :], 0.0)
            heavy = x
            if weighted:
                heavy *= tl.load(weight + row, mask=row < left, other=0.0)[:, None]
            some += heavy
            some_squares += heavy * x
        total += tl.sum(some, axis=0)
        squares += tl.sum(some_squares, axis=0)
    place = found + here * 4 * p + column
    tl.store(place, total, mask=inside)
    tl.store(place + p, squares, mask=inside)
    tl.store(place + 2 * p, tl.min(low, axis=0), mask=inside)
    tl.store(place + 3 * p, tl.max(high, axis=0), mask=inside)
