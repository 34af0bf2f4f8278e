"""Moments, and what the exact kernel has in their place, into a file and out of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.exact_kernel import KernelRows
from .._core.moments import ClassSums, CrossMoment, Moments, SavedSummary, Scatter, Spread
from .._fit.recipe import Recipe
from .maps import Puts, put_rows, take_rows
from .strict import FLOAT, WHOLE, Arrays

# The fields of every statistic and their shapes; () is a number.
CROSS: dict[str, tuple[str, ...]] = {
    "weight": (),
    "origin_left": ("p",),
    "offset_left": ("p",),
    "origin_right": ("q",),
    "offset_right": ("q",),
    "comoment": ("p", "q"),
}
SKETCH = {name: tuple("g" if x == "q" else x for x in shape) for name, shape in CROSS.items()}
CLASS_SUMS: dict[str, tuple[str, ...]] = {
    "origin": ("p",),
    "class_weight": ("c",),
    "sums": ("c", "p"),
}
SCATTER: dict[str, tuple[str, ...]] = {
    "weight": (),
    "origin": ("p",),
    "offset": ("p",),
    "comoment": ("p", "p"),
    "cubic": ("p",),
    "quartic": (),
}
SPREAD: dict[str, tuple[str, ...]] = {
    "weight": (),
    "origin": ("p",),
    "offset": ("p",),
    "squares": ("p",),
    "minimum": ("p",),
    "maximum": ("p",),
}
MAY_OVERFLOW = ("cubic", "quartic")  # only Ledoit-Wolf looks at them, and says so
POSITIVE = ("weight",)


def put_moments(moments: Any, arrays: Puts) -> None:
    if isinstance(moments, KernelRows):
        put_rows("rows", moments.rows, arrays)
        arrays["moments.weight"] = moments.weight
        if moments.codes is not None:
            arrays["moments.codes"] = moments.codes.astype(np.int64, copy=False)
        if moments.features is not None:
            put_rows("moments.features", moments.features, arrays)
        return
    sums = isinstance(moments.cross, ClassSums)
    _put("cross", moments.cross, CLASS_SUMS if sums else CROSS, arrays)
    _put("scatter", moments.scatter, SCATTER, arrays)
    _put("sketch", moments.sketch, SKETCH, arrays)
    _put("spread", moments.spread, SPREAD, arrays)
    _put("labels", moments.labels, SCATTER, arrays)


def take_moments(
    recipe: Recipe, n_samples: int, classes: tuple[Any, ...] | None, arrays: Arrays
) -> Moments | KernelRows:
    """The moments that the recipe makes."""
    if recipe.phi is None:
        return _take_rows_kept(recipe, n_samples, classes, arrays)
    cross: Any = None
    labels = None
    if recipe.psi is not None:
        of_features = "q" in arrays.sizes
        if recipe.label_scatter and (of_features or recipe.label_columns > 1):
            size = "q" if of_features else "c"
            table = {name: (size,) * len(shape) for name, shape in SCATTER.items()}
            labels = Scatter(**_take("labels", table, arrays))
        if of_features:
            cross = CrossMoment(**_take("cross", CROSS, arrays))
        else:
            cross = ClassSums(recipe.label_columns, **_take("cross", CLASS_SUMS, arrays))
            if (cross.class_weight < 0).any() or not cross.class_weight.any():
                raise ValueError("the array 'moments.cross.class_weight' has no positive sum")
    return Moments(
        n_samples,
        classes,
        cross,
        Scatter(**_take("scatter", SCATTER, arrays)) if recipe.scatter else None,
        CrossMoment(**_take("sketch", SKETCH, arrays)) if recipe.noise is not None else None,
        Spread(**_take("spread", SPREAD, arrays)) if recipe.spread else None,
        labels,
    )


def take_kept(
    recipe: Recipe, n_samples: int, classes: tuple[Any, ...] | None, arrays: Arrays
) -> SavedSummary:
    """What a file without moments has in their place."""
    rows = take_rows("rows", arrays, "n", "d") if recipe.phi is None else None
    return SavedSummary(n_samples, classes, rows)


def _take_rows_kept(
    recipe: Recipe, n_samples: int, classes: tuple[Any, ...] | None, arrays: Arrays
) -> KernelRows:
    rows = take_rows("rows", arrays, "n", "d")
    weight = arrays.take("moments.weight", FLOAT, "n")
    if (weight <= 0).any():
        raise ValueError("the array 'moments.weight' has rows without a weight")
    codes = features = None
    if recipe.psi is not None and "q" not in arrays.sizes:
        codes = arrays.take("moments.codes", WHOLE, "n", recipe.label_columns)
        if ((codes < 0) | (codes >= len(classes or ()))).any():
            raise ValueError("the array 'moments.codes' has numbers of no class")
        codes = codes.astype(np.intp, copy=False)
    else:
        width = "g" if recipe.psi is None else "q"
        features = take_rows("moments.features", arrays, "n", width, FLOAT)
    return KernelRows(n_samples, rows, weight, classes, codes, features)


def _put(name: str, part: Any, table: dict[str, tuple[str, ...]], arrays: Puts) -> None:
    if part is not None:
        for field in table:
            arrays[f"moments.{name}.{field}"] = np.asarray(getattr(part, field), dtype=np.float64)


def _take(name: str, table: dict[str, tuple[str, ...]], arrays: Arrays) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field, shape in table.items():
        key = f"moments.{name}.{field}"
        value = arrays.take(key, FLOAT, *shape, finite=field not in MAY_OVERFLOW)
        found[field] = value if shape else float(value)
        if field in POSITIVE and not found[field] > 0:
            raise ValueError(f"the array {key!r} is not positive")
    return found
