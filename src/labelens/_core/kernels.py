"""Kernels of the data, k(x, x'), and the rules that choose gamma."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics.pairwise import (
    euclidean_distances,
    laplacian_kernel,
    linear_kernel,
    manhattan_distances,
    pairwise_kernels,
    polynomial_kernel,
)
from sklearn.utils.extmath import row_norms

from .._base import device_algebra, devices
from .._base.rounding import EPS
from .._base.validation import check_number
from .moments import Spread

SHIFT_INVARIANT = ("rbf", "laplacian", "matern")
RULES = ("scale", "median", "auto")
FAR, WIDEST_DENSE = 1e3, 1024  # gamma |x|^2 of sparse rows, and columns: see `_near_zero`
# The parameters in `kernel_params` of each kernel, with defaults.
PARAMETERS: dict[str, dict[str, float]] = {
    "rbf": {},
    "laplacian": {},
    "matern": {"nu": 1.5},
    "polynomial": {"degree": 3, "coef0": 1},
    "linear": {},
}


@dataclass(frozen=True)
class Kernel:
    """k(x, x') with its gamma settled.

    rbf          exp(-gamma |x - x'|^2)
    laplacian    exp(-gamma |x - x'|_1)
    matern       nu = 1/2, 3/2, 5/2; length scale 1 / sqrt(2 gamma), so that nu -> inf is rbf
    polynomial   (gamma <x, x'> + coef0)^degree
    linear       <x, x'>
    """

    name: str | Callable[..., float]
    gamma: Any  # a number once settled; before that perhaps the rule "scale" or "median"
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shift_invariant(self) -> bool:
        return self.name in SHIFT_INVARIANT

    @property
    def blind_to_shift(self) -> bool:
        """Whether moving all rows leaves the centred kernel, and so every method, as it is."""
        return self.shift_invariant or self.name == "linear"

    def stretch(self, gamma: float) -> float:
        """By what the frequencies of a shift-invariant kernel are multiplied to get another's."""
        ratio = gamma / self.gamma
        return ratio if self.name == "laplacian" else float(np.sqrt(ratio))

    def lost_digits(self, rows: Any) -> float:
        """By how much more than eps values err where |a - b|^2 = |a|^2 + |b|^2 - 2 a.b cancels.

        Dense rows are shifted to an origin near them, wide sparse ones cannot be.
        """
        if not sparse.issparse(rows) or self.name not in ("rbf", "matern"):
            return 1.0
        far = float(self.gamma) * _largest_square(rows)
        return 1 + 4 * (far if rows.shape[1] > WIDEST_DENSE else min(far, FAR))

    def __call__(self, A: Any, B: Any) -> NDArray[Any]:
        """(n, d), (m, d) -> (n, m)."""
        if devices.on_device(A):
            return self._on_device(A, B)
        # In C order whatever the caller's layout, so that the same values give the same bits.
        same, A = A is B, _in_c_order(A)
        B = A if same else _in_c_order(B)
        if self.name in ("rbf", "matern"):
            A, B = _near_zero(A, B, float(self.gamma))
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(A, B)
            finite = np.isfinite(values.sum()) or np.isfinite(values).all()
        if not finite:
            raise ValueError(
                f"The {self.name} kernel of these rows overflows {values.dtype}: X is too large to "
                "be squared. Scale it down first."
            )
        return values

    def _values(self, A: Any, B: Any) -> NDArray[Any]:
        match self.name:
            case "rbf":
                return _rbf(A, B, self.gamma)
            case "laplacian":
                return laplacian_kernel(A, B, gamma=self.gamma)
            case "matern":
                return self._matern(_distances(A, B))
            case "polynomial":
                return polynomial_kernel(A, B, gamma=self.gamma, **self.params)
            case "linear":
                return linear_kernel(A, B)
        return pairwise_kernels(A, B, metric=self.name, **self.params)

    def _on_device(self, A: Any, B: Any) -> Any:
        """The same values; what is not finite shows in what is made of them."""
        xp = devices.namespace(A)
        match self.name:
            case "rbf":
                left, right = self.factors(A, B)
                return devices.exp(xp.matmul(left, xp.matrix_transpose(right)))
            case "laplacian":
                return devices.exp(-self.gamma * device_algebra.city_block(A, B))
            case "matern":
                return self._matern(xp.sqrt(squared_distances(A, B)))
            case "polynomial" | "linear":
                product = xp.matmul(A, xp.matrix_transpose(B))
                if self.name == "linear":
                    return product
                return (self.gamma * product + self.params["coef0"]) ** self.params["degree"]
        raise TypeError(
            f"kernel={self.name!r} is a function of two rows on the host, and X is on a device: "
            "use one of the named kernels, or copy X to the host."
        )

    def factors(self, A: Any, B: Any) -> tuple[Any, Any]:
        """(n, e), (m, e) whose inner products are the exponents -gamma |a - b|^2, on a device.

        2 gamma a.b - gamma |a|^2 - gamma |b|^2 is one product if the norms are columns next to the
        rows; in three pieces of few digits each, because TF32 keeps eleven bits of a number.
        """
        xp = devices.namespace(A)
        ones = [1 + devices.zeros((rows.shape[0], 3), rows) for rows in (A, B)]
        norms = [-self.gamma * xp.sum(rows * rows, axis=1) for rows in (A, B)]
        pieces = [xp.stack(device_algebra.pieces(norm), axis=1) for norm in norms]
        # Rows of a multiple of 128 bytes, which GPUs multiply fastest.
        spare = [devices.zeros((rows.shape[0], -(rows.shape[1] + 6) % 32), rows) for rows in (A, B)]
        return (
            xp.concat([2 * self.gamma * A, pieces[0], ones[0], spare[0]], axis=1),
            xp.concat([B, ones[1], pieces[1], spare[1]], axis=1),
        )

    def _matern(self, distance: Any) -> Any:
        nu = self.params["nu"]
        # sqrt(2 nu) |x - x'| / length_scale
        distance *= float(np.sqrt(4 * nu * self.gamma))
        decay = devices.namespace(distance).exp(-distance)
        if nu == 0.5:
            return decay
        if nu == 1.5:
            return (1 + distance) * decay
        return (1 + distance + distance**2 / 3) * decay


@dataclass(frozen=True, eq=False)
class KnownKernel(Kernel):
    """Values that have been computed, for rows that are their own numbers, (n, 1)."""

    matrix: Any = None  # (m, m)

    def _values(self, A: Any, B: Any) -> NDArray[Any]:
        rows, columns = (one[:, 0].astype(np.intp) for one in (A, B))
        return self.matrix.take(rows, 0).take(columns, 1)  # faster than both at once

    def _on_device(self, A: Any, B: Any) -> Any:
        xp = devices.namespace(A)
        rows, columns = (xp.astype(one[:, 0], xp.int64) for one in (A, B))
        return xp.take(xp.take(self.matrix, rows, axis=0), columns, axis=1)


class Distances:
    """Values that kernels of the same rows share for all gammas."""

    def __init__(self, rows: Any) -> None:
        self._rows, self._found = rows, {}  # type: ignore[var-annotated]

    def known(self, kernel: Kernel) -> KnownKernel:
        """The kernel of these rows, by their numbers; in float64 on a device."""
        if devices.on_device(self._rows):
            xp, values = devices.namespace(self._rows), kernel(self._rows, self._rows)
            return KnownKernel("known", kernel.gamma, {}, xp.astype(values, xp.float64))
        # Candidates are compared by these: float32 is enough, and takes a fraction of the time.
        if kernel.name in ("laplacian", "rbf"):
            metric = "manhattan" if kernel.name == "laplacian" else "sqeuclidean"
            values = self._of(metric) * np.float32(-kernel.gamma)
            np.exp(values, out=values)
        elif kernel.name == "matern":
            values = kernel._matern(np.sqrt(self._of("sqeuclidean")))
        else:
            values = kernel(self._rows, self._rows)
        return KnownKernel("known", kernel.gamma, {}, values.astype(np.float32, copy=False))

    def _of(self, metric: str) -> NDArray[Any]:
        if metric not in self._found:
            rows = self._rows
            if metric == "sqeuclidean":
                found = _distances(*_near_zero(rows, rows)) ** 2
            elif sparse.issparse(rows):
                found = manhattan_distances(rows)
            else:  # each pair once
                found = squareform(pdist(rows, "cityblock"))
            with np.errstate(over="ignore"):
                self._found[metric] = found.astype(np.float32)
        return self._found[metric]


def _in_c_order(rows: Any) -> Any:
    return rows if sparse.issparse(rows) else np.ascontiguousarray(rows)


def _largest_square(rows: Any) -> float:
    return float(row_norms(rows, squared=True).max(initial=0))


def _near_zero(A: Any, B: Any, gamma: float = np.inf) -> tuple[Any, Any]:
    """Sparse rows far from zero as dense ones near it, so that their distances keep their digits.

    With few columns their blocks take no more memory than blocks of the kernel.
    """
    dense = not (sparse.issparse(A) or sparse.issparse(B))
    if dense or not B.shape[0] or B.shape[1] > WIDEST_DENSE:
        return A, B
    if gamma * max(_largest_square(A), _largest_square(B)) <= FAR:
        return A, B
    left, right = (rows.toarray() if sparse.issparse(rows) else rows for rows in (A, B))
    near = right - right[0]
    return (near if A is B else left - right[0]), near


def _rbf(A: Any, B: Any, gamma: float) -> NDArray[Any]:
    """exp(-gamma |a - b|^2) in the dtype of the rows: one product, the rest in place."""
    kernel = A @ B.T
    kernel = kernel.toarray() if sparse.issparse(kernel) else kernel
    kernel *= 2 * gamma
    kernel -= gamma * row_norms(A, squared=True)[:, None]
    kernel -= gamma * row_norms(B, squared=True)
    np.minimum(kernel, 0, out=kernel)  # distances are not negative, except by rounding
    if A is B:
        np.fill_diagonal(kernel, 0)
    return np.exp(kernel, out=kernel)


def squared_distances(A: Any, B: Any) -> Any:
    """Squared distances of arrays of any library, zero where they are rounding."""
    xp = devices.namespace(A)
    left, right = (xp.sum(rows * rows, axis=1) for rows in (A, B))
    sizes = left[:, None] + right
    squares = sizes - 2 * xp.matmul(A, xp.matrix_transpose(B))
    rounding = 16 * float(xp.finfo(squares.dtype).eps) * sizes
    return xp.where(squares < rounding, 0.0 * sizes, squares)


def _distances(A: Any, B: Any) -> NDArray[Any]:
    """Euclidean distances, zero where they are rounding: the square root would magnify that."""
    squares = euclidean_distances(A, B, squared=True)
    sizes = row_norms(A, squared=True)[:, None] + row_norms(B, squared=True)
    squares[squares < 16 * np.finfo(squares.dtype).eps * sizes] = 0
    return np.sqrt(squares, out=squares)


def make_kernel(name: Any, gamma: Any, params: Mapping[str, Any] | None) -> Kernel:
    """Check a kernel's name and parameters; gamma may still be a rule."""
    if params is not None and not isinstance(params, Mapping):
        raise TypeError(f"kernel_params must be a dict or None, got {params!r}.")
    params = dict(params or {})
    if callable(name):
        return Kernel(name, None, params)
    if name == "poly":
        name = "polynomial"
    if not isinstance(name, str) or name not in PARAMETERS:
        raise ValueError(
            f"kernel must be one of {', '.join(map(repr, PARAMETERS))} or a callable, got {name!r}."
        )
    if unknown := sorted(set(params) - set(PARAMETERS[name])):
        raise ValueError(
            f"kernel_params of the {name!r} kernel may hold "
            f"{', '.join(PARAMETERS[name]) or 'nothing'}, got {', '.join(map(repr, unknown))}."
        )
    params = PARAMETERS[name] | params
    if name == "matern" and params["nu"] not in (0.5, 1.5, 2.5):
        raise ValueError(f"nu of the Matern kernel must be 0.5, 1.5 or 2.5, got {params['nu']!r}.")
    if name == "polynomial":
        check_number(params["degree"], "degree", 1, integer=True)
        check_number(params["coef0"], "coef0", 0)  # below, the kernel is not positive
    if isinstance(gamma, str):
        if gamma not in RULES:
            rules = ", ".join(map(repr, RULES[:-1])) + f" or {RULES[-1]!r}"
            raise ValueError(f"gamma must be a number > 0, {rules}, got {gamma!r}.")
    else:
        gamma = check_number(gamma, "gamma", 0, open_low=True)
    return Kernel(name, gamma, params)


def settle_gamma(kernel: Kernel, rows: Any, spread: Spread, seed: int) -> Kernel:
    """Replace a rule for gamma by the number that it gives for these rows.

    "scale": 1 / (d * variance of all entries), as in scikit-learn's SVC.
    "median": sigma is the median distance between rows, gamma = 1 / (2 sigma^2); over all pairs
    of at most 1000 rows, drawn at random.
    Both are 1 where rows do not differ, or by so little that their squares vanish.
    """
    if not isinstance(kernel.gamma, str):
        return kernel
    if kernel.gamma == "auto":
        raise ValueError("gamma='auto' is chosen by fit only; here it takes a number or 'scale'.")
    if kernel.gamma == "scale":
        # About the first column's origin, so that a common offset of all columns costs no digits.
        mean = (spread.origin - spread.origin[0]) + spread.offset
        variance = spread.variance.mean() + mean.var()
        size = max(np.abs(spread.minimum).max(), np.abs(spread.maximum).max())
        square = mean.size * variance if variance > (EPS * size) ** 2 else 0.0
    else:
        chosen = np.random.default_rng(seed).permutation(rows.shape[0])[:1000]
        sample = devices.host(devices.rows_at(rows, np.sort(chosen))).astype(np.float64)
        sample = _near_zero(sample, sample)[0]
        if not sparse.issparse(sample):
            sample = sample - sample[:1]
        squares = euclidean_distances(sample, squared=True)
        squares = squares[np.triu_indices_from(squares, 1)]
        square = 2 * np.median(squares) if squares.size else 0.0
        if square <= 16 * EPS * row_norms(sample, squared=True).max(initial=0):
            square = 0.0  # of equal rows, from |a|^2 + |b|^2 - 2 a.b
    gamma = 1 / square if square > 1e-300 else 1.0
    return Kernel(kernel.name, float(gamma), kernel.params)
