"""labelens audit: labels of a file that are probably wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import tables
from .._judge.audit import label_issues
from ..report import write_suspects
from . import options as o
from .build import READING, load
from .output import Bar, in_words, new_files, show

JUDGING, WRITING = "judging labels", "writing"


def audit(
    columns: o.ColumnOptions,
    data: o.Data = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("audit"),
    rate: Annotated[
        float, typer.Option(min=0, max=1, help="The share of flagged labels that may be right.")
    ] = 0.1,
    format: Annotated[o.Format, typer.Option(help="Of the list.")] = o.Format.csv,
    sql: o.Sql = None,
    transpose: o.Transpose = False,
    seed: Annotated[int, typer.Option(help="Seed of the landmarks.")] = 0,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """List the labels of a file that are probably wrong, the most suspect first.

    The list has a line for each row, named as in the file. The page shows each suspicious row next
    to its nearest rows of both labels. The file is not changed.

    \b
    labelens audit iris.csv --label species
    labelens audit letters.parquet --label y --rate 0.2 --format parquet
    """  # noqa: D301
    names = [f"issues.{format.value}", "issues.html"]
    with in_words(quiet or json):
        for name in ("groups", "nuisance"):
            if value := getattr(columns, name):
                column = value if isinstance(value, str) else value[0]
                raise ValueError(
                    f"audit does not use --{name}. Leave the column out of the features with "
                    f"--drop {column}."
                )
        work = [READING, JUDGING, WRITING]
        with (
            new_files(out, names, force) as folder,
            tables.located(data, sql) as place,
            Bar(work, quiet or json) as bar,
        ):
            table = load(place, columns, bar, transpose=transpose)
            bar.at(JUDGING)
            issues = label_issues(
                table.X,
                table.labels,
                false_discovery_rate=rate,
                task=columns.kind,
                random_state=seed,
            )
            bar.at(WRITING)
            labels = list(table.columns)
            if len(labels) > 1:
                issues["label"] = [labels[i] for i in issues.label]
            facts = dict(data=place.name, rows=len(table.X), features=len(table.names))
            facts |= dict(label=", ".join(labels), flagged=int(issues.is_label_issue.sum()))
            facts |= dict(near_duplicates=int((issues.near_duplicate >= 0).sum()))
            facts |= dict(outliers=int(issues.groupby("row").is_outlier.any().sum()))
            title = f"{place.name}: labels of {facts['label']}"
            write_suspects(folder / names[1], title, facts, issues, table.X, table.shown)
            listed = issues.sort_values("label_quality", kind="stable")
            index = table.shown.index
            twins = listed.near_duplicate
            listed["near_duplicate"] = [str(index[i]) if i >= 0 else "" for i in twins]
            listed["row"] = index[listed["row"]]
            tables.write(listed.reset_index(drop=True), folder / names[0])
        show(facts | {"written": str(out)}, json, quiet, table.notes)
