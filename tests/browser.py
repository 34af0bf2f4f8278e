"""Chromium, and what tests ask of any page in it."""

import shutil
import time

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
Keys = webdriver.Keys

CHROMIUM, CHROMEDRIVER = shutil.which("chromium"), shutil.which("chromedriver")

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--use-angle=swiftshader",  # WebGL without a graphics card
    "--enable-unsafe-swiftshader",
    "--window-size=1280,1000",
]


def start_chromium(profile):
    """A driver; the test is skipped where there is no browser."""
    if not (CHROMIUM and CHROMEDRIVER):
        pytest.skip("needs chromium and chromedriver on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(CHROMEDRIVER))
    driver.set_page_load_timeout(60)
    return driver


class Browser:
    """One driver, and what the tests ask of a page."""

    def __init__(self, driver):
        self.driver = driver

    def run(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def wait(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.02)

    def press(self, selector):
        """With the keyboard: focus and space."""
        self.run("document.querySelector(arguments[0]).focus()", selector)
        webdriver.ActionChains(self.driver).send_keys(" ").perform()

    def emulate(self, scheme="light"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def logs(self, kind):
        return self.driver.get_log(kind)

    def until(self, check, seconds=20):
        """Wait for what only Python can see, such as a picture of the page."""
        end = time.monotonic() + seconds
        while not check():
            assert time.monotonic() < end

    def settle(self):
        """Wait until what was asked for has been drawn: two frames, and one more for WebGL."""
        self.driver.execute_async_script(
            """
            const done = arguments[0];
            const after = (left) => (left ? requestAnimationFrame(() => after(left - 1)) : done());
            after(3);
            """
        )

    def colour(self, name):
        code = "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0])"
        return self.run(code, f"--{name}").strip()

    def text(self, name):
        return self.run("return document.getElementById(arguments[0]).textContent", name)
