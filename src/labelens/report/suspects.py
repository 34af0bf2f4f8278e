"""A page of suspicious labels: each row next to its nearest neighbours of both classes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._base.files import replaced
from .._base.page import facts, paragraph, table
from .colouring import page_colours
from .columns import as_text
from .contents import MOST_COLUMNS

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN, NEIGHBOURS, LONGEST = 50, 3, 60
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write_suspects(
    path: str | os.PathLike[str],
    title: str,
    about: Mapping[str, Any],
    issues: DataFrame,
    rows: NDArray[Any],
    shown: DataFrame,
) -> None:
    """Write one HTML file without scripts; text of the data is shown as text.

    Parameters
    ----------
    path : path of the file, replaced whole or not at all
    title, about : what the page says of the run
    issues : pandas.DataFrame
        As `label_issues` returns it.
    rows : ndarray of shape (n_samples, n_features)
        The rows that were judged: they say which rows are near.
    shown : pandas.DataFrame of n_samples rows
        The same rows as the reader knows them.
    """
    flagged = issues[issues.is_label_issue].sort_values("label_quality", kind="stable")
    parts = [f"<h1><bdi>{escape(title)}</bdi></h1>", facts(about)]
    parts.append(
        paragraph(
            f"{len(flagged):,} of {len(issues):,} labels are flagged. Each is shown with its "
            f"nearest rows of the given and of the predicted label"
            + (f"; the {SHOWN} most suspect are shown." if len(flagged) > SHOWN else ".")
        )
    )
    deviations = rows.std(axis=0)
    scaled = rows / np.where(deviations > 0, deviations, 1)
    suspects = flagged[:SHOWN].to_dict("records")
    parts += [_suspect(suspect, issues, scaled, shown) for suspect in suspects]
    style = page_colours() + files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    page = (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replaced(Path(path)) as file:
        file.write(page.replace("\0", "\ufffd").encode("utf-8", "replace"))


def _suspect(suspect: dict[str, Any], issues: Any, scaled: NDArray[Any], shown: Any) -> str:
    row, given, predicted = (suspect[k] for k in ("row", "given_label", "predicted_label"))
    same = issues[issues.label == suspect["label"]] if "label" in suspect else issues
    labels = same.given_label.to_numpy()
    distances = np.linalg.norm(scaled - scaled[row], axis=1)
    distances[row] = np.inf
    groups = [("suspect", np.array([row]))]
    if isinstance(given, float) or len(set(labels.tolist())) > len(labels) // 2:
        groups.append(("near", np.argsort(distances, kind="stable")[:NEIGHBOURS]))
    else:
        for name, label in (("given label", given), ("predicted label", predicted)):
            members = np.flatnonzero((labels == label) & np.isfinite(distances))
            nearest = members[np.argsort(distances[members], kind="stable")[:NEIGHBOURS]]
            groups.append((f"near, {name}", nearest))
    names = list(shown.columns[:MOST_COLUMNS])
    lines = [
        [
            what,
            as_text(shown.index[i], LONGEST),
            as_text(labels[i], LONGEST),
            "–" if i == row else f"{distances[i]:.3g}",
            *(as_text(shown[name].iloc[i], LONGEST) for name in names),
        ]
        for what, group in groups
        for i in group
    ]
    heads = ["", "row", "label", "distance", *map(str, names)]
    name = as_text(shown.index[row], LONGEST)
    which = f", label {suspect['label']}" if "label" in suspect else ""
    text = (
        f"Row {name}{which}: {as_text(given, LONGEST)} given, {as_text(predicted, LONGEST)} "
        f"predicted, quality {suspect['label_quality']:.3f}"
    )
    return f"<section><h2><bdi>{escape(text)}</bdi></h2>{table(heads, lines, text)}</section>\n"
