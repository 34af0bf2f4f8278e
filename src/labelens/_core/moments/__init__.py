"""Mergeable statistics, one a file: what the data leaves behind once its rows are gone.

Every one is `of(rows)` for a block of rows and `merge(other)` for two of them; nothing else ever
touches the data. All are float64 whatever the rows are. `merge` is associative and commutative up
to rounding, and exact to the last digits even when |mean| >> std, because every mean is kept as
two words: an `origin` close to the data and a small `offset` from it.

`merge(other, reuse=True)` may overwrite the arrays of `self`: a fold over many blocks then
allocates nothing.
"""

from .class_sums import ClassSums
from .common import BLOCK_ROWS, Array
from .cross import CrossMoment
from .saved import SavedSummary, check_can_grow
from .scatter import Scatter
from .spread import Spread
from .summary import FirstClasses, Moments, union_of_classes

__all__ = [
    "BLOCK_ROWS",
    "Array",
    "ClassSums",
    "CrossMoment",
    "FirstClasses",
    "Moments",
    "SavedSummary",
    "Scatter",
    "Spread",
    "check_can_grow",
    "union_of_classes",
]
