"""Random Fourier features whose frequencies are orthogonal in groups of d (Yu et al., 2016).

Each frequency alone has the same distribution as an independent one, so the kernel estimate stays
unbiased; together they cover the sphere more evenly, so its variance is smaller.

Where it pays, the directions are those of H D H D H D (random signs D, the same paper's SORF)
instead of uniformly random frames: orthogonal too, uniform up to terms that vanish with d, and far
cheaper than a product with a dense matrix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from .base import FeatureMap, feature_generator, radial_scale
from .fourier import Fourier
from .structured import Structured, n_groups, padded_size

STAGES = 3
# To transform a number three times takes as long as this many steps of a matrix product (measured
# by benchmarks/profile.py with AVX-512: 66 to 86 in float32, 45 to 67 in float64); it depends on
# the machine, but the choice must not.
COST_OF_A_NUMBER = 75


def orthogonal(kernel: Kernel, d: int, n_features: int, seed: int) -> FeatureMap:
    draw = feature_generator(seed)
    wanted = (n_features + 1) // 2
    if kernel.name != "laplacian" and pays(d, n_features):
        return _structured(kernel, d, n_features, draw)
    groups = [_frame(d, min(d, wanted - start), draw) for start in range(0, wanted, d)]
    directions = np.hstack(groups)
    # A standard normal vector is a direction times a chi-distributed length.
    directions *= np.sqrt(draw.chisquare(d, wanted))
    return Fourier.from_normals(kernel, directions, n_features, draw)


def pays(d: int, n_features: int) -> bool:
    """Whether transforms beat a matrix product: for 1024 features from d of about 100 on."""
    transformed = n_groups(d, n_features) * padded_size(d)
    return COST_OF_A_NUMBER * transformed < d * ((n_features + 1) // 2)


def _structured(kernel: Kernel, d: int, n_features: int, draw: np.random.Generator) -> Structured:
    groups, size = n_groups(d, n_features), padded_size(d)
    lengths = np.sqrt(draw.chisquare(size, (groups, size)))
    lengths *= radial_scale(kernel, groups * size, draw).reshape(groups, size)
    return Structured(
        n_features,
        d,
        draw.choice([-1.0, 1.0], (groups, STAGES, size)),
        np.empty((groups, 0, size), dtype=np.int64),
        lengths / np.sqrt(size) ** STAGES,  # H has rows of length sqrt(D)
        draw.uniform(0, 2 * np.pi),
    )


def _frame(d: int, size: int, draw: np.random.Generator) -> NDArray[np.float64]:
    """(d, size) orthonormal columns, uniform over rotations: QR with the signs of R undone."""
    q, r = np.linalg.qr(draw.standard_normal((d, size)))
    return q * np.sign(np.diag(r))
