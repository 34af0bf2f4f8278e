"""Apply the examples of docs/extending.md to a copy of the sources."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text()
WALKS = ["A feature map", "A label map", "A solver", "An engine"]
BLOCK = re.compile(r"```(python|diff)\n# (\S+)\n(.*?)```", re.DOTALL)


def walk(heading):
    """The blocks below a heading: kind, path and text."""
    return BLOCK.findall(PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0])


def patched(text, diff):
    """Each hunk where its lines are found, which must be one place."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] or "\n" for line in lines if line[0] in " -")
        after = "".join(line[1:] or "\n" for line in lines if line[0] in " +")
        assert text.count(before) == 1, f"{text.count(before)} places for\n{before}"
        text = text.replace(before, after)
    return text


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """All walks, one after the other."""
    tree = tmp_path_factory.mktemp("walked")
    shutil.copytree(
        ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    shutil.copy(ROOT / "pyproject.toml", tree)
    for heading in WALKS:
        for kind, name, text in walk(heading):
            path = tree / name
            assert path.exists() == (kind == "diff")
            path.parent.mkdir(exist_ok=True)
            path.write_text(patched(path.read_text(), text) if kind == "diff" else text)
    return tree


def run(tree, command, *arguments):
    paths = os.environ | {"PYTHONPATH": str(tree / "src")}
    command = [Path(sys.executable).with_name(command), *arguments]
    done = subprocess.run(command, cwd=tree, env=paths, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_walk_is_on_the_page():
    assert re.findall(r"^## (.*)", PAGE, re.MULTILINE) == WALKS
    shown = len(re.findall(r"^```\w", PAGE, re.MULTILINE))
    assert shown == sum(len(walk(heading)) for heading in WALKS)


@pytest.mark.slow
def test_what_was_added_works(copy):
    added = [[name for _, name, _ in walk(heading)] for heading in WALKS]
    tests = [name for names in added for name in names if name.startswith("tests/")]
    assert len(tests) == len(WALKS)
    run(copy, "pytest", "-q", "-p", "no:cacheprovider", *tests)


@pytest.mark.slow
def test_what_was_added_is_in_good_order(copy):
    run(copy, "ruff", "check", "--no-cache")
    run(copy, "ruff", "format", "--no-cache", "--check")
    run(copy, "lint-imports", "--no-cache")
