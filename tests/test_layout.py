"""What a reader has to hold in mind: the counts of scripts/layout.py, and the path of a fit."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from labelens import SupervisedPCA

ROOT = Path(__file__).parents[1]
DESIGN = ROOT / "docs" / "design.md"
SCRIPT = ROOT / "scripts" / "layout.py"


@pytest.fixture(scope="module")
def layout():
    return runpy.run_path(str(SCRIPT))


def test_no_count_is_above_its_limit(layout):
    counts, reaches = layout["counts"]()
    over = {name: n for name, n in counts.items() if n > layout["LIMITS"][name]}
    assert not over, reaches


def test_design_has_the_counts_of_the_script(layout):
    counts, _ = layout["counts"]()
    rows = dict(re.findall(r"^\| ([\w ]+) \| ([\d,]+) \|", DESIGN.read_text(), re.MULTILINE))
    shown = {name: int(rows[name].replace(",", "")) for name in counts}
    # The lines change with every commit; the page gives them to the nearest thousand.
    counts["lines of Python"] = round(counts["lines of Python"], -3)
    assert shown == counts


def test_the_script_sees_what_it_counts(layout, tmp_path):
    for name, text in {
        "a/one.py": "class Twice:\n    _mine = 1\n\n\nprint(other._mine, other._yours)\n",
        "b/two.py": "class Twice:\n    def f(self):\n        return self._own, other._mine\n",
        "c.py": "pass\n" * 401,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    counts, reaches = layout["counts"](tmp_path)
    assert list(counts.values()) == [3, 409, 1, 2, 1]
    assert reaches == ["a/one.py:5 other._yours", "b/two.py:3 other._mine"]


def test_the_path_of_a_fit_is_the_one_on_the_page():
    section = DESIGN.read_text().split("## The path of `fit(X, y)`")[1].split("\n## ")[0]
    named = re.findall(r"^\d+\. `([\w/]+\.py)`", section, re.MULTILINE)
    assert 0 < len(named) <= 10
    assert all(section.count(f"`{name}`") == 1 for name in named)
    seen = set()
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 3
    sys.setprofile(lambda frame, *_: seen.add(frame.f_code.co_filename))
    try:
        SupervisedPCA(2).fit(X, y)
    finally:
        sys.setprofile(None)
    package = ROOT / "src" / "labelens"
    ran = {Path(file).relative_to(package).as_posix() for file in seen if str(package) in file}
    assert set(named) <= ran | {"methods/linear.py"}  # its __init__ ran before
