"""Class probabilities of embedded rows: class means, neighbour votes, and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.optimize import minimize
from scipy.special import log_softmax

from .moments import Array
from .neighbours import nearest

Codes = NDArray[np.intp]
RIDGE = 1e-6  # share of the total variance that is added to the one within classes
VOTERS = 15
DOUBT = 0.2  # votes that a class of the mean size has before any are counted
MOST_REFERENCES = 10_000


@dataclass(frozen=True)
class ClassMeans:
    """Linear discriminant analysis: Gaussian classes with one covariance."""

    centre: Array  # (k,)
    weights: Array  # (k, c)
    offsets: Array  # (c,)

    @classmethod
    def of(cls, embedded: Array, codes: Codes, weight: Array, c: int) -> ClassMeans:
        total = weight.sum()
        centre = weight @ embedded / total
        embedded = embedded - centre
        means, shares = class_means(embedded, codes, weight, c), class_shares(codes, weight, c)
        around = embedded - means[codes]
        k = embedded.shape[1]
        metric = (around.T * weight) @ around / total
        # As many rows as there are dimensions count for a round covariance.
        rounded = float(np.trace(metric)) + RIDGE * float(weight @ np.square(embedded).sum(axis=1))
        metric = (len(codes) * metric + rounded * np.eye(k)) / (len(codes) + k)
        variances, axes = linalg.eigh(metric)
        live = variances > 1e-12 * max(variances[-1], 1e-300)
        whitened = axes[:, live] / np.sqrt(variances[live])
        # -|z - m|^2 / 2 = z.m - |m|^2 / 2 - |z|^2 / 2; the last term is the same for all classes.
        places = means @ whitened
        offsets = np.log(shares) - np.square(places).sum(axis=1) / 2
        return cls(centre, whitened @ places.T, offsets)

    def __call__(self, embedded: Array) -> Array:
        """(n, k) -> (n, c) log-probabilities."""
        return log_softmax((embedded - self.centre) @ self.weights + self.offsets, axis=1)


@dataclass(frozen=True)
class NeighbourVotes:
    """Votes of the nearest reference rows, weighted by their distances."""

    references: Array  # (m, k)
    codes: Codes  # (m,)
    weight: Array  # (m,)
    shares: Array  # (c,)

    @classmethod
    def of(cls, embedded: Array, codes: Codes, weight: Array, c: int) -> NeighbourVotes:
        shares = class_shares(codes, weight, c)
        # With many rows, every n/m-th in the order of their classes.
        order, m = np.argsort(codes, kind="stable"), min(len(codes), MOST_REFERENCES)
        some = np.sort(order[np.arange(m) * len(codes) // m])
        return cls(embedded[some], codes[some], weight[some] / weight.mean(), shares)

    @property
    def before(self) -> Array:
        """(c,) votes that all rows have, without which no probability would be calibrated."""
        return DOUBT * len(self.shares) * self.shares

    def __call__(self, embedded: Array) -> Array:
        """(n, k) -> (n, c) log-probabilities."""
        n, c = len(embedded), len(self.shares)
        places = nearest(self.references, embedded, min(VOTERS, len(self.references)))
        squares = np.square(self.references[places] - embedded[:, None]).sum(axis=2)
        votes = np.exp(-squares / np.maximum(squares[:, -1:], 1e-300)) * self.weight[places]
        cells = np.arange(n)[:, None] * c + self.codes[places]
        sums = np.bincount(cells.ravel(), votes.ravel(), n * c).reshape(n, c)
        counts = sums + self.before
        return np.log(counts / counts.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class ClassScores:
    """A weighted sum of both log-probabilities; without votes, of class means alone."""

    means: ClassMeans
    votes: NeighbourVotes | None
    weights: tuple[float, float]

    def __call__(self, embedded: Array) -> Array:
        """(n, k) -> (n, c)"""
        scores = self.weights[0] * self.means(embedded)
        if self.votes is not None:
            scores += self.weights[1] * self.votes(embedded)
        return scores


def calibrated_scores(
    embedded: Array, codes: Codes, weight: Array, c: int, folds: Sequence[tuple[Codes, Codes]]
) -> tuple[ClassScores, Array]:
    """Class scores of new rows, and the (n, c) scores of the given ones, each by other folds.

    The embedded rows are to be placed like new rows, by models that were fitted without them.
    """
    means, votes = np.empty((len(codes), c)), np.empty((len(codes), c))
    for train, test in folds:
        known = embedded[train], codes[train], weight[train], c
        means[test] = ClassMeans.of(*known)(embedded[test])
        votes[test] = NeighbourVotes.of(*known)(embedded[test])
    weights = calibrated(means, votes, codes, weight)
    known = embedded, codes, weight, c
    voters = NeighbourVotes.of(*known) if weights[1] > 0 else None
    scores = weights[0] * means + weights[1] * votes
    return ClassScores(ClassMeans.of(*known), voters, weights), scores


def calibrated(means: Array, votes: Array, codes: Codes, weight: Array) -> tuple[float, float]:
    """Weights of (n, c) log-probabilities of held-out rows that give the least log loss.

    The votes have a weight only if they lower the loss by more than one standard error.
    """
    alone, loss = _least_loss([means], codes, weight)
    both, smaller = _least_loss([means, votes], codes, weight)
    shares = weight / weight.sum()
    gain = shares @ (loss - smaller)
    error = np.sqrt(shares**2 @ np.square(loss - smaller - gain))
    return (float(both[0]), float(both[1])) if gain > error else (float(alone[0]), 0.0)


def _least_loss(parts: Sequence[Array], codes: Codes, weight: Array) -> tuple[Array, Array]:
    """The weights, and the (n,) loss of every row."""
    rows, shares = np.arange(len(codes)), weight / weight.sum()

    def losses(weights: Array) -> tuple[Array, Array]:
        logits = sum(w * part for w, part in zip(weights, parts, strict=True))
        logs = log_softmax(logits, axis=1)
        return -logs[rows, codes], logs

    def mean_loss(weights: Array) -> tuple[float, Array]:
        loss, logs = losses(weights)
        p = np.exp(logs)
        slopes = [shares @ ((p * part).sum(axis=1) - part[rows, codes]) for part in parts]
        return float(shares @ loss), np.array(slopes)

    # Scores of collapsed training rows can be thousands of times too sure: weights in their units.
    units = np.array([1 / max(float(np.abs(part).mean()), 1e-12) for part in parts])

    def scaled(weights: Array) -> tuple[float, Array]:
        loss, slopes = mean_loss(weights * units)
        return loss, slopes * units

    bounds = [(1e-6, None), (0, None)][: len(parts)]
    found = minimize(scaled, np.ones(len(parts)), jac=True, bounds=bounds, method="L-BFGS-B")
    weights = np.asarray(found.x) * units
    return weights, losses(weights)[0]


def class_shares(codes: Codes, weight: Array, c: int) -> Array:
    """(c,) shares of the weight; a class without rows counts as half a row."""
    sums = np.bincount(codes, weight, minlength=c)
    sums = np.maximum(sums, weight.mean() / 2)
    shares: Array = sums / sums.sum()
    return shares


def class_means(rows: Any, codes: Codes, weight: Array, c: int) -> Array:
    """(n, k) -> (c, k); zero for a class without rows."""
    members = sparse.csr_array((weight, (codes, np.arange(len(codes)))), shape=(c, len(codes)))
    sums = members @ rows
    if sparse.issparse(sums):
        sums = sums.toarray()
    totals = np.bincount(codes, weight, minlength=c)
    return np.asarray(sums) / np.where(totals > 0, totals, 1)[:, None]
