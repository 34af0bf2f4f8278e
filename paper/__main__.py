"""python -m paper: the experiments of the paper, from data to a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from labelens import __version__
from labelens.cli.output import Bar, in_words, messages
from paper.lab import Lab, Task
from paper.reproduce import EXPERIMENTS
from paper.reproduce import reproduce as run

app = typer.Typer(pretty_exceptions_enable=False)


@app.command()
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

    def progress(tasks: list[Task]) -> Iterator[Task]:
        bar.stages = [*(task.name for task in tasks), "drawing"]
        for task in tasks:
            bar.at(task.name)
            yield task
        bar.at("drawing")

    if data is not None and not data.is_dir():
        raise typer.BadParameter(f"There is no folder {data}.", param_hint="--data")
    stopped = f"the same command goes on from here, and finished runs are in {out}"
    with in_words(stopped=stopped), Bar(["reading"]) as bar:
        notes = run(out, Lab(seed, quick, data), __version__, only or (), progress)
    for note in notes:
        messages.print(f"[yellow]Note:[/] {escape(note)}")
    typer.echo(out / "report.html")


if __name__ == "__main__":
    app()
