"""The paper's two synthetic data sets, drawn from a seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._base.types import RandomState
from .._base.validation import check_number


def make_xor(
    n_samples: int = 500,
    n_features: int = 10,
    *,
    noise: float = 0.1,
    random_state: RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """XOR: four clusters around (+-1, +-1), those across from one another of the same class.

    Only the first two columns say anything about the class, and only together: y is 1 where their
    signs differ. All other columns are uniform noise in [-1, 1]. The paper has 500 rows in 10
    columns, and says no more about the noise than that it is random.

    Parameters
    ----------
    n_samples : int, default=500
        The clusters are of equal size, up to one row.
    n_features : int, default=10
    noise : float, default=0.1
        Standard deviation of a cluster, in both columns.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        The classes, 0 and 1.

    Examples
    --------
    >>> from labelens.datasets import make_xor
    >>> X, y = make_xor(random_state=0)
    >>> X.shape
    (500, 10)
    >>> bool(((X[:, 0] > 0) ^ (X[:, 1] > 0) == y).all())
    True
    """
    check_number(n_samples, "n_samples", 4, integer=True)
    check_number(n_features, "n_features", 2, integer=True)
    check_number(noise, "noise", 0)
    draw = check_random_state(random_state)
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    # Were their sizes left to chance, a class would lie a little to one side, and linear methods
    # would make much of that.
    corner = draw.permutation(np.arange(n_samples, dtype=np.int64) % 4)
    X = draw.uniform(-1, 1, size=(n_samples, n_features))
    X[:, :2] = corners[corner] + draw.normal(scale=noise, size=(n_samples, 2))
    return X, corner % 2


def make_spirals(
    n_samples: int = 500,
    n_features: int = 10,
    *,
    noise: float = 0.05,
    random_state: RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two spirals wound around each other, each arm a class, with one turn and a quarter.

    The arms are in the first two columns, within radius 1; all other columns are narrow noise.
    Scaling every column to [0, 1] makes that noise as wide as the spirals, and with eight such
    columns an RBF kernel no longer sees the arms.

    Parameters
    ----------
    n_samples : int, default=500
        The arms have equally many rows, up to one.
    n_features : int, default=10
    noise : float, default=0.05
        Standard deviation of the normal noise in every column; from an arm to the other it is 0.32.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        The classes, 0 and 1.

    Examples
    --------
    >>> from labelens.datasets import make_spirals
    >>> X, y = make_spirals(random_state=0)
    >>> X.shape, (y == 0).sum().item(), (y == 1).sum().item()
    ((500, 10), 250, 250)
    """
    check_number(n_samples, "n_samples", 2, integer=True)
    check_number(n_features, "n_features", 2, integer=True)
    check_number(noise, "noise", 0)
    draw = check_random_state(random_state)
    y = draw.permutation(np.arange(n_samples, dtype=np.int64) % 2)
    # With uniform squares of the radius the outer turn, which is longer, gets more rows.
    inner = 0.2
    radius = np.sqrt(draw.uniform(inner**2, 1, size=n_samples))
    angle = 2 * np.pi * 1.25 * (radius - inner) / (1 - inner) + np.pi * y
    X = draw.normal(scale=noise, size=(n_samples, n_features))
    X[:, 0] += radius * np.cos(angle)
    X[:, 1] += radius * np.sin(angle)
    return X, y
