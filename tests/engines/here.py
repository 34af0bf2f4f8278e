"""One machine that goes through parts as an engine would: what engines are compared with."""

import numpy as np

from labelens._engines.parts import Parts, attempt, merge_in_tree, unless_refused
from labelens._engines.sources import Chunk


class Here(Parts):
    """Parts in memory, given as (X, y) or (X, y, weight), or as lists of these."""

    title = "the list"

    def __init__(self, parts):
        self.chunks = [
            [Chunk(*chunk) for chunk in (part if isinstance(part, list) else [part])]
            for part in parts
        ]
        self.n_parts = len(parts)
        first = self.chunks[0][0]
        self.labelled, self.weighted = first.y is not None, first.weight is not None

    def each(self, step, features=True):
        for number, chunks in enumerate(self.chunks):
            if not features:
                chunks = [Chunk(None, chunk.y, chunk.weight) for chunk in chunks]
            yield unless_refused(attempt(step, self.part(number, chunks)))

    def reduce(self, step, merge, features=True):
        return merge_in_tree(self.each(step, features), merge)


def cut(ends, *arrays):
    """The arrays in pieces that end there."""
    starts = [0, *ends[:-1]]
    return [
        tuple(None if a is None else a[i:j] for a in arrays)
        for i, j in zip(starts, ends, strict=True)
    ]


def assert_same_bits(model, other):
    assert model.n_samples_seen_ == other.n_samples_seen_
    for name in ("components_", "mean_", "singular_values_", "dependence_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), strict=True)
    left, right = (getattr(m, "feature_names_in_", None) for m in (model, other))
    np.testing.assert_array_equal(left, right)
    assert set(vars(model)) == set(vars(other))
