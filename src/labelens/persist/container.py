"""The safetensors container: written atomically, read with checks."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.files import refuse_irregular, refuse_link, replaced
from .strict import fields, parse

FORMAT = 1
# JSON may take 25 times its length in memory, and names and classes are in the arrays.
LARGEST_INDEX = 1 << 20
MOST_DIMENSIONS, LONGEST_SIDE = 3, 1 << 48
DTYPES = {
    "BOOL": np.dtype("?"),
    **{
        f"{kind.upper()}{8 * size}": np.dtype(f"<{kind}{size}")
        for kind in "iu"
        for size in (1, 2, 4, 8)
    },
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
CODES = {dtype.name: code for code, dtype in DTYPES.items()}


# Writing -----------------------------------------------------------------------------------------


def write(path: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write one file with a header and arrays; an error leaves no file behind."""
    # Large items first, so that every array lies at a multiple of its item size.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    digest, offset = sha256(), 0
    index: dict[str, Any] = {"__metadata__": {}}
    table = {}
    for name in order:
        array = arrays[name]
        facts = {"dtype": CODES[array.dtype.name], "shape": list(array.shape)}
        index[name] = facts | {"data_offsets": [offset, offset := offset + array.nbytes]}
        fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        table[name] = facts | {"order": "F" if fortran else "C"}
        digest.update(_bytes(array))
    header = header | {"arrays": table, "arrays_sha256": digest.hexdigest()}
    text = _json(header)
    index["__metadata__"] = {"labelens": text, "sha256": sha256(text.encode()).hexdigest()}
    head = _json(index).encode()
    head += b" " * (-len(head) % 8)
    if len(head) > LARGEST_INDEX:
        raise ValueError(
            f"The header of this model has {len(head)} bytes, and {LARGEST_INDEX} can be read: "
            "it has too many parameters or kinds of labels."
        )
    refuse_link(path)
    with replaced(path) as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for name in order:
            file.write(_bytes(arrays[name]))


def _json(facts: Any) -> str:
    return json.dumps(facts, allow_nan=False, separators=(",", ":"))


def _bytes(array: NDArray[Any]) -> Any:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(little).reshape(-1).view(np.uint8).data


# Reading -----------------------------------------------------------------------------------------


def read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a valid file; ValueError names the first fault.

    No memory is allocated before the sizes of all arrays add up to the size of the file.
    """
    refuse_link(path)
    refuse_irregular(path)
    with open(path, "rb", opener=_without_waiting) as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if size < 8 + 2 or not 0 < length <= LARGEST_INDEX:
            raise ValueError("it is not a model file of labelens")
        if 8 + length > size:
            raise ValueError("it is cut short")
        try:
            index = parse(file.read(length).decode(), "its index")
        except UnicodeDecodeError:
            raise ValueError("it is not a model file of labelens") from None
        header = _header(index)
        placed = _placed(index, header, size - 8 - length)
        digest, arrays = sha256(), {}
        for name, (dtype, shape, order) in placed.items():
            array = _room_for(shape, dtype)
            view = array.reshape(-1).view(np.uint8)
            if file.readinto(view.data) != view.size:
                raise ValueError("it is cut short")
            digest.update(view.data)
            arrays[name] = np.asarray(array, dtype.newbyteorder("="), order=order)
    if digest.hexdigest() != header["arrays_sha256"]:
        raise ValueError(
            "its arrays are damaged: they do not have the checksum they were saved with"
        )
    return header, arrays


def _room_for(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    try:
        return np.empty(shape, dtype)
    except MemoryError:  # a sparse file can claim any size
        size = prod(shape) * dtype.itemsize / 2**30
        raise ValueError(f"an array of {size:.1f} GiB in it does not fit in memory") from None


def _without_waiting(path: str, flags: int) -> int:
    """If the file was replaced since the check: a pipe reads as empty, a link raises OSError."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def _header(index: Any) -> dict[str, Any]:
    metadata = index.get("__metadata__") if type(index) is dict else None
    if type(metadata) is not dict or "labelens" not in metadata:
        raise ValueError("it is not a model file of labelens")
    fields(metadata, "its metadata", labelens=str, sha256=str)
    text = metadata["labelens"]
    if sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != metadata["sha256"]:
        raise ValueError("its header is damaged: it does not have the checksum it was saved with")
    header = parse(text, "its header")
    if type(header) is not dict or type(version := header.get("format")) is not int:
        raise ValueError("its header has no format version")
    if version > FORMAT:
        raise ValueError(
            f"it was made by a newer labelens (file format {version}, and this one reads "
            f"{FORMAT}); upgrade with pip install -U labelens"
        )
    if version < 1:
        raise ValueError(f"there is no file format {version}")
    return header


def _placed(
    index: dict[str, Any], header: dict[str, Any], size: int
) -> dict[str, tuple[np.dtype[Any], tuple[int, ...], Any]]:
    """Name -> dtype, shape and order, in the order of the file, which has no gaps."""
    table = header.get("arrays")
    if type(table) is not dict or type(header.get("arrays_sha256")) is not str:
        raise ValueError("its header does not list its arrays")
    if table.keys() != index.keys() - {"__metadata__"}:
        raise ValueError("its header and its index list different arrays")
    placed, end = {}, 0
    for name, entry in index.items():
        if name == "__metadata__":
            continue
        what = f"the entry of array {name!r}"
        entry = fields(entry, what, dtype=str, shape=list, data_offsets=list)
        known = fields(table[name], what, dtype=str, shape=list, order=str)
        dtype, shape, order = entry["dtype"], entry["shape"], known["order"]
        if dtype not in DTYPES or order not in ("C", "F"):
            raise ValueError(f"{what} has an unknown dtype or order")
        numbers = [*shape, *entry["data_offsets"]]
        if any(type(n) is not int or not 0 <= n < LONGEST_SIDE for n in numbers):
            raise ValueError(f"{what} has invalid sizes")
        if (dtype, shape) != (known["dtype"], known["shape"]) or len(shape) > MOST_DIMENSIONS:
            raise ValueError(f"{what} has another dtype or shape than the header says")
        if entry["data_offsets"] != [end, end := end + prod(shape) * DTYPES[dtype].itemsize]:
            raise ValueError(f"{what} is out of place: arrays overlap, or leave a gap")
        placed[name] = (DTYPES[dtype], tuple(shape), order)
    if end > size:
        raise ValueError("it is cut short")
    if end < size:
        raise ValueError(f"it has {size - end} bytes behind its end")
    return placed
