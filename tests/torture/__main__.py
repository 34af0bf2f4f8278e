"""The runner: one process a part, one line each."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

from . import Tally

PARTS = {
    "model_files": "hostile model files refused",
    "data_cases": "adversarial data with its declared outcome",
    "properties": "properties that hold",
    "levels": "kinds of noise that are seldom taken for more",
    "routes": "routes that give the model of fit",
    "concurrency": "threads, processes and forks",
    "command_line": "commands that end cleanly",
    "injection": "hostile names that stay names",
    "fuzzing": "fuzzed inputs without a crash",
}
MOST_SHOWN = 40


def run(part, long, seed=None):
    """One part in this process: a line, the faults, and whether there are none."""
    tally, start = Tally(long, seed), time.monotonic()
    import_module(f"torture.{part}").run(tally)
    passed = tally.total - len(tally.failures)
    seconds = time.monotonic() - start
    print(f"{PARTS[part]:<45} {passed:>7,} of {tally.total:<7,} {seconds:6.0f} s", flush=True)
    for failure in tally.failures[:MOST_SHOWN]:
        print(f"    {failure[:500]}")
    if len(tally.failures) > MOST_SHOWN:
        print(f"    ... and {len(tally.failures) - MOST_SHOWN} more")
    return bool(tally.total) and not tally.failures


def main():
    parser = argparse.ArgumentParser(prog="torture", description="Try to break labelens.")
    parser.add_argument("--short", action="store_true", help="a small part of each")
    parser.add_argument("--part", choices=PARTS, help="only this one, in this process")
    parser.add_argument("--seed", type=int, help="of the cases of routes; drawn if not given")
    options = parser.parse_args()
    if options.part:
        sys.exit(0 if run(options.part, not options.short, options.seed) else 1)
    here = Path(__file__).parents[1]
    paths = [str(here), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    wrong = []
    for part in PARTS:
        rest = ["--short"] if options.short else []
        rest += [] if options.seed is None else ["--seed", str(options.seed)]
        command = [sys.executable, "-m", "torture", "--part", part, *rest]
        if subprocess.run(command, env=environment).returncode:
            wrong.append(part)
    if wrong:
        sys.exit(f"Broken: {', '.join(wrong)}.")


if __name__ == "__main__":
    main()
