"""Where in a source an error is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._validation import refuse_non_finite
from ..sources import Chunk, Source


@contextmanager
def placed(source: Source, chunk: Chunk, start: int) -> Iterator[None]:
    """Say of errors in which rows they are, and of columns what they are called."""
    try:
        yield
    except (ValueError, TypeError) as error:
        here = f"In rows {start} to {start + chunk.n_rows - 1} of {source.called}: "
        try:
            if source.names is not None:
                refuse_non_finite(chunk.X, source.names)
        except ValueError as named:
            raise ValueError(here + str(named)) from None
        raise type(error)(here + str(error)) from error
