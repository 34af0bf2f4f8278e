"""Requests of the explorer, as its page makes them."""

import http.client
import json
from urllib.parse import urlsplit

import numpy as np

from labelens.explorer.explored import from_arrays


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
        shrinkage=1.0, label_shrinkage=1.0, scale="standard", features=64, seed=0,
        map="components", detail=0.85, temperature=0,
    )  # fmt: skip
    asked = {
        "client": "c",
        "pane": "0",
        "turn": turn,
        "data": 0,
        "axes": [0, 1],
        "shuffled": False,
        "rough": True,
        "fitted": False,
    }
    return asked | {"view": view | changes}


def saved(what, kind="csv", **changes):
    return {"data": 0, "view": wish(**changes)["view"], "what": what, "format": kind}


def small():
    return from_arrays(np.arange(40.0).reshape(20, 2), np.arange(20) % 2)
