"""Images of rows: their columns as pixels, or a column with paths or bytes of image files.

The server sends a file only if it begins as PNG, JPEG, GIF or WebP does; SVG can contain scripts. A
path must lead to a file in the folder of the data, or below it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import partial
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .view import RejectedError

LARGEST, SIDES = 4_000_000, (6, 512)  # bytes of a file; pixels of a side
KINDS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")
SMOOTH, LOPSIDED = 0.82, 2.0  # difference of adjacent pixels over that of any two; across and up
LOOKED_AT = 300  # rows that are examined to decide whether rows are images

Pictured = Callable[[int], tuple[bytes, str]]  # the place of a row -> a file and its type


def pictures(
    X: NDArray[Any], shown: dict[str, Any], order: NDArray[Any], folder: Path | None
) -> Pictured | None:
    """The images of rows of X, if any; row i of X has the value order[i] of a column of `shown`."""
    for values in shown.values():
        some = [values[int(own)] for own in order[:LOOKED_AT]]
        if all(_bytes_of(value) is not None for value in some):
            return partial(_embedded, values, order)
        named = all(isinstance(value, str) and value.lower().endswith(ENDINGS) for value in some)
        if named and folder is not None:
            return partial(_beside, values, order, folder)
    d = X.shape[1]
    side = isqrt(d)
    if side * side != d or not SIDES[0] <= side <= SIDES[1]:
        return None
    sample = np.asarray(X[:LOOKED_AT], dtype=np.float64).reshape(-1, side, side)
    if not np.isfinite(sample).all() or sample.min() < 0 or not _smooth(sample):
        return None
    low, high = float(sample.min()), float(sample.max())

    def gray(place: int) -> tuple[bytes, str]:
        shade = (X[place].reshape(side, side) - low) / ((high - low) or 1.0)
        return png((255 * np.clip(shade, 0, 1) + 0.5).astype(np.uint8)), "image/png"

    return gray


def _embedded(values: Any, order: NDArray[Any], place: int) -> tuple[bytes, str]:
    return checked(_bytes_of(values[int(order[place])]) or b"")


def _beside(values: Any, order: NDArray[Any], folder: Path, place: int) -> tuple[bytes, str]:
    return checked(_read(folder, values[int(order[place])]))


def _smooth(sample: NDArray[np.float64]) -> bool:
    """Whether pixels are close to the next ones across and down; spectra are so across only."""
    apart = np.random.default_rng(0).permutation(sample[0].size)
    flat = sample.reshape(len(sample), -1)
    far = np.abs(flat - flat[:, apart]).mean()
    up, across = (np.abs(np.diff(sample, axis=axis)).mean() for axis in (1, 2))
    return max(up, across) < min(SMOOTH * far, LOPSIDED * min(up, across))


def _bytes_of(value: Any) -> bytes | None:
    if isinstance(value, dict):  # as in Hugging Face's parquet files
        value = value.get("bytes")
    return value if isinstance(value, bytes) and _kind(value) is not None else None


def _kind(start: bytes) -> str | None:
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in KINDS.items() if start.startswith(magic)), None)


def checked(body: bytes) -> tuple[bytes, str]:
    kind = _kind(body[:16])
    if kind is None or len(body) > LARGEST:
        raise RejectedError("This row has no image: a PNG, JPEG, GIF or WebP file of at most 4 MB.")
    return body, kind


def _read(folder: Path, name: str) -> bytes:
    """The bytes of a file below a folder; links and dots must not lead out of it."""
    top = folder.resolve()
    try:
        path = (top / name).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise RejectedError("The image file of this row does not exist.") from None
    if not path.is_relative_to(top) or not path.is_file() or path.stat().st_size > LARGEST:
        raise RejectedError("The image file of this row is too large, or outside the data folder.")
    return path.read_bytes()


def png(pixels: NDArray[np.uint8]) -> bytes:
    """(h, w) shades of gray as a PNG file."""
    h, w = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)

    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = struct.pack(">IIBBBBB", w, h, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(lines)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
