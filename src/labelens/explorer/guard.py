"""Access to the server: token, host and origin of each request."""

from __future__ import annotations

import secrets
from typing import Any

NOTEBOOKS = "http://127.0.0.1:* http://localhost:* vscode-webview:"


class Guard:
    """Rejects requests without the token, and requests from other hosts and origins."""

    def __init__(self, app: Any, token: str, port: int, framed: bool) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = {f"{host}:{port}".encode() for host in ("127.0.0.1", "localhost")}
        self._origins = {b"http://" + host for host in self._hosts}
        ancestors = NOTEBOOKS if framed else "'none'"
        self._headers = [
            (name.encode(), value.encode())
            for name, value in {
                "content-security-policy": (
                    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                    "connect-src 'self'; "
                    f"base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
                ),
                "x-content-type-options": "nosniff",
                "referrer-policy": "no-referrer",
                "cross-origin-resource-policy": "same-origin",
                "cross-origin-opener-policy": "same-origin",
                "permissions-policy": "camera=(), microphone=(), geolocation=()",
                "cache-control": "no-store",
            }.items()
        ]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError("The server of the explorer speaks HTTP only.")

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = message | {"headers": [*message.get("headers", []), *self._headers]}
            await send(message)

        app = self._app if self._welcome(scope) else _forbidden
        await app(scope, receive, sent)

    def _welcome(self, scope: Any) -> bool:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        given = scope["path"].encode("utf-8", "surrogateescape").split(b"/")[1:2]
        return (
            len(hosts) == 1
            and hosts[0] in self._hosts
            and all(origin in self._origins for origin in origins)
            and len(given) == 1
            and secrets.compare_digest(given[0], self._token)
        )


async def _forbidden(scope: Any, receive: Any, send: Any) -> None:
    text = b"Open the complete link that labelens explore printed."
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": text})
