"""`make bench-scale`: data larger than memory, and on more than one worker.

    python benchmarks/scale.py --gb 4 --kills 10 --folder DIR

writes its own files to DIR (three times --gb; they are removed at the end), and prints

    files    fits compared with reading alone; peaks, also of a quarter of the rows
    killed   fits that are killed with SIGKILL and started again, or lose a worker
    workers  two workers compared with one

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

import files
from measure import machine
from publish import Printed

PAIRS = [
    # name, ours, floor, at least, bytes that may be in use
    ("SRP from parquet / scanner and sum", "srp_parquet", "scan", 0.7, 512e6),
    ("SRP from .npy / readinto and sum", "srp_npy", "readinto", 0.8, 200e6),
    ("KSRP, 1024 features, from parquet / in memory", "ksrp_parquet", "ksrp_memory", 0.8, None),
]


def files_table(say: Printed, folder: Path, gb: float, turns: int) -> None:
    """Prints ratios and peaks."""
    n = int(gb * 1e9 / (4 * files.COLUMNS))
    files.write(folder, n, "rows")
    files.write(folder, min(n, 2_000_000), "some")
    small = folder / "quarter"
    small.mkdir()
    files.write(small, n // 4, "rows")
    say.head("files", "rows/s", "GB/s", "ratio", "goal", "peak", "a quarter of the rows")
    for name, ours, floor, least, most in PAIRS:
        found = files.timed(folder, ours, floor, turns)
        rows = min(n, 2_000_000) if most is None else n
        rate = rows / found["ours"]
        peaks = ["", ""]
        if most is not None:
            peaks = [f"{files.peak(place, ours) / 1e6:.0f} MB" for place in (folder, small)]
            peaks[0] += f" of {most / 1e6:.0f}"
        rates = f"{rate / 1e6:.2f} M", f"{4 * files.COLUMNS * rate / 1e9:.2f}"
        say.row(name, *rates, f"{found['ratio']:.2f}", least, *peaks)


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
        files_table(say, folder, given.gb, given.turns)
        say()
        say.head("killed with SIGKILL", "result")
        killed_fits(say, folder, 2 * given.kills)
        if find_spec("pyspark"):
            killed_on_spark(say, given.kills)
        else:
            say.row("Spark", "not installed")
        if find_spec("distributed"):
            import engines

            engines.report(say, given.kills)
        else:
            say.row("Dask", "not installed")
    if find_spec("distributed"):
        say.keep("scale", machine() | {"gb": given.gb})


if __name__ == "__main__":
    main()
