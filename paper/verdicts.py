"""Verdicts on the paper's claims, and what every rule takes and returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HOLDS, CAVEAT, NO, UNKNOWN = "holds", "holds with a caveat", "does not hold", "not measured"
PAIRS = (("SPCA", "SRP"), ("KSPCA", "KSRP"))

Frames = Mapping[str, Any]  # pandas DataFrames by experiment; one that was not run is missing
Finding = tuple[str, str, str]  # our figure, verdict, note


def graded(share: float) -> str:
    """By how much of what a sentence says of all cases is so."""
    return HOLDS if share == 1 else CAVEAT if share >= 0.5 else NO
