"""The commands, put together."""

from __future__ import annotations

import typer

from .. import __version__
from .audit import audit
from .embed import demo, embed
from .explain import explain
from .explore import explore
from .fit import fit
from .models import export, info, merge
from .options import spread_out
from .transform import transform

app = typer.Typer(
    name="labelens",
    help="Supervised dimensionality reduction: embeddings that show the labels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for command in (embed, explore, audit, explain, fit, transform, merge, info, export, demo):
    app.command()(spread_out(command))


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
    """Supervised dimensionality reduction: embeddings that show the labels."""
