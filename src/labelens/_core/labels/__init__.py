"""Label maps: psi, the side of the cross-moment for y.

A label map turns a batch of labels into `EncodedLabels`: either class numbers (a one-hot matrix
that is never written down) or q features. What a random method does to them afterwards, the (q, k)
matrix R, is `mixing`, and belongs to the map too: only the map knows which labels are similar.

    label_kernel   exact factor Psi of L = Psi Psi^T                          file
    "delta"        one-hot                                                    classes.py
                   mixed by vectors well apart (label_map="spread")           sphere.py
                   hashed Gaussian vectors, k of them (label_map="gaussian")  classes.py
    "linear"       y itself                                                   numeric.py
    "rbf"          Fourier features: exact for one column, random for more    numeric.py
    ClassKernel    one-hot times a factor of the similarity of classes        similarity.py
    Cyclic         the harmonics of the cycle                                 numeric.py
    Sliced         one-hot, of slices                                         numeric.py
    Ranked         those of "rbf", of ranks                                   numeric.py
    Sum, Product   those of the columns, side by side or multiplied           columns.py
    transformer    whatever it returns                                        transformed.py
    (y is None)    L = I, one random vector a row                             unlabelled.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...label_kernels import NAMED, Cyclic, Ranked, Sliced
from ...label_kernels.base import ClassKernel, LabelKernel
from ...label_kernels.columns import ColumnwiseKernel
from ...label_kernels.quantiles import QuantileKernel
from .classes import HashedLabels, OneHotLabels, kinds_of
from .columns import ColumnLabels
from .encoded import EncodedLabels, LabelMap, refuse_columns
from .numbered import NumberedLabels, as_integers
from .numeric import CyclicLabels, FourierLabels, LinearLabels, SlicedLabels, dense_columns
from .reading import Labels, Traits, as_labels, choose_kernel, read_labels
from .similarity import SimilarityLabels
from .sphere import class_code
from .transformed import TransformedLabels
from .unlabelled import Unlabelled
from .weighting import class_weights

__all__ = [
    "EncodedLabels",
    "LabelMap",
    "Labels",
    "NumberedLabels",
    "SimilarityLabels",
    "Traits",
    "Unlabelled",
    "as_integers",
    "as_labels",
    "choose_kernel",
    "class_code",
    "class_weights",
    "make_label_map",
    "read_labels",
]


# Maps of kernels that are neither of classes nor of columns: from y, the kernel, `label_map` and a
# seed.
MAPS: dict[type[LabelKernel], Callable[[Any, Any, str | None, int], LabelMap]] = {
    Cyclic: CyclicLabels.for_labels,
    Sliced: SlicedLabels.for_labels,
}


def make_label_map(
    y: Any,
    weight: Any,
    kernel: Any,
    gamma: float | None,
    n_components: int,
    mixing: str | None,
    seed: int,
    orders: tuple[tuple[Any, ...] | None, ...] = (),
    chosen: str | None = None,
) -> LabelMap:
    """The label map for the first batch of labels.

    `mixing` is None for the spectral methods; `orders` are those of the columns of y that have one;
    `chosen` is the kernel that "auto" means for all labels, where y is a sample of them.
    """
    automatic = isinstance(kernel, str) and kernel == "auto"
    if automatic:
        kernel = choose_kernel(y) if chosen is None else chosen
    if isinstance(kernel, str):
        kernel = NAMED.get(kernel, kernel)
    if mixing == "spread" and kernel != "delta":
        raise ValueError(
            f"label_map='spread' puts classes well apart from each other, and label_kernel is "
            f"{kernel!r}; use label_map='orthogonal', or label_kernel='delta'."
        )
    if isinstance(kernel, QuantileKernel):
        refuse_columns(y, kernel, "numbers")
        numbers = dense_columns(y, 1, kernel=type(kernel).__name__)[:, 0]
        kernel = kernel.settled(numbers, weight)
    if isinstance(kernel, Ranked):
        return FourierLabels.of_ranks(kernel, gamma, n_components, mixing, seed)
    if mixing == "fourier" and kernel != "delta" and kernel != "rbf":
        name = kernel if isinstance(kernel, str) else type(kernel).__name__
        raise ValueError(
            f"label_map='fourier' approximates an RBF kernel, and label_kernel is {name!r}; use "
            "label_map='orthogonal' or 'gaussian', or label_kernel='rbf' or 'ranked'."
        )
    if isinstance(kernel, ClassKernel):
        return SimilarityLabels.for_labels(y, kernel, mixing, seed, orders[0] if orders else None)
    if type(kernel) in MAPS:
        return MAPS[type(kernel)](y, kernel, mixing, seed)
    if isinstance(kernel, ColumnwiseKernel):

        def of_column(labels: Any, part: Any, j: int) -> LabelMap:
            # Exact features of each: mixing comes after they have been put together.
            order = orders[j : j + 1]
            return make_label_map(labels, weight, part, gamma, n_components, None, seed, order)

        return ColumnLabels.for_labels(y, kernel, mixing, seed, of_column)
    if hasattr(kernel, "fit") and hasattr(kernel, "transform"):
        return TransformedLabels.for_labels(y, kernel, mixing, seed)
    match kernel:
        case "delta" if mixing == "gaussian":
            return HashedLabels(kinds_of(y), automatic, n_components, seed)
        case "delta":
            return OneHotLabels.for_labels(y, automatic, mixing, seed, gamma)
        case "linear":
            return LinearLabels(1 if y.ndim == 1 else y.shape[1], automatic, mixing, seed)
        case "rbf":
            return FourierLabels.for_labels(y, weight, gamma, n_components, mixing, seed)
    raise ValueError(
        "label_kernel must be 'auto', 'delta', 'linear', 'rbf', 'ranked', 'sliced', 'ordinal', "
        "'tree', 'jaccard', an object of labelens.label_kernels or a scikit-learn transformer of "
        f"y, got {kernel!r}."
    )
