"""Label maps: psi, the side of the cross-moment that sees y.

A label map turns a batch of labels into a `Right`: either class numbers (a one-hot matrix that is
never written down) or q features. What a random method does to them afterwards, the (q, k) matrix
R, is `mixing`, and belongs to the map too: only the map knows which labels are alike.

    label_kernel   exact factor Psi of L = Psi Psi^T                        file
    "delta"        one-hot                                                  onehot.py
    "delta"        the same, mixed by vectors well apart (label_map="spread") sphere.py
    "delta"        hashed Gaussian vectors, k of them (label_map="gaussian") hashed.py
    "linear"       y itself                                                 linear.py
    "rbf"          Fourier features: exact for one column, random for more  fourier.py
    transformer    whatever it returns                                      transformed.py
    (y is None)    L = I, one random vector a row                           unlabelled.py
"""

from __future__ import annotations

from typing import Any

from .fourier import FourierLabels
from .hashed import HashedLabels
from .linear import LinearLabels
from .onehot import OneHotLabels
from .reading import choose_kernel, read_labels
from .right import LabelMap, Right
from .sphere import class_code
from .transformed import TransformedLabels
from .unlabelled import Unlabelled
from .weighting import class_weights

__all__ = [
    "LabelMap",
    "Right",
    "Unlabelled",
    "choose_kernel",
    "class_code",
    "class_weights",
    "make_label_map",
    "read_labels",
]


def make_label_map(
    y: Any,
    weight: Any,
    kernel: Any,
    gamma: float | None,
    n_components: int,
    mixing: str | None,
    seed: int,
) -> LabelMap:
    """The label map for the first batch of labels; `mixing` is None for the spectral methods."""
    automatic = isinstance(kernel, str) and kernel == "auto"
    if automatic:
        kernel = choose_kernel(y)
    if mixing == "spread" and kernel != "delta":
        raise ValueError(
            f"label_map='spread' puts classes well apart from each other, and label_kernel is "
            f"{kernel!r}; use label_map='orthogonal', or label_kernel='delta'."
        )
    if kernel == "delta":
        if mixing == "gaussian":
            return HashedLabels.for_labels(y, automatic, n_components, seed)
        return OneHotLabels.for_labels(y, automatic, mixing, seed, gamma)
    if kernel == "linear":
        return LinearLabels.for_labels(y, mixing, seed)
    if kernel == "rbf":
        return FourierLabels.for_labels(y, weight, gamma, n_components, mixing, seed)
    if hasattr(kernel, "fit") and hasattr(kernel, "transform"):
        return TransformedLabels.for_labels(y, kernel, mixing, seed)
    raise ValueError(
        "label_kernel must be 'auto', 'delta', 'linear', 'rbf' or a scikit-learn transformer of "
        f"y, got {kernel!r}."
    )
