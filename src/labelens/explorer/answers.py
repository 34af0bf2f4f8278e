"""Answers to the page: the data of a session, plots of fits, and groups of rows.

Arrays travel behind a JSON header, in one body:

    uint32 length of the header | header, padded to a multiple of 4 with spaces | arrays

`arrays` in the header has the type and the length of each array.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..report.colouring import Colouring
from ..report.columns import as_text
from ..report.evidence import GRADES, LIGHT
from .arranged import no_map
from .fits import Fit
from .rows import BLOCK, column_names, marked, short
from .session import Session
from .view import KERNELS, MAPS, MOST_COMPONENTS, RejectedError, whole

TAIL = 0.001  # share of the rows that may be outside the frame on each side
EVERY_ROW = 2000  # rows up to which the frame contains all
MOST_CLASSES, MOST_DIFFERENCES = 12, 12  # listed for a group
TYPES = {"float32": "<f4", "uint32": "<u4"}


def pack(header: dict[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> bytes:
    """The bytes of a header and of arrays, which must be float32 or uint32."""
    parts = [np.ascontiguousarray(array).ravel() for array in arrays]
    listed = [{"type": part.dtype.name, "length": part.size} for part in parts]
    text = json.dumps(header | {"arrays": listed}, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    body = [part.astype(TYPES[part.dtype.name], copy=False).tobytes() for part in parts]
    return b"".join([len(text).to_bytes(4, "little"), text, *body])


def overview(session: Session) -> bytes:
    """Data that the page needs before the first fit."""
    material, n, drawn = session.material, len(session.X), session.drawn
    notes = list(material.notes)
    if len(drawn) < n:
        notes.append(
            f"The plot shows a sample of {len(drawn):,} of {n:,} rows, with classes in proportion. "
            f"Fits use all {session.n_train:,} training rows."
        )
    header = {
        "name": short(material.name),
        "rows": n,
        "features": session.X.shape[1],
        "trained": session.n_train,
        "drawnTrained": int(np.searchsorted(drawn, session.n_train)),
        "asked": len(session.asked),
        "untouched": len(session.untouched),
        "labels": [
            {
                "name": short(label.name),
                "classes": len(label.names) or None,
                # The reason why the label has no such map.
                "noMap": {
                    kind: short(no_map(label, kind, len(session.looked))) for kind in MAPS[1:]
                },
            }
            for label in session.labels
        ],
        "columns": [short(name) for name in column_names(session)],
        "textual": [  # columns in which text is searched
            j
            for j, one in enumerate(column_names(session))
            if j < len(session.labels) or one in material.shown
        ],
        "images": session.pictured is not None,
        "kernels": KERNELS,
        "mostComponents": min(MOST_COMPONENTS, session.X.shape[1]),
        "notes": notes,
        "view": vars(session.default()),
    }
    away = np.flatnonzero(session.hidden).astype(np.uint32)
    return pack(header, [session.numbers[drawn].astype(np.uint32), away])


def picture(
    session: Session, fit: Fit, axes: list[int], shuffled: bool, fitted: bool = True
) -> bytes:
    """The components `axes` of the rows drawn, of a fit or with `shuffled` of its control.

    Without `fitted`, training rows of an atlas are cross-fitted.
    """
    honest, start = fit.honest[shuffled], perf_counter()
    Z = fit.embedded(shuffled, axes) if fitted or honest is None else honest[:, axes]
    Z = np.ascontiguousarray(Z[session.drawn_places], dtype=np.float32)
    which = [] if session.sampled is None else [session.sampled.astype(np.uint32)]
    header: dict[str, Any] = {
        "rough": len(session.X) if which else None,  # the number of rows, if this is a sample
        "components": Z.shape[1] if fit.view.map != "components" else fit.view.components,
        "axes": axes,
        "scores": fit.scores,
        "grade": fit.verdict.grade,
        "verdict": fit.verdict.sentence,
        "next": _next_step(session, fit),
        "notes": fit.notes,
        "gamma": fit.gamma,
        "scaleGamma": fit.scale_gamma,
        "seconds": fit.seconds + perf_counter() - start,
        "frame": [_frame(Z[:, j]) for j in range(len(axes))],
    }
    if fit.view.map != "components":
        model = fit.control if shuffled else fit.model
        # In the order of the classes of the column, which the page uses.
        names = session.labels[fit.view.label].names
        number = {as_text(name): i for i, name in enumerate(model.classes_.tolist())}
        places = [number.get(name) for name in names]
        anchors = [None if i is None else model.anchors_[i].tolist() for i in places]
        header |= {"anchors": anchors, "frame": [[-1.0, 1.0]] * 2}
        header |= {"temperature": model.temperature_}
        if fit.view.map == "atlas":
            size = fit.view.detail * model.radii_
            header |= {"radii": [None if i is None else float(size[i]) for i in places]}
            ends = model.anchors_ - model.radii_[:, None], model.anchors_ + model.radii_[:, None]
            header |= {"frame": np.stack([ends[0].min(axis=0), ends[1].max(axis=0)], 1).tolist()}
            header |= {"honest": not fitted}
    return pack(header, [Z, *which])


def _next_step(session: Session, fit: Fit) -> dict[str, Any] | None:
    """The next method or setting to try after a low grade, if any."""
    view = fit.view
    if fit.verdict.grade not in GRADES[:3]:
        return None
    if not view.kernelised:
        return {
            "text": "Try kernel SPCA",
            "change": {
                "method": "kspca",
                "components": max(view.components, min(2, session.X.shape[1])),
            },
        }
    if view.shrinkage > LIGHT:
        return {"text": f"Try shrinkage {LIGHT:g}", "change": {"shrinkage": LIGHT}}
    return None


def _frame(values: NDArray[Any]) -> list[float]:
    """The limits of an axis, which outliers must not extend."""
    ends = [0.0, 1.0] if len(values) <= EVERY_ROW else [TAIL, 1 - TAIL]
    low, high = (float(v) for v in np.quantile(values, ends))
    if high - low <= 1e-30:
        return [low - 1.0, high + 1.0]
    return [low, high]


def read_axes(value: Any, view: Any) -> list[int]:
    """The components to draw: two or three, or one if there is no other."""
    most = 2 if view.map != "components" else view.components
    if not isinstance(value, list) or not min(2, most) <= len(value) <= min(3, most):
        raise RejectedError(f"axes must name {min(2, most)} or {min(3, most)} components.")
    return [whole(axis, "axes", 0, most - 1) for axis in value]


# Groups of rows --------------------------------------------------------------------------------


def describe(session: Session, bits: bytes, label: Colouring, shuffled: bool) -> dict[str, Any]:
    """Labels and columns of a group; `bits` marks its rows among those drawn, lowest bit first."""
    inside = marked(session, bits)
    size, n = int(inside.sum()), len(inside)
    codes = label.codes[session.shuffle] if shuffled else label.codes
    codes = codes[session.drawn]
    mix = (_quartiles if label.continuous else _shares)(label, codes, inside)
    return {
        "size": size,
        "heldout": int(inside[session.drawn >= session.n_train].sum()),
        "label": short(label.name),
        "features": _differences(session, inside) if size < n else [],
        **mix,
    }


def _shares(label: Colouring, codes: NDArray[Any], inside: NDArray[np.bool_]) -> dict[str, Any]:
    """The classes of a group, the most frequent first."""
    names = label.names
    here = np.bincount(codes[inside], minlength=len(names))
    overall = np.bincount(codes, minlength=len(names)) / len(codes)
    order = np.argsort(-here, kind="stable")
    order = order[here[order] > 0]
    return {
        "classes": [
            {
                "name": short(names[c]),
                "code": int(c),
                "count": int(here[c]),
                "share": float(here[c] / inside.sum()),
                "overall": float(overall[c]),
            }
            for c in order[:MOST_CLASSES]
        ],
        "more": max(0, len(order) - MOST_CLASSES),
    }


def _quartiles(_: Colouring, values: NDArray[Any], inside: NDArray[np.bool_]) -> dict[str, Any]:
    """The quartiles of the labels of a group, and of all rows."""
    ends = [0.0, 0.25, 0.5, 0.75, 1.0]
    group, overall = (np.quantile(some, ends).tolist() for some in (values[inside], values))
    return {"quartiles": {"group": group, "overall": overall}}


def _differences(session: Session, inside: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Columns with the largest difference of means, in standard deviations of all rows."""
    n, size = len(inside), int(inside.sum())
    mean, std = session.spread_drawn
    # Read the smaller part. Sum about the mean, so that no digits cancel.
    few = inside if 2 * size <= n else ~inside
    total = np.zeros(session.X.shape[1])
    rows = session.drawn[few]
    for start in range(0, len(rows), BLOCK):
        total += (session.X[rows[start : start + BLOCK]] - mean).sum(axis=0, dtype=np.float64)
    offset = total if few is inside else -total
    group, others = mean + offset / size, mean - offset / (n - size)
    for means in (group, others):  # rounding errors of 0
        means[np.abs(means) < 1e-12 * std] = 0
    apart = offset / size + offset / (n - size)
    effect = np.divide(apart, std, out=np.zeros_like(apart), where=std > 0)
    order = np.argsort(-np.abs(effect), kind="stable")[:MOST_DIFFERENCES]
    return [
        {
            "name": short(session.material.names[j]),
            "effect": float(effect[j]),
            "group": float(group[j]),
            "others": float(others[j]),
        }
        for j in order
        if effect[j] != 0 and np.isfinite(effect[j])
    ]
