"""`make bench-quality`: embeddings of held-out rows, ours compared with those of peers.

    python benchmarks/quality.py --data FOLDER --out FOLDER [--only-ours] [--quick] [--splits N]
                                 [--without PEER] [DATA SET ...]

Every data set is split at random, 3/4 and 1/4, with classes in proportion. A set that has its own
test part is fitted once, and the measures of five parts of its test rows give the standard error.
`quality_peers.py` has the methods, `quality_measures.py` the measures.

`quality.json` keeps a record of every data set, k, method and split. Records of peers do not depend
on labelens and are kept: a later run measures ours again, and those of peers that are missing.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from data import DATA, Split
from measure import machine
from quality_measures import MEASURES, Judge
from quality_peers import OURS, RAW, UMAP, Fitted, fit_peer, peers
from quality_report import page

QUICK = ("iris", "wine", "concrete")
MOST_COMPONENTS = 32

Record = dict[str, Any]
Wanted = Callable[[int, str, bool], bool]  # of k, the name of the method, and whether it is ours


def components(split: Split) -> tuple[int, ...]:
    """2 and the classes less one (at most the columns, and 32); 1 and 2 for numbers."""
    if split.kind == "numbers":
        return (1, 2)
    labels = split.y.shape[1] if split.kind == "multilabel" else len(np.unique(split.y))
    return tuple(sorted({2, min(labels - 1, split.X.shape[1], MOST_COMPONENTS)}))


def methods(split: Split, k: int, seed: int) -> Iterator[tuple[str, bool, Callable[[], Fitted]]]:
    """Name, whether it is ours, and a function that fits it."""
    for name, ours in OURS.items():
        yield name, True, lambda fit=ours: fit(split.X, split.y, k, seed)
    for name, peer in peers(split.kind).items():
        yield name, False, lambda p=peer: fit_peer(p, split.X, split.y, split.kind, k, seed)


def measure(data: str, seed: int, folder: Path | None, wanted: Wanted) -> list[Record]:
    """Records of one split: a record for each k, method and part of the held-out rows."""
    split, judges, raw, found = DATA[data].split(folder, seed), [], [], []
    ks = components(split)
    for k in ks:
        for name, ours, fit in methods(split, k, seed):
            if not wanted(k, name, ours):
                continue
            if name == RAW and raw:  # the same for every k
                found += [one | {"k": k} for one in raw]
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
            raw, found = records if name == RAW else raw, found + records
            _tell(records)
    return found


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


def warm_up(with_umap: bool) -> None:
    """Both compile themselves at first use."""
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(5000, 8)), draw.integers(0, 3, 5000)
    for fit in OURS.values():
        fit(X, y, 2, 0)
    if with_umap:
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
    parser.add_argument("--only-ours", action="store_true", help="measure no peers")
    parser.add_argument("--only-peers", action="store_true", help="measure known ours not again")
    parser.add_argument("--again", action="store_true", help="measure known peers again")
    parser.add_argument(
        "--quick", action="store_true", help="two splits, by default of " + ", ".join(QUICK)
    )
    parser.add_argument("--splits", type=int, default=5, help="at most so many of a data set")
    parser.add_argument(
        "--without", action="append", default=[], metavar="PEER", help="a peer that is left out"
    )
    parser.add_argument("--report", action="store_true", help="write the page, measure nothing")
    parser.add_argument("--page", type=Path, help="a page that gets it, between marks")
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
        about = machine() | {"threads": os.environ.get("OMP_NUM_THREADS", "default")}
        print(", ".join(f"{name} {value}" for name, value in about.items()), flush=True)
        stored["runs"].append(about)
        if not options.quick:
            warm_up(has_umap() and UMAP not in options.without)
        run(names, options, stored, file)
    text = page(stored, {name: (data.n_splits, data.note) for name, data in DATA.items()})
    (options.out / "quality.md").write_text(text)
    print(f"The page is {options.out / 'quality.md'}")
    if options.page is not None:
        options.page.write_text(inserted(options.page.read_text(), text))


def inserted(page: str, text: str) -> str:
    """A page with the text between its marks: without a title, and with smaller headings."""
    before, _, rest = page.partition("<!-- quality -->\n")
    _, end, after = rest.partition("<!-- /quality -->")
    if not end:
        raise ValueError("The page has no marks <!-- quality --> and <!-- /quality -->.")
    _, _, text = text.partition("\n")
    return f"{before}<!-- quality -->{text.replace(chr(10) + '##', chr(10) + '###')}{end}{after}"


def run(names: Any, options: Any, stored: dict[str, Any], file: Path) -> None:
    """Measure the data sets, and store each split when it is done."""
    for name in names:
        for seed in range(min(DATA[name].n_splits, 2 if options.quick else options.splits)):
            try:
                found = measure(name, seed, options.data, _wanted(name, seed, options, stored))
            except FileNotFoundError as error:
                print(f"{name} is left out: {error}", flush=True)
                break
            new = {key(one) for one in found}
            stored["records"] = [one for one in stored["records"] if key(one) not in new]
            stored["records"] += [one | {"run": len(stored["runs"]) - 1} for one in found]
            file.write_text(json.dumps(stored, indent=0))


def _wanted(data: str, seed: int, options: Any, stored: dict[str, Any]) -> Wanted:
    known = set() if options.again else {key(one) for one in stored["records"]}

    def wanted(k: int, name: str, ours: bool) -> bool:
        if ours:
            return not (options.only_peers and (data, k, name, seed) in known)
        if name in options.without:
            return False
        missing = (data, k, name, seed) not in known
        return missing and not options.only_ours and (name != UMAP or has_umap())

    return wanted


if __name__ == "__main__":
    main()
