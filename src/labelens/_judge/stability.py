"""Would other rows, or another seed, show the same?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.types import LabelsLike, MatrixLike, RandomState, Transformer
from .._base.validation import check_number, check_seed
from .._core.moments import Array
from .._fit.task import (
    Rows,
    Task,
    basis,
    embedded,
    in_parallel,
    principal_angles,
    seed_names,
    seeded,
)

STABLE = 0.9  # of a component is found again


@dataclass(frozen=True, eq=False)
class Movement:
    """How far embeddings are from the one that was fitted; all of the same rows.

    Attributes
    ----------
    angles : ndarray of shape (n_resamples, n_components)
        Radians between the embeddings, the largest first.
    found : ndarray of shape (n_resamples, n_components)
        The share of a component that lies anywhere in the other embedding.
    matched : ndarray of shape (n_resamples, n_components)
        The share that lies in the other's component of the same number. A component that is found
        and not matched has changed places, or turned within the plot.
    """

    angles: Array
    found: Array
    matched: Array


@dataclass(frozen=True, eq=False)
class StabilityReport:
    """The outcome of `stability_report`; print it.

    Attributes
    ----------
    rows : Movement
        Other rows, the same seed.
    seeds : Movement or None
        The same rows, other seeds. None where the estimator has none.
    """

    rows: Movement
    seeds: Movement | None

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Whether a component is found again: nine tenths of it, in the mean, either way; (k,)."""
        found = [movement.found.mean(axis=0) for movement in self._causes.values()]
        return np.min(found, axis=0) >= STABLE

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        moving = int((~self.stable).sum())
        if not moving:
            causes = " and with ".join(f"other {cause}" for cause in self._causes)
            return f"Every component is found again with {causes}."
        found = {cause: movement.found.mean(axis=0) for cause, movement in self._causes.items()}
        cause = min(found, key=lambda name: float(found[name].min()))
        worst = int(np.argmin(found[cause]))
        return (
            f"{moving} of {len(self.stable)} components may be an accident: other {cause} keep "
            f"{found[cause][worst]:.0%} of component {worst + 1}."
        )

    @property
    def _causes(self) -> dict[str, Movement]:
        return {"rows": self.rows} | ({} if self.seeds is None else {"seeds": self.seeds})

    def __repr__(self) -> str:
        names = [""]
        for j in range(len(self.stable)):
            names += [f"component {j + 1} found again", "  in the same place"]
        columns = [[*names, "largest angle"]]
        for cause, movement in self._causes.items():
            shares = np.stack([movement.found, movement.matched], axis=2).mean(axis=0)
            angle = np.degrees(movement.angles[:, 0].mean())
            cells = [f"{share:.1%}" for share in shares.ravel()]
            columns.append([f"other {cause}", *cells, f"{angle:.1f}°"])
        table = [
            f"{name:28}" + "".join(f"{cell:>13}" for cell in cells)
            for name, *cells in zip(*columns, strict=True)
        ]
        return "\n".join([*table, self.verdict])


def stability_report(
    estimator: Transformer,
    X: MatrixLike,
    y: LabelsLike,
    *,
    n_resamples: int = 20,
    nuisance: LabelsLike | None = None,
    random_state: RandomState | None = None,
) -> StabilityReport:
    """Measure how much components change with other rows, and with other seeds.

    The estimator is fitted on random halves of the rows with the same seed, and on all rows with
    other seeds. (Halves vary as much as bootstrap samples, without repeated rows.) Each fit embeds
    all rows, and the result is compared with the embedding of the fit on all rows.

    Parameters
    ----------
    estimator : transformer
        One of labelens, or any other with `fit(X, y)` and `transform(X)`. It is cloned.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    n_resamples : int, default=20
        Halves, and as many seeds.
    nuisance : array-like of shape (n_samples,) or (n_samples, n_columns), default=None
        That of `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves and of the seeds, and of the estimator if it has none.

    Returns
    -------
    StabilityReport
        With `verdict` and `stable`, and the movements with other `rows` and `seeds`.

    See Also
    --------
    labelens.plot.stability : every component, with other rows and with other seeds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import SupervisedPCA, stability_report
    >>> X, y = load_iris(return_X_y=True)
    >>> report = stability_report(SupervisedPCA(2), X, y, random_state=0)
    >>> report.stable
    array([ True,  True])
    """
    check_number(n_resamples, "n_resamples", 1, integer=True)
    task, seed = Task.of(estimator, X, y, nuisance=nuisance), check_seed(random_state)
    draw = np.random.default_rng(seed)
    model = seeded(estimator, seed)
    fitted = embedded(task.fit(model), task.X)
    halves = [task.sample(-(-task.n // 2), draw) for _ in range(n_resamples)]

    def moved(other: Any) -> tuple[Array, Array, Array]:
        """Angles, and the shares of each component that are found and matched; (k,) each."""
        Z = embedded(other, task.X)
        span = basis(Z)
        lines = [basis(column[:, None]) for column in fitted.T]  # (n, 1), or (n, 0) if constant
        found = [np.square(span.T @ line).sum() for line in lines]
        own = [basis(column[:, None]) for column in Z.T]
        matched = [np.square(a.T @ b).sum() for a, b in zip(own, lines, strict=True)]
        return principal_angles(fitted, Z), np.array(found), np.array(matched)

    def with_rows(half: Rows) -> tuple[Array, Array, Array]:
        return moved(task.fit(model, half))

    def with_seed(number: int) -> tuple[Array, Array, Array]:
        return moved(task.fit(seeded(model, number, anew=True)))

    def movement(fit: Callable[[Any], Any], given: list[Any]) -> Movement:
        return Movement(*map(np.array, zip(*in_parallel(fit, given, task.X), strict=True)))

    rows, seeds = movement(with_rows, halves), None
    if seed_names(model):
        numbers = draw.integers(np.iinfo(np.int32).max, size=n_resamples).tolist()
        seeds = movement(with_seed, numbers)
    return StabilityReport(rows, seeds)
