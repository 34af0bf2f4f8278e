"""Memory that is used again changes no bit, and is nobody else's meanwhile."""

import threading

import numpy as np
import pytest

from labelens import KernelSupervisedPCA, KernelSupervisedRandomProjection
from labelens._base.scratch import Scratch
from labelens._base.threads import working

MODELS = [
    KernelSupervisedRandomProjection(2, n_random_features=65, random_state=0),  # dense, odd
    KernelSupervisedRandomProjection(2, n_random_features=1024, random_state=0),
    KernelSupervisedRandomProjection(2, target_weight=0.5, scale="standard", random_state=0),
    KernelSupervisedPCA(2, approximation="fastfood", shrinkage=0.1, n_random_features=300),
    KernelSupervisedPCA(2, approximation="nystroem", n_random_features=40, target_weight=0.5),
    KernelSupervisedPCA(2, kernel="linear", target_weight=0.5),  # features are the rows
]


def test_arrays_are_apart_until_they_are_given_back():
    scratch = Scratch()
    first, second = scratch.empty((4, 8), np.float32), scratch.empty((2,), np.float64)
    assert (first.shape, first.dtype, second.shape, second.dtype) == ((4, 8), "f4", (2,), "f8")
    assert not np.shares_memory(first, second)
    scratch.start_over()
    smaller, larger = scratch.empty((3, 8), np.float32), scratch.empty((3,), np.float64)
    assert np.shares_memory(first, smaller)
    assert larger.shape == (3,)
    assert not np.shares_memory(second, larger)


def test_every_thread_has_its_own():
    scratch, found = Scratch(), []
    threads = [
        threading.Thread(target=lambda: found.append(scratch.empty((8,), float))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
        thread.join()
    assert not np.shares_memory(*found)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_models_and_embeddings_keep_their_bits(rng, monkeypatch, model, dtype, order):
    X = np.asarray(
        rng.normal(size=(3 * 1024 + 100, 128)), dtype, order=order
    )  # a last, short block
    y = np.arange(len(X)) % 3
    X.flags.writeable = False
    model.set_params(random_state=0)
    found = model.fit(X, y)
    components, embedding = found.components_.copy(), found.transform(X)
    asked = []

    class Anew(Scratch):
        def empty(self, shape, dtype):
            asked.append(shape)
            return np.full(shape, np.nan, dtype)

    for module in ("summarize", "embedding"):
        monkeypatch.setattr(f"labelens._fit.{module}.Scratch", Anew)
    truth = model.fit(X, y)
    np.testing.assert_array_equal(components, truth.components_)
    np.testing.assert_array_equal(embedding, truth.transform(X))
    assert bool(asked) == hasattr(model._recipe.phi, "angles")


def test_blocks_are_made_in_the_same_memory(rng, monkeypatch):
    places = []

    class Seen(Scratch):
        def empty(self, shape, dtype):
            array = super().empty(shape, dtype)
            places.append(array.ctypes.data)
            return array

    monkeypatch.setattr("labelens._fit.summarize.Scratch", Seen)
    X = rng.normal(size=(8 * 1024, 128)).astype(np.float32)
    with working():  # on this thread alone
        KernelSupervisedRandomProjection(1, gamma=0.01, random_state=0).fit(X, X[:, 0] > 0)
    assert len(places) == 8 * 2  # angles and features of eight blocks
    assert len(set(places)) == 2
