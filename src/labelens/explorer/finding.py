"""Good settings for a view: `select` on training rows, in stages that the page requests in turn.

Between stages the page shows the progress, and the user can cancel. Held-out rows take no part, so
their score stays valid.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._base.threads import go_on
from .._fit.task import Kind
from .._judge.selection import select
from .._judge.trial import some_of
from .explored import SPLIT_SEED
from .session import Session
from .view import SCALES, ControlState, whole

ROWS = 2000  # on which settings are compared
GAMMAS = ((0.03, 0.1), (0.3, 1.0), (3.0, 10.0))  # multiples of the rule "scale", a stage each
SHRINKAGES = [1.0, 0.1, 0.01, 0.001]
# The method and the gammas of each stage. The view sets the number of components.
STAGES: list[tuple[str, tuple[float, ...]]] = [("spca", ()), *(("kspca", one) for one in GAMMAS)]


def find(session: Session, view: ControlState, stage: Any) -> dict[str, Any]:
    """The best setting of a stage, and its cross-validated score."""
    method, gammas = STAGES[whole(stage, "stage", 0, len(STAGES) - 1)]
    start = replace(view, method=method, kernel="rbf", target_weight=1.0, gamma=1.0)
    start = replace(start, components=session.components(start), map="components")
    rows = some_of(np.arange(session.n_train), ROWS, np.random.default_rng(SPLIT_SEED))
    X, y = session.X[rows], session.values[view.label][rows]
    best: dict[str, Any] = {"score": -np.inf}
    for scale in SCALES:
        here = replace(start, scale=scale)
        grid: dict[str, Any] = {"shrinkage": SHRINKAGES}
        if gammas:
            unit = session.gamma_of(here)
            assert unit is not None
            grid["gamma"] = [gamma * unit for gamma in gammas]
        go_on()  # raises if the request was cancelled
        task: Kind = "numbers" if session.labels[view.label].continuous else "classes"
        found = select(
            X, y, session.estimator(here), grid=grid, cv=3, max_rows=ROWS, task=task,
            random_state=SPLIT_SEED,
        )  # fmt: skip
        if found.score > best["score"]:
            change = {"method": method, "scale": scale, "target_weight": 1.0}
            change["shrinkage"] = float(found.params.get("shrinkage", 1.0))
            if gammas:
                change |= {"kernel": "rbf", "gamma": float(found.params["gamma"] / unit)}
            best = {"score": float(found.score), "error": float(found.error), "change": change}
    return best | {
        "of": len(STAGES),
        "compared": len(SCALES) * len(SHRINKAGES) * (len(gammas) or 1),
    }
