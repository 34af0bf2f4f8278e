"""labelens embed and demo: from a file to an embedding, a model, a plot and a report."""

from __future__ import annotations

import platform
import shlex
import sys
import textwrap
import warnings
import webbrowser
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
from .._core.neighbours import nearest
from .._fit.task import Kind, Task
from .._judge.conformal import UNLIKE
from .._judge.permutation import permutation_report
from .._judge.stability import stability_report
from .._judge.trial import (
    FITTING,
    JUDGING,
    MOST_NEIGHBOURS,
    MOST_QUERIES,
    Scores,
    Trial,
    held_out,
    some_of,
    try_out,
)
from ..explorer.explored import changed_parameters
from ..persist import save
from ..plot.canvas import fit_height
from ..plot.canvas import shown as shown_name
from ..plot.reports import gamma_scores
from ..report import Contents, Label, write_report
from ..report.columns import embedding_frame
from ..report.contents import MOST_COLUMNS
from ..report.evidence import interpret, interval
from . import options as o
from .build import load, pick_map, pick_model, settle, stages
from .explain import column_shares
from .output import Bar, in_words, new_files, show, warnings_as

MOST_ROWS, FOLDS, FEATURES = 2000, 3, 256  # for the curve of gamma
MOST_PLOTS = 9
SCHEMA = 1  # of --json: increased when a key is removed or changes its meaning
WRITING, DRAWING, REPORTING = "writing", "drawing", "writing the report"
CHECKING, SHUFFLES, HALVES = "checking", 39, 10
FILES = {"model": "model.labelens", "picture": "embedding.png", "report": "report.html"}


def embed(
    columns: o.ColumnOptions,
    wanted: o.MethodOptions,
    data: o.Data = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("embedding"),
    test: Annotated[
        str | None, typer.Option(help="A file of rows to hold out, in place of a quarter.")
    ] = None,
    sql: o.Sql = None,
    transpose: o.Transpose = False,
    refit: Annotated[
        bool, typer.Option("--refit", help="Save a model of all rows, held-out rows too.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Fit other rows, seeds and shuffled labels; slow.")
    ] = False,
    format: Annotated[o.Format, typer.Option(help="Of the embedding.")] = o.Format.parquet,
    open: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Embed the rows of a file by their labels, and score the embedding on held-out rows.

    A quarter of the rows is held out. The report compares the accuracy with three baselines: raw
    columns, the most frequent class, and the same method on shuffled labels.

    \b
    labelens embed iris.csv --label species
    labelens embed digits.npz --label y --method kspca --shrinkage 0.01 --components 9
    """  # noqa: D301
    with in_words(quiet or json):
        if check and columns.groups is not None:
            raise ValueError(
                "--check needs independent rows, and --groups names dependent ones. Leave "
                "one of them out, or check a file with one row for each group."
            )
        embedding = f"embedding.{format.value}"
        last = [CHECKING] if check else []
        work = stages(wanted.method, FITTING, JUDGING, WRITING, DRAWING, REPORTING, *last)
        with (
            new_files(out, [embedding, *FILES.values()], force) as folder,
            tables.located(data, sql) as place,
            Bar(work, quiet or json) as bar,
        ):
            table = load(place, columns, bar, transpose=transpose)
            first = len(table.X)
            if test is not None:
                table = stacked(table, load(Path(test), columns, bar, table.encoder, transpose))
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
                model,
                table.X,
                y,
                wanted.seed,
                table.names,
                bar.at,
                kind=kind,
                test=apart,
                nuisance=table.nuisance,
            )
            labels = dict(zip(table.columns, [y] if y.ndim == 1 else y.T, strict=True))
            record = summary(place, table, reason, trial, labels, kind)
            bar.at(WRITING)
            frame = embedding_frame(table.shown.index, trial.fitted, trial.test, labels)
            tables.write(with_unlabelled(frame, table, trial.model), folder / embedding)
            model = trial.model
            if refit:
                model = table.fit(clone(model))
            record["model_rows"] = len(y) if refit else len(train)
            facts = in_short(record)
            with warnings_as(notes, folder):
                save(model, folder / FILES["model"], table=table.encoder)
            bar.at(DRAWING)
            draw(folder / FILES["picture"], trial, labels, record["method"])
            bar.at(REPORTING)
            page = contents(table, trial, labels, facts, notes)
            if check:
                bar.at(CHECKING)
                shares = column_shares(table, trial, HALVES, wanted.seed)
                page = replace(page, checks=checked(trial, table, wanted.seed), importances=shares)
            write_report(folder / FILES["report"], page)
        files = {"embedding": embedding, **FILES}
        record["files"] = {what: str(out / name) for what, name in files.items()}
        verdicts = {one["name"]: f"{one['grade']}. {one['verdict']}" for one in record["labels"]}
        facts["verdict"] = verdicts if len(verdicts) > 1 else record["labels"][0]["verdict"]
        written = {"written": str(out), "report": str(out / FILES["report"])}
        show(record if json else facts | written, json, quiet, notes)
        if open:
            webbrowser.open((out / FILES["report"]).absolute().as_uri())


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("labelens-demo"),
    force: o.Force = False,
) -> None:
    """Embed the bundled sonar returns: mines and rocks."""
    with as_file(files("labelens") / "datasets" / "data" / "sonar.csv") as path:
        columns = o.ColumnOptions(label=["class"])
        embed(columns, o.MethodOptions(), data=str(path), out=out, force=force)


def stacked(first: tables.Table, second: tables.Table) -> tables.Table:
    """The rows of two files, one after the other."""
    if first.columns.keys() != second.columns.keys():
        raise ValueError("The file of --test has other labels.")
    columns = {
        name: np.concatenate([values, second.columns[name]])
        for name, values in first.columns.items()
    }
    shown = require("pandas", extra="cli").concat([first.shown, second.shown])
    together = None
    if first.nuisance is not None and second.nuisance is not None:
        together = np.concatenate([first.nuisance, second.nuisance])
    return replace(
        first,
        X=np.concatenate([first.X, second.X]),
        labels=np.concatenate([first.labels, second.labels]),
        shown=shown,
        columns=columns,
        groups=None,
        nuisance=together,
    )


def with_unlabelled(frame: Any, table: tables.Table, model: Any) -> Any:
    """The embedding with the rows that have no label, which the model places too."""
    if (rest := table.unlabelled) is None or not len(rest.X):
        return frame
    placed = embedding_frame(rest.shown.index, model.transform(rest.frame))
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
    """The output of --json; docs/guides/cli.md defines the keys, which are stable."""

    def judged(name: str, values: NDArray[Any], scores: Scores) -> dict[str, Any]:
        facts, n = asdict(scores), int(trial.test.sum())
        verdict = interpret(facts, n)
        classes = None if trial.continuous else len(set(values.tolist()))
        told = {"interval": interval(facts, n), "grade": verdict.grade, "verdict": verdict.sentence}
        return {"name": name, "classes": classes, **facts, **told}

    return dict(
        schema=SCHEMA,
        data=data.name,
        rows=len(table.X),
        features=len(table.names),
        task=kind,
        method=type(trial.model).__name__,
        parameters=changed_parameters(trial.model),
        why=reason or None,
        fit_seconds=trial.fit_seconds,
        held_out_rows=int(trial.test.sum()),
        scores_of_a_sample=trial.sampled,
        labels=[
            judged(name, values, judgement.scores)
            for (name, values), judgement in zip(columns.items(), trial.each, strict=True)
        ],
        nuisance=None if table.nuisance is None else of_nuisance(trial, table.nuisance),
    )


def of_nuisance(trial: Trial, nuisance: NDArray[Any]) -> dict[str, float]:
    """How well the 15 nearest fitted rows predict the nuisance of held-out rows."""
    values, draw = nuisance.reshape(len(nuisance), -1).astype(str), np.random.default_rng(0)
    codes = np.unique(values, axis=0, return_inverse=True)[1].ravel()
    known = some_of(np.flatnonzero(~trial.test), MOST_NEIGHBOURS, draw)
    asked = some_of(np.flatnonzero(trial.test), MOST_QUERIES, draw)
    # Not trial.Z, which has the places of some training rows only, by other models.
    near = nearest(trial.fitted[known], trial.fitted[asked], min(15, len(known)))
    said = [np.bincount(codes[known][some]).argmax() for some in near]
    majority = np.mean(codes[asked] == np.bincount(codes[known]).argmax())
    return {"accuracy": float(np.mean(said == codes[asked])), "majority": float(majority)}


def in_short(record: dict[str, Any]) -> dict[str, Any]:
    """The same for people."""
    names = ("data", "rows", "features", "task", "method", "parameters", "why", "fit_seconds")
    facts = {name: record[name] for name in names if record[name] is not None}
    several = len(record["labels"]) > 1
    for one in record["labels"]:
        lines = {} if one["classes"] is None else {"classes": one["classes"]}
        dots = "" if several else "... "
        lines |= {
            f"held-out {one['metric']}": one["heldout"],
            f"{dots}of the raw columns": one["raw"],
            f"{dots}of the fitted rows": one["train"],
        }
        if one["majority"] is not None:
            lines[f"{dots}of the largest class"] = one["majority"]
        lines[f"{dots}with shuffled labels"] = one["shuffled"]
        facts |= {f"label {one['name']}": lines} if several else lines
    if record["nuisance"] is not None:
        facts["held-out 15-NN accuracy of the nuisance"] = record["nuisance"]["accuracy"]
        facts["... of its largest class"] = record["nuisance"]["majority"]
    if record["scores_of_a_sample"]:
        facts["note"] = "scores are of a sample of the rows"
    return facts | {"model_rows": f"{record['model_rows']} of {record['rows']}"}


def contents(
    table: tables.Table,
    trial: Trial,
    columns: dict[str, NDArray[Any]],
    facts: dict[str, Any],
    notes: list[str],
) -> Contents:
    """The contents of the report."""
    judged = zip(columns.items(), trial.each, strict=True)
    hover = {name: table.shown[name].tolist() for name in table.shown.columns}
    if hasattr(trial.model, "conformity"):
        conformity = np.full(len(trial.test), np.nan)  # which training rows do not have
        conformity[trial.test] = trial.model.conformity(table.frame[trial.test])
        hover = dict(list(hover.items())[: MOST_COLUMNS - 1]) | {"conformity": conformity}
        unlike = int((conformity < UNLIKE).sum())
        unlike_rows = (
            f"Held-out rows unlike the training rows (conformity below {UNLIKE:g}): {unlike:,} of "
            f"{int(trial.test.sum()):,}; 1 in 100 is expected. Their places mean little."
        )
        notes = [*notes, unlike_rows]
    return Contents(
        title=f"{facts['data']}: {', '.join(columns)}",
        command=shlex.join(["labelens", *sys.argv[1:]]),
        about={**facts, **versions()},
        Z=trial.Z,
        control=trial.control,
        test=trial.test,
        labels={
            name: Label(values, asdict(one.scores), one.confusion) for (name, values), one in judged
        },
        continuous=trial.continuous,
        hover=hover,
        model=trial.model,
        gamma_curve=gamma_curve(table, trial),
        importances=column_shares(table, trial),
        notes=notes,
    )


def checked(trial: Trial, table: tables.Table, seed: int) -> dict[str, Any]:
    """The checks with other rows, other seeds and shuffled labels."""
    about = clone(trial.model), table.frame, table.labels
    same: dict[str, Any] = {"nuisance": table.nuisance, "random_state": seed}
    shuffled = permutation_report(*about, n_permutations=SHUFFLES, max_rows=MOST_ROWS, **same)
    moved = stability_report(*about, n_resamples=HALVES, **same)
    return {"Shuffled labels": shuffled, "Other rows and seeds": moved}


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
    kind: Kind = "numbers" if trial.continuous else "classes"
    task = Task(table.X, labels, kind, nuisance=table.nuisance).only(train)
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
    drawn = np.isfinite(trial.Z).all(axis=1)  # the rows that a model placed without their labels
    for ax, (name, values), judgement in zip(places, shown, trial.each, strict=False):
        kind: Kind = "numbers" if trial.continuous else "classes"
        plot.scatter(trial.Z[drawn], values[drawn], ax=ax, test=trial.test[drawn], task=kind)
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
    if trial.Z.shape[1] > 1:
        fit_height(places[0], 5.6, down, 1.3)
    if len(columns) > len(shown):
        figure.suptitle(f"The first {len(shown)} of {len(columns)} labels")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(path, dpi=150, bbox_inches="tight")


def versions() -> dict[str, str]:
    return {
        "labelens": __version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
