"""The data sets of a server: those given at the start, and files opened on the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from .. import tables
from .explored import ExploredData, from_file
from .session import Session
from .view import RejectedError, whole

LARGEST_FILE = 1 << 29  # bytes of a file that is opened on the page
MOST_OPENED, MOST_LABELS = 8, 20
MOST_LISTED = 2000  # columns to choose labels from


class Sessions:
    """Data sets, each read and split when it is first opened."""

    def __init__(self, makers: dict[str, Callable[[], ExploredData]]) -> None:
        self.titles = list(makers)
        self._makers = dict(enumerate(makers.values()))
        self._made: dict[int, Session] = {}
        self._lock = Lock()
        self._folder: TemporaryDirectory[str] | None = None  # of received files
        self._received: dict[int, tuple[Path, Any]] = {}

    def open(self, number: Any) -> Session:
        whole(number, "data", 0, len(self.titles) - 1)
        with self._lock:
            if number not in self._made:
                # A session has a reordered copy of the rows. The maker would keep the original.
                self._made[number] = Session(self._makers[number]())
                del self._makers[number]
            return self._made[number]

    def receive(self, name: str, body: bytes) -> dict[str, Any]:
        """Read a file; return its columns, and the column that is most likely the label."""
        with self._lock:
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="labelens-")  # of mode 0700
            number = len(self._received)
            if number >= MOST_OPENED:
                raise RejectedError(f"This page opens at most {MOST_OPENED} files. Start another.")
            # The ending selects the reader. Other characters must not lead out of the folder.
            path = Path(self._folder.name) / str(number) / (re.sub(r"[^\w.-]", "_", name)[-80:])
            path.parent.mkdir()
            self._received[number] = path, None
        path.write_bytes(body)
        try:
            frame = tables.read(path)
        finally:
            path.unlink()
        self._received[number] = path, frame
        columns = list(frame.columns)[:MOST_LISTED]
        likely = tables.likely_labels(columns)
        return {"upload": number, "columns": columns, "likely": likely[0] if likely else None}

    def add(self, upload: Any, labels: Any) -> dict[str, Any]:
        """Make a session of a received file."""
        path, frame = self._received.get(whole(upload, "upload", 0, MOST_OPENED), (None, None))
        if path is None or frame is None:
            raise RejectedError("This file was not received, or is already open. Choose it again.")
        known = set(map(str, frame.columns))
        good = isinstance(labels, list) and 0 < len(labels) <= MOST_LABELS
        if not good or not all(isinstance(one, str) and one in known for one in labels):
            raise RejectedError(f"labels must name 1 to {MOST_LABELS} columns of the file.")
        # Image files are looked for in the folder of the file, which has no others here.
        session = Session(from_file(frame, path, labels))
        with self._lock:
            self._made[len(self.titles)] = session
            self.titles.append(path.name)
            self._received[upload] = path, None
        return {"titles": self.titles}

    def __enter__(self) -> Sessions:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def session_of(material: ExploredData) -> Sessions:
    """The sessions of one data set, which is read now so that errors are raised here."""
    sessions = Sessions({material.name: lambda: material})
    sessions.open(0)
    return sessions
