"""Solutions, into a file and out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base import devices
from .._base.validation import check_number
from .._core.moments import Array
from .._fit.recipe import Recipe, scales_moments
from .._fit.solution import Solved, SolvedDual
from .maps import Puts, put_scaling, take_scaling
from .strict import FLOAT, INTEGER, NOTHING, NUMBER, Arrays, fields, within

MEASURES = ("singular_values", "dependence", "dependence_ratio")


@dataclass(frozen=True)
class StoredSolution:
    """A `solvers.Solution` whose diagnostics have been computed, so that it needs no moments."""

    components: Array | None  # None for the exact kernel
    rank: int
    singular_values: Array
    dependence: Array
    dependence_ratio: Array


def put_solution(solved: Solved | SolvedDual, arrays: Puts) -> dict[str, Any]:
    for name in MEASURES:
        arrays[f"solution.{name}"] = getattr(solved.solution, name)
    facts = {"rank": int(solved.solution.rank), "shrinkage": float(solved.shrinkage)}
    if isinstance(solved, SolvedDual):
        arrays["solution.coefficients"] = devices.host(solved.coefficients)
        arrays["solution.centre"] = solved.centre
        return facts | {"cancels": None}
    arrays["solution.components"] = solved.solution.components
    # The centre is stored though the mean gives it: a product may differ by a bit elsewhere.
    for name in ("mean", "centre"):
        origin, offset = getattr(solved, name)
        arrays[f"solution.{name}.origin"], arrays[f"solution.{name}.offset"] = origin, offset
    put_scaling("solution.scaling", solved.scaling, arrays)
    return facts | {
        "cancels": None if solved.cancellation == np.inf else float(solved.cancellation)
    }


def take_solution(
    facts: Any, arrays: Arrays, estimator: Any, recipe: Recipe
) -> Solved | SolvedDual:
    fields(facts, "its solution", rank=INTEGER, shrinkage=NUMBER, cancels=NUMBER + NOTHING)
    rank = within(facts["rank"], 0, recipe.n_components + 1, "the rank of its solution")
    shrinkage = check_number(facts["shrinkage"], "its shrinkage", 0, 1)
    if estimator.shrinkage not in ("auto", shrinkage):
        raise ValueError(f"its shrinkage is {shrinkage}, and shrinkage={estimator.shrinkage!r}")
    measures = [arrays.take("solution.singular_values", FLOAT, "k")]
    for name in MEASURES[1:]:
        measures.append(values := arrays.take(f"solution.{name}", FLOAT, "k", finite=False))
        # Randomized PCA has nothing to measure against: NaN, all of them.
        if not np.isfinite(values).all() and not (recipe.psi is None and np.isnan(values).all()):
            raise ValueError(f"the array 'solution.{name}' has values that are not finite")
    if recipe.phi is None:
        coefficients = arrays.take("solution.coefficients", FLOAT, "n", "k")
        centre = arrays.take("solution.centre", FLOAT, "k")
        stored: Any = StoredSolution(None, rank, *measures)
        return SolvedDual(stored, coefficients, centre, shrinkage)
    stored = StoredSolution(arrays.take("solution.components", FLOAT, "k", "p"), rank, *measures)
    words = {
        name: tuple(arrays.take(f"solution.{name}.{w}", FLOAT, size) for w in ("origin", "offset"))
        for name, size in (("mean", "p"), ("centre", "k"))
    }
    scaling = None
    if estimator.scale is not None and scales_moments(estimator):
        scaling = take_scaling("solution.scaling", arrays)
    mean: Any = words["mean"]
    solved = Solved(stored, mean, scaling, shrinkage, np.inf)
    cancellation = np.inf if facts["cancels"] is None else float(facts["cancels"])
    # Cached properties, computed before.
    vars(solved).update(centre=words["centre"], cancellation=cancellation)
    return solved
