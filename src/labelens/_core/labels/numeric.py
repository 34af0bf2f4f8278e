"""Numbers: as they are, around a cycle, in slices, or as Fourier features of an RBF kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ...label_kernels import Cyclic, Ranked, Sliced
from .encoded import EncodedLabels, LabelMap, dense_mixing, random_generator, refuse_columns
from .reading import check_decision

# One column of labels: the RBF kernel is the integral of cos(w (y - y')) against a Gaussian, and
# the trapezoid rule with step h and cut-off 7.5 gives it to 1e-12 for all labels closer than
# 2 pi / h - 7.5 length scales: 128 frequencies reach 99 of them, without randomness. Labels that
# spread wider get as many more as they need, up to MOST.
CUT_OFF, N_FREQUENCIES, MOST = 7.5, 128, 4096
# Several columns have no such grid; random frequencies converge as 1 / sqrt(their number).
N_RANDOM_FREQUENCIES = 512
# One over the variance of ranks without ties, which are uniform between 0 and 1.
RANK_GAMMA = 12.0


@dataclass(frozen=True)
class LinearLabels(LabelMap):
    """Numbers as they are: for multilabel indicators and linear targets."""

    width: int
    automatic: bool  # "auto" took the labels for a multilabel indicator
    mix: str | None
    seed: int
    kernel: str = "linear"
    decisive = ("width",)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        features = numeric_columns(y, self.width, "linear", rows)
        if self.automatic:
            check_decision("linear", y, rows)
        return EncodedLabels(features=features)


@dataclass(frozen=True)
class NumberLabels(LabelMap):
    """Numbers in one column, as the features that their kernel has."""

    kernel: Cyclic | Sliced
    mix: str | None
    seed: int

    @classmethod
    def for_labels(cls, y: Any, kernel: Any, mix: str | None, seed: int) -> Self:
        refuse_columns(y, kernel, "numbers")
        return cls(kernel, mix, seed)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        numbers = dense_columns(y, 1, rows, type(self.kernel).__name__)[:, 0]
        return EncodedLabels(features=self.kernel.features(numbers))


@dataclass(frozen=True)
class CyclicLabels(NumberLabels):
    """Cyclic numbers as the harmonics of their cycle."""

    kernel: Cyclic

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        # The first feature is constant: what a vector says along it is lost, so put nothing there.
        return np.vstack([np.zeros(k), dense_mixing(self.mix, self.seed, width - 1, k)])


@dataclass(frozen=True)
class SlicedLabels(NumberLabels):
    """Numbers in slices, as a one-hot matrix."""

    kernel: Sliced

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        # The columns of C_xy sum to zero: what a vector says along (1, ..., 1) is lost.
        if width == 1:
            return np.zeros((1, k))
        contrasts: NDArray[np.float64] = linalg.helmert(width).T
        return contrasts @ dense_mixing(self.mix, self.seed, width - 1, k)


@dataclass(frozen=True)
class FourierLabels(LabelMap):
    """Numbers under an RBF kernel: psi(y) = a_j (cos w_j.y, sin w_j.y).

    With label_map="fourier" these are k random features. Under the kernel `Ranked`, ranks take the
    place of y.
    """

    gamma: float
    frequencies: NDArray[np.float64]  # (m, F)
    amplitudes: NDArray[np.float64]  # (F,)
    phases: NDArray[np.float64] | None  # (F,): one feature a frequency instead of a pair
    middle: float
    reach: float  # the largest distance between labels that the grid of frequencies can resolve
    mix: str | None
    seed: int
    kernel: str | Ranked = "rbf"
    decisive = ("kernel",)

    @classmethod
    def of_ranks(
        cls, kernel: Ranked, gamma: float | None, k: int, mix: str | None, seed: int
    ) -> FourierLabels:
        gamma = RANK_GAMMA if gamma is None else gamma
        ends = np.array([0.0, 1.0])
        return replace(cls.for_labels(ends, None, gamma, k, mix, seed), kernel=kernel)

    @classmethod
    def for_labels(
        cls, y: Any, weight: Any, gamma: float | None, k: int, mix: str | None, seed: int
    ) -> FourierLabels:
        width = 1 if y.ndim == 1 else y.shape[1]
        values = dense_columns(y, width)
        if gamma is None:
            # As `gamma="scale"` does for the rows: the variance over all entries.
            deviation = values - np.average(values, axis=0, weights=weight).mean()
            variance = np.average(deviation**2, axis=0, weights=weight).mean()
            gamma = 1 / (width * variance) if variance > 0 else 1.0
        draw = random_generator(seed, "label frequencies")
        phases, reach = None, np.inf
        if mix == "fourier":
            frequencies = draw.standard_normal((width, k))
            amplitudes = np.full(k, np.sqrt(2 / k))
            phases = draw.uniform(0, 2 * np.pi, k)
        elif width == 1 and (count := _frequencies_for(values, gamma)) <= MOST:
            step = CUT_OFF / count
            reach = (2 * np.pi / step - CUT_OFF) / np.sqrt(2 * gamma)
            frequencies = step * np.arange(count + 1.0)[None, :]
            mass = 2 * step * np.exp(-(frequencies[0] ** 2) / 2) / np.sqrt(2 * np.pi)
            mass[0] /= 2  # every other frequency stands for itself and its negative
            amplitudes = np.sqrt(mass)
        else:
            frequencies = draw.standard_normal((width, N_RANDOM_FREQUENCIES))
            amplitudes = np.full(N_RANDOM_FREQUENCIES, N_RANDOM_FREQUENCIES**-0.5)
        frequencies = frequencies * np.sqrt(2 * gamma)
        # Where the labels are: one that is too far from all others is a mistake.
        middle = (values.min() + values.max()) / 2
        return cls(gamma, frequencies, amplitudes, phases, middle, reach, mix, seed)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        values = self.numbers(y, rows)
        far = np.abs(values - self.middle).max(axis=1) > self.reach / 2
        if far.any():
            row = int(np.argmax(far))
            raise ValueError(
                f"The label of row {int(rows[row])}, {values[row, 0]:g}, is too far from those of "
                f"the first batch for label_gamma={self.gamma:g}. Give label_gamma a smaller "
                "number, transform y (say, to its logarithm), or start with a batch that spans y."
            )
        # BLAS adds up a product of a single row, such as a last batch, in another order.
        some = np.repeat(values, 2, axis=0) if len(values) == 1 else values
        angles = (some @ self.frequencies)[: len(values)]
        if self.phases is not None:
            return EncodedLabels(features=np.cos(angles + self.phases) * self.amplitudes)
        waves = np.hstack([np.cos(angles), np.sin(angles)])
        return EncodedLabels(features=waves * np.tile(self.amplitudes, 2))

    def numbers(self, y: Any, rows: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """(n, m): what the RBF kernel is of."""
        if isinstance(self.kernel, str):
            return dense_columns(y, len(self.frequencies), rows)
        return self.kernel.ranks(dense_columns(y, 1, rows, "Ranked")[:, 0])[:, None]

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        if self.mix == "fourier":
            return np.eye(width, k)  # k random features already
        return super().mixing(classes, width, k)

    def same_as(self, other: Any) -> bool:
        return super().same_as(other) and np.array_equal(self.frequencies, other.frequencies)


def _frequencies_for(values: NDArray[np.float64], gamma: float) -> int:
    """A power of two times N_FREQUENCIES whose grid reaches twice as far as these labels do."""
    spread = 2 * np.ptp(values) * np.sqrt(2 * gamma)
    wanted = CUT_OFF * (spread + CUT_OFF) / (2 * np.pi)
    return N_FREQUENCIES << max(0, int(np.ceil(np.log2(max(wanted, 1) / N_FREQUENCIES))))


def numeric_columns(y: Any, width: int, kernel: str, rows: NDArray[np.intp] | None = None) -> Any:
    """(n,) or (n, m) numbers -> (n, m) float64 or CSR."""
    columns = y[:, None] if y.ndim == 1 else y
    if columns.shape[1] != width:
        raise ValueError(f"y has {columns.shape[1]} columns, and {width} in the batches before.")
    if y.dtype.kind not in "biuf":
        # Dates stay dates: as a list, those in nanoseconds would be integers.
        for row, labels in enumerate(columns if y.dtype.kind in "mM" else columns.tolist()):
            for label in labels:
                if not isinstance(label, (int, float)):
                    raise TypeError(
                        f"label_kernel={kernel!r} needs numbers, and row "
                        f"{row if rows is None else int(rows[row])} of y is {label!r}; for classes "
                        "use label_kernel='delta'."
                    )
    return columns.astype(np.float64)


def dense_columns(
    y: Any, width: int, rows: NDArray[np.intp] | None = None, kernel: str = "rbf"
) -> NDArray[Any]:
    columns = numeric_columns(y, width, kernel, rows)
    columns = columns.toarray() if sparse.issparse(columns) else columns
    return np.ascontiguousarray(columns)  # products of a single row in steps have other bits
