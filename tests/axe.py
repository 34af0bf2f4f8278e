"""The accessibility checks of axe-core in an open page; `make .venv/.ready-test` installs it."""

import sys
from pathlib import Path

import pytest

AXE = Path(sys.prefix) / "node" / "node_modules" / "axe-core" / "axe.min.js"


def findings(page):
    """Serious and critical findings: rule, and the elements that break it."""
    if not AXE.exists():
        pytest.skip("needs axe-core: npm install --prefix .venv/node axe-core")
    # The page's policy forbids scripts of others; the driver's own do not go through it.
    page.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text("utf-8")})
    found = page.driver.execute_async_script(
        "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] }).then("
        "(told) => done(told.violations.map(({ id, impact, nodes }) => ["
        "id, impact, nodes.map((node) => node.html)])));"
    )
    return [one for one in found if one[1] in ("serious", "critical")]
