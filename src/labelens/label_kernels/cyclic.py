"""The label kernel of cyclic numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from .._base.validation import check_number
from .base import Array, LabelKernel


@dataclass(frozen=True)
class Cyclic(LabelKernel):
    """Cyclic numbers: hours of the day, angles, days of the year.

    L(a, b) = cos(pi (a - b) / period)^(2 harmonics): 1 for the same time of the cycle, 0 half a
    cycle apart, one half about 0.26 / sqrt(harmonics) of a period away. It is a sum of that many
    harmonics, so its label features, 2 for each, are exact.

    Parameters
    ----------
    period : float
        24 for hours, 360 for degrees.
    harmonics : int, default=2
        The more, the narrower, and the more components there are to find: twice as many.

    Examples
    --------
    >>> import numpy as np
    >>> from labelens.label_kernels import Cyclic
    >>> features = Cyclic(period=24, harmonics=1).features(np.array([0.0, 6.0, 12.0, 24.0]))
    >>> (features @ features.T).round(3)[0]
    array([1. , 0.5, 0. , 1. ])
    """

    period: float
    harmonics: int = 2

    def __post_init__(self) -> None:
        check_number(self.period, "period", 0, open_low=True)
        check_number(self.harmonics, "harmonics", 1, 512, integer=True)

    def features(self, labels: Array) -> Array:
        """Label features whose inner products are L: (n,) -> (n, 2 harmonics + 1).

        The constant comes first: cos(t/2)^(2m) = 4^-m sum_j binom(2m, m + j) exp(i j t), where j
        goes from -m to m.
        """
        m, j = self.harmonics, np.arange(1, self.harmonics + 1)
        # Within a period first: the sine of a large number has lost its last digits.
        angles = np.outer(np.mod(labels, self.period) * (2 * np.pi / self.period), j)
        orders = np.arange(m + 1)
        share = gammaln(2 * m + 1) - gammaln(m + orders + 1) - gammaln(m - orders + 1)
        mass = np.exp(share - 2 * m * np.log(2.0))
        amplitude = np.sqrt(np.where(orders > 0, 2, 1) * mass)
        constant = np.full((len(labels), 1), amplitude[0])
        waves = [np.cos(angles) * amplitude[1:], np.sin(angles) * amplitude[1:]]
        return np.hstack([constant, *waves])
