"""From rows to their embedding, a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base import devices
from .._base.scratch import Empty, Scratch
from .._base.threads import in_order, one_blas_thread
from .._core import exact_kernel
from .._core.maps import Identity
from .._core.moments import Array
from .._core.moments.common import stored_about
from .._core.moments.fold import blocks
from .recipe import Recipe
from .solution import Solved, SolvedDual

# Rows that are multiplied at a time where nothing else is done to them.
PRODUCT_ROWS = 2048
# Up to FEW columns BLAS takes less time one by one: a product with a matrix copies wide rows.
WIDE, FEW = 128, 3
# How many times larger than the embedding its mean may be for centring to come last.
SAFE_TO_CANCEL = 1e3


def embed(recipe: Recipe, moments: Any, solved: Solved | SolvedDual, rows: Any) -> NDArray[Any]:
    """(n, d) -> (n, k), float32 for float32 rows; not finite where rows are not, or overflow."""
    if devices.on_device(rows):
        return _on_device(recipe, moments, solved, rows)
    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    if isinstance(solved, SolvedDual):
        assert recipe.kernel is not None
        known = devices.host(_known(moments, solved)), devices.host(solved.coefficients)
        scaled = recipe.scaled(rows)
        return _cast(
            exact_kernel.embed(recipe.kernel, *known, scaled, recipe.block) - solved.centre, dtype
        )
    return embed_several(recipe, [solved], rows)[0]


@one_blas_thread()  # also for small products: threads that wait for more would take a core
def embed_several(recipe: Recipe, several: Sequence[Solved], rows: Any) -> list[NDArray[Any]]:
    """The same for several solutions over the same features; the rows are read once."""
    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    scaling = recipe.scaling
    if isinstance(recipe.phi, Identity) and scaling is not None and sparse.issparse(rows):
        # The shift moves to the mean of linear features, so that sparse rows stay sparse.
        recipe = replace(recipe, scaling=scaling.without_shift())
        moved = scaling.shift * scaling.factor
        several = [replace(one, mean=(one.mean[0] + moved, one.mean[1])) for one in several]
    edges = np.cumsum([len(one.solution.components) for one in several])
    plain = recipe.plain and rows.dtype == dtype and not sparse.issparse(rows)
    if plain and all(one.cancellation < SAFE_TO_CANCEL for one in several):
        # One product, without a copy of X: centring afterwards costs three digits at most.
        projector = np.hstack([one.projector for one in several]).astype(dtype)
        centre = np.concatenate([sum(one.centre) for one in several])
        few = projector.shape[0] >= WIDE and projector.shape[1] <= FEW

        def product(part: Any) -> Array:
            found = np.stack([part @ one for one in projector.T], 1) if few else part @ projector
            return found - centre

        embedding = _blocks(product, rows, edges[-1], dtype, PRODUCT_ROWS)
    else:
        scratch = Scratch()

        def embedded(part: Any) -> Array:
            scratch.start_over()
            return _carefully(recipe, several, part, scratch.empty)

        embedding = _cast(_blocks(embedded, rows, edges[-1], float, recipe.block), dtype)
    return [np.ascontiguousarray(part) for part in np.split(embedding, edges[:-1], axis=1)]


def _known(moments: Any, solved: SolvedDual) -> Any:
    """The rows that new ones are compared with: landmarks, or all training rows."""
    return moments.rows if solved.rows is None else solved.rows


def _on_device(recipe: Recipe, moments: Any, solved: Solved | SolvedDual, rows: Any) -> Any:
    """The same, on the device of the rows, in the precision that the recipe asks for."""
    xp = devices.namespace(rows)
    dual = isinstance(solved, SolvedDual)
    precision = recipe.dual_precision if dual else recipe.parameters["precision"]
    with devices.products(devices.place_of(rows), precision):
        if isinstance(solved, SolvedDual):
            assert recipe.kernel is not None
            known = _known(moments, solved), solved.coefficients
            embedding = exact_kernel.embed_on_device(recipe.kernel, *known, recipe.scaled(rows))
            embedding = embedding - devices.constant_at(solved.centre, embedding)
            return xp.astype(embedding, rows.dtype, copy=False)
        plain = isinstance(recipe.phi, Identity)
        careful = plain and not (recipe.scaling is None and solved.cancellation < SAFE_TO_CANCEL)
        like = xp.astype(rows[:0, :], xp.float64) if careful else rows
        projector = devices.constant_at(solved.projector, like)
        centre = solved.centre[1] if careful else np.add(*solved.centre)
        centre = devices.like(centre, projector)
        width = 0 if plain and not careful else 3 * len(solved.projector)
        parts = []
        for here in blocks(rows, width):
            features = recipe.features(rows[here, :])
            if careful:
                features = xp.astype(features, xp.float64) - devices.constant_at(
                    solved.mean[0], projector
                )
            parts.append(xp.astype(features @ projector - centre, rows.dtype, copy=False))
        return parts[0] if len(parts) == 1 else xp.concat(parts)


def _carefully(recipe: Recipe, several: Sequence[Solved], rows: Any, empty: Empty) -> Array:
    features = recipe.features(rows, empty)
    return np.hstack([_centred(recipe, solved, features) for solved in several])


def _centred(recipe: Recipe, solved: Solved, features: Any) -> Array:
    if isinstance(recipe.phi, Identity) and not sparse.issparse(features):
        # Centred first, in float64: where |mean| >> std the other order loses digits.
        return (features - solved.mean[0]) @ solved.projector - solved.centre[1]
    projector = solved.projector
    if sparse.issparse(features) and (apart := stored_about(features, solved.mean[0])) is not None:
        return apart @ projector - solved.centre[1]
    # Centred after projecting: sparse rows stay sparse, features are of size 1.
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
