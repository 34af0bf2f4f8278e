"""The page of `quality.py`: losses, ties, mean ranks, tables and times.

A difference is a loss or a win if it exceeds one standard error, that of the paired differences
over splits, and a tie otherwise. The best peer is the one with the best mean on the test rows: of
several peers the luckiest, which favours peers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from quality_measures import MEASURES
from quality_peers import BUDGET, OURS, RAW, UMAP

Record = dict[str, Any]
PREDICTIVE = ("acc1", "acc15", "r2", "f1")
KINDS = {"classes": "Classes", "numbers": "Numbers", "multilabel": "Label sets"}


@dataclass(frozen=True)
class Figure:
    """One measure of one method on a data set: a value for each split and part."""

    values: dict[tuple[int, int], float]

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.values.values())))

    @property
    def error(self) -> float:
        return standard_error(list(self.values.values()))

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.error:.3f}"

    def less(self, other: Figure) -> tuple[float, float]:
        """The mean difference over common splits, and its standard error."""
        common = sorted(self.values.keys() & other.values.keys())
        differences = [self.values[one] - other.values[one] for one in common]
        return float(np.mean(differences)), standard_error(differences)


def standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


@dataclass(frozen=True)
class Block:
    """A data set and k: all figures, by measure and method."""

    data: str
    kind: str
    k: int
    full: int
    figures: dict[str, dict[str, Figure]]
    seconds: dict[str, tuple[float, float]]  # medians, of the fit and of the choice of settings
    cpu: dict[str, float]  # medians, of the fit

    @property
    def title(self) -> str:
        return f"{self.data}, {self.k}"


def blocks(records: Iterable[Record], order: Iterable[str]) -> list[Block]:
    places = list(order)
    groups: dict[tuple[str, int], list[Record]] = {}
    for one in records:
        groups.setdefault((one["data"], one["k"]), []).append(one)
    found = []
    for data, k in sorted(groups, key=lambda place: (places.index(place[0]), place[1])):
        own = groups[data, k]
        by_method = {name: [one for one in own if one["method"] == name] for name in _methods(own)}
        figures = {
            measure: {
                name: Figure({(one["split"], one["part"]): one[measure] for one in rows})
                for name, rows in by_method.items()
            }
            for measure in MEASURES
            if measure in own[0]
        }
        seconds = {
            name: (
                float(np.median([one["seconds"] for one in rows])),
                float(np.median([one["tuning"] for one in rows])),
            )
            for name, rows in by_method.items()
        }
        cpu = {n: float(np.median([one["cpu"] for one in rows])) for n, rows in by_method.items()}
        found.append(Block(data, own[0]["kind"], k, own[0]["full"], figures, seconds, cpu))
    return found


def _methods(records: Iterable[Record]) -> list[str]:
    names = dict.fromkeys(one["method"] for one in records)
    return sorted(names, key=lambda name: name not in OURS)  # ours first


# Losses, ties and wins -------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    block: Block
    measure: str
    ours: str
    peer: str
    difference: float
    error: float

    @property
    def verdict(self) -> str:
        if abs(self.difference) <= self.error:
            return "tie"
        return "win" if self.difference > 0 else "loss"

    def cells(self) -> list[str]:
        figures = self.block.figures[self.measure]
        return [
            self.block.title,
            _title(self.measure, self.block.kind),
            f"{figures[self.ours]}",
            f"{self.peer} {figures[self.peer]}",
            f"{self.difference:+.3f} ± {self.error:.3f}",
        ]


def outcomes(found: list[Block], ours: str, raw: bool = False) -> list[Outcome]:
    """Ours compared with the best embedding of the peers, or with the raw columns."""
    result = []
    for block in found:
        for measure, figures in block.figures.items():
            rivals = [n for n in figures if n not in OURS and (n == RAW) == raw]
            if ours in figures and rivals and (measure in PREDICTIVE or not raw):
                peer = max(rivals, key=lambda name: figures[name].mean)
                result.append(
                    Outcome(block, measure, ours, peer, *figures[ours].less(figures[peer]))
                )
    return result


def _verdicts(found: list[Block], ours: str) -> list[str]:
    compared, raw = outcomes(found, ours), outcomes(found, ours, raw=True)
    heads = ["data, k", "measure", ours, "best peer", "difference"]
    counts = Counter((one.measure, one.verdict) for one in compared)
    against_raw = Counter((one.measure, one.verdict) for one in raw)
    summary = [
        [
            MEASURES[m],
            *(str(counts[m, v]) for v in ("loss", "tie", "win")),
            " / ".join(str(against_raw[m, v]) for v in ("loss", "tie", "win"))
            if m in PREDICTIVE
            else "",
        ]
        for m in MEASURES
        if any(one.measure == m for one in compared)
    ]

    def listed(some: list[Outcome], verdict: str) -> str:
        rows = sorted((o for o in some if o.verdict == verdict), key=lambda o: o.difference)
        return table(heads, [o.cells() for o in rows]) if rows else "None."

    return [
        f"## Losses of {ours}",
        "The best peer is better by more than one standard error of the difference.",
        listed(compared, "loss"),
        f"### {ours} below the raw columns",
        "All columns, without an embedding, predict better by more than one standard error.",
        listed(raw, "loss"),
        f"## Ties of {ours}",
        "The difference to the best peer is within one standard error.",
        listed(compared, "tie"),
        "## Counts",
        "Data sets and k, compared with the best peer, and with the raw columns.",
        table(["measure", "losses", "ties", "wins", "losses / ties / wins, raw columns"], summary),
    ]


# Mean ranks ------------------------------------------------------------------------------------


def critical_difference(methods: int, sets: int, level: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks (Demšar, 2006)."""
    quantile = studentized_range.ppf(1 - level, methods, 1e6) / np.sqrt(2)
    return float(quantile * np.sqrt(methods * (methods + 1) / (6 * sets)))


def mean_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of methods (columns) over data sets (rows); 1 is the best, ties share their ranks."""
    ranks: NDArray[np.float64] = rankdata(-scores, axis=1).mean(axis=0)
    return ranks


def groups(found: list[Block]) -> dict[str, list[Block]]:
    """Every data set once in a group, as Demšar's tests require."""
    classes = [one for one in found if one.kind == "classes"]
    numbers = [one for one in found if one.kind == "numbers"]
    result = {
        "classes, k = 2": [one for one in classes if one.k == 2],
        "classes, k = n_classes - 1": [one for one in classes if one.k == _less_one(one, classes)],
        "numbers, k = 1": [one for one in numbers if one.k == 1],
        "numbers, k = 2": [one for one in numbers if one.k == 2],
    }
    return {name: some for name, some in result.items() if some}


def _less_one(block: Block, classes: list[Block]) -> int:
    """Two classes have k = 1, which is below 2; others have the largest k."""
    ks = [one.k for one in classes if one.data == block.data]
    return min(ks) if min(ks) < 2 else max(ks)


def _ranks(found: list[Block]) -> list[str]:
    parts = [
        "## Mean ranks",
        "Ranks by the means of the splits, 1 is the best. Two methods differ (p < 0.05) if their "
        "mean ranks differ by more than the critical difference CD of Nemenyi's test; p is "
        "Friedman's. Raw columns are no embedding and are not ranked. Methods that fewer than half "
        "of the data sets have are left out, and then data sets that lack a method.",
    ]
    for group, some in groups(found).items():
        names = [n for n in _names(some) if n != RAW and 2 * _measured(n, some) >= len(some)]
        rows = []
        for measure in MEASURES:
            own = [b.figures[measure] for b in some if measure in b.figures]
            own = [figures for figures in own if all(n in figures for n in names)]
            if len(own) < 2 or len(names) < 3:
                continue
            scores = np.array([[figures[n].mean for n in names] for figures in own])
            chance = friedmanchisquare(*scores.T).pvalue
            ranks = [f"{rank:.2f}" for rank in mean_ranks(scores)]
            limit = f"{critical_difference(len(names), len(own)):.2f}"
            rows.append(
                [_title(measure, some[0].kind), str(len(own)), *ranks, limit, f"{chance:.1g}"]
            )
        if rows:
            parts += [f"**{group}**", table(["measure", "sets", *names, "CD", "p"], rows)]
    return parts if len(parts) > 2 else []


def _measured(name: str, some: list[Block]) -> int:
    return sum(name in block.seconds for block in some)


def _names(some: list[Block]) -> list[str]:
    found: dict[str, None] = {}
    for block in some:
        for figures in block.figures.values():
            found |= dict.fromkeys(figures)
    return list(found)


# Tables ----------------------------------------------------------------------------------------


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _tables(found: list[Block]) -> list[str]:
    parts = ["## Figures", "Mean ± standard error over splits; the best embedding in bold."]
    for kind, title in KINDS.items():
        some = [one for one in found if one.kind == kind]
        names = _names(some)
        for measure in MEASURES:
            own = [one for one in some if measure in one.figures]
            if own:
                rows = [[one.title, *_row(one.figures[measure], names)] for one in own]
                heading = f"**{title}: {_title(measure, kind)}**"
                parts += [heading, table(["data, k", *names], rows)]
    return parts


def _title(measure: str, kind: str) -> str:
    name = MEASURES[measure]
    return name if kind == "classes" else name.removesuffix(" within classes")


def _row(figures: dict[str, Figure], names: list[str]) -> list[str]:
    best = max((f.mean for n, f in figures.items() if n != RAW), default=np.nan)
    return [
        ""
        if n not in figures
        else f"**{figures[n]}**"
        if n != RAW and figures[n].mean == best
        else str(figures[n])
        for n in names
    ]


def _times(found: list[Block]) -> list[str]:
    ours = next((name for name in OURS if any(name in one.seconds for one in found)), None)
    rows = []
    for one in found:
        if ours not in one.seconds:
            continue
        row = [one.title, f"{one.seconds[ours][0]:.2f}", f"{one.cpu[ours]:.2f}"]
        if UMAP in one.seconds:
            fit, tuning = one.seconds[UMAP]
            row += [f"{fit:.2f}", f"{one.cpu[UMAP]:.2f}", f"{fit + tuning:.2f}"]
            row.append(f"{one.cpu[UMAP] / one.cpu[ours]:.2f}")
        rows.append(row + [""] * (7 - len(row)))
    if not rows:
        return []
    heads = ["data, k", f"{ours}, wall", "CPU", f"{UMAP}, wall", "CPU", "wall, with tuning"]
    return [
        "## Times",
        f"Seconds, medians of the splits. The time of {ours} includes its cross-validation. CPU "
        "seconds are the sum over threads; where other programs use the machine, compare these.",
        table([*heads, f"CPU of one fit of UMAP / {ours}"], rows),
    ]


def page(stored: dict[str, Any], about: dict[str, tuple[int, str]]) -> str:
    """Markdown of all records; `about` has the splits and a note for each data set, in order."""
    found = blocks(stored["records"], about)
    parts = ["# Quality of embeddings"]
    for ours in OURS:
        parts += _verdicts(found, ours) if any(ours in one.seconds for one in found) else []
    parts += _ranks(found) + _tables(found) + _times(found)
    sets = []
    for name in dict.fromkeys(one.data for one in found):
        own = [one for one in stored["records"] if one["data"] == name]
        done = len({one["split"] for one in own})
        how = "its own, 5 parts" if own[-1]["part"] else f"{done} of {about[name][0]}"
        shape = f"{own[0]['rows']} x {own[0]['columns']}"
        sets.append([name, shape, how, about[name][1]])
    runs = [", ".join(f"{n} {v}" for n, v in run.items()) for run in stored["runs"]]
    used = sorted({one["run"] for one in stored["records"]})
    parts += [
        "## Protocol",
        "\n".join(f"- {line}" for line in BUDGET),
        "Splits are random, 3/4 and 1/4, classes in proportion. Where a set has its own test part, "
        "the standard error is over five parts of the test rows: it leaves out how much the "
        "training rows matter.",
        "Label-Trustworthiness, Label-Continuity (Jeon et al., 2024) and trustworthiness (10 "
        "neighbours) compare the embedding of held-out rows with their standardized columns; text "
        "with its tf-idf rows. For numbers and label sets, trustworthiness is of at most 2,000 "
        "held-out rows together.",
        table(["data", "training rows x columns", "splits", "note"], sets),
        "\n".join(f"- {runs[number]}" for number in used),
    ]
    return "\n\n".join(parts) + "\n"
