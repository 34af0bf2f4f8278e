"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
import secrets
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A section that renames or removes files; it finishes before signals are handled."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():  # only there Python lets them in
        numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
        before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def named(path: Any) -> str:
    """A path as a message has it: on one line, without a terminal's escape sequences."""
    text = os.fspath(path)
    return text if text.isprintable() else ascii(text)


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A temporary file next to `path` that replaces it at the end, with its permissions."""
    target = Path(os.path.realpath(path))  # through links, as for any other writer
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"There is no folder {named(target.parent)} to save {named(target.name)} in."
        )
    mode = None
    if target.exists():
        refuse_irregular(target)
        mode = stat.S_IMODE(target.stat().st_mode)
    # Named before it exists, so that an interrupt at any moment finds it.
    temporary = target.parent / f".labelens-{secrets.token_hex(8)}.part"
    try:
        with open(temporary, "xb") as file:
            if mode is not None:
                temporary.chmod(mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with uninterrupted():
            temporary.unlink(missing_ok=True)
        raise
    _keep_name(target.parent)


def _keep_name(folder: Path) -> None:
    """A name is in its folder, which is to survive a power cut as well."""
    if os.name != "posix":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def refuse_link(path: Path) -> None:
    """Raise OSError for a link: in a shared folder its target can change."""
    if path.is_symlink():
        raise OSError(
            f"{named(path)} is a link, not a model file; name the file that it points to."
        )


def refuse_irregular(path: Path) -> None:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{named(path)} is a folder, not a file.")
    if not stat.S_ISREG(mode):
        raise OSError(f"{named(path)} is a pipe or a device, not a file of bytes.")
