"""Rows on the way to a device."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import require
from .places import Place

# Bytes of a pinned buffer, and how many there are: they stay in a cache while they are copied.
PINNED_BYTES, PINNED_BUFFERS = 16 << 20, 4


def sender(place: Place) -> Callable[[NDArray[Any]], Callable[[], Any]]:
    """A function that sends a NumPy array to a device and returns one that waits for it there.

    Sending may go on in another thread while the device computes. Where torch has CUDA, rows go by
    way of pinned buffers: from other memory a card copies slowly, and not while it computes.
    """
    if "torch" in place.library and place.device.type == "cuda":
        return _PinnedSender(place.device)

    def send(values: NDArray[Any]) -> Callable[[], Any]:
        there = place.put(values)
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
                self._by_way_of_buffers(given.view(-1), there.view(-1))
            arrived = self._stream.record_event()

        def wait() -> Any:
            """On the device; this thread goes on."""
            computing = torch.cuda.current_stream(self._device)
            computing.wait_event(arrived)
            there.record_stream(computing)  # its memory is not used again before
            return there

        return wait

    def _by_way_of_buffers(self, given: Any, there: Any) -> None:
        """Torch copies from memory to memory on all cores."""
        step = PINNED_BYTES // given.element_size()
        for start in range(0, len(given), step):
            part = given[start : start + step]
            buffer = self._free_buffer().view(given.dtype)[: len(part)]
            buffer.copy_(part)
            there[start : start + step].copy_(buffer, non_blocking=True)
            self._buffers[-1] = (self._buffers[-1][0], self._stream.record_event())

    def _free_buffer(self) -> Any:
        torch = self._torch
        if len(self._buffers) < PINNED_BUFFERS:
            made = torch.empty(PINNED_BYTES, dtype=torch.uint8, pin_memory=True)
            self._buffers.append((made, None))
        else:
            buffer, copied = self._buffers.popleft()
            copied.synchronize()
            self._buffers.append((buffer, None))
        return self._buffers[-1][0]
