"""What tests of `select` share."""

from __future__ import annotations

import pytest

from labelens._judge import comparison, selection


@pytest.fixture
def watched(monkeypatch):
    """The (estimators, batch, fold, judged, scores) of every round."""
    rounds, cross_validate = [], comparison.cross_validate
    monkeypatch.setattr(selection, "with_learned_metric", lambda *_: None)  # it has rounds too

    def watching(estimators, batch, fold, judged, judge):
        scores = cross_validate(estimators, batch, fold, judged, judge)
        rounds.append((estimators, batch, fold, judged, scores))
        return scores

    monkeypatch.setattr(comparison, "cross_validate", watching)
    return rounds
