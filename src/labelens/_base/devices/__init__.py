"""Arrays of other libraries; the only room that knows their namespaces and their devices.

Rows may be arrays of torch, CuPy or any library that speaks the array API. Where their memory is
the host's they are NumPy arrays by another name: they are looked at as such, without a copy, and
answered in kind. Where it is a device's they stay there; only what a model is made of, which does
not grow with the rows, crosses over.
"""

from .algebra import (
    add_to_diagonal,
    cholesky,
    city_block,
    diagonal,
    eigh,
    exp,
    in_tf32,
    largest,
    pieces,
    products,
    solve_triangular,
    trace,
)
from .making import (
    columns_at,
    constant_at,
    empty,
    fill,
    like,
    made_once,
    ones,
    rows_at,
    stacked,
    zeros,
)
from .places import (
    Place,
    device,
    device_of,
    free_bytes,
    host,
    is_single,
    kernels,
    moved_to,
    named_place,
    namespace,
    on_device,
    place_of,
    rows_to,
    shown_at,
)
from .sending import sender

__all__ = [
    "Place",
    "add_to_diagonal",
    "cholesky",
    "city_block",
    "columns_at",
    "constant_at",
    "device",
    "device_of",
    "diagonal",
    "eigh",
    "empty",
    "exp",
    "fill",
    "free_bytes",
    "host",
    "in_tf32",
    "is_single",
    "kernels",
    "largest",
    "like",
    "made_once",
    "moved_to",
    "named_place",
    "namespace",
    "on_device",
    "ones",
    "pieces",
    "place_of",
    "products",
    "rows_at",
    "rows_to",
    "sender",
    "shown_at",
    "solve_triangular",
    "stacked",
    "trace",
    "zeros",
]
