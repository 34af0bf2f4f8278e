"""Times and memory, measured so that a busy machine does not decide the outcome."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("labelens", "numpy", "scipy", "scikit-learn", "numba", "umap-learn")
# Seconds. Threads of OpenBLAS occupy a core for some 0.1 s after the last call (measured).
SETTLE = 0.15


@dataclass(frozen=True)
class Pair:
    """Seconds of two jobs that took turns."""

    ours: list[float]
    theirs: list[float]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ours) / statistics.median(self.theirs)

    @property
    def spread(self) -> tuple[float, float]:
        """The middle half of the ratios of each turn."""
        ratios = [a / b for a, b in zip(self.ours, self.theirs, strict=True)]
        if len(ratios) < 2:
            return ratios[0], ratios[0]
        low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return low, high


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def take_turns(ours: Callable[[], object], theirs: Callable[[], object], turns: int) -> Pair:
    """Time both in turns, so that both see the same machine.

    Each has the machine to itself for a while before it is timed; not theirs, if there are only
    one or two turns: then they take seconds, and it makes no difference.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(turns):
        settle(ours)
        times[0].append(seconds(ours))
        if turns > 2:
            settle(theirs)
        times[1].append(seconds(theirs))
    return Pair(*times)


def settle(function: Callable[[], object]) -> None:
    start = time.perf_counter()
    while time.perf_counter() < start + SETTLE:
        function()


def machine() -> dict[str, object]:
    """What ran it, and when."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [x for x in cpuinfo.read_text().splitlines() if x.startswith("model name")]
        processor = names[0].split(":", 1)[1].strip() if names else processor
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor,
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "system": platform.system(),
        "python": sys.version.split()[0],
        **{name: _version(name) for name in LIBRARIES},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # or imported from a folder
        return getattr(sys.modules.get(name), "__version__", "not installed")
