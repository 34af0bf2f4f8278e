"""The command line: each command is a file that parses, calls the library and prints."""

from __future__ import annotations


def main() -> None:
    """The `labelens` command."""
    from .._optional import require

    require("typer", extra="cli")
    require("rich", extra="cli")
    from .app import app

    app()
