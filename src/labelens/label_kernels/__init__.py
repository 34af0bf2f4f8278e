"""Label kernels with arguments: which labels are similar, and how much.

Pass one as `label_kernel`. "ordinal", "tree", "jaccard", "ranked" and "sliced" are short for
`Ordinal()`, `Tree()`, `Jaccard()`, `Ranked()` and `Sliced()`.

    Ordinal      grades: how many thresholds both have passed
    Tree         paths in a hierarchy: how far they go together
    Jaccard      sets, as a multilabel indicator: how much of both is in both
    Precomputed  any similarity of classes that you have, as a matrix
    Cyclic       cyclic numbers: hours, angles, months
    Ranked       skewed numbers: close ranks
    Sliced       numbers in slices of equal weight: sliced inverse regression
    Sum          several columns of y, a kernel for each: similar in one of them
    Product      the same: similar in all of them

Kernels are compared by what they are made of, and never change.
"""

from .base import LabelKernel
from .classes import Jaccard, Ordinal, Precomputed, Tree
from .columns import Product, Sum
from .cyclic import Cyclic
from .quantiles import Ranked, Sliced

__all__ = [
    "Cyclic",
    "Jaccard",
    "Ordinal",
    "Precomputed",
    "Product",
    "Ranked",
    "Sliced",
    "Sum",
    "Tree",
]

# The strings that stand for kernels without arguments.
NAMED: dict[str, LabelKernel] = {
    "jaccard": Jaccard(),
    "ordinal": Ordinal(),
    "ranked": Ranked(),
    "sliced": Sliced(),
    "tree": Tree(),
}
