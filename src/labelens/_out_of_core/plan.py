"""How many rows a chunk may have: memory is promised before anything is read."""

from __future__ import annotations

import re
from math import inf, lcm
from typing import Any

import numpy as np

from .._base.threads import one_blas_thread
from .._core.gram import gram_bytes, gram_dtype
from .._core.kernels import make_kernel
from .._core.landmarks import landmark_bytes
from .._core.moments import BLOCK_ROWS
from .._engines.sources import Source
from .._fit.first_pass import sample_rows
from .._fit.fitted import recipe_of, solution_of
from .._fit.recipe import WIDEST_SCREENED, block_rows, screens, statistics
from .._fit.settings import has_falkon, is_kernel_method, keeps_rows

UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
UNITS |= {f"{unit}i": 1024.0**power for power, unit in enumerate(["", "K", "M", "G", "T"]) if unit}
# Bytes of a chunk: two of them stay in a cache between reading and adding up.
CHUNK_BYTES = 8 << 20
# Kernel methods take long over a chunk, and threads wait for each other at its end: so many bytes,
# and as many blocks.
KERNEL_CHUNK_BYTES, KERNEL_BLOCKS = 32 << 20, 16
# A device takes long to start, and to report the end of its work.
SENT_BYTES = 384 << 20
# Libraries that the first chunk loads, and what allocators keep: measured, rounded up.
LOADED = 110 << 20
# Tiles of the kernel matrix that a thread has in hand.
TILES = 3
# Of unknown labels so many features, or classes, are assumed.
LABEL_FEATURES = 256


def chunk_rows(
    estimator: Any,
    source: Source,
    memory: Any,
    sent: bool = False,
    fits: bool = True,
    classes: int = 0,
) -> int:
    """Rows in a chunk; ValueError if `memory` allows for none.

    `sent`: to a device. `fits`: to fit the estimator, else to embed them by it, and perhaps to
    compute probabilities of so many classes.
    """
    unit = lcm(BLOCK_ROWS, block_rows(source.head, estimator.batch_size))
    # Copies of a chunk in the reader, one more of what is done with it, and its labels.
    row = (source.copies + 1) * source.row_bytes + 64 + 4 * 8 * classes
    most = CHUNK_BYTES
    if is_kernel_method(estimator):
        most = max(KERNEL_CHUNK_BYTES, KERNEL_BLOCKS * BLOCK_ROWS * source.row_bytes)
    if sent:
        most = SENT_BYTES
    if memory is not None:
        allowed = as_bytes(memory)
        own = _to_fit(estimator, source, sent) if fits else _to_embed(estimator)
        fixed = LOADED + source.reader_bytes + own
        needed = fixed + unit * row
        if allowed < needed and source.spare_memory():
            return chunk_rows(estimator, source, memory, sent, fits, classes)
        if allowed < needed:
            raise ValueError(
                f"memory={memory!r} is not enough: this {'fit' if fits else 'transform'} needs "
                f"{_written(needed)} "
                f"({_written(LOADED + source.reader_bytes)} for libraries and readers, "
                f"{_written(own)} for moments and what is made of "
                f"{BLOCK_ROWS} rows at a time, {_written(unit * row)} for rows)."
            )
        most = min(most, (allowed - fixed) // row * source.row_bytes)
    return max(1, most // source.row_bytes // unit) * unit


def _to_embed(model: Any) -> int:
    """Bytes for all that does not grow with the rows of a chunk, next to the model itself."""
    with one_blas_thread() as threads:
        pass
    recipe, d = recipe_of(model), model.n_features_in_
    if recipe.phi is None:
        solved = solution_of(model)
        known = model.moments_.rows if solved.rows is None else solved.rows
        return int(16 * known.shape[0] * d + threads * TILES * 8 * BLOCK_ROWS**2)
    p = recipe.phi.n_features
    buffers = (threads + 1) * BLOCK_ROWS * 8 * (3 * p + 2 * d)
    return int(buffers + 8 * p * (d * is_kernel_method(model) + 2 * recipe.n_components))


def _to_fit(estimator: Any, source: Source, sent: bool) -> int:
    """Bytes for all that does not grow with the rows of a chunk."""
    with one_blas_thread() as threads:
        pass
    d = p = source.head.shape[1]
    if is_kernel_method(estimator):
        p = int(estimator.n_random_features)
        if keeps_rows(estimator):
            if source.n_rows is None:
                raise ValueError(
                    f"approximation={estimator.approximation!r} keeps all rows, and their number "
                    "is unknown, so memory cannot be limited. Pass files or arrays instead of "
                    "batches, or leave out memory."
                )
            kept = source.n_rows * (16 * d + 8 * LABEL_FEATURES)
            if sent:  # kernel matrices are on the device
                return kept
            tiles = threads * TILES * 8 * BLOCK_ROWS**2
            return kept + tiles + _system(estimator, source.n_rows, source.labelled)
    scatter, sketch, _, labels = statistics(estimator, source.labelled)
    k = estimator.n_components if isinstance(estimator.n_components, int) else 32
    cross = 8 * p * (LABEL_FEATURES + (k if sketch else 0))
    wide = p > WIDEST_SCREENED and screens(estimator)
    columns = estimator.n_nonzero if wide else p  # of C_xx
    moments = cross + 8 * (columns**2 * scatter + LABEL_FEATURES**2 * labels)
    # One before, one so far, one for every thread and one that waits; the solver needs as many.
    total = moments * (threads + 3)
    if is_kernel_method(estimator):
        total += (threads + 1) * BLOCK_ROWS * 8 * (3 * p + 2 * d)  # buffers of features
        total += 8 * p * d  # frequencies or landmarks
        if estimator.approximation == "nystroem":
            total += 4 * 8 * p**2  # their kernel, its factor, the inverse, and a copy
        total += 2 * sample_rows(estimator, source.row_bytes) * source.row_bytes
    return int(total)


def _system(estimator: Any, n: int, labelled: bool) -> int:
    """Bytes for kernel matrices of n rows and what is made of them."""
    kernel = make_kernel(estimator.kernel, estimator.gamma, estimator.kernel_params)
    if has_falkon(estimator):
        return landmark_bytes(kernel, n, estimator.n_random_features)
    scatter, sketch, *_ = statistics(estimator, labelled)
    if not scatter and not (sketch and labelled):
        return 0
    eigen = not labelled or estimator.target_weight < 1 or estimator.shrinkage == 0
    return gram_bytes(n, gram_dtype(kernel, n), None, eigen)


def as_bytes(memory: Any) -> int:
    """512_000_000 or "512MB" or "0.5 GiB"."""
    number = isinstance(memory, (int, float, np.number)) and not isinstance(memory, bool)
    if number and 0 < memory < inf:
        return int(memory)
    found = re.fullmatch(r"\s*(\d+\.?\d*)\s*((?:[kKMGT]i?)?)B?\s*", str(memory))
    if not isinstance(memory, str) or not found:
        raise ValueError(f"memory must be a number of bytes or text like '512MB', got {memory!r}.")
    return int(float(found[1]) * UNITS[found[2].replace("k", "K")])


def _written(count: float) -> str:
    return f"{count / 1e6:,.0f} MB"
