"""Moments, and the training rows of exact kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.exact_kernel import KernelRows
from .._core.moments import ClassSums, CrossMoment, Moments, Scatter, Spread
from .._fit.recipe import Recipe
from .schema import Block, Puts, Rows, Table, made, put, take
from .strict import FLOAT, WHOLE, Arrays

WEIGHT = Block(positive=True)
ROWS = Rows("n", "d")


def _cross(q: str) -> Table:
    return {
        "weight": WEIGHT,
        "origin_left": Block("p"),
        "offset_left": Block("p"),
        "origin_right": Block(q),
        "offset_right": Block(q),
        "comoment": Block(f"p {q}"),
    }


def _scatter(p: str) -> Table:
    return {
        "weight": WEIGHT,
        "origin": Block(p),
        "offset": Block(p),
        "comoment": Block(f"{p} {p}"),
        # Only Ledoit-Wolf uses these, and raises an error if they overflow.
        "cubic": Block(p, finite=False),
        "quartic": Block(finite=False),
    }


def _moments(of_classes: bool, some: bool = False) -> dict[str, tuple[Any, Table]]:
    """The statistics for classes or q label features; `some`: C_xx has m columns."""
    sums: Table = {"origin": Block("p"), "class_weight": Block("c"), "sums": Block("c p")}
    columns = ("origin", "offset", "squares", "minimum", "maximum")
    return {
        "cross": (ClassSums, sums) if of_classes else (CrossMoment, _cross("q")),
        "scatter": (Scatter, _scatter("m" if some else "p")),
        "sketch": (CrossMoment, _cross("g")),
        "spread": (Spread, {"weight": WEIGHT, **dict.fromkeys(columns, Block("p"))}),
        "labels": (Scatter, _scatter("c" if of_classes else "q")),
    }


def _kept(q: str) -> Table:
    """Exact kernels: class numbers or label features of the labelled rows."""
    return {
        "weight": Block("n"),
        "labelled": Block("n", WHOLE),
        "codes": Block("l columns", WHOLE),
        "features": Rows("l", q, FLOAT),
        "noise": Block("n g"),
    }


def put_moments(moments: Any, arrays: Puts) -> None:
    if isinstance(moments, KernelRows):
        ROWS.put(moments.rows, "rows", arrays)
        put(_kept("q"), moments, "moments", arrays)
        return
    for name, (_, table) in _moments(isinstance(moments.cross, ClassSums)).items():
        if (part := getattr(moments, name)) is not None:
            put(table, part, f"moments.{name}", arrays)


def take_moments(
    recipe: Recipe, n_samples: int, classes: tuple[Any, ...] | None, arrays: Arrays
) -> Moments | KernelRows:
    """The moments that belong to the recipe."""
    labelled, columns = recipe.psi is not None, recipe.label_columns
    of_classes = labelled and "q" not in arrays.sizes
    if recipe.phi is None:
        return _take_kernel_rows(recipe, n_samples, classes, arrays, of_classes)
    kept = {
        "cross": labelled,
        "scatter": recipe.scatter,
        "sketch": recipe.noise is not None,
        "spread": recipe.spread,
        "labels": labelled and recipe.label_scatter and not (of_classes and columns == 1),
    }
    parts = {
        name: made(kind, take(table, f"moments.{name}", arrays), columns=columns)
        for name, (kind, table) in _moments(of_classes, recipe.columns is not None).items()
        if kept[name]
    }
    if of_classes:
        weight = parts["cross"].class_weight
        if (weight < 0).any() or not weight.any():
            raise ValueError("the array 'moments.cross.class_weight' has no positive sum")
    return Moments(n_samples, classes, **parts)


def _take_kernel_rows(
    recipe: Recipe,
    n_samples: int,
    classes: tuple[Any, ...] | None,
    arrays: Arrays,
    of_classes: bool,
) -> KernelRows:
    arrays.sizes["columns of moments"] = recipe.label_columns
    rows, labelled = ROWS.take("rows", arrays), "moments.labelled" in arrays
    without = {"features" if of_classes else "codes"}
    if recipe.psi is None:
        without |= {"features", "codes"}
    without |= set() if labelled else {"labelled"}
    without |= set() if recipe.noise is not None else {"noise"}
    if not labelled:
        arrays.sizes["l"] = arrays.sizes["n"]
    values = take(_kept("q"), "moments", arrays, without=without)
    if (values["weight"] <= 0).any():
        raise ValueError("the array 'moments.weight' has rows without a weight")
    if labelled:
        marks = values["labelled"]
        if not recipe.keeps_all_rows or ((marks != 0) & (marks != 1)).any():
            raise ValueError("the array 'moments.labelled' does not say which rows have labels")
        if marks.sum() != arrays.sizes.get("l"):
            raise ValueError("the array 'moments.labelled' does not count the labels")
        values["labelled"] = marks.astype(bool)
    if of_classes:
        codes = values["codes"] = values["codes"].astype(np.intp, copy=False)
        if ((codes < 0) | (codes >= len(classes or ()))).any():
            raise ValueError("the array 'moments.codes' has numbers of no class")
    return KernelRows(n_samples, rows, classes=classes, **values)
