"""Pictures of the explorer and of the report: for the docs, and to look at after a change.

python scripts/screenshots.py OUT      light, dark, narrow, two views, many classes, numbers
python scripts/screenshots.py docs/images --only explore --only report

The other pictures of the docs are drawn: demo.png by `make demo`, trust.png by examples/trust.py,
growth.png by `make bench-growth`, those of the gallery by `make docs`.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from selenium import webdriver
from sklearn.datasets import load_digits

from labelens.explorer.explored import bundled, from_arrays
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import Sessions

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-background-networking", "--no-first-run",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars",
]  # fmt: skip
COMPARED = """
explorer.compare();
explorer.active.change({ method: "ksrp", gamma: 0.3, shrinkage: 0.01, features: 512 });
explorer.controls.show();
"""
SEARCHED = "document.getElementById('search').click()"
# A row with a label that looks wrong.
SUSPECT = """
document.getElementById("suspects").click();
setTimeout(() => document.getElementById("labels-title").scrollIntoView(), 2500);
"""
SELECTED = "document.querySelectorAll('#legend .plain')[4].click()"
# Name: scheme, width, height, data set, and what is done one after the other.
PICTURES = {
    "explore": ("light", 1400, 860, 0, [COMPARED, SELECTED]),
    "light": ("light", 1400, 900, 0, []),
    "dark": ("dark", 1400, 900, 0, [COMPARED, SELECTED]),
    "narrow": ("light", 390, 844, 0, []),
    "narrow-dark": ("dark", 390, 844, 0, [COMPARED]),
    "many": ("light", 1400, 900, 6, ["explorer.active.change({ map: 'wheel' })"]),
    "numbers": (
        "dark",
        1400,
        900,
        5,
        ["explorer.active.change({ method: 'kspca', features: 256 })"],
    ),
    "first-map": ("light", 1400, 860, 7, [SEARCHED]),
    "first-row": ("light", 1400, 860, 7, [SEARCHED, SUSPECT]),
    "strips": (
        "light",
        1400,
        900,
        0,
        ["explorer.active.change({ map: 'components', components: 1 })"],
    ),
}


def many():
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 1000, 20_000)
    X = draw.normal(size=(1000, 60))[codes] * 1.5 + draw.normal(size=(20_000, 60))
    return from_arrays(X, np.array([f"species {code}" for code in codes]), "many")


def mislabelled():
    """The digits of docs/guides/first.md."""
    X, y = load_digits(return_X_y=True)
    y, draw = y.copy(), np.random.default_rng(0)
    wrong = draw.choice(len(y), 30, replace=False)
    y[wrong] = (y[wrong] + draw.integers(1, 10, size=30)) % 10
    return from_arrays(X, {"digit": y}, "digits.csv")


def main(out: Path, only: list[str]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        if not only or "report" in only:
            report(driver, out)
        if not only or set(only) - {"report"}:
            explorer(driver, out, only)
    finally:
        driver.quit()


def report(driver: webdriver.Chrome, out: Path) -> None:
    """The first 1800 pixels of what `labelens demo` writes."""
    with TemporaryDirectory() as folder:
        demo = [sys.executable, "-m", "labelens", "demo", "--out", f"{folder}/demo"]
        subprocess.run(demo, check=True, stdout=subprocess.DEVNULL)
        (page,) = Path(folder).rglob("*.html")
        look(driver, "light", 1200, 1800)
        driver.get(page.as_uri())
        time.sleep(3)
        save(driver, out / "report.png")


def explorer(driver: webdriver.Chrome, out: Path, only: list[str]) -> None:
    sets = bundled() | {"A thousand classes": many, "digits.csv": mislabelled}
    explorer = Explorer(Sessions(sets)).start()
    try:
        for name, (scheme, width, height, data, acts) in PICTURES.items():
            if only and name not in only:
                continue
            look(driver, scheme, width, height)
            driver.get(explorer.url)
            still(driver)
            choose = "const d = document.getElementById('data'); d.value = arguments[0];"
            driver.execute_script(choose + "d.dispatchEvent(new Event('change'))", str(data))
            time.sleep(1)
            still(driver)
            for act in acts:
                driver.execute_script(act)
                time.sleep(3 if act is SUSPECT else 0.5)
                still(driver)
            page = {}
            if width < 600:
                tall = driver.execute_script("return document.documentElement.scrollHeight")
                clip = dict(x=0, y=0, width=width, height=tall, scale=1)
                page = {"captureBeyondViewport": True, "clip": clip}
            save(driver, out / f"{name}.png", **page)
    finally:
        explorer.stop()


def look(driver: webdriver.Chrome, scheme: str, width: int, height: int) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    size = dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def save(driver: webdriver.Chrome, path: Path, **page: object) -> None:
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", page)
    path.write_bytes(base64.b64decode(taken["data"]))
    print(path)


def still(driver: webdriver.Chrome) -> None:
    """Until all has been answered and no point glides."""
    quiet = (
        "return document.documentElement.dataset.ready === 'yes' && "
        "!document.getElementById('search').disabled && explorer.panes.every((p) => "
        "p.picture && !p.asking && p.scatter.done >= 1)"
    )
    end = time.monotonic() + 120
    while not driver.execute_script(quiet):
        if time.monotonic() > end:
            raise TimeoutError("The page has not come to rest.")
        time.sleep(0.05)
    time.sleep(0.6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", action="append", default=[], choices=[*PICTURES, "report"])
    arguments = parser.parse_args()
    main(arguments.out, arguments.only)
