"""An atlas as nodes of an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.class_scores import VOTERS, ClassMeans, NeighbourVotes
from .._core.local_maps import LocalMaps
from .._judge.atlas import Atlas, state_of
from .graph import Graph, embedding, squared_distances, summed


def atlas_outputs(atlas: Atlas, graph: Graph, rows: str) -> tuple[str, str]:
    """(n, d) rows in float64 -> (n, 2) or (n, 3) places, and (n, c) class probabilities."""
    scores, local, _ = state_of(atlas)
    embedded = embedding(atlas.estimator_, graph, rows)
    total = graph.node("Mul", _by_means(graph, scores.means, embedded), scores.weights[0])
    if scores.votes is not None:
        votes = graph.node("Mul", _by_votes(graph, scores.votes, embedded), scores.weights[1])
        total = graph.node("Add", total, votes)
    p = graph.node("Softmax", total, axis=1)
    sharp = graph.node("Softmax", graph.node("Div", total, atlas.temperature_), axis=1)
    size = atlas.detail * atlas.radii_
    places = graph.node("MatMul", sharp, atlas.anchors_)
    return graph.node("Add", places, _mixed(graph, local, rows, sharp, size)), p


def _by_means(graph: Graph, means: ClassMeans, embedded: str) -> str:
    centred = graph.node("Sub", embedded, means.centre)
    logits = graph.node("Add", graph.node("MatMul", centred, means.weights), means.offsets)
    return graph.node("LogSoftmax", logits, axis=1)


def _by_votes(graph: Graph, votes: NeighbourVotes, embedded: str) -> str:
    centre = votes.references.mean(axis=0)
    squares = squared_distances(
        graph, graph.node("Sub", embedded, centre), votes.references - centre
    )
    k = min(VOTERS, len(votes.references))
    near, places = graph.several(2, "TopK", squares, np.array([k]), axis=1, largest=0)
    farthest = graph.node("ReduceMax", near, axes=[1], keepdims=1)
    shares = graph.node("Div", near, graph.node("Max", farthest, 1e-300))
    cast = graph.node("Exp", graph.node("Neg", shares))
    members = np.zeros((len(votes.codes), len(votes.shares)))
    members[np.arange(len(votes.codes)), votes.codes] = votes.weight
    theirs = graph.node("Gather", members, places, axis=0)  # (n, k, c)
    weighted = graph.node("Mul", theirs, graph.node("Unsqueeze", cast, np.array([2])))
    counts = graph.node("Add", summed(graph, weighted, axis=1, keep=False), votes.before)
    return graph.node("Log", graph.node("Div", counts, summed(graph, counts, axis=1, keep=True)))


def _mixed(graph: Graph, local: LocalMaps, rows: str, p: str, size: Any) -> str:
    c, q, m = local.axes.shape
    centred = graph.node("Mul", graph.node("Sub", rows, local.shift), local.factor)
    points = graph.node("MatMul", centred, local.directions)
    flat = graph.node("MatMul", points, local.axes.transpose(1, 0, 2).reshape(q, c * m))
    flat = graph.node("Sub", flat, np.einsum("cq,cqm->cm", local.means, local.axes).ravel())
    places = graph.node("Reshape", flat, np.array([-1, c, m]))
    squares = summed(graph, graph.node("Mul", places, places), axis=2, keep=True)
    fourth = graph.node("Add", graph.node("Mul", squares, squares), 1.0)
    bounded = graph.node("Div", places, graph.node("Sqrt", graph.node("Sqrt", fourth)))
    share = graph.node("Unsqueeze", graph.node("Mul", p, size), np.array([2]))
    return summed(graph, graph.node("Mul", bounded, share), axis=1, keep=False)
