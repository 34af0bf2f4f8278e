"""labelens reproduce: the paper's experiments, from data to a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .. import __version__
from ..experiments.lab import Lab, Task
from ..experiments.reproduce import EXPERIMENTS
from ..experiments.reproduce import reproduce as run


def reproduce(
    out: Annotated[Path, typer.Option(help="Folder for tables, figures and report.html.")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs: minutes in all.")] = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder with MNIST's four files, or with mnist/ in it.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help=f"An experiment, may be repeated: {', '.join(EXPERIMENTS)}."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")] = 0,
) -> None:
    """Run the paper's experiments and say what holds. Interrupted, it resumes."""
    console = Console(stderr=True)

    def progress(tasks: list[Task]) -> Iterator[Task]:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console) as bar:
            shown = bar.add_task("starting", total=len(tasks))
            for task in tasks:
                bar.update(shown, description=task.name)
                yield task
                bar.advance(shown)
            bar.update(shown, description="drawing")

    if data is not None and not data.is_dir():
        raise typer.BadParameter(f"There is no folder {data}.", param_hint="--data")
    try:
        notes = run(out, Lab(seed, quick, data), __version__, only or (), progress)
    except KeyboardInterrupt:
        console.print(f"Stopped. The same command goes on from here; finished runs are in {out}.")
        raise typer.Exit(130) from None
    except (ValueError, OSError, ModuleNotFoundError) as error:
        console.print(f"[bold red]Error:[/] {error}", highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None
    for note in notes:
        console.print(f"[yellow]Note:[/] {note}", highlight=False, soft_wrap=True)
    typer.echo(out / "report.html")
