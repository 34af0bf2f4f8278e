"""What is left of moments in a model that was saved without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sealed:
    """Enough to use a model, not to go on with it."""

    n_samples: int
    classes: tuple[Any, ...] | None
    rows: Any = None  # (n, d) of the exact kernel


def refuse_sealed(moments: Any) -> None:
    if isinstance(moments, Sealed):
        raise ValueError(
            "This model comes from a file without its moments, so no rows can be added to it: save "
            "it with labelens.save(model, path, moments=True), or start anew with fit."
        )
