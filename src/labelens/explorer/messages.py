"""What goes to the page: a JSON header and typed arrays behind it, in one body.

    uint32 length of the header | header, padded to a multiple of 4 with spaces | arrays

The header's `arrays` names the type of each and how many numbers it has.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

TYPES = {"float32": "<f4", "uint32": "<u4"}


def pack(header: dict[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> bytes:
    """Arrays have to be float32 or uint32."""
    parts = [np.ascontiguousarray(array).ravel() for array in arrays]
    listed = [{"type": part.dtype.name, "length": part.size} for part in parts]
    text = json.dumps(header | {"arrays": listed}, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    body = [part.astype(TYPES[part.dtype.name], copy=False).tobytes() for part in parts]
    return b"".join([len(text).to_bytes(4, "little"), text, *body])
