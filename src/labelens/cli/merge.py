"""labelens merge: one model from models that were fitted apart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..persist import load, load_with_table, save
from . import options as o
from .output import in_words, new_file, show


def merge(
    models: Annotated[list[Path], typer.Argument(help="Model files, fitted with --moments.")],
    out: Annotated[Path, typer.Option("--out", "--model", help="The model file.")] = Path(
        "model.labelens"
    ),
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Put models together that were fitted on different rows, as if fitted on all of them.

    \b
    labelens merge monday.labelens tuesday.labelens --out both.labelens
    """  # noqa: D301
    with in_words(quiet or json):
        with new_file(out, force) as path:
            whole, table = load_with_table(models[0])
            for model in models[1:]:
                whole.merge(load(model))
            # Merged models have the same features; what gaps are filled with may differ a little.
            save(whole, path, moments=True, table=table)
        facts = {"models": len(models), "rows": whole.n_samples_seen_, "written": str(out)}
        show(facts, json, quiet)
