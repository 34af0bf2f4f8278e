"""`python benchmarks/learned.py --data FOLDER [SET ...]`: what a learned metric gains in `select`.

Held-out accuracy (mean of 1-NN and 15-NN) or R² (10-NN) of what `select` chooses, and of what it
would have chosen without a learned metric: the second row of its table. Where it learns no metric,
both are the same model. Sets and splits are those of `quality.py`; sets with "+ 20" have 20 columns
of Gaussian noise more, with the standard deviations of columns of the set. `learned.json` keeps a
record of every set and split; a later run measures what is missing.
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

import labelens
from data import DATA, Part, Split
from labelens.datasets import make_xor
from measure import machine
from publish import RESULTS
from quality_measures import predictions
from quality_report import standard_error, table

NOISE = 20
NOISY = ("iris", "wine", "vehicle", "vowel", "sonar", "breast_cancer", "few_letters", "digits")
NOISY += ("concrete", "mpg", "boston", "energy")
XOR = {f"XOR, {n:,} rows + {noise}": (n, noise) for n, noise in ((200, 10), (300, 30), (1000, 30))}
PLAIN = tuple(name for name, one in DATA.items() if name not in ("mnist", "madelon100"))
SETS = (*XOR, "madelon100", *(f"{name} + {NOISE}" for name in NOISY), *PLAIN)
SPLITS = 3

Record = dict[str, Any]


def split_of(name: str, folder: Path | None, seed: int) -> Split:
    if name in XOR:
        (n, noise), draw = XOR[name], np.random.default_rng(seed)
        X, y = make_xor(n + 2000, 2, noise=0.4, random_state=seed)
        X = np.column_stack([X, draw.normal(size=(len(X), noise))])
        return Split("classes", X[:n], y[:n], (Part(X[n:], y[n:]),))
    plain, _, more = name.partition(" + ")
    split = DATA[plain].split(folder, seed)
    if not more:
        return split
    draw = np.random.default_rng(seed)
    spread = draw.permutation(np.resize(split.X.std(axis=0), NOISE))

    def noisy(X: NDArray[Any]) -> NDArray[Any]:
        return np.column_stack([X, draw.normal(size=(len(X), NOISE)) * spread])

    parts = tuple(Part(noisy(part.X), part.y) for part in split.parts)
    return Split(split.kind, noisy(split.X), split.y, parts)


def without(chosen: Any, X: Any, y: Any) -> Any:
    """The model of the second row, fitted; with the parameters that all candidates share."""
    line, known = chosen.table[1], chosen.estimator.get_params(deep=False)
    method = getattr(labelens, line["method"])
    parameters = {name: line.get(name, known.get(name)) for name in method().get_params(deep=False)}
    given = {name: value for name, value in parameters.items() if name in line or name in known}
    return method(**given).fit(X, y)


def scores(model: Any, split: Split) -> list[float]:
    """Of every held-out part."""
    train, found = model.transform(split.X), []
    for part in split.parts:
        some = predictions(split.kind, train, split.y, model.transform(part.X), part.y)
        found.append(float(np.mean(list(some.values()))))
    return found


def measured(name: str, split: Split, seed: int) -> Record:
    start = process_time()
    chosen = labelens.select(
        split.X,
        split.y,
        n_components=1 if split.kind == "numbers" else None,
        task=split.kind,
        random_state=seed,
    )
    took = process_time() - start
    is_learned = isinstance(chosen.params.get("scale"), tuple)
    found = scores(chosen.estimator, split)
    before = scores(without(chosen, split.X, split.y), split) if is_learned else found
    return dict(
        data=name, split=seed, rows=split.X.shape[0], columns=split.X.shape[1], kind=split.kind,
        learned=is_learned, scores=found, without=before, cpu=took,
    )  # fmt: skip


def markdown(stored: dict[str, Any]) -> str:
    heads = ["set", "training rows x columns", "learned in", "without", "with", "difference"]
    groups: dict[str, list[Record]] = {}
    for one in sorted(stored["records"], key=lambda one: SETS.index(one["data"])):
        groups.setdefault(one["data"], []).append(one)
    rows, same = [], []
    for name, some in groups.items():
        count = sum(one["learned"] for one in some)
        if not count:
            same.append(name)
            continue
        now = np.concatenate([one["scores"] for one in some])
        before = np.concatenate([one["without"] for one in some])
        error = standard_error((now - before).tolist())
        rows.append([
            name,
            f"{some[0]['rows']} x {some[0]['columns']}",
            f"{count} of {len(some)} splits",
            f"{before.mean():.3f}",
            f"{now.mean():.3f}",
            f"{(now - before).mean():+.3f} ± {error:.3f}",
        ])  # fmt: skip
    told = f"No metric was learned, so nothing changed, on: {', '.join(same)}."
    return "\n\n".join([table(heads, rows), told]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--out", type=Path, default=RESULTS / "learned.json")
    parser.add_argument("--again", action="store_true", help="measure known ones again")
    parser.add_argument("sets", nargs="*", help="of " + ", ".join(SETS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    stored = {"runs": [], "records": []}
    if options.out.exists():
        stored = json.loads(options.out.read_text())
    stored["runs"] = [machine()]
    for name in options.sets or SETS:
        for seed in range(SPLITS):
            known = [r for r in stored["records"] if (r["data"], r["split"]) == (name, seed)]
            if known and not options.again:
                continue
            split = split_of(name, options.data, seed)
            one = measured(name, split, seed)
            stored["records"] = [r for r in stored["records"] if r not in known] + [one]
            options.out.write_text(json.dumps(stored, indent=0) + "\n", encoding="utf-8")
            gain = np.mean(one["scores"]) - np.mean(one["without"])
            print(f"{name:22} {seed} {np.mean(one['scores']):.3f} {gain:+.3f} {one['learned']} "
                  f"({one['cpu']:.1f} s)", flush=True)  # fmt: skip
            if DATA.get(name) and DATA[name].own_test:
                break
    print(markdown(stored))


if __name__ == "__main__":
    main()
