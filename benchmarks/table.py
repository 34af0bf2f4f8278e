"""Times of jobs and of their references: printed at once, kept, and written for a page."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from measure import take_turns


class Table:
    """Lines as they come, printed at once and kept."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def section(self, title: str) -> None:
        print(f"\n{title}")
        print(f"{'':34}{'against':33}{'ours':>10}{'theirs':>10}{'ratio':>8}  {'middle half':15}")
        self.title = title

    def compare(
        self,
        job: str,
        against: str,
        ours: Callable[[], object],
        theirs: Callable[[], object],
        *,
        turns: int = 1,
        floor: bool = False,
        goal: float | None = None,
    ) -> None:
        """Against a floor: how many times slower, at most `goal`; a peer: faster, at least."""
        pair = take_turns(ours, theirs, turns)
        ratio, (low, high), unit = pair.ratio, pair.spread, "x"
        if not floor:
            ratio, low, high, unit = 1 / ratio, 1 / high, 1 / low, "x faster"
        reached = None if goal is None else ratio <= goal if floor else ratio >= goal
        bound = "" if goal is None else f"{'<=' if floor else '>='} {goal:g}"
        mine, other = (statistics.median(side) for side in (pair.ours, pair.theirs))
        self._add(
            dict(job=job, against=against, ours_s=mine, theirs_s=other, turns=turns)
            | dict(ratio=ratio, low=low, high=high, unit=unit, goal=bound, reached=reached),
            f"{job:34}{against:33}{in_seconds(mine):>10}{in_seconds(other):>10}{_number(ratio):>8}"
            f"  {f'{_number(low)}-{_number(high)} {unit}':20}",
        )

    def figure(
        self, job: str, value: float | None, unit: str, at_most: float | None = None
    ) -> None:
        """One measured number."""
        goal = "" if at_most is None else f"<= {at_most:g} {unit}"
        reached = None if at_most is None or value is None else value <= at_most
        shown = "unknown" if value is None else f"{value:.4g} {unit}"
        line = dict(job=job, value=value, unit=unit, goal=goal, reached=reached)
        self._add(line, f"{job:67}{shown:>20}{'':19}")

    def _add(self, line: dict[str, Any], text: str) -> None:
        self.lines.append({"section": self.title} | line)
        verdict = {None: "", True: "reached", False: "MISSED"}[line["reached"]]
        print(f"{text}{line['goal']:>10} {verdict}".rstrip(), flush=True)


def in_seconds(value: float) -> str:
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def markdown(about: dict[str, Any], lines: list[dict[str, Any]]) -> str:
    """The same as tables for a page."""
    parts = [", ".join(f"{name} {value}" for name, value in about.items()) + "."]
    section = None
    for line in lines:
        if line["section"] != section:
            section = line["section"]
            parts.append(
                f"\n**{section}**\n\n| job | against | ours | theirs | ratio | middle half |"
            )
            parts[-1] += " must reach |\n|---|---|---|---|---|---|---|"
        goal = line["goal"] and f"{line['goal']}: {'reached' if line['reached'] else '**missed**'}"
        if "value" in line:
            shown = "unknown" if line["value"] is None else f"{line['value']:.4g} {line['unit']}"
            parts.append(f"| {line['job']} | | {shown.strip()} | | | | {goal} |")
            continue
        times = f"{in_seconds(line['ours_s'])} | {in_seconds(line['theirs_s'])}"
        ratio = f"{_number(line['ratio'])} {line['unit']} | {_number(line['low'])}"
        parts.append(
            f"| {line['job']} | {line['against']} | {times} | {ratio} to {_number(line['high'])} "
            f"| {goal} |"
        )
    return "\n".join(parts) + "\n"
