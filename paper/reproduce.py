"""Every experiment of the paper, from data to a report; goes on where it was interrupted."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy
import scipy
import sklearn

from labelens._base.optional import require

from . import approximation, classification, times, visualisation
from .claims import judge
from .figures import draw_all, save
from .lab import TARGET_WEIGHT, Lab, Task
from .report import claims_markdown, write_report
from .store import Store

EXPERIMENTS: Mapping[str, Callable[[Lab], Iterator[Task]]] = {
    "visualisation": visualisation.tasks,
    "claim1": approximation.claim_tasks,
    "kernel_error": approximation.kernel_tasks,
    "unlabelled": approximation.unlabelled_tasks,
    "times": times.tasks,
    "complexity": times.complexity_tasks,
    "classification": classification.tasks,
}


def reproduce(
    out: Path,
    lab: Lab,
    version: str,
    only: Iterable[str] = (),
    progress: Callable[[list[Task]], Iterable[Task]] = iter,
) -> list[str]:
    """Run what has not been run yet, and write tables, figures and report.html into a folder.

    Returns what a reader should know: which data set was missing. `progress` is handed the tasks
    and yields them one after the other.
    """
    for module in ("pandas", "pyarrow", "matplotlib"):
        require(module, extra="cli")  # now, not after half an hour
    names = _chosen(only)
    out.mkdir(parents=True, exist_ok=True)
    store = Store(out / "runs.jsonl", dict(seed=lab.seed, quick=lab.quick, version=version))
    notes: list[str] = []
    todo = [task for name in names for task in EXPERIMENTS[name](lab) if task.name not in store]
    if any("/MNIST/" in task.name for task in todo):
        try:
            lab.mnist  # noqa: B018
        except (OSError, ValueError) as error:
            notes.append(f"MNIST was left out. {error}")
            todo = [task for task in todo if "/MNIST/" not in task.name]
    for task in progress(todo):
        store.add(task.name, task.run())
    write(out, lab, store, notes, version)
    return notes


def _chosen(only: Iterable[str]) -> list[str]:
    wanted = list(only)
    if unknown := [name for name in wanted if name not in EXPERIMENTS]:
        raise ValueError(
            f"There is no experiment {unknown[0]!r}; there are {', '.join(EXPERIMENTS)}."
        )
    return [name for name in EXPERIMENTS if not wanted or name in wanted]


def write(out: Path, lab: Lab, store: Store, notes: list[str], version: str) -> None:
    """Tables, figures, the page of claims and the report, from the runs that are there."""
    pandas = require("pandas", extra="cli")
    frames = {name: pandas.DataFrame(store.of(name)) for name in EXPERIMENTS}
    frames = {name: frame for name, frame in frames.items() if not frame.empty}
    tables = out / "tables"
    tables.mkdir(exist_ok=True)
    for name, frame in frames.items():
        frame.to_csv(tables / f"{name}.csv", index=False)
        frame.to_parquet(tables / f"{name}.parquet", index=False)
    figures = draw_all(frames)
    save(figures, out / "figures")
    claims = judge(frames)
    (out / "claims.md").write_text(claims_markdown(claims), encoding="utf-8")
    write_report(out / "report.html", frames, figures, claims, about(lab, version), notes)


def about(lab: Lab, version: str) -> dict[str, Any]:
    """What the numbers were made with."""
    return {
        "seed": lab.seed,
        "quick": lab.quick,
        "runs": f"{lab.runs} for XOR, Sonar and Ionosphere; {lab.mnist_runs} for MNIST",
        "features": "scaled to [0, 1] by the training rows; MNIST pixels over 255",
        "sigma_X": "10-fold cross-validation of 1-NN on at most 1000 training rows",
        "label kernel": "delta, exactly; sigma_Y = 1e-10 where formulas are as written",
        "k_x": 1000,
        "target_weight": f"{TARGET_WEIGHT} where more than c - 1 components are asked for",
        "labelens": version,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
