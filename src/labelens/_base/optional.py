"""Libraries that only some users need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, extra: str) -> Any:
    """Import a module of an extra, or raise an error with the pip command."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        if error.name != library:
            raise
        raise ModuleNotFoundError(
            f'This needs {library}, which is not installed: pip install "labelens[{extra}]"',
            name=library,
        ) from None
