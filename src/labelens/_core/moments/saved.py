"""The stand-in for moments in a model that was saved without them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..._base import devices


@dataclass(frozen=True)
class SavedSummary:
    """Enough to use a model, not to go on with it."""

    n_samples: int
    classes: tuple[Any, ...] | None
    rows: Any = None  # (n, d) of the exact kernel
    scatter: ClassVar[None] = None
    spread: ClassVar[None] = None

    def to(self, place: Any) -> SavedSummary:
        """With the rows in that place."""
        return replace(self, rows=devices.rows_to(place, self.rows))


def check_can_grow(moments: Any) -> None:
    if isinstance(moments, SavedSummary):
        raise ValueError(
            "This model comes from a file without its moments, so no rows can be added to it: save "
            "it with labelens.save(model, path, moments=True), or call fit."
        )
