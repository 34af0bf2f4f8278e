"""Choose a model, measure it and check it.

candidates.py, comparison.py  what `select` tries, and how it compares
selection.py                  `select`: method and parameters by cross-validation
metrics.py                    `hsic`, `hsic_test`, `knn_score`, `subspace_distance`
trial.py                      accuracy on held-out rows, and with shuffled labels
crossed.py                    `cross_embed`: each row embedded by a model fitted without it
permutation.py                `permutation_report`: the score against shuffled labels
approximation.py              `approximation_report`: the distance to the exact solution
stability.py                  `stability_report`: other rows, other seeds
audit.py                      `label_issues`: labels that are probably wrong
explain.py                    `importances`: columns that an embedding depends on
wheel.py                      `Wheel`: many classes on a circle
atlas.py                      `Atlas`: discs of classes, and their inside
arrange.py                    what an atlas is made of, of all rows or of parts
value_map.py                  `ValueMap`: a number as label, and the variation at each level

The reports take any transformer with `fit(X, y)` and `transform(X)`, except
`approximation_report`, which needs to know the exact solution. `labelens.plot` draws them.
"""

from .approximation import ApproximationReport, approximation_report
from .atlas import Atlas
from .audit import label_issues
from .crossed import CrossEmbedding, cross_embed
from .explain import Importances, importances
from .metrics import HSICTest, hsic, hsic_test, knn_score, subspace_distance
from .permutation import PermutationReport, permutation_report
from .selection import Selection, select
from .stability import Movement, StabilityReport, stability_report
from .value_map import ValueMap
from .wheel import Wheel

__all__ = [
    "ApproximationReport",
    "Atlas",
    "CrossEmbedding",
    "HSICTest",
    "Importances",
    "Movement",
    "PermutationReport",
    "Selection",
    "StabilityReport",
    "ValueMap",
    "Wheel",
    "approximation_report",
    "cross_embed",
    "hsic",
    "hsic_test",
    "importances",
    "knn_score",
    "label_issues",
    "permutation_report",
    "select",
    "stability_report",
    "subspace_distance",
]
