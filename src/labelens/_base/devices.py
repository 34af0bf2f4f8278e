"""Arrays of other libraries: the only module that uses their namespaces and devices.

Rows may be arrays of torch, CuPy or any library that speaks the array API. Where their memory is
the host's they are NumPy arrays by another name: they are looked at as such, without a copy, and
answered in kind. Where it is a device's they stay there; only what a model is made of, which does
not grow with the rows, crosses over.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .optional import require

# Memory that the host can read, as DLPack numbers it: its own, and what it shares with a GPU.
HOST_MEMORY = (1, 3, 11)
# Whose objects are not looked at twice.
NO_ARRAYS = ("numpy", "builtins", "scipy", "pandas", "polars", "pyarrow", "dask")
# How CuPy numbers the ways in which it multiplies.
CUPY_FLOAT32, CUPY_TF32 = 1, 7


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
    array = array if place.device == default else array.to_device(default)
    try:
        return np.from_dlpack(array)
    except BufferError:  # NumPy 2.0 does not export read-only arrays
        return np.from_dlpack(place.xp.asarray(array, copy=True))


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
                f"{where!r} is not a device that torch can use here ({reason}); name one such as "
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


def free_bytes(place: Place | None) -> int:
    """Memory of a device, or of the host, that is not in use."""
    if place is None:
        return _free_on_host()
    if "torch" in place.library and place.device.type == "cuda":
        torch = require("torch", "torch")
        free, _ = torch.cuda.mem_get_info(place.device)
        kept = torch.cuda.memory_reserved(place.device) - torch.cuda.memory_allocated(place.device)
        return int(free + kept)
    if "cupy" in place.library:
        return int(place.device.mem_info[0])
    return 1 << 33


def _free_on_host() -> int:
    """As Linux estimates it, within the limit of a container; elsewhere half of all memory."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvail"))
    except (OSError, StopIteration):
        pages = os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 21
        return pages * (os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096) // 2
    try:
        most, used = (
            int(Path(f"/sys/fs/cgroup/memory.{name}").read_text()) for name in ("max", "current")
        )
    except (OSError, ValueError):  # no container, or one without a limit
        return free
    return min(free, most - used)


def no_room(size: float, place: Place | None, what: str, otherwise: str) -> ValueError:
    """The error for arrays of so many bytes where fewer are free."""
    where = "the host" if place is None else f"device {place.device}"
    return ValueError(
        f"{what} ({size / 2**30:.3g} GiB), and {where} has {free_bytes(place) / 2**30:.3g} GiB "
        f"free. {otherwise}"
    )


def namespace(array: Any) -> Any:
    place = place_of(array)
    return np if place is None else place.xp


def device(array: Any) -> Any:
    place = place_of(array)
    return "cpu" if place is None else place.device


def is_single(array: Any) -> bool:
    return array.dtype == namespace(array).float32


def kernels(array: Any) -> Any:
    """Our own for a GPU that has this array; None where there are none.

    Arrays of CuPy change hands without a copy where torch is installed.
    """
    place = place_of(array)
    lent = place is not None and "cupy" in place.library
    if place is None or not (lent or ("torch" in place.library and place.device.type == "cuda")):
        return None
    try:
        from . import triton_kernels
    except ModuleNotFoundError as error:
        if error.name not in ("triton", "torch"):
            raise
        return None
    return _Lent(triton_kernels) if lent else triton_kernels


@dataclass(frozen=True)
class _Lent:
    """Functions of torch's tensors, for arrays of CuPy."""

    module: Any

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.module, name)
        if not callable(found):
            return found
        torch, cupy = require("torch", "torch"), import_module("cupy")

        def call(*given: Any, **named: Any) -> Any:
            there = (torch.from_dlpack(a) if isinstance(a, cupy.ndarray) else a for a in given)
            made = found(*there, **named)
            if isinstance(made, tuple):
                return tuple(map(cupy.from_dlpack, made))
            return cupy.from_dlpack(made) if isinstance(made, torch.Tensor) else made

        return call


def fill(out: Any, function: str, values: Any) -> None:
    """out[...] = function(values), without a copy where the library can."""
    apply = getattr(np if isinstance(out, np.ndarray) else namespace(out), function)
    try:
        apply(values, out=out)
    except TypeError:  # the standard has no `out`
        out[...] = apply(values)


def empty(shape: tuple[int, ...], like: Any) -> Any:
    """An array of the same kind and dtype."""
    xp = namespace(like)
    return xp.empty(shape, dtype=like.dtype, device=device(like))


def zeros(shape: tuple[int, ...], like: Any) -> Any:
    xp = namespace(like)
    return xp.zeros(shape, dtype=like.dtype, device=device(like))


def like(values: NDArray[Any], array: Any, dtype: Any = None) -> Any:
    """A NumPy array where another array is, in its dtype or the one given (by NumPy's name)."""
    place = place_of(array)
    if dtype is None:
        dtype = np.float32 if is_single(array) else np.float64
    return values.astype(dtype, copy=False) if place is None else place.put(values, dtype)


_made: dict[tuple[int, str, str], tuple[Any, Any]] = {}


def made_once(values: NDArray[Any], array: Any, make: Callable[[], Any]) -> Any:
    """What is made, where another array is and in its dtype, of an array that never changes.

    It is forgotten with the array that it was made of.
    """
    place = place_of(array)
    assert place is not None
    key = (id(values), f"{place.library} {place.device}", str(array.dtype))
    if key not in _made:
        forget = partial(_forget, _made, key)
        _made[key] = weakref.ref(values, forget), make()
    return _made[key][1]


def _forget(made: dict[Any, Any], key: Any, _: Any) -> None:
    """Also while Python exits, when the names of this module are gone."""
    made.pop(key, None)


def constant_at(values: Any, array: Any) -> Any:
    """As `like`, for an array of a model, which may be on a device."""
    if place_of(values) is not None:
        return moved_to(place_of(array), values)
    if place_of(array) is None:
        return like(values, array)
    return made_once(values, array, lambda: like(values, array))


def rows_at(rows: Any, which: Any) -> Any:
    """Some rows, by a slice or by a NumPy mask or array of numbers."""
    place = place_of(rows)
    if place is None:
        return rows[which]
    if isinstance(which, slice):
        return rows[slice(*which.indices(rows.shape[0])), :]
    numbers = np.flatnonzero(which) if which.dtype == bool else which
    return place.xp.take(rows, place.put(numbers, np.int64), axis=0)


def columns_at(rows: Any, which: NDArray[Any]) -> Any:
    """Columns in another order."""
    place = place_of(rows)
    if place is None:
        return rows[:, which]
    return place.xp.take(rows, place.put(which, np.int64), axis=1)


def exp(values: Any) -> Any:
    """In place: the argument is lost."""
    fill(values, "exp", values)
    return values


def trace(matrix: Any) -> float:
    return float(namespace(matrix).linalg.trace(matrix))


def diagonal(matrix: Any) -> NDArray[Any]:
    """On the host."""
    return host(namespace(matrix).linalg.diagonal(matrix))


def in_tf32(array: Any) -> bool:
    """Whether products of such arrays are TF32's at the moment."""
    place = place_of(array)
    if place is None or not is_single(array) or "torch" not in place.library:
        return False
    return bool(place.xp.backends.cuda.matmul.fp32_precision == "tf32")


@contextmanager
def products(place: Place | None, precision: str | None) -> Iterator[None]:
    """Products of float32 matrices in TF32 if that was asked for, whatever the library's default.

    That is a setting of the whole library, so it is put back; on the host it means nothing.
    """
    library = "" if place is None else place.library
    tf32 = precision == "tf32"
    if "torch" in library:
        matmul: Any = require("torch", "torch").backends.cuda.matmul
        before = matmul.fp32_precision
        matmul.fp32_precision = "tf32" if tf32 else "ieee"
        try:
            yield
        finally:
            matmul.fp32_precision = before
    elif "cupy" in library:
        from cupy._core import _routines_linalg as linalg

        before = linalg.get_compute_type(np.float32)
        linalg.set_compute_type(np.float32, CUPY_TF32 if tf32 else CUPY_FLOAT32)
        try:
            yield
        finally:
            linalg.set_compute_type(np.float32, before)
    else:
        yield
