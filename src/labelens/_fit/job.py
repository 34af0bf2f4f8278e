"""One fit as a frozen object: how rows are read and added up, wherever they are.

Engines, streams and `partial_fit` all use this object. Host and device have an accumulator each
(`summarize.py`, `device.py`); everything around them exists once, here.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from .._base import devices
from .._base.jit import get_ready
from .._base.threads import one_blas_thread
from .._base.validation import refuse_non_finite
from .._core.labels import as_labels
from .._engines.sources import Chunk
from . import device, settings, summarize
from .auto import settle
from .batch import Batch, read_batch
from .recipe import Recipe, draw_recipe, nuisance_map


@dataclass(frozen=True)
class Job:
    estimator: Any  # parameters and columns; nothing is ever fitted to it
    recipe: Recipe

    @classmethod
    def draw(cls, estimator: Any, batch: Batch) -> Job:
        """Replace every "auto" by a number and draw the maps, from the first rows."""
        if batch.known is None:
            settings.check_some_labels(estimator, batch.labels)
        settled = settle(estimator, batch)
        with one_blas_thread():
            recipe = draw_recipe(settled, batch)
        return cls(estimator, replace(recipe, parameters=settings.values(estimator)))

    @classmethod
    def of(cls, estimator: Any) -> Job:
        """The job of an estimator that has been fitted, to go on with."""
        return cls(estimator, estimator._recipe)

    def fitted(self, moments: Any) -> Any:
        """An estimator with these moments."""
        made = copy(self.estimator)
        made._become(self.recipe, moments, self.estimator)
        return made

    def starting_at(self, row: int) -> Job:
        """The same for rows of which the first has this number, where rows have random vectors."""
        noise = self.recipe.noise
        if noise is None:
            return self
        return replace(self, recipe=replace(self.recipe, noise=noise.after(row)))

    def screened(self, light: Any) -> Job:
        """With columns chosen by moments of all rows, those of the job `without_scatter`."""
        return replace(self, recipe=self.recipe.screened(light))

    @property
    def without_scatter(self) -> Job:
        return replace(self, recipe=replace(self.recipe, scatter=False))

    def with_nuisance(self, nuisance: Any) -> Job:
        """With what some values say of the nuisance, where the recipe was drawn without them."""
        values = as_labels(nuisance).values
        return replace(self, recipe=replace(self.recipe, nuisance=nuisance_map(values)))

    def read(self, chunk: Chunk) -> Batch:
        sides = chunk.X, chunk.y, chunk.weight
        return read_batch(self.estimator, *sides, False, False, chunk.nuisance)

    def add(self, batch: Batch, before: Any) -> Any:
        """The moments of this batch and of those before; with the exact kernel, the rows."""
        recipe = self.recipe
        if (batch.labels is None) != (recipe.psi is None):
            raise ValueError(
                "This batch has no y and earlier ones had one: mark the rows without a label and "
                "name the marker with missing_label."
                if batch.labels is None
                else "This batch has a y, and earlier batches had none; call fit."
            )
        if (batch.nuisance is None) != (recipe.nuisance is None):
            there = "no nuisance and earlier ones had one" if recipe.nuisance else "a nuisance"
            raise ValueError(
                f"This batch has {there}; pass the nuisance of every batch, or call fit."
            )
        if not devices.on_device(batch.rows):
            get_ready(batch.rows.size)
        if recipe.phi is None:
            kept = summarize.keep_rows(recipe, batch, recipe.encode(batch), before)
            return kept if before is None else before.merge(kept)
        moments = device.add_up(recipe, batch, before)
        if not moments.finite():
            refuse_non_finite(batch.rows, getattr(self.estimator, "feature_names_in_", None))
            raise ValueError(
                "The sums over this batch overflow float64: X or sample_weight is too large. "
                "Scale them down first."
            )
        return moments
