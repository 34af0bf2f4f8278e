"""`make bench-scale`: data larger than memory, and on more than one worker.

    python benchmarks/scale.py --gb 4 --kills 10 --folder DIR

writes its own files to DIR (three times --gb; they are removed at the end), and prints

    files    fits compared with reading alone; peaks, also of a quarter of the rows
    killed   fits that are killed with SIGKILL and started again, or lose a worker
    workers  two workers compared with one
    model    costs of a fit by these figures, and predicted costs of a terabyte on 100 workers

Engines that are not installed are left out, and named.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import files
import labelens
from labelens._engines.ranges import PART_BYTES
from measure import machine, seconds
from publish import Printed

PAIRS = [
    # name, ours, floor, at least, bytes that may be in use
    ("SRP from parquet / scanner and sum", "srp_parquet", "scan", 0.7, 512e6),
    ("SRP from .npy / readinto and sum", "srp_npy", "readinto", 0.8, 200e6),
    ("KSRP, 1024 features, from parquet / in memory", "ksrp_parquet", "ksrp_memory", 0.8, None),
]
# 1 TB on 100 workers, each with two cores; the rate of the network is an assumption.
TERABYTE, WORKERS, NETWORK = 1e12, 100, 1e9


def files_table(say: Printed, folder: Path, gb: float, turns: int) -> dict[str, float]:
    """Prints ratios and peaks; returns bytes a second of every job."""
    n = int(gb * 1e9 / (4 * files.COLUMNS))
    rates = {}
    files.write(folder, n, "rows")
    files.write(folder, min(n, 2_000_000), "some")
    small = folder / "quarter"
    small.mkdir()
    files.write(small, n // 4, "rows")
    say.head("files", "rows/s", "GB/s", "ratio", "goal", "peak", "a quarter of the rows")
    for name, ours, floor, least, most in PAIRS:
        found = files.timed(folder, ours, floor, turns)
        rows = min(n, 2_000_000) if most is None else n
        rates[ours] = 4 * files.COLUMNS * rows / found["ours"]
        peaks = ["", ""]
        if most is not None:
            peaks = [f"{files.peak(place, ours) / 1e6:.0f} MB" for place in (folder, small)]
            peaks[0] += f" of {most / 1e6:.0f}"
        rate = f"{rows / found['ours'] / 1e6:.2f} M", f"{rates[ours] / 1e9:.2f}"
        say.row(name, *rate, f"{found['ratio']:.2f}", least, *peaks)
    return rates


FIT = """
import sys, labelens
from labelens._out_of_core import checkpoint
checkpoint.SECONDS = 0.05
model = labelens.SupervisedRandomProjection(2, random_state=0)
labelens.fit(model, sys.argv[1], label="y", checkpoint=sys.argv[2], memory="512MB")
labelens.save(model, sys.argv[3], moments=True)
"""


def killed_fits(say: Printed, folder: Path, kills: int) -> None:
    """Fits that are killed at any moment from start to end, and started again until they end."""
    state, model = folder / "state", folder / "model.labelens"
    command = [sys.executable, "-c", FIT, str(folder / "some.parquet"), str(state), str(model)]
    start = time.perf_counter()
    subprocess.run(command, check=True)
    took, expected = time.perf_counter() - start, model.read_bytes()
    draw, done, gone_on, models = random.Random(0), 0, 0, []
    while done < kills:
        model.unlink(missing_ok=True)
        state.unlink(missing_ok=True)
        while True:
            process = subprocess.Popen(command)
            try:
                process.wait(draw.uniform(0, 1.2 * took) if done < kills else None)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                done += 1
                gone_on += state.exists()
        models.append(model.read_bytes())
    same = sum(one == expected for one in models)
    say.row(
        "the fitting process",
        f"{done} kills, {gone_on} of them after a checkpoint; "
        f"{same} of {len(models)} models have the same bytes",
    )


def killed_on_spark(say: Printed, kills: int) -> None:
    script = Path(__file__).parent.parent / "tests" / "engines" / "kill_spark.py"
    for what, master in (("executor", "local-cluster[2,1,1024]"), ("Python worker", "local[2,4]")):
        command = [sys.executable, str(script), master, str(kills)]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        same = sum("same bits" in line and "0 task(s)" not in line for line in said.splitlines())
        say.row(f"a Spark {what}, {master}", f"{same} of {kills} fits end with the same bits")


def cost_model(say: Printed, rates: dict[str, float], part: float | None) -> None:
    """Bytes and seconds of one fit, and of a terabyte."""
    n, parts = int(TERABYTE / 4 / files.COLUMNS), int(TERABYTE / PART_BYTES)
    depth = int(np.ceil(np.log2(parts)))
    say(f"\n1 TB is {n / 1e9:.1f} G rows of {files.COLUMNS} numbers, {parts:,} parts of 64 MB.\n")
    say.head("1 TB on 100 workers", "SRP", "KSRP, 1024 features", "KSPCA, 1024, shrinkage")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8192, files.COLUMNS)).astype(np.float32), np.arange(8192) % 10
    kernel = dict(gamma=0.01, n_random_features=1024, random_state=0)
    models: list[Any] = [
        labelens.SupervisedRandomProjection(2, random_state=0),
        labelens.KernelSupervisedRandomProjection(2, **kernel),
        labelens.KernelSupervisedPCA(2, shrinkage=1e-3, **kernel),
    ]
    lines: dict[str, list[str]] = {}
    for model, work in zip(models, ("srp_parquet", "ksrp_parquet", None), strict=True):
        moments = model.fit(X, y).moments_
        rate = rates.get(work or "") or _rate_of(model)
        merge = _seconds(lambda moments=moments: moments.merge(moments))
        solve = _seconds(lambda model=model: model.__dict__.update(_solved=None) or model._solve())
        size = _bytes_of(moments)
        compute, read = TERABYTE / (WORKERS * rate), TERABYTE / (WORKERS * NETWORK)
        send = depth * (merge + size / NETWORK)
        rows = {
            "bytes read": "1 TB",
            f"read at {NETWORK / 1e9:.0f} GB/s a worker (assumed)": f"{read:.0f} s",
            "decode and add up, two cores a worker": f"{compute:.0f} s",
            "one partial": f"{size / 1e3:,.0f} kB",
            "all partials, sent once": f"{parts * size / 1e9:,.2f} GB",
            f"the longest way up the tree, {depth} merges": f"{send:.3f} s",
            "solve": f"{solve:.3f} s",
        }
        if part is not None:
            rows["tasks, if the scheduler did nothing else"] = f"{parts * part:.0f} s"
        for name, value in rows.items():
            lines.setdefault(name, []).append(value)
    for name, values in lines.items():
        say.row(name, *values)


def _rate_of(model: Any) -> float:
    """Bytes a second of a fit in memory, where none from files was measured."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100_000, files.COLUMNS)).astype(np.float32), np.arange(100_000) % 10
    return X.nbytes / _seconds(lambda: model.fit(X, y))


def _seconds(function: Any) -> float:
    return min(seconds(function) for _ in range(3))


def _bytes_of(moments: Any) -> int:
    import pickle

    return len(pickle.dumps(moments, protocol=5))


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    arguments.add_argument("--gb", type=float, default=4.0)
    arguments.add_argument("--turns", type=int, default=5)
    arguments.add_argument("--kills", type=int, default=10)
    arguments.add_argument("--folder", type=Path)
    given = arguments.parse_args()
    print(machine())
    with TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        say = Printed()
        rates = files_table(say, folder, given.gb, given.turns)
        say()
        say.head("killed with SIGKILL", "result")
        killed_fits(say, folder, 2 * given.kills)
        if find_spec("pyspark"):
            killed_on_spark(say, given.kills)
        else:
            say.row("Spark", "not installed")
        part = None
        if find_spec("distributed"):
            import engines

            part = engines.report(say, given.kills)
        else:
            say.row("Dask", "not installed")
        cost_model(say, rates, part)
    if part is not None:
        say.keep("scale", machine() | {"gb": given.gb})


if __name__ == "__main__":
    main()
