"""The dense oracle: formulas over n x n and p x p matrices, in long double as far as NumPy has it.

C_xy = sum_i w_i (phi_i - mean)(psi_i - mean)^T / N          labelled rows
C_xx = sum_i w_i (phi_i - mean)(phi_i - mean)^T / N          all rows
A(t) u = lambda B(s) u                                       spectral
U U^T = B^-1 C_xy C_xy^T B^-1                                direct, where k reaches the rank
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from oracles import delta_kernel
from routes.labels import GRADES

MOST_ROWS = 80  # n x n matrices in loops


class NoOracleError(Exception):
    """There is no formula for this case."""


def expected_gram(case, model):
    """(n, n) inner products of the centred embedding; NoOracleError where there is no formula."""
    if getattr(case.model, "n_nonzero", None) is not None:
        raise NoOracleError
    weight = weights_of(case)
    rows = np.flatnonzero(weight > 0)
    features = features_of(case, model, weight)
    labelled = rows[case.labelled[rows]]
    C = covariance(features[rows], features[rows], weight[rows])
    if not np.trace(C) > 0:
        raise NoOracleError
    B = np.eye(len(C))
    s = model.shrinkage_
    if s != 1:
        B = (1 - s) * C * len(C) / np.trace(C) + s * B
        if linalg.eigvalsh(B)[0] < 1e-10:
            raise NoOracleError  # labelens leaves out directions without variance
    centred = features - features.mean(axis=0)
    if case.labels is None:
        if case.random:
            raise NoOracleError
        U = top(C, np.eye(len(C)), model.n_components_)
        return centred @ U @ U.T @ centred.T
    psi = label_features(case, model, labelled)
    cross = covariance(features[labelled], psi, weight[labelled])
    if case.model.label_shrinkage < 1:
        cross = cross @ whitening(psi, weight[labelled], case.model.label_shrinkage)
    Q = cross @ cross.T
    if case.random:
        if case.model.target_weight < 1 or case.model.label_map != "orthogonal":
            raise NoOracleError
        if model.n_components_ < width_of(psi, weight[labelled], case, model):
            raise NoOracleError
        inverse = np.linalg.inv(B)
        return centred @ inverse @ Q @ inverse @ centred.T
    t = case.model.target_weight
    if not np.trace(Q) > 0:
        raise NoOracleError
    A = Q if t == 1 else t * Q / np.trace(Q) + (1 - t) * C / np.trace(C)
    U = top(A, B, model.n_components_)
    metric = U.T @ B @ U
    if getattr(case.model, "component_scale", "total") == "within" and s != 1:
        codes = classes_of(case, labelled)
        means = covariance(features[labelled], codes, weight[labelled])
        share = np.average(codes, axis=0, weights=weight[labelled])
        between = means / share @ means.T
        metric -= (1 - s) * len(C) / np.trace(C) * (U.T @ between @ U)
        if linalg.eigvalsh(metric)[0] < 1e-3:
            raise NoOracleError
    return centred @ U @ np.linalg.inv(metric) @ U.T @ centred.T


def classes_of(case, rows):
    """(l, c): one-hot classes of the labelled rows."""
    values = [case.labels.values[i] for i in rows]
    return np.array([[v == c for c in sorted(set(values))] for v in values], dtype=float)


def width_of(psi, weight, case, model):
    """How many components keep all of L: its rank for classes, else the number of columns."""
    if model.label_kernel_ == "linear":
        return len(case.labels.values[0]) if case.labels.ndim == 2 else 1
    if case.labels.ndim == 2 and model.label_kernel_ == "delta":  # one-hot columns, side by side
        return sum(map(len, model.classes_)) - len(model.classes_)
    if hasattr(model, "classes_"):
        return int((linalg.eigvalsh(covariance(psi, psi, weight)) > 1e-10).sum())
    return len(psi)


def top(A, B, k):
    """(p, k): generalized eigenvectors of the k largest eigenvalues that are no rounding."""
    values, vectors = linalg.eigh(A, B)
    return vectors[:, values > 1e-11 * values[-1]][:, -k:]


def covariance(left, right, weight):
    """(n, p), (n, q) -> (p, q)."""
    left, right = np.asarray(left, np.longdouble), np.asarray(right, np.longdouble)
    weight = np.asarray(weight, np.longdouble)[:, None] / weight.sum()
    left = left - (weight * left).sum(axis=0)
    right = right - (weight * right).sum(axis=0)
    return ((weight * left).T @ right).astype(np.float64)


def factor_of(L):
    """(n, n) -> (n, q) with L = F F^T."""
    values, vectors = linalg.eigh(L)
    keep = values > 1e-14 * values[-1]
    return vectors[:, keep] * np.sqrt(values[keep])


def weights_of(case):
    weight = np.ones(case.n) if case.weight is None else case.weight.copy()
    if case.model.class_weight == "balanced":
        if case.labels.ndim == 2:
            raise NoOracleError
        there = case.labelled & (weight > 0)
        names = sorted({case.labels.values[i] for i in np.flatnonzero(there)})
        codes = np.array([names.index(v) if v in names else 0 for v in case.labels.values])
        totals = np.array([weight[there & (codes == j)].sum() for j in range(len(names))])
        weight[case.labelled] *= (totals.sum() / (len(names) * totals))[codes[case.labelled]]
    return weight


def features_of(case, model, weight):
    """(n, p), scaled, and through the kernel."""
    X = case.dense
    X = X - X[0]  # every method centres, or looks at differences alone
    some, w = X[weight > 0], weight[weight > 0]
    if isinstance(case.model.scale, tuple):
        X = X * case.model.scale
    elif case.model.scale is not None:
        if case.model.scale == "minmax":
            width = some.max(axis=0) - some.min(axis=0)
        else:
            width = np.sqrt(np.diag(covariance(some, some, w)))
        varies = some.max(axis=0) > some.min(axis=0)
        X = X / np.where(varies & (width > 0), width, 1.0)
    if not case.kernelised:
        return X
    if case.single:
        raise NoOracleError  # features in float32
    if case.model.approximation != "exact":
        return model._recipe.features(case.dense)
    return factor_of(np.exp(-model.gamma_ * cdist(X, X, "sqeuclidean")))


def label_features(case, model, rows):
    """(l, q): Psi of the labelled rows."""
    values = [case.labels.values[i] for i in rows]
    columns = list(zip(*values, strict=True)) if case.labels.ndim == 2 else [values]
    if model.label_kernel_ == "linear":
        targets = np.array(columns, dtype=float).T
        return targets - targets[0]  # L of targets far from zero would be mostly their mean
    if case.model.label_shrinkage == 1:
        return factor_of(label_gram(case, model, rows))
    # Whitening depends on how many features there are, so that any factor of L will not do.
    if model.label_kernel_ != "delta":
        raise NoOracleError
    return np.hstack(
        [np.array([[v == c for c in sorted(set(col))] for v in col]) for col in columns]
    )


def whitening(psi, weight, r):
    """(q, q): the inverse root of (1 - r) C_yy q / tr C_yy + r I, on its range."""
    C = covariance(psi, psi, weight)
    S = (1 - r) * C * len(C) / np.trace(C) + r * np.eye(len(C))
    values, vectors = linalg.eigh(S)
    keep = values > 1e-10 * values[-1]
    return vectors[:, keep] / np.sqrt(values[keep]) @ vectors[:, keep].T


def label_gram(case, model, rows):
    """(l, l): L of the labelled rows."""
    values = [case.labels.values[i] for i in rows]
    return _gram(values, model.label_kernel_, case, model, weights_of(case)[rows])


def _gram(values, kernel, case, model, weight):
    several = isinstance(values[0], tuple)
    if hasattr(kernel, "parts"):
        columns = zip(*values, strict=True)
        grams = [
            _gram(list(c), k, case, model, weight)
            for c, k in zip(columns, kernel.parts, strict=True)
        ]
        return grams[0] + grams[1] if type(kernel).__name__ == "Sum" else grams[0] * grams[1]
    name = kernel if isinstance(kernel, str) else type(kernel).__name__.lower()
    match name:
        case "delta":
            codes = np.array([list(v) if several else [v] for v in values], dtype=object)
            return delta_kernel(codes)
        case "linear":
            Y = np.array(values, dtype=float).reshape(len(values), -1)
            return Y @ Y.T
        case "rbf":
            if several:
                raise NoOracleError  # random features
            y = np.array(values, dtype=float)[:, None]
            variance = np.average(
                (y[:, 0] - np.average(y[:, 0], weights=weight)) ** 2, weights=weight
            )
            gamma = case.model.label_gamma
            if gamma is None:  # equal labels have any
                gamma = 1 / variance if variance > 0 else 1.0
            return np.exp(-gamma * (y - y.T) ** 2)
        case "ordinal":
            names = (
                GRADES
                if case.labels.kind in ("categories", "graded columns")
                else sorted(set(values))
            )
            rank = np.array([names.index(v) for v in values])
            return np.minimum(rank[:, None], rank[None, :]).astype(float)
        case "precomputed":
            place = {label: i for i, label in enumerate(kernel.classes)}
            codes = [place[v] for v in values]
            return kernel.similarity[np.ix_(codes, codes)]
        case "jaccard":
            Y = np.array(values, dtype=float)
            both = Y @ Y.T
            either = Y.sum(axis=1)[:, None] + Y.sum(axis=1)[None, :] - both
            return np.where(either > 0, both / np.where(either > 0, either, 1), 1.0)
        case "sliced":
            # A fitted kernel has as many slices as edges, plus one; a part of several has none.
            asked = case.model.label_kernel if getattr(kernel, "edges", None) else kernel
            count = getattr(asked, "n_slices", 10)
            return delta_kernel(slices_of(np.array(values, dtype=float), count, weight))
        case "ranked":
            at_most = case.model.label_kernel
            if getattr(at_most, "n_quantiles", 1000) < len(set(values)):
                raise NoOracleError
            below = np.less.outer(values, values).T + np.equal.outer(values, values) / 2
            ranks = (below @ weight / weight.sum())[:, None]
            gamma = 12 if case.model.label_gamma is None else case.model.label_gamma
            return np.exp(-gamma * (ranks - ranks.T) ** 2)
        case "cyclic":
            y = np.array(values, dtype=float)[:, None]
            return np.cos(np.pi * (y - y.T) / kernel.period) ** (2 * kernel.harmonics)
    raise NoOracleError


def slices_of(y, count, weight):
    """(l,): the number of a label's slice, between quantiles.

    In fractions: NumPy's quantiles settle a level that is a sum of weights by rounding.
    """
    heavy = [Fraction(float(w)) for w in weight]
    total = sum(heavy) * (1 - Fraction(1, 10**12))  # sums this close are equal
    below = {v: sum(w for w, a in zip(heavy, y, strict=True) if a <= v) for v in sorted(set(y))}
    edges = [
        next(v for v, share in below.items() if share * count >= total * level)
        for level in range(1, count)
    ]
    return np.greater.outer(y, edges).sum(axis=1)
