"""Which rows are for training and which for testing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._base.validation import check_number


def train_test_rows(n_rows: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The paper's 70/30 split: sorted numbers of the training rows and of the test rows.

    The seed alone decides, on every platform and with every version of NumPy: the rows come from
    the Mersenne Twister of `RandomState`, whose numbers are frozen. Classes play no part.

    Parameters
    ----------
    n_rows : int
        At least 2.
    seed : int
        From 0 to 2^32 - 1.

    Returns
    -------
    train : ndarray of shape (7 * n_rows // 10,)
    test : ndarray of shape (n_rows - 7 * n_rows // 10,)

    Examples
    --------
    >>> from labelens.datasets import train_test_rows
    >>> train, test = train_test_rows(10, seed=0)
    >>> train, test
    (array([1, 2, 4, 6, 7, 8, 9]), array([0, 3, 5]))
    """
    check_number(n_rows, "n_rows", 2, integer=True)
    check_number(seed, "seed", 0, 2**32 - 1, integer=True)
    order = check_random_state(int(seed)).permutation(np.arange(n_rows, dtype=np.intp))
    cut = 7 * n_rows // 10
    return np.sort(order[:cut]), np.sort(order[cut:])
