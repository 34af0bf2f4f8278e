"""Data sets that tests of `trust/` share."""

import pytest
from sklearn.datasets import load_digits, load_iris

from conftest import read_only


@pytest.fixture(scope="module")
def iris():
    return read_only(*load_iris(return_X_y=True))


@pytest.fixture(scope="module")
def digits():
    return read_only(*load_digits(return_X_y=True))
