"""labelens transform: new rows through a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import tables
from .._optional import require
from ..persist import load
from . import options as o
from .build import READING
from .output import Bar, in_words, new_file, show


def transform(
    model: o.Model,
    data: o.Data,
    out: Annotated[Path, typer.Option(help="The embedding, .parquet or .csv.")],
    impute: o.Filling = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Embed the rows of a file with a model that was fitted before.

    \b
    labelens transform species.labelens new.parquet --out new-embedding.parquet
    """  # noqa: D301
    with in_words(quiet or json):
        if out.suffix not in (".parquet", ".csv"):
            raise ValueError(f"--out must end in .parquet or .csv, got {out.name!r}.")
        work = [READING, "embedding", "writing"]
        with new_file(out, force) as path, Bar(work, quiet or json) as bar:
            estimator = load(model)
            frame = tables.read(data, told=lambda share: bar.at(READING, share))
            bar.at("embedding")
            filling = None if impute is None else impute.value
            names = getattr(estimator, "feature_names_in_", None)
            if names is None:
                names = [f"x{i}" for i in range(estimator.n_features_in_)]
                table = tables.align(frame, names, filling)
                Z = estimator.transform(table.X)
            else:
                table = tables.align(frame, list(names), filling)
                rows = require("pandas", extra="cli").DataFrame(table.X, columns=table.names)
                Z = estimator.transform(rows)
            bar.at("writing")
            written = table.shown[[]].reset_index(names="row")
            for j in range(Z.shape[1]):
                written[f"z{j + 1}"] = Z[:, j]
            tables.write(written, path)
        facts = {"model": model.name, "data": data.name, "rows": len(Z)}
        show(facts | {"components": Z.shape[1], "written": str(out)}, json, quiet, table.notes)
