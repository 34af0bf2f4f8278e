"""Measured figures: benchmarks/results/*.json, and the parts of pages that are made of them.

    python benchmarks/publish.py            write the parts of the pages
    python benchmarks/publish.py --check    name the parts that differ from the results

A part of a page stands between <!-- NAME --> and <!-- /NAME -->, and NAME.json has its figures. A
benchmark prints Markdown through `Printed`, which keeps what it printed.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
PART = re.compile(r"(<!-- (\w+) -->\n)(.*?)(<!-- /\2 -->)", re.DOTALL)
RECORDS = ("atlas", "audit", "learned", "quality")  # a record of every fit; scripts make tables


class Printed:
    """Lines of Markdown that are printed at once, and kept for a page."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, text: str = "") -> None:
        print(text, flush=True)
        self.lines += text.split("\n")

    def head(self, *cells: str) -> None:
        self("| " + " | ".join(cells) + " |\n" + "|---" * len(cells) + "|")

    def row(self, *cells: object) -> None:
        self("| " + " | ".join(map(str, cells)) + " |")

    def keep(self, name: str, about: dict[str, Any]) -> None:
        """Write NAME.json."""
        kept = {"machine": about, "parts": parts(self.lines)}
        text = json.dumps(kept, indent=1, ensure_ascii=False)
        (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def parts(lines: list[str]) -> list[Any]:
    """Paragraphs as strings, and tables as their heads and rows."""
    found: list[Any] = []
    for table, some in groupby(lines, key=lambda line: line.startswith("|")):
        if table:
            head, _, *rows = ([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                              for line in some)  # fmt: skip
            found.append({"head": head, "rows": rows})
        else:
            paragraphs = re.split(r"\n\n+", "\n".join(some))
            found += [text.strip("\n") for text in paragraphs if text.strip()]
    return found


def markdown(stored: dict[str, Any]) -> str:
    """The text of a part."""
    blocks = []
    for part in stored["parts"]:
        if isinstance(part, str):
            blocks.append(part)
        else:
            head, *rows = (f"| {' | '.join(line)} |" for line in (part["head"], *part["rows"]))
            blocks.append("\n".join([head, "|---" * len(part["head"]) + "|", *rows]))
    return "\n\n".join(blocks) + "\n"


def stored(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def cell(name: str, row: str, column: str) -> str:
    """A figure, by the first words of its row and the head of its column."""
    rows = [
        line[part["head"].index(column)]
        for part in stored(name)["parts"]
        if isinstance(part, dict) and column in part["head"]
        for line in part["rows"]
        if " | ".join(line).startswith(row)
    ]
    if not rows:
        raise LookupError(f"{name}.json has no row {row!r} with a column {column!r}")
    return str(rows[0])


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def written(page: str) -> str:
    """A page with its parts made of the results."""

    def part(match: re.Match[str]) -> str:
        begin, name, _, end = match.groups()
        make = import_module(name).markdown if name in RECORDS else markdown
        return begin + make(stored(name)) + end

    return PART.sub(part, page)


def main(arguments: list[str]) -> int:
    differ = 0
    for path in pages():
        page = path.read_text(encoding="utf-8")
        if (text := written(page)) != page:
            differ += 1
            print(f"{path.relative_to(ROOT)} differs from benchmarks/results")
            if "--check" not in arguments:
                path.write_text(text, encoding="utf-8")
    return int(differ > 0 and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
