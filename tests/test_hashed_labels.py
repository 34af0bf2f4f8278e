"""label_map="gaussian": classes as hashed vectors, of which no list is kept."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone

import labelens
from labelens import KernelSupervisedRandomProjection, SupervisedRandomProjection

MODEL = SupervisedRandomProjection(3, label_map="gaussian", random_state=0)
EXACT = KernelSupervisedRandomProjection(
    3, gamma=0.1, approximation="exact", label_map="gaussian", random_state=0
)


def rows(n):
    return np.random.default_rng(0).normal(size=(n, 5))


def streamed(model, X, y, size=500):
    for i in range(0, len(X), size):
        model.partial_fit(X[i : i + size], y[i : i + size])
    return model


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("kind", [int, str])
def test_memory_does_not_grow_with_the_number_of_classes(kind, columns):
    sizes = []
    for n in (1000, 8000):
        y = np.arange(n * columns).reshape(n, columns).astype(kind)
        model = streamed(clone(MODEL), rows(n), y[:, 0] if columns == 1 else y)
        assert len(model.moments_.classes) == 3 + columns
        sizes.append(len(pickle.dumps(model)))
    assert sizes[1] < sizes[0] + 100


def test_there_is_no_list_of_classes(tmp_path):
    X, y = rows(60), np.arange(60) % 9
    model = clone(MODEL).fit(X, y)
    for moments in (False, True):
        labelens.save(model, tmp_path / "model", moments=moments)
        assert labelens.persist.info(tmp_path / "model")["classes"] is None
        for one in (model, labelens.load(tmp_path / "model")):
            with pytest.raises(AttributeError, match="keeps no list of the classes"):
                _ = one.classes_


@pytest.mark.parametrize("model", [MODEL, EXACT], ids=["SRP", "exact"])
def test_a_stream_of_new_classes_is_a_fit(model, tmp_path):
    X, y = rows(900), np.arange(900) // 2
    whole = clone(model).fit(X, y).transform(X)
    np.testing.assert_allclose(streamed(clone(model), X, y, 100).transform(X), whole, atol=1e-10)
    first, second = clone(model).fit(X[:400], y[:400]), clone(model).fit(X[400:], y[400:])
    with pytest.warns() if model is EXACT else nullcontext():
        labelens.save(first, tmp_path / "model", moments=True)
    merged = labelens.load(tmp_path / "model").merge(second)
    np.testing.assert_allclose(merged.transform(X), whole, atol=1e-10)
    assert len(merged.moments_.classes) == 4


@pytest.mark.parametrize("model", [MODEL, EXACT], ids=["SRP", "exact"])
def test_few_classes_are_known_to_be_few(model):
    X = rows(60) + 1e6
    with pytest.raises(ValueError, match="y has a single class, 7"):
        clone(model).fit(X, np.full(60, 7))
    with pytest.raises(ValueError, match="single class in each of its columns"):
        clone(model).fit(X, np.full((60, 2), 7))
    with pytest.warns(UserWarning, match="Only 1 of the 3 components .* 2 classes"):
        clone(model).fit(X, np.arange(60) % 2)
    with pytest.warns(UserWarning, match="Only 2 of the 3 components .* 4 classes"):
        clone(model).fit(X, np.column_stack([np.arange(60) % 2, np.arange(60) // 30]) + 5)
