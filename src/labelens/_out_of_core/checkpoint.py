"""A fit that continues after it was killed.

The file holds the moments of all rows up to some row and says which fit it belongs to: method and
parameters, files with their sizes and times, columns. It is replaced every few seconds by a newer
one, atomically, so there is always a whole one.
"""

from __future__ import annotations

import os
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any

import joblib

from .._engines.sources import Source
from .._fit.driver import Progress
from .._fit.job import Job
from ..persist import load_state, save_state

SECONDS = 2.0  # between two of them
SHARE = 0.05  # of the time that may go into writing them


class Checkpoint:
    def __init__(self, path: str | os.PathLike[str], estimator: Any, source: Source) -> None:
        self.path = Path(path)
        identity = source.identity()
        if identity is None:
            raise ValueError(
                "checkpoint needs a source that is there again after a crash: files, and labels "
                "in files too."
            )
        self._note = {
            "files and columns": joblib.hash(identity),
            "method and parameters": joblib.hash(
                (type(estimator).__name__, estimator.get_params(deep=False))
            ),
        }
        self._due = monotonic() + SECONDS
        self._refuse_folder()

    def _refuse_folder(self) -> None:
        """Say now, not in an hour, that nothing can be written there."""
        folder = Path(os.path.realpath(self.path)).parent
        if not folder.is_dir():
            raise FileNotFoundError(f"There is no folder {folder} for the checkpoint.")
        trial = folder / f".labelens-{token_hex(8)}.part"
        try:
            trial.touch()
            trial.unlink()
        except OSError as error:
            raise self._unwritten(error) from error

    def _unwritten(self, error: OSError) -> OSError:
        kept = " The one before is still there." if self.path.exists() else ""
        return OSError(
            f"The checkpoint {self.path} cannot be written: {error.strerror or error}.{kept}"
        )

    def load(self) -> Progress | None:
        """The state of an earlier fit; None at the start."""
        if not self.path.exists():
            return None
        estimator, note = load_state(self.path)
        rows = note.pop("rows", None)
        for what, mine in self._note.items():
            if note.get(what) != mine:
                raise ValueError(
                    f"{self.path} was left by a fit with other {what}, or they have changed since: "
                    "remove it, or name another file."
                )
        if type(rows) is not int or rows < 1:
            raise ValueError(f"{self.path} does not say how many rows it holds; remove it.")
        return Progress(Job.of(estimator), estimator.moments_, rows)

    def save(self, fit: Progress, now: bool = False) -> None:
        start = monotonic()
        if not now and start < self._due:
            return
        try:
            save_state(fit.job.fitted(fit.moments), self.path, self._note | {"rows": fit.rows})
        except OSError as error:
            raise self._unwritten(error) from error
        taken = monotonic() - start
        self._due = monotonic() + max(SECONDS, taken / SHARE)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
