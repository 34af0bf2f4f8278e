"""The table encoder as nodes of an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tables import EncodedColumn, TableEncoder
from ..tables.encoding import WAVES
from .graph import Graph

ML = "ai.onnx.ml"  # the domain of operators on strings


def table_features(encoder: TableEncoder, graph: Graph, types: Any) -> str:
    """(n, features) float64, of one input for every column, named like it."""
    filled = encoder.impute != "drop"  # which leaves NaN
    parts = [part for c in encoder.columns_ for part in _column(c, graph, types, filled)]
    return graph.add("Concat", parts, axis=1)


def _column(column: EncodedColumn, graph: Graph, types: Any, filled: bool) -> list[str]:
    if column.kind == "text":
        raise ValueError(
            f"The column {column.name!r} is text, which ONNX cannot encode. Fit without it (--drop "
            f"{column.name})."
        )
    if column.kind == "category":
        parts = [_levels(column.name, column.levels, graph, types)]
        return [*parts, _levels(column.name, ("",), graph, types)] if column.gaps else parts
    given = graph.node("Cast", column.name, to=types.DOUBLE)
    gap = graph.node("IsNaN", given)
    values = graph.node("Where", gap, np.array([column.fill]), given) if filled else given
    parts = [values]
    for wave in column.waves:
        angle = graph.node("Mul", values, np.array(2 * np.pi / WAVES[wave]))
        parts += [graph.node("Sin", angle), graph.node("Cos", angle)]
    if column.gaps:
        marks = graph.node("Cast", gap, to=types.DOUBLE)
        parts.append(graph.node("ReduceMax", marks, axes=[1], keepdims=1))
    return parts


def _levels(name: str, levels: tuple[str, ...], graph: Graph, types: Any) -> str:
    """(n, 1) strings -> (n, levels), zero where a string is none of them."""
    hot = graph.node("OneHotEncoder", name, domain=ML, cats_strings=list(levels), zeros=1)
    flat = graph.node("Reshape", hot, np.array([-1, len(levels)], np.int64))
    return graph.node("Cast", flat, to=types.DOUBLE)
