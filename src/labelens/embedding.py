"""From rows to their embedding, a block at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import dual
from ._scratch import Empty, Scratch
from ._threads import in_order
from .maps import Identity
from .moments import Array
from .recipe import Recipe
from .solution import Solved, SolvedDual

# Rows that are multiplied at a time where nothing else is done to them.
PRODUCT_ROWS = 2048
# How many times larger than the embedding its mean may be for centring to come last.
SAFE_TO_CANCEL = 1e3


def embed(recipe: Recipe, moments: Any, solved: Solved | SolvedDual, rows: Any) -> NDArray[Any]:
    """(n, d) -> (n, k), float32 for float32 rows; not finite where rows are not, or overflow."""
    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    if isinstance(solved, SolvedDual):
        assert recipe.kernel is not None
        known, scaled = (moments.rows, solved.coefficients), recipe.scaled(rows)
        return _cast(dual.embed(recipe.kernel, *known, scaled, recipe.block) - solved.centre, dtype)
    k, plain = recipe.n_components, isinstance(recipe.phi, Identity) and recipe.scaling is None
    plain = plain and rows.dtype == dtype and not sparse.issparse(rows)
    if plain and solved.cancels < SAFE_TO_CANCEL:
        # One product, without a copy of X: centring afterwards costs three digits at most.
        projector, centre = solved.projector.astype(dtype), sum(solved.centre)
        return _blocks(lambda part: part @ projector - centre, rows, k, dtype, PRODUCT_ROWS)
    scratch = Scratch()

    def embedded(part: Any) -> Array:
        scratch.start_over()
        return _carefully(recipe, solved, part, scratch.empty)

    return _cast(_blocks(embedded, rows, k, float, recipe.block), dtype)


def _carefully(recipe: Recipe, solved: Solved, rows: Any, empty: Empty) -> Array:
    features = recipe.features(rows, empty)
    if isinstance(recipe.phi, Identity) and not sparse.issparse(features):
        # Centred first, in float64: where |mean| >> std the other order loses digits.
        return (features - solved.mean[0]) @ solved.projector - solved.centre[1]
    # Centred after projecting: sparse rows stay sparse, features are of size 1.
    projector = solved.projector
    if features.dtype == np.float32 and not sparse.issparse(features):
        projector = projector.astype(np.float32)
    return features @ projector - sum(solved.centre)


def _blocks(
    function: Callable[[Any], Any], rows: Any, k: int, dtype: Any, size: int
) -> NDArray[Any]:
    """The function of every block of rows, on all threads."""
    embedding = np.empty((rows.shape[0], k), dtype=dtype)

    def fill(here: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at the outcome
            embedding[here] = function(rows[here])

    for _ in in_order(fill, (slice(a, a + size) for a in range(0, rows.shape[0], size))):
        pass
    return embedding


def _cast(embedding: Array, dtype: Any) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        return embedding.astype(dtype, copy=False)
