"""The base class of feature maps, and the common parts of random Fourier maps."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._base import devices
from ..._base.scratch import Empty
from ..kernels import Kernel


class FeatureMap(Protocol):
    """phi: (n, d) rows -> (n, p) features, in float32 for float32 rows and in float64 otherwise."""

    @property
    def n_features(self) -> int: ...

    def __call__(self, rows: Any, empty: Empty = np.empty) -> Any:
        """`empty` makes the arrays for features; a map may do without."""
        ...

    def same_as(self, other: Any) -> bool:
        """Whether both give the same features, so that moments made with either can be merged."""
        ...


def working_dtype(rows: Any) -> type:
    return np.float32 if devices.is_single(rows) else np.float64


def feature_generator(seed: int) -> np.random.Generator:
    """The stream of the feature maps, apart from the label maps'; the same on every platform."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, 0])))


def unscaled(phi: Any, rows: Any) -> tuple[Any, float]:
    """Features before the last step, which multiplies all of them by a number; and that number.

    It can wait until they have been summed up, which on a device saves a third of the time.
    """
    if hasattr(phi, "angles"):
        features = waves(phi.angles(rows), phi.n_features, phi.phase, scaled=False)
        return features, float(np.sqrt(2 / phi.n_features))
    return phi(rows), 1.0


def waves(
    angles: Any, n_features: int, phase: float, empty: Empty = np.empty, scaled: bool = True
) -> Any:
    """(n, ceil(p/2)) angles w.x -> (n, p) features with E[<phi(x), phi(x')>] = k(x, x').

    cos(w.x) and sin(w.x) in pairs: cos cos + sin sin = cos(w.(x - x')) has no term that only
    vanishes on average, and needs half of the frequencies. For odd p the last frequency gives one
    feature, sqrt(2) cos(w.x + phase) with a random phase, unbiased as well.
    """
    pairs = n_features // 2
    shape = (angles.shape[0], n_features)
    here = isinstance(angles, np.ndarray)
    features = empty(shape, angles.dtype) if here else devices.empty(shape, angles)
    devices.fill(features[:, :pairs], "cos", angles[:, :pairs])
    devices.fill(features[:, pairs : 2 * pairs], "sin", angles[:, :pairs])
    if n_features % 2:
        devices.fill(features[:, -1], "cos", angles[:, pairs] + phase)
    if scaled:
        features *= float(np.sqrt(2 / n_features))
    return features


def radial_scale(kernel: Kernel, size: int, draw: np.random.Generator) -> NDArray[np.float64]:
    """What turns a standard normal vector into a frequency of a radial kernel, (size,).

    rbf: w ~ N(0, 2 gamma I). Matern: a multivariate Student t with 2 nu degrees of freedom, that
    is the same vector over sqrt(chi2 / (2 nu)).
    """
    scale = np.full(size, np.sqrt(2 * kernel.gamma))
    if kernel.name == "matern":
        freedom = 2 * kernel.params["nu"]
        scale *= np.sqrt(freedom / draw.chisquare(freedom, size))
    return scale
