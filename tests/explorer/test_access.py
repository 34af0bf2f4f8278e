"""The explorer's server: who is let in."""

import socket
from urllib.parse import urlsplit

import pytest
from sklearn.datasets import load_iris

import labelens
from explorer.asking import ask, small, wish
from labelens.explorer.server import HOST, Explorer
from labelens.explorer.sessions import session_of

pytest.importorskip("uvicorn", reason="needs the explore extra")

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
    assert b"Open the complete link" in body
    assert "default-src 'none'" in headers["content-security-policy"]


def test_the_token_is_new_and_long():
    sessions, tokens = session_of(small()), set()
    for _ in range(5):
        explorer = Explorer(sessions)
        tokens.add(explorer.token)
        explorer.stop()
    assert len(tokens) == 5
    assert min(map(len, tokens)) >= 32


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
