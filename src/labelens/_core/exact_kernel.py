"""The exact kernel: the only code that keeps training rows.

With beta_0 = W (Psi - mean) / N, C_xy = Phi^T beta_0 even where Phi has infinitely many columns.
Every component lies in the span of C_xy, so r <= q coordinates describe it: those in the basis of
its left singular vectors, Phi^T beta_0 V / sigma, where V and sigma^2 are the eigenvectors and
eigenvalues of G = C_xy^T C_xy = beta_0^T K beta_0. In that basis C_xy is sigma V^T, an r x q
matrix that any solver takes for an ordinary cross-moment. K is made a tile at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from .._base import devices
from .._base.rounding import rounding, with_signs
from .._base.threads import in_order
from .kernels import Kernel
from .moments import Array, CrossMoment, union_of_classes

# Numbers of K that are on a device at a time.
BAND = 1 << 27


@dataclass(frozen=True)
class KernelRows:
    """Training rows with their label features: what the exact kernel has in place of moments."""

    n_samples: int
    rows: Any  # (n, d) labelled rows, scaled
    weight: Array  # (n,)
    classes: tuple[Any, ...] | None
    codes: Any  # (n, m) class numbers, or None
    features: Any  # (n, q) label features, or None
    place: devices.Place | None = None  # the device that makes K of rows that are on the host

    def without_rows(self, n_samples: int) -> KernelRows:
        """So many samples of the same kind, none of which has a label."""
        return replace(
            self,
            n_samples=n_samples,
            rows=self.rows[:0],
            weight=self.weight[:0],
            codes=None if self.codes is None else self.codes[:0],
            features=None if self.features is None else self.features[:0],
        )

    def to(self, place: Any) -> KernelRows:
        """With the rows in that place."""
        return replace(self, rows=devices.rows_to(place, self.rows))

    def rotated(self, rotation: Array) -> KernelRows:
        """With the features multiplied by a rotation."""
        return replace(self, features=self.features @ rotation)

    def merge(self, other: KernelRows) -> KernelRows:
        classes, theirs = self.classes, other.codes
        if self.classes is not None and other.classes is not None:
            classes, position = union_of_classes(self.classes, other.classes)
            theirs = None if theirs is None else position[theirs]
        return replace(
            self,
            n_samples=self.n_samples + other.n_samples,
            rows=_stacked(self.rows, other.rows),
            weight=np.concatenate([self.weight, other.weight]),
            classes=classes,
            codes=None if theirs is None else np.concatenate([self.codes, theirs]),
            features=None if self.features is None else _stacked(self.features, other.features),
        )


@dataclass(frozen=True)
class DualMoment:
    """The cross-moment in r coordinates of its own span, and the way back to the rows."""

    cross: CrossMoment  # (r, q)
    lift: Any  # (n, r)  beta_0 V / sigma, where the rows are
    centre: Array  # (r,)  the mean row in these coordinates

    @classmethod
    def of(
        cls, kernel: Kernel, kept: KernelRows, encoded: Array, rank_limit: int | None, tile: int
    ) -> DualMoment:
        """`encoded` is Psi, (n, q), whose rank is known to be at most `rank_limit`."""
        total = kept.weight.sum()
        place = devices.place_of(kept.rows) or kept.place
        weights = (kept.weight / total)[:, None]
        there, share = (devices.moved_to(place, a) for a in (encoded, weights))
        mean = share[:, 0] @ there
        beta = share * (there - mean)  # columns sum to zero
        xp, mean = devices.namespace(beta), devices.host(mean)
        # One more column, the weights, brings the mean of K beta along.
        columns = xp.concat([beta, share], axis=1)
        products = quadratic_form(kernel, kept.rows, columns, tile, kept.place)
        values, vectors = linalg.eigh(products[:-1, :-1])
        values, vectors = values[::-1][:rank_limit], vectors[:, ::-1][:, :rank_limit]
        # The mean row cancels in G, and its tiles err in their own dtype; the sums of tiles err in
        # float64. What is below has no direction.
        sizes = devices.host(xp.sum(xp.abs(beta), axis=0))
        error = 4 * np.finfo(_tile_dtype(kernel, kept.rows)).eps * products[-1, -1]
        error = error * sizes.max(initial=0) ** 2 + rounding(values.max(initial=0), len(values))
        keep = values > error
        sigma, vectors = np.sqrt(values[keep]), with_signs(vectors[:, keep])
        along, across = np.zeros(sigma.size), np.zeros(encoded.shape[1])
        cross = CrossMoment(total, along, along, across, mean, sigma[:, None] * vectors.T * total)
        lift = beta @ devices.like(vectors / sigma, beta)
        return cls(cross, lift, products[-1, :-1] @ (vectors / sigma))


def label_covariance(encoded: Any, weight: Array) -> Array:
    """C_yy, (q, q), of (n, q) label features."""
    share = devices.like(weight / weight.sum(), encoded)
    apart = encoded - share @ encoded
    return devices.host((share[:, None] * apart).T @ apart)


def embed(kernel: Kernel, known: Any, coefficients: Array, rows: Any, tile: int) -> Array:
    """k(rows, known) @ coefficients, (n, k), in tiles."""
    view = _View(kernel, known, tile)

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
    view = _View(kernel, rows, tile)

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
    tiles = _DeviceTiles(kernel, known[0, :])
    left, right = tiles.sides(xp.astype(rows, known.dtype, copy=False))[0], tiles.sides(known)[1]
    columns, parts = xp.astype(devices.moved_to(place, coefficients), right.dtype), []
    for here in _bands(rows.shape[0], right.shape[0]):
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
    tiles = _DeviceTiles(kernel, devices.moved_to(place, rows[:1, :])[0, :])

    def add_mirrored(across: Any, values: Any, theirs: Any) -> None:
        nonlocal total
        upper = xp.astype(across @ (values @ theirs), xp.float64)
        total = total + upper + xp.matrix_transpose(upper)

    for i, mine in enumerate(pieces):
        left, right = tiles.sides(devices.moved_to(place, rows[mine, :]))
        ours = xp.astype(columns[mine, :], left.dtype)
        for here in _bands(left.shape[0], left.shape[0]):
            across = xp.matrix_transpose(ours[here, :])
            within = across @ (tiles.between(left[here, :], right[here, :]) @ ours[here, :])
            total = total + xp.astype(within, xp.float64)
            if here.stop < left.shape[0]:
                values = tiles.between(left[here, :], right[here.stop :, :])
                add_mirrored(across, values, ours[here.stop :, :])
        for other in pieces[i + 1 :]:
            right = tiles.sides(devices.moved_to(place, rows[other, :]))[1]
            theirs = xp.astype(columns[other, :], left.dtype)
            for here in _bands(left.shape[0], right.shape[0]):
                across = xp.matrix_transpose(ours[here, :])
                add_mirrored(across, tiles.between(left[here, :], right), theirs)
    return devices.host(total)


def _pieces(rows: Any, place: devices.Place) -> list[slice]:
    """Slices of rows of which a device has room for two, with their sides."""
    n = rows.shape[0]
    if devices.on_device(rows):
        return [slice(0, n)]
    room = devices.free_bytes(place) // 8
    step = max(1, int(room // max(1, rows.shape[1] * rows.dtype.itemsize)))
    return [slice(a, min(a + step, n)) for a in range(0, n, step)]


def _times(tile: NDArray[Any], columns: Array) -> NDArray[Any]:
    """A tile of K times some columns in the dtype of the tile; sums over tiles are float64."""
    return tile @ columns.astype(tile.dtype, copy=False)


def _tile_dtype(kernel: Kernel, rows: Any) -> Any:
    """Only kernels that are bounded are computed in float32, and only of such rows."""
    return np.float32 if kernel.shift_invariant and devices.is_single(rows) else np.float64


class _View:
    """Rows measured from one of them where the method is invariant.

    Distances and centred inner products then keep their digits where |mean| >> std.
    """

    def __init__(self, kernel: Kernel, rows: Any, tile: int) -> None:
        self.tile, self.dtype = tile, _tile_dtype(kernel, rows)
        self.origin: Array | None = None
        if sparse.issparse(rows) or not kernel.blind_to_shift:
            self.rows = rows.astype(self.dtype, copy=False)
            return
        self.origin = np.asarray(rows[0], dtype=np.float64)
        self.rows = np.empty(rows.shape, dtype=self.dtype)
        for part in self.parts(0):
            self.rows[part] = self.moved(rows[part])

    def parts(self, start: int) -> Iterator[slice]:
        return (slice(a, a + self.tile) for a in range(start, self.rows.shape[0], self.tile))

    def moved(self, rows: Any) -> Any:
        if self.origin is not None:
            rows = rows.astype(np.float64) - self.origin
        return rows.astype(self.dtype, copy=False)


class _DeviceTiles:
    """Tiles of K on a device; what all of them share is made once, beside the rows."""

    def __init__(self, kernel: Kernel, first: Any) -> None:
        self._kernel = kernel
        self._origin = first if kernel.blind_to_shift else None

    def sides(self, rows: Any) -> tuple[Any, Any]:
        """Rows in the form in which they are multiplied, from the left and from the right."""
        xp = devices.namespace(rows)
        if self._origin is not None:
            rows = rows - self._origin  # float32 too: close numbers are subtracted exactly
        if not self._kernel.shift_invariant:
            rows = xp.astype(rows, xp.float64)
        return self._kernel.factors(rows, rows) if self._kernel.name == "rbf" else (rows, rows)

    def between(self, left: Any, right: Any) -> Any:
        """(n, m)"""
        if self._kernel.name != "rbf":
            return self._kernel(left, right)
        return devices.exp(left @ devices.namespace(left).matrix_transpose(right))


def _bands(n: int, width: int) -> Iterator[slice]:
    step = max(1, BAND // width)
    return (slice(a, min(a + step, n)) for a in range(0, n, step))


def _in_the_form_of(known: Any, rows: Any) -> Any:
    """Dense or sparse, as the training rows are."""
    if sparse.issparse(known):
        return rows if sparse.issparse(rows) else sparse.csr_array(rows)
    return rows.toarray() if sparse.issparse(rows) else rows


def _stacked(above: Any, below: Any) -> Any:
    below = _in_the_form_of(above, below)
    if sparse.issparse(above):
        return sparse.vstack([above, below], format="csr")
    there = devices.moved_to(devices.place_of(above), below)
    return devices.namespace(above).concat([above, there])
