"""What all commands share: messages, exit codes, and files that appear whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

messages = Console(stderr=True, highlight=False, soft_wrap=True)


@contextmanager
def in_words() -> Iterator[None]:
    """Errors of users and files as a sentence and exit code 1; Ctrl-C as 130."""
    try:
        yield
    except KeyboardInterrupt:
        messages.print("Stopped; nothing was written.")
        raise typer.Exit(130) from None
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        messages.print(f"[bold red]Error:[/] {escape(str(error))}")
        raise typer.Exit(1) from None


@contextmanager
def step(what: str, quiet: bool) -> Iterator[None]:
    """A spinner while something is done, if anyone looks."""
    if quiet or not messages.is_terminal:
        yield
        return
    with messages.status(what):
        yield


@contextmanager
def new_files(folder: Path, names: list[str], force: bool) -> Iterator[Path]:
    """A folder to write into; its files move to `folder` together when all are written."""
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise FileExistsError(
            f"{folder} already holds {', '.join(there)}; choose another --out, or --force."
        )
    ours = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = Path(mkdtemp(prefix=".unfinished-", dir=folder))
    try:
        yield unfinished
        for name in names:
            if (unfinished / name).exists():
                os.replace(unfinished / name, folder / name)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        if ours and not any(folder.iterdir()):
            folder.rmdir()


@contextmanager
def new_file(path: Path, force: bool) -> Iterator[Path]:
    """The same for one file."""
    with new_files(path.parent, [path.name], force) as folder:
        yield folder / path.name


def show(facts: dict[str, Any], as_json: bool, quiet: bool, notes: Sequence[str] = ()) -> None:
    """Facts as a table for people, after what they should know; or as JSON for machines."""
    if as_json:
        sys.stdout.write(json.dumps(facts, indent=1, default=str) + "\n")
        return
    if quiet:
        return
    for note in notes:
        messages.print(note, markup=False)
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in facts.items():
        table.add_row(f"[bold]{escape(name.replace('_', ' '))}", escape(_shown(value)))
    Console(highlight=False).print(table)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{name}={_shown(part)}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        some = ", ".join(map(_shown, value[:12]))
        return some + (f", ... ({len(value)} in all)" if len(value) > 12 else "")
    return str(value)
