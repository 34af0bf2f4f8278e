"""Where an error is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from .._base.validation import refuse_non_finite
from .sources import Chunk


class NamedRows(Protocol):
    """A source, or a part of one."""

    @property
    def title(self) -> str: ...

    @property
    def names(self) -> list[str] | None: ...


@contextmanager
def placed(place: NamedRows, chunk: Chunk, start: int) -> Iterator[None]:
    """Say of errors in which rows they are, and of columns what they are called."""
    try:
        yield
    except (ValueError, TypeError) as error:
        here = f"In rows {start} to {start + chunk.n_rows - 1} of {place.title}: "
        try:
            if place.names is not None and chunk.X is not None:
                refuse_non_finite(chunk.X, place.names)
        except ValueError as named:
            raise ValueError(here + str(named)) from None
        raise plain_kind(error)(here + str(error)) from error


def plain_kind(error: Exception) -> type[Exception]:
    """The kind of error that a user can count on, and that one sentence is enough to make.

    Subclasses of other libraries may take other arguments, or not be known on this machine.
    """
    kinds = (TypeError, FileNotFoundError, OSError)
    return next((kind for kind in kinds if isinstance(error, kind)), ValueError)
