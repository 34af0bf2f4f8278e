"""What every page we write shares: its look, its skeleton, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import metadata
from typing import Any

MISSING = "–"

PALETTE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --page: #f6f7f9;
  --card: #ffffff; --line: #d5dae0; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #a3acb7; --page: #14171b;
  --card: #1d2126; --line: #3a414a; --link: #7cb8ff; } }
"""

CSS = (
    PALETTE
    + """
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 75rem; padding: 1rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.3rem; margin: 2.5rem 0 0.5rem; }
p, li { max-width: 48rem; } a { color: var(--link); } .soft, figcaption { color: var(--soft); }
.notice { border-left: 0.3rem solid #b26b00; padding: 0.3rem 0.8rem; background: var(--card); }
figure { margin: 1rem 0; } figcaption { font-size: 0.9rem; max-width: 48rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; background: var(--card); font-size: 0.92rem; }
th, td { border: 1px solid var(--line); padding: 0.35rem 0.6rem; text-align: left;
  vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
"""
)


def skeleton(title: str, css: str, body: str, head: str = "") -> str:
    """The whole page; `css` and `body` are markup, the title is text."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{head}<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{css}</style>
</head>
<body>
{body}
</body>
</html>
"""


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>\n"


def table(heads: Iterable[str], rows: Iterable[Sequence[str]], name: str) -> str:
    """Cells that start with a digit, or are empty, are numbers; `name` says what the table is."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    lines = []
    for row in rows:
        cells = (
            f'<td class="number">{escape(cell)}</td>'
            if cell.lstrip("-")[:1].isdigit() or cell == MISSING
            else f"<td>{escape(cell)}</td>"
            for cell in row
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    body = "".join(lines)
    return scrolled(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>", name)


def scrolled(markup: str, name: str) -> str:
    """What may be wider than the page; the keyboard reaches and scrolls it."""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">{markup}</div>'
    )


def facts(about: Mapping[str, Any]) -> str:
    """A table of names and values; nothing where there are none."""
    rows = "".join(
        f'<tr><th scope="row">{escape(str(name).replace("_", " "))}</th>'
        f"<td>{escape(plain(value))}</td></tr>"
        for name, value in about.items()
    )
    return (
        scrolled(f"<table><tbody>{rows}</tbody></table>", "Settings and versions") if rows else ""
    )


def plain(value: Any) -> str:
    """A value as a reader would write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:z.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    return str(value)


def documentation_site() -> str | None:
    """The URL "Documentation" of the installed package, from `[project.urls]` in pyproject.toml."""
    try:
        urls = metadata.metadata("labelens").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    named = dict(url.split(", ", 1) for url in urls)
    return named["Documentation"].rstrip("/") if "Documentation" in named else None


class DocumentationLink:
    """The link in scikit-learn's HTML of an estimator, to its page of the site if there is one."""

    _doc_link_module = "labelens"

    @property
    def _doc_link_template(self) -> str:
        site = documentation_site()
        return "" if site is None else f"{site}/api/labelens.{{estimator_name}}.html"
