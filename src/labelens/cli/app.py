"""The commands, put together."""

from __future__ import annotations

import typer

from .. import __version__
from .reproduce import reproduce

app = typer.Typer(
    name="labelens",
    help="Supervised dimensionality reduction that sees data through its labels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
app.command()(reproduce)


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"labelens {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Supervised dimensionality reduction that sees data through its labels."""
