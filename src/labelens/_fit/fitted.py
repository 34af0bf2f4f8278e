"""The state of a fitted model and its attributes, which are solved for at the first access."""

from __future__ import annotations

from functools import partial
from typing import Any

from numpy.typing import NDArray

from .._base import devices
from .._base.jit import get_ready
from .._base.threads import one_blas_thread
from .._base.validation import (
    all_finite,
    check_is_fitted,
    check_rows,
    refuse_non_finite,
    wanted_container,
)
from .._base.warn import warn_user
from .._core.labels.vocabulary import as_class_array, label_order
from .._core.moments import Array, FirstClasses
from . import settings
from .embedding import embed
from .recipe import Recipe
from .solution import Solved, SolvedDual, solve, too_many_components

# All that a fit leaves on an estimator. A new one starts without any of it, whatever its route.
COLUMNS = ("n_features_in_", "feature_names_in_")
STATE = ("_recipe", "moments_", "_solved", "_place")


def recipe_of(model: Any) -> Recipe:
    """The maps of a fitted model."""
    check_is_fitted(model, "moments_")
    return model._recipe


def solution_of(model: Any) -> Any:
    """The solution for the moments of a fitted model, computed once."""
    return model._solve()


def solved_so_far(model: Any) -> Any:
    """The same if it has been computed, else None."""
    return model._solved


def restore(model: Any, recipe: Recipe, moments: Any, solved: Any) -> None:
    """Make an estimator a fitted one, from a file; its columns are set by the caller."""
    model._recipe, model.moments_, model._solved = recipe, moments, solved


def embed_rows(model: Any, X: Any, check_columns: bool = True) -> NDArray[Any]:
    """(n, d) -> (n, k); `check_columns` is False where X is known to have those of the model."""
    recipe, kernelised = recipe_of(model), settings.is_kernel_method(model)
    rows = check_rows(model if check_columns else None, X, reset=False, finite=kernelised)
    if kernelised and not devices.on_device(rows):
        get_ready(rows.size)
    embedding = embed(recipe, model.moments_, solution_of(model), rows)
    if not all_finite(embedding):
        refuse_non_finite(rows, getattr(model, "feature_names_in_", None))
        raise ValueError(
            f"The embedding of these rows overflows {embedding.dtype}: scale X down"
            + (", or pass it as float64." if devices.is_single(embedding) else ".")
        )
    return devices.shown_at(embedding, devices.place_of(X))


def lazily_embedded(model: Any, X: Any, engine: Any) -> Any:
    """The embedding of a collection of an engine, of which nothing has been computed yet."""
    if (container := wanted_container(model)) != "default":
        raise ValueError(
            f"set_output(transform={container!r}) makes frames that are in memory, and these rows "
            "are elsewhere: use set_output(transform='default'), and "
            "dask.dataframe.from_dask_array(Z, columns=model.get_feature_names_out())."
        )
    solution_of(model)  # workers get the solution and not the problem
    return engine.mapped(partial(embed_rows, model), X)


class FittedAttributes:
    """The state of an estimator and its fitted attributes."""

    moments_: Any  # Moments; with "exact" and "falkon" KernelRows
    _recipe: Recipe
    _solved: Solved | SolvedDual | None  # None until the components are needed
    _place: devices.Place | None = None  # where the rows were; None: on the host, in NumPy's arrays

    def _become(
        self, recipe: Recipe, moments: Any, columns_of: Any, place: devices.Place | None = None
    ) -> None:
        """Take this in place of what an earlier fit has left."""
        columns = {name: vars(columns_of)[name] for name in COLUMNS if name in vars(columns_of)}
        for name in (*COLUMNS, *STATE):
            self.__dict__.pop(name, None)
        vars(self).update(columns)
        self._recipe, self.moments_, self._solved = recipe, moments, None
        self._show_at(place)

    def _solve(self) -> Any:
        """The solution for the moments as they are, computed once."""
        check_is_fitted(self, "moments_")
        if self._solved is None:
            with one_blas_thread():
                solved = solve(self._recipe, self.moments_)
            if (rank := solved.solution.rank) < self._recipe.n_components:
                warn_user(too_many_components(self._recipe, self.moments_, rank))
            self._solved = solved
        return self._solved

    def _show_at(self, place: devices.Place | None) -> None:
        """Let the attributes be shown there."""
        self.__dict__.pop("_place", None)
        if place is not None:
            self._place = place

    def _shown(self, values: Array) -> Any:
        """A fitted attribute, in kind: where the rows were, or where the model was moved."""
        return devices.shown_at(values, self._place)

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self, "moments_")
        return self._recipe.n_components

    def _refuse_exact(self, name: str) -> None:
        check_is_fitted(self, "moments_")
        if self._recipe.phi is None:
            raise AttributeError(
                f"approximation={self._recipe.parameters['approximation']!r} has no {name}: its "
                "features are never written out. See dual_coef_."
            )

    @property
    def components_(self) -> Array:
        """(n_components, p) over the p features of the map; of scaled rows if `scale` is set."""
        self._refuse_exact("components_")
        return self._shown(self._solve().solution.components)

    @property
    def mean_(self) -> Array:
        """Mean of the features, (p,)."""
        self._refuse_exact("mean_")
        origin, offset = self._solve().mean
        return self._shown(origin + offset)

    @property
    def dual_coef_(self) -> Array:
        """(n_components, n): coefficients of training rows ("exact") or landmarks ("falkon")."""
        check_is_fitted(self, "moments_")
        if self._recipe.phi is not None:
            raise AttributeError("Only approximation='exact' and 'falkon' have dual_coef_.")
        return self._shown(devices.host(self._solve().coefficients).T)

    @property
    def singular_values_(self) -> Array:
        """(n_components,): of C_xy for the spectral methods, of the components for the direct."""
        return self._solve().solution.singular_values

    @property
    def dependence_(self) -> Array:
        """HSIC, as in equation (1) of the paper, that each component adds to those before it."""
        return self._solve().solution.dependence

    @property
    def dependence_ratio_(self) -> Array:
        """`dependence_` over the HSIC of all features with the labels."""
        return self._solve().solution.dependence_ratio

    @property
    def shrinkage_(self) -> float:
        """The shrinkage used: what "auto" came to."""
        return self._solve().shrinkage

    @property
    def n_components_(self) -> int:
        """The number of components: what "auto" came to."""
        return self._n_features_out

    @property
    def gamma_(self) -> float | None:
        """The kernel coefficient used: what "scale", "median" or "auto" came to."""
        check_is_fitted(self, "moments_")
        if self._recipe.kernel is None:
            raise AttributeError(f"{type(self).__name__} has no kernel, so no gamma_.")
        return self._recipe.kernel.gamma

    @property
    def label_kernel_(self) -> Any:
        """The label kernel used: what "auto" chose; None without labels."""
        check_is_fitted(self, "moments_")
        return None if self._recipe.psi is None else self._recipe.psi.kernel

    @property
    def classes_(self) -> Any:
        """The classes seen so far, sorted; a list of arrays for several columns of classes."""
        check_is_fitted(self, "moments_")
        classes = self.moments_.classes
        if classes is None:
            raise AttributeError("There are no classes_: the labels are not classes.")
        if isinstance(classes, FirstClasses):
            raise AttributeError(
                "There are no classes_: label_map='gaussian' keeps no list of the classes, so that "
                "memory does not grow with their number. Use label_map='orthogonal' for a list."
            )
        ordered = [classes[i] for i in label_order(list(classes))]
        columns = self._recipe.label_columns
        if columns == 1:
            return as_class_array(ordered)
        return [as_class_array([c for j, c in ordered if j == i]) for i in range(columns)]

    @property
    def n_samples_seen_(self) -> int:
        """Rows seen so far, those of weight zero apart."""
        check_is_fitted(self, "moments_")
        return self.moments_.n_samples
