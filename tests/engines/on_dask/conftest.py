"""A cluster, and rows for it; only those who ask for the cluster need Dask."""

import numpy as np
import pandas as pd
import pytest

from conftest import read_only
from engines.on_dask.cluster import D, N, local_cluster


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with local_cluster() as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def rows(rng):
    y = rng.permutation(np.arange(N) % 4)
    X = rng.normal(size=(N, D)) + np.eye(4, D)[y] * [3, 2, 1.5, 1, 1, 1]
    return read_only(X, y)


@pytest.fixture
def frame(rows):
    X, y = rows
    table = pd.DataFrame(X, columns=list("abcdef"))
    table["label"] = np.array(["zero", "one", "two", "drei"])[y]
    return table
