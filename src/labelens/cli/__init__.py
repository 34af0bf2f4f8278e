"""The command line: each command is a file that parses, calls the library and prints.

Nothing is imported here but signals: loading the rest takes a moment, and may be stopped too.
"""

import os
import signal
from typing import Any

ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
heard: list[int] = []  # those that we listen to
asked: list[int] = []  # those that have come, also where compiled code hid the exception


def main() -> None:
    """The `labelens` command."""
    known = [getattr(signal, name) for name in ENDINGS if hasattr(signal, name)]
    heard[:] = [number for number in known if signal.getsignal(number) != signal.SIG_IGN]
    listen(_at_once)
    from .._base.optional import require

    try:
        require("typer", extra="cli")
        require("rich", extra="cli")
    except ModuleNotFoundError as error:
        raise SystemExit(str(error)) from None
    from .app import app

    try:
        app()
    except OSError as error:  # the output cannot be written
        raise SystemExit(f"Error: {error}.") from None
    finally:
        listen(signal.SIG_IGN)  # it is over but for what Python tidies up


def listen(handler: Any) -> None:
    for number in heard:
        signal.signal(number, handler)


def _at_once(number: int, _: Any) -> None:
    """While Python loads and options are read: there is nothing to tidy up yet."""
    os.write(2, b"Stopped; nothing was written.\n")
    os._exit(128 + number)


def tidily(number: int, _: Any) -> None:
    """While a command works, which undoes what it has begun."""
    asked.append(number)
    raise KeyboardInterrupt
