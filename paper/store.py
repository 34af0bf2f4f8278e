"""Finished runs, one JSON object a line: an interrupted reproduction goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelens._base.files import replaced

FORMAT = 1


class Store:
    """Records by task. A line that was cut off while being written counts as not there."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self._path = path
        self._header = {"format": FORMAT, **settings}
        self._records: dict[str, list[dict[str, Any]]] = {}
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        if not lines:
            self._write([self._header])
            return
        found = json.loads(lines[0])
        if found != self._header:
            different = [k for k in self._header if found.get(k) != self._header[k]]
            raise ValueError(
                f"{path} holds runs with other settings ({', '.join(different)}: "
                f"{', '.join(repr(found.get(k)) for k in different)}, now "
                f"{', '.join(repr(self._header[k]) for k in different)}). Choose another folder "
                "with --out, or delete that file to start anew."
            )
        for line in lines[1:]:
            entry = json.loads(line)
            self._records[entry["task"]] = entry["records"]
        self._write(  # without what was cut off
            [self._header, *({"task": t, "records": r} for t, r in self._records.items())]
        )

    def __contains__(self, task: str) -> bool:
        return task in self._records

    def add(self, task: str, records: list[dict[str, Any]]) -> None:
        """Keep the records of a task; they are on disk when this returns."""
        self._records[task] = records
        with self._path.open("a") as stream:
            stream.write(json.dumps({"task": task, "records": records}) + "\n")
            stream.flush()
            os.fsync(stream.fileno())

    def of(self, experiment: str) -> list[dict[str, Any]]:
        """All records of an experiment; the name of a task starts with its name and a slash."""
        return [
            record
            for task, records in sorted(self._records.items())
            if task.startswith(experiment + "/")
            for record in records
        ]

    def _write(self, entries: list[dict[str, Any]]) -> None:
        lines = "".join(json.dumps(entry) + "\n" for entry in entries)
        with replaced(self._path) as file:
            file.write(lines.encode())
