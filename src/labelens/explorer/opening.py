"""A file with the link of the page, which only this user can read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>labelens explore</title>
<meta http-equiv="refresh" content="0; url={url}"></head>
<body><p><a href="{url}">Open the explorer</a></p></body></html>
"""


@contextmanager
def link_file(url: str) -> Iterator[str]:
    """The address of a file that redirects to `url`; only this user can read it.

    All users of a machine can read the command lines of its processes. The browser therefore gets
    the address of this file, not `url`, which contains the token.
    """
    with TemporaryDirectory(prefix="labelens-") as folder:  # of mode 0700
        path = Path(folder) / "open.html"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(PAGE.format(url=escape(url)))
        yield path.as_uri()
