"""How long the explorer's page waits after a move of a slider, end to end, in headless Chromium.

    python benchmarks/explore.py --data DIR --out DIR

opens MNIST's 60,000 training rows, moves sliders as a hand would and times each from the move to
the first frame in which the points are on their way: request, both fits, scores, transfer and
upload to the GPU (emulated in software, unless the machine has one). They glide for 0.4 s from
then on, and a move comes 30 ms after the answer to the one before, so the page draws while the
server fits; a hand that does not wait has moves dropped instead. No two moves in a row ask for the
same fit. Prints the median and the 95th percentile.

`--large` takes simulated rows of the shape of Covertype, 581,012 x 54 in 7 classes, and moves of
kernel methods: their first answer is that of a sample.
"""

from __future__ import annotations

import argparse
import json
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

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-background-networking", "--no-first-run",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=1280,900",
]  # fmt: skip
SCALES = ["none", "standard", "minmax"]
# What is moved: settings, the slider (None: settings again), and where the i-th of 100 moves goes.
MOVES = {
    "supervised PCA, target weight": ({}, "target-slide", lambda i: 0.99 - 0.01 * i),
    "supervised PCA, shrinkage": ({}, "shrinkage-slide", lambda i: 99 - i % 99),
    "supervised PCA, both below 1": (
        {"shrinkage": 0.1}, "target-slide", lambda i: 0.99 - 0.01 * i),
    "supervised PCA, components": ({}, "components-slide", lambda i: 1 + i % 20),
    "supervised PCA, scaling": (
        {"shrinkage": 0.1, "target_weight": 0.5}, None,
        lambda i: {"scale": SCALES[i % 3], "seed": i}),
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
WARM = 3  # moves ahead of each ten that are not counted
PLAIN = {
    "method": "spca", "shrinkage": 1, "target_weight": 1, "gamma": 1, "scale": "none",
    "components": 2, "seed": 0, "map": "components",
}  # fmt: skip
LIMITS = {"supervised": 150, "SRP": 150, "kernel": 1000}

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
// A first answer is made better by all rows for as long as nothing moves.
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
    """Rows of the shape of Covertype."""
    draw = np.random.default_rng(0)
    y = draw.choice(7, 581_012, p=[0.365, 0.488, 0.061, 0.005, 0.016, 0.030, 0.035])
    X = draw.normal(size=(7, 54))[y] + 3 * draw.normal(size=(len(y), 54))
    return X.astype(np.float32), y


def main(data: Path | None, out: Path, moves: int, only: str, large: bool) -> None:
    X, y, *_ = covertype() if large else mnist(data)
    only = only or ("kernel" if large else "")
    explorer = Explorer(session_of(from_arrays(X, y, "rows"))).start()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(600)
    try:
        driver.get(explorer.url)
        wait = "const d = arguments[0]; (function f() { document.documentElement.dataset.ready "
        driver.execute_async_script(wait + "? setTimeout(d, 8000) : setTimeout(f, 50); })()")
        results = {}
        what = f"{len(X):,} x {X.shape[1]}: what is moved"
        print(f"{what:52}{'median':>9}{'95 %':>9}{'goal':>9}   ms")
        for name, (view, slider, value) in MOVES.items():
            if only not in name:
                continue
            times: list[float] = []
            for start in range(0, moves, AT_ONCE):  # a driver has little patience
                ahead = [value((start + moves // 2 + j) % moves) for j in range(WARM)]
                some = [value(i) for i in range(start, min(start + AT_ONCE, moves))]
                times += driver.execute_async_script(MOVE, PLAIN | view, slider, ahead + some, WARM)
            middle, late = statistics.median(times), statistics.quantiles(times, n=20)[-1]
            goal = LIMITS[name.partition(" ")[0].rstrip(",")]
            results[name] = {"median": middle, "p95": late, "goal": goal, "moves": len(times)}
            print(f"{name:52}{middle:9.0f}{late:9.0f}{goal:9}", flush=True)
    finally:
        driver.quit()
        explorer.stop()
    load = os.getloadavg()[0]
    print(f"Load of the machine at the end: {load:.1f} on {os.cpu_count()} cores.")
    out.mkdir(parents=True, exist_ok=True)
    told = {"machine": machine(), "load": load, "latency_ms": results}
    (out / f"explore{'-large' * large}.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with mnist/; downloaded without it")
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--moves", type=int, default=100)
    parser.add_argument("--only", default="", help="those rows alone that have this in their name")
    parser.add_argument("--large", action="store_true", help="rows of the shape of Covertype")
    main(**vars(parser.parse_args()))
