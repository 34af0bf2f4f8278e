"""Feature maps: phi, the side of the cross-moment for X.

A feature map turns a block of rows into p features whose inner products are, or estimate, a
kernel. It is drawn once, from a seed, and pure from then on.

    approximation     features                                              file
    (linear methods)  the rows themselves                                   identity.py
    "fourier"         cos and sin of independent random frequencies         fourier.py
    "orthogonal"      the same, frequencies orthogonal in groups of d       orthogonal.py
    "fastfood"        the same, by Walsh-Hadamard transforms                fastfood.py
    "nystroem"        kernel values against landmarks from the first batch  nystroem.py
    transformer       whatever it returns                                   transformed.py

"exact" and "falkon" keep training rows instead of features (`exact_kernel.py`, `landmarks.py`).
The linear kernel needs no approximation, so its random features are the rows themselves; the
polynomial kernel has no frequencies, so its random features are a tensor sketch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels import Kernel
from .base import FeatureMap, unscaled
from .fastfood import fastfood
from .fourier import Fourier
from .identity import Identity
from .nystroem import Nystroem
from .orthogonal import orthogonal
from .transformed import Transformed, tensor_sketch

__all__ = [
    "APPROXIMATIONS",
    "FeatureMap",
    "Identity",
    "make_feature_map",
    "unscaled",
]

# Random features of kernels that have frequencies: from a kernel, d, n_features and a seed.
DRAWN: dict[str, Callable[[Kernel, int, int, int], FeatureMap]] = {
    "fourier": Fourier.draw,
    "orthogonal": orthogonal,
    "fastfood": fastfood,
}
APPROXIMATIONS = (*DRAWN, "nystroem", "falkon", "exact")


def make_feature_map(
    approximation: Any, kernel: Kernel | None, rows: Any, n_features: int, seed: int
) -> FeatureMap | None:
    """The map for a first batch of rows (already scaled); None where no features are made."""
    if not isinstance(approximation, str):
        return Transformed.fit(approximation, rows)
    assert kernel is not None
    if approximation in ("falkon", "exact"):
        return None
    if approximation == "nystroem":
        return Nystroem.draw(kernel, rows, n_features, seed)
    if kernel.name == "linear":
        return Identity(rows.shape[1])
    if kernel.name == "polynomial":
        return tensor_sketch(kernel, rows, n_features, seed)
    return DRAWN[approximation](kernel, rows.shape[1], n_features, seed)
