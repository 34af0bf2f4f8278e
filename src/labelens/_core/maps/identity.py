"""The rows themselves: the linear methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.scratch import Empty


@dataclass(frozen=True)
class Identity:
    n_features: int

    def __call__(self, rows: Any, empty: Empty = np.empty) -> Any:
        return rows

    def same_as(self, other: Any) -> bool:
        return self == other
