"""Supervised dimensionality reduction that sees data through its labels.

A method is a feature map, a label map and a solver; data enters only through their cross-moment.
"""

from .methods import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from .metrics import HSICTest, hsic, hsic_test, knn_score, subspace_distance
from .persist import load, save
from .wheel import Wheel

__all__ = [
    "HSICTest",
    "KernelSupervisedPCA",
    "KernelSupervisedRandomProjection",
    "SupervisedPCA",
    "SupervisedRandomProjection",
    "Wheel",
    "hsic",
    "hsic_test",
    "knn_score",
    "load",
    "save",
    "subspace_distance",
]

__version__ = "0.1.0"
