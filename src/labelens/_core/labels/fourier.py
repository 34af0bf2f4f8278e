"""Continuous labels under an RBF kernel, as Fourier features of y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .encoded import EncodedLabels, LabelMap, random_generator
from .linear import numeric_columns

# One column of labels: the RBF kernel is the integral of cos(w (y - y')) against a Gaussian, and
# the trapezoid rule with step h and cut-off 7.5 gives it to 1e-12 for all labels closer than
# 2 pi / h - 7.5 length scales: 128 frequencies reach 99 of them, without randomness. Labels that
# spread wider get as many more as they need, up to MOST.
CUT_OFF, N_FREQUENCIES, MOST = 7.5, 128, 4096
# Several columns have no such grid; random frequencies converge as 1 / sqrt(their number).
N_RANDOM_FREQUENCIES = 512


@dataclass(frozen=True)
class FourierLabels(LabelMap):
    """psi(y) = a_j (cos w_j.y, sin w_j.y); k random features a label with label_map="fourier"."""

    gamma: float
    frequencies: NDArray[np.float64]  # (m, F)
    amplitudes: NDArray[np.float64]  # (F,)
    phases: NDArray[np.float64] | None  # (F,): one feature a frequency instead of a pair
    middle: float
    reach: float  # the largest distance between labels that the grid of frequencies can tell
    mix: str | None
    seed: int
    kernel: str = "rbf"

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
        # Where the labels are, for telling one that is too far from all others to be right.
        middle = (values.min() + values.max()) / 2
        return cls(gamma, frequencies, amplitudes, phases, middle, reach, mix, seed)

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        values = dense_columns(y, len(self.frequencies), rows)
        far = np.abs(values - self.middle).max(axis=1) > self.reach / 2
        if far.any():
            row = int(np.argmax(far))
            raise ValueError(
                f"The label of row {int(rows[row])}, {values[row, 0]:g}, is too far from those of "
                f"the first batch for label_gamma={self.gamma:g}. Give label_gamma a smaller "
                "number, transform y (say, to its logarithm), or start with a batch that spans y."
            )
        angles = values @ self.frequencies
        if self.phases is not None:
            return EncodedLabels(features=np.cos(angles + self.phases) * self.amplitudes)
        waves = np.hstack([np.cos(angles), np.sin(angles)])
        return EncodedLabels(features=waves * np.tile(self.amplitudes, 2))

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        if self.mix == "fourier":
            return np.eye(width, k)  # k random features already
        return super().mixing(classes, width, k)

    def same_as(self, other: Any) -> bool:
        mine = isinstance(other, FourierLabels)
        return mine and np.array_equal(self.frequencies, other.frequencies)


def _frequencies_for(values: NDArray[np.float64], gamma: float) -> int:
    """A power of two times N_FREQUENCIES whose grid reaches twice as far as these labels do."""
    spread = 2 * np.ptp(values) * np.sqrt(2 * gamma)
    wanted = CUT_OFF * (spread + CUT_OFF) / (2 * np.pi)
    return N_FREQUENCIES << max(0, int(np.ceil(np.log2(max(wanted, 1) / N_FREQUENCIES))))


def dense_columns(
    y: Any, width: int, rows: NDArray[np.intp] | None = None, kernel: str = "rbf"
) -> NDArray[Any]:
    columns = numeric_columns(y, width, kernel, rows)
    return columns.toarray() if sparse.issparse(columns) else columns
