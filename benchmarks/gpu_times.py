"""Times and memory on a GPU, and lines for the page."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from publish import Printed

say = Printed()


def on_gpu(function: Callable[[], object], repeats: int = 7) -> float:
    """Median milliseconds between two events on the GPU."""
    for _ in range(2):
        function()
    times = []
    for _ in range(repeats):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times)


def by_clock(function: Callable[[], object], repeats: int = 7) -> tuple[float, float]:
    """Median milliseconds until the GPU has nothing left to do, and GB beyond what was in use."""
    for _ in range(2):
        function()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times), (torch.cuda.max_memory_allocated() - before) / 1e9


@contextmanager
def products(precision: str | None) -> Iterator[None]:
    """Of float32 matrices in TF32, if it says so."""
    torch.backends.cuda.matmul.fp32_precision = precision or "ieee"
    yield
    torch.backends.cuda.matmul.fp32_precision = "ieee"


def header(title: str) -> None:
    say(f"\n### {title}\n")
    say("| job | ms | floor | ms | ratio | goal | GB beyond X |")
    say("|---|---|---|---|---|---|---|")


def row(job: str, ours: tuple[float, float], floor: str, theirs: float, bar: str = "") -> None:
    ratio = ours[0] / theirs
    say(f"| {job} | {ours[0]:.3g} | {floor} | {theirs:.3g} | {ratio:.2f} | {bar} | {ours[1]:.2f} |")
