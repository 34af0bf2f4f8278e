"""`make bench-quality`: embeddings of held-out rows, ours compared with those of peers.

    python benchmarks/quality.py --data FOLDER --out FOLDER [--quick] [--splits N] [--again]
                                 [--only METHOD] [--without METHOD] [DATA SET ...]

Every data set is split at random, 3/4 and 1/4, with classes in proportion. A set that has its own
test part is fitted once, and the measures of five parts of its test rows give the standard error.
`quality_peers.py` has the methods, `quality_measures.py` the measures.

`quality.json` keeps a record of every data set, k, method and split, written after each method. A
later run measures what is missing, so a run that was stopped goes on where it stopped. `--again`
measures all that it names again: `--again --only labelens.select` after a change of `select`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from data import DATA, Split
from measure import machine
from quality_measures import MEASURES, Judge
from quality_peers import OURS, PEERS, RAW, SELECT, UMAP, Fitted, fit_peer, peers
from quality_report import page

QUICK = ("iris", "wine", "concrete")
MOST_COMPONENTS = 32

Record = dict[str, Any]
Wanted = Callable[[int, str], bool]  # of k and the name of the method


def components(split: Split) -> tuple[int, ...]:
    """2 and the classes less one (at most the columns, and 32); 1 and 2 for numbers."""
    if split.kind == "numbers":
        return (1, 2)
    labels = split.y.shape[1] if split.kind == "multilabel" else len(np.unique(split.y))
    return tuple(sorted({2, min(labels - 1, split.X.shape[1], MOST_COMPONENTS)}))


def methods(split: Split, k: int, seed: int) -> Iterator[tuple[str, bool, Callable[[], Fitted]]]:
    """Name, whether it is ours, and a function that fits it."""
    for name, ours in OURS.items():
        if split.kind in ours.kinds and (ours.sizes is None or k in ours.sizes):
            yield name, True, lambda fit=ours.fit: fit(split.X, split.y, split.kind, k, seed)
    for name, peer in peers(split.kind).items():
        yield name, False, lambda p=peer: fit_peer(p, split.X, split.y, split.kind, k, seed)


def measure(data: str, seed: int, folder: Path | None, wanted: Wanted) -> Iterator[list[Record]]:
    """Records of one split, for each k and method: one for each part of the held-out rows."""
    split, judges, raw = DATA[data].split(folder, seed), [], []
    ks = components(split)
    for k in ks:
        for name, ours, fit in methods(split, k, seed):
            if not wanted(k, name):
                continue
            if name == RAW and raw:  # the same for every k
                yield [one | {"k": k} for one in raw]
                continue
            judges = judges or [Judge(part, split) for part in split.parts]
            try:
                model = fit()
            except (ValueError, np.linalg.LinAlgError) as error:
                print(f"{data} k={k} {name} failed: {error}", flush=True)
                continue
            same = dict(data=data, kind=split.kind, k=k, full=max(ks), method=name, ours=ours)
            same |= dict(split=seed, rows=len(split.y), columns=split.X.shape[1])
            same |= dict(seconds=model.seconds, cpu=model.cpu, tuning=model.tuning)
            same |= dict(setting=model.setting)
            records = [
                same | {"part": number} | judge(model.train, model.transform(part.X))
                for number, (part, judge) in enumerate(zip(split.parts, judges, strict=True))
            ]
            raw = records if name == RAW else raw
            _tell(records)
            yield records


def _tell(records: list[Record]) -> None:
    one = records[0]
    names = [name for name in MEASURES if name in one]
    means = ", ".join(f"{n} {np.mean([each[n] for each in records]):.3f}" for n in names)
    place = f"{one['data']:16} k={one['k']:<3} split {one['split']}"
    print(f"{place} {one['method']:16} {means} ({one['seconds']:.2f} s)", flush=True)


def has_umap() -> bool:
    try:
        import umap  # noqa: F401
    except ImportError:
        return False
    return True


def warm_up(names: list[str]) -> None:
    """Ours and UMAP compile themselves at first use."""
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(5000, 8)), draw.integers(0, 3, 5000)
    if any(name in OURS for name in names):
        OURS[SELECT].fit(X, y, "classes", 2, 0)
    if UMAP in names and has_umap():
        import umap

        umap.UMAP().fit(X, y).transform(X[:100])


def read(file: Path) -> dict[str, Any]:
    if file.exists():
        stored: dict[str, Any] = json.loads(file.read_text())
        return stored
    return {"runs": [], "records": []}


def key(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in ("data", "k", "method", "split"))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--again", action="store_true", help="measure known ones again")
    parser.add_argument(
        "--quick", action="store_true", help="two splits, by default of " + ", ".join(QUICK)
    )
    parser.add_argument("--splits", type=int, default=5, help="at most so many of a data set")
    for name, told in (("--only", "the methods that are measured"), ("--without", "left out")):
        parser.add_argument(name, action="append", default=[], metavar="METHOD", help=told)
    parser.add_argument("--report", action="store_true", help="write the page, measure nothing")
    parser.add_argument("sets", nargs="*", help="of " + ", ".join(DATA))
    options = parser.parse_args(arguments)
    names = options.sets or (QUICK if options.quick else DATA)
    if unknown := sorted(set(names) - set(DATA)):
        parser.error(f"unknown data sets: {', '.join(unknown)}. Known: {', '.join(DATA)}")
    warnings.simplefilter("ignore")
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "quality.json"
    stored = read(file)
    if not options.report:
        about = machine() | {
            "commit": commit(),
            "threads": os.environ.get("OMP_NUM_THREADS", "default"),
        }
        print(", ".join(f"{name} {value}" for name, value in about.items()), flush=True)
        stored["runs"].append(about)
        if not options.quick:
            warm_up([n for n in options.only or [*OURS, *PEERS] if n not in options.without])
        run(names, options, stored, file)
    text = page(stored, {name: (data.n_splits, data.note) for name, data in DATA.items()})
    (options.out / "quality.md").write_text(text)
    print(f"The page is {options.out / 'quality.md'}")


def markdown(stored: dict[str, Any]) -> str:
    """The part of a page: without a title, and with smaller headings."""
    text = page(stored, {name: (data.n_splits, data.note) for name, data in DATA.items()})
    _, _, text = text.partition("\n")
    return text.replace("\n##", "\n###").lstrip("\n")


def run(names: Any, options: Any, stored: dict[str, Any], file: Path) -> None:
    """Measure the data sets, and store each method when it is done."""
    for name in names:
        for seed in range(min(DATA[name].n_splits, 2 if options.quick else options.splits)):
            wanted = _wanted(name, seed, options, {key(one) for one in stored["records"]})
            try:
                for found in measure(name, seed, options.data, wanted):
                    new = key(found[0])
                    stored["records"] = [one for one in stored["records"] if key(one) != new]
                    stored["records"] += [one | {"run": len(stored["runs"]) - 1} for one in found]
                    file.write_text(json.dumps(stored, indent=0))
            except FileNotFoundError as error:
                print(f"{name} is left out: {error}", flush=True)
                break


def _wanted(data: str, seed: int, options: Any, known: set[tuple[Any, ...]]) -> Wanted:
    def wanted(k: int, name: str) -> bool:
        if name in options.without or (options.only and name not in options.only):
            return False
        missing = options.again or (data, k, name, seed) not in known
        return missing and (name != UMAP or has_umap())

    return wanted


def commit() -> str:
    """The version of the working tree."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    here = Path(__file__).parent
    found = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    return found.stdout.strip()


if __name__ == "__main__":
    main()
