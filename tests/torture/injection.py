"""Hostile names of columns, labels and files, through everything that shows or writes a name."""

from __future__ import annotations

import csv
import json
import os
import shutil
import tempfile
import time
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import labelens
from hostile_names import HOSTILE_NAMES, MARK
from labelens.cli.app import app

FORMULA = tuple("=+-@\t\r")
# A file of text cannot hold a lone surrogate, a label cannot be white space alone.
NAMES = [name for name in HOSTILE_NAMES if "\ud800" not in name]
MOST_CLASSES = 25  # that a page lists by name
FEW = 6  # in the short form: pages one by one, and names of files


def rows(labels):
    rng = np.random.default_rng(0)
    number = pd.factorize(np.asarray(labels, dtype=object))[0]
    return rng.normal(size=(len(labels), 4)) + rng.normal(size=(number.max() + 1, 4))[number] * 3


def written(folder, *arguments):
    """Run a command in the folder; what it printed."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        done = CliRunner().invoke(app, [str(a) for a in arguments])
    finally:
        os.chdir(before)
    assert done.exit_code == 0, f"{done.output[-300:]} {done.exception!r}"
    return done.output


def fit_to_print(text):
    """What of a command's output a terminal would obey."""
    odd = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")} - {"\n"}
    return f"printed {sorted(odd)}" if odd else None


def cells(path):
    """Text in a CSV that a spreadsheet would run."""
    with open(path, newline="", encoding="utf-8") as file:
        for line in csv.reader(file):
            for cell in line:
                if cell.startswith(FORMULA) and not _is_number(cell):
                    return f"a cell {cell!r}"
    return None


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def only(folder, *names):
    """What is in the folder beside what should be."""
    extra = sorted(set(os.listdir(folder)) - set(names))
    return f"wrote {extra}" if extra else None


# Everything in one table, then one name at a time ------------------------------------------------


def table_of(folder, classes):
    """All names as columns, and some as classes of a label with a hostile name."""
    labels = [name for name in classes for _ in range(6)]
    X = rows(labels)
    wide = np.random.default_rng(1).normal(size=(len(labels), len(NAMES)))
    wide[:, :4] += X
    label = "</script><b>label"
    frame = pd.DataFrame(wide, columns=NAMES).assign(**{label: labels})
    frame.to_parquet(folder / "all.parquet")
    return label


def by_name(folder, name):
    """A label with this name, and with it as one of its classes."""
    labels = [name if i % 3 else "tame" for i in range(60)]
    frame = pd.DataFrame(rows(labels), columns=["a", "b", "c", "d"])
    frame[name] = [f"{name}{i % 2}" if name.strip() else f"x{i % 2}" for i in range(60)]
    frame["other"] = labels if name.strip() else [f"{i % 2}" for i in range(60)]
    frame.to_parquet(folder / "one.parquet")
    return written(
        folder, "embed", "one.parquet", f"--label={name}", "--label=other", "--method", "spca",
        "--components", "2", "--format", "csv", "--out", "one", "--force",
    )  # fmt: skip


def file_named(folder, name):
    """A file, a model and an embedding with this name."""
    name = name.replace("/", "∕").replace("\0", "")[:60].encode()[:200].decode(errors="ignore")
    name = name if name.strip() else "tame"
    labels = [f"{i % 3}" for i in range(60)]
    pd.DataFrame(rows(labels)).add_prefix("c").assign(y=labels).to_csv(
        folder / f"{name}.csv", index=False
    )
    model = folder / f"{name}.labelens"
    said = written(
        folder,
        "fit",
        f"./{name}.csv",
        "--label",
        "y",
        "--method",
        "spca",
        "--out",
        f"./{model.name}",
    )
    said += written(
        folder, "transform", f"./{model.name}", f"./{name}.csv", "--out", f"./{name}.npy"
    )
    said += written(folder, "info", f"./{model.name}")
    model.write_bytes(model.read_bytes()[:-1])
    refused = CliRunner().invoke(app, ["info", str(model)])
    fault = fit_to_print(said + refused.output) or only(
        folder, f"{name}.csv", model.name, f"{name}.npy"
    )
    for path in folder.iterdir():
        path.unlink()
    return fault


# Pages -------------------------------------------------------------------------------------------


class Pages:
    """A browser that notes what a page does."""

    def __init__(self, profile):
        from browser import start_chromium

        self.driver = start_chromium(profile)
        self.driver.set_page_load_timeout(120)

    def fault(self, path):
        """Whether the page ran, fetched or became anything but itself."""
        driver = self.driver
        driver.get_log("performance")
        driver.get(path.as_uri())
        self.wait()
        driver.execute_script(
            "for (const e of document.querySelectorAll('input, button, select, [tabindex]'))"
            "{ e.focus(); e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})); }"
        )
        if driver.execute_script(f"return window.{MARK} !== undefined"):
            return "a script ran"
        if driver.current_url != path.as_uri():
            return f"it went to {driver.current_url}"
        made = 'return document.querySelectorAll(\'img:not([src^="data:"]), iframe, base, object,'
        if driver.execute_script(made + " embed, meta[http-equiv=refresh]').length"):
            return "names became elements"
        sent = [json.loads(e["message"])["message"] for e in driver.get_log("performance")]
        asked = [e["params"] for e in sent if e["method"] == "Network.requestWillBeSent"]
        urls = [a["request"]["url"] for a in asked]
        out = [url for url in urls if not url.startswith(("file:", "data:", "blob:", "chrome:"))]
        return f"it asked for {out[:3]}" if out else None

    def wait(self):
        end = time.monotonic() + 60
        while not self.driver.execute_script(
            "return document.documentElement.dataset.ready === 'yes'"
        ):
            assert time.monotonic() < end, "the page was never ready"
            time.sleep(0.05)

    def text(self):
        return self.driver.execute_script("return document.documentElement.textContent")


def browser_there():
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


def seen(page_text, name):
    """Whether a name is on the page as it is; HTML has no NUL and one kind of line end."""

    def plain(text):
        return " ".join(text.replace("\0", "").replace("\ufffd", "").split())

    return None if plain(name)[:60] in plain(page_text) else f"{name[:60]!r} is not on the page"


def run(tally):
    with tempfile.TemporaryDirectory() as place:
        folder, profile = Path(place) / "work", Path(place) / "profile"
        folder.mkdir()
        pages = Pages(profile) if browser_there() else None
        if pages is None:
            print("    no chromium and chromedriver: pages are not looked at", flush=True)
        try:
            classes = [name for name in NAMES if name.strip()]
            for start in range(0, len(classes), MOST_CLASSES):
                together(tally, folder, pages, classes[start : start + MOST_CLASSES])
            one_by_one(tally, folder, pages)
        finally:
            if pages is not None:
                pages.driver.quit()
        names = [*NAMES[:FEW], "\x1b]0;pwned\x07\x1b[31mred", "name\nwith\r\nlines"]
        for name in NAMES if tally.long else names:
            tally.attempt(f"a file named {name[:40]!r}", file_named, folder, name)
        tally.check("nothing was touched", only(place, "work", "profile"))


def together(tally, folder, pages, classes):
    label = table_of(folder, classes)
    said = written(
        folder, "embed", "all.parquet", f"--label={label}", "--method", "spca", "--format", "csv",
        "--out", "all",
    )  # fmt: skip
    said += written(folder, "info", "all/model.labelens")
    tally.check("all names, printed", fit_to_print(said))
    tally.check("all names, CSV", cells(folder / "all" / "embedding.csv"))
    tally.check("all names, files", only(folder, "all.parquet", "all"))
    found = labelens.persist.info(folder / "all" / "model.labelens")
    kept = found["feature_names"] == NAMES and sorted(found["classes"]) == sorted(set(classes))
    tally.check("all names, kept", None if kept else "not as they were")
    if pages is not None:
        tally.attempt("all names, page", pages.fault, folder / "all" / "report.html")
        text = pages.text()
        for name in classes:
            tally.check("on the page", seen(text, name))
    shutil.rmtree(folder / "all")
    (folder / "all.parquet").unlink()


def one_by_one(tally, folder, pages):
    for name in NAMES if tally.long else NAMES[:FEW]:
        what = f"{name[:40]!r}"
        try:
            said = by_name(folder, name)
        except Exception as error:
            tally.check(what, f"{type(error).__name__}: {error}")
            continue
        tally.check(f"{what}, printed", fit_to_print(said))
        tally.check(f"{what}, CSV", cells(folder / "one" / "embedding.csv"))
        tally.check(f"{what}, files", only(folder, "one.parquet", "one"))
        if pages is not None:
            tally.attempt(f"{what}, page", pages.fault, folder / "one" / "report.html")
        shutil.rmtree(folder / "one")
    (folder / "one.parquet").unlink(missing_ok=True)
