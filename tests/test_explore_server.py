"""The explorer's server: who is let in, whose turn it is, and what it says when it will not."""

import http.client
import io
import json
import re
import signal
import socket
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

import labelens
from labelens.explorer import server as server_module
from labelens.explorer.material import from_arrays
from labelens.explorer.serving import HOST, Explorer, session_of
from labelens.explorer.view import View

pytest.importorskip("uvicorn", reason="needs the explore extra")


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(species=y, long=X[:, 2])
    explorer = Explorer(session_of(from_arrays(frame, ["species", "long"]))).start()
    yield explorer
    explorer.stop()


def ask(explorer, path="", method="GET", body=None, host=None, **headers):
    """Status, headers and body of one request, whose path is below the token."""
    parts = urlsplit(explorer.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
    path = path if path.startswith("/") else parts.path + path
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", parts.netloc if host is None else host)
    for name, value in headers.items():
        connection.putheader(name, value)
    body = body.encode() if isinstance(body, str) else body
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def wish(turn=1, **changes):
    view = dict(
        label=0, method="spca", kernel="rbf", gamma=1.0, components=2, target_weight=1.0,
        shrinkage=1.0, scale="standard", features=64, seed=0, wheel=False,
    )  # fmt: skip
    asked = {"client": "c", "pane": "0", "turn": turn, "data": 0, "axes": [0, 1], "shuffled": False}
    return asked | {"view": view | changes}


def saved(what, kind="csv", **changes):
    return {"data": 0, "view": wish(**changes)["view"], "what": what, "format": kind}


# Who is let in -----------------------------------------------------------------------------------

PATHS = ["", "main.js", "style.css", "alive", "data/0", "data/0/column/0", "data/0/row/0"]


@pytest.mark.parametrize("path", PATHS)
def test_with_the_token(iris, path):
    status, headers, body = ask(iris, path)
    assert status == 200
    assert body
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("token", ["", "x", "{token}x", "{token}%00", "%2e%2e/{token}"])
def test_without_the_token(iris, path, token):
    token = token.format(token=iris.token)
    status, headers, body = ask(iris, f"/{token}/{path}" if token else f"/{path}")
    assert status == 403
    assert b"Open the whole link" in body
    assert "default-src 'none'" in headers["content-security-policy"]


def test_the_token_is_new_and_long():
    sessions, tokens = session_of(small()), set()
    for _ in range(5):
        explorer = Explorer(sessions)
        tokens.add(explorer.token)
        explorer.stop()
    assert len(tokens) == 5
    assert min(map(len, tokens)) >= 32


def small():
    return from_arrays(np.arange(40.0).reshape(20, 2), np.arange(20) % 2)


FOREIGN = ["example.org", "example.org:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}",
           "0.0.0.0:{port}", "[::1]:{port}", "127.0.0.1:{port}.evil.org", ""]  # fmt: skip


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host(iris, host):
    port = urlsplit(iris.url).port
    for path, method in (("", "GET"), ("alive", "GET"), ("fit", "POST")):
        assert ask(iris, path, method, wish(), host=host.format(port=port))[0] == 403


def test_two_hosts_or_none(iris):
    parts = urlsplit(iris.url)
    assert raw(parts, f"Host: {parts.netloc}") == 200
    assert raw(parts, f"Host: {parts.netloc}\r\nHost: example.org") in (400, 403)
    assert raw(parts, "X-Nothing: 1") in (400, 403)


def raw(parts, lines):
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as wire:
        wire.sendall(f"GET {parts.path} HTTP/1.1\r\n{lines}\r\nConnection: close\r\n\r\n".encode())
        return int(wire.recv(64).split()[1])


@pytest.mark.parametrize("origin", ["http://example.org", "null", "https://127.0.0.1:{port}",
                                    "http://127.0.0.1:1", "http://127.0.0.1"])  # fmt: skip
def test_a_foreign_origin(iris, origin):
    origin = origin.format(port=urlsplit(iris.url).port)
    for path, method in (("", "GET"), ("fit", "POST"), ("save", "POST")):
        assert ask(iris, path, method, wish(), Origin=origin)[0] == 403


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_our_own_origin(iris, name):
    here = f"{name}:{urlsplit(iris.url).port}"
    assert ask(iris, "fit", "POST", wish(), host=here, Origin=f"http://{here}")[0] == 200


@pytest.mark.parametrize(
    "path",
    ["etc/passwd", "../server.py", "%2e%2e/server.py", "..%2fserver.py", "page/main.js",
     "main.js/", "main.js%00", "data/0/../../../x", "data/1", "data/-1", "data/0/column/6",
     "data/0/row/150", "data/0/row/-1", "favicon.ico", "index.html/..",
     "docs", "openapi.json"],
)  # fmt: skip
def test_a_path_outside_the_page(iris, path):
    status, _, body = ask(iris, path)
    assert status in (400, 404)
    assert b"root:" not in body
    assert b"import" not in body


def test_other_methods(iris):
    for path in ("", "alive", "data/0"):
        for method in ("POST", "PUT", "DELETE"):
            assert ask(iris, path, method, "")[0] == 405
    assert ask(iris, "fit")[0] == 405
    assert ask(iris, "save")[0] == 405


def test_only_this_machine_can_connect(iris):
    assert HOST == "127.0.0.1" == iris._socket.getsockname()[0]


def test_no_web_socket(iris):
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "x" * 24}  # fmt: skip
    assert ask(iris, "alive", **headers)[0] in (200, 400, 426)


def test_a_notebook_may_frame_it_and_no_other_site():
    explorer = labelens.explore(*load_iris(return_X_y=True))
    try:
        policy = ask(explorer)[1]["content-security-policy"]
        ancestors = policy.partition("frame-ancestors ")[2]
        assert ancestors == "http://127.0.0.1:* http://localhost:* vscode-webview:"
        html = explorer._repr_html_()
        assert f'src="{explorer.url}"' in html
        assert html.startswith("<iframe")
    finally:
        explorer.stop()
    with pytest.raises(ConnectionRefusedError):
        ask(explorer)


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
     wish(seed=-1), wish(features=10**12), wish(wheel="on"), wish(shrinkage="auto")],
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
    status, _, answer = ask(iris, "fit", "POST", wish(label=1, wheel=True))
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
     {"method": "srp", "target_weight": 0.5}, {"label": 1}, {"method": "kspca", "wheel": True}],
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
    if not changes.get("wheel"):
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
        "Press Ctrl-C to stop.",
        "Stopped; the page is served no more.",
    ]
    wrong = [*command, "--label", "specis"]
    refused = subprocess.run(wrong, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "Did you mean 'species'" in refused.stderr
    refused = subprocess.run(
        [*command[:4], "--label", "x"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "name the file first" in refused.stderr


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
    default = sessions[0].default()
    assert View.read(vars(default), 1) == default
