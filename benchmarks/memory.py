"""Peak memory of a fit above what was in use before it, in a process of its own.

A process that has done other work before holds memory that it has freed, and would use it again
unnoticed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import labelens


def peak_of_fit(method: str, parameters: dict[str, Any], X: Any, y: Any) -> float | None:
    """Bytes; None where the system does not tell."""
    if not Path("/proc/self/clear_refs").exists():
        return None
    with TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "y.npy"), y)
        command = [sys.executable, __file__, folder, method, repr(parameters)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return float(line.split()[1]) * 1024
    raise LookupError(field)


def main(folder: str, method: str, parameters: str) -> None:
    from ast import literal_eval

    import numba  # noqa: F401

    X, y = np.load(Path(folder, "X.npy")), np.load(Path(folder, "y.npy"))
    model = getattr(labelens, method)(**literal_eval(parameters))
    model.fit(X[:200].copy(), y[:200])  # compiled loops are loaded
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew
    model.fit(X, y)
    print(_status("VmHWM") - before)


if __name__ == "__main__":
    main(*sys.argv[1:])
