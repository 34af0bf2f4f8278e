"""The command line: each command is a file that parses, calls the library and prints."""

from __future__ import annotations


def main() -> None:
    """The `labelens` command."""
    from .._optional import require

    require("typer", extra="cli")
    require("rich", extra="cli")
    try:
        from .app import app
    except KeyboardInterrupt:  # loading takes a moment, too
        raise SystemExit(130) from None
    app()
