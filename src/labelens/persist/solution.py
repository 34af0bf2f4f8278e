"""Solutions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._base import devices
from .._base.validation import check_number
from .._core.moments import Array
from .._core.scaling import Scaling
from .._fit.recipe import Recipe, scales_moments
from .._fit.solution import Solved, SolvedDual
from .maps import SCALING
from .schema import OR_INFINITE, Block, Fact, Puts, Table, made, put, take
from .strict import NUMBER, Arrays, within


@dataclass(frozen=True)
class StoredSolution:
    """A `solvers.Solution` with its diagnostics, so that it needs no moments."""

    components: Array | None  # None for the exact kernel
    rank: int
    singular_values: Array
    dependence: Array
    dependence_ratio: Array


SOLUTION: Table = {
    "rank": Fact(int, int),
    "singular_values": Block("k"),
    "dependence": Block("k", finite=False),
    "dependence_ratio": Block("k", finite=False),
}
COMPONENTS: Table = {"components": Block("k p")}
SHRINKAGE: Table = {"shrinkage": Fact(NUMBER, float)}
CANCELS: Table = {"cancels": replace(OR_INFINITE, attribute="cancellation")}
DUAL: Table = {"coefficients": Block("n k"), "centre": Block("k")}
# Means are two words. The centre is stored: on another machine a product may differ by a bit.
MEANS = {"mean": Block("p"), "centre": Block("k")}
WORDS = ("origin", "offset")


def put_solution(solved: Solved | SolvedDual, arrays: Puts) -> dict[str, Any]:
    if isinstance(solved, SolvedDual):
        solved = replace(solved, coefficients=devices.host(solved.coefficients))
        facts = put(SOLUTION, solved.solution, "solution", arrays)
        return facts | put(SHRINKAGE | DUAL, solved, "solution", arrays) | {"cancels": None}
    for name, block in MEANS.items():
        for word, array in zip(WORDS, getattr(solved, name), strict=True):
            block.put(array, f"solution.{name}.{word}", arrays)
    if solved.scaling is not None:
        put(SCALING, solved.scaling, "solution.scaling", arrays)
    facts = put(SOLUTION | COMPONENTS, solved.solution, "solution", arrays)
    return facts | put(SHRINKAGE | CANCELS, solved, "solution", arrays)


def take_solution(
    facts: Any, arrays: Arrays, estimator: Any, recipe: Recipe
) -> Solved | SolvedDual:
    table = SOLUTION | SHRINKAGE | CANCELS | (DUAL if recipe.phi is None else COMPONENTS)
    values = take(table, "solution", arrays, facts, "its solution")
    within(values["rank"], 0, recipe.n_components + 1, "the rank of its solution")
    shrinkage = check_number(values["shrinkage"], "its shrinkage", 0, 1)
    if estimator.shrinkage not in ("auto", shrinkage):
        raise ValueError(f"its shrinkage is {shrinkage}, and shrinkage={estimator.shrinkage!r}")
    for name in ("dependence", "dependence_ratio"):
        # All are NaN for randomized PCA, which has no total to compare with.
        nothing = recipe.psi is None and np.isnan(values[name]).all()
        if not nothing and not np.isfinite(values[name]).all():
            raise ValueError(f"the array 'solution.{name}' has values that are not finite")
    if recipe.phi is None:
        return made(SolvedDual, values, solution=made(StoredSolution, values, components=None))
    for name, block in MEANS.items():
        values[name] = tuple(block.take(f"solution.{name}.{word}", arrays) for word in WORDS)
    values |= {"solution": made(StoredSolution, values), "scaling": None}
    if estimator.scale is not None and scales_moments(estimator):
        values["scaling"] = Scaling(**take(SCALING, "solution.scaling", arrays))
    solved = made(Solved, values, label_length=np.inf)
    # Cached properties.
    vars(solved).update(centre=values["centre"], cancellation=values["cancellation"])
    return solved
