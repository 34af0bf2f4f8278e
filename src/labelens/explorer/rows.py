"""Single rows and columns, as the server sends them to the page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..report.colouring import Classes, Colouring, Numbers, read_column
from ..report.columns import as_text
from .session import Session
from .view import RejectedError, whole

MOST_TEXT = 300  # characters of one value
MOST_COLUMNS = 5000  # to colour by
MOST_FACTS = 400  # columns shown of a row
NEIGHBOURS = 10
BLOCK = 4096  # rows read at a time


def short(value: Any) -> str:
    return as_text(value, MOST_TEXT)


def column_names(session: Session) -> list[str]:
    """Labels, features, and columns that are neither."""
    material = session.material
    names = [label.name for label in session.labels] + material.names[:MOST_COLUMNS]
    return [*names, *list(material.shown)[:MOST_COLUMNS]]


def column(session: Session, number: int) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """A column of the rows drawn, and the same column with shuffled labels."""
    whole(number, "column", 0, len(column_names(session)) - 1)
    m, d, rows = len(session.labels), min(MOST_COLUMNS, session.X.shape[1]), session.drawn
    if number < m:
        label = session.labels[number]
        head, arrays = _told(label, label.codes[rows], label.codes[session.shuffle[rows]])
        if isinstance(label, Classes) and label.pooled:
            head["families"] = session.families(number)
        return head, arrays
    if number < m + d:
        found: Colouring = Numbers(session.material.names[number - m], session.X[rows, number - m])
    else:
        name = list(session.material.shown)[number - m - d]
        values = session.material.shown[name]
        found = read_column(name, np.asarray(values)[session.order[rows]])
    return _told(found, found.codes, found.codes)


def _told(
    found: Colouring, own: NDArray[Any], mixed: NDArray[Any]
) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    head = found.head() | {"name": short(found.name)}
    kind: type[Any] = np.float32
    if isinstance(found, Classes):
        head, kind = head | {"names": [short(name) for name in found.names]}, np.uint32
    else:
        head |= Numbers("", own).head()  # limits of the rows drawn
    return head, [own.astype(kind), mixed.astype(kind)]


def row(session: Session, number: int) -> dict[str, Any]:
    """Number, part, labels and columns of one of the rows drawn."""
    whole(number, "row", 0, len(session.drawn) - 1)
    place = int(session.drawn[number])
    own = int(session.order[place])
    facts = [["Row", f"{session.numbers[place]:,}"]]
    facts.append(["Part", "training" if place < session.n_train else "held out"])
    labels = zip(session.labels, session.values, strict=True)
    facts += [[label.name, short(values[place])] for label, values in labels]
    shown = session.material.shown
    facts += [[name, short(shown[name][own])] for name in list(shown)[:MOST_FACTS]]
    named = {name for name, _ in facts}
    for name, value in zip(session.material.names, session.X[place], strict=True):
        if len(facts) > MOST_FACTS:
            facts.append(["…", f"{session.X.shape[1]:,} columns in all"])
            break
        if name not in named:
            facts.append([name, f"{value:.6g}" if math.isfinite(value) else "(missing)"])
    return {"facts": facts}


def neighbours(session: Session, number: int) -> dict[str, Any]:
    """The rows drawn that are nearest in all columns, each divided by its standard deviation."""
    whole(number, "row", 0, len(session.drawn) - 1)
    rows, (_, std) = session.drawn, session.spread_drawn
    weight = np.divide(1.0, std, out=np.zeros_like(std), where=std > 0)
    own = session.X[rows[number]]
    apart = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        here = slice(start, start + BLOCK)
        apart[here] = np.square((session.X[rows[here]] - own) * weight).sum(axis=1)
    apart[number] = np.inf
    some = np.argpartition(apart, min(NEIGHBOURS, len(rows) - 1))[:NEIGHBOURS]
    some = some[np.argsort(apart[some], kind="stable")]
    values = session.values[0]
    return {
        "neighbours": [
            {"row": int(i), "distance": float(np.sqrt(apart[i])), "label": short(values[rows[i]])}
            for i in some
            if np.isfinite(apart[i])
        ]
    }


def marked(session: Session, bits: bytes) -> NDArray[np.bool_]:
    """A group as the page sends it: a bit for each of the rows drawn, lowest first."""
    n = len(session.drawn)
    if len(bits) != -(-n // 8):
        raise RejectedError(f"A group of {n} rows must have {-(-n // 8)} bytes, not {len(bits)}.")
    marks = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=n, bitorder="little")
    if not marks.any():
        raise RejectedError("The group is empty. Select at least one row.")
    return marks.astype(bool)
