"""The four methods of the paper, each a feature map, a label map and a solver of `_core`.

`scripts/docstrings.py` writes the parameters and attributes that they share into their docstrings.
"""

from .._fit.projection import Projection
from .kernel import KernelSupervisedPCA, KernelSupervisedRandomProjection
from .linear import SupervisedPCA, SupervisedRandomProjection

__all__ = [
    "KernelSupervisedPCA",
    "KernelSupervisedRandomProjection",
    "SupervisedPCA",
    "SupervisedRandomProjection",
]

# By the names of the paper.
METHODS: dict[str, type[Projection]] = {
    "spca": SupervisedPCA,
    "srp": SupervisedRandomProjection,
    "kspca": KernelSupervisedPCA,
    "ksrp": KernelSupervisedRandomProjection,
}
