"""Every control of the page moves points, and how they move."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_digits

import labelens
from browser import Keys
from explorer.page import framed
from labelens.explorer.explored import from_arrays
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import session_of


def served(page):
    return page.driver.execute_async_script(
        "fetch('alive').then((a) => a.json()).then((a) => arguments[0](a.served))"
    )


def test_each_control_changes_points_and_accuracy(opened):
    page = opened
    assert page.drawn() > 5000
    assert 0.05 < page.control() < 0.2 < float(page.accuracy())

    def changes(act):
        before, score = page.places(), (page.accuracy(), page.control())
        act()
        after = page.places()
        assert before.shape == after.shape == (1797, 2)
        assert np.abs(before - after).max() > 0.01
        assert (page.accuracy(), page.control()) != score

    changes(lambda: page.slide("shrinkage-slide", Keys.ARROW_LEFT, 30))
    assert 0.001 < float(page.run("return document.getElementById('shrinkage').value")) < 0.2
    changes(lambda: page.slide("target-slide", Keys.ARROW_LEFT, 60))
    changes(lambda: page.choose("scale", "none"))
    changes(lambda: page.choose("method", "srp"))
    changes(lambda: page.slide("components-slide", Keys.ARROW_RIGHT, 5))
    changes(lambda: page.choose("seed", 5))
    changes(lambda: page.run("document.getElementById('reseed').click()") or page.still())
    changes(lambda: page.choose("method", "kspca"))
    assert page.run("return !document.getElementById('kernel-fields').hidden")
    changes(lambda: page.choose("kernel", "laplacian"))
    changes(lambda: page.slide("gamma-slide", Keys.ARROW_RIGHT, 20))
    changes(lambda: page.slide("features-slide", Keys.ARROW_LEFT, 4))
    changes(lambda: page.choose("gamma", 0.5))
    assert page.run("return document.getElementById('gamma').value") == "0.5"
    changes(lambda: page.choose("label", 1))
    changes(lambda: page.choose("method", "pca"))
    assert page.run("return document.getElementById('target-slide').disabled")
    page.choose("label", 0)
    changes(lambda: page.choose("map", "wheel"))
    colours = page.run("return Array.from(explorer.panes[0].scatter.look)")
    page.choose("colour", 2)
    assert page.run("return Array.from(explorer.panes[0].scatter.look)") != colours
    assert page.text("legend-title") == "ink"
    assert page.run("return document.querySelectorAll('.colourbar').length") == 1


def test_fifty_fast_moves_end_on_the_last(opened):
    page = opened
    before = served(page)
    page.run(
        """
        const slide = document.getElementById("target-slide");
        let moves = 0;
        window.finished = false;
        const timer = setInterval(() => {
          moves += 1;
          slide.value = 1 - moves / 100;
          slide.dispatchEvent(new Event("input", { bubbles: true }));
          if (moves === 50) { clearInterval(timer); window.finished = true; }
        }, 4);
        """
    )
    page.wait("window.finished")
    page.still()
    fits = served(page) - before
    assert 1 <= fits < 50
    assert page.run("return explorer.panes[0].picture.view.target_weight") == 0.5
    assert page.run("return Number(document.getElementById('target').value)") == 0.5
    X, y = load_digits(return_X_y=True)
    train = page_train(page)
    model = labelens.SupervisedPCA(target_weight=0.5, scale="standard").fit(X[train], y[train])
    Z = model.transform(X)[page.run("return Array.from(explorer.rowNumbers)")]
    np.testing.assert_allclose(framed(Z), page.places(), atol=2e-3)


def page_train(page):
    rows = np.array(page.run("return Array.from(explorer.rowNumbers)"))
    return np.sort(rows[: page.run("return explorer.overview.drawnTrained")])


def test_a_slow_card_glides_with_part_of_the_points(opened):
    """Frames of a glide leave points out, those at rest none, and the pace is slower."""
    counts = opened.driver.execute_async_script(
        """
        const done = arguments[0];
        const pane = explorer.panes[0];
        const { scatter } = pane;
        const { gl, drawn } = scatter;
        const counts = [];
        const drawArrays = gl.drawArrays.bind(gl);
        gl.drawArrays = (kind, first, n) => { counts.push(n); drawArrays(kind, first, n); };
        scatter.coarse = () => 7;
        scatter.cost = 20;
        scatter.drawn = (share) => {
          drawn(share);
          if (share < 1 || pane.asking || pane.picture === before) return;
          scatter.drawn = drawn;
          gl.drawArrays = drawArrays;
          delete scatter.coarse;
          setTimeout(() => done(counts), 50);
        };
        const before = pane.picture;
        pane.change({ method: "pca" });
        """
    )
    assert set(counts[:-1]) <= {257, 1797}  # a seventh of 1,797; a frame at rest may come before
    assert 257 in counts
    assert counts[-1] == 1797
    assert len(counts) < 15  # of 25 at sixty a second
    assert opened.drawn() > 1000


def test_how_long_a_card_takes_is_measured(page, many_rows):
    page.look(many_rows.url)
    page.run("explorer.panes[0].change({ method: 'pca' })")
    page.still()
    cost, n, coarse = page.run(
        "const s = explorer.panes[0].scatter; return [s.cost, s.n, s.coarse()]"
    )
    assert n == 8000
    assert 0 < cost < 5000
    assert coarse == min(31, math.ceil(cost / 8))


@pytest.fixture
def many_rows():
    draw = np.random.default_rng(0)
    y = draw.integers(0, 3, 8000)
    X = draw.normal(size=(3, 6))[y] + draw.normal(size=(8000, 6))
    explorer = Explorer(session_of(from_arrays(X, y))).start()
    yield explorer
    explorer.stop()


def test_points_glide(opened):
    page = opened
    middle = page.driver.execute_async_script(
        """
        const done = arguments[0];
        const pane = explorer.panes[0];
        const { scatter } = pane;
        const { drawn } = scatter;
        let start = scatter.now(7);
        scatter.drawn = (share) => {
          drawn(share);
          if (share > 0.05 && share < 0.95) {
            scatter.drawn = drawn;
            done([start, scatter.now(7), [scatter.to[21], scatter.to[22]]]);
          } else if (share === 1 && !pane.asking) {  // a busy machine may miss a whole glide
            start = scatter.now(7);
            pane.change({ method: pane.view.method === "pca" ? "spca" : "pca" });
          }
        };
        scatter.draw();
        """
    )
    start, now, end = map(np.array, middle)
    assert 0 < np.linalg.norm(now - start) < np.linalg.norm(end - start)


def test_no_glide_where_motion_is_unwelcome(page, explorer):
    page.look(explorer.url)
    features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    page.run("explorer.panes[0].change({ method: 'pca' })")
    page.wait("explorer.panes[0].picture.view.method === 'pca'")
    assert page.run("return explorer.panes[0].scatter.done") == 1


def test_parts_are_one_key_apart(opened):
    page = opened
    shown = "return explorer.panes[0].look.filter((v, i) => i % 4 === 3 && v > 0).length"
    assert page.run(shown) == 1797 - 150  # untouched rows are not shown
    page.key("t")
    assert page.run(shown) == 1347
    page.key("h")
    assert page.run(shown) == 300
    own = page.places()
    page.key("s")
    page.wait("explorer.panes[0].picture.shuffled")
    page.still()
    assert page.run(shown) == 1347
    assert np.abs(page.places() - own).max() > 0.05
    assert "shuffled" in page.run("return explorer.panes[0].title.textContent")
    page.key("a")
    page.wait("!explorer.panes[0].picture.shuffled")
    page.still()
    np.testing.assert_allclose(page.places(), own, atol=1e-6)
