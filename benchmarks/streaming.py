"""Fits from files beside the least that reading them takes, and beside the same fit in memory.

    python benchmarks/streaming.py --gb 4 --folder DIR

makes its own files in DIR (and removes them), prints ratios and peaks, each measured in a process
of its own. Files are read once before, so that both sides find them where the system keeps them.

    parquet   rows/s of an SRP fit over those of pyarrow's bare scanner with `sum` of each column
    npy       GB/s of an SRP fit over those of `readinto` with `sum` of each column
    ksrp      rows/s of KSRP with 1024 features from parquet over those of `fit` on the array
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

COLUMNS, PART = 128, 1 << 17
KSRP = dict(n_components=2, gamma=0.01, n_random_features=1024, random_state=0)


# What is timed, each a function of the folder ----------------------------------------------------


def scan(folder: Path) -> None:
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    options = ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
    scanner = ds.dataset(folder / "rows.parquet").scanner(
        batch_readahead=1, fragment_readahead=1, fragment_scan_options=options
    )
    total = np.zeros(COLUMNS + 1)
    for batch in scanner.to_batches():
        total += [pc.sum(column).as_py() or 0 for column in batch.columns]


def readinto(folder: Path) -> None:
    block = np.empty((1 << 15, COLUMNS), np.float32)
    total = np.zeros(COLUMNS)
    with open(folder / "rows.npy", "rb", buffering=0) as file:
        file.seek(128)
        while count := file.readinto(block.data.cast("B")):
            total += block[: count // (4 * COLUMNS)].sum(axis=0)


def srp_parquet(folder: Path) -> None:
    import labelens

    model = labelens.SupervisedRandomProjection(2, random_state=0)
    labelens.fit(model, folder / "rows.parquet", label="y", memory="512MB")


def srp_npy(folder: Path) -> None:
    import labelens

    model = labelens.SupervisedRandomProjection(2, random_state=0)
    labelens.fit(model, folder / "rows.npy", label=folder / "y.npy", memory="200MB")


def ksrp_parquet(folder: Path) -> None:
    import labelens

    model = labelens.KernelSupervisedRandomProjection(**KSRP)
    labelens.fit(model, folder / "some.parquet", label="y")


def ksrp_memory(folder: Path) -> None:
    import labelens

    labelens.KernelSupervisedRandomProjection(**KSRP).fit(*_loaded(folder))


def _loaded(folder: Path) -> Any:
    if not hasattr(_loaded, "rows"):
        _loaded.rows = np.load(folder / "some.npy"), np.load(folder / "some-y.npy")  # type: ignore
    return _loaded.rows  # type: ignore[attr-defined]


WORK = {f.__name__: f for f in (scan, readinto, srp_parquet, srp_npy, ksrp_parquet, ksrp_memory)}


# In a process of its own -------------------------------------------------------------------------


def measured(folder: Path, work: str, times: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--work", work, "--folder", str(folder)]
    done = subprocess.run([*command, "--times", str(times)], check=True, capture_output=True)
    return json.loads(done.stdout)


def measure(folder: Path, work: str, times: int) -> None:
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401

    import labelens  # noqa: F401

    if work == "ksrp_memory":
        _loaded(folder)
    before, seconds = _peak(), []
    for _ in range(times):
        start = perf_counter()
        WORK[work](folder)
        seconds.append(perf_counter() - start)
    print(json.dumps({"seconds": min(seconds), "all": seconds, "peak": _peak() - before}))


def _peak() -> int:
    """Bytes; not ru_maxrss, which begins with that of the process that started this one."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


# The files ---------------------------------------------------------------------------------------


def write(folder: Path, n: int, name: str) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    schema = pa.schema([(f"x{j}", pa.float32()) for j in range(COLUMNS)] + [("y", pa.int64())])
    labels = np.arange(n) % 10
    head = {"descr": "<f4", "fortran_order": False, "shape": (n, COLUMNS)}
    np.save(folder / ("y.npy" if name == "rows" else "some-y.npy"), labels)
    with (
        open(folder / f"{name}.npy", "wb") as file,
        parquet.ParquetWriter(folder / f"{name}.parquet", schema) as writer,
    ):
        np.lib.format.write_array_header_1_0(file, head)
        assert file.tell() == 128
        for start in range(0, n, PART):
            y = labels[start : start + PART]
            X = rng.standard_normal((len(y), COLUMNS), dtype=np.float32)
            X[np.arange(len(y)), y] += 2
            file.write(X.data)
            columns = [*np.asfortranarray(X).T, y]
            writer.write_table(pa.table(columns, schema=schema))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--gb", type=float, default=1.0)
    arguments.add_argument("--ksrp-rows", type=int, default=400_000)
    arguments.add_argument("--times", type=int, default=2)
    arguments.add_argument("--folder", type=Path)
    arguments.add_argument("--work", choices=WORK, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.work:
        measure(given.folder, given.work, given.times)
        return
    with TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        n = int(given.gb * 1e9 / (4 * COLUMNS))
        write(folder, n, "rows")
        write(folder, given.ksrp_rows, "some")
        found = {work: measured(folder, work, given.times) for work in WORK}
    for name, ours, theirs in (
        ("parquet", "srp_parquet", "scan"),
        ("npy", "srp_npy", "readinto"),
        ("ksrp", "ksrp_parquet", "ksrp_memory"),
    ):
        mine, floor = found[ours], found[theirs]
        rows = given.ksrp_rows if name == "ksrp" else n
        print(
            f"{name:8} ratio {floor['seconds'] / mine['seconds']:.2f}   "
            f"{rows / mine['seconds'] / 1e6:.2f} M rows/s, "
            f"{rows * 4 * COLUMNS / mine['seconds'] / 1e9:.2f} GB/s   "
            f"peak {mine['peak'] / 1e6:.0f} MB above import "
            f"({theirs}: {floor['seconds']:.2f} s, {floor['peak'] / 1e6:.0f} MB)"
        )


if __name__ == "__main__":
    main()
