"""The explorer's page, and what a reader does to it."""

import numpy as np

from browser import Browser, webdriver


class Page(Browser):
    """The page, and what a reader does to it."""

    def look(self, url, scheme="light", width=1400, height=900):
        size = dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.emulate(scheme)
        self.logs("browser")
        self.driver.get("about:blank")
        self.driver.get(url)
        self.wait("document.documentElement.dataset.ready === 'yes'", 60)
        self.still()
        return self

    def still(self):
        """Wait until nothing is asked of the server and no point glides."""
        self.wait("explorer.panes.every((p) => !p.asking && p.scatter.done >= 1)", 60)
        self.settle()

    def places(self, pane=0):
        """(n, 2) where the points lie, from -1 to 1."""
        flat = self.run(f"return Array.from(explorer.panes[{pane}].scatter.to)")
        return np.array(flat).reshape(-1, 3)[:, :2]

    def accuracy(self, pane=0):
        return self.run(f"return explorer.panes[{pane}].heldout.textContent")

    def control(self, pane=0):
        return float(self.run(f"return explorer.panes[{pane}].shuffled.textContent"))

    def drawn(self, pane=0):
        """What the card has drawn: all pixels of the canvas, painted and read in one go."""
        return self.run(
            """
            const { scatter } = explorer.panes[arguments[0]];
            scatter.render();
            const copy = document.createElement("canvas");
            [copy.width, copy.height] = [scatter.canvas.width, scatter.canvas.height];
            const pen = copy.getContext("2d");
            pen.drawImage(scatter.canvas, 0, 0);
            const { data } = pen.getImageData(0, 0, copy.width, copy.height);
            let count = 0;
            for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
            return count;
            """,
            pane,
        )

    def choose(self, name, value):
        """A value of a select or a box, as the keyboard would leave it."""
        self.run(
            """
            const element = document.getElementById(arguments[0]);
            element.value = arguments[1];
            element.dispatchEvent(new Event("input", { bubbles: true }));
            element.dispatchEvent(new Event("change", { bubbles: true }));
            """,
            name,
            str(value),
        )
        self.still()

    def slide(self, name, key, times=1):
        self.run("document.getElementById(arguments[0]).focus()", name)
        webdriver.ActionChains(self.driver).send_keys(key * times).perform()
        self.still()

    def key(self, key):
        self.run("document.activeElement.blur()")
        webdriver.ActionChains(self.driver).send_keys(key).perform()

    def errors(self):
        return [entry for entry in self.logs("browser") if entry["level"] == "SEVERE"]


def framed(Z):
    """As the page puts them between -1 and 1, in the same unit across and up."""
    low, high = Z.min(axis=0), Z.max(axis=0)
    return (Z - (low + high) / 2) / ((high - low).max() / 2) * 0.93


def pointer(page, kind, x, y, button="left", **more):
    event = dict(type=kind, x=x, y=y, button=button, clickCount=1, **more)
    page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def on_screen(page, i, pane=0):
    return page.run(
        """
        const { scatter, canvas } = explorer.panes[arguments[1]];
        const box = canvas.getBoundingClientRect();
        const [x, y] = scatter.toScreen(scatter.now(arguments[0]));
        return [box.left + x, box.top + y];
        """,
        i,
        pane,
    )
