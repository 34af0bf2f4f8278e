"""Sessions of the explorer, served and opened in a browser."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris

from labelens.explorer.explored import from_arrays
from labelens.explorer.server import Explorer
from labelens.explorer.session import Session
from labelens.explorer.sessions import session_of


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    # Only here, so that the other tests need neither selenium nor the explore extra.
    pytest.importorskip("uvicorn", reason="needs the explore extra")
    from browser import start_chromium
    from explorer.page import Page

    driver = start_chromium(tmp_path_factory.mktemp("profile"))
    folder = tmp_path_factory.mktemp("downloads")
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    one = Page(driver)
    one.folder = folder
    yield one
    driver.quit()


@pytest.fixture(scope="module")
def explorer():
    """The digits, served, with three columns to look at them by."""
    X, y = load_digits(return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"pixel {j}" for j in range(64)])
    frame = frame.assign(digit=y, even=np.where(y % 2, "odd", "even"), ink=X.sum(axis=1) / 3)
    served = Explorer(session_of(from_arrays(frame, ["digit", "even", "ink"], "digits"))).start()
    served.url += "#1.map=components&1.shrinkage=1"  # most tests are of linear fits
    yield served
    served.stop()


@pytest.fixture
def opened(page, explorer):
    yield page.look(explorer.url)
    assert page.errors() == []


@pytest.fixture(scope="module")
def iris():
    """Iris, served, with two columns to look at it by."""
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(species=y, long=X[:, 2])
    served = Explorer(session_of(from_arrays(frame, ["species", "long"]))).start()
    yield served
    served.stop()


@pytest.fixture(scope="module")
def digits():
    """A session that nobody serves."""
    return Session(from_arrays(*load_digits(return_X_y=True), "digits"))
