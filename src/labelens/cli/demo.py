"""labelens demo: the whole job on data that comes with the package."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from . import options as o
from .embed import embed


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("labelens-demo"),
    force: o.Force = False,
) -> None:
    """Embed the bundled sonar returns: mines and rocks."""
    with as_file(files("labelens") / "datasets" / "data" / "sonar.csv") as path:
        embed(path, o.ColumnOptions(label=["class"]), o.MethodOptions(), out=out, force=force)
