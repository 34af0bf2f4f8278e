"""The server of the page: its routes, the order of requests, and their cancellation."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from html import escape
from importlib.resources import files
from threading import Event, Thread
from typing import Any

import numpy as np

from .. import report
from .._base.optional import require
from .._base.threads import StoppedError, stopping
from ..report.colouring import page_colours
from .answers import describe, overview, pack, picture, read_axes
from .correcting import corrected_file
from .explored import script
from .finding import find
from .guard import Guard
from .panels import panel
from .rows import column, marked, neighbours, row
from .saving import FILES, embedding_file, rows_file
from .session import Session
from .sessions import LARGEST_FILE, Sessions
from .view import ControlState, RejectedError, truth, whole, word

HOST = "127.0.0.1"  # other machines cannot reach the page
TEXT = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
LARGEST_BODY = 1 << 18  # bytes; a group of 200,000 rows takes 25,000
MOST_PANES = 64  # with a known newest request
PATIENCE = 1.0  # seconds in which a fit must end after the server was stopped
TYPE_OF = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


class Turns:
    """The newest request of each pane; older requests are not served."""

    def __init__(self) -> None:
        self._newest: OrderedDict[str, int] = OrderedDict()
        self.served = 0

    def arrive(self, pane: str, turn: int) -> None:
        self._newest[pane] = max(turn, self._newest.get(pane, 0))
        self._newest.move_to_end(pane)
        while len(self._newest) > MOST_PANES:
            self._newest.popitem(last=False)

    def over(self, pane: str, turn: int) -> bool:
        return self._newest.get(pane, turn) > turn


class Work:
    """Computations, one at a time; a closed connection cancels its computation."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._stops: set[Event] = set()

    async def of(self, request: Any, wanted: Callable[[], bool], make: Callable[[], Any]) -> Any:
        """The result of `make` on a thread; StoppedError if the request was cancelled.

        A page closes the connection to cancel a request.
        """
        run_in_threadpool = require("starlette.concurrency", extra="explore").run_in_threadpool
        stop = Event()
        self._stops.add(stop)

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            stop.set()

        def made() -> Any:
            with stopping(stop):
                return make()

        watcher = asyncio.create_task(watch())
        try:
            async with self._turn:
                if not wanted():
                    raise StoppedError
                return await run_in_threadpool(made)
        finally:
            watcher.cancel()
            self._stops.discard(stop)

    async def end(self, patience: float) -> None:
        """Cancel all computations, and wait until they end or the time is over."""
        end = time.monotonic() + patience
        for stop in self._stops:
            stop.set()
        while self._stops and time.monotonic() < end:
            await asyncio.sleep(0.02)


def make_app(sessions: Sessions, token: str, port: int, work: Work, framed: bool = False) -> Any:
    """The ASGI application; `framed` allows notebooks to show the page in a cell."""
    Starlette = require("starlette.applications", extra="explore").Starlette
    run_in_threadpool = require("starlette.concurrency", extra="explore").run_in_threadpool
    responses = require("starlette.responses", extra="explore")
    Response, JSONResponse = responses.Response, responses.JSONResponse
    Route = require("starlette.routing", extra="explore").Route

    turns = Turns()
    top, instance = f"/{token}", secrets.token_hex(8)

    async def body_of(request: Any, most: int = LARGEST_BODY) -> bytes:
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise RejectedError(f"The message exceeds {most:,} bytes.")
            parts.append(part)
        return b"".join(parts)

    async def read_json(request: Any, names: set[str]) -> dict[str, Any]:
        body = await body_of(request)
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise RejectedError("The message is not valid JSON.") from None
        if not isinstance(found, dict) or set(found) != names:
            raise RejectedError(f"The message must have the fields {', '.join(sorted(names))}.")
        return found

    async def read_view(request: Any, *names: str) -> tuple[Session, ControlState, dict[str, Any]]:
        """The session, the view and the other fields of a message."""
        found = await read_json(request, {"data", "view", *names})
        session = await run_in_threadpool(sessions.open, found["data"])
        return session, ControlState.read(found["view"], len(session.labels)), found

    def error(sentence: str, status: int) -> Any:
        return JSONResponse({"error": " ".join(sentence.split())}, status)

    def route(path: str, handler: Any, method: str = "POST") -> Any:
        """A route that sends what the handler returns, or the message of its error."""

        async def answer(request: Any) -> Any:
            try:
                found = await handler(request)
            except (StoppedError, asyncio.CancelledError):  # the connection is closed
                return Response(status_code=204)
            except RejectedError as rejected:
                return error(str(rejected), 400)
            except MemoryError:
                return error("Not enough memory. Use fewer rows, columns or random features.", 422)
            except (ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError) as failed:
                return error(str(failed), 422)
            if isinstance(found, dict):
                return JSONResponse(found)
            if isinstance(found, bytes):
                return Response(found, media_type="application/octet-stream")
            return found

        return Route(top + path, answer, methods=[method])

    def known(path: str, answer: Callable[..., Any]) -> Any:
        """A route that sends `answer` of a session and of the number in the path."""

        async def handler(request: Any) -> Any:
            data, *number = request.path_params.values()
            return await run_in_threadpool(lambda: answer(sessions.open(data), *number))

        return route(f"/data/{{data:int}}{path}", handler, "GET")

    def asset(name: str, body: bytes) -> Any:
        kind = f"{TEXT[name.rpartition('.')[2]]}; charset=utf-8"

        async def answer(request: Any) -> Any:
            return Response(body, media_type=kind)

        return Route(f"{top}/{name if name != 'index.html' else ''}", answer)

    async def alive(request: Any) -> Any:
        return {"instance": instance, "served": turns.served, "titles": sessions.titles}

    async def fit(request: Any) -> Any:
        fields = "client", "pane", "turn", "axes", "shuffled", "rough", "fitted"
        session, view, asked = await read_view(request, *fields)
        axes, shuffled = read_axes(asked["axes"], view), truth(asked["shuffled"], "shuffled")
        rough, fitted = truth(asked["rough"], "rough"), truth(asked["fitted"], "fitted")
        turn = whole(asked["turn"], "turn", 0, 2**53)
        pane = f"{_short(asked['client'])} {_short(asked['pane'])}"
        turns.arrive(pane, turn)

        def make() -> bytes:
            turns.served += 1
            slow = view.kernelised or view.map == "atlas"
            one = (rough and slow and session.sample) or session
            return picture(one, one.fit(view, exact=False), axes, shuffled, fitted)

        return await work.of(request, lambda: not turns.over(pane, turn), make)

    async def group(request: Any) -> Any:
        which, bits = request.path_params, await body_of(request)
        session = await run_in_threadpool(sessions.open, which["data"])
        label = session.labels[whole(which["label"], "label", 0, len(session.labels) - 1)]
        shuffled = word(which["labels"], "labels", ("own", "shuffled")) == "shuffled"
        return await run_in_threadpool(describe, session, bits, label, shuffled)

    def image(session: Session, number: int) -> Any:
        whole(number, "row", 0, len(session.drawn) - 1)
        if session.pictured is None:
            raise RejectedError("These rows have no images.")
        body, kind = session.pictured(int(session.drawn[number]))
        return Response(body, media_type=kind)

    async def rows(request: Any) -> Any:
        which, bits = request.path_params, await body_of(request)
        session = await run_in_threadpool(sessions.open, which["data"])
        kind = word(which["format"], "format", TYPE_OF)
        body = await work.of(
            request, always, lambda: rows_file(session, marked(session, bits), kind)
        )
        return Response(body, media_type=TYPE_OF[kind])

    async def code(request: Any) -> Any:
        session, view, _ = await read_view(request)
        estimator = await work.of(request, always, lambda: session.estimator(view))
        return {"code": script(session.material, view, estimator)}

    async def saved(request: Any) -> Any:
        session, view, asked = await read_view(request, "what", "format")
        kind = word(asked["format"], "format", TYPE_OF)
        what = word(asked["what"], "what", ("embedding", *FILES))
        if what != "embedding":
            return await work.of(request, always, lambda: FILES[what](session, view))
        body = await work.of(request, always, lambda: embedding_file(session, view, kind))
        return Response(body, media_type=TYPE_OF[kind])

    async def found(request: Any) -> Any:
        session, view, asked = await read_view(request, "stage")
        return await work.of(request, always, lambda: find(session, view, asked["stage"]))

    async def computed(request: Any) -> Any:
        session, view, asked = await read_view(request, "axes", "what")
        axes = read_axes(asked["axes"], view)
        return await work.of(request, always, lambda: panel(session, view, asked["what"], axes))

    async def corrected(request: Any) -> Any:
        asked = await read_json(request, {"data", "label", "changes", "format"})
        session = await run_in_threadpool(sessions.open, asked["data"])
        label = whole(asked["label"], "label", 0, len(session.labels) - 1)
        kind, changes = word(asked["format"], "format", TYPE_OF), asked["changes"]
        body = await work.of(request, always, lambda: corrected_file(session, label, changes, kind))
        return Response(body, media_type=TYPE_OF[kind])

    async def opened(request: Any) -> Any:
        name, body = request.path_params["name"], await body_of(request, LARGEST_FILE)
        return await run_in_threadpool(sessions.receive, name, body)

    async def added(request: Any) -> Any:
        asked = await read_json(request, {"upload", "labels"})
        return await run_in_threadpool(sessions.add, asked["upload"], asked["labels"])

    async def whole_link(request: Any) -> Any:
        return responses.RedirectResponse(f"{top}/")

    routes = [
        route("", whole_link, "GET"),
        *(asset(name, body) for name, body in _page().items()),
        route("/alive", alive, "GET"),
        known("", overview),
        known("/column/{column:int}", lambda *about: pack(*column(*about))),
        known("/row/{row:int}", row),
        known("/near/{row:int}", neighbours),
        known("/image/{row:int}", image),
        route("/data/{data:int}/rows/{format}", rows),
        route("/data/{data:int}/group/{label:int}/{labels}", group),
        route("/fit", fit),
        route("/code", code),
        route("/save", saved),
        route("/find", found),
        route("/panel", computed),
        route("/labels", corrected),
        route("/open/{name}", opened),
        route("/add", added),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    return Guard(app, token, port, framed)


def _page() -> dict[str, bytes]:
    """All files of the page; its colours are those of the reports."""
    folders = files(__package__) / "page", files(report) / "map"
    found = {path.name: path.read_bytes() for folder in folders for path in folder.iterdir()}
    return found | {"palette.css": page_colours().encode()}


def always() -> bool:
    return True


def _short(name: Any) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= 64:
        raise RejectedError("client and pane must be names of 1 to 64 characters.")
    return name


# Serving ---------------------------------------------------------------------------------------


class Explorer:
    """A running server of the page; a notebook shows the page in the cell.

    Attributes
    ----------
    url : str
        The address of the page, including the token.
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
        try:  # early connections wait until the server runs
            self._socket = socket.create_server((HOST, port), backlog=128)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise OSError(f"Port {port} cannot be used: {reason}. Omit --port.") from None
        port = self._socket.getsockname()[1]
        self.token = token or secrets.token_urlsafe(24)
        self.url = f"http://{HOST}:{port}/{self.token}/"
        self._height = height
        work = Work()
        app = make_app(sessions, self.token, port, work, framed)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                server_header=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=5,
            )
        )
        ending = self._server.shutdown

        async def shutdown(sockets: Any = None) -> None:
            await work.end(PATIENCE)
            for task in self._server.server_state.tasks:  # they may ignore a closed connection
                task.cancel()
            await ending(sockets)

        self._server.shutdown = shutdown
        self._thread: Thread | None = None
        self._sessions = sessions

    def run(self) -> None:
        """Serve until Ctrl-C."""
        with self._sessions:  # removes the files that were opened on the page
            self._server.run(sockets=[self._socket])

    def start(self) -> Explorer:
        """Serve on another thread."""
        self._thread = Thread(target=self.run, daemon=True, name="labelens explore")
        self._thread.start()
        end = time.monotonic() + 10
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > end:
                raise RuntimeError("The server of the explorer did not start within 10 seconds.")
            time.sleep(0.005)
        return self

    def stop(self) -> None:
        """Stop the server; the page shows that the connection is lost."""
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
