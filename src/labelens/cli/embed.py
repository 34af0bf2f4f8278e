"""labelens embed and demo: from a file to an embedding, a model, a plot and a report."""

from __future__ import annotations

import platform
import shlex
import sys
import textwrap
import warnings
from collections import Counter
from dataclasses import asdict, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import sklearn
import typer
from numpy.typing import NDArray
from sklearn.base import clone

from .. import __version__, plot, tables
from .._base.optional import require
from .._fit.task import Kind, Task
from .._judge.trial import FITTING, JUDGING, Scores, Trial, held_out, try_out
from ..explorer.explored import changed_parameters
from ..persist import save
from ..plot.canvas import shown as shown_name
from ..plot.reports import gamma_scores
from ..report import Contents, Label, write_report
from ..report.columns import embedding_frame
from . import options as o
from .build import load, pick_map, pick_model, settle, stages
from .output import Bar, in_words, new_files, show, warnings_as

MOST_ROWS, FOLDS, FEATURES = 2000, 3, 256  # for the curve of gamma
MOST_PLOTS = 9
WRITING, DRAWING, REPORTING = "writing", "drawing", "writing the report"
FILES = {"model": "model.labelens", "picture": "embedding.png", "report": "report.html"}


def embed(
    data: o.Data,
    columns: o.ColumnOptions,
    wanted: o.MethodOptions,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("embedding"),
    test: Annotated[
        Path | None, typer.Option(help="A file of rows to hold out, in place of a quarter.")
    ] = None,
    refit: Annotated[
        bool, typer.Option("--refit", help="Save a model of all rows, held-out rows too.")
    ] = False,
    format: Annotated[o.Format, typer.Option(help="Of the embedding.")] = o.Format.parquet,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Embed the rows of a file by their labels, and say honestly how good it is.

    A quarter of the rows is held out. The report compares the accuracy with three baselines: raw
    columns, the most frequent class, and the same method on shuffled labels.

    \b
    labelens embed iris.csv --label species
    labelens embed digits.npz --label y --method kspca --shrinkage 0.01 --components 9
    """  # noqa: D301
    with in_words(quiet or json):
        embedding = f"embedding.{format.value}"
        work = stages(wanted.method, FITTING, JUDGING, WRITING, DRAWING, REPORTING)
        with (
            new_files(out, [embedding, *FILES.values()], force) as folder,
            Bar(work, quiet or json) as bar,
        ):
            table = load(data, columns, bar)
            first = len(table.X)
            if test is not None:
                table = stacked(table, load(test, columns, bar, table.encoder))
            notes = list(table.notes)
            y, settled = table.labels, list[str]()
            asked, kind = settle(wanted.parameters(), y, len(table.names), settled, columns.kind)
            if test is not None:
                apart = np.arange(len(y)) >= first
            else:
                apart = held_out(y, len(y), wanted.seed, kind, table.groups)
            train = np.flatnonzero(~apart)
            chosen = pick_map(wanted, table, bar, kind, train)
            if chosen is None:
                notes += settled
                chosen = pick_model(wanted.method, table, asked, bar, kind, train)
            model, reason = chosen
            trial = try_out(
                model, table.X, y, wanted.seed, table.names, bar.at, kind=kind, test=apart
            )
            labels = dict(zip(table.columns, [y] if y.ndim == 1 else y.T, strict=True))
            facts = summary(data, table, reason, trial, labels, kind)
            bar.at(WRITING)
            frame = embedding_frame(table.shown.index, trial.Z, trial.test, labels)
            tables.write(with_unlabelled(frame, table, trial.model), folder / embedding)
            model = trial.model
            if refit:
                model = clone(model).fit(pandas_frame(table), y)
            facts["model_rows"] = f"{len(y) if refit else len(train)} of {len(y)}"
            with warnings_as(notes, folder):
                save(model, folder / FILES["model"], table=table.encoder)
            bar.at(DRAWING)
            draw(folder / FILES["picture"], trial, labels, facts["method"])
            bar.at(REPORTING)
            write_report(folder / FILES["report"], contents(table, trial, labels, facts, notes))
        show(facts | {"written": str(out)}, json, quiet, notes)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("labelens-demo"),
    force: o.Force = False,
) -> None:
    """Embed the bundled sonar returns: mines and rocks."""
    with as_file(files("labelens") / "datasets" / "data" / "sonar.csv") as path:
        embed(path, o.ColumnOptions(label=["class"]), o.MethodOptions(), out=out, force=force)


def stacked(first: tables.Table, second: tables.Table) -> tables.Table:
    """The rows of two files, one after the other."""
    if first.columns.keys() != second.columns.keys():
        raise ValueError("The file of --test has other labels.")
    columns = {
        name: np.concatenate([values, second.columns[name]])
        for name, values in first.columns.items()
    }
    shown = require("pandas", extra="cli").concat([first.shown, second.shown])
    return replace(
        first,
        X=np.concatenate([first.X, second.X]),
        labels=np.concatenate([first.labels, second.labels]),
        shown=shown,
        columns=columns,
        groups=None,
    )


def pandas_frame(table: tables.Table) -> Any:
    return require("pandas", extra="cli").DataFrame(table.X, columns=table.names)


def with_unlabelled(frame: Any, table: tables.Table, model: Any) -> Any:
    """The embedding with the rows that have no label, which the model places too."""
    if (rest := table.unlabelled) is None or not len(rest.X):
        return frame
    placed = embedding_frame(rest.shown.index, model.transform(pandas_frame(rest)))
    placed.insert(1, "part", "unlabelled")
    return require("pandas", extra="cli").concat([frame, placed], ignore_index=True)


def summary(
    data: Path,
    table: tables.Table,
    reason: str,
    trial: Trial,
    columns: dict[str, NDArray[Any]],
    kind: Kind,
) -> dict[str, Any]:
    """What is printed."""
    facts: dict[str, Any] = dict(data=data.name, rows=len(table.X), features=len(table.names))
    facts["task"] = kind
    classes = [{"classes": len(set(values.tolist()))} for values in columns.values()]
    several = len(columns) > 1
    if not trial.continuous and not several:
        facts |= classes[0]
    facts |= {"method": type(trial.model).__name__, "parameters": changed_parameters(trial.model)}
    if reason:
        facts["why"] = reason
    facts["fit_seconds"] = trial.fit_seconds
    for name, count, judgement in zip(columns, classes, trial.each, strict=True):
        lines = in_short(judgement.scores)
        if several:
            lines = {name.removeprefix("... "): value for name, value in lines.items()}
            lines = {f"label {name}": lines if trial.continuous else count | lines}
        facts |= lines
    if trial.sampled:
        facts["note"] = "scores are of a sample of the rows"
    return facts


def in_short(scores: Scores) -> dict[str, Any]:
    told = {
        f"held-out {scores.metric}": scores.heldout,
        "... of the raw columns": scores.raw,
        "... of the fitted rows": scores.train,
    }
    if scores.majority is not None:
        told["... of the commonest class"] = scores.majority
    return told | {"... with shuffled labels": scores.shuffled}


def contents(
    table: tables.Table,
    trial: Trial,
    columns: dict[str, NDArray[Any]],
    facts: dict[str, Any],
    notes: list[str],
) -> Contents:
    """What the report shows."""
    judged = zip(columns.items(), trial.each, strict=True)
    return Contents(
        title=f"{facts['data']}: {', '.join(columns)}",
        command=shlex.join(["labelens", *sys.argv[1:]]),
        about={**facts, **versions()},
        Z=trial.Z,
        test=trial.test,
        labels={
            name: Label(values, asdict(one.scores), one.confusion) for (name, values), one in judged
        },
        continuous=trial.continuous,
        hover={name: table.shown[name].tolist() for name in table.shown.columns},
        model=trial.model,
        gamma_curve=gamma_curve(table, trial),
        notes=notes,
    )


def gamma_curve(table: tables.Table, trial: Trial) -> dict[str, Any] | None:
    """Scores of several gammas, on some of the training rows; None without a kernel."""
    labels, train = table.labels, np.flatnonzero(~trial.test)[:MOST_ROWS]
    if "gamma" not in trial.model.get_params() or labels.ndim > 1:
        return None
    if not trial.continuous and min(Counter(labels[train].tolist()).values()) < FOLDS:
        return None
    model = clone(trial.model)
    if model.approximation != "exact":
        model.set_params(n_random_features=min(model.n_random_features, FEATURES))
    task = Task(table.X[train], labels[train], "numbers" if trial.continuous else "classes")
    gammas, scores = gamma_scores(task, model, None, FOLDS, 0)
    mean = scores.mean(axis=2)
    return dict(gammas=gammas, mean=mean[0], std=scores[0].std(axis=1), shuffled_mean=mean[1])


def draw(path: Path, trial: Trial, columns: dict[str, NDArray[Any]], method: str) -> None:
    """A scatter plot for every label, side by side; the first of very many."""
    module = require("matplotlib.figure", extra="cli")
    shown = list(columns.items())[:MOST_PLOTS]
    across = min(len(shown), 3)
    down = -(-len(shown) // across)
    figure = module.Figure(figsize=(7 * across, 6 * down), layout="constrained")
    places = figure.subplots(down, across, squeeze=False).ravel()
    for ax in places[len(shown) :]:
        ax.remove()
    for ax, (name, values), judgement in zip(places, shown, trial.each, strict=False):
        kind: Kind = "numbers" if trial.continuous else "classes"
        plot.scatter(trial.Z, values, ax=ax, test=trial.test, task=kind)
        scores = judgement.scores
        title = (
            f"{method if len(columns) == 1 else shown_name(name)}: held-out {scores.metric} "
            f"{scores.heldout:z.3f}, shuffled {scores.shuffled:z.3f}"
        )
        # The small print comes below it: side by side they would not fit.
        lines = [title, ax.get_title(loc="right")]
        ax.set_title("", loc="right")
        text = "\n".join(line for part in lines for line in textwrap.wrap(part, 60))
        ax.set_title(text, loc="left", size=11, parse_math=False)
    if len(columns) > len(shown):
        figure.suptitle(f"The first {len(shown)} of {len(columns)} labels")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(path, dpi=150)


def versions() -> dict[str, str]:
    return {
        "labelens": __version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
