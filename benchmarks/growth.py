"""`make bench-growth`: fit time against n, d, c, k and n_random_features, and the slopes."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from measure import machine, seconds
from publish import Printed

REPEATS = 7
# Slope of fit time in n that we ask of ourselves, and how far it may be off.
IN_N = (1.0, 0.1)


def methods(k: int = 9, n_random_features: int = 1024) -> dict[str, Callable[[], Any]]:
    """One of each that reads the data once."""
    kernel = dict(gamma=0.01, n_random_features=n_random_features, random_state=0)
    return {
        "SRP": lambda: SupervisedRandomProjection(k, random_state=0),
        "SPCA": lambda: SupervisedPCA(k),
        "KSRP": lambda: KernelSupervisedRandomProjection(k, **kernel),
        "KSPCA": lambda: KernelSupervisedPCA(k, **kernel),
    }


def rows(n: int, d: int, c: int = 10) -> tuple[Any, Any]:
    """Float32 rows of c classes; blocks of them repeat, which no method can tell."""
    draw = np.random.default_rng(0)
    some = draw.standard_normal((min(n, 20000), d), dtype=np.float32)
    labels = draw.integers(0, c, len(some))
    some += draw.standard_normal((c, d), dtype=np.float32)[labels]
    return np.resize(some, (n, d)), np.resize(labels, n)


def fit_time(make: Callable[[], Any], X: Any, y: Any) -> float:
    make().fit(X, y)  # once before, unmeasured
    return statistics.median(seconds(lambda: make().fit(X, y)) for _ in range(REPEATS))


def over_n(sizes: list[int], names: tuple[str, ...]) -> dict[str, list[float]]:
    X, y = rows(max(sizes), 784)
    models = methods()
    return {name: [fit_time(models[name], X[:n], y[:n]) for n in sizes] for name in names}


def over_d(sizes: list[int]) -> dict[str, list[float]]:
    return _each(sizes, lambda d: (rows(20000, d), methods()))


def over_c(sizes: list[int]) -> dict[str, list[float]]:
    return _each(sizes, lambda c: (rows(20000, 784, c), methods()))


def over_k(sizes: list[int]) -> dict[str, list[float]]:
    data = rows(20000, 784, 300)
    return _each(sizes, lambda k: (data, methods(k)))


def over_features(sizes: list[int]) -> dict[str, list[float]]:
    data = rows(20000, 784)
    return _each(sizes, lambda p: (data, methods(n_random_features=p)), ("KSRP", "KSPCA"))


def _each(
    sizes: list[int],
    case: Callable[[int], Any],
    names: tuple[str, ...] = ("SRP", "SPCA", "KSRP", "KSPCA"),
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in names}
    for size in sizes:
        (X, y), models = case(size)
        for name in names:
            times[name].append(fit_time(models[name], X, y))
    return times


def slope(sizes: list[int], times: list[float]) -> float:
    """Of log time in log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def draw(sweeps: dict[str, Any], target: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = dict(SRP="#0072b2", SPCA="#d55e00", KSRP="#56b4e9", KSPCA="#e69f00")
    marks = dict(SRP="o", SPCA="s", KSRP="^", KSPCA="D")
    figure, axes = plt.subplots(1, len(sweeps), figsize=(3.4 * len(sweeps), 3.6), sharey=True)
    for axis, (title, sweep) in zip(axes, sweeps.items(), strict=True):
        for name, times in sweep["times"].items():
            label = f"{name}  {sweep['slopes'][name]:.2f}"
            style = dict(color=colours[name], marker=marks[name], markersize=4, linewidth=1.4)
            axis.loglog(sweep["sizes"], times, label=label, **style)
        axis.set_xlabel(title)
        axis.set_xticks(sweep["sizes"], [f"{size:,}" for size in sweep["sizes"]], rotation=45)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.legend(title="slope", fontsize=7, title_fontsize=7, loc="upper left")
    axes[0].set_ylabel("fit time, s")
    axes[0].set_ylim(top=20 * max(axes[0].get_ylim()[1], 1))  # space for the legends
    figure.tight_layout()
    for suffix in ("png", "svg"):
        figure.savefig(target / f"growth.{suffix}", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    start, about = time.perf_counter(), machine()
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    cases: dict[str, tuple[list[int], Callable[[list[int]], dict[str, list[float]]]]] = {
        "n, rows (d = 784)": (
            [100_000, 200_000, 500_000, 1_000_000],
            lambda sizes: over_n(sizes, ("SRP", "SPCA", "KSRP")),
        ),
        "d, columns (n = 20,000)": ([64, 128, 256, 512, 1024, 2048], over_d),
        "c, classes (n = 20,000)": ([10, 30, 100, 300, 1000], over_c),
        "k, components (c = 300)": ([2, 4, 8, 16, 32, 64], over_k),
        "n_random_features (n = 20,000)": ([256, 512, 1024, 2048, 4096], over_features),
    }
    sweeps = {}
    for title, (sizes, measure) in cases.items():
        times = measure(sizes)
        slopes = {name: slope(sizes, line) for name, line in times.items()}
        sweeps[title] = dict(sizes=sizes, times=times, slopes=slopes)
        print(f"\n{title:32}" + "".join(f"{size:>11,}" for size in sizes) + "      slope")
        for name, line in times.items():
            goal = ""
            if title.startswith("n, rows"):
                within = abs(slopes[name] - IN_N[0]) <= IN_N[1]
                goal = f"  {IN_N[0]} +- {IN_N[1]} {'reached' if within else 'MISSED'}"
            shown = "".join(f"{value * 1e3:>8.1f} ms" for value in line)
            print(f"{name:32}{shown}{slopes[name]:>11.2f}{goal}", flush=True)
    draw(sweeps, arguments.out)
    written = arguments.out / "growth.json"
    written.write_text(json.dumps({"machine": about, "sweeps": sweeps}, indent=1) + "\n")
    print(
        f"\n{time.perf_counter() - start:.0f} s in all; written to {written} and growth.png, .svg"
    )
    say = Printed()
    tables(sweeps, say)
    say.keep("growth", about)


def tables(sweeps: dict[str, Any], say: Printed) -> None:
    """The tables of the page."""
    middle, most = IN_N
    say(f"Slopes are of log time in log size. The goal in n is {middle} ± {most}.")
    for title, sweep in sweeps.items():
        say()
        say.head(title, *(f"{size:,}" for size in sweep["sizes"]), "slope")
        for name, line in sweep["times"].items():
            times = (f"{value * 1e3:.1f} ms" for value in line)
            say.row(name, *times, f"{sweep['slopes'][name]:.2f}")


if __name__ == "__main__":
    main()
