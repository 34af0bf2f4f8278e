"""Response time of the explorer after a change of a setting, in headless Chromium.

    python benchmarks/explore.py --data DIR

The script opens the 60,000 training rows of MNIST and moves sliders. It times each move until the
first frame in which the points move: request, both fits, scores, transfer, and upload to the GPU
(emulated in software if the machine has none). The points glide for 0.4 s. The next move comes
30 ms after the answer, so the page draws while the server fits. Two moves in a row never ask for
the same fit. The script reads the memory of the server and of the browser before and after the
linear moves.

It then opens simulated rows of the shape of Covertype, 581,012 x 54 in 7 classes, and moves
sliders of kernel methods, whose first answer uses a sample. docs/explore.md has the figures. With
--only or --large the script prints a part of the tables and writes no file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
from pathlib import Path

import numpy as np
from selenium import webdriver

from data import mnist
from labelens.explorer.explored import from_arrays
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import session_of
from measure import machine
from publish import Printed

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-background-networking", "--no-first-run",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=1280,900",
]  # fmt: skip
SCALES = ["none", "standard", "minmax"]
# Name of a row -> settings, the slider (None: more settings), and the value of the i-th move.
MOVES = {
    "supervised PCA, target weight": ({}, "target-slide", lambda i: 0.99 - 0.01 * i),
    "supervised PCA, shrinkage": ({}, "shrinkage-slide", lambda i: 99 - i % 99),
    "supervised PCA, both below 1": (
        {"shrinkage": 0.1}, "target-slide", lambda i: 0.99 - 0.01 * i),
    "supervised PCA, components": ({}, "components-slide", lambda i: 1 + i % 20),
    "supervised PCA, scaling": (
        {"shrinkage": 0.1}, None,
        lambda i: {"scale": SCALES[i % 3], "target_weight": 0.5 + 0.001 * i}),
    "SRP, seed": ({"method": "srp"}, None, lambda i: {"seed": i}),
    "SRP, target weight": ({"method": "srp"}, "target-slide", lambda i: 0.99 - 0.01 * i),
    "kernel SRP, 1024 features, gamma": (
        {"method": "ksrp"}, "gamma-slide", lambda i: -1 + 0.02 * i),
    "kernel SPCA, 1024 features, gamma": (
        {"method": "kspca"}, "gamma-slide", lambda i: -1 + 0.02 * i),
    "kernel SPCA, 1024 features, shrinkage": (
        {"method": "kspca"}, "shrinkage-slide", lambda i: 99 - i % 99),
    "kernel SPCA, 1024 features, target weight": (
        {"method": "kspca"}, "target-slide", lambda i: 0.99 - 0.01 * i),
    "kernel SPCA, 1024 features, gamma, shrinkage 0.01": (
        {"method": "kspca", "shrinkage": 0.01}, "gamma-slide", lambda i: -1 + 0.02 * i),
}  # fmt: skip
AT_ONCE = 10
WARM = 3  # moves before each ten that are not counted
PLAIN = {
    "method": "spca", "shrinkage": 1, "target_weight": 1, "gamma": 1, "scale": "none",
    "components": 2, "seed": 0, "map": "components",
}  # fmt: skip
LIMITS = {"supervised": 150, "SRP": 150, "kernel": 1000}
MOVED = {150: 100, 1000: 50}  # number of moves, by the limit
LARGE = 25  # moves on the large table

MOVE = """
const [changes, slider, values, warm, done] = arguments;
const pane = explorer.panes[0];
const { scatter } = pane;
const drawn = scatter.drawn;
const times = [];
const shown = (before) => new Promise((resolve) => {
  scatter.drawn = (share) => {
    drawn(share);
    if (pane.picture === before) return;
    scatter.drawn = drawn;
    resolve();
  };
});
// While no setting changes, the answer of all rows replaces that of the sample.
const idle = async () => {
  while (pane.asking && !pane.refining) await new Promise((r) => setTimeout(r, 5));
};
(async () => {
  pane.change(changes);
  await idle();
  explorer.controls.show();
  for (const [i, value] of values.entries()) {
    const seen = shown(pane.picture);
    const began = performance.now();
    if (slider) {
      const element = document.getElementById(slider);
      element.value = value;
      element.dispatchEvent(new Event("input", { bubbles: true }));
    } else pane.change(value);
    await seen;
    if (i >= warm) times.push(performance.now() - began);
    await idle();
    await new Promise((r) => setTimeout(r, 30));
  }
  done(times);
})();
"""


def covertype() -> tuple[np.ndarray, np.ndarray]:
    """Simulated rows of the shape of Covertype."""
    rng = np.random.default_rng(0)
    y = rng.choice(7, 581_012, p=[0.365, 0.488, 0.061, 0.005, 0.016, 0.030, 0.035])
    X = rng.normal(size=(7, 54))[y] + 3 * rng.normal(size=(len(y), 54))
    return X.astype(np.float32), y


def megabytes(top: int) -> int:
    """Resident memory of a process and of its descendants."""
    parents, pages = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            pages[int(path.name)] = int((path / "statm").read_text().split()[1])
        except OSError:  # the process has ended
            continue
    family = {top}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return round(sum(pages.get(pid, 0) for pid in family) * os.sysconf("SC_PAGE_SIZE") / 1e6)


class Page:
    """The page of a data set, in its own browser."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self.explorer = Explorer(session_of(from_arrays(X, y, "rows"))).start()
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in FLAGS:
            options.add_argument(flag)
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options, service)
        self.driver.set_script_timeout(600)
        self.driver.get(self.explorer.url)
        wait = "const d = arguments[0]; (function f() { document.documentElement.dataset.ready "
        self.driver.execute_async_script(wait + "? setTimeout(d, 8000) : setTimeout(f, 50); })()")

    def close(self) -> None:
        self.driver.quit()
        self.explorer.stop()

    def memory(self) -> tuple[int, int]:
        """MB of the server's process and of the browser."""
        self.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        browser = megabytes(self.driver.service.process.pid)
        return megabytes(os.getpid()) - browser, browser

    def moved(self, name: str, moves: int) -> list[float]:
        """Milliseconds of each move."""
        view, slider, value = MOVES[name]
        times: list[float] = []
        for start in range(0, moves, AT_ONCE):  # the driver has a timeout
            ahead = [value((start + moves // 2 + j) % moves) for j in range(WARM)]
            some = [value(i) for i in range(start, min(start + AT_ONCE, moves))]
            times += self.driver.execute_async_script(
                MOVE, PLAIN | view, slider, ahead + some, WARM
            )
        return times


def measure(X: np.ndarray, y: np.ndarray, names: list[str], say: Printed, moves: int | None) -> str:
    """Print a row for each kind of moves, and return the sentence about memory."""
    page = Page(X, y)
    try:
        before, linear = None, 0
        for name in names:
            goal = LIMITS[name.partition(" ")[0].rstrip(",")]
            if goal == 150 and before is None:
                page.moved(name, AT_ONCE)
                before = page.memory()
            times = page.moved(name, moves or MOVED[goal])
            middle, late = statistics.median(times), statistics.quantiles(times, n=20)[-1]
            say.row(name, len(times), f"{middle:.0f} ms", f"{late:.0f} ms", f"{goal} ms")
            if goal == 150:
                after, linear = page.memory(), linear + len(times)
        if before is None:
            return ""
        (server, browser), (server_after, browser_after) = before, after
        return (
            f"Memory before and after the {linear} moves of linear methods: server {server} and "
            f"{server_after} MB, browser {browser} and {browser_after} MB."
        )
    finally:
        page.close()


def main(data: Path | None, only: str | None, large: bool) -> None:
    say, wanted = Printed(), [name for name in MOVES if (only or "") in name]
    head = ("setting that changes", "moves", "median", "95 %", "goal")
    if not large:
        X, y, *_ = mnist(data)
        say(f"MNIST, {len(X):,} x {X.shape[1]}:\n")
        say.head(*head)
        memory = measure(X, y, wanted, say, None)
        say(f"\n{memory}\n")
    if large or only is None:
        X, y = covertype()
        say(f"Simulated rows, {len(X):,} x {X.shape[1]}, {len(set(y.tolist()))} classes, first "
            "answers:\n")  # fmt: skip
        say.head(*head)
        measure(X, y, [name for name in wanted if name.startswith("kernel")], say, LARGE)
    say(f"\nLoad average at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, including "
        "the server and the browser.")  # fmt: skip
    if only is None and not large:
        say.keep("explore", machine())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with mnist/; downloaded without it")
    parser.add_argument("--only", help="only rows whose name contains this text")
    parser.add_argument("--large", action="store_true", help="only the large table")
    main(**vars(parser.parse_args()))
