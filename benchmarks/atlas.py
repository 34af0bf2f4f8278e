"""`make bench-atlas`: the atlas, its base model and supervised UMAP on held-out rows.

    python benchmarks/atlas.py [--data FOLDER] [--out FILE] [--splits N] [--only-ours] [--again]
                               [--report | --figure FILE] [DATA SET ...]

Sets, splits, measures and the tuning of UMAP are those of `quality.py`. The base is what `select`
finds for n_classes - 1 components; the atlas is over this model, with default parameters.
`atlas.json` keeps a record of every data set, split and method. A later run measures what is
missing; `--again` measures the atlas and its base again, but not UMAP.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import labelens
from data import DATA, Split
from measure import machine
from publish import RESULTS
from quality_measures import MEASURES, Judge
from quality_peers import PEERS, UMAP, fit_peer
from quality_report import standard_error, table

ATLAS, BASE = "atlas", "base, n_classes - 1"
CLASS_SETS = tuple(name for name, one in DATA.items() if one.kind == "classes")
BINS = 15
MEASURED = ("acc1", "acc15", "label_trust", "label_cont", "trust")

Record = dict[str, Any]


def calibration(p: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """(4, BINS): rows, sums of confidence, right predictions, and the variance of their number."""
    sure = p.max(axis=1)
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    sums = (np.ones(len(sure)), sure, right, sure * (1 - sure))
    return np.array([np.bincount(bins, values, BINS) for values in sums])


def calibration_errors(sums: NDArray[Any]) -> tuple[float, float]:
    """The expected calibration error, and its mean if the model were perfectly calibrated."""
    n = sums[0].sum()
    chance = np.sqrt(2 / np.pi * sums[3]).sum() / n
    return float(np.abs(sums[1] - sums[2]).sum() / n), float(chance)


def timed(function: Any, *arguments: Any) -> tuple[Any, float]:
    start = perf_counter()
    return function(*arguments), perf_counter() - start


def base_of(split: Split, seed: int, known: Record | None) -> tuple[Any, float]:
    """What `select` found, or the model of an earlier run with these parameters."""
    if known is None:
        chosen, took = timed(lambda: labelens.select(split.X, split.y, random_state=seed))
        return chosen.estimator, took
    parameters = json.loads(known["parameters"])
    model = getattr(labelens, known["method_class"])(**parameters)
    return model, known["select_seconds"]


def ours(data: str, split: Split, seed: int, known: Record | None) -> list[Record]:
    base, took = base_of(split, seed, known)
    base, base_fit = timed(base.fit, split.X, split.y)
    atlas, fit = timed(labelens.Atlas(base, random_state=seed).fit, split.X, split.y)
    parameters = {k: v for k, v in base.get_params(deep=False).items() if v is not None}
    facts = {
        BASE: dict(
            fit_seconds=base_fit, select_seconds=took, method_class=type(base).__name__,
            parameters=json.dumps(parameters, default=float),
        ),
        ATLAS: dict(fit_seconds=fit, votes=atlas.votes_, temperature=atlas.temperature_),
    }  # fmt: skip
    found = []
    for name, model in ((BASE, base), (ATLAS, atlas)):
        train = model.transform(split.X)
        found += measured(data, split, seed, name, train, model.transform, facts[name])
    predicted = []
    for part in split.parts:
        p = atlas.predict_proba(part.X)
        right = atlas.classes_[p.argmax(axis=1)] == part.y
        predicted.append((right.mean(), calibration(p, right)))
    found[-1]["predict"] = float(np.mean([one for one, _ in predicted]))
    sums = sum(one for _, one in predicted)
    found[-1]["calibration"], found[-1]["ece"] = sums.tolist(), calibration_errors(sums)[0]
    return found


def measured(
    data: str, split: Split, seed: int, name: str, train: Any, transform: Any, facts: Record
) -> list[Record]:
    """One record: means over the held-out parts."""
    figures, seconds = [], 0.0
    for part in split.parts:
        Z, took = timed(transform, part.X)
        seconds += took
        figures.append(Judge(part, split)(train, Z))
    means = {m: float(np.mean([one[m] for one in figures])) for m in MEASURED}
    shape = dict(rows=len(split.y), columns=split.X.shape[1], classes=len(np.unique(split.y)))
    same = dict(data=data, split=seed, method=name) | shape | facts
    return [same | {"transform_seconds": seconds} | means]


def umap(data: str, split: Split, seed: int) -> list[Record]:
    model = fit_peer(PEERS[UMAP], split.X, split.y, "classes", 2, seed)
    facts = dict(fit_seconds=model.seconds, tuning=model.tuning, setting=model.setting)
    return measured(data, split, seed, UMAP, model.train, model.transform, facts)


def figure(file: Path, data: str, folder: Path | None) -> None:
    """Held-out rows by PCA, supervised UMAP and the atlas, with two measures and times."""
    from matplotlib.figure import Figure
    from sklearn.decomposition import PCA

    split = DATA[data].split(folder, 0)
    [part], judge = split.parts, Judge(split.parts[0], split)
    codes = np.unique(split.y, return_inverse=True)[1]
    rivals = [
        ("PCA", lambda: PCA(2, random_state=0).fit(split.X)),
        ("supervised UMAP", lambda: PEERS[UMAP].make(2, "classes").fit(split.X, codes)),
        ("labelens.Atlas", lambda: labelens.Atlas(random_state=0).fit(split.X, split.y)),
    ]
    sheet = Figure((13.5, 5), layout="constrained")
    for ax, (name, fit) in zip(sheet.subplots(1, 3), rivals, strict=True):
        if name == "supervised UMAP":
            fit().transform(part.X[:10])  # it compiles itself at first use
        model, took = timed(fit)
        Z = model.transform(part.X)
        known = model.embedding_ if hasattr(model, "embedding_") else model.transform(split.X)
        found = judge(known, Z)
        if isinstance(model, labelens.Atlas):
            labelens.plot.atlas(part.X, part.y, estimator=model, ax=ax)
        else:
            labelens.plot.scatter(Z, part.y, ax=ax)
            ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
            ax.set_adjustable("box")
            if (legend := ax.get_legend()) is not None:
                legend.remove()
        ax.set_title(
            f"{name}, {took:.1f} s\n1-NN accuracy {found['acc1']:.3f}, trustworthiness within "
            f"classes {found['trust']:.3f}",
            size=10,
        )
        print(name, found, f"{took:.2f} s", flush=True)
    sheet.savefig(file, dpi=120, metadata={"Software": None})


# The bars --------------------------------------------------------------------------------------


def by_split(records: list[Record]) -> dict[str, dict[str, dict[int, Record]]]:
    """Records by data set, method and split, of sets that have an atlas."""
    found: dict[str, dict[str, dict[int, Record]]] = {}
    for data in CLASS_SETS:
        for name in (ATLAS, BASE, UMAP):
            own = {r["split"]: r for r in records if (r["data"], r["method"]) == (data, name)}
            if own:
                found.setdefault(data, {})[name] = own
    return {data: one for data, one in found.items() if ATLAS in one}


def means(one: dict[int, Record]) -> Record:
    """Means over splits; calibration is of the rows of all splits together."""
    own = list(one.values())
    numbers = [k for k, v in own[0].items() if isinstance(v, int | float)]
    found = {k: float(np.mean([r[k] for r in own])) for k in numbers}
    if "calibration" in own[0]:
        sums = np.sum([r["calibration"] for r in own], axis=0)
        found["ece"], found["ece_chance"] = calibration_errors(sums)
    return found


def bars(found: dict[str, dict[str, dict[int, Record]]]) -> list[list[str]]:
    """Name, sets that reach it, the same but for noise, the share that is wanted, the others."""

    def against(rival: str, measure: str, less: float = 0.0, own: str | None = None) -> Any:
        return {
            data: [
                one[ATLAS][s][own or measure] - one[rival][s][measure] + less + 1e-12
                for s in sorted(one[ATLAS].keys() & one[rival].keys())
            ]
            for data, one in found.items()
            if rival in one
        }

    calibrated = {data: means(one[ATLAS]) for data, one in found.items()}
    transforms = {
        data: [3 * means(one[BASE])["transform_seconds"] - means(one[ATLAS])["transform_seconds"]]
        for data, one in found.items()
        if BASE in one
    }
    checks = [
        ("trustworthiness within classes >= UMAP - 0.02", against(UMAP, "trust", 0.02), 0.8),
        ("Label-Trustworthiness >= UMAP", against(UMAP, "label_trust"), 0.8),
        ("Label-Continuity >= UMAP", against(UMAP, "label_cont"), 0.8),
        ("1-NN >= base - 0.01", against(BASE, "acc1", 0.01), 0.8),
        ("15-NN >= base - 0.01", against(BASE, "acc15", 0.01), 0.8),
        ("1-NN >= UMAP", against(UMAP, "acc1"), 0.9),
        ("15-NN >= UMAP", against(UMAP, "acc15"), 0.9),
        ("ECE <= 0.03", {d: [0.03 - one["ece"]] for d, one in calibrated.items()}, 1.0),
        (
            "ECE <= 0.03 beyond that of perfect calibration",
            {d: [0.03 - one["ece"] + one["ece_chance"]] for d, one in calibrated.items()},
            1.0,
        ),
        ("predict >= 15-NN of base", against(BASE, "acc15", own="predict"), 0.8),
        ("transform <= 3 x base", transforms, 1.0),
    ]
    rows = []
    for name, gaps, wanted in checks:
        gap = {data: float(np.mean(some)) for data, some in gaps.items()}
        reached = sum(one >= 0 for one in gap.values())
        tied = sum(gap[data] >= -standard_error(some) for data, some in gaps.items())
        below = sorted((one, data) for data, one in gap.items() if one < 0)
        told = ", ".join(f"{data} {one:+.3f}" for one, data in below)
        holds = "yes" if reached >= wanted * len(gaps) else "no"
        rows.append([name, f"{reached} of {len(gaps)}", f"{tied}", f"{wanted:.0%}", holds, told])
    return rows


def markdown(stored: dict[str, Any]) -> str:
    """The part of a page."""
    found = by_split(stored["records"])
    heads = [
        "data, method",
        "splits",
        *(MEASURES[m] for m in MEASURED),
        "predict",
        "ECE",
        "ECE by chance",
    ]
    heads += ["fit, s", "transform, s"]
    rows = []
    for data, one in found.items():
        for name, own in one.items():
            figures = means(own)
            shown = [*MEASURED, "predict", "ece", "ece_chance"]
            cells = [f"{figures[m]:.3f}" if m in figures else "" for m in shown]
            seconds = [f"{figures[m]:.2f}" for m in ("fit_seconds", "transform_seconds")]
            rows.append([f"{data}, {name}", f"{len(own)}", *cells, *seconds])
    bar_heads = ["bar", "sets", "within one standard error", "wanted", "holds", "below"]
    runs = [", ".join(f"{n} {v}" for n, v in run.items()) for run in stored["runs"][-1:]]
    parts = [table(bar_heads, bars(found)), table(heads, rows), *runs]
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--out", type=Path, default=RESULTS / "atlas.json")
    parser.add_argument("--splits", type=int, default=1, help="at most so many of a data set")
    parser.add_argument("--only-ours", action="store_true", help="measure no UMAP")
    parser.add_argument("--again", action="store_true", help="measure ours again")
    parser.add_argument("--known-base", action="store_true", help="base models of the last run")
    parser.add_argument("--report", action="store_true", help="print the page, measure nothing")
    parser.add_argument("--figure", type=Path, help="draw the first of the sets into this file")
    parser.add_argument("sets", nargs="*", help="of " + ", ".join(CLASS_SETS))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if options.figure is not None:
        return figure(options.figure, (options.sets or ["digits"])[0], options.data)
    file, stored = options.out, {"runs": [], "records": []}
    if file.exists():
        stored = json.loads(file.read_text())
    if not options.report:
        stored["runs"] = [machine()]
        for data in options.sets or CLASS_SETS:
            run(data, options, stored, file)
    print(markdown(stored))


def run(data: str, options: Any, stored: dict[str, Any], file: Path) -> None:
    for seed in range(min(DATA[data].n_splits, options.splits)):
        split = DATA[data].split(options.data, seed)
        known = {
            r["method"]: r for r in stored["records"] if (r["data"], r["split"]) == (data, seed)
        }
        found = []
        if options.again or ATLAS not in known:
            found += ours(data, split, seed, known.get(BASE) if options.known_base else None)
        if not options.only_ours and UMAP not in known:
            found += umap(data, split, seed)
        new = {(r["data"], r["split"], r["method"]) for r in found}
        rest = [r for r in stored["records"] if (r["data"], r["split"], r["method"]) not in new]
        stored["records"] = rest + found
        file.write_text(json.dumps(stored, indent=0) + "\n", encoding="utf-8")
        for one in found:
            told = [f"{m} {one[m]:.3f}" for m in (*MEASURED, "predict", "ece") if m in one]
            seconds = f"{one['fit_seconds']:.2f} s, {one['transform_seconds']:.2f} s"
            print(f"{data:14} {seed} {one['method']:20} {', '.join(told)} ({seconds})", flush=True)


if __name__ == "__main__":
    main()
