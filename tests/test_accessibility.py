"""axe-core has no serious finding on the report and the explorer, in both schemes and sizes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

import report_contents as make
from axe import findings
from browser import Browser, start_chromium
from labelens import label_issues
from labelens.report import write_report, write_suspects


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = start_chromium(tmp_path_factory.mktemp("profile"))
    yield Browser(driver)
    driver.quit()


def sized(browser, width):
    size = dict(width=width, height=844, deviceScaleFactor=1, mobile=False)
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.mark.parametrize(
    "kind", ["make_contents", "make_continuous", "make_several", "make_checked"]
)
def test_reports(browser, tmp_path, kind):
    path = tmp_path / "report.html"
    write_report(path, getattr(make, kind)())
    for scheme, width in (("light", 1400), ("dark", 390)):
        browser.emulate(scheme)
        sized(browser, width)
        browser.driver.get(path.as_uri())
        browser.wait("document.documentElement.dataset.ready === 'yes'")
        browser.run("report.pick(5); document.querySelector('.menu').open = true")
        assert findings(browser) == []


@pytest.fixture(scope="module")
def explorer():
    pytest.importorskip("uvicorn", reason="needs the explore extra")
    from labelens.explorer.explored import bundled
    from labelens.explorer.server import Explorer
    from labelens.explorer.sessions import Sessions

    served = Explorer(Sessions(bundled())).start()
    yield served
    served.stop()


def test_the_explorer(browser, explorer):
    from explorer.page import Page

    page = Page(browser.driver)
    for scheme, width in (("light", 1400), ("dark", 390)):
        page.look(explorer.url, scheme, width, 844)
        page.run("explorer.pick(5); document.getElementById('compare').click()")
        page.still()
        page.run("explorer.selectClass((i, values) => values[i] === 2)")
        page.wait("document.querySelector('#group table')")
        page.run("document.querySelectorAll('.menu').forEach((one) => { one.open = true; })")
        assert findings(page) == []
    # The check itself: an image without a text is found.
    page.run("document.querySelector('main').append(document.createElement('img'))")
    assert [rule for rule, *_ in findings(page)] == ["image-alt"]


@pytest.fixture(scope="module")
def wrong():
    """The digits with 30 wrong labels, served."""
    pytest.importorskip("uvicorn", reason="needs the explore extra")
    from labelens.explorer.explored import from_arrays
    from labelens.explorer.server import Explorer
    from labelens.explorer.sessions import session_of

    X, y = load_digits(return_X_y=True)
    y = np.where(np.arange(len(y)) % 60 == 0, (y + 3) % 10, y)
    served = Explorer(session_of(from_arrays(X, y))).start()
    yield served
    served.stop()


PANELS = ["importances", "arrows", "stability", "permutation", "conformal", "final"]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_what_the_explorer_computes_on_request(browser, wrong, scheme, width):
    from explorer.page import Page

    page = Page(browser.driver)
    page.look(f"{wrong.url}#1.map=components", scheme, width, 844)
    for what in PANELS:
        page.run("document.getElementById('panel').replaceChildren()")
        page.run("document.querySelector(`[data-panel=${arguments[0]}]`).click()", what)
        page.wait("document.querySelector('#panel h3')", 120)
        assert page.run("return document.querySelector('#panel h3').textContent") != "Not computed"
        assert findings(page) == []
    page.run("document.getElementById('suspects').click()")
    page.wait("!document.getElementById('stepping').hidden", 120)
    page.choose("other-class", 3)
    page.run("document.getElementById('neighbours').click()")
    page.wait("document.querySelectorAll('.near li').length === 10")
    assert findings(page) == []
    for dialog in ("keys-dialog", "open-dialog"):
        page.run("document.getElementById(arguments[0]).showModal()", dialog)
        assert findings(page) == []
        page.run("document.getElementById(arguments[0]).close()", dialog)
    page.run("document.getElementById('python').click()")
    page.wait("document.getElementById('code-dialog').open")
    assert findings(page) == []


def test_the_page_of_suspect_labels(browser, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y.copy()
    y[[3, 60, 120]] = [2, 0, 1]
    issues = label_issues(X, y, random_state=0)
    assert issues.is_label_issue.any()
    path = tmp_path / "issues.html"
    write_suspects(path, "Suspect labels", {"rows": len(X)}, issues, X.to_numpy(), X)
    for scheme, width in (("light", 1400), ("dark", 390)):
        browser.emulate(scheme)
        sized(browser, width)
        browser.driver.get(path.as_uri())
        assert findings(browser) == []
