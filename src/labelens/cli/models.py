"""labelens merge, info and export: model files put together, described and translated."""

from __future__ import annotations

from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from .. import persist
from ..persist import load_with_table, save
from ..tables import TableEncoder
from . import options as o
from .output import in_words, new_file, show


def merge(
    models: Annotated[list[Path], typer.Argument(help="Model files, fitted with --moments.")],
    out: o.ModelOut = Path("model.labelens"),
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
            seen = {_contents(models[0]): models[0]}
            for model in models[1:]:
                if (same := seen.setdefault(_contents(model), model)) is not model:
                    raise ValueError(
                        f"{model} and {same} hold the same model: its rows would count twice."
                    )
                try:
                    other, columns = load_with_table(model)
                    _check_columns(table, columns)
                    whole.merge(other)
                except ValueError as error:
                    raise ValueError(
                        f"{model} cannot be merged with {models[0]}: {str(error).rstrip('.')}. "
                        f"Fit it again with --like {models[0]}, which takes over columns and "
                        "parameters."
                    ) from None
            save(whole, path, moments=True, table=table)
        facts = {"models": len(models), "rows": whole.n_samples_seen_, "written": str(out)}
        show(facts, json, quiet)


def _check_columns(first: TableEncoder | None, other: TableEncoder | None) -> None:
    mine, theirs = (() if e is None else e.columns_ for e in (first, other))
    if [c.name for c in mine] != [c.name for c in theirs]:
        raise ValueError("they were fitted on different columns.")
    for one, two in zip(mine, theirs, strict=True):
        if not one.same_features(two):
            raise ValueError(f"their columns {one.name!r} are encoded differently.")


def _contents(path: Path) -> str:
    """The same for models whose arrays are the same."""
    return sha256(path.read_bytes()).hexdigest()


def info(model: o.Model, json: o.Json = False) -> None:
    """Say what a model file holds, without trusting it."""
    with in_words():
        facts, notes = persist.info(model), []
        rows, saw = facts["table_rows"], facts["n_samples"]
        if rows is not None and saw < rows:
            notes.append(
                f"The model saw {saw:,} of {rows:,} rows ({saw / rows:.0%}): the others were held "
                "out. `labelens embed --refit` saves a model of all rows."
            )
        show(facts, json, quiet=False, notes=notes)


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
        estimator, encoder = load_with_table(model)
        facts = {"model": model.name, "method": type(estimator).__name__}
        with ExitStack() as files:
            if onnx is not None:
                path = files.enter_context(new_file(onnx, force))
                write_onnx(estimator, path, double=double, encoder=encoder)
                facts["onnx"] = str(onnx)
            if sql is not None:
                path = files.enter_context(new_file(sql, force))
                query = as_sql(estimator, table, keep=keep or (), encoder=encoder)
                path.write_text(query + "\n", encoding="utf-8")
                facts["sql"] = str(sql)
        show(facts, json, quiet)
