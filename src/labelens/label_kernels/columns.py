"""Several columns of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .base import LabelKernel, LabelKernelLike
from .classes import Jaccard

# The strings that stand for a kernel of one column.
ONE_COLUMN = ("auto", "delta", "linear", "rbf", "ranked", "sliced", "ordinal", "tree")


@dataclass(frozen=True, init=False, repr=False)
class ColumnwiseKernel(LabelKernel):
    """One kernel for each column of y."""

    parts: tuple[Any, ...]

    @property
    def takes_labels(self) -> bool:
        return True

    def __init__(self, *parts: LabelKernelLike) -> None:
        name = type(self).__name__
        if len(parts) < 2:
            raise TypeError(f"{name} takes one kernel for each column of y, two or more.")
        for part in parts:
            if isinstance(part, (Jaccard, ColumnwiseKernel)) or (
                isinstance(part, str) and part not in ONE_COLUMN
            ):
                raise ValueError(
                    f"{part!r} cannot be the kernel of one column of y in {name}; use "
                    f"{', '.join(map(repr, ONE_COLUMN))}, Ordinal, Tree, Precomputed, Cyclic, "
                    "Ranked, Sliced or a transformer."
                )
            if not isinstance(part, (str, LabelKernel)) and not hasattr(part, "transform"):
                raise TypeError(f"{part!r} is neither a label kernel nor a transformer.")
        object.__setattr__(self, "parts", parts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"


@dataclass(frozen=True, init=False, repr=False)
class Sum(ColumnwiseKernel):
    """Several columns of y, a kernel for each; L is their sum: similar in one column or another.

    Kernels are added as they are, so that one with larger values counts for more. Classes in such
    columns must all be in the first batch.

    Parameters
    ----------
    *parts : label kernels
        For the first column of y, the second, and so on: "delta", "linear", "rbf",
        "ranked", "sliced", "ordinal", "tree", "auto", an object of this module, or a scikit-learn
        transformer.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from labelens import SupervisedPCA
    >>> from labelens.label_kernels import Cyclic, Sum
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = pd.DataFrame({"station": list("abc") * 20, "hour": np.arange(60) % 24})
    >>> SupervisedPCA(2, label_kernel=Sum("delta", Cyclic(period=24))).fit(X, y).label_kernel_
    Sum('delta', Cyclic(period=24, harmonics=2))
    """


@dataclass(frozen=True, init=False, repr=False)
class Product(ColumnwiseKernel):
    """Several columns of y, a kernel for each; L is their product: similar in all columns.

    Classes in such columns must all be in the first batch.

    Parameters
    ----------
    *parts : label kernels
        As for `Sum`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from labelens import SupervisedPCA
    >>> from labelens.label_kernels import Ordinal, Product
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = pd.DataFrame({"station": list("abc") * 20, "grade": np.arange(60) % 4})
    >>> SupervisedPCA(2, label_kernel=Product("delta", Ordinal())).fit(X, y).label_kernel_
    Product('delta', Ordinal(order=None))
    """
