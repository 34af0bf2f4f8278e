"""The page, put together: complete in itself, and sealed against anything outside it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from .._base.files import replaced
from .._base.optional import require
from .._base.page import facts, paragraph
from .colouring import page_colours
from .contents import Contents
from .evidence import SHADES, checks, confusion, honesty, verdicts
from .scatter import ScatterPlot
from .spectrum import gamma, importance_bars, loadings, scree

SCRIPTS = ("unpack.js", "scatter.js", "controls.js")


def write_report(path: str | os.PathLike[str], contents: Contents) -> None:
    """Write one self-contained HTML file; the same contents give the same bytes.

    Parameters
    ----------
    path : path of the file, replaced whole or not at all
    contents : Contents
    """
    plotly = require("plotly.offline", extra="cli").get_plotlyjs()
    ours = "".join(_read(name) for name in SCRIPTS)
    scripts = [_script(plotly), _script(f'(() => {{\n"use strict";\n{ours}}})();\n')]
    shades = "".join(
        f".s{i} {{ --share: {0.08 + 0.6 * i / SHADES:.2f}; }}\n" for i in range(1, SHADES + 1)
    )
    scatter = ScatterPlot.of(contents)
    notes = "".join(f"<li>{escape(note)}</li>" for note in contents.notes)
    page = _filled(
        "page.html",
        policy=_policy(scripts),
        title=escape(contents.title),
        style=page_colours() + _read("style.css") + shades,
        verdicts=verdicts(contents),
        keys=_keys(contents),
        notes=f'<section id="notes"><h2>Notes</h2><ul>{notes}</ul></section>' if notes else "",
        sections=_sections(contents, scatter),
        spec=embed(scatter.spec()),
        scripts="\n".join(scripts),
    )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    # HTML has no NUL, and UTF-8 no lone surrogate: both are shown as characters nobody knows.
    with replaced(Path(path)) as file:
        file.write(page.replace("\0", "\ufffd").encode("utf-8", "replace"))


def embed(value: Any) -> str:
    """JSON for a script element: no character in it can end the element or start a comment."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _sections(contents: Contents, scatter: ScatterPlot) -> str:
    sections = [
        ("embedding", '<span class="hidden">The embedding</span>', _picture(scatter)),
        ("honesty", "How far to trust it", honesty(contents)),
        ("confusion", "Which classes are confused", confusion(contents)),
        ("scree", "What each component adds", scree(contents)),
        ("gamma", "Kernel coefficient gamma", gamma(contents)),
        ("importances", "Which columns matter", importance_bars(contents)),
        ("checks", "Other rows, other seeds, shuffled labels", checks(contents)),
        ("loadings", "What each component weighs", loadings(contents)),
        ("about", "Parameters, versions and machine", facts(contents.about)),
        ("repeat", "Repeat it", f"<pre><code>{escape(contents.command)}</code></pre>"),
    ]
    made = {
        name: f'<section id="{name}"><h2>{heading}</h2>\n{markup}</section>'
        for name, heading, markup in sections
        if markup
    }
    made["scree"] = f'<div class="pair">{made["scree"]}{made.pop("gamma")}</div>'
    return "".join(made.values())


def _keys(contents: Contents) -> str:
    test = np.asarray(contents.test)
    scores = [label.scores["heldout"] for label in contents.labels.values()]
    mean = f", mean of {len(scores)} labels" if len(scores) > 1 else ""
    keys = {
        f"Held-out {contents.metric}{mean}": "not measured"
        if None in scores
        else f"{np.mean(scores):z.3f}",
        "Rows": f"{len(test):,}",
        "Held out": f"{int(test.sum()):,}",
        "Components": f"{np.shape(contents.Z)[1]:,}",
        "Method": type(contents.model).__name__,
    }
    return "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in keys.items())


def _picture(scatter: ScatterPlot) -> str:
    if not len(scatter.rows):
        return paragraph("No row has finite coordinates, so there is nothing to draw.")
    parts = _choice("part", "Rows", [("both", "both"), ("heldout", "held-out"), ("train", "train")])
    colours, axes = "", ""
    if len(scatter.colourings) > 1:
        names = [colouring.name for colouring in scatter.colourings]
        colours = f"<fieldset>{_select('by', 'Colour by', names, 0)}</fieldset>"
    if scatter.k > 2:
        axes = _choice("view", "View", [("2d", "2-D"), ("3d", "3-D")])
        selects = (
            _select(name, name, range(1, scatter.k + 1), place, disabled=name == "deep")
            for place, name in enumerate(("across", "up", "deep"))
        )
        axes += f"<fieldset><legend>Axes</legend>{''.join(selects)}</fieldset>"
    return _filled(
        "scatter.html",
        notice=scatter.sentences(),
        colours=colours,
        parts=parts,
        axes=axes,
        legend=scatter.legend(0),
        legends=scatter.legends(),
        summary=scatter.summary(),
        centres=scatter.centres(),
    )


def _choice(name: str, legend: str, options: Sequence[tuple[str, str]]) -> str:
    radios = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"'
        f"{' checked' if i == 0 else ''}>{text}</label>"
        for i, (value, text) in enumerate(options)
    )
    return f"<fieldset><legend>{legend}</legend>{radios}</fieldset>"


def _select(
    name: str, text: str, options: Iterable[Any], chosen: int, disabled: bool = False
) -> str:
    listed = "".join(
        f'<option value="{j}"{" selected" if j == chosen else ""}>{escape(str(option))}</option>'
        for j, option in enumerate(options)
    )
    # autocomplete: a browser that remembers the choice of an earlier visit would show a lie.
    return (
        f'<label>{text} <select id="{name}" autocomplete="off"{" disabled" if disabled else ""}>'
        f"{listed}</select></label>"
    )


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _filled(name: str, **parts: str) -> str:
    """A file of ours with markup in its places."""
    return Template(_read(name)).substitute(parts)


def _script(code: str) -> str:
    # The parser would turn carriage returns into line feeds, and the hash would not match.
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    if "</script" in code.lower() or "<!--" in code:
        raise ValueError("A script of the page would end early; is plotly a version we know?")
    return f"<script>{code}</script>"


def _policy(scripts: Sequence[str]) -> str:
    """Only these very scripts run, and nothing is loaded from anywhere.

    plotly's flat WebGL scatter compiles its drawing code from text: without 'unsafe-eval' it says
    that the browser has no WebGL.
    """
    codes = (s.removeprefix("<script>").removesuffix("</script>") for s in scripts)
    digests = (base64.b64encode(hashlib.sha256(c.encode()).digest()).decode() for c in codes)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    rules = (
        f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">\n'
