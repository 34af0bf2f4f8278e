"""Feature maps, scalings and rows: `put_...` into a file's arrays, `take_...` out of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.kernel_approximation import PolynomialCountSketch

from .._core.kernels import Kernel
from .._core.maps import FeatureMap, Identity
from .._core.maps.fourier import Fourier
from .._core.maps.nystroem import Nystroem
from .._core.maps.structured import Structured, n_groups, padded_size
from .._core.maps.transformed import Transformed
from .._core.scaling import Scaling
from .container import DTYPES
from .strict import FLOAT, INTEGER, NUMBER, TEXT, WHOLE, Arrays, fields, within

Puts = dict[str, NDArray[Any]]
ANY_NUMBER = tuple(dtype.name for dtype in DTYPES.values())


def put_rows(name: str, rows: Any, arrays: Puts) -> None:
    if not sparse.issparse(rows):
        arrays[name] = rows
        return
    for part in ("data", "indices", "indptr"):
        arrays[f"{name}.{part}"] = getattr(rows, part)


def take_rows(
    name: str, arrays: Arrays, n: str, d: str, dtypes: tuple[str, ...] = ANY_NUMBER
) -> Any:
    """(n, d) rows, dense or CSR."""
    if name in arrays:
        return arrays.take(name, dtypes, n, d)
    places = ("int32", "int64")
    data = arrays.take(f"{name}.data", dtypes, f"entries of {name}")
    indices = arrays.take(f"{name}.indices", places, f"entries of {name}")
    starts = arrays.take(f"{name}.indptr", places, f"ends of {name}")
    width, height = arrays.sizes[d], arrays.sizes.setdefault(n, len(starts) - 1)
    if len(starts) != height + 1 or starts[0] != 0 or starts[-1] != len(data):
        raise ValueError(f"the sparse rows {name!r} do not fill their arrays")
    if (np.diff(starts) < 0).any() or ((indices < 0) | (indices >= width)).any():
        raise ValueError(f"the sparse rows {name!r} have entries outside of them")
    return sparse.csr_array((data, indices, starts), shape=(height, width))


def put_scaling(name: str, scaling: Scaling | None, arrays: Puts) -> None:
    if scaling is not None:
        arrays[f"{name}.shift"], arrays[f"{name}.factor"] = scaling.shift, scaling.factor


def take_scaling(name: str, arrays: Arrays) -> Scaling:
    return Scaling(*(arrays.take(f"{name}.{part}", FLOAT, "d") for part in ("shift", "factor")))


def put_map(phi: FeatureMap | None, arrays: Puts) -> dict[str, Any]:
    match phi:
        case None:
            return {"kind": "exact"}
        case Identity():
            return {"kind": "identity"}
        case Fourier():
            arrays["map.frequencies"] = phi.frequencies
            return {"kind": "fourier", "phase": float(phi.phase)}
        case Structured():
            for part in ("diagonals", "permutations", "lengths"):
                arrays[f"map.{part}"] = getattr(phi, part)
            return {"kind": "structured", "phase": float(phi.phase)}
        case Nystroem():
            put_rows("map.landmarks", phi.landmarks, arrays)
            arrays["map.whitening"] = phi.whitening
            if phi.origin is not None:
                arrays["map.origin"] = phi.origin
            return {"kind": "nystroem"}
        case Transformed(transformer=PolynomialCountSketch() as sketch):
            arrays["map.places"], arrays["map.signs"] = sketch.indexHash_, sketch.bitHash_
            return {"kind": "sketch", "random_state": sketch.random_state}
    raise TypeError(f"A model file cannot hold a {type(phi).__name__} map.")


def kinds_of_map(estimator: Any, kernel: Kernel | None) -> tuple[str, ...]:
    """The kinds of map that the parameters may have drawn."""
    if kernel is None:
        return ("identity",)
    if estimator.approximation in ("exact", "nystroem"):
        return (estimator.approximation,)
    if kernel.name in ("linear", "polynomial"):
        return ("identity" if kernel.name == "linear" else "sketch",)
    drawn = {"fourier": ("fourier",), "fastfood": ("structured",)}
    return drawn.get(estimator.approximation, ("fourier", "structured"))


def take_map(
    facts: dict[str, Any], arrays: Arrays, estimator: Any, kernel: Kernel | None
) -> FeatureMap | None:
    """The feature map; leaves its number of features in sizes["p"]."""
    kind, d = facts.get("kind"), arrays.sizes["d"]
    if kind not in kinds_of_map(estimator, kernel):
        raise ValueError(f"a map of kind {kind!r} is not what its parameters ask for")
    if kind in ("exact", "identity"):
        fields(facts, "its map", kind=TEXT)
        arrays.sizes["p"] = d
        return None if kind == "exact" else Identity(d)
    assert kernel is not None
    if kind == "nystroem":
        fields(facts, "its map", kind=TEXT)
        return _nystroem(arrays, kernel, estimator.n_random_features)
    p = arrays.sizes["p"] = int(estimator.n_random_features)
    if kind == "sketch":
        fields(facts, "its map", kind=TEXT, random_state=INTEGER)
        seed = within(facts["random_state"], 0, 2**31, "the random_state of its map")
        return _sketch(arrays, kernel, d, p, seed)
    fields(facts, "its map", kind=TEXT, phase=NUMBER)
    if kind == "fourier":
        frequencies = arrays.take("map.frequencies", FLOAT, "d", (p + 1) // 2)
        return Fourier(p, frequencies, facts["phase"])
    groups, size = n_groups(d, p), padded_size(d)
    diagonals = arrays.take("map.diagonals", FLOAT, groups, "stages", size)
    permutations = arrays.take("map.permutations", WHOLE, groups, "permutations", size)
    if arrays.sizes["permutations"] not in (0, arrays.sizes["stages"]):
        raise ValueError("the array 'map.permutations' does not have one for every stage")
    # Compiled code reads where they point.
    if permutations.size and (np.sort(permutations, axis=2) != np.arange(size)).any():
        raise ValueError("the array 'map.permutations' has rows that are no permutations")
    lengths = arrays.take("map.lengths", FLOAT, groups, size)
    return Structured(p, d, diagonals, permutations, lengths, facts["phase"])


def _nystroem(arrays: Arrays, kernel: Kernel, most: int) -> Nystroem:
    landmarks = take_rows("map.landmarks", arrays, "p", "d", FLOAT)
    if not 1 <= arrays.sizes["p"] <= most:
        raise ValueError(f"it has {arrays.sizes['p']} landmarks, and n_random_features={most}")
    origin = None
    if kernel.blind_to_shift and not sparse.issparse(landmarks):
        origin = arrays.take("map.origin", FLOAT, "d")
    whitening = arrays.take("map.whitening", FLOAT, "p", "p")
    if np.tril(whitening, -1).any():
        raise ValueError("the array 'map.whitening' is not upper triangular")
    return Nystroem(kernel, landmarks, origin, whitening)


def _sketch(arrays: Arrays, kernel: Kernel, d: int, p: int, seed: int) -> Transformed:
    sketch = PolynomialCountSketch(
        gamma=kernel.gamma, n_components=p, random_state=seed, **kernel.params
    )
    shape = kernel.params["degree"], d + (kernel.params["coef0"] != 0)
    places, signs = (arrays.take(f"map.{x}", WHOLE, *shape) for x in ("places", "signs"))
    if ((places < 0) | (places >= p)).any() or (np.abs(signs) != 1).any():
        raise ValueError("the arrays 'map.places' and 'map.signs' are not those of a sketch")
    # What its fit would have drawn.
    sketch.indexHash_, sketch.bitHash_ = places, signs
    sketch.n_features_in_, sketch._n_features_out = d, p
    return Transformed(sketch, p)
