"""Data that plots are drawn from, and a check that no figure stays open."""

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import pytest
from sklearn.datasets import load_iris

from labelens import SupervisedPCA


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def fitted(iris):
    return SupervisedPCA(2, scale="minmax").fit(*iris)


@pytest.fixture(autouse=True)
def _nothing_leaks():
    before = plt.get_fignums()
    yield
    assert plt.get_fignums() == before
