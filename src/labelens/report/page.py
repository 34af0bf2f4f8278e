"""The page, put together: complete in itself, and sealed against anything outside it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from .._base.files import replaced
from .._base.page import facts, paragraph
from .colouring import page_colours
from .contents import Contents
from .evidence import SHADES, checks, confusion, control, honesty, verdicts
from .scatter import ScatterPlot
from .spectrum import gamma, importance_bars, loadings, scree

# Modules of the map, each after those that it imports; the last one is the report's own.
MODULES = ("dom", "scatter", "legend", "contours", "overlay", "pointer", "pointmap", "search",
           "picture")  # fmt: skip


def write_report(path: str | os.PathLike[str], contents: Contents) -> None:
    """Write one self-contained HTML file; the same contents give the same bytes.

    Parameters
    ----------
    path : path of the file, replaced whole or not at all
    contents : Contents
    """
    scripts = [_script(bundle())]
    shades = "".join(
        f".s{i} {{ --share: {0.08 + 0.6 * i / SHADES:.2f}; }}\n" for i in range(1, SHADES + 1)
    )
    scatter = ScatterPlot.of(contents)
    notes = "".join(f"<li>{escape(note)}</li>" for note in contents.notes)
    page = _filled(
        "page.html",
        policy=_policy(scripts),
        title=escape(contents.title),
        style=page_colours() + _read("map/map.css") + _read("style.css") + shades,
        verdicts=verdicts(contents),
        keys=_keys(contents),
        notes=f'<section id="notes"><h2>Notes</h2><ul>{notes}</ul></section>' if notes else "",
        sections=_sections(contents, scatter),
        spec=embed(scatter.spec()),
        scripts="\n".join(scripts),
    )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    # HTML has no NUL, and UTF-8 no lone surrogate: both become U+FFFD.
    with replaced(Path(path)) as file:
        file.write(page.replace("\0", "\ufffd").encode("utf-8", "replace"))


def bundle() -> str:
    """The modules of the map and the report's script as one that needs no others."""
    ours = "".join(_read(f"map/{name}.js") for name in MODULES) + _read("report.js")
    ours = re.sub(r"^import [^;]*;\n", "", ours, flags=re.MULTILINE)
    ours = re.sub(r"^export ", "", ours, flags=re.MULTILINE)
    return f'(() => {{\n"use strict";\n{ours}}})();\n'


def embed(value: Any) -> str:
    """JSON for a script element: no character in it can end the element or start a comment."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _sections(contents: Contents, scatter: ScatterPlot) -> str:
    sections = [
        ("embedding", '<span class="hidden">The embedding</span>', _picture(scatter)),
        ("honesty", "Accuracy and baselines", honesty(contents)),
        ("control", "Shuffled labels", control(contents)),
        ("confusion", "Confused classes", confusion(contents)),
        ("scree", "Components", scree(contents)),
        ("gamma", "Kernel coefficient gamma", gamma(contents)),
        ("importances", "Important columns", importance_bars(contents)),
        ("checks", "Stability and p-value", checks(contents)),
        ("loadings", "Weights of the columns", loadings(contents)),
        ("about", "Parameters, versions and machine", facts(contents.about)),
        ("repeat", "Command", f"<pre><code>{escape(contents.command)}</code></pre>"),
    ]
    made = {
        name: f'<section id="{name}"><h2>{heading}</h2>\n{markup}</section>' if markup else ""
        for name, heading, markup in sections
    }
    if pair := made["scree"] + made.pop("gamma"):
        made["scree"] = f'<div class="pair">{pair}</div>'
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
        return paragraph("No row has finite coordinates.")
    parts = _choice("part", [("all", "All"), ("heldout", "Held-out"), ("train", "Train")])
    names = [*(one.name for one in scatter.colourings), *map(str, scatter.contents.hover)]
    axes = ""
    if scatter.k > 2:
        numbers = list(enumerate(range(1, scatter.k + 1)))
        axes = "".join(
            _select(name, name, [("", "flat"), *numbers] if name == "deep" else numbers, chosen)
            for name, chosen in [("across", 0), ("up", 1), ("deep", "")]
        )
    return _filled(
        "scatter.html",
        notice=scatter.sentences(),
        colours=_select("by", "Colour by", enumerate(names), 0) if len(names) > 1 else "",
        parts=parts,
        drags=_choice("drag", [("pan", "Pan"), ("lasso", "Lasso")]),
        axes=axes,
        summary=scatter.summary(),
        centres=scatter.centres(),
    )


def _choice(name: str, options: Sequence[tuple[str, str]]) -> str:
    return "".join(
        f'<label><input type="radio" name="{name}" value="{value}" autocomplete="off"'
        f"{' checked' if i == 0 else ''}><span>{text}</span></label>"
        for i, (value, text) in enumerate(options)
    )


def _select(name: str, text: str, options: Iterable[tuple[Any, Any]], chosen: Any) -> str:
    listed = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{escape(str(option))}'
        "</option>"
        for value, option in options
    )
    # autocomplete: a browser that remembers the choice of an earlier visit would show a lie.
    return f'<label>{text} <select id="{name}" autocomplete="off">{listed}</select></label>'


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _filled(name: str, **parts: str) -> str:
    """A file of ours with markup in its places."""
    return Template(_read(name)).substitute(parts)


def _script(code: str) -> str:
    # The parser would turn carriage returns into line feeds, and the hash would not match.
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    if "</script" in code.lower() or "<!--" in code:
        raise ValueError("A script of the page would end early.")
    return f"<script>{code}</script>"


def _policy(scripts: Sequence[str]) -> str:
    """Only these very scripts run, and nothing is loaded from anywhere."""
    codes = (s.removeprefix("<script>").removesuffix("</script>") for s in scripts)
    digests = (base64.b64encode(hashlib.sha256(c.encode()).digest()).decode() for c in codes)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    rules = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">\n'
