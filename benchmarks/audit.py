"""`make bench-audit`: wrong labels found by `label_issues`, compared with out-of-fold peers.

    python benchmarks/audit.py --data FOLDER [--seeds N] [DATA SET ...]

A tenth of the labels is flipped: to any other class ("any"), or to the class that is the most
frequent one among the 10 nearest neighbours of its rows ("similar"). Peers give probabilities of
five folds by scikit-learn's defaults, ranked by the margin of the given class; columns have unit
variance for all. AUPRC is the average precision of the ranking. Seconds are CPU time on one thread.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from data import DATA
from labelens import label_issues
from measure import machine

SETS = ("vehicle", "vowel", "digits", "waveform", "optdigits", "satellite", "mnist10k", "letter")
SHARE, MOST_ROWS = 0.1, {"mnist10k": 2000}
RATES = (0.1, 0.2)
RESULTS = Path(__file__).parent / "results" / "audit.json"
PEERS = {
    "10-NN": lambda seed: KNeighborsClassifier(10),
    "random forest": lambda seed: RandomForestClassifier(random_state=seed),
    "logistic regression": lambda seed: LogisticRegression(max_iter=100),
}


def load(name: str, folder: Path | None) -> tuple[NDArray[Any], NDArray[np.intp]]:
    X, y = DATA[name].load(folder, 0)
    most = MOST_ROWS.get(name, len(y))
    X = StandardScaler().fit_transform(np.asarray(X, dtype=float)[:most])
    return X, np.unique(np.asarray(y)[:most].astype(str), return_inverse=True)[1]


def flipped(X: Any, y: NDArray[np.intp], noise: str, seed: int) -> NDArray[np.intp]:
    draw, c = np.random.default_rng(seed), int(y.max()) + 1
    bad, given = draw.permutation(len(y))[: round(SHARE * len(y))], y.copy()
    if noise == "any":
        given[bad] = (y[bad] + draw.integers(1, c, len(bad))) % c
        return given
    near = KNeighborsClassifier(10).fit(X, y).kneighbors(return_distance=False)
    counts = np.zeros((c, c))
    np.add.at(counts, (np.repeat(y, 10), y[near].ravel()), 1)
    np.fill_diagonal(counts, -1)
    given[bad] = counts.argmax(axis=1)[y[bad]]
    return given


def margins(p: NDArray[Any], given: NDArray[np.intp]) -> NDArray[Any]:
    rows = np.arange(len(given))
    own, others = p[rows, given], p.copy()
    others[rows, given] = -np.inf
    return own - others.max(axis=1)


def measure(X: Any, y: NDArray[np.intp], noise: str, seed: int) -> dict[str, Any]:
    given = flipped(X, y, noise, seed)
    bad, found = given != y, {}
    precision = {}
    for rate in RATES:
        start = process_time()
        issues = label_issues(X, given, false_discovery_rate=rate, random_state=seed)
        seconds = process_time() - start
        flags = issues.is_label_issue.to_numpy()
        precision[str(rate)] = [int((flags & bad).sum()), int(flags.sum())]
    auprc = average_precision_score(bad, -issues.label_quality)
    found["labelens"] = dict(auprc=auprc, seconds=seconds, flags=precision)
    for name, peer in PEERS.items():
        start = process_time()
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        p = cross_val_predict(peer(seed), X, given, cv=folds, method="predict_proba")
        auprc = average_precision_score(bad, -margins(p, given))
        found[name] = dict(auprc=auprc, seconds=process_time() - start)
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("sets", nargs="*", default=SETS)
    options = parser.parse_args()
    for name in options.sets:
        X, y = load(name, options.data)
        for noise in ("any", "similar"):
            runs = [measure(X, y, noise, seed) for seed in range(options.seeds)]
            stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"sets": {}}
            stored["machine"] = machine()
            stored["sets"][f"{name}, {noise}"] = runs
            RESULTS.write_text(json.dumps(stored, indent=1) + "\n")
            print(line(f"{name}, {noise}", runs), flush=True)


def markdown(stored: dict[str, Any]) -> str:
    """The table of a page."""
    heads = ("data set, flips", "`label_issues`", "10-NN", "forest", "logistic", "faster")
    heads += tuple(f"flags at {rate}" for rate in RATES)
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    return "\n".join([*lines, *(line(name, runs) for name, runs in stored["sets"].items())]) + "\n"


def line(name: str, runs: list[dict[str, Any]]) -> str:
    """A line of the table: AUPRC of all, ratio of times to the forest, precision of the flags."""
    means = {m: np.mean([run[m]["auprc"] for run in runs]) for m in runs[0]}
    times = {m: np.sum([run[m]["seconds"] for run in runs]) for m in runs[0]}
    cells = [f"{value:.3f}" for value in means.values()]
    cells.append(f"{times['random forest'] / times['labelens']:.1f}")
    for rate in RATES:
        right, flags = np.sum([run["labelens"]["flags"][str(rate)] for run in runs], axis=0)
        cells.append(f"{right / max(flags, 1):.2f} ({flags / len(runs):.0f})")
    return f"| {name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
