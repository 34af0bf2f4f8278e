"""Compare an approximate kernel method with the exact one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import linalg
from scipy.stats import sem
from sklearn.base import clone

from .._base import devices
from .._base.types import LabelsLike, MatrixLike, RandomState
from .._base.validation import check_number, check_rows, check_seed
from .._core.maps import Identity, make_feature_map
from .._core.moments import Array
from .._fit.fitted import recipe_of
from .._fit.projection import Projection
from .._fit.settings import has_falkon, is_kernel_method, solver_of
from .._fit.task import Task, embedded, in_parallel, principal_angles
from ..methods import KernelSupervisedPCA, SupervisedPCA

PAIRS_ROWS = 500  # rows whose kernel values with each other are compared
ROUNDING = 1e-6  # relative errors of a kernel below are not worth halving


@dataclass(frozen=True, eq=False)
class ApproximationReport:
    """The outcome of `approximation_report`; print it.

    Attributes
    ----------
    reference : str
        What the random answer was compared with; empty where it is exact itself.
    angles : ndarray of shape (n_draws, n_components)
        Radians between random and exact embeddings, the largest first.
    dependence : ndarray of shape (n_draws,)
        HSIC of the random embeddings, whitened, with the labels, over that of the exact one.
    random : bool
        Whether features are random, and not landmarks.
    n_features : ndarray of shape (3,)
        Half of the features asked for, as many, and twice as many; empty where no kernel was
        approximated.
    kernel_errors : ndarray of shape (3, n_draws)
        The norm of Phi Phi^T - K over that of K, with as many features.
    n_rows : int
        Rows that the models were fitted on.
    n_samples : int
        Rows that were passed.
    """

    reference: str
    angles: Array
    dependence: Array
    random: bool
    n_features: Array
    kernel_errors: Array
    n_rows: int
    n_samples: int

    @property
    def kernel_error(self) -> float:
        """Relative Frobenius error of the kernel at the number of features asked for: the mean."""
        return float(self.kernel_errors[1].mean()) if self.n_features.size else 0.0

    @property
    def kernel_error_se(self) -> float:
        """Its standard error over the draws."""
        return float(sem(self.kernel_errors[1])) if self.n_features.size else 0.0

    @property
    def rate(self) -> float | None:
        """Exponent a of error ~ p^-a, measured; random features have 1/2 in theory.

        None where there is no error, or no more features to have: landmarks are rows.
        """
        if self.kernel_error <= ROUNDING or np.ptp(self.n_features) == 0:
            return None
        means = np.maximum(self.kernel_errors.mean(axis=1), np.finfo(float).tiny)
        return float(-np.polyfit(np.log(self.n_features), np.log(means), 1)[0])

    @property
    def features_for_half(self) -> int | None:
        """How many features would halve the kernel error, at the measured rate; None if none do."""
        if self.rate is None or self.rate < 0.05:
            return None
        return round(float(self.n_features[1]) * 2 ** (1 / self.rate))

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        if not self.reference:
            return "The estimator is exact: it approximates no kernel."
        largest = np.degrees(self.angles[:, 0])
        return (
            f"The random embedding keeps {self.dependence.mean():.1%} of the dependence of the "
            f"exact one, and is {largest.mean():.1f} degrees from it where they differ most."
        )

    def __repr__(self) -> str:
        if not self.reference:
            return self.verdict
        angles = " ".join(f"{angle:.2f}" for angle in np.degrees(self.angles.mean(axis=0)))
        lines = [
            f"exact answer          {self.reference}",
            f"angles, in degrees    {angles}  (largest first, mean of {len(self.angles)} draws)",
            f"dependence captured   {_with_error(self.dependence)}",
        ]
        if self.n_features.size:
            errors = ", ".join(
                f"{_with_error(own)} at {int(p):,}"
                for p, own in zip(self.n_features, self.kernel_errors, strict=True)
            )
            lines.append(f"kernel error          {errors} features")
            lines.append(f"half that error       {self._half()}")
        rows = f"{self.n_rows:,} of {self.n_samples:,} rows"
        return "\n".join([*lines, f"Fitted on {rows}, compared on others.", self.verdict])

    def _half(self) -> str:
        if self.kernel_error <= ROUNDING:
            return "not needed: the kernel is exact on these rows"
        if self.rate is None:
            return "out of reach: every row is a landmark already"
        if self.features_for_half is None:
            return "out of reach: more features hardly help"
        theory = f"; p^-0.5 in theory: {4 * int(self.n_features[1]):,}" if self.random else ""
        return f"{self.features_for_half:,} features (error ~ p^-{self.rate:.2f}{theory})"


def approximation_report(
    estimator: Projection,
    X: MatrixLike,
    y: LabelsLike,
    *,
    n_draws: int = 8,
    max_rows: int = 2000,
    random_state: RandomState | None = None,
) -> ApproximationReport:
    """Measure the distance of a random approximation from the exact result.

    The estimator is fitted with `n_draws` seeds on half of the rows, its exact counterpart on the
    same, and their embeddings of the other half are compared. The exact counterpart of the random
    projections is supervised PCA; that of random features and landmarks is the kernel itself
    (`approximation="exact"`, or landmarks at every row where `shrinkage` or `target_weight` is
    below 1, which is equivalent; the regularization is equally strong, because `shrinkage` is
    relative to the number of features).

    Parameters
    ----------
    estimator : estimator
        One of the four methods. It is cloned.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    n_draws : int, default=8
        Seeds, at least 2. The estimator's own `random_state` makes no difference.
    max_rows : int, default=2000
        Of more rows a sample is used, because the exact result takes quadratic or cubic time.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and of the sample.

    Returns
    -------
    ApproximationReport
        With `verdict`, `angles`, `dependence`, `kernel_error` and its standard error, the `rate` at
        which the error falls with the number of features, and `features_for_half`.

    See Also
    --------
    labelens.plot.approximation : the kernel error against the number of features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import KernelSupervisedPCA, approximation_report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelSupervisedPCA(n_random_features=64)
    >>> report = approximation_report(model, X, y, random_state=0)
    >>> bool(0.02 < report.kernel_error < 0.2), bool(0.9 < report.dependence.mean() < 1.1)
    (True, True)
    >>> bool(128 < report.features_for_half < 512)  # four times as many, in theory
    True
    """
    if not isinstance(estimator, Projection):
        raise TypeError(
            f"{type(estimator).__name__} has no exact counterpart that is known here; "
            "approximation_report takes the four methods of labelens."
        )
    check_number(n_draws, "n_draws", 2, integer=True)
    check_number(max_rows, "max_rows", 4, integer=True)
    whole, seed = Task.of(estimator, X, y), check_seed(random_state)
    draw = np.random.default_rng(seed)
    sample = whole.only(whole.sample(max_rows, draw))
    half = sample.sample(-(-sample.n // 2), draw)
    known, other = sample.only(half), sample.only(np.setdiff1d(np.arange(sample.n), half))

    def fitted(random_state: int) -> Any:
        model = clone(estimator).set_params(random_state=random_state)
        return model.fit(known.X, known.labels)

    model = fitted(seed)
    exact = _exact_counterpart(model, known.n)
    if exact is None:
        none = np.empty((0, n_draws))
        still, all_of_it = np.zeros((n_draws, model.n_components)), np.ones(n_draws)
        return ApproximationReport("", still, all_of_it, False, none[:, 0], none, known.n, whole.n)
    truth = embedded(exact.fit(known.X, known.labels), other.X)
    dependence = other.dependence(seed)
    if dependence(truth) == 0:
        raise ValueError("The exact embedding is constant; comparisons with it are undefined.")
    seeds = draw.integers(np.iinfo(np.int32).max, size=n_draws).tolist()

    def compared(random_state: int) -> tuple[Array, float]:
        Z = embedded(fitted(random_state), other.X)
        return principal_angles(Z, truth), dependence(Z) / dependence(truth)

    angles, kept = zip(*in_parallel(compared, seeds, known.X), strict=True)
    return ApproximationReport(
        _described(exact),
        np.array(angles),
        np.array(kept),
        _draws_features(model) and model.approximation != "nystroem",
        *_kernel_errors(model, known, other, seeds),
        known.n,
        whole.n,
    )


def _draws_features(model: Projection) -> bool:
    """Whether the feature map stands for a kernel that it is not."""
    recipe = recipe_of(model)
    return not (recipe.phi is None or recipe.kernel is None or isinstance(recipe.phi, Identity))


def _exact_counterpart(model: Any, n: int) -> Any:
    """The exact counterpart of a fitted estimator for as many rows; None if it is exact."""
    draws_features = _draws_features(model)
    falkon = has_falkon(model)
    if not (solver_of(model).random_labels or draws_features or falkon):
        return None
    exact: Any = (KernelSupervisedPCA if is_kernel_method(model) else SupervisedPCA)()
    shared = exact.get_params(deep=False).keys() & model.get_params(deep=False).keys()
    exact.set_params(**{name: getattr(model, name) for name in shared})
    if falkon:
        return exact.set_params(approximation="exact")
    if not draws_features:
        return exact
    if model.shrinkage_ == 1 and model.target_weight == 1:
        return exact.set_params(approximation="exact")
    # B is C_xx + s / (1 - s) * tr(C_xx) / p * I, up to a factor: what is added depends on p.
    shrinkage = model.shrinkage_
    if shrinkage < 1:
        phi: Any = recipe_of(model).phi
        ridge = shrinkage / (1 - shrinkage) * n / phi.n_features
        shrinkage = ridge / (1 + ridge)
    return exact.set_params(approximation="nystroem", n_random_features=n, shrinkage=shrinkage)


def _described(exact: Any) -> str:
    name = type(exact).__name__
    if not is_kernel_method(exact):
        return name
    ways = {"exact": "the exact kernel", "nystroem": "landmarks at every row"}
    way = ways.get(exact.approximation) if isinstance(exact.approximation, str) else None
    return f"{name} with {way or 'the same features'}"


def _kernel_errors(model: Any, known: Task, other: Task, seeds: list[int]) -> tuple[Array, Array]:
    """p/2, p and 2p, and the (3, n_draws) errors of the kernel with so many features."""
    recipe: Any = recipe_of(model)
    if not _draws_features(model):
        return np.empty(0), np.empty((0, len(seeds)))
    scaled = recipe.scaled(check_rows(None, known.X, reset=True))
    rows = recipe.scaled(check_rows(None, other.rows(np.arange(other.n)[:PAIRS_ROWS]), reset=True))
    truth = devices.host(recipe.kernel(rows, rows))
    counts = [max(model.n_random_features // 2, 1), *(model.n_random_features * np.array([1, 2]))]

    def measured(drawn: tuple[int, int]) -> tuple[int, float]:
        phi = make_feature_map(model.approximation, recipe.kernel, scaled, *drawn)
        assert phi is not None
        features = devices.host(phi(rows))
        error = linalg.norm(features @ features.T - truth) / linalg.norm(truth)
        return phi.n_features, error  # landmarks may be fewer than asked for

    table = np.array(in_parallel(measured, product(counts, seeds), rows))
    n_features, errors = table.reshape(3, len(seeds), 2).transpose(2, 0, 1)
    return n_features[:, 0], errors


def _with_error(draws: Array) -> str:
    return f"{draws.mean():.3g} ± {sem(draws):.1g}"
