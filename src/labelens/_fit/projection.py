"""The one base estimator: scikit-learn's conventions around recipe, moments and solution."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from .._base import devices
from .._base.jit import get_ready
from .._base.page import DocumentationLink
from .._base.threads import one_blas_thread
from .._base.validation import (
    all_finite,
    check_embedding,
    check_is_fitted,
    check_rows,
    check_same_place,
    refuse_non_finite,
    unchanged_on_error,
)
from .._core.moments import check_can_grow
from .._core.solvers import Solver
from .._engines import engine_of
from . import device, settings
from .auto import settle
from .batch import Batch, read_batch
from .embedding import embed
from .fitted import FittedAttributes
from .fitting import fit_parts
from .recipe import draw_recipe, keep_rows, summarize


class Projection(
    DocumentationLink,
    FittedAttributes,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """The base of the four methods."""

    _solver: Solver
    _kernelised: bool  # whether rows go through a feature map

    # Fitting -------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit on all rows of X, in one pass (kernel methods: one more for gamma and scaling).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A dask array or frame is reduced where its chunks are.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Classes, numbers or a multilabel indicator. None makes it PCA, or randomized PCA.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 is the same as the row twice, 0 as if it were not there. (Rows drawn at
            random, as landmarks are and for `gamma="median"`, are drawn without weights.)

        Returns
        -------
        self
        """
        if (engine := engine_of(X)) is not None:
            fit_parts(self, engine.Collection(X, y, sample_weight))
            return self
        with unchanged_on_error(self), one_blas_thread():
            self._take(X, y, sample_weight, before=None, last=True)
            try:
                self._solve()
            except NotFittedError as error:
                raise ValueError(str(error)) from None
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a batch of any size: only the moments are updated.

        Components are computed when they are next needed. New classes may appear in any batch.
        What `fit` takes from all rows comes from the first batch here: the kind of label kernel,
        `gamma` and `label_gamma` unless numbers, landmarks, and the scaling of kernel methods.
        Parameters must stay as they were at the first batch.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self
        """
        if engine_of(X) is not None:
            raise TypeError(
                "partial_fit takes a batch of rows that are here, and these are elsewhere; use "
                "fit, and merge the models of several collections."
            )
        before = getattr(self, "moments_", None)
        check_can_grow(before)
        settings.check_streams(self)
        with unchanged_on_error(self):
            self._take(X, y, sample_weight, before, last=False)
        return self

    def merge(self, other: Projection) -> Self:
        """Take in what another estimator of the same kind has seen, as if fitted on all its rows.

        Both must have drawn the same maps: the same parameters and `random_state`, and numbers
        for `gamma` and `label_gamma` where they are used. The random methods without labels or
        with `target_weight < 1` use a random vector for every row; there the merged model has the
        distribution of a fit on all rows, but other random vectors.

        Parameters
        ----------
        other : estimator of the same class, fitted; it is not changed

        Returns
        -------
        self
        """
        check_is_fitted(self, "moments_")
        check_is_fitted(other, "moments_")
        check_can_grow(self.moments_)
        check_can_grow(other.moments_)
        if why := self._difference(other):
            raise ValueError(f"These two estimators cannot be merged: {why}.")
        theirs, noise = other.moments_, self._recipe.noise
        with one_blas_thread():
            if noise is not None:
                theirs = theirs.rotated(noise.rotation(self.moments_.n_samples, theirs.n_samples))
            self.moments_ = self.moments_.merge(theirs)
        self._solved = None
        return self

    def _take(self, X: Any, y: Any, sample_weight: Any, before: Any, last: bool) -> None:
        """Add a batch to the moments of those before; the first one draws the recipe.

        `last` says that no other batch will follow.
        """
        settings.check(self)
        first = before is None
        if first:
            self._forget()
        batch = read_batch(self, X, y, sample_weight, first, last)
        self._show_at(devices.place_of(X))
        if not devices.on_device(batch.rows):
            get_ready(batch.rows.size)
        if first:
            self._draw(batch)
        else:
            settings.check_unchanged(self, self._recipe.parameters)
        self._add(batch, before)

    def _draw(self, batch: Batch) -> None:
        """Settle all that is settled by looking at data, and draw the maps."""
        if batch.known is None:
            settings.check_some_labels(self, batch.labels)
        settled = settle(self, batch)
        with one_blas_thread():
            self._recipe = draw_recipe(settled, batch)
        if settled is not self:
            self._recipe = replace(self._recipe, parameters=settings.of(self))

    def _add(self, batch: Batch, before: Any) -> None:
        """The moments of those before and of this batch."""
        psi = self._recipe.psi
        if (batch.labels is None) != (psi is None):
            raise ValueError(
                "This batch has no y and earlier ones had one: mark the rows without a label and "
                "name the marker with missing_label."
                if batch.labels is None
                else "This batch has a y and earlier ones had none; start anew with fit."
            )
        if self._recipe.phi is not None:
            if devices.on_device(batch.rows):
                self.moments_ = device.summarize(self._recipe, batch, before)
            else:
                self.moments_ = summarize(self._recipe, batch, self._recipe.encode(batch), before)
            if not self.moments_.finite():
                refuse_non_finite(batch.rows, getattr(self, "feature_names_in_", None))
                raise ValueError(
                    "The sums over this batch overflow float64: X or sample_weight is too large. "
                    "Scale them down first."
                )
        else:
            kept = keep_rows(self._recipe, batch, self._recipe.encode(batch), before)
            self.moments_ = kept if before is None else before.merge(kept)
        self._solved = None

    # Using ---------------------------------------------------------------------------------------

    def transform(self, X: Any) -> NDArray[Any]:
        """Project rows onto the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            float32 if X is, else float64. Of a dask array or frame a dask array, of which nothing
            has been computed yet.
        """
        check_is_fitted(self, "moments_")
        if (engine := engine_of(X)) is not None:
            return engine.transformed(self, X)
        check_same_place(self, X, "transform")
        return self._embedded(self, X)

    def _embedded(self, columns_of: Projection | None, X: Any) -> NDArray[Any]:
        """The same; X must have the columns of that model, and is known to if it is None."""
        rows = check_rows(columns_of, X, reset=False, finite=self._kernelised)
        if self._kernelised and not devices.on_device(rows):
            get_ready(rows.size)
        embedding = embed(self._recipe, self.moments_, self._solve(), rows)
        if not all_finite(embedding):
            refuse_non_finite(rows, getattr(self, "feature_names_in_", None))
            raise ValueError(
                f"The embedding of these rows overflows {embedding.dtype}: scale X down"
                + (", or pass it as float64." if devices.is_single(embedding) else ".")
            )
        return devices.shown_at(embedding, devices.place_of(X))

    @available_if(lambda self: not self._kernelised)
    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """The rows that fit an embedding best, by least squares (linear methods only).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self, "moments_")
        check_same_place(self, X, "inverse_transform")
        embedding = check_embedding(X, self._n_features_out)
        solved, before = self._solve(), self._recipe.scaling
        rows = embedding @ linalg.pinv(solved.solution.components).T
        if solved.scaling is not None:
            rows /= solved.scaling.factor
        rows += np.add(*solved.mean)
        if before is not None:
            rows = rows / before.factor + before.shift
        rows = rows.astype(np.float32) if embedding.dtype == np.float32 else rows
        return devices.shown_at(rows, devices.place_of(X))

    def to(self, where: Any) -> Self:
        """Move a fitted model to a device or to another library's arrays.

        `transform` computes where the rows are that it gets, wherever the model is. What moves is
        what a model shows (`components_`, `mean_`, `dual_coef_`), and the training rows of the
        exact kernel. Files know no device: a model that is loaded is on the host.

        Parameters
        ----------
        where : str, device or module
            "cuda", "cuda:1", "cpu" (torch's devices), "torch", "cupy", "cupy:1", "numpy", a
            `torch.device`, or the module itself.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from labelens import SupervisedPCA
        >>> model = SupervisedPCA().fit(*load_iris(return_X_y=True))
        >>> type(model.to("numpy").components_).__name__
        'ndarray'
        """
        check_is_fitted(self, "moments_")
        place = devices.named_place(where)
        self.moments_ = self.moments_.to(devices.device_of(place))
        self._show_at(place)
        return self

    # Inner life ----------------------------------------------------------------------------------

    def _difference(self, other: Projection) -> str:
        """Why the moments of two estimators are not of the same kind; empty if they are."""
        if type(self) is not type(other):
            return f"one is a {type(self).__name__}, the other a {type(other).__name__}"
        for name in ("n_features_in_", "feature_names_in_"):
            mine: Any = getattr(self, name, None)
            theirs: Any = getattr(other, name, None)
            if not np.array_equal(mine, theirs):
                return f"{name} is {mine!r} and {theirs!r}"
        return self._recipe.difference(other._recipe)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = False
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.array_api_support = True
        return tags
