"""`make test` needs none of the larger installs, and CI has them all: they are hidden here."""

import ast
import os
import runpy
import subprocess
import sys

import pytest

from pages import IN_A_CONSOLE, ROOT, optional, pages, python_blocks


def test_tests_import_the_larger_installs_where_they_skip_without(monkeypatch):
    """A file imports them at its top only after `pytest.importorskip`."""
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])  # which the script changes
    hidden = {*runpy.run_path(str(ROOT / "tests" / "light" / "sitecustomize.py"))["HIDDEN"]}
    for path in (ROOT / "tests").rglob("*.py"):
        for line in ast.parse(path.read_text()).body:
            if "importorskip" in ast.unparse(line):
                break
            modules = [line.module or ""] if isinstance(line, ast.ImportFrom) else []
            modules += [one.name for one in line.names] if isinstance(line, ast.Import) else []
            libraries = {module.partition(".")[0] for module in modules}
            assert not libraries & hidden, f"{path}, line {line.lineno}: {libraries & hidden}"


@pytest.mark.slow
def test_pages_and_rooms_without_the_larger_installs():
    docs = "tests/test_docs.py::test_code_runs_and_prints_what_the_page_says"
    needy = [p for p in pages() if optional("".join(block.code for block in python_blocks(p)))]
    wanted = [f"{docs}[{page}]" for page in needy if page not in IN_A_CONSOLE]
    assert {f"{docs}[docs/{name}.md]" for name in ("engines", "export", "gpu")} <= {*wanted}
    rooms = "tests/test_package.py::test_every_room_can_be_the_first"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", *wanted, rooms],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests" / "light")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    assert f"1 passed, {len(wanted)} skipped" in run.stdout, run.stdout
