"""TableEncoder compared with a scikit-learn pipeline, on tables of mixed columns.

    python benchmarks/mixed.py --data ../shared/data [--draws 3]

Both sides have the same method (`KernelSupervisedPCA`, exact RBF kernel, standard scaling), the
same 15 neighbours and the same folds; shrinkage and imputation are tuned in 3 inner folds. The
scikit-learn side is SimpleImputer, OneHotEncoder and StandardScaler, with the columns sorted into
numbers, categories and free text by hand; `TableEncoder` is given the whole table. Scores are the
means of 5 outer folds, drawn again in each draw; the error of the difference is that of the folds.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from labelens import KernelSupervisedPCA
from labelens.tables import TableEncoder
from measure import machine
from publish import Printed

# Label, and columns of free text, which the scikit-learn side leaves out.
TABLES = {
    "titanic": ("survived", ["name", "ticket", "cabin"]),
    "penguins": ("species", []),
    "mpg": ("mpg", ["name"]),
}
SHRINKAGE, FILLS = [0.01, 0.1, 1.0], ["mean", "median"]


def pipelines(frame: Any, text: list[str], continuous: bool) -> dict[str, tuple[Any, dict]]:
    """A pipeline and its grid for either side."""
    method = KernelSupervisedPCA(
        2, approximation="exact", scale="standard", label_kernel="rbf" if continuous else "delta"
    )
    neighbours = KNeighborsRegressor(15) if continuous else KNeighborsClassifier(15)
    numbers = [n for n in frame if frame[n].dtype.kind in "if"]
    categories = [n for n in frame if n not in numbers and n not in text]
    by_hand = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
            ),
            categories,
        ),
        sparse_threshold=0,
    )
    fill = "columns__pipeline-1__simpleimputer__strategy"
    sides = {"TableEncoder": (TableEncoder(), "columns__impute"), "scikit-learn": (by_hand, fill)}
    return {
        name: (
            Pipeline([("columns", columns), ("method", method), ("neighbours", neighbours)]),
            {"method__shrinkage": SHRINKAGE, parameter: FILLS},
        )
        for name, (columns, parameter) in sides.items()
    }


def frame_of(name: str, folder: Path) -> Any:
    return pd.read_csv(folder / "mixed" / f"{name}.csv")


def compare(name: str, folder: Path, draws: int) -> dict[str, np.ndarray]:
    """The scores of both sides in the same folds."""
    label, text = TABLES[name]
    frame = frame_of(name, folder)
    y, frame = frame[label], frame.drop(columns=label)
    continuous = y.dtype.kind == "f"
    folds = KFold if continuous else StratifiedKFold
    scores: dict[str, np.ndarray] = {}
    for side, (pipeline, grid) in pipelines(frame, text, continuous).items():
        tuned = GridSearchCV(pipeline, grid, cv=3)
        scores[side] = np.concatenate(
            [
                cross_val_score(tuned, frame, y, cv=folds(5, shuffle=True, random_state=draw))
                for draw in range(draws)
            ]
        )
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    asked = parser.parse_args()
    say = Printed()
    say.head("table", "score", "`TableEncoder`", "scikit-learn", "difference")
    for name in asked.tables:
        scores = compare(name, asked.data, asked.draws)
        ours, theirs = scores.values()
        apart = ours - theirs
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        metric = "R²" if TABLES[name][0] == "mpg" else "accuracy"
        means = f"{ours.mean():.3f}", f"{theirs.mean():.3f}", f"{apart.mean():+.3f} ± {error:.3f}"
        say.row(f"{name} ({len(frame_of(name, asked.data))} rows)", metric, *means)
    say.keep("mixed", machine() | {"draws of 5 folds": asked.draws})


if __name__ == "__main__":
    main()
