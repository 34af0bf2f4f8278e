"""The public names and the rooms they come from; `import labelens` loads them when first used."""

from .explorer import explore
from .methods import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from .metrics import HSICTest, hsic, hsic_test, knn_score, subspace_distance
from .persist import load, save
from .selection import Selection, select
from .streaming import fit, transform
from .trust import (
    ApproximationReport,
    CrossEmbedding,
    PermutationReport,
    StabilityReport,
    approximation_report,
    cross_embed,
    permutation_report,
    stability_report,
)
from .wheel import Wheel

__all__ = [
    "ApproximationReport",
    "CrossEmbedding",
    "HSICTest",
    "KernelSupervisedPCA",
    "KernelSupervisedRandomProjection",
    "PermutationReport",
    "Selection",
    "StabilityReport",
    "SupervisedPCA",
    "SupervisedRandomProjection",
    "Wheel",
    "approximation_report",
    "cross_embed",
    "explore",
    "fit",
    "hsic",
    "hsic_test",
    "knn_score",
    "load",
    "permutation_report",
    "save",
    "select",
    "stability_report",
    "subspace_distance",
    "transform",
]
