"""Labels that are probably wrong, and the table with corrected labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import tables
from .._base.optional import require
from .._judge.audit import label_issues
from .._judge.trial import some_of
from .explored import SPLIT_SEED
from .rows import short
from .saving import written
from .session import Session
from .view import RejectedError, number, whole

MOST_JUDGED, MOST_SUSPECTS, MOST_CHANGES = 20_000, 500, 10_000
FEWEST = 20  # rows that `label_issues` needs


def suspects(session: Session, label: int) -> dict[str, Any]:
    """The flagged rows of the map, the most suspect first."""
    column, shown = session.labels[label], np.flatnonzero(~session.hidden)
    n = len(shown)
    if n < FEWEST:
        raise RejectedError(f"The map shows {n} rows; at least {FEWEST} are required.")
    which = some_of(shown, MOST_JUDGED, np.random.default_rng(SPLIT_SEED))
    rows = session.drawn[which]
    issues = label_issues(
        session.X[rows].astype(np.float64),
        column.codes[rows],
        task="numbers" if column.continuous else "classes",
        random_state=SPLIT_SEED,
    )
    flagged = issues[issues.is_label_issue].sort_values("label_quality", kind="stable")
    sample = "" if len(which) == n else f" in a sample of {len(which):,} rows"
    aside = "" if n == len(session.drawn) else " Untouched rows are left out."
    most = "" if len(flagged) <= MOST_SUSPECTS else f"; the first {MOST_SUSPECTS} are shown"
    return {
        "title": "Suspect labels",
        "sentence": f"{len(flagged):,} of {len(issues):,} labels{sample} are flagged{most}. About "
        f"one flagged label in ten is correct.{aside}",
        "suspects": [
            {
                "row": int(which[found.row]),
                "predicted": float(found.predicted_label),
                "text": short(
                    f"{found.predicted_label:.4g}"
                    if column.continuous
                    else column.names[int(found.predicted_label)]
                ),
                "quality": float(found.label_quality),
            }
            for found in flagged[:MOST_SUSPECTS].itertuples()
        ],
    }


def corrected_file(session: Session, label: int, changes: Any, kind: str) -> bytes:
    """The table with the labels in `changes`, a list of [row, value].

    A value is the number of a class, or the label itself if labels are continuous.
    """
    column, material = session.labels[label], session.material
    if not isinstance(changes, list) or not 0 < len(changes) <= MOST_CHANGES:
        raise RejectedError(f"changes must be a list of 1 to {MOST_CHANGES:,} rows and values.")
    name = list(material.labels)[label]
    frame, places = _table(session)
    given = frame[name].astype(object).to_numpy()
    cells, dtype = given.copy(), frame[name].dtype
    for change in changes:
        if not isinstance(change, list) or len(change) != 2:
            raise RejectedError("Each item of changes must be a row and a value.")
        row = whole(change[0], "row", 0, len(session.drawn) - 1)
        own = places[session.order[session.drawn[row]]]
        if column.continuous:
            value = number(change[1], "value", -np.inf, np.inf)
            cells[own] = f"{value:.15g}" if isinstance(given[own], str) else value
            dtype = dtype if value.is_integer() or dtype.kind == "O" else np.result_type(dtype, 1.0)
        else:
            code = whole(change[1], "value", 0, len(column.names) - 1)
            like = int(np.flatnonzero(column.codes == code)[0])
            cells[own] = given[places[session.order[like]]]  # the class as in the table
    new = require("pandas", extra="cli").Series(cells, index=frame.index).astype(dtype)
    table = frame.assign(**{name: new})
    return written(f"corrected.{kind}", lambda path: tables.write(table, path))


def _table(session: Session) -> tuple[Any, NDArray[np.int64]]:
    """The table as it was read, and the places of the data's rows in it."""
    material = session.material
    if material.source is not None:
        frame, index = material.source
        if not frame.index.is_unique:
            raise RejectedError("The index of this table has duplicates. Reset it first.")
        return frame, frame.index.get_indexer(index)
    X = np.empty_like(session.X)
    X[session.order] = session.X
    columns = {**material.labels, **dict(zip(material.names, X.T, strict=True))}
    return require("pandas", extra="cli").DataFrame(columns), np.arange(len(X))
