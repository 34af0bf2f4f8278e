"""What sets a group of rows apart: its mix of labels, and the columns in which it differs most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..report.columns import as_text
from .session import LabelColumn, Session
from .view import RefusedError

MOST_CLASSES, MOST_FEATURES, BLOCK = 12, 12, 4096
MOST_TEXT = 300  # characters of one name


def describe(session: Session, bits: bytes, label: LabelColumn, shuffled: bool) -> dict[str, Any]:
    """`bits` marks the members among the rows drawn, lowest bit first."""
    n = len(session.drawn)
    if len(bits) != -(-n // 8):
        raise RefusedError(f"A group of these rows is {-(-n // 8)} bytes long.")
    marks = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=n, bitorder="little")
    inside = marks.astype(bool)
    size = int(inside.sum())
    if size == 0:
        raise RefusedError("The group is empty.")
    codes = label.codes[session.shuffle] if shuffled else label.codes
    codes = codes[session.drawn]
    mix = _numbers(codes, inside) if label.classes is None else _shares(label, codes, inside)
    return {
        "size": size,
        "heldout": int(inside[session.drawn >= session.n_train].sum()),
        "label": as_text(label.name, MOST_TEXT),
        "features": _differences(session, inside) if size < n else [],
        **mix,
    }


def _shares(label: LabelColumn, codes: NDArray[Any], inside: NDArray[np.bool_]) -> dict[str, Any]:
    """Classes of the group, the most frequent first."""
    assert label.classes is not None
    names = label.classes.names
    here = np.bincount(codes[inside], minlength=len(names))
    overall = np.bincount(codes, minlength=len(names)) / len(codes)
    order = np.argsort(-here, kind="stable")
    order = order[here[order] > 0]
    return {
        "classes": [
            {
                "name": as_text(names[c], MOST_TEXT),
                "code": int(c),
                "count": int(here[c]),
                "share": float(here[c] / inside.sum()),
                "overall": float(overall[c]),
            }
            for c in order[:MOST_CLASSES]
        ],
        "more": max(0, len(order) - MOST_CLASSES),
    }


def _numbers(values: NDArray[Any], inside: NDArray[np.bool_]) -> dict[str, Any]:
    """Quartiles of the group's label, beside those of all rows."""
    ends = [0.0, 0.25, 0.5, 0.75, 1.0]
    group, overall = (np.quantile(some, ends).tolist() for some in (values[inside], values))
    return {"quartiles": {"group": group, "overall": overall}}


def _differences(session: Session, inside: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Means of the group and of the others, in units of the standard deviation of all rows."""
    n, size = len(inside), int(inside.sum())
    mean, std = session.spread_drawn
    # The fewer rows are read; about the mean, lest digits cancel.
    few = inside if 2 * size <= n else ~inside
    total = np.zeros(session.X.shape[1])
    rows = session.drawn[few]
    for start in range(0, len(rows), BLOCK):
        total += (session.X[rows[start : start + BLOCK]] - mean).sum(axis=0, dtype=np.float64)
    offset = total if few is inside else -total
    apart = offset / size + offset / (n - size)
    effect = np.divide(apart, std, out=np.zeros_like(apart), where=std > 0)
    order = np.argsort(-np.abs(effect), kind="stable")[:MOST_FEATURES]
    return [
        {
            "name": as_text(session.material.names[j], MOST_TEXT),
            "effect": float(effect[j]),
            "group": float(mean[j] + offset[j] / size),
            "others": float(mean[j] - offset[j] / (n - size)),
        }
        for j in order
        if effect[j] != 0 and np.isfinite(effect[j])
    ]
