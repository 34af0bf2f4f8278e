"""Labels that mean nothing, and an estimator that overfits them at no cost."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from conftest import read_only


class Means(TransformerMixin, BaseEstimator):
    """Inner products with the means of classes: overfits as SupervisedPCA does, in microseconds."""

    def fit(self, X, y):
        self.means_ = np.array([X[y == c].mean(axis=0) for c in np.unique(y)])
        return self

    def transform(self, X):
        return X @ self.means_.T


def noise(seed, n=60, d=200, classes=5):
    """Rows and labels that have nothing to do with each other."""
    draw = np.random.default_rng(seed)
    return read_only(draw.normal(size=(n, d)), draw.permutation(np.arange(n) % classes))
