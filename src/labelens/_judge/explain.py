"""Which columns does an embedding depend on?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from .._base import devices
from .._base.types import LabelsLike, MatrixLike, RandomState, Transformer
from .._base.validation import check_is_fitted, check_number, check_rows, check_seed
from .._core import gradients
from .._core.maps import Identity
from .._core.maps.nystroem import Nystroem
from .._core.moments import Array
from .._fit.fitted import recipe_of, solution_of
from .._fit.projection import Projection
from .._fit.solution import SolvedDual
from .._fit.task import Task, embedded, in_parallel, seeded, spelled

__all__ = ["Importances", "importances"]

MOST_ROWS = 2000  # whose gradients are averaged
FEW_ROWS = 500  # where they need differences
SHOWN = 10


@dataclass(frozen=True, eq=False)
class Importances:
    """The outcome of `importances`; print it.

    Attributes
    ----------
    names : list of str
        Of the d columns.
    overall : ndarray of shape (d,)
        Shares of the columns in the squared gradients of all components.
    components : ndarray of shape (n_components, d)
        The same for each component.
    classes : dict of class names and ndarrays of shape (d,)
        The same for the direction from the mean of all rows to the mean of a class;
        empty without y.
    standardized : bool
        Whether gradients are by standard deviations of columns; else by their own units.
    error : ndarray of shape (d,), or None
        Standard deviation of `overall` over models of other rows.
    shuffled : ndarray of shape (d,), or None
        Mean of `overall` over models of shuffled labels.
    """

    names: list[str]
    overall: Array
    components: Array
    classes: dict[str, Array]
    standardized: bool
    error: Array | None = None
    shuffled: Array | None = None

    def __repr__(self) -> str:
        unit = "standard deviation" if self.standardized else "unit"
        lines = [f"Share of the squared change of the embedding by a {unit} of each column"]
        for i in np.argsort(-self.overall, kind="stable")[:SHOWN]:
            line = f"{self.names[i]:28.28}{self.overall[i]:8.3f}"
            if self.error is not None and self.shuffled is not None:
                line += f" ± {self.error[i]:.3f}, shuffled labels {self.shuffled[i]:.3f}"
            lines.append(line)
        if len(self.names) > SHOWN:
            lines.append(f"... and {len(self.names) - SHOWN} more")
        return "\n".join(lines)


def importances(
    model: Transformer,
    X: MatrixLike | None = None,
    y: LabelsLike | None = None,
    *,
    n_resamples: int = 0,
    random_state: RandomState | None = None,
) -> Importances:
    """Shares of the columns of X in the gradients of an embedding.

    The importance of a column is the mean square of the derivatives of the components by it, in
    standard deviations of the column: the diagonal of the average gradient outer product.

    Parameters
    ----------
    model : transformer
        Fitted. Methods of labelens have exact gradients; others, maps of classes and kernels that
        are functions are differentiated numerically.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features), default=None
        Rows whose gradients are averaged; of more than 2,000 a sample is used (500 for numerical
        gradients). Linear methods need none. Random Fourier features need none if the model keeps
        a covariance (`shrinkage` or `target_weight` below 1), and the exact kernel none.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Labels of these rows: for importances by class, and for `n_resamples`.
    n_resamples : int, default=0
        Models of half of the rows, for `error`, and as many of shuffled labels, for `shuffled`.
    random_state : int, RandomState instance or None, default=None
        Seed of samples, halves and shuffles.

    Returns
    -------
    Importances

    See Also
    --------
    label_issues : labels that are probably wrong.

    Notes
    -----
    Correlated columns share their importance. A column that the model does not use may still
    depend on the labels.

    Without X, importances are per unit of a column, unless the model has the variances.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import KernelSupervisedPCA, importances
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = KernelSupervisedPCA(2, shrinkage=0.1, random_state=0).fit(X, y)
    >>> found = importances(model, X, y)
    >>> found.names[found.overall.argmax()]
    'petal length (cm)'
    >>> sorted(found.classes)
    ['0', '1', '2']
    """
    check_number(n_resamples, "n_resamples", 0, integer=True)
    if n_resamples and (X is None or y is None):
        raise ValueError(f"n_resamples={n_resamples} needs X and y, to fit models again.")
    seed = check_seed(random_state)
    rows = None if X is None else devices.host(check_rows(None, X, reset=True))
    own, deviations = _outer_products(model, rows, seed)
    names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(len(own))])
    classes: dict[str, Array] = {}
    error = shuffled = None
    if y is not None and X is not None:
        task = Task.of(model, X, y)
        if task.kind == "classes" and task.labels.ndim == 1:
            Z, labels = embedded(model, X), spelled(task.labels)
            for name in dict.fromkeys(labels):
                towards = Z[labels == name].mean(axis=0) - Z.mean(axis=0)
                classes[str(name)] = _shares(np.einsum("j,ijl,l->i", towards, own, towards))
        if n_resamples:
            error, shuffled = _resampled(model, task, n_resamples, seed)
    overall = _shares(np.einsum("ijj->i", own))
    components = np.array([_shares(own[:, j, j]) for j in range(own.shape[1])])
    known = deviations is not None
    return Importances(list(map(str, names)), overall, components, classes, known, error, shuffled)


def _shares(squares: Array) -> Array:
    squares = np.maximum(squares, 0)
    return squares / max(float(squares.sum()), 1e-300)


def _resampled(model: Any, task: Task, n: int, seed: int) -> tuple[Array, Array]:
    """The standard deviation over halves of the rows, and the mean over shuffled labels."""
    draw = np.random.default_rng(seed)
    halves = [task.sample(-(-task.n // 2), draw) for _ in range(n)]
    plans = [(half, half) for half in halves]
    plans += [(np.arange(task.n), draw.permutation(task.n)) for _ in range(n)]

    def overall(plan: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Array:
        rows = task.rows(plan[0])
        other = seeded(clone(model), seed).fit(rows, task.labels[plan[1]])
        host = devices.host(check_rows(None, rows, reset=True))
        return _shares(np.einsum("ijj->i", _outer_products(other, host, seed)[0]))

    found = np.array(in_parallel(overall, plans, task.X))
    # Half of the rows vary as much as a bootstrap sample does.
    return found[:n].std(axis=0), found[n:].mean(axis=0)


def _outer_products(model: Any, rows: Any, seed: int) -> tuple[Array, Array | None]:
    """(d, k, k) in units of the (d,) standard deviations, which are None where unknown."""
    check_is_fitted(model, None)
    found, inner = None, None
    if isinstance(model, Projection):
        found, inner = _exact(model, _some(rows, MOST_ROWS, seed))
    deviations = _deviations(rows) if rows is not None else inner
    if found is None:
        if rows is None:
            raise ValueError(f"The gradients of {type(model).__name__} here need rows: pass X.")
        some = _some(rows, FEW_ROWS, seed)
        some = np.asarray(some.toarray() if sparse.issparse(some) else some, dtype=np.float64)
        assert deviations is not None
        steps = np.where(deviations > 0, deviations, 1)

        def embed(moved: Array) -> Array:
            names = getattr(model, "feature_names_in_", None)
            if names is None:
                return embedded(model, moved)
            from .._base.optional import require

            return embedded(model, require("pandas", extra="cli").DataFrame(moved, columns=names))

        found = gradients.by_differences(embed, some, steps)
    if deviations is not None:
        found = found * np.square(deviations)[:, None, None]
    return found, deviations


def _exact(model: Any, rows: Any) -> tuple[Array | None, Array | None]:
    """A by columns as they are, and their deviations as far as the model has them."""
    recipe, solved, moments = recipe_of(model), solution_of(model), model.moments_
    phi: Any = recipe.phi
    scaling = recipe.scaling
    factor = np.ones(model.n_features_in_) if scaling is None else scaling.factor
    inner = None
    if recipe.parameters["scale"] == "standard":
        inner = 1 / (factor if scaling is not None else solved.scaling.factor)
    scaled = None if rows is None else recipe.scaled(rows)
    found: Array | None = None
    if isinstance(solved, SolvedDual):
        trained = moments.rows
        if rows is None:
            host = devices.host(trained)
            scaled, inner = _some(host, MOST_ROWS, 0), _deviations(host) / factor
        place = devices.device_of(devices.place_of(trained))
        parts = (trained if solved.rows is None else solved.rows, solved.coefficients, scaled)
        there = (devices.moved_to(place, part) for part in parts)
        found = gradients.of_kernel(recipe.kernel, *there)  # type: ignore[arg-type]
    elif isinstance(phi, Identity):
        found = gradients.of_projector(solved.projector)
        if moments.scatter is not None and recipe.columns is None:  # of all columns
            inner = np.sqrt(moments.scatter.variances) / factor
        elif moments.spread is not None:
            inner = np.sqrt(moments.spread.variance) / factor
    elif isinstance(phi, Nystroem):
        if scaled is not None:
            scaled = np.asarray(
                scaled.toarray() if sparse.issparse(scaled) else scaled, dtype=float
            )
            scaled = scaled if phi.origin is None else scaled - phi.origin
            weights = phi.host_whitening @ solved.projector
            found = gradients.of_kernel(phi.kernel, phi.landmarks, weights, scaled)
    elif hasattr(phi, "angles") and phi.n_features % 2 == 0:
        second = None
        if scaled is not None:
            features = phi(scaled.astype(np.float64))
            second = features.T @ features / len(features)
        elif moments.scatter is not None:
            mean = np.add(*moments.scatter.mean)
            second = devices.host(moments.scatter.covariance) + np.outer(mean, mean)
        if second is not None:
            frequencies = phi.angles(np.eye(len(factor)))
            found = gradients.of_waves(frequencies, solved.projector, second)
    if found is None:
        return None, None
    return found * np.square(factor)[:, None, None], inner


def _some(rows: Any, most: int, seed: int) -> Any:
    if rows is None or rows.shape[0] <= most:
        return rows
    return rows[np.sort(np.random.default_rng(seed).permutation(rows.shape[0])[:most])]


def _deviations(rows: Any) -> Array:
    if not sparse.issparse(rows):
        return np.asarray(rows, dtype=np.float64).std(axis=0)
    squares = rows.multiply(rows).mean(axis=0) - np.square(rows.mean(axis=0))
    return np.sqrt(np.maximum(np.asarray(squares, dtype=np.float64).ravel(), 0))
