"""What the page is told of a session: its data, columns, pictures of fits, rows and groups.

Arrays travel behind a JSON header, in one body:

    uint32 length of the header | header, padded to a multiple of 4 with spaces | arrays

The header's `arrays` names the type of each and how many numbers it has.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..report.colouring import OTHER, Classes, Colouring, colour_limits
from ..report.columns import as_text
from ..report.evidence import GRADES, LIGHT
from .session import Fit, Session, no_wheel
from .view import KERNELS, MOST_COMPONENTS, RejectedError, whole

MOST_TEXT = 300  # characters of one value
MOST_COLUMNS = 5000  # to colour by
MOST_FEATURES = 12  # beside a row
TAIL = 0.001  # of the rows that may lie outside the frame on each side
EVERY_ROW = 2000  # up to so many rows the frame holds all
MOST_CLASSES, MOST_DIFFERENCES = 12, 12  # told of a group
BLOCK = 4096  # rows read at a time
TYPES = {"float32": "<f4", "uint32": "<u4"}


def pack(header: dict[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> bytes:
    """Arrays have to be float32 or uint32."""
    parts = [np.ascontiguousarray(array).ravel() for array in arrays]
    listed = [{"type": part.dtype.name, "length": part.size} for part in parts]
    text = json.dumps(header | {"arrays": listed}, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    body = [part.astype(TYPES[part.dtype.name], copy=False).tobytes() for part in parts]
    return b"".join([len(text).to_bytes(4, "little"), text, *body])


def short(value: Any) -> str:
    return as_text(value, MOST_TEXT)


def overview(session: Session) -> bytes:
    """All that the page needs before the first fit."""
    material, n, drawn = session.material, len(session.X), session.drawn
    notes = list(material.notes)
    if len(drawn) < n:
        notes.append(
            f"Of {n:,} rows a sample of {len(drawn):,} is drawn, with classes in proportion; fits "
            f"are on all {session.n_train:,} training rows."
        )
    columns = [label.name for label in session.labels] + material.names[:MOST_COLUMNS]
    header = {
        "name": short(material.name),
        "rows": n,
        "features": session.X.shape[1],
        "trained": session.n_train,
        "drawnTrained": int(np.searchsorted(drawn, session.n_train)),
        "asked": len(session.asked),
        "labels": [
            {
                "name": short(label.name),
                "classes": len(label.names) or None,
                "noWheel": short(no_wheel(label)),  # why there is none
            }
            for label in session.labels
        ],
        "columns": [short(name) for name in columns],
        "kernels": KERNELS,
        "mostComponents": min(MOST_COMPONENTS, session.X.shape[1]),
        "notes": notes,
        "view": vars(session.default()),
    }
    return pack(header, [session.numbers[drawn].astype(np.uint32)])


def column(session: Session, number: int) -> bytes:
    """Label columns come first, then features."""
    m = len(session.labels)
    whole(number, "column", 0, m + min(MOST_COLUMNS, session.X.shape[1]) - 1)
    rows = session.drawn
    if number >= m:
        values = session.X[rows, number - m]
        return _pack_numbers(session.material.names[number - m], values, values)
    label = session.labels[number]
    own, mixed = label.codes[rows], label.codes[session.shuffle[rows]]
    if not isinstance(label, Classes):
        return _pack_numbers(label.name, own, mixed)
    head = {
        "name": short(label.name),
        "kind": "classes",
        "names": [short(name) for name in label.names],
        "shown": label.shown.tolist(),  # classes with a colour of their own
        "other": OTHER,
    }
    return pack(head, [own.astype(np.uint32), mixed.astype(np.uint32)])


def _pack_numbers(name: str, own: NDArray[Any], mixed: NDArray[Any]) -> bytes:
    low, high = colour_limits(own)
    head = {"name": short(name), "kind": "numbers", "low": low, "high": high}
    return pack(head, [own.astype(np.float32), mixed.astype(np.float32)])


def picture(session: Session, fit: Fit, axes: list[int], shuffled: bool) -> bytes:
    """Two components of the rows drawn; with `shuffled` those of the control."""
    Z = (fit.chance if shuffled else fit.Z)[:, axes]
    Z = np.ascontiguousarray(Z[session.drawn_places], dtype=np.float32)
    header: dict[str, Any] = {
        "components": Z.shape[1] if fit.view.wheel else fit.view.components,
        "axes": axes,
        "scores": fit.scores,
        "grade": fit.verdict.grade,
        "verdict": fit.verdict.sentence,
        "next": _next_step(session, fit),
        "notes": fit.notes,
        "gamma": fit.gamma,
        "scaleGamma": fit.scale_gamma,
        "seconds": fit.seconds,
        "frame": [_frame(Z[:, j]) for j in range(len(axes))],
    }
    if fit.view.wheel:
        model = fit.control if shuffled else fit.model
        # In the order of the classes of the column, as the page knows them.
        names = session.labels[fit.view.label].names
        number = {as_text(name): i for i, name in enumerate(model.classes_.tolist())}
        anchors = [model.anchors_[number[name]].tolist() if name in number else None
                   for name in names]  # fmt: skip
        header |= {"anchors": anchors, "frame": [[-1.0, 1.0]] * 2}
    return pack(header, [Z])


def _next_step(session: Session, fit: Fit) -> dict[str, Any] | None:
    """What to try where a fit shows little: curved directions, whitened ones, or neither."""
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
    """Where the picture ends: a few far rows must not push all others together."""
    ends = [0.0, 1.0] if len(values) <= EVERY_ROW else [TAIL, 1 - TAIL]
    low, high = (float(v) for v in np.quantile(values, ends))
    if high - low <= 1e-30:
        return [low - 1.0, high + 1.0]
    return [low, high]


def read_axes(value: Any, view: Any) -> list[int]:
    """One component, or two."""
    most = 2 if view.wheel else view.components
    if not isinstance(value, list) or len(value) != min(2, most):
        raise RejectedError(f"axes has to name {min(2, most)} of the components.")
    return [whole(axis, "axes", 0, most - 1) for axis in value]


def row(session: Session, number: int) -> dict[str, Any]:
    """What is known of one of the rows drawn."""
    whole(number, "row", 0, len(session.drawn) - 1)
    place = int(session.drawn[number])
    own = int(session.order[place])
    facts = [["Row", f"{session.numbers[place]:,}"]]
    facts.append(["Part", "training" if place < session.n_train else "held out"])
    labels = zip(session.labels, session.values, strict=True)
    facts += [[label.name, short(values[place])] for label, values in labels]
    shown = session.material.shown
    facts += [[name, short(values[own])] for name, values in shown.items()]
    named = {name for name, _ in facts}
    columns = zip(session.material.names, session.X[place], strict=True)
    for name, value in islice(columns, MOST_FEATURES):
        if name not in named:
            facts.append([name, f"{value:.6g}" if math.isfinite(value) else "(missing)"])
    return {"facts": facts}


# Groups of rows --------------------------------------------------------------------------------


def describe(session: Session, bits: bytes, label: Colouring, shuffled: bool) -> dict[str, Any]:
    """`bits` marks the members among the rows drawn, lowest bit first."""
    n = len(session.drawn)
    if len(bits) != -(-n // 8):
        raise RejectedError(f"A group of these rows is {-(-n // 8)} bytes long.")
    marks = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=n, bitorder="little")
    inside = marks.astype(bool)
    size = int(inside.sum())
    if size == 0:
        raise RejectedError("The group is empty.")
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
    """Classes of the group, the most frequent first."""
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
    """Quartiles of the group's label, and of all rows."""
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
    order = np.argsort(-np.abs(effect), kind="stable")[:MOST_DIFFERENCES]
    return [
        {
            "name": short(session.material.names[j]),
            "effect": float(effect[j]),
            "group": float(mean[j] + offset[j] / size),
            "others": float(mean[j] - offset[j] / (n - size)),
        }
        for j in order
        if effect[j] != 0 and np.isfinite(effect[j])
    ]
