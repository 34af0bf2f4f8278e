"""`python benchmarks/nuisance.py [--data DIR]`: what `fit(..., nuisance=...)` removes and costs.

Held-out accuracy of labels and of the nuisance, by logistic regression and by 15 neighbors on
standardized components, in five folds: without and with `nuisance`. Vowel (DIR/classes) has the sex
and the speaker of every row; the other set is simulated, with a shift of means for every batch.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelens import KernelSupervisedPCA, SupervisedPCA
from measure import machine
from publish import Printed

JUDGES = [LogisticRegression(max_iter=500), KNeighborsClassifier(15)]


def simulated() -> tuple[Any, Any, Any]:
    draw = np.random.default_rng(0)
    y, batch = draw.integers(4, size=1500), draw.integers(3, size=1500)
    X = draw.normal(size=(1500, 50)) + 0.7 * draw.normal(size=(3, 50))[batch]
    X[:, :8] += 1.5 * draw.normal(size=(4, 8))[y]
    return X, y, batch


def judged(model: Any, X: Any, y: Any, nuisance: Any, given: bool) -> list[float]:
    found = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model.fit(X[train], y[train], nuisance=nuisance[train] if given else None)
        known, asked = model.transform(X[train]), model.transform(X[test])
        found.append([
            make_pipeline(StandardScaler(), judge)
            .fit(known, values[train])
            .score(asked, values[test])
            for values in (y, nuisance)
            for judge in JUDGES
        ])  # fmt: skip
    return np.mean(found, axis=0).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    path = parser.parse_args().data / "classes" / "vowel.csv.gz"
    sets = {"simulated, 3 batches": simulated()}
    if path.exists():
        rows = np.loadtxt(path, delimiter=",", skiprows=1)
        for name, column in (("vowel, sex", 2), ("vowel, speaker", 1)):
            sets[name] = rows[:, 3:13], rows[:, 13].astype(int), rows[:, column].astype(int)
    warnings.simplefilter("ignore")
    say = Printed()
    say.head(
        *("set, majority of the nuisance", "method", "nuisance"),
        *("label: linear", "label: 15-NN", "nuisance: linear", "nuisance: 15-NN"),
    )
    for name, (X, y, nuisance) in sets.items():
        k = min(10, len(np.unique(y)) - 1)
        majority = np.unique(nuisance, return_counts=True)[1].max() / len(nuisance)
        for model in (
            SupervisedPCA(min(k, X.shape[1] - 1), scale="standard", shrinkage=0.1),
            KernelSupervisedPCA(k, scale="standard", shrinkage=0.01, random_state=0),
        ):
            for given in (False, True):
                try:
                    found = [f"{s:.3f}" for s in judged(model, X, y, nuisance, given)]
                except ValueError:
                    found = ["no direction is left", "", "", ""]
                kind = "yes" if given else "no"
                say.row(f"{name}, {majority:.3f}", type(model).__name__, kind, *found)
    say.keep("nuisance", machine())


if __name__ == "__main__":
    main()
