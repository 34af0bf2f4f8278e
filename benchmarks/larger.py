"""`python benchmarks/larger.py --data DIR`: `select` on four larger data sets, with both efforts.

One split each; n_classes - 1 components, and a map of 2 (2 alone for numbers). Scores are of
held-out rows: accuracy of 1 and of 15 neighbours, R² of 10 neighbours for numbers. Seconds are by
the clock and of CPU, on all cores: run it on an idle machine.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

from data import DATA
from labelens import knn_score, select
from measure import machine
from publish import Printed
from quality import components

SETS = ("letter", "newsgroups", "mnist", "california")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    folder = parser.parse_args().data
    warnings.simplefilter("ignore")
    say = Printed()
    heads = "`effort`", "1-NN", "15-NN", "10-NN R²", "s", "CPU s"
    say.head("data, rows x columns, components", *heads)
    for name in SETS:
        split = DATA[name].split(folder, 0)
        full = max(components(split))
        jobs = [(full, "high"), (full, "low"), *([(2, "high")] if full > 2 else [])]
        for k, effort in jobs:
            began, start = time.perf_counter(), time.process_time()
            chosen = select(split.X, split.y, n_components=k, effort=effort, random_state=0)
            seconds = time.perf_counter() - began, time.process_time() - start
            known = chosen.estimator.transform(split.X)
            numbers = split.kind == "numbers"
            scores = dict.fromkeys((1, 15, 10), "")
            for n in (10,) if numbers else (1, 15):
                found = [
                    (knn_score(known, split.y, chosen.estimator.transform(p.X), p.y, n), len(p.y))
                    for p in split.parts
                ]
                scores[n] = f"{sum(s * m for s, m in found) / sum(m for _, m in found):.3f}"
            shape = f"{name}, {split.X.shape[0]:,} x {split.X.shape[1]:,}, {k}"
            say.row(shape, effort, *scores.values(), *(f"{one:.1f}" for one in seconds))
    say.keep("larger", machine())


if __name__ == "__main__":
    main()
