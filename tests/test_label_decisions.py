"""The kind of labels is decided by all of them, and never silently by some."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

import labelens
from label_routes import EVERY_ROUTE, NAMES, D, N, same_model, small_chunks, some_rows, with_gaps  # noqa: F401
from labelens import KernelSupervisedPCA, SupervisedPCA, SupervisedRandomProjection
from labelens._core.labels.vocabulary import scrambled
from labelens._engines.sources import open_source
from labelens._fit import first_pass
from labelens.tables import text


def late(rng, kind):
    """Labels, a column each, and the kernel that all of them mean; the first chunk means another.

    `missing` in the first chunk: it has no labels.
    """
    y = rng.integers(0, 2, size=(N, 2))
    match kind:
        case "columns of classes":
            y[1500:] *= 3
            return {"a": y[:, 0].tolist(), "b": y[:, 1].tolist()}, "delta"
        case "columns of numbers":
            y = y.astype(float)
            y[2000, 1] = 0.5
            return {"a": y[:, 0].tolist(), "b": y[:, 1].tolist()}, "rbf"
        case "numbers":
            y = y[:, 0].astype(float)
            y[2000] = 0.5
            return {"y": y.tolist()}, "rbf"
        case "numbers with gaps":
            y = [1.0 if i % 2 else None for i in range(2000)]
            return {"y": y + rng.normal(size=N - 2000).tolist()}, "rbf"
        case "missing numbers":
            return {"y": [None] * 1100 + rng.normal(size=N - 1100).tolist()}, "rbf"
        case "missing classes":
            return {"y": [None] * 1100 + rng.choice(list("abc"), N - 1100).tolist()}, "delta"
        case "missing indicator":
            columns = y[1100:].T.tolist()
            a, b = ([None] * 1100 + labels for labels in columns)
            return {"a": a, "b": b}, "linear"


LATE = [
    "columns of classes", "columns of numbers", "numbers", "numbers with gaps", "missing numbers",
    "missing classes", "missing indicator",
]  # fmt: skip


@EVERY_ROUTE
@pytest.mark.parametrize("kind", LATE)
def test_all_labels_decide(rng, X, tmp_path, monkeypatch, route, kind):
    if kind.startswith("missing"):  # in the first block of text too
        monkeypatch.setattr(text, "BLOCK", 1 << 14)
    columns, kernel = late(rng, kind)
    y = np.array(list(zip(*columns.values(), strict=True)), dtype=object).squeeze()
    model = SupervisedPCA(2, missing_label=np.nan, random_state=0)
    expected = clone(model).fit(X, y)
    assert expected.label_kernel_ == kernel
    same_model(route(model, X, columns, tmp_path), expected)


@pytest.mark.parametrize("kind", LATE[:2])
def test_dask_decides_by_all_parts(rng, X, kind):
    da = pytest.importorskip("dask.array")
    columns, kernel = late(rng, kind)
    y = np.column_stack(list(columns.values()))
    rows, labels = (da.from_array(a, chunks=(1024, -1)) for a in (X, y))
    model = SupervisedPCA(2, random_state=0).fit(rows, labels)
    assert model.label_kernel_ == kernel
    expected = SupervisedPCA(2, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "columns of classes",
            "0 and 1 for a multilabel indicator .* has 3: .*'delta' for classes",
        ),
        ("columns of numbers", "0 and 1 for a multilabel indicator .* has 0.5: .*'rbf'"),
        ("numbers", "whole numbers for classes .* has 0.5: pass label_kernel='rbf'"),
    ],
)
def test_a_later_batch_must_not_contradict(rng, X, tmp_path, kind, words):
    columns, _ = late(rng, kind)
    y = np.column_stack(list(columns.values())).squeeze()
    pairs = [(X[a:b], y[a:b]) for a, b in pairwise([0, 1024, N])]
    with pytest.raises(ValueError, match=words):
        labelens.fit(SupervisedPCA(2), iter(pairs))
    for options in ({}, {"label_map": "gaussian"}):
        model = SupervisedRandomProjection(2, random_state=0, **options).partial_fit(*pairs[0])
        labelens.save(model, tmp_path / "m", moments=True)
        for first in (model, labelens.load(tmp_path / "m")):
            with pytest.raises(ValueError, match=words):
                first.partial_fit(*pairs[1])
            assert first.n_samples_seen_ == 1024


def test_whole_numbers_of_another_type_do_not_contradict(X):
    y = np.arange(N) % 2
    for kind in (float, np.uint8, np.int16):
        model = SupervisedPCA(1).partial_fit(X, y).partial_fit(X, y.astype(kind))
        assert model.classes_.tolist() == [0, 1]


def test_integers_and_then_fractions(X):
    y = np.arange(N) % 3
    with pytest.raises(ValueError, match="took whole numbers for classes"):
        SupervisedPCA(1).partial_fit(X, y).partial_fit(X, y / 2)
    with pytest.raises(ValueError, match="took whole numbers for classes"):
        labelens.fit(SupervisedPCA(1), [(X[:1024], y[:1024]), (X[1024:], y[1024:] / 2)])


def test_no_label_anywhere(X):
    y = np.full(N, np.nan)
    with pytest.raises(ValueError, match="y has no labels: every value is missing_label=nan"):
        labelens.fit(SupervisedPCA(2, missing_label=np.nan), X, label=y)
    y[2000] = 1
    pairs = [(X[:1024], y[:1024]), (X[1024:], y[1024:])]
    with pytest.raises(ValueError, match="first chunk without labels requires a first pass"):
        labelens.fit(SupervisedPCA(2, missing_label=np.nan), iter(pairs))


def test_few_labels_among_many_rows(X, monkeypatch):
    """None of them is in the sample of rows."""
    monkeypatch.setattr(first_pass, "SAMPLE_ROWS", 1024)
    hashes = scrambled(np.arange(N, dtype=np.uint64))
    y = np.full(N, np.nan)
    unseen = np.argsort(hashes)[-40:]
    y[unseen] = np.arange(40) % 2
    model = KernelSupervisedPCA(
        1, gamma="median", n_random_features=16, random_state=0, missing_label=np.nan
    )
    assert labelens.fit(clone(model), X, label=y).classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"gamma='auto' looks at a sample .* none of them has a"):
        labelens.fit(clone(model).set_params(gamma="auto"), X, label=y)


def test_one_read_suffices_for_continuous_labels(X):
    """The width of the RBF kernel over labels takes a pass over labels, not over rows."""

    class Pairs:
        def __init__(self):
            self.times = 0

        def __iter__(self):
            self.times += 1
            yield X, X[:, 0]

    source = open_source(Pairs())
    reads = []
    chunks = source.chunks
    source.chunks = lambda rows, start=0, features=True: (
        reads.append(features), chunks(rows, start, features))[1]  # fmt: skip
    labelens.fit(SupervisedPCA(2), source)
    assert reads == [True, False, True]  # the first one for its first chunk only
