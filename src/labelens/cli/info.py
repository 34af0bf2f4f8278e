"""labelens info: what is in a model file."""

from __future__ import annotations

from .. import persist
from . import options as o
from .output import in_words, show


def info(model: o.Model, json: o.Json = False) -> None:
    """Say what a model file holds, without trusting it."""
    with in_words():
        show(persist.info(model), json, quiet=False)
