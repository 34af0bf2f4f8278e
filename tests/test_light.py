"""`make test` needs none of the larger installs, and CI has them all: they are hidden here."""

import os
import subprocess
import sys

from pages import IN_A_CONSOLE, ROOT, optional, pages, python_blocks


def test_pages_and_rooms_without_the_larger_installs():
    docs = "tests/test_docs.py::test_code_runs_and_prints_what_the_page_says"
    needy = [p for p in pages() if optional("".join(block.code for block in python_blocks(p)))]
    wanted = [f"{docs}[{page}]" for page in needy if page not in IN_A_CONSOLE]
    assert {f"{docs}[docs/{name}.md]" for name in ("dask", "export", "gpu", "spark")} <= {*wanted}
    rooms = "tests/test_package.py::test_every_room_can_be_the_first"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *wanted, rooms],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests" / "light")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    assert f"1 passed, {len(wanted)} skipped" in run.stdout, run.stdout
