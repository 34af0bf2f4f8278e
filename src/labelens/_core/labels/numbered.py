"""Integer classes that were numbered where the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._base import devices
from ..._base.threads import cached_property
from .reading import Labels

# Labels within so narrow a range are counted one by one.
COUNTED = 64


def as_integers(y: Any) -> NDArray[np.int64] | None:
    """Labels in the host's memory that a device can number; None if they are others."""
    y = y.values if isinstance(y, Labels) else devices.host(y)
    if not isinstance(y, np.ndarray) or np.ma.isMaskedArray(y):
        return None
    if y.ndim != 1 or y.dtype.kind not in "iu":
        return None
    return y.astype(np.int64, copy=False) if np.can_cast(y.dtype, np.int64) else None


@dataclass(frozen=True)
class NumberedLabels:
    """A column of integer labels on a device; to a label map it looks like an array of them.

    Copying a million labels to the host and numbering them takes longer than the fit. They are
    numbered on the device, when their numbers are first needed.
    """

    given: Any  # (n,) on the device

    @classmethod
    def of(cls, y: Any, rows: Any) -> NumberedLabels | None:
        """The labels of rows on a device; None if they are none that can be numbered there."""
        place = devices.place_of(rows)
        if getattr(y, "ndim", 0) != 1 or y.shape[0] != rows.shape[0] or place is None:
            return None
        if not devices.on_device(y):
            if (numbers := as_integers(y)) is None:
                return None
            y = place.put(numbers)
        if not devices.namespace(y).isdtype(y.dtype, "integral") or devices.place_of(y) != place:
            return None
        return cls(y)

    @cached_property
    def _numbered(self) -> tuple[NDArray[Any], Any]:
        xp, y = devices.namespace(self.given), self.given
        low, high = devices.host(xp.stack([xp.min(y), xp.max(y)])).tolist()
        if high - low < COUNTED:
            codes = y - low
            number = xp.arange(high - low + 1, dtype=y.dtype, device=devices.device(y))
            if devices.host(xp.any(codes[:, None] == number, axis=0)).all():  # no need to sort
                return np.arange(low, high + 1), xp.astype(codes, xp.int32)
        distinct, codes = xp.unique_inverse(y)
        return devices.host(distinct), xp.astype(codes, xp.int32)

    @property
    def distinct(self) -> NDArray[Any]:
        """(c,), in order."""
        return self._numbered[0]

    @property
    def codes(self) -> Any:
        """(n,) on the device: which of them."""
        return self._numbered[1]

    dtype = np.dtype(np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self),)

    ndim = 1

    def __len__(self) -> int:
        return int(self.given.shape[0])

    def __getitem__(self, which: Any) -> NDArray[Any]:
        """Some of them, on the host."""
        return self.distinct[devices.host(self.codes)[which]]
