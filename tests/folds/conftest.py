"""Rows that tests of cross-validation share."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import read_only


@pytest.fixture
def rows(rng):
    """Four classes in seven columns, of well separated strengths: X, y."""
    y = rng.permutation(np.arange(200) % 4)
    centres = np.diag([3.0, 2.0, 1.2, 0.6])[:, [0, 1, 2, 3, 3, 3, 3]] * [1, 1, 1, 1, 0, 0, 0]
    X = (centres[y] + rng.normal(size=(200, 7))) * np.logspace(-0.5, 0.5, 7) + 2
    return read_only(X, y)
