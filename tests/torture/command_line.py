"""Commands on full and read-only disks, with nobody to read what they print, and asked to end.

Whatever happens: nothing partial under a final name, nothing left over, a sentence instead of a
traceback, and a code that is not zero.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

LABELENS = [sys.executable, "-m", "labelens"]
# command: its arguments, and what it writes to the folder `out`
COMMANDS = {
    "fit": (["fit", "data.csv", "--label", "y", "--method", "srp", "--out", "out/m.labelens"],
            ["m.labelens"]),
    "fit in pieces": (
        ["fit", "data.csv", "--label", "y", "--method", "spca", "--memory", "400MB",
         "--checkpoint", "out/state", "--out", "out/m.labelens"],
        ["m.labelens"],
    ),
    "transform to npy": (["transform", "m.labelens", "data.csv", "--out", "out/z.npy"], ["z.npy"]),
    "transform to parquet": (
        ["transform", "m.labelens", "data.csv", "--out", "out/z.parquet"], ["z.parquet"],
    ),
    "transform to csv": (["transform", "m.labelens", "data.csv", "--out", "out/z.csv"], ["z.csv"]),
    "merge": (["merge", "m.labelens", "m.labelens", "--out", "out/both.labelens"],
              ["both.labelens"]),
    "export sql": (["export", "m.labelens", "--sql", "out/m.sql"], ["m.sql"]),
    "export onnx": (["export", "m.labelens", "--onnx", "out/m.onnx"], ["m.onnx"]),
    "embed": (
        ["embed", "data.csv", "--label", "y", "--method", "spca", "--out", "out"],
        ["embedding.parquet", "model.labelens", "embedding.png", "report.html"],
    ),
}  # fmt: skip
KEPT = {"state"}  # a checkpoint is there to stay
SIGNALS = (signal.SIGINT, signal.SIGTERM)
TRIES_LONG, TRIES_SHORT = 6, 1
BRIEFLY = ("fit", "transform to npy")  # what the short form disturbs
SAID = re.compile(r"(Stopped; nothing was written\.|Error: .+)\n*", re.DOTALL)


def workshop(folder):
    """A folder with data and a model to work on."""
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3
    frame = pd.DataFrame(rng.normal(size=(3000, 40)) + y[:, None]).add_prefix("c")
    frame.assign(y=np.array(["a", "b", "c"])[y]).to_csv(folder / "data.csv", index=False)
    done = labelens(folder, *COMMANDS["fit"][0], "--moments")
    assert done.returncode == 0, done.stderr
    (folder / "out" / "m.labelens").rename(folder / "m.labelens")
    shutil.rmtree(folder / "out")


def labelens(folder, *arguments, **how):
    how = {"stdout": subprocess.PIPE} | how
    return subprocess.run(
        [*LABELENS, *arguments], cwd=folder, stderr=subprocess.PIPE, text=True, timeout=300, **how
    )


def left_over(folder):
    """Files in `out` that should not be there."""
    out = folder / "out"
    return sorted(set(os.listdir(out)) - KEPT) if out.exists() else []


def manners(done):
    """What is wrong with how a command ended that could not do its work."""
    if done.returncode <= 0 or done.returncode > 143:
        return f"code {done.returncode}, {done.stderr[-200:]!r}"
    if "Traceback" in done.stderr or not SAID.search(done.stderr):
        return f"said {done.stderr[-300:]!r}"
    return None


# Disks -------------------------------------------------------------------------------------------


@contextmanager
def disk(folder, options):
    """A tmpfs with these options at `out`, where the system lets us; else a note."""
    out = folder / "out"
    out.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(out)], capture_output=True
    )
    try:
        yield mounted.returncode == 0
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", str(out)], check=True)
        shutil.rmtree(out)


def no_larger_files():
    """Where nothing can be mounted: no file beyond a kilobyte; EFBIG for ENOSPC."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def on_a_full_disk(folder, arguments):
    with disk(folder, "size=4k") as mounted:  # one page, which the unfinished file takes
        (folder / "out" / "state").write_bytes(bytes(4096) if mounted else b"")
        (folder / "out" / "state").unlink()
        taken = folder / "out" / "taken"
        if mounted:
            taken.write_bytes(bytes(4096))
        done = labelens(folder, *arguments, preexec_fn=None if mounted else no_larger_files)
        taken.unlink(missing_ok=True)
        return manners(done) or (f"left {left}" if (left := left_over(folder)) else None)


def on_a_read_only_disk(folder, arguments):
    with disk(folder, "size=1m,ro") as mounted:
        if not mounted:
            (folder / "out").chmod(0o555)
            if os.access(folder / "out", os.W_OK):
                return None  # root, without mounts: nothing is read-only
        done = labelens(folder, *arguments)
        return manners(done) or (f"left {left}" if (left := left_over(folder)) else None)


# Readers -----------------------------------------------------------------------------------------


def without_a_reader(folder, arguments, how):
    """`| head` that has left, `>&-`, and /dev/full: no traceback, and files are whole."""
    if how == "left":
        end, write = os.pipe()
        os.close(end)
        done = labelens(folder, *arguments, stdout=write)
        os.close(write)
    elif how == "full":
        with open("/dev/full", "w") as full:
            done = labelens(folder, *arguments, stdout=full)
    else:
        done = labelens(folder, *arguments, stdout=None, preexec_fn=lambda: os.close(1))
    shutil.rmtree(folder / "out", ignore_errors=True)
    if "Traceback" in done.stderr or "Exception ignored" in done.stderr:
        return f"said {done.stderr[-300:]!r}"
    if done.returncode < 0 or (done.returncode == 0 and how != "closed"):
        return f"code {done.returncode}"
    return None


# Signals -----------------------------------------------------------------------------------------


def asked_to_end(folder, arguments, written, number, delay):
    """After `delay` seconds: it has stopped without a trace, or it was done already."""
    process = subprocess.Popen(
        [*LABELENS, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A job in the background, such as this may be, hears no Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(delay)
    process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "did not end within a minute"
    finally:
        left = left_over(folder)
        shutil.rmtree(folder / "out", ignore_errors=True)
    if left and left != sorted(written):
        return f"left {left}"
    if process.returncode == 0:
        return None if left else "was done, and left nothing"
    if process.returncode == -number and not errors and not left:
        return None  # before Python had begun: the system ended it
    said = f"Stopped; {', '.join(written)} was written before.\n"
    if errors != (said if left else "Stopped; nothing was written.\n"):
        return f"left {left}, said {errors[-300:]!r}, code {process.returncode}"
    return None if process.returncode == 128 + number else f"code {process.returncode}"


def disturb(tally, folder):
    tries = TRIES_LONG if tally.long else TRIES_SHORT
    rng = np.random.default_rng(3)
    for name, (arguments, written) in COMMANDS.items():
        if name not in BRIEFLY and not tally.long:
            continue
        if name == "export onnx" and find_spec("onnx") is None:
            continue
        start = time.monotonic()
        done = labelens(folder, *arguments)
        seconds = time.monotonic() - start
        whole = done.returncode == 0 and left_over(folder) == sorted(written)
        tally.check(f"{name}, undisturbed", None if whole else done.stderr[-300:])
        shutil.rmtree(folder / "out", ignore_errors=True)
        tally.attempt(f"{name}, full disk", on_a_full_disk, folder, arguments)
        tally.attempt(f"{name}, read-only disk", on_a_read_only_disk, folder, arguments)
        if tally.long:
            for how in ("left", "full", "closed"):
                tally.attempt(f"{name}, {how}", without_a_reader, folder, arguments, how)
        for number in SIGNALS:
            for _ in range(tries):
                delay = 0.1 + rng.random() * seconds
                what = f"{name}, signal {int(number)} after {delay:.2f} s"
                tally.attempt(what, asked_to_end, folder, arguments, written, number, delay)
    for how in ("left", "full", "closed"):
        more = (["info", "m.labelens", "--json"], ["--help"]) if tally.long else ()
        for arguments in (["info", "m.labelens"], *more):
            what = f"{' '.join(arguments)}, {how}"
            tally.attempt(what, without_a_reader, folder, arguments, how)


def run(tally):
    with tempfile.TemporaryDirectory() as name:
        workshop(Path(name))
        disturb(tally, Path(name))
