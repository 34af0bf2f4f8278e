"""Fits from files compared with reading alone, and with the same fit in memory.

    parquet   an SRP fit; pyarrow's scanner with `sum` of each column
    npy       an SRP fit; `readinto` with `sum` of each column
    ksrp      KSRP with 1024 features from parquet; `fit` on the array

`scale.py` writes the files and prints the ratios.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from measure import take_turns

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


# Each in a process of its own ---------------------------------------------------------------------


def timed(folder: Path, ours: str, floor: str, turns: int) -> dict[str, float]:
    """Medians of the seconds of both, which take turns in one process."""
    return _child(folder, "--work", ours, "--floor", floor, "--turns", str(turns))


def peak(folder: Path, work: str) -> float:
    """Bytes above what the process had when everything was imported."""
    return _child(folder, "--work", work)["peak"]


def _child(folder: Path, *arguments: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--folder", str(folder), *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def _time(folder: Path, ours: str, floor: str, turns: int) -> dict[str, float]:
    mine, theirs = (lambda name=name: WORK[name](folder) for name in (ours, floor))
    mine(), theirs()  # files come from where the system keeps them, and loops are compiled
    pair = take_turns(mine, theirs, turns)
    return {"ours": median(pair.ours), "floor": median(pair.theirs), "ratio": 1 / pair.ratio}


def _peak(folder: Path, work: str) -> dict[str, float]:
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401

    from labelens import fit  # noqa: F401  which loads the rest

    before = _high_water()
    WORK[work](folder)
    return {"peak": _high_water() - before}


def _high_water() -> int:
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


def _main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folder", type=Path)
    arguments.add_argument("--work", choices=WORK)
    arguments.add_argument("--floor", choices=WORK)
    arguments.add_argument("--turns", type=int)
    given = arguments.parse_args()
    if given.floor:
        print(json.dumps(_time(given.folder, given.work, given.floor, given.turns)))
    else:
        print(json.dumps(_peak(given.folder, given.work)))


if __name__ == "__main__":
    _main()
