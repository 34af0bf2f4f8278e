"""labelens fit: a model from all rows of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import clone

from .._base.optional import require
from .._base.validation import some
from .._engines.sources import Chunk, Source, column_names, open_source
from .._fit.first_pass import sample_of
from .._fit.projection import Projection
from .._fit.task import TaskWatch
from .._judge.trial import FITTING
from .._out_of_core.checkpoint import Checkpoint
from .._out_of_core.fitting import stream_into
from .._out_of_core.plan import CHUNK_BYTES
from ..persist import load_with_table, save
from ..tables import TableEncoder, located, read_label
from . import options as o
from .build import (
    READING,
    build,
    choose,
    label_names,
    load,
    matching,
    pick_map,
    pick_model,
    settle,
    stages,
)
from .output import Bar, Meter, in_words, new_file, show

# Rows on which methods are compared, and labels that are examined, for rows in chunks.
COMPARED, LOOKED_AT = 4096, 16384


def fit(
    columns: o.ColumnOptions,
    wanted: o.MethodOptions,
    data: o.Data = None,
    out: o.ModelOut = Path("model.labelens"),
    memory: o.Memory = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Read in chunks, and go on from this file if killed."),
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(help="A model: use its columns and parameters, for labelens merge."),
    ] = None,
    moments: o.Kept = False,
    sql: o.Sql = None,
    transpose: o.Transpose = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Fit a model on all rows and keep it; `labelens transform` embeds new rows with it.

    For one column of classes, without other options, it is an atlas: a 2-D map of the classes.

    \b
    labelens fit train.parquet --label species --out species.labelens
    labelens fit 'data/*.parquet' --label y --memory 512MB --checkpoint state --model y.labelens
    """  # noqa: D301
    with in_words(quiet or json):
        if is_streamed(data, memory, checkpoint):
            start = perf_counter()
            check_rows_are_rows(transpose)
            with (
                new_file(out, force) as path,
                located(data, sql) as place,
                Meter(quiet or json) as meter,
            ):
                if like is not None:
                    raise ValueError("--like is for rows that are read at once.")
                model, source, encoder, reason, notes, state = fit_streamed(
                    place, columns, wanted, memory, checkpoint, meter
                )
                save(model, path, moments=moments, table=encoder)
            if state is not None:
                state.remove()  # not before there is a model
            facts = _facts(
                data or "query", model.n_samples_seen_, source.head.shape[1], model, reason
            )
            seconds = perf_counter() - start
            show(facts | {"fit_seconds": seconds, "written": str(out)}, json, quiet, notes)
            return
        if like is not None:
            with (
                new_file(out, force) as path,
                located(data, sql) as place,
                Bar([READING, FITTING], quiet or json) as bar,
            ):
                facts, notes = _fit_like(like, place, columns, bar, path, transpose)
            show(facts | {"written": str(out)}, json, quiet, notes)
            return
        work = stages(wanted.method, FITTING)
        with (
            new_file(out, force) as path,
            located(data, sql) as place,
            Bar(work, quiet or json) as bar,
        ):
            table = load(place, columns, bar, transpose=transpose)
            notes = list(table.notes)
            y, settled = table.labels, list[str]()
            asked, kind = settle(wanted.parameters(), y, len(table.names), settled, columns.kind)
            everything = np.arange(len(y))
            # An atlas has no moments to keep.
            wants_map = wanted.method == o.Method.atlas or not moments
            chosen = pick_map(wanted, table, bar, kind, everything) if wants_map else None
            if chosen is None:
                notes += settled
                chosen = pick_model(wanted.method, table, asked, bar, kind, everything)
            model, reason = chosen
            bar.at(FITTING)
            start = perf_counter()
            table.fit(model)
            seconds = perf_counter() - start
            save(model, path, moments=moments, table=table.encoder)
        facts = _facts(place.name, len(table.X), len(table.names), model, reason)
        show(facts | {"fit_seconds": seconds, "written": str(out)}, json, quiet, notes)


def _fit_like(
    like: Path, data: Path, columns: o.ColumnOptions, bar: Bar, path: Path, transpose: bool
) -> tuple[dict[str, Any], list[str]]:
    """A model that can be merged with another: its columns, its parameters, other rows."""
    first, encoder = load_with_table(like)
    if not isinstance(first, Projection):
        raise ValueError(
            f"--like is for models that labelens merge puts together, and {like.name} holds a map, "
            f"an {type(first).__name__}, which has no moments. Fit both models with --moments."
        )
    table = load(data, columns, bar, encoder, transpose)
    model = clone(first)
    if hasattr(first, "label_kernel_") and not isinstance(first.label_kernel_, str):
        model.set_params(label_kernel=first.label_kernel_)
    bar.at(FITTING)
    start = perf_counter()
    table.fit(model)
    seconds = perf_counter() - start
    save(model, path, moments=True, table=table.encoder)
    facts = _facts(data.name, len(table.X), len(table.names), model, "")
    return facts | {"fit_seconds": seconds}, table.notes


def _facts(data: str, rows: int, features: int, model: Any, reason: str) -> dict[str, Any]:
    facts = {"data": data, "rows": rows, "features": features, "method": type(model).__name__}
    return facts | {"why": reason} if reason else facts


# In chunks -------------------------------------------------------------------------------------


def is_streamed(data: str | None, *options: Any) -> bool:
    """Whether the data is several files, or one of the options that only streams have is given."""
    several = data is not None and has_magic(data) and not Path(data).exists()
    return several or any(option is not None for option in options)


def check_rows_are_rows(transpose: bool) -> None:
    if transpose:
        raise ValueError("--transpose needs all columns at once: it is not for rows in chunks.")


def fit_streamed(
    data: Path,
    columns: o.ColumnOptions,
    wanted: o.MethodOptions,
    memory: str | None,
    checkpoint: Path | None,
    meter: Meter,
) -> tuple[Any, Source, TableEncoder | None, str, list[str], Checkpoint | None]:
    """A model, what it was fitted on and how, why this one, notes, a checkpoint to remove."""
    if columns.groups is not None or columns.nuisance:
        raise ValueError(
            "--groups and --nuisance are for rows that are read at once; in Python labelens.fit "
            "takes nuisance for files in chunks."
        )
    meter.does("looking at columns")
    source, encoder = _opened(data, columns)
    notes = [*source.notes, *([] if encoder is None else encoder.sentences())]
    automatic = wanted.method == o.Method.auto
    meter.does("comparing methods" if automatic else "looking at labels")
    chunks = source.chunks(max(1, CHUNK_BYTES // source.row_bytes), features=automatic)
    watch = TaskWatch()
    sample = sample_of(_watched(chunks, watch), COMPARED if automatic else LOOKED_AT)
    if sample is None:
        raise ValueError(f"There are no rows in {source.title}.")
    labels = sample.y.values
    _check_text(labels, columns)
    asked, kind = settle(
        wanted.parameters(), labels, source.head.shape[1], notes, columns.kind, watch.kind
    )
    if automatic:
        model, reason = choose(sample.X, labels, asked, kind)
        reason += f" (Compared on {sample.n_rows} rows.)"
    else:
        model, reason = build(wanted.method.value, asked), ""
    state = None if checkpoint is None else Checkpoint(checkpoint, model, source)
    meter.does("fitting")
    stream_into(model, source, memory, state, meter)
    return model, source, encoder, reason, notes, state


def _check_text(labels: Any, columns: o.ColumnOptions) -> None:
    """Rows that are read at once have their labels read as people write them."""
    notes = list[str]()
    texts: Any = np.atleast_2d(labels.T) if labels.dtype.kind in "OUT" else []
    for name, values in zip(columns.label or ["label"], texts, strict=False):
        column = require("pandas", extra="cli").Series(values, name=name, dtype=object)
        read = read_label(column, columns.na or (), notes)
        if notes or (read.isna() & column.notna()).any():
            raise ValueError(
                f"The label {name!r} has cells without a value, or numbers written as text, which "
                f"only rows that are read at once can have. {' '.join(notes)} Leave --memory and "
                "--checkpoint out and name one file, or write these cells as numbers or gaps."
            )


def _watched(chunks: Iterable[Chunk], watch: TaskWatch) -> Iterator[Chunk]:
    for chunk in chunks:
        watch.look(chunk.y.values)
        yield chunk


def _opened(data: Path, columns: o.ColumnOptions) -> tuple[Source, TableEncoder | None]:
    """The rows, and the encoder of their columns, fitted; None where columns have no names."""
    names = column_names(data)
    features = columns.features
    if columns.id is not None:
        columns = replace(columns, drop=[*(columns.drop or ()), columns.id])
    if names is not None and features:
        features = matching(features, names)
    if names is None:
        if columns.labels is None:
            raise ValueError("The labels are missing. Name their file with --labels.")
        if columns.label or features or columns.drop:
            raise ValueError(
                f"The columns of {data.name} have no names, so --label, --features and --drop "
                "cannot choose among them where rows are read in chunks."
            )
        return open_source(data, str(columns.labels)), None
    if columns.labels is not None:
        raise ValueError(
            "--labels is for rows without named columns; where columns are read in chunks, name "
            "one of them with --label."
        )
    label = label_names(names, columns)
    if columns.drop:
        if unknown := [name for name in columns.drop if name not in names]:
            raise ValueError(f"There is no column {unknown[0]!r} to drop. There are {some(names)}.")
        features = [n for n in features or names if n not in columns.drop and n not in label]
    encoder = TableEncoder(
        o.filling(columns.impute),
        na=tuple(columns.na or ()),
        keep=tuple(features or ()) if columns.features else (),
        text=columns.text,
    )
    return open_source(data, label[0] if len(label) == 1 else label, features, encoder), encoder
