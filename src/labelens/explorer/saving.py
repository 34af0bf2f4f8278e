"""Files that the user saves from the page."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import tables
from .._base.optional import require
from .._judge.atlas import Atlas
from ..persist import save
from ..report.columns import embedding_frame
from ..report.contents import MOST_COLUMNS, Contents, Label
from ..report.page import write_report
from .explored import SPLIT_SEED, script
from .session import Session
from .view import ControlState


def model_file(session: Session, view: ControlState) -> bytes:
    """A file for `labelens.load`: of a wheel its base model, of an atlas a fit of all rows."""
    table, n = session.material.encoding, session.n_train
    if view.map == "atlas":
        rows: Any = session.X[:n]
        if (names := session.material.feature_names) is not None:
            rows = require("pandas", extra="cli").DataFrame(rows, columns=names)
        atlas = Atlas(
            session.estimator(view),
            detail=view.detail,
            temperature=view.temperature or "auto",
            random_state=SPLIT_SEED,
        )
        model = atlas.fit(rows, session.values[view.label][:n])
    else:
        model = session.fit(view).model
        model = model.estimator_ if view.map == "wheel" else model
    return written("model.labelens", lambda path: save(model, path, table=table))


def embedding_file(session: Session, view: ControlState, kind: str) -> bytes:
    """Every row of the data, in its own order: number, part, labels and components."""
    Z = np.empty_like(found := session.embed_all(session.fit(view)))
    Z[session.order] = found
    numbers, labels = np.sort(session.numbers), session.material.labels
    frame = embedding_frame(numbers, Z, ~session.trained, labels)
    return written(f"embedding.{kind}", lambda path: tables.write(frame, path))


def report_file(session: Session, view: ControlState) -> bytes:
    """The view as a report, a page that needs no server."""
    fit = session.fit(view)
    label = session.labels[view.label]
    rows = session.looked
    own = session.order[rows]
    values = label.codes if label.continuous else session.values[view.label]
    some = list(session.material.shown)[:MOST_COLUMNS]
    hover = {name: np.asarray(session.material.shown[name])[own] for name in some}
    for name, column in zip(session.material.names, session.X.T, strict=True):
        if len(hover) == MOST_COLUMNS:
            break
        hover.setdefault(name, column[rows])
    held = rows >= session.n_train
    order = np.argsort(session.numbers[rows], kind="stable")
    notes = [*session.material.notes, *fit.notes]
    notes.append("Saved by the explorer: the scores are those of the page. Settings may have been "
                 "chosen by the same held-out rows.")  # fmt: skip
    contents = Contents(
        title=session.material.name,
        command=script(session.material, view, session.estimator(view)),
        about=vars(view),
        Z=fit.Z[order],
        test=held[order],
        labels={label.name: Label(values[rows][order], fit.scores)},
        continuous=label.continuous,
        hover={name: column[order] for name, column in hover.items()},
        model=fit.model,
        notes=notes,
    )
    return written("report.html", lambda path: write_report(path, contents))


FILES: dict[str, Callable[..., bytes]] = {
    "model": model_file,
    "report": report_file,
    "embedding": embedding_file,
}


def rows_file(session: Session, marks: NDArray[np.bool_], kind: str) -> bytes:
    """The rows of a group, in the order of the data: number, part, labels and all columns."""
    places = session.drawn[marks]
    places = places[np.argsort(session.numbers[places], kind="stable")]
    part = np.where(places < session.n_train, "train", "test")
    columns: dict[str, Any] = {"row": session.numbers[places], "part": part}
    labels = zip(session.labels, session.values, strict=True)
    columns |= {f"label_{label.name}": values[places] for label, values in labels}
    own = session.order[places]
    columns |= {name: np.asarray(values)[own] for name, values in session.material.shown.items()}
    columns |= dict(zip(session.material.names, session.X[places].T, strict=True))
    frame = require("pandas", extra="cli").DataFrame(columns)
    return written(f"rows.{kind}", lambda path: tables.write(frame, path))


def written(name: str, write: Callable[[Path], None]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()
