"""Arrays of other libraries; the only file that knows their namespaces and their devices.

Rows may be arrays of torch, CuPy or any library that speaks the array API. Where their memory is
the host's they are NumPy arrays by another name: they are looked at as such, without a copy, and
answered in kind. Where it is a device's they stay there; only what a model is made of, which does
not grow with the rows, crosses over.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ._optional import require

# Memory that the host can read, as DLPack numbers it: its own, and what it shares with a card.
HOST_MEMORY = (1, 3, 11)
# Whose objects are not looked at twice.
NO_ARRAYS = ("numpy", "builtins", "scipy", "pandas", "polars", "pyarrow", "dask")
# How CuPy numbers the ways in which it multiplies.
CUPY_FLOAT32, CUPY_TF32 = 1, 7
# Bytes of a pinned buffer, and how many there are: they stay in a cache while they are copied.
PINNED_BYTES, PINNED_BUFFERS = 16 << 20, 4


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
        # torch takes neither negative strides nor what may not be written to.
        values = np.require(values, requirements=["C", "W"])
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


def in_kind(values: Any, place: Place | None) -> Any:
    """The answer to an array that was given in that place."""
    return values if place is None or place_of(values) is not None else place.put(values)


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


# What the standard lacks ---------------------------------------------------------------------


def fill(out: Any, function: str, values: Any) -> None:
    """out[...] = function(values), without a copy where the library can."""
    apply = getattr(np if isinstance(out, np.ndarray) else namespace(out), function)
    try:
        apply(values, out=out)
    except TypeError:  # the standard knows no `out`
        out[...] = apply(values)


def namespace(array: Any) -> Any:
    place = place_of(array)
    return np if place is None else place.xp


def device(array: Any) -> Any:
    place = place_of(array)
    return "cpu" if place is None else place.device


def empty(shape: tuple[int, ...], like: Any) -> Any:
    """An array of the same kind and dtype."""
    xp = namespace(like)
    return xp.empty(shape, dtype=like.dtype, device=device(like))


def zeros(shape: tuple[int, ...], like: Any) -> Any:
    xp = namespace(like)
    return xp.zeros(shape, dtype=like.dtype, device=device(like))


def ones(shape: tuple[int, ...], like: Any) -> Any:
    xp = namespace(like)
    return xp.ones(shape, dtype=like.dtype, device=device(like))


def is_single(array: Any) -> bool:
    return array.dtype == namespace(array).float32


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
    """Also while Python ends, when this module knows no names any more."""
    made.pop(key, None)


def kept(values: NDArray[Any], array: Any) -> Any:
    """As `like`, for an array of a model."""
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


def stacked(above: Any, below: Any) -> Any:
    """One array above another, where the first of them is."""
    place = place_of(above)
    if place is None:
        return np.concatenate([above, host(below)])
    return place.xp.concat([above, moved_to(place, below)])


def rows_to(place: Place | None, rows: Any) -> Any:
    """Rows of a model, which are written out if they were sparse."""
    if rows is None or (place is None and place_of(rows) is None):
        return rows
    return moved_to(place, rows.toarray() if hasattr(rows, "toarray") else rows)


def moved_to(place: Place | None, array: Any) -> Any:
    if place is None:
        return host(array)
    if (here := place_of(array)) == place:
        return array
    if here is not None and here.library == place.library:
        return place.xp.asarray(array, device=place.device)
    return place.put(host(array))


def kernels(array: Any) -> Any:
    """Our own for a card that has this array; None where there are none."""
    place = place_of(array)
    if place is None or "torch" not in place.library or place.device.type != "cuda":
        return None
    try:
        from . import _triton
    except ModuleNotFoundError as error:
        if error.name != "triton":
            raise
        return None
    return _triton


def in_tf32(array: Any) -> bool:
    """Whether products of such arrays are TF32's at the moment."""
    place = place_of(array)
    if place is None or not is_single(array) or "torch" not in place.library:
        return False
    return bool(place.xp.backends.cuda.matmul.fp32_precision == "tf32")


def exp(values: Any) -> Any:
    """In place: the argument is lost."""
    fill(values, "exp", values)
    return values


def pieces(values: Any) -> tuple[Any, Any, Any]:
    """Three arrays of eleven significant bits or so each, whose sum is the array (Veltkamp)."""
    found = []
    for _ in range(2):
        scaled = values * float(2**13 + 1)
        found.append(scaled - (scaled - values))
        values = values - found[-1]
    return found[0], found[1], values


def city_block(left: Any, right: Any) -> Any:
    """(n, d), (m, d) -> (n, m) sums of absolute differences."""
    xp = namespace(left)
    if hasattr(xp, "cdist"):  # torch
        return xp.cdist(left, right, p=1.0)
    total = 0.0
    for column in range(left.shape[1]):
        total = total + xp.abs(left[:, column][:, None] - right[:, column][None, :])
    return total


def trace(matrix: Any) -> float:
    return float(namespace(matrix).linalg.trace(matrix))


def diagonal(matrix: Any) -> NDArray[Any]:
    """On the host."""
    return host(namespace(matrix).linalg.diagonal(matrix))


def add_to_diagonal(matrix: Any, number: float) -> None:
    """In place, whichever way its numbers lie."""
    if isinstance(matrix, np.ndarray):
        matrix[np.diag_indices_from(matrix)] += number
        return
    xp, p = namespace(matrix), matrix.shape[0]
    for start in range(0, p, 1024):
        here = slice(start, min(start + 1024, p))
        unit = xp.eye(here.stop - start, dtype=matrix.dtype, device=device(matrix))
        matrix[here, here] += number * unit


def eigh(matrix: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """All eigenvalues of a symmetric matrix, ascending, and their vectors; on the host."""
    if isinstance(matrix, np.ndarray):
        return linalg.eigh(matrix)
    values, vectors = namespace(matrix).linalg.eigh(matrix)
    return host(values), host(vectors)


def largest(matrix: Any, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The k largest of them."""
    if isinstance(matrix, np.ndarray):
        size = len(matrix)
        return linalg.eigh(matrix, subset_by_index=(max(0, size - k), size - 1))
    values, vectors = namespace(matrix).linalg.eigh(matrix)
    return host(values[-k:]), host(vectors[:, -k:])


def cholesky(matrix: Any) -> Any:
    """The lower factor; None where the matrix is not positive."""
    xp = namespace(matrix)
    if hasattr(xp.linalg, "cholesky_ex"):  # torch, whose other one raises an error of its own
        root, info = xp.linalg.cholesky_ex(matrix)
        return None if int(info) else root
    try:
        root = xp.linalg.cholesky(matrix)
    except Exception as error:
        if type(error).__name__ == "LinAlgError":
            return None
        raise
    # CuPy says it with NaN.
    return root if xp is np or bool(xp.all(xp.isfinite(root))) else None


def solve_triangular(root: Any, columns: Any, transposed: bool) -> Any:
    """root^-1 columns, or root^-T columns, of a lower triangular root."""
    if isinstance(root, np.ndarray):
        return linalg.solve_triangular(root, columns, lower=True, trans="T" if transposed else "N")
    xp = namespace(root)
    if hasattr(xp.linalg, "solve_triangular"):  # torch
        matrix = xp.matrix_transpose(root) if transposed else root
        return xp.linalg.solve_triangular(matrix, columns, upper=transposed)
    if "cupy" in xp.__name__:
        from cupyx.scipy.linalg import solve_triangular as solve

        return solve(root, columns, lower=True, trans="T" if transposed else 0)
    return xp.linalg.solve(xp.matrix_transpose(root) if transposed else root, columns)


@contextmanager
def products(place: Place | None, precision: str | None) -> Iterator[None]:
    """Products of float32 matrices in TF32 if that was asked for, whatever the library's default.

    That is a setting of the whole library, so it is put back; on the host it means nothing.
    """
    library = "" if place is None else place.library
    tf32 = precision == "tf32"
    if "torch" in library:
        matmul: Any = require("torch", "torch").backends.cuda.matmul
        name, wanted = "fp32_precision", "tf32" if tf32 else "ieee"
        before = getattr(matmul, name)
        setattr(matmul, name, wanted)
        try:
            yield
        finally:
            setattr(matmul, name, before)
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


# On the way to a device ----------------------------------------------------------------------


def sender(place: Place) -> Callable[[NDArray[Any]], Callable[[], Any]]:
    """A function that sends a NumPy array to a device and returns one that waits for it there.

    Sending may go on in another thread while the device computes. Where torch has CUDA, rows go by
    way of pinned buffers: from other memory a card copies slowly, and not while it computes.
    """
    if "torch" in place.library and place.device.type == "cuda":
        return _PinnedSender(place.device)

    def send(values: NDArray[Any]) -> Callable[[], Any]:
        there = place.put(values)
        return lambda: there

    return send


class _PinnedSender:
    def __init__(self, device: Any) -> None:
        torch = require("torch", "torch")
        self._torch, self._device = torch, device
        self._stream = torch.cuda.Stream(device)
        self._buffers: deque[tuple[Any, Any]] = deque()  # and the copy that each is waiting for

    def __call__(self, values: NDArray[Any]) -> Callable[[], Any]:
        torch = self._torch
        given = torch.from_numpy(np.require(values, requirements=["C", "W"]))
        with torch.cuda.stream(self._stream):
            there = torch.empty_like(given, device=self._device)
            if given.is_pinned():
                there.copy_(given, non_blocking=True)
            else:
                self._by_way_of_buffers(given.view(-1), there.view(-1))
            arrived = self._stream.record_event()

        def wait() -> Any:
            """On the device; this thread goes on."""
            computing = torch.cuda.current_stream(self._device)
            computing.wait_event(arrived)
            there.record_stream(computing)  # its memory is not used again before
            return there

        return wait

    def _by_way_of_buffers(self, given: Any, there: Any) -> None:
        """Torch copies from memory to memory on all cores."""
        step = PINNED_BYTES // given.element_size()
        for start in range(0, len(given), step):
            part = given[start : start + step]
            buffer = self._free_buffer().view(given.dtype)[: len(part)]
            buffer.copy_(part)
            there[start : start + step].copy_(buffer, non_blocking=True)
            self._buffers[-1] = (self._buffers[-1][0], self._stream.record_event())

    def _free_buffer(self) -> Any:
        torch = self._torch
        if len(self._buffers) < PINNED_BUFFERS:
            made = torch.empty(PINNED_BYTES, dtype=torch.uint8, pin_memory=True)
            self._buffers.append((made, None))
        else:
            buffer, copied = self._buffers.popleft()
            copied.synchronize()
            self._buffers.append((buffer, None))
        return self._buffers[-1][0]
