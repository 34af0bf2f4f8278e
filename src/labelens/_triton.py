"""A kernel for cards; the only file that imports Triton, which comes with torch for CUDA.

Sums over classes as a product with one-hot labels that are never written down, of rows that are
read once. What torch has for it reads rows two or three times, or pads ten classes to many more.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

# Classes that a program keeps in registers: with more, torch's own product is faster.
MOST_CLASSES = 32
# Rows and columns of a tile, and rows that are added up in float32 (measured: benchmarks/gpu.py).
ROWS, COLUMNS, CHUNK = 16, 128, 1024


def class_sums(rows: Any, codes: Any, n_classes: int, weight: Any, origin: Any) -> tuple[Any, Any]:
    """(n, p) float32 rows and (n,) class numbers -> (c, p) sums of w_i (x_i - origin), float64.

    And the (c,) weights. A number below zero is no class.
    """
    n, p = rows.shape
    chunks, padded = triton.cdiv(n, CHUNK), max(16, triton.next_power_of_2(n_classes))
    sums = torch.empty((chunks, padded, p), device=rows.device)
    weights = torch.empty((chunks, padded), device=rows.device)
    nothing = rows  # for what is not there, and not read
    with torch.cuda.device(rows.device):
        _class_sums[(chunks, triton.cdiv(p, COLUMNS))](
            rows,
            codes,
            nothing if weight is None else weight,
            nothing if origin is None else origin,
            sums,
            weights,
            n,
            p,
            rows.stride(0),
            weighted=weight is not None,
            moved=origin is not None,
            classes=padded,
            height=ROWS,
            width=COLUMNS,
            chunk=CHUNK,
            num_warps=2,
            num_stages=4,
        )
    whole, heavy = (part[:, :n_classes].sum(0, dtype=torch.float64) for part in (sums, weights))
    return whole, heavy


@triton.jit
def _class_sums(
    rows,
    codes,
    weight,
    origin,
    sums,
    weights,
    n,
    p,
    stride,
    weighted: tl.constexpr,
    moved: tl.constexpr,
    classes: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
    chunk: tl.constexpr,
):
    here, slab = tl.program_id(0), tl.program_id(1)
    column, number = slab * width + tl.arange(0, width), tl.arange(0, classes)
    inside = column < p
    total = tl.zeros((classes, width), tl.float32)
    heavy = tl.zeros((classes,), tl.float32)
    centre = tl.load(origin + column, mask=inside, other=0.0) if moved else 0.0
    for start in range(0, chunk, height):
        row = here * chunk + start + tl.arange(0, height)
        there = row < n
        place = rows + row[:, None].to(tl.int64) * stride + column[None, :]
        x = tl.load(place, mask=there[:, None] & inside[None, :], other=0.0)
        code = tl.load(codes + row, mask=there, other=-1)
        one_hot = (code[None, :] == number[:, None]).to(tl.float32)
        if weighted:
            one_hot *= tl.load(weight + row, mask=there, other=0.0)[None, :]
        if moved:
            x -= centre[None, :]
        total = tl.dot(one_hot, x, total, input_precision="ieee")
        if slab == 0:
            heavy += tl.sum(one_hot, axis=1)
    place = sums + (here * classes + number[:, None]) * p + column[None, :]
    tl.store(place, total, mask=inside[None, :])
    if slab == 0:
        tl.store(weights + here * classes + number, heavy)
