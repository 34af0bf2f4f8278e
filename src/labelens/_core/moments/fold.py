"""Moments of rows on a device, folded there and brought over once.

A statistic that crosses over after every block would wait for the device after every block. So
sums stay there, in float64, about an origin that is known beforehand: e_i = x_i - origin. What is
asked for in the end is about the mean, e_i - delta with delta = sum_i w_i e_i / W.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._base import devices
from ..._base.threads import cached_property
from .class_sums import ClassSums
from .common import Array, round_origin
from .cross import CrossMoment
from .scatter import Scatter, centred
from .spread import Spread

# Bytes that the features of a block and what is made of them may take.
SCRATCH = 1 << 30
# Rows that estimate the distance of the columns from zero.
LOOKED_AT = 4096
# How many standard deviations from zero a mean may be for sums about zero to keep their digits.
NEAR_ZERO = 4
# Rows of a one-hot product, whose sums are float32 if the rows are; and numbers of its one-hots.
PRODUCT_ROWS, ONE_HOTS = 1 << 11, 1 << 26
# Columns of C_xx that are made at a time, from the diagonal on: the others are their mirror image.
STRIP = 1024


def blocks(rows: Any, width: int) -> Iterator[slice]:
    """Slices of the rows, as large as scratch memory for so many numbers a row allows."""
    n, size = rows.shape[0], 4 if devices.is_single(rows) else 8
    step = max(1, SCRATCH // (size * max(1, width)))
    step = -(-n // max(1, -(-n // step)))  # even ones, so that none is small
    return (slice(a, min(a + step, n)) for a in range(0, n, step))


def far_from_zero(rows: Any) -> Any:
    """Whether sums about zero would lose digits: on the device, without a transfer to the host."""
    xp = devices.namespace(rows)
    some = rows[:: max(1, rows.shape[0] // LOOKED_AT), :]
    return xp.any(xp.abs(xp.mean(some, axis=0)) > NEAR_ZERO * xp.std(some, axis=0))


def centre_of(rows: Any) -> Any:
    """(p,) numbers close to the rows, on the device."""
    return devices.namespace(rows).mean(rows[:: max(1, rows.shape[0] // LOOKED_AT), :], axis=0)


def kernels_for(rows: Any) -> Any:
    """Kernels that add up such rows as fast as they are read; None where there are none."""
    kernels = devices.kernels(rows)
    return kernels if kernels is not None and kernels.takes(rows) else None


def few_classes(rows: Any, codes: Any, n_classes: int) -> Any:
    """The same, of rows by classes."""
    kernels = None if codes is None or codes.shape[1] > 1 else kernels_for(rows)
    return kernels if kernels is not None and n_classes <= kernels.MOST_CLASSES else None


def class_sums(rows: Any, codes: Any, n_classes: int, weight: Any) -> Any:
    """(n, p) rows and (n, m) class numbers -> (c, p + 1) sums, float64, on the device.

    The last column has the weights of the classes. It is a product with one-hot labels: rows are
    read in order. A number below zero is no class.
    """
    if (kernels := few_classes(rows, codes, n_classes)) is not None:
        return kernels.class_sums(rows, codes[:, 0], n_classes, weight)
    xp = devices.namespace(rows)
    n, p = rows.shape
    number = xp.arange(n_classes, dtype=codes.dtype, device=devices.device(rows))
    size = min(n, PRODUCT_ROWS)
    step = max(1, ONE_HOTS // (n_classes * size)) * size
    sums: Any = 0.0
    weights: Any = 0.0
    starts = [*range(0, n - n % size, step), *([n - n % size] if n % size else [])]
    for start, stop in zip(starts, [*starts[1:], n], strict=True):
        some = xp.reshape(rows[start:stop, :], (-1, min(size, stop - start), p))
        mine = xp.reshape(codes[start:stop, :], (*some.shape[:2], codes.shape[1]))
        if codes.shape[1] == 1:
            one_hot = xp.astype(mine == number, rows.dtype)  # (blocks, rows, c)
        else:
            one_hot = xp.sum(xp.astype(mine[..., None] == number, rows.dtype), axis=2)
        if weight is not None:
            one_hot = one_hot * xp.reshape(weight[start:stop], (*some.shape[:2], 1))
        products = xp.matmul(xp.matrix_transpose(some), one_hot)  # (blocks, p, c)
        sums = sums + xp.sum(products, axis=0, dtype=xp.float64)
        weights = weights + xp.sum(xp.sum(one_hot, axis=1), axis=0, dtype=xp.float64)
    return xp.concat([xp.matrix_transpose(sums), weights[:, None]], axis=1)


def centred_class_sums(rows: Any, codes: Any, n_classes: int) -> tuple[Array, Array, Array]:
    """The same by our kernels, about some origin; of (n,) numbers those of no class do not count.

    On the host: the (p,) origin, the (c,) weights and the (c, p) sums.
    """
    there = devices.kernels(rows).class_sums(rows, codes, n_classes, centred=True)
    found = devices.host(there)
    return found[-1, :-1], found[:-1, -1], found[:-1, :-1]


def column_sums(rows: Any, weight: Any, origin: Any = None) -> tuple[Any, Any, Any]:
    """(n, p) rows -> (2, p) sums about the origin and of squares, float64; minima and maxima."""
    if (kernels := kernels_for(rows)) is not None:
        return kernels.column_sums(rows, weight, origin)
    xp = devices.namespace(rows)
    about = rows if origin is None else rows - origin
    if weight is None:
        squares = xp.linalg.vector_norm(about, axis=0) ** 2
    else:
        squares = weight @ (about * about)
    sums = xp.stack([_weighted_sum(about, weight), xp.astype(squares, xp.float64)])
    return sums, xp.min(rows, axis=0), xp.max(rows, axis=0)


class Fold:
    """Running sums of blocks of features, and their moments."""

    def __init__(
        self, origin: Any, scatter: bool = False, spread: bool = False, factor: float = 1.0
    ) -> None:
        self._origin = origin  # (p,) on the device; None: zero
        self._scatter, self._spread = scatter, spread
        self._factor = factor  # by which all features are still to be multiplied
        self._sums: dict[str, Any] = {}
        self._width = 0

    def add(
        self,
        rows: Any,
        weight: Any = None,
        label_weight: Any = None,
        codes: Any = None,
        n_classes: int = 0,
        right: Any = None,
        noise: Any = None,
        single: bool = False,
    ) -> None:
        """Add (b, p) features with all that belongs to them; weights are zero where labels lack.

        C_xx is multiplied in float64 unless `single` products will do.
        """
        xp = devices.namespace(rows)
        self._width = rows.shape[1]
        about = rows if self._origin is None else rows - self._origin
        if codes is not None:
            self._plus(classes=class_sums(about, codes, n_classes, label_weight))
        if right is not None:
            self._cross("right", about, right, label_weight)
        if noise is not None:
            self._cross("noise", about, noise, weight)
        if self._spread:
            self.add_columns(rows, weight)
        elif self._scatter:
            self._plus(left=_weighted_sum(about, weight))
        if self._scatter:
            self._add_scatter(about if single else xp.astype(about, xp.float64), weight)

    def add_waves(self, angles: Any, weight: Any, codes: Any, n_classes: int) -> None:
        """The sums over few classes of cosines and sines, which are never written down."""
        self._width = 2 * angles.shape[1]
        kernels = few_classes(angles, codes, n_classes)
        self._plus(classes=kernels.class_sums(angles, codes[:, 0], n_classes, weight, waves=True))

    def add_columns(self, rows: Any, weight: Any) -> None:
        """The spread alone."""
        self._width = rows.shape[1]
        sums, low, high = column_sums(rows, weight, self._origin)
        self._plus(left=sums[0, :], squares=sums[1, :])
        self._bound(devices.namespace(rows).minimum, minimum=low)
        self._bound(devices.namespace(rows).maximum, maximum=high)

    def _add_scatter(self, about: Any, weight: Any) -> None:
        xp = devices.namespace(about)
        p = about.shape[1]
        squares = xp.linalg.vector_norm(about, axis=1) ** 2
        heavy = squares if weight is None else xp.astype(weight, squares.dtype) * squares
        self._plus(
            cubic=xp.astype(heavy @ about, xp.float64),
            quartic=xp.sum(heavy * squares, dtype=xp.float64),
        )
        if weight is not None:
            about = about * xp.sqrt(xp.astype(weight, about.dtype))[:, None]
        if "scatter" not in self._sums:
            here = devices.device(about)
            self._sums["scatter"] = xp.zeros((p, p), dtype=xp.float64, device=here)
        for strip in _strips(p):
            beside = xp.matrix_transpose(about[:, strip.start :])
            product = xp.astype(xp.matmul(beside, about[:, strip]), xp.float64)
            self._sums["scatter"][strip.start :, strip] += product

    def _cross(self, name: str, about: Any, right: Any, weight: Any) -> None:
        xp = devices.namespace(about)
        weighted = right if weight is None else right * weight[:, None]
        product = xp.matmul(xp.matrix_transpose(about), weighted)
        self._plus(
            **{
                name: xp.astype(product, xp.float64),
                f"{name} left": _weighted_sum(about, weight),
                f"{name} right": _weighted_sum(weighted, None),
            }
        )

    def _plus(self, **sums: Any) -> None:
        for name, value in sums.items():
            self._sums[name] = self._sums[name] + value if name in self._sums else value

    def _bound(self, tighter: Any, **bounds: Any) -> None:
        for name, value in bounds.items():
            before = self._sums.get(name)
            self._sums[name] = value if before is None else tighter(before, value)

    # Results -------------------------------------------------------------------------------------

    def _home(self, name: str, power: int = 1) -> Any:
        """A sum of features to some power, multiplied by what they lack."""
        return devices.host(self._sums[name]).astype(np.float64) * self._factor**power

    @cached_property
    def _rounded_origin(self) -> tuple[Array, Array]:
        """What a model may keep of the origin, and how far the origin is from that."""
        if self._origin is None:
            return np.zeros(self._width), np.zeros(self._width)
        origin = devices.host(self._origin)
        with np.errstate(invalid="ignore"):  # infinity, which is looked for in the end
            rounded = round_origin(origin * self._factor)
            return rounded, origin.astype(np.float64) * self._factor - rounded

    def classes(self, columns: int) -> ClassSums:
        origin, moved = self._rounded_origin
        found = self._home("classes", 0)
        sums, weights = found[:, :-1] * self._factor, found[:, -1]
        return ClassSums(columns, origin, weights, sums + weights[:, None] * moved)

    def cross(self, name: str, total: float, origin: Array) -> CrossMoment:
        """`origin` is what was taken from the right-hand side beforehand, (q,)."""
        left, right = self._home(f"{name} left"), self._home(f"{name} right", 0)
        comoment = self._home(name) - np.outer(left, right / total)
        about, moved = self._rounded_origin
        return CrossMoment(total, about, left / total + moved, origin, right / total, comoment)

    def spread(self, total: float) -> Spread:
        left = self._home("left")
        squares = np.maximum(self._home("squares", 2) - left**2 / total, 0)
        bounds = self._home("minimum"), self._home("maximum")
        origin, moved = self._rounded_origin
        return Spread(total, origin, left / total + moved, squares, *bounds)

    def scatter(self, total: float) -> Scatter:
        """C_xx stays on the device, where it is wanted next."""
        matrix, mean = self._sums["scatter"], self._home("left") / total
        matrix *= self._factor**2
        xp = devices.namespace(matrix)
        for strip in _strips(len(mean)):
            matrix[strip, strip.stop :] = xp.matrix_transpose(matrix[strip.stop :, strip])
        there = devices.like(mean, matrix)
        pull, trace = devices.host(matrix @ there), devices.trace(matrix)
        third, fourth = self._home("cubic", 3), float(self._home("quartic", 4))
        cubic, quartic = centred(total, mean, pull, trace, third, fourth)
        for strip in _strips(len(mean)):
            matrix[strip, :] -= there[strip, None] * (total * there)
        origin, moved = self._rounded_origin
        return Scatter(total, origin, mean + moved, matrix, cubic, quartic)


def _strips(p: int) -> Iterator[slice]:
    return (slice(a, min(a + STRIP, p)) for a in range(0, p, STRIP))


def _weighted_sum(rows: Any, weight: Any) -> Any:
    """(b, p) -> (p,) in float64."""
    xp = devices.namespace(rows)
    sums = xp.sum(rows, axis=0) if weight is None else weight @ rows
    return xp.astype(sums, xp.float64)


def spread_on_device(rows: Any, weight: Array | None) -> Spread:
    """(n, p) -> the spread of all columns."""
    in_place = kernels_for(rows) is not None  # which allocate no copy of the rows
    origin = centre_of(rows) if in_place or bool(far_from_zero(rows)) else None
    copied = not in_place and (origin is not None or weight is not None)
    fold = Fold(origin, spread=True)
    for here in blocks(rows, 2 * rows.shape[1] if copied else 0):
        fold.add_columns(
            rows[here, :], None if weight is None else devices.like(weight[here], rows)
        )
    return fold.spread(float(rows.shape[0]) if weight is None else float(weight.sum()))
