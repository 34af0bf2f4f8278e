"""Transfer of rows to a device."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .devices import Place
from .optional import require

# Bytes of a pinned buffer, which stays in a cache while it is copied; and how many there are.
PINNED_BYTES, PINNED_BUFFERS = 24 << 20, 4


def sender(place: Place) -> Callable[[NDArray[Any]], Callable[[], Any]]:
    """A function that sends a NumPy array to a device and returns one that waits for it there.

    The array may change as soon as it is sent, unless it is pinned. Where torch has CUDA, rows go
    by way of pinned buffers: from other memory a GPU copies slowly, and not while it computes.
    """
    if "torch" in place.library and place.device.type == "cuda":
        return _PinnedSender(place.device)

    def send(values: NDArray[Any]) -> Callable[[], Any]:
        there = place.put(np.array(values))  # which the place may share
        return lambda: there

    return send


class _PinnedSender:
    def __init__(self, device: Any) -> None:
        torch = require("torch", "torch")
        self._torch, self._device = torch, device
        self._stream = torch.cuda.Stream(device)
        self._buffers: deque[tuple[Any, Any]] = deque()  # and the copy that each is waiting for

    def __call__(self, values: NDArray[Any]) -> Callable[[], Any]:
        torch = self._torch
        given = torch.from_numpy(np.require(values, requirements=["C", "W"]))
        with torch.cuda.stream(self._stream):
            there = torch.empty_like(given, device=self._device)
            if given.is_pinned():
                there.copy_(given, non_blocking=True)
            else:
                self._by_way_of_buffers(given, there)
            arrived = self._stream.record_event()

        def wait() -> Any:
            """On the device; this thread goes on."""
            computing = torch.cuda.current_stream(self._device)
            computing.wait_event(arrived)
            there.record_stream(computing)  # its memory is not used again before
            return there

        return wait

    def _by_way_of_buffers(self, given: Any, there: Any) -> None:
        torch = self._torch
        if not self._buffers:
            for _ in range(PINNED_BUFFERS):
                made = torch.empty(PINNED_BYTES, dtype=torch.uint8, pin_memory=True)
                self._buffers.append((made, torch.cuda.Event()))
        parts, places = (a.view(-1).view(torch.uint8).split(PINNED_BYTES) for a in (given, there))
        for part, place in zip(parts, places, strict=True):
            buffer, copied = self._buffers[0]
            self._buffers.rotate(-1)
            copied.synchronize()
            buffer = buffer[: len(part)]
            buffer.copy_(part)  # on all cores
            place.copy_(buffer, non_blocking=True)
            copied.record(self._stream)
