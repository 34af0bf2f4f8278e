"""Common parts of the commands: messages, exit codes, and atomic files."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from signal import SIG_IGN
from threading import Timer
from time import monotonic
from typing import Any, Self

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from .._base.files import uninterrupted
from . import asked, listen, tidily

messages = Console(stderr=True, highlight=False, soft_wrap=True)
PATIENCE = 1.0  # seconds before a bar is shown
# Errors of users and files; other errors are bugs, and show a traceback.
TOLD = (ValueError, TypeError, OSError, ModuleNotFoundError, MemoryError)
written: list[str] = []  # what is there for good, whatever happens now


@contextmanager
def in_words(quiet: bool = False, stopped: str = "nothing was written") -> Iterator[None]:
    """Errors of users and files as a sentence and exit code 1; Ctrl-C as 130, `kill` as 143.

    Warnings are sentences too, each said once, and not at all where nothing but errors is wanted.
    """
    said: set[str] = set()
    written.clear()

    def say(warning: Warning | str, *_: Any, **__: Any) -> None:
        if not quiet and str(warning) not in said:
            messages.print(visible(str(warning)), markup=False)
            said.add(str(warning))

    try:
        listen(tidily)
        with warnings.catch_warnings():
            warnings.showwarning = say  # type: ignore[assignment]
            yield
        listen(SIG_IGN)  # it is done
    except (KeyboardInterrupt, Exception) as error:
        listen(SIG_IGN)
        # A module that is being imported may turn a signal into an ImportError.
        if isinstance(error, KeyboardInterrupt) or asked:
            done = f"{', '.join(written)} was written before" if written else stopped
            messages.print(f"Stopped; {visible(done)}.", markup=False)
            raise typer.Exit(128 + asked[0] if asked else 130) from None
        if isinstance(error, TOLD):
            messages.print(f"[bold red]Error:[/] {escape(visible(_told(error)))}")
            raise typer.Exit(1) from None
        raise


def visible(text: str) -> str:
    """Without what a terminal would obey, or a reader could not see: escapes, odd spaces, lines."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _told(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "There is not enough memory; try fewer rows or columns, or --method srp."
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}."
    return str(error)


class Bar:
    """The current stage, on a terminal and after more than a second.

    The duration of a single stage is unknown, so the bar only moves back and forth.
    """

    def __init__(self, stages: Sequence[str], quiet: bool = False) -> None:
        self.stages = list(stages)
        look = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        # The output of the command goes to standard output, the bar does not.
        self._line = Progress(*look, console=messages, transient=True, redirect_stdout=False)
        self._task = self._line.add_task("", total=None)
        self._watched = not quiet and messages.is_terminal
        self._later = Timer(PATIENCE, self._line.start)
        self._later.daemon = True

    def __enter__(self) -> Self:
        self.at(self.stages[0])
        if self._watched:
            self._later.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._watched:
            self._later.cancel()
            self._later.join()  # it may be starting the bar right now
            self._line.stop()

    def at(self, stage: str, share: float = 0.0) -> None:
        """Now at this share of this stage."""
        place, total = self.stages.index(stage), len(self.stages)
        shown = f"{stage} ({place + 1} of {total})" if total > 1 else stage
        known = float(total) if total > 1 else None
        self._line.update(self._task, description=shown, completed=place + share, total=known)


class Meter:
    """Rows, GB/s and the remaining time, on a terminal."""

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


@contextmanager
def new_files(folder: Path, names: list[str], force: bool) -> Iterator[Path]:
    """A folder to write into; its files move to `folder` together when all are written."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, and a folder is wanted; choose another --out.")
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise FileExistsError(
            f"{folder} already holds {', '.join(there)}; choose another --out, or --force."
        )
    ours = not folder.exists()
    # Named before it exists, so that an interrupt at any moment finds it.
    unfinished = folder / f".unfinished-{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        unfinished.mkdir(mode=0o700)
        yield unfinished
        with uninterrupted():
            for name in names:
                if (unfinished / name).exists():
                    os.replace(unfinished / name, folder / name)
                    written.append(name)
    finally:
        with uninterrupted():
            shutil.rmtree(unfinished, ignore_errors=True)
            if ours and folder.exists() and not any(folder.iterdir()):
                folder.rmdir()


@contextmanager
def new_file(path: Path, force: bool) -> Iterator[Path]:
    """The same for one file."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, and a file is wanted; choose another --out.")
    with new_files(path.parent, [path.name], force) as folder:
        yield folder / path.name


def show(facts: dict[str, Any], as_json: bool, quiet: bool, notes: Sequence[str] = ()) -> None:
    """Facts as a table for people, after what they should know; or as JSON for machines."""
    if as_json:
        typer.echo(json.dumps(facts | {"notes": list(notes)}, indent=1, default=str))
        return
    if quiet:
        return
    for note in notes:
        messages.print(visible(note), markup=False)
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in facts.items():
        heading = visible(name.replace("_", " "))
        table.add_row(f"[bold]{escape(heading)}", escape(_shown(value)))
    Console(highlight=False).print(table)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{name}={_shown(part)}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        some = ", ".join(map(_shown, value[:12]))
        return some + (f", ... ({len(value)} in all)" if len(value) > 12 else "")
    if hasattr(value, "get_params"):
        value = " ".join(str(value).split())  # scikit-learn breaks long ones into lines
    return visible(str(value))


@contextmanager
def warnings_as(notes: list[str], folder: Path) -> Iterator[None]:
    """Add warnings to the notes, which are shown last, with names of files in the folder."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    notes += [str(one.message).replace(f"{folder}{os.sep}", "") for one in caught]
