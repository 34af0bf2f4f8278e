"""A fit as the page shows it: both models, their embeddings and their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from .._base.threads import cached_property
from ..report.evidence import Verdict
from .view import ControlState


@dataclass(frozen=True, eq=False)
class Fit:
    """A model, and the control: the same model of shuffled labels."""

    view: ControlState
    model: Any
    control: Any
    # (Whether by the control, components or None for all) -> embedding of the rows looked at.
    embedded: Callable[[bool, list[int] | None], NDArray[Any]]
    scores: dict[str, Any]
    verdict: Verdict
    notes: list[str]
    gamma: float | None
    scale_gamma: float | None
    seconds: float
    exact: bool
    # Like Z and chance, but training rows are cross-fitted (nan for some); None without a map.
    honest: list[NDArray[Any] | None]

    @cached_property
    def Z(self) -> NDArray[Any]:  # noqa: N802
        """(m, k) of the rows looked at."""
        return self.embedded(False, None)

    @cached_property
    def chance(self) -> NDArray[Any]:
        """(m, k) of the same rows by the control."""
        return self.embedded(True, None)
