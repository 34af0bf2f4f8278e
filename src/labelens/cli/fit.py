"""labelens fit: a model from all rows of a file."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from .._optional import require
from ..persist import save
from ..trial import FITTING
from . import options as o
from .build import as_number, load, pick_model, settle, stages
from .output import Bar, in_words, new_file, show


def fit(
    data: o.Data,
    out: Annotated[Path, typer.Option(help="The model file.")] = Path("model.labelens"),
    label: o.Label = None,
    labels: o.Labels = None,
    features: o.Features = None,
    drop: o.Drop = None,
    impute: o.Filling = None,
    method: o.Methods = o.Method.auto,
    components: o.Components = None,
    kernel: o.Kernel = None,
    gamma: o.Gamma = None,
    target_weight: o.TargetWeight = None,
    shrinkage: o.Shrinkage = None,
    label_kernel: o.Alike = None,
    class_weight: o.Weighing = None,
    scale: o.Scaling = o.Scale.standard,
    seed: o.Seed = 0,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Fit a model on all rows and keep it; `labelens transform` embeds new rows with it.

    \b
    labelens fit train.parquet --label species --out species.labelens
    """  # noqa: D301
    with in_words(quiet or json):
        asked = dict(
            n_components=components,
            kernel=kernel,
            gamma=as_number("gamma", gamma, "scale", "median", "auto"),
            target_weight=target_weight,
            shrinkage=as_number("shrinkage", shrinkage, "auto"),
            label_kernel=label_kernel and label_kernel.value,
            class_weight=class_weight and class_weight.value,
            random_state=seed,
            scale=scale.value,
        )
        work = stages(method, FITTING)
        with new_file(out, force) as path, Bar(work, quiet or json) as bar:
            table = load(data, label, labels, features, drop, impute, bar)
            notes = list(table.notes)
            asked = settle(asked, table.labels, len(table.names), notes)
            model, reason = pick_model(method, table, asked, seed, bar)
            bar.at(FITTING)
            rows = require("pandas", extra="cli").DataFrame(table.X, columns=table.names)
            start = perf_counter()
            model.fit(rows, table.labels)
            seconds = perf_counter() - start
            save(model, path)
        facts = {
            "data": data.name,
            "rows": len(table.X),
            "features": len(table.names),
            "method": type(model).__name__,
        }
        if reason:
            facts["why"] = reason
        show(facts | {"fit_seconds": seconds, "written": str(out)}, json, quiet, notes)
