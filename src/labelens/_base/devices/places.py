"""Where an array is, and how it gets to another place."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..optional import require

# Memory that the host can read, as DLPack numbers it: its own, and what it shares with a card.
HOST_MEMORY = (1, 3, 11)
# Whose objects are not looked at twice.
NO_ARRAYS = ("numpy", "builtins", "scipy", "pandas", "polars", "pyarrow", "dask")


@dataclass(frozen=True)
class Place:
    """One library's arrays on one of its devices."""

    library: str  # the module that has the standard's functions
    device: Any

    @property
    def xp(self) -> Any:
        return sys.modules.get(self.library) or require(self.library, "torch")

    def put(self, values: NDArray[Any], dtype: Any = None) -> Any:
        """A NumPy array, as an array of this place."""
        if dtype is not None:
            values = values.astype(dtype, copy=False)
        # torch takes neither negative strides, which a reversed single column keeps although it is
        # in C order, nor what may not be written to.
        values = np.require(values, requirements=["C", "W"])
        if min(values.strides, default=0) < 0:
            values = values.copy()
        return self.xp.asarray(values, device=self.device)


def place_of(array: Any) -> Place | None:
    """Where an array of another library is; None for NumPy's, and for what is no array."""
    library = type(array).__module__.partition(".")[0]
    if library in ("torch", "cupy"):
        if not hasattr(array, "__dlpack_device__"):
            return None
        return Place(f"array_api_compat.{library}", array.device)
    if library in NO_ARRAYS or not hasattr(array, "__array_namespace__"):
        return None
    return Place(array.__array_namespace__().__name__, array.device)


def device_of(place: Place | None) -> Place | None:
    """The place, if its memory is a device's; in that of the host NumPy's arrays serve as well."""
    return place if place is not None and on_device(place.put(np.empty(0, np.float32))) else None


def on_device(array: Any) -> bool:
    """Whether an array has to stay where it is, because the host cannot read its memory."""
    return place_of(array) is not None and not _in_host_memory(array)


def _in_host_memory(array: Any) -> bool:
    kind = getattr(array.device, "type", None)  # torch's, which takes longer to ask
    return array.__dlpack_device__()[0] in HOST_MEMORY if kind is None else kind == "cpu"


def host(array: Any) -> Any:
    """An array as NumPy's: a view where the host can read it, else a copy. What is none stays."""
    place = place_of(array)
    if place is None:
        return array
    if hasattr(array, "detach"):  # torch
        array = array.detach().cpu()
        short = str(array.dtype) == "torch.bfloat16"  # which NumPy does not have
        return (array.float() if short else array).numpy()
    if hasattr(array, "get"):  # CuPy
        return array.get()
    default = place.xp.__array_namespace_info__().default_device()
    return np.from_dlpack(array if place.device == default else array.to_device(default))


def shown_at(values: Any, place: Place | None) -> Any:
    """The answer to an array that was given in that place."""
    return values if place is None or place_of(values) is not None else place.put(values)


def moved_to(place: Place | None, array: Any) -> Any:
    if place is None:
        return host(array)
    if (here := place_of(array)) == place:
        return array
    if here is not None and here.library == place.library:
        return place.xp.asarray(array, device=place.device)
    return place.put(host(array))


def rows_to(place: Place | None, rows: Any) -> Any:
    """Rows of a model, which are written out if they were sparse."""
    if rows is None or (place is None and place_of(rows) is None):
        return rows
    return moved_to(place, rows.toarray() if hasattr(rows, "toarray") else rows)


def named_place(where: Any) -> Place | None:
    """The place that a user means: "cuda:0", "cpu", "numpy", "torch", "cupy", or a namespace."""
    if isinstance(where, str):
        library, _, rest = where.partition(":")
        if library in ("numpy", "host"):
            return None
        if library == "cupy":
            cupy = _cupy()
            with cupy.cuda.Device(int(rest or 0)):
                return place_of(cupy.empty(0))
        torch = require("torch", "torch")
        try:
            return place_of(torch.empty(0, device="cpu" if where == "torch" else where))
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0]
            raise ValueError(
                f"{where!r} is no device that torch can use here ({reason}); name one such as "
                "'cuda', 'cuda:1' or 'cpu', or 'cupy', 'numpy'."
            ) from None
    some = where.empty(0) if hasattr(where, "empty") else None  # a module
    if isinstance(some, np.ndarray):
        return None
    if some is None and type(where).__module__.partition(".")[0] == "torch":
        return named_place(str(where))  # torch.device("cuda")
    if (found := place_of(some)) is None:
        raise TypeError(
            "A place is a device ('cuda', 'cuda:1', 'cpu'), a library ('numpy', 'torch', 'cupy') "
            f"or its module, got {where!r}."
        )
    return found


def _cupy() -> Any:
    try:
        return import_module("cupy")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "This needs CuPy, which is not installed: its packages are named after the CUDA that "
            "is there, such as cupy-cuda13x.",
            name="cupy",
        ) from None


def free_bytes(place: Place) -> int:
    """Memory of a device that is not in use."""
    if "torch" in place.library and place.device.type == "cuda":
        torch = require("torch", "torch")
        free, _ = torch.cuda.mem_get_info(place.device)
        return int(
            free
            + torch.cuda.memory_reserved(place.device)
            - torch.cuda.memory_allocated(place.device)
        )
    if "cupy" in place.library:
        return int(place.device.mem_info[0])
    return 1 << 33


def namespace(array: Any) -> Any:
    place = place_of(array)
    return np if place is None else place.xp


def device(array: Any) -> Any:
    place = place_of(array)
    return "cpu" if place is None else place.device


def is_single(array: Any) -> bool:
    return array.dtype == namespace(array).float32


def kernels(array: Any) -> Any:
    """Our own for a card that has this array; None where there are none."""
    place = place_of(array)
    if place is None or "torch" not in place.library or place.device.type != "cuda":
        return None
    try:
        from .. import triton_kernels
    except ModuleNotFoundError as error:
        if error.name != "triton":
            raise
        return None
    return triton_kernels
