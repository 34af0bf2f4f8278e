"""Progress, reported a few times a second."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic

ProgressCallback = Callable[
    [int, int | None, int], object
]  # rows, of how many (None: unknown), bytes
SECONDS = 0.2


class ProgressMeter:
    def __init__(
        self, callback: bool | ProgressCallback | None, total: int | None, row_bytes: int
    ) -> None:
        self._prints = callback is True
        self._callback: ProgressCallback | None = (
            _printed() if callback is True else callback or None
        )
        self._total, self._row_bytes = total, row_bytes
        self._last = -1.0

    def at(self, rows: int, done: bool = False) -> None:
        now = monotonic()
        if self._callback is not None and (done or now - self._last >= SECONDS):
            self._last = now
            self._callback(rows, self._total, rows * self._row_bytes)
            if done and self._prints:
                sys.stderr.write("\n")


def _printed() -> ProgressCallback:
    start = monotonic()

    def callback(rows: int, total: int | None, count: int) -> None:
        seconds = max(monotonic() - start, 1e-9)
        left = f", {seconds * (total - rows) / max(rows, 1):.0f} s left" if total else ""
        sys.stderr.write(f"\r{rows:,} rows, {count / seconds / 1e9:.2f} GB/s{left}   ")
        sys.stderr.flush()

    return callback
