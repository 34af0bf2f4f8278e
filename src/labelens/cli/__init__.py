"""The command line: each command is a file that parses, calls the library and prints.

Nothing is imported here but signals: loading the rest takes a moment, and may be stopped too.
"""

import os
import signal
from typing import Any

ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
asked: list[int] = []  # signals to end that have come, also where compiled code hid the exception


def main() -> None:
    """The `labelens` command."""
    known = [getattr(signal, name) for name in ENDINGS if hasattr(signal, name)]
    heard = [number for number in known if signal.getsignal(number) != signal.SIG_IGN]
    for number in heard:
        signal.signal(number, _at_once)
    from .._optional import require

    try:
        require("typer", extra="cli")
        require("rich", extra="cli")
    except ModuleNotFoundError as error:
        raise SystemExit(str(error)) from None
    from .app import app

    for number in heard:
        signal.signal(number, _tidily)
    try:
        app()
    except OSError as error:  # help that nobody can read
        raise SystemExit(f"Error: {error}.") from None
    finally:
        for number in heard:  # it is over but for what Python tidies up
            signal.signal(number, signal.SIG_IGN)


def _at_once(number: int, _: Any) -> None:
    """While Python loads: there is nothing to tidy up, and an exception might end in a callback."""
    os.write(2, b"Stopped; nothing was written.\n")
    os._exit(128 + number)


def _tidily(number: int, _: Any) -> None:
    asked.append(number)
    raise KeyboardInterrupt
