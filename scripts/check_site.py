"""Check a built site: links and anchors, that nothing is fetched, and the number of pages.

python scripts/check_site.py out/docs
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, rather than when somebody follows it.
FETCHED = {(tag, "src") for tag in ("script", "img", "source", "iframe")} | {("link", "href")}


MOST_PAGES = 90  # more are hard to find one's way in: merge some


class Page(HTMLParser):
    """The anchors of a page and what it points to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "top"}
        self.links: list[tuple[str, bool]] = []  # where to, and whether it is fetched
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                self.links.append((value, (tag, name) in FETCHED))


def faults(site: Path) -> list[str]:
    """A sentence for every link that leads nowhere, or away without being asked."""
    files = [p for p in sorted(site.rglob("*.html")) if "_static" not in p.parts]
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        for link, fetched in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if fetched and parts.scheme != "data":
                    found.append(f"{here} fetches {link}.")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                found.append(f"{here} points to {link}, and there is no such file.")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{here} points to {link}, and there is no such anchor.")
    if len(pages) > MOST_PAGES:
        found.append(f"There are {len(pages)} pages, more than {MOST_PAGES}: merge some.")
    return found if pages else [f"There are no pages in {site}."]


def main(site: Path) -> int:
    found = faults(site)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
