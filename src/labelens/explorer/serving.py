"""The page, served: from a command until it is stopped, in a notebook from a thread of its own."""

from __future__ import annotations

import os
import secrets
import socket
import time
from html import escape
from threading import Thread

from .._base.optional import require
from .explored import ExploredData
from .server import Sessions, make_app

HOST = "127.0.0.1"  # and no other: whoever is not on this machine cannot reach the page


class Explorer:
    """A page that is being served; a notebook shows it in the cell.

    Attributes
    ----------
    url : str
        The address, with the token that opens it.
    """

    def __init__(
        self,
        sessions: Sessions,
        *,
        port: int = 0,
        token: str | None = None,
        framed: bool = False,
        height: int = 760,
    ) -> None:
        uvicorn = require("uvicorn", extra="explore")
        try:  # who comes before the server runs waits for it
            self._socket = socket.create_server((HOST, port), backlog=128)
        except OSError as error:
            told = os.strerror(error.errno or 0)
            raise OSError(f"Port {port} cannot be used: {told}. Leave --port out.") from None
        port = self._socket.getsockname()[1]
        self.token = token or secrets.token_urlsafe(24)
        self.url = f"http://{HOST}:{port}/{self.token}/"
        self._height = height
        app = make_app(sessions, self.token, port, framed)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                server_header=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=1,
            )
        )
        self._thread: Thread | None = None

    def run(self) -> None:
        """Serve until Ctrl-C."""
        self._server.run(sockets=[self._socket])

    def start(self) -> Explorer:
        """Serve from another thread."""
        self._thread = Thread(target=self.run, daemon=True, name="labelens explore")
        self._thread.start()
        end = time.monotonic() + 10
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > end:
                raise RuntimeError("The server of the explorer has not started.")
            time.sleep(0.005)
        return self

    def stop(self) -> None:
        """Stop serving; the page says that it is lost."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=10)
        self._socket.close()

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{escape(self.url)}" title="labelens explorer" width="100%" '
            f'height="{self._height}" style="border: 0" allow="clipboard-write"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Explorer at {self.url}"


def session_of(material: ExploredData) -> Sessions:
    """Of one data set; what is wrong with it is said here, and not on the page."""
    sessions = Sessions({material.name: lambda: material})
    sessions.open(0)
    return sessions
