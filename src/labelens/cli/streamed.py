"""Commands on data that need not fit in memory."""

from __future__ import annotations

from glob import has_magic
from pathlib import Path
from time import monotonic
from typing import Any, Self

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from .._base.validation import some
from .._engines.sources import Chunk, Source, column_names, open_source
from .._fit.first_pass import sample_of
from .._out_of_core.checkpoint import Checkpoint
from .._out_of_core.fitting import stream_into
from .._out_of_core.plan import CHUNK_BYTES
from . import options as o
from .build import build, choose, label_names, settle
from .output import messages

# Rows that methods are compared on, and labels that are looked at.
COMPARED, LOOKED_AT = 4096, 16384


def is_streamed(data: Path, *options: Any) -> bool:
    """Whether the data is several files, or one of the options that only streams have is given."""
    several = has_magic(str(data)) and not data.exists()
    return several or any(option is not None for option in options)


def fit_streamed(
    data: Path,
    columns: o.ColumnOptions,
    wanted: o.MethodOptions,
    memory: str | None,
    checkpoint: Path | None,
    meter: Meter,
) -> tuple[Any, Source, str, list[str], Checkpoint | None]:
    """A model, what it was fitted on, why this one, notes, and the checkpoint to remove."""
    if columns.impute is not None:
        raise ValueError("--impute needs all rows at once; fill the gaps in the files first.")
    source = _opened(data, columns)
    notes: list[str] = []
    automatic = wanted.method == o.Method.auto
    meter.does("comparing methods" if automatic else "looking at labels")
    some = _sample(source, COMPARED if automatic else LOOKED_AT, features=automatic)
    labels = some.y.values
    asked = settle(wanted.parameters(), labels, source.head.shape[1], notes)
    if automatic:
        model, reason = choose(some.X, labels, asked)
        reason += f" (Compared on {some.n_rows} rows.)"
    else:
        model, reason = build(wanted.method.value, asked), ""
    state = None if checkpoint is None else Checkpoint(checkpoint, model, source)
    meter.does("fitting")
    stream_into(model, source, memory, state, meter)
    return model, source, reason, notes, state


def _opened(data: Path, columns: o.ColumnOptions) -> Source:
    names, features = column_names(data), columns.features
    if names is None:
        if columns.labels is None:
            raise ValueError("Which labels belong to these rows? Name their file with --labels.")
        if columns.label or features or columns.drop:
            raise ValueError(
                f"The columns of {data.name} have no names, so --label, --features and --drop "
                "cannot choose among them where rows are read in pieces."
            )
        return open_source(data, str(columns.labels))
    if columns.labels is not None:
        raise ValueError(
            "--labels is for rows without named columns; where columns are read in pieces, name "
            "one of them with --label."
        )
    label = label_names(names, columns)
    if columns.drop:
        if unknown := [name for name in columns.drop if name not in names]:
            raise ValueError(f"There is no column {unknown[0]!r} to drop. There are {some(names)}.")
        features = [n for n in features or names if n not in columns.drop and n not in label]
    return open_source(data, label[0] if len(label) == 1 else label, features)


def _sample(source: Source, size: int, features: bool) -> Chunk:
    rows = max(1, CHUNK_BYTES // source.row_bytes)
    sample = sample_of(source.chunks(rows, features=features), size)
    if sample is None:
        raise ValueError(f"There are no rows in {source.called}.")
    return sample


class Meter:
    """Rows, GB/s and the time that is left, if anyone looks."""

    def __init__(self, quiet: bool) -> None:
        self._line = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=messages,
            transient=True,
            redirect_stdout=False,
            disable=quiet or not messages.is_terminal,
        )
        self._task = self._line.add_task("", total=None, speed="")
        self._begun: tuple[float, int] | None = None  # when, and with how many bytes done

    def __enter__(self) -> Self:
        self._line.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._line.stop()

    def does(self, what: str) -> None:
        self._line.update(self._task, description=what)

    def __call__(self, rows: int, total: int | None, count: int) -> None:
        now = monotonic()
        self._begun = self._begun or (now, count)
        seconds = now - self._begun[0]
        speed = f"{(count - self._begun[1]) / seconds / 1e9:.2f} GB/s" if seconds > 0 else ""
        self._line.update(
            self._task, completed=rows, total=total, speed=f"{rows:,} rows {speed}".rstrip()
        )
