"""Figures of embeddings, components and reports.

Every function draws on the Axes it is given and returns it. Without one it makes a figure of its
own, which pyplot does not know: nothing to close, and nothing to leak. Save it with
`ax.figure.savefig`, or end a notebook cell with `ax.figure`. To draw where pyplot is, pass
`ax=plt.gca()`. Text from data is not interpreted: a dollar is a dollar. Needs matplotlib,
`pip install "labelens[cli]"`.
"""

from .components import biplot, loadings, scree
from .embedding import scatter, wheel
from .maps import atlas
from .reports import approximation, cross_embedding, gamma_curve, permutation, stability

__all__ = [
    "approximation",
    "atlas",
    "biplot",
    "cross_embedding",
    "gamma_curve",
    "loadings",
    "permutation",
    "scatter",
    "scree",
    "stability",
    "wheel",
]
