"""labelens export: a model for machines without labelens."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from ..persist import load
from . import options as o
from .output import in_words, new_file, show


def export(
    model: o.Model,
    onnx: Annotated[Path | None, typer.Option(help="An ONNX file, for any but exact kernels.")] = (
        None
    ),
    sql: Annotated[Path | None, typer.Option(help="A SELECT, for linear models.")] = None,
    table: Annotated[str, typer.Option(help="What the SELECT selects from.")] = "rows",
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to select as well; may be repeated.")
    ] = None,
    double: Annotated[bool, typer.Option("--double", help="ONNX: float64 in and out.")] = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write what a model computes as an ONNX graph, or as SQL.

    \b
    labelens export species.labelens --onnx species.onnx
    labelens export species.labelens --sql species.sql --table visits --keep id
    """  # noqa: D301
    with in_words(quiet or json):
        from ..export import onnx as write_onnx
        from ..export import sql as as_sql

        if onnx is None and sql is None:
            raise ValueError("Name what to write: --onnx FILE, --sql FILE, or both.")
        estimator = load(model)
        facts = {"model": model.name, "method": type(estimator).__name__}
        with ExitStack() as files:
            if onnx is not None:
                path = files.enter_context(new_file(onnx, force))
                write_onnx(estimator, path, double=double)
                facts["onnx"] = str(onnx)
            if sql is not None:
                path = files.enter_context(new_file(sql, force))
                path.write_text(as_sql(estimator, table, keep=keep or ()) + "\n", encoding="utf-8")
                facts["sql"] = str(sql)
        show(facts, json, quiet)
