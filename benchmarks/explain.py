"""`make bench-explain`: importances against permutation importance, coverage, and new classes.

    python benchmarks/explain.py --data FOLDER [--splits N] [columns] [coverage] [new]

columns   planted columns: rank correlation with scikit-learn's permutation importance of 15-NN
          accuracy in the embedding, and the ratio of times.
coverage  sets of `Atlas.predict_set` at 0.9, on the other half of ten sets.
new       MNIST without one digit: AUROC of `Atlas.conformity` for this digit among test digits.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.inspection import permutation_importance
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from data import DATA, mnist
from labelens import Atlas, KernelSupervisedPCA, importances
from measure import machine
from publish import Printed

SETS = (
    "iris", "wine", "breast_cancer", "ionosphere", "vehicle", "vowel", "digits", "waveform",
    "optdigits", "satellite",
)  # fmt: skip
MOST_ROWS = 4000
NYSTROEM: dict[str, Any] = dict(approximation="nystroem", n_random_features=600, random_state=0)


def columns() -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(2000, 30))
    score = X[:, :10] @ np.linspace(2, 0.4, 10)
    y = np.digitize(score + draw.normal(size=2000), np.quantile(score, (0.33, 0.67)))
    model = KernelSupervisedPCA(2, gamma=0.01, shrinkage=0.01, random_state=0).fit(X, y)
    importances(model)  # loads what it needs
    times = []
    for rows in (None, X):
        start = process_time()
        found = importances(model, rows)
        times.append(process_time() - start)
    judge = KNeighborsClassifier(15).fit(model.transform(X), y)
    start = process_time()
    truth = permutation_importance(
        Embedded(model, judge), X, y, n_repeats=5, random_state=0
    ).importances_mean
    seconds = process_time() - start
    ranks = spearmanr(found.overall[:10], truth[:10])[0]
    say = Printed()
    say.head("rank correlation", "permutation / from moments", "permutation / from rows")
    say.row(f"{ranks:.2f}", *(f"{seconds / time:.0f}" for time in times))
    say.keep("columns", machine())


class Embedded:
    """A classifier of embedded rows."""

    def __init__(self, model: Any, judge: Any) -> None:
        self.model, self.judge = model, judge

    def fit(self, X: Any, y: Any) -> Embedded:
        return self

    def score(self, X: Any, y: Any) -> float:
        return float(self.judge.score(self.model.transform(X), y))


def coverage(folder: Path | None, splits: int) -> None:
    say = Printed()
    say.head("data set", "coverage", "lowest class", "classes in a set")
    for name in SETS:
        X, y = DATA[name].load(folder, 0)
        X, y = StandardScaler().fit_transform(np.asarray(X, dtype=float)), np.asarray(y)
        found, sizes, lowest = [], [], []
        for seed in range(splits):
            order = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
            half = len(order) // 2
            train, test = order[:half], order[half:]
            base = KernelSupervisedPCA(shrinkage=0.01, **NYSTROEM)
            atlas = Atlas(base, temperature=0.1, random_state=seed).fit(X[train], y[train])
            sets = atlas.predict_set(X[test])[1][:, :, 0]
            codes = np.searchsorted(atlas.classes_, y[test])
            inside = sets[np.arange(len(test)), codes]
            found.append(inside.mean())
            sizes.append(sets.sum(axis=1).mean())
            lowest.append([inside[codes == c].mean() for c in np.unique(codes)])
        low = np.mean(lowest, axis=0).min()
        held = f"{np.mean(found):.3f} ± {np.std(found) / splits**0.5:.3f}"
        say.row(name, held, f"{low:.3f}", f"{np.mean(sizes):.2f}")
    say.keep("coverage", machine() | {"splits": splits})


def new_classes(folder: Path | None) -> None:
    X, y, X_test, y_test = mnist(folder)
    some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    X, y, found = X[some], y[some], []
    say = Printed()
    say.head("digit left out", "AUROC", "flagged", "flagged of the others")
    for digit in range(10):
        base = KernelSupervisedPCA(gamma=0.02, shrinkage=1e-3, **NYSTROEM)
        atlas = Atlas(base, temperature=0.1, random_state=0).fit(X[y != digit], y[y != digit])
        conformity = atlas.conformity(X_test)
        found.append(roc_auc_score(y_test == digit, -conformity))
        flagged = [(conformity[y_test == digit] < 0.01).mean()]
        flagged.append((conformity[y_test != digit] < 0.01).mean())
        say.row(digit, f"{found[-1]:.2f}", *(f"{share:.1%}" for share in flagged))
    say.row("mean", f"{np.mean(found):.2f}", "", "")
    say.keep("new_classes", machine())


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("parts", nargs="*", default=["columns", "coverage", "new"])
    options = parser.parse_args()
    for part in options.parts:
        match part:
            case "columns":
                columns()
            case "coverage":
                coverage(options.data, options.splits)
            case "new":
                new_classes(options.data)


if __name__ == "__main__":
    main()
