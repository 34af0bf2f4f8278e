"""labelens transform: new rows through a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import tables
from .._engines.sources import column_names
from .._judge.atlas import Atlas
from .._judge.conformal import UNLIKE
from .._out_of_core import transform as stream
from ..persist import load_with_table
from ..report.columns import embedding_frame
from . import options as o
from .build import READING, aligned
from .fit import check_rows_are_rows, is_streamed
from .output import Bar, Meter, in_words, new_file, show


def transform(
    model: o.Model,
    out: Annotated[Path, typer.Option(help="The embedding, .parquet, .csv or .npy.")],
    data: o.Data = None,
    impute: Annotated[
        o.Impute | None, typer.Option(help="If not as in `fit`: drop leaves rows with gaps out.")
    ] = None,
    flag: Annotated[
        bool, typer.Option("--flag", help="Mark rows unlike anything seen; for maps of classes.")
    ] = False,
    memory: o.Memory = None,
    sql: o.Sql = None,
    transpose: o.Transpose = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Embed the rows of a file with a model that was fitted before.

    \b
    labelens transform species.labelens new.parquet --out new-embedding.parquet
    labelens transform species.labelens 'data/*.parquet' --out all.npy --memory 512MB
    """  # noqa: D301
    with in_words(quiet or json):
        if out.suffix not in (".parquet", ".csv", ".npy"):
            raise ValueError(f"--out must end in .parquet, .csv or .npy, got {out.name!r}.")
        streamed = is_streamed(data, memory) or out.suffix == ".npy"
        if streamed:
            check_rows_are_rows(transpose)
            if flag:
                raise ValueError("--flag is for rows read at once, and for .parquet or .csv.")
            if impute is not None:
                raise ValueError(
                    "--impute is not for rows read in chunks, nor for .npy: gaps are filled as in "
                    "`fit`. Leave it out, or write .parquet or .csv."
                )
            with (
                new_file(out, force) as path,
                tables.located(data, sql) as place,
                Meter(quiet or json) as meter,
            ):
                estimator, encoder = load_with_table(model)
                if encoder is not None and column_names(place) is None:
                    _check_numbers(encoder)
                    encoder = None
                meter.does("embedding")
                stream(estimator, place, path, encoder=encoder, memory=memory, progress=meter)
            facts = {
                "model": model.name,
                "data": data or "query",
                "components": len(estimator.get_feature_names_out()),
            }
            show(facts | {"written": str(out)}, json, quiet)
            return
        work = [READING, "embedding", "writing"]
        with (
            new_file(out, force) as path,
            tables.located(data, sql) as place,
            Bar(work, quiet or json) as bar,
        ):
            estimator, encoding = load_with_table(model)
            frame = tables.read(
                place, progress=lambda share: bar.at(READING, share), transpose=transpose
            )
            bar.at("embedding")
            table, rows = aligned(frame, estimator, encoding, o.filling(impute))
            Z = estimator.transform(rows)
            bar.at("writing")
            placed = embedding_frame(table.shown.index, Z)
            if flag:
                if not isinstance(estimator, Atlas):
                    raise ValueError(
                        f"--flag needs an atlas, and {model.name} holds a "
                        f"{type(estimator).__name__}. `labelens embed` makes an atlas of classes."
                    )
                placed["conformity"] = estimator.conformity(rows)
                placed["unlike_anything_seen"] = placed["conformity"] < UNLIKE
            tables.write(placed, path)
        facts = {"model": model.name, "data": place.name, "rows": len(Z)}
        if flag:
            facts["unlike_anything_seen"] = int(placed["unlike_anything_seen"].sum())
        show(facts | {"components": Z.shape[1], "written": str(out)}, json, quiet, table.notes)


def _check_numbers(encoder: tables.TableEncoder) -> None:
    """Rows of an array are features already, if every column was a number."""
    if any(c.kind != "number" or c.gaps for c in encoder.columns_):
        raise ValueError(
            "This model was fitted on columns that are not all numbers without gaps, and the "
            "columns of an array have no names."
        )
