"""Feature maps and scalings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import PolynomialCountSketch

from .._core.kernels import Kernel
from .._core.maps import FeatureMap, Identity
from .._core.maps.fourier import Fourier
from .._core.maps.nystroem import Nystroem
from .._core.maps.structured import Structured, n_groups, padded_size
from .._core.maps.transformed import Transformed
from .schema import Block, Fact, Puts, Rows, Table, made, put, take
from .strict import FLOAT, NUMBER, WHOLE, Arrays

SCALING: Table = {"shift": Block("d"), "factor": Block("d")}
PHASE = Fact(NUMBER, float)
# The kinds of map; "exact" and "falkon" have none.
MAPS: dict[str, tuple[type, Table]] = {
    "exact": (type(None), {}),
    "identity": (Identity, {}),
    "fourier": (Fourier, {"phase": PHASE, "frequencies": Block("d frequencies")}),
    "structured": (
        Structured,
        {
            "phase": PHASE,
            "diagonals": Block("groups stages size"),
            "permutations": Block("groups permutations size", WHOLE),
            "lengths": Block("groups size"),
        },
    ),
    "nystroem": (
        Nystroem,
        {
            "landmarks": Rows("p", "d", FLOAT),
            "origin": Block("d"),
            "whitening": Block("p p"),
        },
    ),
    "sketch": (
        PolynomialCountSketch,
        {
            "random_state": Fact(int, limits=(0, 2**31)),
            "places": Block("degree inputs", WHOLE, attribute="indexHash_"),
            "signs": Block("degree inputs", WHOLE, attribute="bitHash_"),
        },
    ),
}


def put_map(phi: FeatureMap | None, arrays: Puts) -> dict[str, Any]:
    written = phi.transformer if isinstance(phi, Transformed) else phi
    for kind, (known, table) in MAPS.items():
        if type(written) is known:
            return {"kind": kind} | put(table, written, "map", arrays)
    raise TypeError(f"A model file cannot hold a {type(phi).__name__} map.")


def kinds_of_map(estimator: Any, kernel: Kernel | None) -> tuple[str, ...]:
    """The kinds of map that can result from the parameters."""
    if kernel is None:
        return ("identity",)
    if estimator.approximation in ("falkon", "exact"):
        return ("exact",)
    if estimator.approximation == "nystroem":
        return ("nystroem",)
    if kernel.name in ("linear", "polynomial"):
        return ("identity" if kernel.name == "linear" else "sketch",)
    drawn = {"fourier": ("fourier",), "fastfood": ("structured",)}
    return drawn.get(estimator.approximation, ("fourier", "structured"))


def take_map(
    facts: dict[str, Any], arrays: Arrays, estimator: Any, kernel: Any
) -> FeatureMap | None:
    """The feature map; leaves its number of features in sizes["p"]."""
    kind = facts.get("kind")
    if kind not in kinds_of_map(estimator, kernel):
        raise ValueError(f"a map of kind {kind!r} does not match its parameters")
    sizes, d, p = arrays.sizes, arrays.sizes["d"], getattr(estimator, "n_random_features", 0)
    without: tuple[str, ...] = ()
    match kind:
        case "exact" | "identity":
            sizes["p"] = d
        case "nystroem":
            if not kernel.blind_to_shift or "map.landmarks" not in arrays:  # they are sparse
                without = ("origin",)
        case "sketch":
            sizes["p"], sizes["degree of map"] = p, kernel.params["degree"]
            sizes["inputs of map"] = d + (kernel.params["coef0"] != 0)
        case _:
            sizes["p"], sizes["frequencies of map"] = p, (p + 1) // 2
            sizes["groups of map"], sizes["size of map"] = n_groups(d, p), padded_size(d)
    made_of, table = MAPS[kind]
    values = take(table | {"kind": Fact(str)}, "map", arrays, facts, "its map", without)
    if kind == "exact":
        return None
    if kind == "sketch":
        return _sketch(values, kernel, d, p)
    if kind == "nystroem" and not 1 <= sizes["p"] <= p:
        raise ValueError(f"it has {sizes['p']} landmarks, and n_random_features={p}")
    if kind == "nystroem" and np.tril(values["whitening"], -1).any():
        raise ValueError("the array 'map.whitening' is not upper triangular")
    if kind == "structured":
        _check_permutations(values["permutations"], sizes["stages of map"])
    return made(made_of, values, kernel=kernel, n_features=sizes["p"], d=d)


def _check_permutations(permutations: NDArray[np.int64], stages: int) -> None:
    if permutations.shape[1] not in (0, stages):
        raise ValueError("the array 'map.permutations' does not have one for every stage")
    # Compiled code reads where they point.
    if permutations.size and (np.sort(permutations) != np.arange(permutations.shape[2])).any():
        raise ValueError("the array 'map.permutations' has rows that are not permutations")


def _sketch(values: dict[str, Any], kernel: Kernel, d: int, p: int) -> Transformed:
    places, signs = values["indexHash_"], values["bitHash_"]
    if ((places < 0) | (places >= p)).any() or (np.abs(signs) != 1).any():
        raise ValueError("the arrays 'map.places' and 'map.signs' are not those of a sketch")
    sketch = PolynomialCountSketch(
        gamma=kernel.gamma, n_components=p, random_state=values["random_state"], **kernel.params
    )
    # As after its fit.
    vars(sketch).update(indexHash_=places, bitHash_=signs, n_features_in_=d, _n_features_out=p)
    return Transformed(sketch, p)
