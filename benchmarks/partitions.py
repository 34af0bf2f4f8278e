"""`make bench-partitions`: the cost of a partition on Dask and Spark, and a model of cost.

    python benchmarks/partitions.py --parts 10000 --folder DIR

prints

    overhead   seconds per partition of a few rows: client, scheduler, workers; compared with a sum
               of the columns in as many partitions
    merges     bytes sent between workers, by the tree and by one flat merge
    model      measured and predicted CPU seconds of fits at four sizes
    terabyte   the prediction for a terabyte on 100 workers

The model is of CPU seconds, which other programs change least. Its rates come from fits of two
partitions. Engines that are not installed are left out.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import files
import labelens
from labelens._engines import parts as engine_parts
from labelens._engines import ranges
from labelens._engines.ranges import PART_BYTES
from measure import machine, seconds
from publish import Printed

ROWS, WIDTH = 16, 8  # of a partition that has nearly nothing to do
# 1 TB on 100 workers, each with two cores; the rate of the network is an assumption.
TERABYTE, WORKERS, CORES, NETWORK = 1e12, 100, 2, 1e9
COUNTS, SIZE = (4, 8, 16, 32), PART_BYTES // 8  # parts, and their bytes, that check the model


# Overhead ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock, and of CPU on the client, its scheduler and the workers."""

    wall: float
    client: float
    scheduler: float
    workers: float
    sent: int  # bytes, from worker to worker


def spent(client: Any, job: Callable[[], object]) -> Spent:
    """The scheduler of a local cluster has a thread of the client's process."""
    workers, sent = sum(client.run(time.process_time).values()), _sent(client)
    wall, own, process = time.perf_counter(), time.thread_time(), time.process_time()
    job()
    wall, own = time.perf_counter() - wall, time.thread_time() - own
    process = time.process_time() - process
    workers = sum(client.run(time.process_time).values()) - workers
    return Spent(wall, own, process - own, workers, _sent(client) - sent)


def _sent(client: Any) -> int:
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def tiny() -> Any:
    return labelens.SupervisedRandomProjection(1, random_state=0)


def on_dask(say: Printed, n_parts: int) -> Spent:
    """Prints overhead and merges; returns the seconds of a part."""
    import dask.array as da
    from distributed import Client

    from engines import cluster

    rng = np.random.default_rng(0)

    def rows(count: int) -> tuple[Any, Any]:
        X = da.from_array(rng.normal(size=(count * ROWS, WIDTH)), chunks=(ROWS, WIDTH))
        return X, da.from_array(np.arange(count * ROWS) % 2, chunks=ROWS)

    def fit(X: Any, y: Any) -> None:
        tiny().fit(X, y)

    with cluster(2) as local, Client(local) as client:
        fit(*rows(50))  # imports
        found: dict[tuple[str, int], Spent] = {}
        for count in (n_parts // 10, n_parts):
            X, y = rows(count)
            found["X.sum(axis=0)", count] = spent(client, lambda X=X: X.sum(axis=0).compute())
            found["SRP fit", count] = spent(client, partial(fit, X, y))
        tree, engine_parts.GROUP = engine_parts.GROUP, 1 << n_parts.bit_length()
        found["SRP fit, flat merge", n_parts] = spent(client, partial(fit, X, y))
        engine_parts.GROUP = tree
    say.head(
        f"Dask {version('dask')}", "parts", "s", "ms a part", "client", "scheduler", "workers",
        "ratio", "goal",
    )  # fmt: skip
    for (job, count), cost in found.items():
        ratio = cost.wall / found["X.sum(axis=0)", count].wall
        each = (1e3 * a / count for a in (cost.wall, cost.client, cost.scheduler, cost.workers))
        end = ("", "") if job.startswith("X") else (f"{ratio:.2f}", "1.5")
        say.row(job, f"{count:,}", f"{cost.wall:.1f}", *(f"{ms:.2f}" for ms in each), *end)
    size = len(pickle.dumps(tiny().fit(*_some(WIDTH, 2)).moments_, protocol=5))
    whole, flat = found["SRP fit", n_parts], found["SRP fit, flat merge", n_parts]
    say()
    say.head(f"Dask, {n_parts:,} parts", "sent between workers", "most that one task receives")
    for name, cost, most in (("tree", whole, tree), ("flat", flat, n_parts)):
        say.row(name, f"{cost.sent / 1e6:.2f} MB", f"{most * size / 1e3:,.1f} kB")
    each = (whole.wall, whole.client, whole.scheduler, whole.workers)
    return Spent(*(value / n_parts for value in each), whole.sent)


def on_spark(say: Printed, n_parts: int) -> None:
    # profile.py, next to this file, hides a module of Python that pyspark imports.
    here = Path(__file__).resolve().parent
    sys.path[:] = [place for place in sys.path if Path(place).resolve() != here]
    import psutil
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col, sin

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    spark = SparkSession.builder.master("local[2]").config(map=quiet).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    names = [f"x{j}" for j in range(WIDTH)]

    def frame(count: int) -> Any:
        ids = spark.range(0, count * ROWS, 1, count)
        numbers = [sin((j + 1) * col("id") ** 2).alias(name) for j, name in enumerate(names)]
        return ids.select(*numbers, (col("id") % 2).alias("y"))

    def fit(count: int) -> None:
        labelens.spark.fit(tiny(), frame(count), names, "y")

    def sums(batches: Any) -> Any:
        import pyarrow as pa

        total = sum(np.array([column.to_numpy().sum() for column in batch]) for batch in batches)
        yield pa.RecordBatch.from_pydict({"sums": pa.array([np.asarray(total).tobytes()])})

    def added(count: int) -> None:
        frame(count).select(names).mapInArrow(sums, "sums binary").collect()

    def cpu() -> float:
        """Of this process, of Java and of the Python workers."""
        found = psutil.Process()
        return sum(sum(p.cpu_times()[:2]) for p in (found, *found.children(recursive=True)))

    try:
        fit(20)
        say.head(f"Spark {version('pyspark')}", "parts", "s", "ms a part", "CPU", "ratio")
        floor = 0.0
        for job, run in (("mapInArrow with sums of columns", added), ("SRP fit", fit)):
            before = cpu()
            took = seconds(partial(run, n_parts))
            ratio, floor = (f"{took / floor:.2f}" if floor else ""), took
            each = (f"{1e3 * value / n_parts:.1f}" for value in (took, cpu() - before))
            say.row(job, f"{n_parts:,}", f"{took:.1f}", *each, ratio)
    finally:
        spark.stop()


def _some(width: int, classes: int, n: int = 8192) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, width)).astype(np.float32), np.arange(n) % classes


# The model ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Costs:
    """CPU seconds of a fit: of the client and the scheduler, and of the workers."""

    start: float  # of a fit of two small parts, all together
    scheduled: float  # of the client and the scheduler for a part
    worked: float  # of the workers for a part without its rows
    rate: float  # bytes that a core reads, decodes and adds up in a second
    merge: float
    solve: float
    size: int  # bytes of a partial

    def workers(self, size: float, n_parts: int) -> float:
        return size / self.rate + n_parts * (self.worked + self.merge)

    def total(self, size: float, n_parts: int) -> float:
        fixed = self.start + self.solve + n_parts * self.scheduled
        return fixed + self.workers(size, n_parts)

    def tree(self, n_parts: int) -> float:
        """Seconds of the longest way up."""
        return float(np.ceil(np.log2(n_parts))) * (self.merge + self.size / NETWORK)


def models() -> dict[str, Any]:
    kernel = dict(gamma=0.01, n_random_features=1024, random_state=0)
    return {
        "SRP": labelens.SupervisedRandomProjection(2, random_state=0),
        "KSRP, 1024 features": labelens.KernelSupervisedRandomProjection(2, **kernel),
        "KSPCA, 1024, shrinkage": labelens.KernelSupervisedPCA(2, shrinkage=1e-3, **kernel),
    }


def cpu(function: Callable[[], object]) -> float:
    """The least of three."""
    times = []
    for _ in range(3):
        before = time.process_time()
        function()
        times.append(time.process_time() - before)
    return min(times)


def costs(client: Any, model: Any, path: Path, small: Path, task: Spent) -> Costs:
    """By a file of two parts, and `small`, which has two parts of a block."""
    tiny_fit, fit = (
        partial(labelens.fit, model, file, label="y", engine="dask") for file in (small, path)
    )
    fit()  # imports
    start, whole = total(client, tiny_fit, 3), total(client, fit, 3)
    moments = model.fit(*_some(files.COLUMNS, 10)).moments_
    merge = cpu(lambda: moments.merge(moments))
    solve = cpu(lambda: model.__dict__.update(_solved=None) or model._solve())
    size = len(pickle.dumps(moments, protocol=5))
    return Costs(
        start, task.client + task.scheduler, task.workers, 2 * SIZE / (whole - start), merge, solve,
        size,
    )  # fmt: skip


def total(client: Any, job: Callable[[], object], repeats: int = 1) -> float:
    """CPU seconds of everybody; the least of some."""
    found = (spent(client, job) for _ in range(repeats))
    return min(one.client + one.scheduler + one.workers for one in found)


def checked(say: Printed, folder: Path, task: Spent) -> tuple[dict[str, Costs], float]:
    """Prints fits of four sizes; returns the costs, and the largest error of a prediction."""
    from distributed import Client

    from engines import cluster

    files.PART, ranges.PART_BYTES = files.PART // 8, SIZE
    files.write(folder, 2 * files.PART, "rows")
    first, worst = folder / "rows.parquet", 1.0
    paths = [first]
    for number in range(1, COUNTS[-1] // 2):
        os.link(first, path := folder / f"rows{number}.parquet")
        paths.append(path)
    (small := folder / "small").mkdir()
    files.write(small, 2048, "some")
    found = {}
    gigabytes = [f"{count} parts, {count * SIZE / 1e6:.0f} MB" for count in COUNTS]
    say.head("CPU s, measured / predicted", *gigabytes, "largest error")
    with cluster(2) as local, Client(local) as client:
        for name, model in models().items():
            one = found[name] = costs(client, model, first, small / "some.parquet", task)
            cells, factors = [], []
            for count in COUNTS:
                some = paths[: count // 2]
                fit = partial(labelens.fit, model, some, label="y", engine="dask")
                took, said = total(client, fit), one.total(count * SIZE, count)
                cells.append(f"{took:.2f} / {said:.2f}")
                factors.append(max(took / said, said / took))
            say.row(name, *cells, f"{max(factors):.2f} x")
            worst = max(worst, *factors)
    return found, worst


def terabyte(say: Printed, found: dict[str, Costs], worst: float) -> None:
    parts, n = int(TERABYTE / PART_BYTES), int(TERABYTE / 4 / files.COLUMNS)
    say(
        f"\n1 TB is {n / 1e9:.1f} G rows of {files.COLUMNS} numbers, {parts:,} parts of 64 MB. "
        f"CPU times may be wrong by the largest error above, a factor of {worst:.2f}; network and "
        "storage were not measured.\n"
    )
    say.head(f"1 TB on {WORKERS} workers of {CORES} cores", *found)
    read, cores = TERABYTE / (WORKERS * NETWORK), WORKERS * CORES
    lines: dict[str, Callable[[Costs], float]] = {
        f"read at {NETWORK / 1e9:.0f} GB/s a worker (assumed)": lambda c: read,
        "work on every core": lambda c: c.workers(TERABYTE, parts) / cores,
        "client and scheduler, at the same time": lambda c: c.start + parts * c.scheduled,
        "the longest way up the tree, and solving": lambda c: c.tree(parts) + c.solve,
    }
    for name, of in lines.items():
        say.row(name, *(f"{of(one):.1f} s" for one in found.values()))
    ends = (max([of(one) for of in lines.values()][:3]) for one in found.values())
    say.row("**predicted**", *(f"{end:.0f} s, {end * worst:.0f} s at worst" for end in ends))
    say.row("one partial", *(f"{one.size / 1e3:,.0f} kB" for one in found.values()))
    say.row("all partials", *(f"{parts * one.size / 1e9:,.2f} GB" for one in found.values()))


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    arguments.add_argument("--parts", type=int, default=10_000)
    arguments.add_argument("--spark-parts", type=int, default=10_000)
    arguments.add_argument("--folder", type=Path)
    given = arguments.parse_args()
    say, facts = Printed(), machine()
    task = on_dask(say, given.parts)
    say()
    with TemporaryDirectory(dir=given.folder) as name:
        found = checked(say, Path(name), task)
    terabyte(say, *found)
    if find_spec("pyspark"):
        say()
        on_spark(say, given.spark_parts)
        say.keep("partitions", facts)


if __name__ == "__main__":
    main()
