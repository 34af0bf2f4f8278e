"""Warnings that point to the line of the user, through any number of callers."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

INNER = ("labelens", "sklearn", "joblib")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn where the user's code called in: past our own frames and scikit-learn's."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package(frame) in INNER:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
