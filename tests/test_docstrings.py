"""The script that writes shared text into the docstrings of the methods."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def copy(tmp_path):
    for part in ("scripts", "src/labelens/methods"):
        shutil.copytree(ROOT / part, tmp_path / part)
    return tmp_path


def run(tree, *arguments):
    command = [sys.executable, "scripts/docstrings.py", *arguments]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True)


def test_the_docstrings_have_the_shared_text():
    done = run(ROOT, "--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_difference_is_found_and_mended(copy):
    path = copy / "src" / "labelens" / "methods" / "kernel.py"
    right = path.read_text()
    path.write_text(right.replace("        Kernel coefficient used.\n", "", 1))
    done = run(copy, "--check")
    assert done.returncode == 1
    assert "kernel.py" in done.stdout
    assert path.read_text() != right  # a check changes nothing
    assert run(copy).returncode == 0
    assert path.read_text() == right


def test_every_shared_entry_is_in_a_docstring():
    script = runpy.run_path(str(ROOT / "scripts" / "docstrings.py"))
    source = "".join(path.read_text() for path in (ROOT / "src/labelens/methods").glob("*.py"))
    for text in {text for texts in script["TEXTS"].values() for text in texts}:
        for line in text.strip().splitlines():
            assert f"    {line}\n" in source
