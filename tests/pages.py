"""The pages that people read: their code, what they say it prints, their links and anchors."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris

import labelens

ROOT = Path(__file__).parents[1]
GENERATED = ("docs/gallery/", "docs/api/")  # by `make docs`
IN_A_CONSOLE = ("README.md", "docs/trust.md", "docs/extending.md")  # run as they are, line by line
OPTIONAL = ("anndata", "scanpy", "dask", "distributed", "onnxruntime", "skl2onnx")
OPTIONAL += ("pyspark", "torch")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def pages() -> list[str]:
    """Every Markdown page of the repository, by its path."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    names = sorted(page.relative_to(ROOT).as_posix() for page in found)
    return [name for name in names if not name.startswith(GENERATED)]


class Block(NamedTuple):
    """Python code of a page, and what the page says it prints; None if it says nothing."""

    code: str
    printed: str | None


def python_blocks(page: str) -> list[Block]:
    fences = FENCE.findall((ROOT / page).read_text())
    follow = [*fences[1:], ("", "")]
    return [
        Block(code, after if kind == "text" else None)
        for (language, code), (kind, after) in zip(fences, follow, strict=False)
        if language == "python"
    ]


def optional(code: str) -> set[str]:
    """Libraries of the larger installs that some code imports."""
    named = {name for name in OPTIONAL if re.search(rf"\b{name}\b", code)}
    return named | ({"onnx"} if "export.onnx" in code else set())


def commands(page: str) -> list[str]:
    """Lines for a shell: in blocks of `sh`, and in indented ones that begin with a command."""
    text = (ROOT / page).read_text()
    shell = [
        line
        for language, code in FENCE.findall(text)
        if language == "sh"
        for line in code.splitlines()
    ]
    indented = re.findall(r"^    ((?:labelens|make|pip) .*)$", FENCE.sub("", text), re.MULTILINE)
    return [re.sub(r"\s+#.*", "", line) for line in [*shell, *indented]]


def run_blocks(blocks: list[Block], namespace: dict[str, Any]) -> Iterator[tuple[Block, str]]:
    """Each block and what it prints, one after the other in one namespace."""
    for block in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.code, "<page>", "exec"), namespace)
        yield block, out.getvalue()


def links(page: str) -> list[str]:
    """What a page points to within the repository."""
    text = FENCE.sub("", (ROOT / page).read_text())
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(page: str) -> set[str]:
    """The anchors of its headings, as forges and MyST make them."""
    text = FENCE.sub("", (ROOT / page).read_text())
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


def lay_out(folder: Path) -> None:
    """The files that pages speak of: flowers.csv, digits.csv, and rows in data/*.parquet."""
    iris = load_iris(as_frame=True)
    flowers = iris.data.assign(species=iris.target_names[iris.target])
    flowers.to_csv(folder / "flowers.csv", index=False)
    load_digits(as_frame=True).frame.rename(columns={"target": "digit"}).to_csv(
        folder / "digits.csv", index=False
    )
    draw = np.random.default_rng(0)
    (folder / "data").mkdir()
    (folder / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "flowers.csv", folder / "examples")
    middles = 3 * draw.normal(size=(10, 3))
    for part in range(2):
        y = draw.integers(0, 10, size=2000)
        X = middles[y] + draw.normal(size=(2000, 3))
        frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
        frame.to_parquet(folder / "data" / f"part-{part}.parquet", index=False)
    for name, rows in (("model", 150), ("monday", 80), ("tuesday", 70)):
        some = flowers.sample(rows, random_state=rows)
        some.to_csv(folder / f"{name}.csv", index=False)
        model = labelens.SupervisedPCA(2).fit(some.drop(columns="species"), some["species"])
        labelens.save(model, folder / f"{name}.labelens", moments=True)
