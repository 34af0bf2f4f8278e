"""Parts of HTML pages: paragraphs, tables, and links to the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import metadata
from typing import Any

MISSING = "–"


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>\n"


def table(heads: Iterable[str], rows: Iterable[Sequence[str]], name: str) -> str:
    """A table. Cells that start with a digit or are empty are numbers; `name` is its label."""
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
    """An element that may be wider than the page, and scrolls by keyboard."""
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
