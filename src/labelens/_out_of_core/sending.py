"""Rows on their way to a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .._base import devices
from .._base.sending import sender
from .._base.validation import check_rows
from .._core.labels import as_integers
from .._engines.sources import Chunk, Source


class Sent(Source):
    """A source whose chunks arrive on a device, each while the one before is in use.

    By one thread: filling pinned buffers uses all cores, and the GPU works in parallel.
    """

    def __init__(self, source: Source, place: devices.Place, with_labels: bool) -> None:
        """Labels that are numbers may go with the rows."""
        self.source, self._place, self._with_labels = source, place, with_labels
        for name in ("title", "head", "names", "n_rows", "n_bytes", "labelled", "once"):
            setattr(self, name, getattr(source, name))
        columns = getattr(getattr(source, "X", None), "columns", None)
        if self.names is None and columns is not None:
            self.names = list(columns)

    def chunks(self, rows: int, start: int = 0, features: bool = True) -> Iterator[Chunk]:
        stream = self.source.chunks(rows, start, features)
        if not features:
            yield from stream
            return
        send, before = sender(self._place), None
        for chunk in stream:
            sent = self._sent(send, chunk)
            if before is not None:
                yield before()
            before = sent
        if before is not None:
            yield before()

    def _sent(self, send: Callable[[Any], Callable[[], Any]], chunk: Chunk) -> Callable[[], Chunk]:
        """A chunk on its way; it is waited for on the device."""
        given = check_rows(None, chunk.X, reset=False, finite=False)
        if hasattr(given, "toarray"):
            given = given.toarray()
        if given.dtype.kind != "f":
            given = given.astype("float64")
        waits = {"X": send(given)}
        if self._with_labels and (numbers := as_integers(chunk.y)) is not None:
            waits["y"] = send(numbers)
        return lambda: replace(chunk, **{name: wait() for name, wait in waits.items()})
