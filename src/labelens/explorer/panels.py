"""Panels that the page requests: importances, arrows, checks of the fit, rows in doubt.

Each panel is a dict with these fields, all optional but title and sentence:

    title, sentence
    heads                                          of the bars or of the table
    bars    [{name, value, text, tick}]            from 0 to `most`, or to the longest
    lines                                          a table of texts
    marks   [{name, rows}]                         groups of the rows drawn
    arrows  [{name, at}]                           directions in the drawn components
    suspects  [{row, predicted, text, quality}]    rows drawn with a suspect label
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._judge.atlas import Atlas
from .._judge.conformal import UNLIKE
from .._judge.explain import importances
from .._judge.permutation import permutation_report
from .._judge.stability import STABLE, stability_report
from .._judge.trial import some_of
from ..report.bars import bars_of
from ..report.evidence import interval
from .correcting import suspects
from .explored import SPLIT_SEED
from .rows import short
from .session import Session
from .view import ControlState, RejectedError, word

ROWS = 2000  # training rows of a report
ATLAS_ROWS = 5000
RESAMPLES, SHUFFLES = 10, 39
MOST_BARS, MOST_ARROWS = 15, 10
LEVEL = 0.9  # of prediction sets

Panel = dict[str, Any]


def panel(session: Session, view: ControlState, what: Any, axes: list[int]) -> Panel:
    """One of `PANELS`; `axes` are the drawn components."""
    word(what, "what", PANELS)
    return PANELS[what](session, view, axes)


def _importances(session: Session, view: ControlState, _: list[int]) -> Panel:
    X, y = _training(session, view, ROWS)
    model = _estimator(session, view).fit(X, y)
    found = importances(model, X, y, n_resamples=RESAMPLES, random_state=SPLIT_SEED)
    found = replace(found, names=session.material.names)
    return {
        "title": "Importance of columns",
        "sentence": "Bar: share of the column in the squared change of the embedding per standard "
        f"deviation of the column. ±: standard deviation over {RESAMPLES} models of half of the "
        "rows. Line, and in brackets: mean over models of shuffled labels. "
        + _about(session, view, X),
        "heads": ["Column", "Share"],
        "bars": _bars(found),
    }


def _arrows(session: Session, view: ControlState, axes: list[int]) -> Panel:
    """Correlations of columns with the drawn components: a biplot of any method."""
    fit = session.fit(view, exact=False)
    some = some_of(np.arange(len(session.looked)), ROWS, np.random.default_rng(SPLIT_SEED))
    X = session.X[session.looked[some]].astype(np.float64)
    at = _unit(X).T @ _unit(fit.Z[some][:, axes].astype(np.float64))
    order = np.argsort(-np.square(at).sum(axis=1), kind="stable")[:MOST_ARROWS]
    return {
        "title": "Arrows of columns",
        "sentence": "An arrow points to rows with large values of the column. Its length along "
        "each axis is the correlation of the column with that component.",
        "arrows": [{"name": short(session.material.names[j]), "at": at[j].tolist()} for j in order],
        "heads": ["Column", *(f"Component {axis + 1}" for axis in axes)],
        "lines": [
            [short(session.material.names[j]), *(f"{value:+.2f}" for value in at[j])] for j in order
        ],
    }


def _unit(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centred columns of length 1; constant ones are 0."""
    centred = columns - columns.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    live = lengths > 1e-12 * np.abs(columns).max(axis=0, initial=0) * np.sqrt(len(columns))
    return np.divide(centred, lengths, out=np.zeros_like(centred), where=live)


def _stability(session: Session, view: ControlState, _: list[int]) -> Panel:
    X, y = _training(session, view, ROWS)
    report = stability_report(
        _estimator(session, view), X, y, n_resamples=RESAMPLES, random_state=SPLIT_SEED
    )
    return {
        "title": "Stability",
        "sentence": f"{report.verdict} Bar: mean share of the component that other models find. "
        f"Line: {STABLE:.0%}, the limit of a stable component. {_about(session, view, X)}",
        "heads": ["Component", "Found again"],
        "bars": _bars(report),
        "most": 1,
    }


def _permutation(session: Session, view: ControlState, _: list[int]) -> Panel:
    X, y = _training(session, view, ROWS)
    report = permutation_report(
        _estimator(session, view), X, y, n_permutations=SHUFFLES, max_rows=ROWS // 2,
        random_state=SPLIT_SEED,
    )  # fmt: skip
    return {
        "title": "Permutation test",
        "sentence": f"{report.verdict} Line: 95 % of {SHUFFLES} shuffles of the labels are below "
        f"it. {_about(session, view, X)}",
        "heads": ["Measure", "Value"],
        "bars": _bars(report),
        "most": 1,
    }


def _conformal(session: Session, view: ControlState, _: list[int]) -> Panel:
    if session.labels[view.label].continuous:
        raise RejectedError("Prediction sets need classes, and this label is continuous.")
    X, y = _training(session, view, ATLAS_ROWS)
    atlas = Atlas(_estimator(session, view), random_state=SPLIT_SEED).fit(X, y)
    held = np.flatnonzero((session.drawn >= session.n_train) & ~session.hidden)
    rows = session.X[session.drawn[held]]
    sets = atlas.predict_set(rows, LEVEL)[1]
    sizes = sets[:, :, 0].sum(axis=1)
    unlike = atlas.conformity(rows) < UNLIKE
    names = (
        ("In doubt: more than one class", sizes > 1),
        ("No class conforms", sizes == 0),
        ("Unlike the training rows", unlike),
    )
    return {
        "title": "Rows in doubt",
        "sentence": f"Prediction sets of an atlas contain the class of {LEVEL:.0%} of new rows. Of "
        f"{len(held):,} held-out rows, {np.mean(sizes == 1):.1%} have a set of one class. "
        + _about(session, view, X),
        "marks": [{"name": name, "rows": held[some].tolist()} for name, some in names],
    }


def _final(session: Session, view: ControlState, _: list[int]) -> Panel:
    n = len(session.untouched)
    if not n:
        raise RejectedError("Too few rows are held out to set some of them aside: use more rows.")
    first, scores = session.score_untouched(view)
    low, high = interval(scores, n)
    metric = "R²" if session.labels[view.label].continuous else "accuracy"
    found = (
        f"{metric} {scores['heldout']:z.3f} (95 % interval {low:z.3f} to {high:z.3f}) of {n:,} "
        "untouched rows, which no fit, search or score has used"
    )
    if first != view.plain():
        return {
            "title": "Untouched rows",
            "sentence": "These rows were already scored with other settings. A second score would "
            f"not be valid. The first: {found}.",
        }
    tuned = session.fit(view, exact=False).scores["heldout"]
    return {
        "title": "Untouched rows",
        "sentence": f"{found[0].upper()}{found[1:]}. The score of the other held-out rows is "
        f"{tuned:z.3f}; settings may have been chosen by it. The map now shows the untouched rows.",
    }


PANELS: dict[str, Callable[[Session, ControlState, list[int]], Panel]] = {
    "importances": _importances,
    "arrows": _arrows,
    "stability": _stability,
    "permutation": _permutation,
    "conformal": _conformal,
    "final": _final,
    "suspects": lambda session, view, _: suspects(session, view.label),
}


def _bars(found: Any) -> list[dict[str, Any]]:
    return [bar | {"name": short(bar["name"])} for bar in bars_of(found, MOST_BARS)]


def _estimator(session: Session, view: ControlState) -> Any:
    """The unfitted estimator of a view, or the base model of its map."""
    return session.estimator(replace(view, components=session.components(view)))


def _training(session: Session, view: ControlState, most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Training rows and their labels, or a sample of them."""
    rows = some_of(np.arange(session.n_train), most, np.random.default_rng(SPLIT_SEED))
    return session.X[rows], session.values[view.label][rows]


def _about(session: Session, view: ControlState, X: NDArray[Any]) -> str:
    n = session.n_train
    of = "" if view.map == "components" else f"Base model of the {view.map}: "
    return f"{of}{'A sample of ' if len(X) < n else ''}{len(X):,} training rows."
