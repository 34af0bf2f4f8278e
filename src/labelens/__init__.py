"""Supervised dimensionality reduction: embeddings that show the labels.

A method is a feature map, a label map and a solver; data enters only through their cross-moment.
"""

import typing as _typing

if _typing.TYPE_CHECKING:
    from ._judge import (
        ApproximationReport,
        Atlas,
        CrossEmbedding,
        HSICTest,
        Importances,
        PermutationReport,
        Selection,
        StabilityReport,
        ValueMap,
        Wheel,
        approximation_report,
        cross_embed,
        hsic,
        hsic_test,
        importances,
        knn_score,
        label_issues,
        permutation_report,
        select,
        stability_report,
        subspace_distance,
    )
    from ._out_of_core import cells as tl  # noqa: F401
    from ._out_of_core import fit, transform
    from .explorer import explore
    from .methods import (
        KernelSupervisedPCA,
        KernelSupervisedRandomProjection,
        SupervisedPCA,
        SupervisedRandomProjection,
    )
    from .persist import load, save

__all__ = [
    "ApproximationReport",
    "Atlas",
    "CrossEmbedding",
    "HSICTest",
    "Importances",
    "KernelSupervisedPCA",
    "KernelSupervisedRandomProjection",
    "PermutationReport",
    "Selection",
    "StabilityReport",
    "SupervisedPCA",
    "SupervisedRandomProjection",
    "ValueMap",
    "Wheel",
    "approximation_report",
    "cross_embed",
    "explore",
    "fit",
    "hsic",
    "hsic_test",
    "importances",
    "knn_score",
    "label_issues",
    "load",
    "permutation_report",
    "save",
    "select",
    "stability_report",
    "subspace_distance",
    "transform",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> _typing.Any:
    # NumPy, SciPy and scikit-learn take a second to load, in which the command line could neither
    # show its help nor be stopped without a traceback: so they are loaded by the first use.
    from importlib import import_module, util

    # Packages first, such as labelens.plot: while they load they ask for each other here.
    if not name.startswith("_") and util.find_spec(f"{__name__}.{name}") is not None:
        return import_module(f".{name}", __name__)
    if name == "tl":  # tools of scanpy's kind, which have no package of their own
        return import_module("._out_of_core.cells", __name__)
    if name in __all__:
        for package in ("methods", "_judge", "persist", "_out_of_core", "explorer"):
            module = import_module(f".{package}", __name__)
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
