"""`python benchmarks/wide.py`: tables with many more columns than rows.

    python benchmarks/wide.py --data DIR [--draws 3] [--only NAME]

compares the held-out accuracy of `select` with that of SelectKBest and shrunk LDA, tuned by five
folds of the same 200 training rows. LDA classifies in both. DIR holds 20newsgroups/; without it
that set is left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from labelens import select
from measure import machine
from publish import Printed

ROWS, HELD_OUT, COLUMNS = 200, 1000, 20_000
# classes, informative columns, their effect, and columns that share a latent variable
SIMULATED: dict[str, tuple[int, int, float, int]] = {
    "30 informative": (5, 30, 0.55, 1),
    "correlated blocks": (3, 60, 0.3, 20),
    "few strong": (2, 5, 1.2, 1),
    "many weak": (2, 1000, 0.25, 1),
    "ten classes": (10, 100, 0.45, 1),
}
TEXT = "20 newsgroups, 4 groups"


def simulated(name: str, seed: int) -> tuple[Any, Any]:
    classes, informative, effect, block = SIMULATED[name]
    draw, n = np.random.default_rng(seed), ROWS + HELD_OUT
    y = draw.integers(classes, size=n)
    X = draw.normal(size=(n, COLUMNS))
    if block > 1:
        X = 0.6 * X + 0.8 * np.repeat(draw.normal(size=(n, COLUMNS // block)), block, axis=1)
    size = (classes, informative)
    # Of two classes all informative columns have the same distance.
    means = np.outer([0, 1], draw.choice([-1, 1], informative)) if classes == 2 else 0
    X[:, :informative] += effect * (means if classes == 2 else draw.normal(size=size))[y]
    return X, y


def newsgroups(folder: Path, seed: int) -> tuple[Any, Any]:
    rows = sparse.csr_array(sparse.load_npz(folder / "20newsgroups" / "tfidf_train.npz"))
    labels = np.load(folder / "20newsgroups" / "labels.npz")
    y = labels[next(name for name in labels.files if "train" in name)]
    some = np.flatnonzero(y % 5 == 1)
    some = np.random.default_rng(seed).permutation(some)[: ROWS + HELD_OUT]
    return rows[some].astype(np.float64), y[some]


def pipeline() -> Any:
    dense = FunctionTransformer(lambda X: X.toarray() if sparse.issparse(X) else X)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    tuned = {"selectkbest__k": [10, 30, 100, 300, 1000]}
    return GridSearchCV(make_pipeline(SelectKBest(f_classif), dense, lda), tuned, cv=5)


def compared(X: Any, y: Any) -> Iterator[Any]:
    """Hits of both on the held-out rows, what was chosen, and CPU seconds of `select`."""
    X, T, y, t = X[:ROWS], X[ROWS:], y[:ROWS], y[ROWS:]
    yield pipeline().fit(X, y).predict(T) == t
    start = time.process_time()
    chosen = select(X, y, random_state=0)
    seconds = time.process_time() - start
    lda = LinearDiscriminantAnalysis().fit(chosen.estimator.transform(X), y)
    yield lda.predict(chosen.estimator.transform(T)) == t
    yield {name: chosen.params.get(name) for name in ("n_nonzero", "shrinkage", "scale")}
    yield seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", choices=[*SIMULATED, TEXT])
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    say = Printed()
    say.head("set", "SelectKBest + LDA", "`select`", "difference", "standard error", "CPU seconds")
    names = [*SIMULATED, *([TEXT] if (args.data / "20newsgroups").is_dir() else [])]
    for name in [args.only] if args.only else names:
        hits, ours, seconds, chosen = [], [], [], None
        for seed in range(args.draws):
            X, y = newsgroups(args.data, seed) if name == TEXT else simulated(name, seed)
            *both, chosen, spent = compared(X, y)
            hits.append(both[0].mean()), ours.append(both[1].mean()), seconds.append(spent)
        apart = np.array(ours) - hits
        # Of one draw the error over its rows; both are of about this size.
        right = np.mean([*hits, *ours])
        rows = np.sqrt(2 * right * (1 - right) / (HELD_OUT * args.draws))
        error = max(rows, apart.std(ddof=1) / np.sqrt(args.draws) if args.draws > 1 else 0)
        means = f"{np.mean(hits):.3f}", f"{np.mean(ours):.3f}", f"{apart.mean():+.3f}"
        say.row(name, *means, f"{error:.3f}", f"{np.mean(seconds):.1f}")
        print(f"  chosen: {chosen}", flush=True)
    if args.only is None:
        say.keep("wide", machine() | {"draws": args.draws})


if __name__ == "__main__":
    main()
