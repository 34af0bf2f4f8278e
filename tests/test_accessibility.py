"""axe-core has no serious finding on the report and the explorer, in both schemes and sizes."""

import pytest

import report_contents as make
from axe import findings
from browser import Browser, start_chromium
from labelens.report import write_report


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = start_chromium(tmp_path_factory.mktemp("profile"))
    yield Browser(driver)
    driver.quit()


def sized(browser, width):
    size = dict(width=width, height=844, deviceScaleFactor=1, mobile=False)
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.mark.parametrize("kind", ["make_contents", "make_continuous", "make_several"])
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


def test_the_explorer(browser):
    pytest.importorskip("uvicorn", reason="needs the explore extra")
    from explorer.page import Page
    from labelens.explorer.explored import bundled
    from labelens.explorer.server import Explorer
    from labelens.explorer.sessions import Sessions

    explorer = Explorer(Sessions(bundled())).start()
    page = Page(browser.driver)
    try:
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
    finally:
        explorer.stop()
