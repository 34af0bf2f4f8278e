"""Fewer rows that still look like all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LIMIT = 200_000  # points that a browser draws without trouble


def stratified(strata: Any, limit: int = LIMIT, seed: int = 0) -> NDArray[np.int64]:
    """(n,) non-negative codes -> at most `limit` rows, rising; no stratum is lost.

    Every stratum gives one row, and of the other rows a share in proportion to its size.
    """
    codes = np.asarray(strata)
    n = len(codes)
    if n <= limit:
        return np.arange(n)
    _, codes, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    if len(sizes) > limit:  # one row each is too many already
        codes, sizes = np.zeros(n, dtype=np.int64), np.array([n])
    share = (sizes - 1) * ((limit - len(sizes)) / (n - len(sizes)))
    quota = 1 + np.floor(share).astype(np.int64)
    # What flooring left over goes to the largest remainders.
    left = limit - int(quota.sum())
    quota[np.argsort(np.floor(share) - share, kind="stable")[:left]] += 1
    # A random order, then by stratum: the first of each are a random choice.
    order = np.random.default_rng(seed).permutation(n)
    order = order[np.argsort(codes[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    rank = np.arange(n) - np.repeat(starts, sizes)
    return np.sort(order[rank < np.repeat(quota, sizes)])
