"""labelens explain: the columns that a model depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .. import tables
from .._base.optional import require
from .._judge.explain import Importances, importances
from .._judge.trial import Trial
from ..persist import load_with_table
from . import options as o
from .build import READING, aligned
from .output import Bar, in_words, new_file, show, visible

EXPLAINING = "computing gradients"
MOST_DIFFERENCES = 200  # columns that numerical gradients are worth the time for


def explain(
    model: o.Model,
    data: o.Data = None,
    label: Annotated[
        str | None, typer.Option(help="A column of classes, for each of them.")
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=0, help="Models of other rows and labels, for the noise.")
    ] = 0,
    top: Annotated[int, typer.Option(min=1, help="Columns to show.")] = 10,
    out: Annotated[
        Path | None, typer.Option(help="File for all columns, .csv or .parquet.")
    ] = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Show which columns an embedding depends on, overall, by component and by class.

    DATA has the rows whose gradients are averaged; linear models need none.

    \b
    labelens explain species.labelens iris.csv --label species --resamples 10
    labelens explain species.labelens iris.csv --out importances.csv
    """  # noqa: D301
    with in_words(quiet or json):
        if out is not None and out.suffix not in (".parquet", ".csv"):
            raise ValueError(f"--out must end in .parquet or .csv, got {out.name!r}.")
        if label is not None and data is None:
            raise ValueError("--label is a column of a file; name the file after the model.")
        if resamples and label is None:
            raise ValueError("--resamples fits models again: name the file and its --label.")
        with Bar([READING, EXPLAINING], quiet or json) as bar:
            estimator, encoder = load_with_table(model)
            rows, y, notes = None, None, list[str]()
            if data is not None:
                with tables.located(data, None) as place:
                    frame = tables.read(place, progress=lambda share: bar.at(READING, share))
                if label is not None and label not in frame.columns:
                    raise ValueError(f"--label {label}: there is no such column in {place.name}.")
                table, rows = aligned(frame, estimator, encoder)
                notes = table.notes
                if label is not None:
                    y = frame.loc[table.shown.index, label].to_numpy()
            bar.at(EXPLAINING)
            found = importances(estimator, rows, y, n_resamples=resamples, random_state=0)
        if out is not None:
            with new_file(out, force) as path:
                tables.write(importance_frame(found), path)
        order = np.argsort(-found.overall, kind="stable")[:top]
        listed = {found.names[i]: float(found.overall[i]) for i in order}
        if json or quiet:
            show({"model": model.name, "importances": listed}, json, quiet, notes)
            return
        _print(found, order)
        show({"written": str(out)} if out is not None else {}, json, quiet, notes)


def importance_frame(found: Importances) -> Any:
    """A line for each column of X, and a column for everything that is known of it."""
    pandas = require("pandas", extra="cli")
    columns = {"column": found.names, "overall": found.overall}
    columns |= {"error": found.error, "shuffled": found.shuffled} if found.error is not None else {}
    columns |= {f"component {j + 1}": one for j, one in enumerate(found.components)}
    columns |= {f"class {name}": one for name, one in found.classes.items()}
    return pandas.DataFrame(columns)


def _print(found: Importances, order: Any) -> None:
    frame = importance_frame(found)
    unit = "standard deviation" if found.standardized else "unit"
    title = f"Share of the squared change of the embedding by a {unit} of a column"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in frame.columns:
        table.add_column(
            escape(visible(str(name))), justify="left" if name == "column" else "right"
        )
    for _, line in frame.iloc[order].iterrows():
        name, *shares = line
        table.add_row(escape(visible(str(name))), *(f"{share:.3f}" for share in shares))
    Console(highlight=False).print(table)


def column_shares(
    table: tables.Table, trial: Trial, n_resamples: int = 0, seed: int = 0
) -> Importances | None:
    """Importances of the columns; None where only slow numerical gradients are known of many."""
    model, d = trial.model, len(table.names)
    base = getattr(model, "estimator_", model)
    if model is not base and d > MOST_DIFFERENCES:
        return None
    if table.nuisance is not None:
        n_resamples = 0  # models would be fitted without it
    y = None if trial.continuous and not n_resamples else table.labels
    return importances(model, table.frame, y, n_resamples=n_resamples, random_state=seed)
