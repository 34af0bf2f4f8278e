"""Label kernels with arguments: which labels are similar, and how much.

Pass one as `label_kernel`. "ordinal", "tree" and "jaccard" are short for `Ordinal()`, `Tree()` and
`Jaccard()`.

    Ordinal      grades: how many thresholds both have passed
    Tree         paths in a hierarchy: how far they go together
    Jaccard      sets, as a multilabel indicator: how much of both is in both
    Precomputed  any similarity of classes that you have, as a matrix
    Cyclic       hours, angles, months: numbers that come around
    Sum          several columns of y, a kernel for each: similar in one of them
    Product      the same: similar in all of them

Kernels are compared by what they are made of, and never change.
"""

from .base import LabelKernel
from .classes import Jaccard, Ordinal, Precomputed, Tree
from .columns import Product, Sum
from .cyclic import Cyclic

__all__ = ["Cyclic", "Jaccard", "Ordinal", "Precomputed", "Product", "Sum", "Tree"]

# The strings that stand for kernels without arguments.
NAMED: dict[str, LabelKernel] = {"jaccard": Jaccard(), "ordinal": Ordinal(), "tree": Tree()}
