"""The page and its figures, read back."""

import re
from html.parser import HTMLParser

from paper import figures as drawing
from paper import report


class Page(HTMLParser):
    """Checks that tags balance, and keeps headings, text, images and links."""

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.images, self.tags = [], [], [], set()
        self.links, self.ids, self.words = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "img":
            self.images.append(attrs)
        if tag == "a":
            self.links.append(attrs["href"].removeprefix("#"))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)
        if self.open and self.open[-1] != "style":
            self.words += data


def written(tmp_path, frames, figures, claims=(), about=None, notes=()):
    path = tmp_path / "new" / "report.html"
    report.write_report(path, frames, figures, claims, about or {}, notes)
    return path.read_text(encoding="utf-8")


def words_of(figure):
    svg = drawing.render(figure, "svg").decode()
    return re.sub(r"<[^>]+>", "", svg)
