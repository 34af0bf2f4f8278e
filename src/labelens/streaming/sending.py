"""Rows on their way to a device."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any

from .. import _array
from .._threads import one_ahead
from .._validation import check_rows
from ..sources import Chunk, Source


class Sent(Source):
    """A source whose chunks arrive on a device, each while the one before is in use."""

    def __init__(self, source: Source, place: _array.Place) -> None:
        self.source, self._place = source, place
        for name in ("called", "head", "names", "n_rows", "n_bytes", "labelled", "once"):
            setattr(self, name, getattr(source, name))
        columns = getattr(getattr(source, "X", None), "columns", None)
        if self.names is None and columns is not None:
            self.names = list(columns)

    def chunks(self, rows: int, start: int = 0, features: bool = True) -> Iterator[Chunk]:
        stream = self.source.chunks(rows, start, features)
        if not features:
            yield from stream
            return
        for chunk, wait in one_ahead(self._sent(stream)):
            yield replace(chunk, X=wait())

    def _sent(
        self, stream: Iterator[Chunk]
    ) -> Generator[tuple[Chunk, Callable[[], Any]], None, None]:
        send = _array.sender(self._place)
        for chunk in stream:
            given = check_rows(None, chunk.X, reset=False, finite=False)
            if hasattr(given, "toarray"):
                given = given.toarray()
            if given.dtype.kind != "f":
                given = given.astype("float64")
            yield chunk, send(given)
