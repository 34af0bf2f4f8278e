"""The one base estimator: scikit-learn's conventions around recipe, moments and solution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if

from .._base import devices
from .._base.page import DocumentationLink
from .._base.threads import one_blas_thread
from .._base.types import DeviceLike, LabelsLike, MatrixLike
from .._base.validation import (
    check_embedding,
    check_is_fitted,
    check_same_place,
)
from .._core.moments import check_can_grow
from .._core.solvers import Solver
from .._engines import engine_of
from . import settings
from .batch import read_batch
from .driver import RowsInMemory, fit_rows
from .fitted import FittedAttributes, embed_rows, lazily_embedded
from .job import Job


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

    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike | None = None,
        sample_weight: ArrayLike | None = None,
        nuisance: LabelsLike | None = None,
    ) -> Self:
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
        nuisance : array-like of shape (n_samples,) or (n_samples, n_columns), default=None
            A batch, donor or site that components should not show: they are made uncorrelated with
            it, so that all its classes have the same mean in the embedding of these rows. Floats
            with fractions are numbers, all others classes. `transform` does not need it. It removes
            no differences of variances or other nonlinear effects. Not for
            `approximation="exact"` and "falkon".

        Returns
        -------
        self
        """
        engine = engine_of(X)
        rows = RowsInMemory if engine is None else engine.Collection
        return fit_rows(self, rows(X, y, sample_weight, nuisance))

    def partial_fit(
        self,
        X: MatrixLike,
        y: LabelsLike | None = None,
        sample_weight: ArrayLike | None = None,
        nuisance: LabelsLike | None = None,
    ) -> Self:
        """Add a batch of any size: only the moments are updated.

        Components are computed when they are next needed. New classes may appear in any batch.
        What `fit` takes from all rows comes from the first batch here: the kind of label kernel,
        `gamma` and `label_gamma` unless numbers, slices and ranks of labels, landmarks, and the
        scaling of kernel methods.
        Parameters must stay as they were at the first batch.

        Parameters
        ----------
        X, y, sample_weight, nuisance
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
        settings.check(self)
        first = before is None
        work = settings.altered(self) if first else self
        batch = read_batch(work, X, y, sample_weight, first, False, nuisance)
        if first:
            job = Job.draw(work, batch)
            if job.recipe.screens:
                job = job.screened(job.without_scatter.add(batch, None))
        else:
            settings.check_unchanged(self, self._recipe.parameters)
            job = Job.of(self)
        self._become(job.recipe, job.add(batch, before), work, devices.place_of(X))
        return self

    def merge(self, other: Projection) -> Self:
        """Take in what another estimator of the same kind has seen, as if fitted on all its rows.

        Both must have drawn the same maps: the same parameters and `random_state`, and numbers
        for `gamma` and `label_gamma` where they are used. Slices and ranks of labels must be
        equal: pass `label_kernel_` of the first model to the others. The random methods without
        labels or with `target_weight < 1` use a random vector for every row; there the merged
        model has the distribution of a fit on all rows, but other random vectors.

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

    # Using ---------------------------------------------------------------------------------------

    def transform(self, X: MatrixLike) -> NDArray[Any]:
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
            return lazily_embedded(self, X, engine)
        check_same_place(self, self._place, X, "transform")
        return embed_rows(self, X)

    if TYPE_CHECKING:  # scikit-learn defines it, without types

        def fit_transform(
            self, X: MatrixLike, y: LabelsLike | None = None, **fit_params: ArrayLike | None
        ) -> NDArray[Any]: ...

    @available_if(lambda self: not self._kernelised)
    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]:
        """The rows that fit an embedding best, by least squares (linear methods only).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self, "moments_")
        check_same_place(self, self._place, X, "inverse_transform")
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

    def to(self, where: DeviceLike) -> Self:
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
