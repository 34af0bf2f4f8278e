"""The exact kernel: the only code that keeps training rows.

`dual.py` says how its moments follow from K, which is made a tile at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base import devices
from .._base.threads import in_order
from .kernels import Kernel, KnownKernel
from .moments import Array, union_of_classes
from .tiles import DeviceTiles, HostTiles, bands


@dataclass(frozen=True)
class KernelRows:
    """Training rows with their label features: what the exact kernel has in place of moments.

    They are the labelled rows, or all rows where C_xx is wanted; `labelled` says which of these
    have labels, and is None where all do. Codes and features are of the labelled rows.
    """

    n_samples: int
    rows: Any  # (n, d), scaled; None before the first of them
    weight: Array  # (n,)
    classes: tuple[Any, ...] | None
    codes: Any = None  # (l, m) class numbers, or None
    features: Any = None  # (l, q) label features, or None
    labelled: NDArray[np.bool_] | None = None  # (n,)
    noise: Any = None  # (n, g) random vectors of the sketch of C_xx, or None
    place: devices.Place | None = None  # the device that makes K of rows that are on the host

    def to(self, place: Any) -> KernelRows:
        """With the rows in that place."""
        return replace(self, rows=devices.rows_to(place, self.rows))

    def rotated(self, rotation: Array) -> KernelRows:
        """With the random vectors multiplied by a rotation."""
        return replace(self, noise=self.noise @ rotation)

    def merge(self, other: KernelRows) -> KernelRows:
        classes, theirs = self.classes or other.classes, other.codes
        if self.classes is not None and other.classes is not None:
            classes, position = union_of_classes(self.classes, other.classes)
            theirs = None if theirs is None else position[theirs]
        both = [
            np.ones(len(one.weight), bool) if one.labelled is None else one.labelled
            for one in (self, other)
        ]
        labelled = np.concatenate(both)
        return replace(
            self,
            n_samples=self.n_samples + other.n_samples,
            rows=_stacked(self.rows, other.rows),
            weight=np.concatenate([self.weight, other.weight]),
            classes=classes,
            codes=_stacked(self.codes, theirs),
            features=_stacked(self.features, other.features),
            labelled=None if labelled.all() else labelled,
            noise=_stacked(self.noise, other.noise),
        )


def embed(kernel: Kernel, known: Any, coefficients: Array, rows: Any, tile: int) -> Array:
    """k(rows, known) @ coefficients, (n, k), in tiles."""
    if isinstance(kernel, KnownKernel):  # one product: there is nothing to make
        columns = np.zeros((kernel.matrix.shape[0], coefficients.shape[1]))
        columns[known[:, 0].astype(np.intp)] = coefficients
        products = devices.host(kernel.matrix @ devices.like(columns, kernel.matrix))
        return products[rows[:, 0].astype(np.intp)].astype(np.float64)
    view = HostTiles(kernel, known, tile)

    def block(start: int) -> Array:
        here = view.moved(_in_the_form_of(known, rows[start : start + tile]))
        out = np.zeros((here.shape[0], coefficients.shape[1]))
        for part in view.parts(0):
            out += _times(kernel(here, view.rows[part]), coefficients[part])
        return out

    return np.concatenate(list(in_order(block, range(0, rows.shape[0], tile))))


def quadratic_form(
    kernel: Kernel, rows: Any, columns: Array, tile: int, place: devices.Place | None = None
) -> Array:
    """columns^T K columns, (q, q), from the tiles of K on and above its diagonal."""
    place = devices.place_of(rows) if devices.on_device(rows) else place
    if place is not None:
        return _quadratic_form_on_device(kernel, rows, columns, place)
    view = HostTiles(kernel, rows, tile)

    def band(start: int) -> Array:
        here, mine = view.rows[start : start + tile], columns[start : start + tile]
        beside = np.zeros_like(mine)
        for part in view.parts(start + tile):
            beside += _times(kernel(here, view.rows[part]), columns[part])
        upper = mine.T @ beside
        return mine.T @ _times(kernel(here, here), mine) + upper + upper.T

    total = np.zeros((columns.shape[1], columns.shape[1]))
    for part in in_order(band, range(0, rows.shape[0], tile)):
        total += part
    return total


def embed_on_device(kernel: Kernel, known: Any, coefficients: Any, rows: Any) -> Any:
    """As `embed`, where the rows are, in float64."""
    xp, place = devices.namespace(rows), devices.place_of(rows)
    known = devices.rows_to(place, known)
    tiles = DeviceTiles(kernel, known[0, :])
    left, right = tiles.sides(xp.astype(rows, known.dtype, copy=False))[0], tiles.sides(known)[1]
    columns, parts = xp.astype(devices.moved_to(place, coefficients), right.dtype), []
    for here in bands(rows.shape[0], right.shape[0]):
        product = tiles.between(left[here, :], right) @ columns
        parts.append(xp.astype(product, xp.float64))
    return xp.concat(parts)


def _quadratic_form_on_device(
    kernel: Kernel, rows: Any, columns: Array, place: devices.Place
) -> Array:
    """By bands of K from the diagonal on: the rest is its mirror image.

    Rows on the host come over in chunks, two at a time, if all of them are too many.
    """
    xp, total = place.xp, 0.0
    columns = devices.moved_to(place, columns)
    pieces = _pieces(rows, place)
    tiles = DeviceTiles(kernel, devices.moved_to(place, rows[:1, :])[0, :])

    def add_mirrored(across: Any, values: Any, theirs: Any) -> None:
        nonlocal total
        upper = xp.astype(across @ (values @ theirs), xp.float64)
        total = total + upper + xp.matrix_transpose(upper)

    for i, mine in enumerate(pieces):
        left, right = tiles.sides(devices.moved_to(place, rows[mine, :]))
        ours = xp.astype(columns[mine, :], left.dtype)
        for here in bands(left.shape[0], left.shape[0]):
            across = xp.matrix_transpose(ours[here, :])
            within = across @ (tiles.between(left[here, :], right[here, :]) @ ours[here, :])
            total = total + xp.astype(within, xp.float64)
            if here.stop < left.shape[0]:
                values = tiles.between(left[here, :], right[here.stop :, :])
                add_mirrored(across, values, ours[here.stop :, :])
        for other in pieces[i + 1 :]:
            right = tiles.sides(devices.moved_to(place, rows[other, :]))[1]
            theirs = xp.astype(columns[other, :], left.dtype)
            for here in bands(left.shape[0], right.shape[0]):
                across = xp.matrix_transpose(ours[here, :])
                add_mirrored(across, tiles.between(left[here, :], right), theirs)
    return devices.host(total)


def _pieces(rows: Any, place: devices.Place) -> list[slice]:
    """Slices of rows such that a device can hold two, with their sides."""
    n = rows.shape[0]
    if devices.on_device(rows):
        return [slice(0, n)]
    room = devices.free_bytes(place) // 8
    step = max(1, int(room // max(1, rows.shape[1] * rows.dtype.itemsize)))
    return [slice(a, min(a + step, n)) for a in range(0, n, step)]


def _times(tile: NDArray[Any], columns: Array) -> NDArray[Any]:
    """A tile of K times some columns in the dtype of the tile; sums over tiles are float64."""
    return tile @ columns.astype(tile.dtype, copy=False)


def _in_the_form_of(known: Any, rows: Any) -> Any:
    """Dense or sparse, as the training rows are."""
    if sparse.issparse(known):
        return rows if sparse.issparse(rows) else sparse.csr_array(rows)
    return rows.toarray() if sparse.issparse(rows) else rows


def _stacked(above: Any, below: Any) -> Any:
    if above is None or below is None:
        return below if above is None else above
    below = _in_the_form_of(above, below)
    if sparse.issparse(above):
        return sparse.vstack([above, below], format="csr")
    there = devices.moved_to(devices.place_of(above), below)
    return devices.namespace(above).concat([above, there])
