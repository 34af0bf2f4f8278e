"""How long the explorer's page waits after a move of a slider, end to end, in headless Chromium.

    python benchmarks/explore.py --data DIR --out DIR

opens MNIST's 60,000 training rows, moves sliders as a hand would and times each from the move to
the first frame that has the new points: request, both fits, scores, transfer and upload to the card
(a software one here, unless the machine has another). Each move waits for the one before it; a hand
that does not wait has moves dropped instead. Prints the median and the 95th percentile.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
from pathlib import Path

from selenium import webdriver

from data import mnist
from labelens.explorer.material import from_arrays
from labelens.explorer.serving import Explorer, session_of
from measure import machine

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-background-networking", "--no-first-run",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=1280,900",
]  # fmt: skip
# What is moved, from where: view settings, the slider, and its values.
MOVES = {
    "supervised PCA, target weight": ({"method": "spca"}, "target-slide", 0.99, -0.009),
    "supervised PCA, shrinkage": ({"method": "spca"}, "shrinkage-slide", 99, -0.9),
    "supervised PCA, both below 1": (
        {"method": "spca", "shrinkage": 0.1}, "target-slide", 0.99, -0.009),
    "SRP, seed": ({"method": "srp"}, None, 1, 1),
    "kernel SRP, 1024 features, gamma": ({"method": "ksrp"}, "gamma-slide", -1, 0.02),
    "kernel SPCA, 1024 features, gamma": ({"method": "kspca"}, "gamma-slide", -1, 0.02),
    "kernel SPCA, 1024 features, shrinkage": (
        {"method": "kspca"}, "shrinkage-slide", 99, -0.9),
    "kernel SPCA, 1024 features, gamma, shrinkage 0.01": (
        {"method": "kspca", "shrinkage": 0.01}, "gamma-slide", -1, 0.02),
}  # fmt: skip
AT_ONCE = 10
PLAIN = {"method": "spca", "shrinkage": 1, "target_weight": 1, "gamma": 1, "scale": "none"}
LIMITS = {"supervised": 150, "SRP": 150, "kernel": 1000}

MOVE = """
const [changes, slider, start, step, moves, done] = arguments;
const pane = explorer.panes[0];
const drawn = pane.scatter.drawn;
const times = [];
const shown = (wanted) => new Promise((resolve) => {
  pane.scatter.drawn = (share) => {
    drawn(share);
    if (pane.picture === wanted.before || pane.asking) { pane.scatter.draw(); return; }
    pane.scatter.drawn = drawn;
    resolve();
  };
});
const idle = async () => { while (pane.asking) await new Promise((r) => setTimeout(r, 5)); };
(async () => {
  pane.change(changes);
  await idle();
  explorer.controls.show();
  for (let i = -3; i < moves; i++) {
    const before = pane.picture;
    const value = start + (i < 0 ? moves - i : i) * step;
    const seen = shown({ before });
    const began = performance.now();
    if (slider) {
      const element = document.getElementById(slider);
      element.value = value;
      element.dispatchEvent(new Event("input", { bubbles: true }));
    } else pane.change({ seed: value + (i < 0 ? 1000 : 0) });
    await seen;
    if (i >= 0) times.push(performance.now() - began);
    await new Promise((r) => setTimeout(r, 30));
  }
  done(times);
})();
"""


def main(data: Path | None, out: Path, moves: int) -> None:
    X, y, *_ = mnist(data)
    explorer = Explorer(session_of(from_arrays(X, y, "MNIST"))).start()
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
        print(f"{'60,000 x 784: what is moved':52}{'median':>9}{'95 %':>9}{'goal':>9}   ms")
        for name, (view, slider, start, step) in MOVES.items():
            times = []
            for done in range(0, moves, AT_ONCE):  # a driver has little patience
                some = (start + done * step, step, min(AT_ONCE, moves - done))
                times += driver.execute_async_script(MOVE, PLAIN | view, slider, *some)
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
    (out / "explore.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with mnist/; downloaded without it")
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--moves", type=int, default=100)
    arguments = parser.parse_args()
    main(arguments.data, arguments.out, arguments.moves)
