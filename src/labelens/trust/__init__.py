"""What of an embedding is real: held-out pictures, shuffled labels, exact answers, other rows.

    question                                           asked by
    does the picture hold for rows it has not seen?    cross_embed             crossed.py
    would shuffled labels look as good?                permutation_report      permutation.py
    what would the exact answer have been?             approximation_report    approximation.py
    would other rows, or another seed, show the same?  stability_report        stability.py

All take any transformer with `fit(X, y)` and `transform(X)`, but for the third, which needs to know
what the exact answer is. `labelens.plot` draws what they return.
"""

from .approximation import ApproximationReport, approximation_report
from .crossed import CrossEmbedding, cross_embed
from .permutation import PermutationReport, permutation_report
from .stability import Movement, StabilityReport, stability_report

__all__ = [
    "ApproximationReport",
    "CrossEmbedding",
    "Movement",
    "PermutationReport",
    "StabilityReport",
    "approximation_report",
    "cross_embed",
    "permutation_report",
    "stability_report",
]
