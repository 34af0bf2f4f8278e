"""Features of the rows, and sums over them that many fits share.

    scatter, spread   depend on the rows alone
    cross             on the labels too
    sketch            on the seed and the number of components

A move of target weight, shrinkage or linear scaling therefore only solves, which is fast after the
eigendecomposition of the scatter (see `spectrum`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from .._base.threads import go_on, in_order
from .._core.maps import Identity
from .._core.moments import BLOCK_ROWS, Moments, Scatter
from .._core.scaling import SCALES, Scaling
from .._core.spectrum import Spectrum
from .._fit.batch import Batch
from .._fit.embedding import embed_several
from .._fit.fitted import restore, solution_of
from .._fit.recipe import Recipe
from .._fit.solution import solve, too_many_components
from .._fit.summarize import summarize

LARGEST = 1 << 29  # bytes of features in memory; more are computed for each fit
MOST_LABELS = 16  # with sums in memory
PIECE = 8 * BLOCK_ROWS  # rows of label features in memory, for each thread
WIDEST = 2048  # features, of which an eigendecomposition takes seconds
LEAST_SHRINKAGE = 1e-3  # at which single precision is enough for a plot


@dataclass(frozen=True, eq=False)
class FittedSpace:
    """A fitted estimator, and the maps for rows of the space."""

    model: Any
    near: Recipe  # maps from rows of the space to features
    note: str  # the warning of `fit`, if any


class Space:
    """The rows of a session through one feature map."""

    def __init__(
        self, drawn: Recipe, X: NDArray[Any], n_train: int, buffer: NDArray[Any] | None = None
    ) -> None:
        assert drawn.phi is not None
        self._phi, self._scaling = drawn.phi, drawn.scaling
        self.rows: Any = X
        p = drawn.phi.n_features
        shape, dtype = (len(X), p), np.float32 if X.dtype == np.float32 else np.float64
        self.written = not drawn.plain and len(X) * p * np.dtype(dtype).itemsize <= LARGEST
        if self.written:
            fits = buffer is not None and buffer.shape == shape and buffer.dtype == dtype
            self.rows = buffer if fits else np.empty(shape, dtype)
            # BLAS may round differently in blocks of another size: use the blocks of `fit`.
            starts = [*range(0, n_train, BLOCK_ROWS), *range(n_train, len(X), BLOCK_ROWS)]
            blocks = map(slice, starts, [*starts[1:], len(X)])

            def write(here: slice) -> None:
                with np.errstate(over="ignore", invalid="ignore"):  # the sums are checked
                    self.rows[here] = drawn.features(X[here])

            for _ in in_order(write, blocks):
                pass
        self._parts: dict[Hashable, Moments] = {}
        self._locks: defaultdict[Hashable, Lock] = defaultdict(Lock)
        self._noise: Any = None
        self._spectra: dict[str | None, Spectrum] = {}  # by the scaling
        self._whitened: tuple[Any, dict[float, Any]] = (None, {})

    def _near(self, recipe: Recipe) -> Recipe:
        recipe = replace(recipe, phi=self._phi, scaling=self._scaling)
        if self.written:
            recipe = replace(recipe, phi=Identity(self._phi.n_features), scaling=None)
        return recipe

    def roughly(self, recipe: Recipe) -> bool:
        """Whether products of features in single precision save time and give the same plot.

        Their error is 1e-7 of the variance, and at most 1e-7 / shrinkage after B^-1.
        """
        small = self.written and self.rows.dtype == np.float32 and "scatter" not in self._parts
        return small and recipe.scatter and recipe.parameters["shrinkage"] >= LEAST_SHRINKAGE

    def moments(
        self, recipe: Recipe, batch: Batch, labels: Hashable, exact: bool = True
    ) -> Moments:
        """The moments of training rows for a recipe; `labels` is a key for the labels."""
        bare = replace(self._near(recipe), scatter=False, spread=False, noise=None)
        batch = replace(batch, rows=self.rows[: len(batch.numbers)])

        def part(key: Hashable, wanted: Recipe, *about: Any) -> Moments:
            with _patiently(self._locks[key]):  # sum once
                if key not in self._parts:
                    found = _summed(wanted, batch, *about)
                    if not found.finite():
                        raise ValueError(
                            "Sums over the rows overflow. Scale the columns, or choose another "
                            "kernel coefficient."
                        )
                    self._parts[key] = found
                    crosses = [known for known in list(self._parts) if isinstance(known, tuple)]
                    for old in crosses[:-MOST_LABELS]:
                        self._parts.pop(old, None)
                return self._parts[key]

        # Continuous labels have random features (waves), which are part of the key.
        waves = getattr(recipe.psi, "frequencies", np.zeros(0)).tobytes()
        whole = part(("cross", labels, waves, recipe.label_scatter), bare)
        assert whole.cross is not None
        alone, mean = replace(bare, psi=None), sum(whole.cross.mean)
        if recipe.scatter:
            rough = not exact and self.roughly(recipe)
            key, dtype = ("rough", np.float32) if rough else ("scatter", np.float64)
            found = part(key, replace(alone, scatter=True), mean, dtype)
            whole = replace(whole, scatter=found.scatter)
        if recipe.spread:
            whole = replace(whole, spread=part("spread", replace(alone, spread=True)).spread)
        if recipe.noise is not None:
            if self._noise != recipe.noise:  # keep the last sketch only
                self._parts.pop("sketch", None)
                self._noise = recipe.noise
            found = part("sketch", replace(alone, noise=recipe.noise))
            whole = replace(whole, sketch=found.sketch)
        return whole

    def take_apart(self, moments: Moments, first: str | None) -> None:
        """Decompose the scatter for each scaling, for moves of target weight and shrinkage."""
        scatter, spread = moments.scatter, moments.spread
        if scatter is None or spread is None or len(scatter.origin) > WIDEST:
            return
        for scale in sorted(SCALES, key=lambda scale: scale != first):
            factor = 1.0 if scale is None else Scaling.of(spread, scale).factor
            self._spectra[scale] = Spectrum(scatter.rescaled(factor * np.ones(len(scatter.origin))))

    def solved(self, estimator: Any, recipe: Recipe, moments: Moments) -> FittedSpace:
        """The estimator in the state after `fit`."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                solution = solve(recipe, moments, self._whitenings(recipe, moments))
        except NotFittedError as error:
            raise ValueError(str(error)) from None
        restore(estimator, recipe, moments, solution)
        rank, note = solution.solution.rank, ""
        if rank < recipe.n_components:
            note = too_many_components(recipe, moments, rank)
        return FittedSpace(estimator, self._near(recipe), note)

    def _whitenings(self, recipe: Recipe, moments: Moments) -> dict[float, Any]:
        """The last whitening, by shrinkage, for the control and for other moves."""
        scale = recipe.parameters["scale"] if recipe.scaling is None else None
        shrinkage, spectrum = recipe.parameters["shrinkage"], self._spectra.get(scale)
        key = scale, shrinkage, id(moments.scatter), spectrum is None
        if self._whitened[0] != key:
            white = None
            if recipe.scatter and spectrum is not None:
                white = spectrum.whitening(shrinkage)
            self._whitened = key, {} if white is None else {shrinkage: white}
        return self._whitened[1]


@contextmanager
def _patiently(lock: Lock) -> Iterator[None]:
    """Hold a lock; raise StoppedError if the request is cancelled during the wait."""
    while not lock.acquire(timeout=0.1):
        go_on()
    try:
        yield
    finally:
        lock.release()


def embed_each(
    several: Sequence[FittedSpace], rows: Any, axes: list[int] | None = None
) -> list[NDArray[Any]]:
    """The embeddings (n, k) of rows of a space, or only the components `axes`."""
    solved = [solution_of(one.model) for one in several]
    if axes is not None:
        some = [replace(one.solution, components=one.solution.components[axes]) for one in solved]
        solved = [replace(one, solution=part) for one, part in zip(solved, some, strict=True)]
    found = embed_several(several[0].near, solved, rows)
    if not all((np.abs(Z) < np.finfo(np.float32).max).all() for Z in found):
        raise ValueError(
            "The embedding is too large to draw (float32). Scale the columns, or lower gamma."
        )
    return found


def _summed(recipe: Recipe, batch: Batch, mean: Any = None, dtype: Any = None) -> Moments:
    """The moments of a batch without unlabelled rows; a scatter is about the given `mean`."""
    if recipe.scatter and recipe.plain:
        return Moments(len(batch.numbers), None, None, Scatter.around(batch.rows, mean, dtype))
    if not hasattr(recipe.psi, "frequencies"):
        return summarize(recipe, batch, recipe.encode(batch))

    def encoded(start: int) -> tuple[Batch, Any]:
        names, here = ("rows", "labelled", "labels", "numbers"), slice(start, start + PIECE)
        piece = replace(batch, **{name: getattr(batch, name)[here] for name in names})
        return piece, recipe.encode(piece)

    total: Moments | None = None  # waves of all labels could be larger than the rows
    for piece, right in in_order(encoded, range(0, len(batch.numbers), PIECE)):
        total = summarize(recipe, piece, right, total)
    assert total is not None
    return total
