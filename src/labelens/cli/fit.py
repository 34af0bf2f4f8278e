"""labelens fit: a model from all rows of a file."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from .._base.optional import require
from .._judge.trial import FITTING
from ..persist import save
from . import options as o
from .build import load, pick_model, settle, stages
from .output import Bar, in_words, new_file, show
from .streamed import Meter, fit_streamed, is_streamed


def fit(
    data: o.Data,
    columns: o.ColumnOptions,
    wanted: o.MethodOptions,
    out: Annotated[Path, typer.Option("--out", "--model", help="The model file.")] = Path(
        "model.labelens"
    ),
    memory: o.Memory = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Read in pieces, and go on from this file if killed."),
    ] = None,
    moments: o.Kept = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Fit a model on all rows and keep it; `labelens transform` embeds new rows with it.

    \b
    labelens fit train.parquet --label species --out species.labelens
    labelens fit 'data/*.parquet' --label y --memory 512MB --checkpoint state --model y.labelens
    """  # noqa: D301
    with in_words(quiet or json):
        if is_streamed(data, memory, checkpoint):
            start = perf_counter()
            with new_file(out, force) as path, Meter(quiet or json) as meter:
                model, source, reason, notes, state = fit_streamed(
                    data, columns, wanted, memory, checkpoint, meter
                )
                save(model, path, moments=moments)
            if state is not None:
                state.remove()  # not before there is a model
            facts = _facts(str(data), model.n_samples_seen_, source.head.shape[1], model, reason)
            seconds = perf_counter() - start
            show(facts | {"fit_seconds": seconds, "written": str(out)}, json, quiet, notes)
            return
        work = stages(wanted.method, FITTING)
        with new_file(out, force) as path, Bar(work, quiet or json) as bar:
            table = load(data, columns, bar)
            notes = list(table.notes)
            asked = settle(wanted.parameters(), table.labels, len(table.names), notes)
            model, reason = pick_model(wanted.method, table, asked, bar)
            bar.at(FITTING)
            rows = require("pandas", extra="cli").DataFrame(table.X, columns=table.names)
            start = perf_counter()
            model.fit(rows, table.labels)
            seconds = perf_counter() - start
            save(model, path, moments=moments, table=table.encoding)
        facts = _facts(data.name, len(table.X), len(table.names), model, reason)
        show(facts | {"fit_seconds": seconds, "written": str(out)}, json, quiet, notes)


def _facts(data: str, rows: int, features: int, model: Any, reason: str) -> dict[str, Any]:
    facts = {"data": data, "rows": rows, "features": features, "method": type(model).__name__}
    return facts | {"why": reason} if reason else facts
