"""labelens explore: the page, until it is stopped."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer

from ..explorer.explored import bundled, from_file
from ..explorer.opening import link_file
from ..explorer.server import Explorer
from ..explorer.sessions import Sessions, session_of
from ..tables import located
from . import options as o
from .build import READING, check_labels, label_names, read
from .output import Bar, in_words, messages


def explore(
    columns: o.ColumnOptions,
    data: Annotated[
        str | None,
        typer.Argument(help="As for embed; the bundled data sets if none is named."),
    ] = None,
    sql: o.Sql = None,
    transpose: o.Transpose = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Look at embeddings live: move a slider, and watch the points glide.

    Serves a page to this machine only, under a link with a random token, until Ctrl-C. Without
    data it shows the data sets that come with the package.

    \b
    labelens explore iris.csv --label species
    labelens explore people.parquet --label age --label city
    """  # noqa: D301
    with in_words(stopped="the page is served no more"):
        if data is not None or sql is not None:
            with located(data, sql) as place:
                sessions = _opened(place, columns, transpose)
        elif columns != o.ColumnOptions():
            raise ValueError("These options choose columns of a file; name the file first.")
        else:
            sessions = Sessions(bundled())
        explorer = Explorer(sessions, port=port)
        typer.echo(f"Exploring at {explorer.url}")
        messages.print("Press Ctrl-C to stop.", markup=False)
        if browser:
            _run_and_show(explorer)
        else:
            explorer.run()


def _run_and_show(explorer: Explorer) -> None:
    with link_file(explorer.url) as link:
        opening = Timer(0.5, webbrowser.open, [link])
        opening.start()
        try:
            explorer.run()
        finally:
            opening.cancel()


def _opened(data: Path, columns: o.ColumnOptions, transpose: bool) -> Sessions:
    """A file, read, checked and split."""
    for name in ("task", "groups", "text", "na"):
        if getattr(columns, name):
            raise ValueError(f"--{name} is not for explore; `labelens embed` takes it.")
    with Bar([READING]) as bar:
        frame = read(data, columns, bar, transpose)
    material = from_file(
        frame,
        data,
        label_names(list(frame.columns), columns),
        None if columns.labels is None else Path(columns.labels),
        columns.features,
        columns.drop,
        columns.impute.value,
    )
    for name, values in material.labels.items():
        check_labels(values, repr(name))
    for note in material.notes:
        messages.print(note, markup=False)
    return session_of(material)
