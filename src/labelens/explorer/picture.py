"""A session in messages: what there is, columns to colour by, pictures of fits, single rows."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..report.classes import COLOURS, OTHER, SHAPES
from ..report.columns import as_text
from .messages import pack
from .session import Fit, Session
from .view import KERNELS, MOST_COMPONENTS, RefusedError, whole

MOST_TEXT = 300  # characters of one value
MOST_COLUMNS = 5000  # to colour by
MOST_FEATURES = 12  # beside a row
TAIL = 0.001  # of the rows that may lie outside the frame on each side
EVERY_ROW = 2000  # up to so many rows the frame holds all


def overview(session: Session) -> bytes:
    """All that the page needs before the first fit."""
    material, n = session.material, len(session.X)
    drawn = session.drawn
    columns = [label.name for label in session.labels] + material.names[:MOST_COLUMNS]
    header = {
        "name": as_text(material.name, MOST_TEXT),
        "rows": n,
        "features": session.X.shape[1],
        "trained": session.n_train,
        "drawnTrained": int(np.searchsorted(drawn, session.n_train)),
        "asked": len(session.asked),
        "labels": [
            {
                "name": as_text(label.name, MOST_TEXT),
                "classes": len(label.classes.names) if label.classes else None,
            }
            for label in session.labels
        ],
        "columns": [as_text(name, MOST_TEXT) for name in columns],
        "kernels": KERNELS,
        "mostComponents": min(MOST_COMPONENTS, session.X.shape[1]),
        "notes": [*material.notes, *_said(session)],
        "view": vars(session.default()),
    }
    return pack(header, [session.numbers[drawn].astype(np.uint32)])


def _said(session: Session) -> list[str]:
    n, drawn = len(session.X), len(session.drawn)
    if drawn == n:
        return []
    return [
        f"Of {n:,} rows a sample of {drawn:,} is drawn, with classes in proportion; fits are on "
        f"all {session.n_train:,} training rows."
    ]


def column(session: Session, number: int) -> bytes:
    """Label columns come first, then features."""
    m = len(session.labels)
    whole(number, "column", 0, m + min(MOST_COLUMNS, session.X.shape[1]) - 1)
    rows = session.drawn
    if number >= m:
        values = session.X[rows, number - m]
        name = as_text(session.material.names[number - m], MOST_TEXT)
        return pack({"name": name, **_ends(values)}, [values.astype(np.float32)] * 2)
    label = session.labels[number]
    mixed = label.codes[session.shuffle[rows]]
    if label.classes is None:
        values = label.codes[rows]
        head = {"name": as_text(label.name, MOST_TEXT), **_ends(values)}
        return pack(head, [values.astype(np.float32), mixed.astype(np.float32)])
    classes = label.classes
    head = {
        "name": as_text(label.name, MOST_TEXT),
        "kind": "classes",
        "names": [as_text(name, MOST_TEXT) for name in classes.names],
        "shown": classes.shown.tolist(),  # classes with a colour of their own
        "other": OTHER,
        "colours": COLOURS,
        "shapes": SHAPES,
    }
    codes = [codes.astype(np.uint32) for codes in (classes.codes[rows], mixed)]
    return pack(head, codes)


def _ends(values: NDArray[Any]) -> dict[str, Any]:
    low, high = (float(v) for v in np.quantile(values, [0.01, 0.99]))
    return {"kind": "numbers", "low": low, "high": high if high > low else low + 1}


def picture(session: Session, fit: Fit, axes: list[int], shuffled: bool) -> bytes:
    """Two components of the rows drawn; with `shuffled` those of the control."""
    Z = (fit.chance if shuffled else fit.Z)[:, axes]
    Z = np.ascontiguousarray(Z[session.drawn_places], dtype=np.float32)
    header: dict[str, Any] = {
        "components": Z.shape[1] if fit.view.wheel else fit.view.components,
        "axes": axes,
        "scores": fit.scores,
        "verdict": fit.verdict,
        "notes": fit.notes,
        "gamma": fit.gamma,
        "scaleGamma": fit.scale_gamma,
        "seconds": fit.seconds,
        "frame": [_frame(Z[:, j]) for j in range(len(axes))],
    }
    if fit.view.wheel:
        model = fit.control if shuffled else fit.model
        # In the order of the classes of the column, as the page knows them.
        classes = session.labels[fit.view.label].classes
        assert classes is not None
        number = {as_text(name): i for i, name in enumerate(model.classes_.tolist())}
        anchors = [model.anchors_[number[name]].tolist() if name in number else None
                   for name in classes.names]  # fmt: skip
        header |= {"anchors": anchors, "frame": [[-1.0, 1.0]] * 2}
    return pack(header, [Z])


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
        raise RefusedError(f"axes has to name {min(2, most)} of the components.")
    return [whole(axis, "axes", 0, most - 1) for axis in value]


def row(session: Session, number: int) -> dict[str, Any]:
    """What is known of one of the rows drawn."""
    whole(number, "row", 0, len(session.drawn) - 1)
    place = int(session.drawn[number])
    own = int(session.order[place])
    facts = [["Row", f"{session.numbers[place]:,}"]]
    facts.append(["Part", "training" if place < session.n_train else "held out"])
    facts += [[label.name, as_text(label.values[place], MOST_TEXT)] for label in session.labels]
    shown = session.material.shown
    facts += [[name, as_text(values[own], MOST_TEXT)] for name, values in shown.items()]
    named = {name for name, _ in facts}
    columns = zip(session.material.names, session.X[place], strict=True)
    for name, value in islice(columns, MOST_FEATURES):
        if name not in named:
            facts.append([name, f"{value:.6g}" if math.isfinite(value) else "(missing)"])
    return {"facts": facts}
