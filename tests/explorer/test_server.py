"""The explorer's server: whose turn it is, and what it says when it will not."""

import io
import json
import re
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris
from typer.testing import CliRunner

import labelens
from explorer.asking import ask, saved, small, wish
from labelens.cli.app import app
from labelens.explorer import server as server_module
from labelens.explorer.explored import from_arrays
from labelens.explorer.server import Explorer
from labelens.explorer.sessions import session_of
from labelens.explorer.view import ControlState

pytest.importorskip("uvicorn", reason="needs the explore extra")


# What is said ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", "1", '"x"', "{}", "[" * 100_000, '{"a": NaN}', b"\xff\xfe",
     {"turn": 1}, wish() | {"more": 1}, wish() | {"turn": -1}, wish() | {"turn": True},
     wish() | {"turn": 2**60}, wish() | {"data": 1}, wish() | {"data": "0"},
     wish() | {"data": None}, wish() | {"axes": [0, 2]}, wish() | {"axes": [0]},
     wish() | {"shuffled": 1}, wish() | {"client": ""}, wish() | {"client": "x" * 65},
     wish() | {"pane": 3}, wish() | {"view": None}, wish(method="tsne"), wish(gamma=-1),
     wish(gamma=float("inf")), wish(components=0), wish(components=65), wish(label=2),
     wish(seed=-1), wish(features=10**12), wish(map="on"), wish(shrinkage="auto")],
    ids=str,
)  # fmt: skip
def test_messages_that_no_page_of_ours_sends(iris, body):
    status, headers, answer = ask(iris, "fit", "POST", body)
    assert status == 400
    assert headers["content-type"] == "application/json"
    sentence = json.loads(answer)["error"]
    assert sentence.endswith(".")
    assert "Traceback" not in sentence


def test_a_message_that_is_too_long(iris):
    status, _, answer = ask(iris, "fit", "POST", b" " * (server_module.LARGEST_BODY + 1))
    assert status == 400
    assert "bytes" in json.loads(answer)["error"]


def test_a_fit_that_fails_says_why(iris):
    huge = wish(method="kspca", kernel="polynomial", gamma=1e250)
    status, _, answer = ask(iris, "fit", "POST", huge)
    assert status == 422
    assert "features that are not finite numbers." in json.loads(answer)["error"]
    status, _, answer = ask(iris, "fit", "POST", wish(label=1, map="wheel"))
    assert status == 422
    assert "continuous" in json.loads(answer)["error"]
    assert ask(iris, "fit", "POST", wish(turn=9))[0] == 200


# Turns -------------------------------------------------------------------------------------------


def test_only_the_newest_wish_is_served(iris, monkeypatch):
    """While one fit is under way, those that come and are overtaken are never begun."""
    fitted = []
    session = server_module.Session
    plain, gate = session.fit, threading.Event()

    def slow(self, view, exact):
        fitted.append(view.seed)
        if view.seed == 1000:
            gate.wait(20)
        return plain(self, view, exact)

    monkeypatch.setattr(session, "fit", slow)
    answers = {}

    def send(turn, pane="0"):
        body = wish(turn, seed=1000 + turn - 100) | {"pane": pane}
        answers[turn, pane] = ask(iris, "fit", "POST", body)[0]

    threads = [threading.Thread(target=send, args=(100,))]
    threads[0].start()
    while not fitted:
        time.sleep(0.01)
    for turn in range(101, 121):
        threads.append(threading.Thread(target=send, args=(turn,)))
        threads[-1].start()
        time.sleep(0.005)
    threads.append(threading.Thread(target=send, args=(105, "1")))
    threads[-1].start()
    time.sleep(0.3)
    gate.set()
    for thread in threads:
        thread.join()
    assert answers[120, "0"] == answers[100, "0"] == answers[105, "1"] == 200
    assert {answers[turn, "0"] for turn in range(101, 120)} == {204}
    assert fitted == [1000, 1020, 1005] or fitted == [1000, 1005, 1020]


def test_an_old_wish_that_comes_late_is_not_served(iris):
    assert ask(iris, "fit", "POST", wish(50) | {"pane": "late"})[0] == 200
    assert ask(iris, "fit", "POST", wish(49) | {"pane": "late"})[0] == 204
    assert ask(iris, "fit", "POST", wish(50) | {"pane": "late"})[0] == 200


# Files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_saved_embedding_loads(iris, kind):
    status, _, body = ask(iris, "save", "POST", saved("embedding", kind, shrinkage=0.1))
    assert status == 200
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[kind]
    frame = read(io.BytesIO(body))
    X, y = load_iris(return_X_y=True)
    assert list(frame.columns) == ["row", "part", "label_species", "label_long", "z1", "z2"]
    assert (frame["label_species"] == y).all()
    train = (frame["part"] == "train").to_numpy()
    model = labelens.SupervisedPCA(shrinkage=0.1, scale="standard").fit(X[train], y[train])
    np.testing.assert_allclose(frame[["z1", "z2"]], model.transform(X), atol=1e-9)


@pytest.mark.parametrize(
    "changes",
    [{}, {"shrinkage": 0.1, "scale": "minmax"}, {"method": "ksrp", "gamma": 2.0, "components": 3},
     {"method": "srp", "target_weight": 0.5}, {"label": 1}, {"method": "kspca", "map": "wheel"}],
    ids=str,
)  # fmt: skip
def test_a_saved_model_loads(iris, changes, tmp_path):
    status, _, body = ask(iris, "save", "POST", saved("model", **changes))
    assert status == 200
    (tmp_path / "model.labelens").write_bytes(body)
    model = labelens.load(tmp_path / "model.labelens")
    X, _ = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    rows = frame if hasattr(model, "feature_names_in_") else X
    Z = model.transform(rows)
    assert Z.shape[0] == 150
    if not changes.get("map"):
        assert list(model.feature_names_in_) == list("abcd")
        _, _, again = ask(iris, "save", "POST", saved("embedding", **changes))
        told = pd.read_csv(io.BytesIO(again)).filter(regex=r"^z\d+$")
        np.testing.assert_allclose(Z, told, atol=1e-6 * np.abs(Z).max())


def test_text_that_a_spreadsheet_would_run_is_saved_as_text():
    y = np.array(["=1+1", "@SUM(1)"] * 20)
    explorer = Explorer(session_of(from_arrays(np.arange(80.0).reshape(40, 2), y))).start()
    try:
        view = saved("embedding", target_weight=0.9)
        body = ask(explorer, "save", "POST", view)[2].decode()
        assert '"\'=1+1"' in body
        assert not re.search(r'[",]=1', body)
    finally:
        explorer.stop()


@pytest.mark.parametrize(
    "body", [saved("server.py"), saved("embedding", "../x"), {}, saved("") | {"path": "/etc"}]
)
def test_nothing_else_can_be_saved(iris, body):
    assert ask(iris, "save", "POST", body)[0] == 400


def test_code(iris):
    view = wish(shrinkage=0.25)["view"]
    code = json.loads(ask(iris, "code", "POST", {"data": 0, "view": view})[2])["code"]
    assert "SupervisedPCA(random_state=0, scale='standard', shrinkage=0.25)" in code
    compile(code, "view.py", "exec")


def test_a_link_without_its_last_stroke(iris):
    status, headers, _ = ask(iris, urlsplit(iris.url).path.rstrip("/"))
    assert (status, headers["location"]) == (307, urlsplit(iris.url).path)


def test_the_command(tmp_path):
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(species=y, wide=X[:, 1])
    frame.to_csv(tmp_path / "iris.csv", index=False)
    command = [sys.executable, "-m", "labelens", "explore", "iris.csv", "--no-browser"]
    labels = ["--label", "species", "--label", "wide"]
    with subprocess.Popen(
        command + labels, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        url = process.stdout.readline().split()[-1]
        shown = ask(SimpleNamespace(url=url), "data/0")
        assert shown[0] == 200
        assert b"iris.csv" in shown[2]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors.splitlines() == [
        "WARNING: the column 'b' determines the label 'wide'. If it is known only after the label, "
        "leave it out: --drop b.",
        "Press Ctrl-C to stop.",
        "Stopped; the page is served no more.",
    ]
    file, *wrong = str(tmp_path / "iris.csv"), "--no-browser", "--label", "specis"
    for arguments, message in (
        ([file, *wrong], "Did you mean 'species'"),
        (wrong, "name the file first"),
    ):
        refused = CliRunner().invoke(app, ["explore", *arguments])
        assert refused.exit_code == 1
        assert message in " ".join(refused.output.split())


def test_the_bundled_data():
    explorer = labelens.explore()
    try:
        titles = json.loads(ask(explorer, "alive")[2])["titles"]
        assert titles == ["Digits", "Sonar", "Ionosphere", "Spirals", "XOR", "Diabetes"]
        for data in range(len(titles)):
            assert ask(explorer, f"data/{data}")[0] == 200
    finally:
        explorer.stop()


def test_a_group_over_http(iris):
    bits = bytes([255] * 10 + [0] * 9)
    status, _, body = ask(iris, "data/0/group/0/own", "POST", bits)
    assert status == 200
    assert json.loads(body)["size"] == 80
    assert ask(iris, "data/0/group/2/own", "POST", bits)[0] == 400
    assert ask(iris, "data/0/group/0/own", "POST", b"x")[0] == 400


def test_a_port_that_is_taken(iris):
    port = urlsplit(iris.url).port
    with pytest.raises(OSError, match=f"Port {port} cannot be used"):
        Explorer(session_of(small()), port=port)


def test_view_defaults_are_views(iris):
    sessions = session_of(from_arrays(*load_digits(return_X_y=True)))
    default = sessions.open(0).default()
    assert ControlState.read(vars(default), 1) == default
